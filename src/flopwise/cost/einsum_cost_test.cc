#include "flopwise/cost/einsum_cost.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "flopwise/cost/einsum_order.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

EinsumCost cost_of_text(const std::string& expression, const Sizes& sizes = {},
                        const char* dtype = "bf16") {
  return einsum_cost(parse_einsum(expression), sizes, find_dtype(dtype));
}

struct Row {
  const char* expression;
  const char* flops;
  const char* elements;  // of all arrays
};

TEST(EinsumCost, Formulas) {
  constexpr Row kRows[] = {
      {"i,i->",        "2*i",                     "2*i + 1"              }, // dot product
      {"ij,j->i",      "2*i*j",                   "i*j + i + j"          }, // matrix times vector
      {"ij,jk->ik",    "2*i*j*k",                 "i*j + j*k + i*k"      }, // matrix product
      {"bij,bjk->bik", "2*b*i*j*k",               "b*i*j + b*j*k + b*i*k"},
      {"ij,ij->ij",    "i*j",                     "3*i*j"                }, // elementwise
      {"i,j->ij",      "i*j",                     "i + j + i*j"          }, // outer
      {",i->i",        "i",                       "1 + 2*i"              }, // scaling
      {"ij->",         "i*j",                     "i*j + 1"              }, // adds only
      {"ij->i",        "i*j",                     "i*j + i"              },
      {"ij->ji",       "0",                       "2*i*j"                }, // transposing is free
      {"i->i",         "0",                       "2*i"                  },
      {"ijs,jk->ik",   "i*j*s + 2*i*j*k",         "i*j*s + j*k + i*k"    },
      {"ijs,jkt->ik",  "i*j*s + j*k*t + 2*i*j*k", "i*j*s + j*k*t + i*k"  },
      {"is,j->ij",     "i*s + i*j",               "i*s + j + i*j"        },
      {"i,s->i",       "s + i",                   "2*i + s"              },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    const EinsumCost cost = cost_of_text(row.expression);
    EXPECT_EQ(cost.flops.str(), parse_expr(row.flops).str());
    EXPECT_EQ(cost.bytes.str(), (2 * parse_expr(row.elements)).str());
    EXPECT_EQ(cost.intensity.str(), (cost.flops / cost.bytes).str());
  }
}

TEST(EinsumCost, BytesFollowTheDtype) {
  EXPECT_EQ(cost_of_text("i->i", {}, "fp32").bytes.str(), "8*i");
  EXPECT_EQ(cost_of_text("i->i", {}, "int4").bytes.str(), "i");
  EXPECT_EQ(cost_of_text("i->", {}, "int4").bytes.str(), parse_expr("i/2 + 1/2").str());
}

TEST(EinsumCost, OneLoopOverThreeOperandsIsDearer) {
  const EinsumCost cost = cost_of_text("ij,jk,kl->il");
  EXPECT_EQ(cost.naive_flops.str(), "3*k*i*j*l");
  EXPECT_EQ(cost_of_text("ij,jk->ik").naive_flops.str(), "2*k*i*j");
  EXPECT_EQ(cost_of_text("ij,ij,ij->ij").naive_flops.str(), "2*i*j");
}

TEST(EinsumCost, PeakIntermediateIsNeitherOperandNorOutput) {
  EXPECT_FALSE(cost_of_text("ij,jk->ik").peak_intermediate.has_value());
  const EinsumCost summed = cost_of_text("ijs,jk->ik");
  EXPECT_EQ(summed.peak_intermediate->array, "sum(A)[i,j]");
  EXPECT_EQ(summed.peak_intermediate->bytes.str(), "2*i*j");
  const EinsumCost chain =
      cost_of_text("ij,jk,kl,lm->im", {
                                          {"i", 2 },
                                          {"j", 3 },
                                          {"k", 50},
                                          {"l", 7 },
                                          {"m", 11}
  });
  EXPECT_EQ(chain.peak_intermediate->elements.eval_count(
                {
                    {"i", 2 },
                    {"j", 3 },
                    {"k", 50},
                    {"l", 7 },
                    {"m", 11}
  },
                "elements"),
            Count(100));
}

TEST(EinsumCost, AssumedSizesAreThoseNotGiven) {
  EXPECT_EQ(cost_of_text("ij,jk->ik",
                         {
                             {"i", 4}
  })
                .assumed,
            (Sizes{{"j", kAssumedAxisSize}, {"k", kAssumedAxisSize}}));
}

// ---- the order of pairs ------------------------------------------------------------------------

