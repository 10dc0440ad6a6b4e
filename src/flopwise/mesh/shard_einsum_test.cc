#include "flopwise/mesh/shard_einsum.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/testing.h"

namespace flopwise {
namespace {

// Small, distinct, and divisible by the mesh.
const Sizes kSizes = {
    {"B", 24},
    {"D", 48},
    {"F", 72},
    {"K", 24},
    {"X", 2 },
    {"Y", 3 },
    {"Z", 4 }
};
const std::vector<std::string> kMesh = {"X", "Y", "Z"};

ShardedEinsum sharded(const std::string& expression, const Sizes& sizes = kSizes) {
  const EinsumSpec spec = parse_einsum(expression);
  std::vector<EinsumPair> order;
  const auto operands = static_cast<EinsumArrayId>(spec.operands.size());
  for (EinsumArrayId next = 1; next < operands; ++next) {
    order.push_back({next == 1 ? 0 : operands + next - 2, next});
  }
  return shard_einsum(spec, einsum_steps(spec, order), kMesh, sizes);
}

// "all_gather A over X, V = B*D; ..."
std::string moves_text(const ShardedEinsum& result) {
  std::string text;
  for (const CollectiveMove& move : result.moves) {
    text += fmt::format("{}{} {} over {}, V = {}", text.empty() ? "" : "; ", name_of(move.kind),
                        move.array, fmt::join(move.mesh_axes, ","), move.elements.str());
  }
  return text;
}

struct Row {
  const char* expression;
  const char* points;  // of one device
  const char* moves;
  const char* output;
};

// The rules of shard_einsum.h, in their order.
TEST(ShardEinsum, Rules) {
  constexpr Row kRows[] = {
  // (1) Nothing moves; a batching axis slices the other operand.
      {"A[B_X,D] * W[D,F]",                            "B*D*F/X",           "",                                   "C[B_X,F]"      },
      {"A[B_X,D] * W[D,F_Y]",                          "B*D*F/(X*Y)",       "",                                   "C[B_X,F_Y]"    },
      {"A[B_X,D] * W[B,D] -> C[B_X,D]",                "B*D/X",             "",                                   "C[B_X,D]"      },
      {"A[B_X,D] * W[B_X,D_Y] -> C[B_X,D_Y]",          "B*D/(X*Y)",         "",                                   "C[B_X,D_Y]"    },
 // (2) Contracted in one operand only.
      {"A[B,D_X] * W[D,F]",                            "B*D*F",             "all_gather A over X, V = B*D",       "C[B,F]"        },
      {"A[B_Y,D_X] * W[D,F]",                          "B*D*F/Y",           "all_gather A over X, V = B*D/Y",     "C[B_Y,F]"      },
      {"A[B,D_XY] * W[D,F]",                           "B*D*F",             "all_gather A over X,Y, V = B*D",     "C[B,F]"        },
      {"A[B_X,D] * W[D_X,F]",                          "B*D*F/X",           "all_gather W over X, V = D*F",       "C[B_X,F]"      },
 // (3) Contracted in both: partial sums.
      {"A[B_X,D_Y] * W[D_Y,F]",                        "B*D*F/(X*Y)",       "all_reduce C over Y, V = B*F/X",     "C[B_X,F]"      },
      {"A[B_X,D_Y] * W[D_Y,F] -> C[B_X,F] {U_Y}",      "B*D*F/(X*Y)",       "",                                   "C[B_X,F] {U_Y}"},
      {"A[B_X,D_Y] * W[D_Y,F] -> C[B_X,F_Y]",          "B*D*F/(X*Y)",       "reduce_scatter C over Y, V = B*F/X",
       "C[B_X,F_Y]"                                                                                                               },
      {"A[B,D_XY] * W[D_XY,F] -> C[B,F]",              "B*D*F/(X*Y)",       "all_reduce C over X,Y, V = B*F",
       "C[B,F]"                                                                                                                   },
      {"A[B,D_XY] * W[D_XY,F] -> C[B_X,F] {U_Y}",      "B*D*F/(X*Y)",       "reduce_scatter C over X, V = B*F",
       "C[B_X,F] {U_Y}"                                                                                                           },
 // (4) Two free axes: the smaller is gathered (B*D = 1152 against D*F = 3456).
      {"A[B_X,D] * W[D,F_X]",                          "B*D*F/X",           "all_gather A over X, V = B*D",       "C[B,F_X]"      },
      {"W[D,F_X] * A[B_X,D]",                          "B*D*F/X",           "all_gather A over X, V = B*D",       "C[F_X,B]"      },
      {"A[B_X,D] * W[B,D,F_X] -> C[B_X,F]",            "B*D*F/X",
       "all_gather A over X, V = B*D; all_to_all C over X, V = B*F",                                              "C[B_X,F]"      },
 // Partial sums as operands.
      {"A[B,D] {U_X} * W[D,F]",                        "B*D*F",             "all_reduce C over X, V = B*F",       "C[B,F]"        },
      {"A[B,D] {U_X} * W[D,F_X]",                      "B*D*F/X",           "all_reduce A over X, V = B*D",       "C[B,F_X]"      },
      {"A[B,D] {U_X} * W[D,F] {U_X} -> C[B,F] {U_X}",  "B*D*F",             "all_reduce A over X, V = B*D",
       "C[B,F] {U_X}"                                                                                                             },
 // One array: a change of placement, and sums.
      {"A[B_X,D]",                                     nullptr,             "",                                   "C[B_X,D]"      },
      {"A[B_X,D] -> C[B,D]",                           nullptr,             "all_gather C over X, V = B*D",       "C[B,D]"        },
      {"A[B_X,D_Y] -> C[B,D]",                         nullptr,             "all_gather C over X,Y, V = B*D",     "C[B,D]"        },
      {"A[B_X,D] -> C[B,D_X]",                         nullptr,             "all_to_all C over X, V = B*D",       "C[B,D_X]"      },
      {"A[B_XY,D] -> C[B_Y,D_X]",                      nullptr,             "all_to_all C over X, V = B*D/Y",     "C[B_Y,D_X]"    },
      {"A[B,D] -> C[B_X,D]",                           nullptr,             "",                                   "C[B_X,D]"      },
      {"A[B,D] {U_X} -> C[B_X,D]",                     nullptr,             "reduce_scatter C over X, V = B*D",   "C[B_X,D]"      },
      {"A[B_X,D_Y] -> C[D_Y]",                         "B*D/(X*Y)",         "all_reduce C over X, V = D/Y",       "C[D_Y]"        },
      {"A[B_X,D] -> C[D] {U_X}",                       "B*D/X",             "",                                   "C[D] {U_X}"    },
 // Three operands: an intermediate stays a partial sum until something asks.
      {"A[B,D_X] * W[D_X,F] * V[F,K]",                 "B*D*F/X + B*F*K",   "all_reduce C over X, V = B*K",       "C[B,K]"        },
      {"A[B,D_X] * W[D_X,F] * V[F,K_X]",               "B*D*F/X + B*F*K/X", "all_reduce (A*W) over X, V = B*F",
       "C[B,K_X]"                                                                                                                 },
      {"A[B,D] * W[D,F_X] * V[F_X,K] -> D[B,K] {U_X}", "B*D*F/X + B*F*K/X", "",                                   "D[B,K] {U_X}"  },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    const ShardedEinsum result = sharded(row.expression);
    Expr points;
    for (const Expr& step : result.step_points) points += step;
    EXPECT_EQ(points.str(), row.points == nullptr ? "0" : parse_expr(row.points).str());
    EXPECT_EQ(moves_text(result), row.moves);
    EXPECT_EQ(describe(result.output), row.output);
    EXPECT_EQ(result.devices.str(), "X*Y*Z");
  }
}

TEST(ShardEinsum, AConflictIsExplained) {
  EXPECT_THAT(
      sharded("A[B_X,D] * W[D,F_X]").notes,
      testing::ElementsAre("X is on axis B of A and on axis F of W: A is gathered over X, the "
                           "smaller of the two in bytes"));
  EXPECT_TRUE(sharded("A[B_X,D] * W[D_X,F]").notes.empty());
}

TEST(ShardEinsum, OneDeviceMovesNothing) {
  Sizes sizes = kSizes;
  sizes["X"] = 1;
  EXPECT_EQ(moves_text(sharded("A[B,D_XY] * W[D,F]", sizes)), "all_gather A over Y, V = B*D");
  EXPECT_EQ(moves_text(sharded("A[B,D_X] * W[D,F]", sizes)), "");
}

TEST(ShardEinsum, WhatADeviceHoldsWhenItComputes) {
  const ShardedEinsum result = sharded("A[B_X,D_Y] * W[D,F]");
  EXPECT_EQ(result.operand_elements[0].str(), "B*D/X");  // gathered over Y
  EXPECT_EQ(result.operand_elements[1].str(), "D*F");
  EXPECT_EQ(result.result_elements.str(), "B*F/X");
  EXPECT_EQ(sharded("A[B_X,D] * W[B,D] -> C[B_X,D]").operand_elements[1].str(), "B*D/X");  // sliced
}

TEST(ShardEinsum, OrdersThatNoRuleExchanges) {
  EXPECT_EQ(user_error_of([] { return sharded("A[B,D_XY] * W[D_YX,F]"); }),
            "einsum: column 17: the mesh axes on axis 'D' are in another order than before it: no "
            "placement rule exchanges them");
  EXPECT_EQ(user_error_of([] { return sharded("A[B_XY] -> C[B_YX]"); }),
            "einsum: column 16: the mesh axes on axis 'B' are in another order than before it: no "
            "placement rule exchanges them");
}

// Every device of the mesh together does at least the whole work, whatever the placement.
RC_GTEST_PROP(ShardEinsum, NoWorkIsLost, ()) {
  const auto mesh_axis = rc::gen::element<std::string>("", "_X", "_Y", "_XY", "_Z");
  const std::string text =
      fmt::format("A[B{},D{}] * W[D{},F{}]", *mesh_axis, *mesh_axis, *mesh_axis, *mesh_axis);
  ShardedEinsum result;
  try {
    result = sharded(text);
  } catch (const UserError&) {
    RC_DISCARD("a mesh axis twice");
  }
  const Rational all = (result.step_points.at(0) * result.devices).eval(kSizes);
  RC_ASSERT(all >= parse_expr("B*D*F").eval(kSizes));
  RC_ASSERT(result.output.unreduced.empty());
}

}  // namespace
}  // namespace flopwise