Count flops_in_order(const EinsumSpec& spec, const std::vector<EinsumPair>& order,
                     const Sizes& sizes) {
  Count total = 0;
  for (const EinsumStep& step : einsum_steps(spec, order)) {
    Count points = 1;
    for (const std::string& axis : step.loop_axes) points *= sizes.at(axis);
    const Count multiplies = static_cast<std::int64_t>(step.inputs.size()) - 1;
    total += points * (multiplies + Count(step.reduced_axes.empty() ? 0 : 1));
  }
  return total;
}

Count cheapest_flops(const EinsumSpec& spec, const Sizes& sizes) {
  return flops_in_order(spec, cheapest_order(spec, sizes), sizes);
}

// Tries every order.
Count cheapest_by_trying_all(const EinsumSpec& spec, const Sizes& sizes,
                             const std::vector<EinsumArrayId>& left_over,
                             std::vector<EinsumPair>& order) {
  if (left_over.size() == 1) return flops_in_order(spec, order, sizes);
  Count best = Count::of(Int128{1} << 100);
  for (std::size_t a = 0; a < left_over.size(); ++a) {
    for (std::size_t b = a + 1; b < left_over.size(); ++b) {
      std::vector<EinsumArrayId> rest = left_over;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(b));
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(a));
      rest.push_back(static_cast<EinsumArrayId>(spec.operands.size() + order.size()));
      order.push_back({left_over[a], left_over[b]});
      best = std::min(best, cheapest_by_trying_all(spec, sizes, rest, order));
      order.pop_back();
    }
  }
  return best;
}

struct RandomEinsum {
  EinsumSpec spec;
  Sizes sizes;
};

// Up to `most_operands` operands over the axes i j k l m, each axis of an operand and of the output
// or not, by chance.
RandomEinsum random_einsum(int most_operands, std::int64_t largest_size) {
  const auto letters = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ijklm")));
  const auto distinct = rc::gen::map(letters, [](std::string text) {
    std::string kept;
    for (const char c : text) {
      if (kept.find(c) == std::string::npos) kept += c;
    }
    return kept;
  });
  const int operands = *rc::gen::inRange(1, most_operands + 1);
  std::string text;
  for (int i = 0; i < operands; ++i) text += (i == 0 ? "" : ",") + *distinct;
  std::string output;
  for (const char c : *distinct) {
    if (text.find(c) != std::string::npos) output += c;
  }
  RandomEinsum random{parse_einsum(text + "->" + output), {}};
  for (const EinsumAxis& axis : random.spec.axes) {
    random.sizes[axis.name] = *rc::gen::inRange<std::int64_t>(1, largest_size + 1);
  }
  return random;
}

RC_GTEST_PROP(EinsumOrder, NoOrderIsCheaper, ()) {
  const RandomEinsum random = random_einsum(5, 20);
  std::vector<EinsumArrayId> all;
  for (std::size_t i = 0; i < random.spec.operands.size(); ++i)
    all.push_back(static_cast<EinsumArrayId>(i));
  std::vector<EinsumPair> order;
  RC_ASSERT(cheapest_flops(random.spec, random.sizes) ==
            cheapest_by_trying_all(random.spec, random.sizes, all, order));
}

TEST(EinsumOrder, MatrixChainOfTheTextbook) {
  // Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, 15.2: 15,125 multiplications.
  const EinsumSpec spec = parse_einsum("ab,bc,cd,de,ef,fg->ag");
  const Sizes sizes = {
      {"a", 30},
      {"b", 35},
      {"c", 15},
      {"d", 5 },
      {"e", 10},
      {"f", 20},
      {"g", 25}
  };
  EXPECT_EQ(cheapest_flops(spec, sizes), Count(2 * 15125));
}

TEST(EinsumOrder, EqualsAreTakenFromTheLeft) {
  const EinsumSpec spec = parse_einsum("ij,ij,ij,ij->ij");
  const Sizes sizes = {
      {"i", 3},
      {"j", 5}
  };
  const std::vector<EinsumPair> order = cheapest_order(spec, sizes);
  const std::vector<EinsumPair> from_left = left_to_right_order(spec);
  ASSERT_EQ(order.size(), from_left.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].left, from_left[i].left);
    EXPECT_EQ(order[i].right, from_left[i].right);
  }
}

TEST(EinsumOrder, SixteenOperandsAndHugeSizes) {
  std::string text = "ab";
  for (char c = 'b'; c < 'b' + 15; ++c) text += fmt::format(",{}{}", c, static_cast<char>(c + 1));
  const EinsumSpec spec = parse_einsum(text + "->aq");
  ASSERT_EQ(spec.operands.size(), kMaxEinsumOperands);
  Sizes small;
  Sizes huge;
  for (const EinsumAxis& axis : spec.axes) {
    small[axis.name] = 2 + axis.name[0] % 7;
    huge[axis.name] = std::int64_t{1} << 40;
  }
  EXPECT_LE(cheapest_flops(spec, small), flops_in_order(spec, left_to_right_order(spec), small));
  EXPECT_EQ(cheapest_order(spec, huge).size(), 15U);
}

// ---- the formula against a count ---------------------------------------------------------------

using Point = std::map<std::string, std::int64_t>;

// Calls visit with every point of the axes.
template <typename Visit>
void for_each_point(const std::vector<std::string>& axes, const Sizes& sizes, Visit visit) {
  Point point;
  for (const std::string& axis : axes) point[axis] = 0;
  for (;;) {
    visit(point);
    std::size_t i = 0;
    for (; i < axes.size(); ++i) {
      if (++point[axes[i]] < sizes.at(axes[i]).value()) break;
      point[axes[i]] = 0;
    }
    if (i == axes.size()) return;
  }
}

struct Array {
  std::vector<std::string> axes;
  std::map<std::vector<std::int64_t>, std::uint64_t> elements;

  std::uint64_t& at(const Point& point) {
    std::vector<std::int64_t> index;
    for (const std::string& axis : axes) index.push_back(point.at(axis));
    return elements[index];
  }
};

std::vector<Array> random_arrays(const RandomEinsum& random) {
  std::uint64_t value = 1;
  std::vector<Array> arrays;
  for (const EinsumArray& operand : random.spec.operands) {
    Array array{operand.axes(), {}};
    for_each_point(array.axes, random.sizes, [&](const Point& point) {
      array.at(point) = value = value * 6364136223846793005U + 1442695040888963407U;
    });
    arrays.push_back(array);
  }
  return arrays;
}

// Runs the steps as loops; `flops` counts each multiply and each add into an accumulator that
// starts at 0.
Array run_steps(const EinsumCost& cost, std::vector<Array> arrays, const Sizes& sizes,
                Count& flops) {
  for (const EinsumStepCost& step_cost : cost.steps) {
    const EinsumStep& step = step_cost.step;
    Array result{step.result_axes, {}};
    for_each_point(step.loop_axes, sizes, [&](const Point& point) {
      std::uint64_t value = arrays.at(static_cast<std::size_t>(step.inputs[0])).at(point);
      if (step.inputs.size() == 2) {
        value *= arrays.at(static_cast<std::size_t>(step.inputs[1])).at(point);
        flops += 1;
      }
      if (step.reduced_axes.empty()) {
        result.at(point) = value;
      } else {
        result.at(point) += value;
        flops += 1;
      }
    });
    arrays.push_back(result);
  }
  return arrays.back();
}

// The definition: for every point of all axes, the product of the operands is added to the output.
Array run_definition(const RandomEinsum& random, std::vector<Array> arrays) {
  std::vector<std::string> axes;
  for (const EinsumAxis& axis : random.spec.axes) axes.push_back(axis.name);
  Array result{random.spec.output.axes(), {}};
  for_each_point(axes, random.sizes, [&](const Point& point) {
    std::uint64_t value = 1;
    for (Array& array : arrays) value *= array.at(point);
    result.at(point) += value;
  });
  return result;
}

RC_GTEST_PROP(EinsumCost, CountedLoopsEqualTheFormulaAndTheDefinition, ()) {
  const RandomEinsum random = random_einsum(4, 3);
  const EinsumCost cost = einsum_cost(random.spec, random.sizes, find_dtype("bf16"));
  const std::vector<Array> arrays = random_arrays(random);
  Count counted = 0;
  Array result = run_steps(cost, arrays, random.sizes, counted);
  RC_ASSERT(cost.flops.eval_count(random.sizes, "FLOPs") == counted);
  Array expected = run_definition(random, arrays);
  for_each_point(expected.axes, random.sizes,
                 [&](const Point& point) { RC_ASSERT(result.at(point) == expected.at(point)); });
}

// ---- intensity ---------------------------------------------------------------------------------

std::optional<std::int64_t> compute_bound_from(const std::string& expression,
                                               const Rational& intensity) {
  const EinsumSpec spec = parse_einsum(expression);
  return smallest_compute_bound_size(einsum_cost(spec, {}, find_dtype("bf16")), spec, intensity);
}

TEST(EinsumIntensity, EqualSizes) {
  const EinsumSpec spec = parse_einsum("ij,jk->ik");
  const EinsumCost cost = einsum_cost(spec, {}, find_dtype("bf16"));
  EXPECT_EQ(equal_sizes_intensity(cost, spec).str(), parse_expr("n/3").str());
}

TEST(EinsumIntensity, ComputeBoundFrom) {
  EXPECT_EQ(compute_bound_from("ij,jk->ik", 240), 720);  // n/3 >= 240
  EXPECT_EQ(compute_bound_from("ij,jk->ik", Rational::of(2402, 10)), 721);
  EXPECT_EQ(compute_bound_from("ij,jk->ik", Rational::of(1, 10)), 1);
  EXPECT_EQ(compute_bound_from("bij,bjk->bik", 240), 720);
  EXPECT_EQ(compute_bound_from("ij,jk,kl->il", 240), 480);      // 4n^3 / 8n^2
  EXPECT_EQ(compute_bound_from("ij,j->i", 240), std::nullopt);  // never: about 1
  EXPECT_EQ(compute_bound_from("ij,ij->ij", 240), std::nullopt);
  EXPECT_EQ(compute_bound_from("ij->i", 240), std::nullopt);
  EXPECT_EQ(compute_bound_from("ij,jk->ik", Rational(std::int64_t{1} << 41)), std::nullopt);
}

// ---- on a mesh ---------------------------------------------------------------------------------

ShardedEinsumCost sharded_cost(const std::string& expression, const char* mesh,
                               const Sizes& sizes = {}) {
  const EinsumSpec spec = parse_einsum(expression);
  const DType& dtype = find_dtype("bf16");
  std::optional<Mesh> parsed;
  if (mesh != nullptr) parsed = parse_mesh(mesh);
  return sharded_einsum_cost(spec, einsum_cost(spec, sizes, dtype), parsed, sizes, dtype);
}

TEST(ShardedEinsumCost, AMeshAxisThatSplitsNothingRepeatsTheWork) {
  const ShardedEinsumCost cost = sharded_cost("A[B_X,D_Y] *_D W[D_Y,F]", "X=4,Y=8,Z=4");
  EXPECT_EQ(cost.flops_total.str(), "2*B*D*F*Z");
  EXPECT_EQ(cost.flops_per_device.str(), "2*B*D*F/(X*Y)");
  EXPECT_EQ(describe(cost.output), "C[B_X,F]");
}

TEST(ShardedEinsumCost, WithoutAMeshItsAxesAreThoseWritten) {
  const ShardedEinsumCost cost = sharded_cost("A[B_X,D_Y] *_D W[D_Y,F]", nullptr);
  EXPECT_EQ(cost.flops_total.str(), "2*B*D*F");
  EXPECT_EQ(cost.flops_per_device.str(), "2*B*D*F/(X*Y)");
  EXPECT_EQ(sharded_cost("ij,jk->ik", nullptr).flops_per_device.str(), "2*k*i*j");
}

TEST(ShardedEinsumCost, BytesThatADeviceSends) {
  const Sizes sizes = {
      {"B", 64},
      {"D", 32},
      {"F", 16},
      {"X", 4 },
      {"Y", 8 }
  };
  const auto sent = [&](const char* expression) {
    const ShardedEinsumCost cost = sharded_cost(expression, "X=4,Y=8");
    return cost.collectives.at(0).sent_bytes.eval_count(sizes, "bytes");
  };
  EXPECT_EQ(sent("A[B,D_X] * W[D,F]"), Count(2 * 64 * 32 * 3 / 4));        // V(X-1)/X
  EXPECT_EQ(sent("A[B,D_X] * W[D_X,F]"), Count(2 * 2 * 64 * 16 * 3 / 4));  // 2V(X-1)/X
  EXPECT_EQ(sent("A[B,D_X] * W[D_X,F] -> C[B_X,F]"), Count(2 * 64 * 16 * 3 / 4));
  EXPECT_EQ(sent("A[B_X,D] -> C[B,D_X]"), Count(2 * 64 * 32 * 3 / 16));  // V(X-1)/X^2
  EXPECT_EQ(sent("A[B,D_XY] * W[D,F]"), Count(2 * 64 * 32 * 31 / 32));   // one group of 32
}

}  // namespace
}  // namespace flopwise
