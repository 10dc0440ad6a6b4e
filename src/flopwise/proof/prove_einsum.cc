#include "flopwise/proof/prove_einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/cost/einsum_cost.h"
#include "flopwise/exec/block_run.h"
#include "flopwise/graph/einsum.h"
#include "flopwise/proof/ledger.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::Shape;

constexpr double kMostPoints = 1e7;     // of one step
constexpr double kMostChecked = 2e6;    // lookups of the loop over all axes
constexpr double kSameNumbers = 1e-12;  // sums in another order

// The steps as a graph: step s makes the tensor operands + s.
Block block_of(const EinsumSpec& spec, const EinsumCost& cost) {
  Block block;
  block.name = "einsum";
  const auto add = [&](const std::string& name, const std::vector<std::string>& axes, Role role) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = role;
    for (const std::string& axis : axes) tensor.axes.push_back({axis, Expr::symbol(axis)});
    return block.graph.add_tensor(std::move(tensor));
  };
  for (const EinsumArray& operand : spec.operands) {
    add(operand.name.text, operand.axes(), Role::kInput);
  }
  for (const EinsumStepCost& step : cost.steps) {
    const TensorId result = add(step.step.result, step.step.result_axes, Role::kActivation);
    OpKind kind = Sum{};
    if (step.step.inputs.size() == 2) kind = Contraction{};
    block.graph.add_op({step.step.result, std::move(kind), step.step.inputs, {result}});
  }
  block.graph.outputs = {static_cast<TensorId>(block.graph.tensors().size()) - 1};
  return block;
}

// All sizes distinct where that stays small; one axis `varied` is larger.
Sizes draw_sizes(const EinsumSpec& spec, std::uint64_t seed, const std::string& varied) {
  constexpr std::size_t kFew = 7;
  Sizes sizes;
  std::vector<std::int64_t> free = {2, 3, 4, 5, 6, 7, 8, 9};
  for (const EinsumAxis& axis : spec.axes) {
    const double draw = exec::uniform(exec::derived_seed(seed, axis.name), 0);
    std::int64_t size = 1 + static_cast<std::int64_t>(draw * 3);
    if (spec.axes.size() <= kFew) {
      const auto place =
          free.begin() + static_cast<std::ptrdiff_t>(draw * static_cast<double>(free.size()));
      size = *place;
      free.erase(place);
    }
    sizes[axis.name] = axis.name == varied ? size + 1 : size;
  }
  return sizes;
}

std::string describe(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, size] : sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size.str());
  }
  return text;
}

class EinsumRun {
 public:
  EinsumRun(const EinsumSpec& spec, const EinsumCost& cost, const ProveOptions& options,
            const Sizes& sizes)
      : spec_(spec), options_(options), sizes_(sizes), cost_(cost), block_(block_of(spec, cost_)) {}

  void run(Ledger& ledger) {
    for (const EinsumStepCost& step : cost_.steps) {
      const double points = points_of(step.step.loop_axes);
      if (points > kMostPoints) {
        throw UserError(fmt::format("einsum: step {} runs over {} axes, too many to execute",
                                    step.step.result, step.step.loop_axes.size()));
      }
    }
    exec::BlockRun<CountedDouble> run(block_.graph, sizes_, 0, exec::ElementBytes{});
    for (std::size_t i = 0; i < spec_.operands.size(); ++i) {
      const auto id = static_cast<TensorId>(i);
      Array<CountedDouble> operand(run.shape_of(id));
      for (std::int64_t j = 0; j < operand.size(); ++j) {
        operand[j] = exec::uniform(i + 1, static_cast<std::uint64_t>(j)) - 0.5;
      }
      run.set(id, operand);
      operands_.push_back(std::move(operand));
    }
    run.forward();
    ledger.add_run();
    Count counted;
    for (std::size_t s = 0; s < cost_.steps.size(); ++s) {
      counted += Count(run.tallies()[s].total());
      ledger.equal("einsum.steps", cost_.steps[s].flops.eval_count(sizes_, "step"),
                   run.tallies()[s].total(), describe(sizes_));
      const Op& op = block_.graph.ops()[s];
      const Work work = options_.work(block_.graph, op);
      ledger.count(Mode::kForward, block_, op, work, work.flops.eval_count(sizes_, op.name),
                   run.tallies()[s].total(), describe(sizes_));
    }
    ledger.equal("einsum.flops", cost_.flops.eval_count(sizes_, "flops"), counted,
                 describe(sizes_));
    std::vector<std::string> all_axes;
    for (const EinsumAxis& axis : spec_.axes) all_axes.push_back(axis.name);
    const auto axes = static_cast<double>(all_axes.size());
    const double lookups =
        points_of(all_axes) * axes * axes * static_cast<double>(spec_.operands.size());
    if (lookups <= kMostChecked) compare_output(run, ledger);
  }

 private:
  double points_of(const std::vector<std::string>& axes) const {
    double points = 1;
    for (const std::string& axis : axes) points *= sizes_.at(axis).to_double();
    return points;
  }

  // One loop over all axes, in plain doubles.
  void compare_output(const exec::BlockRun<CountedDouble>& run, Ledger& ledger) {
    const Array<CountedDouble> result = run.get(block_.graph.outputs[0]);
    Shape out;
    for (const std::string& axis : spec_.output.axes()) {
      out.push_back({axis, static_cast<std::int64_t>(sizes_.at(axis).value())});
    }
    Array<double> expected(out);
    Array<double> added(out);  // what went into each element, cancelled or not: that is what rounds
    Shape all;
    for (const EinsumAxis& axis : spec_.axes) {
      all.push_back({axis.name, static_cast<std::int64_t>(sizes_.at(axis.name).value())});
    }
    exec::for_each_point<1>({&all}, nullptr, [&](const exec::Offsets<1>& at) {
      double product = 1;
      for (const Array<CountedDouble>& operand : operands_) {
        product *= operand[offset_in(operand.shape(), all, at[0])].value();
      }
      const std::int64_t to = offset_in(out, all, at[0]);
      expected[to] += product;
      added[to] += std::abs(product);
    });
    double worst = 0;
    double scale = 0;
    exec::for_each_point<2>({&out, &result.shape()}, nullptr, [&](const exec::Offsets<2>& at) {
      worst = worse_of(worst, std::abs(expected[at[0]] - result[at[1]].value()));
      scale = std::max(scale, added[at[0]]);
    });
    ledger.close("output", worst, scale, kSameNumbers, describe(sizes_));
  }

  // Where the point at `offset` of `all` lies in an array of some of its axes.
  static std::int64_t offset_in(const Shape& shape, const Shape& all, std::int64_t offset) {
    std::int64_t result = 0;
    for (const exec::Extent& axis : all) {
      const std::int64_t index = offset / exec::stride_of(all, axis.name) % axis.size;
      result += index * exec::stride_of(shape, axis.name);
    }
    return result;
  }

  const EinsumSpec& spec_;
  const ProveOptions& options_;
  Sizes sizes_;
  const EinsumCost& cost_;
  Block block_;
  std::vector<Array<CountedDouble>> operands_;
};

}  // namespace

Proof prove_einsum(const std::string& expression, const ProveOptions& options) {
  const EinsumSpec spec = parse_einsum(expression);
  Proof proof;
  proof.model = describe(spec);
  Ledger ledger;
  std::vector<Sizes> draws;
  draws.reserve(static_cast<std::size_t>(options.random_draws) + spec.axes.size());
  for (int i = 0; i < options.random_draws; ++i) {
    draws.push_back(draw_sizes(spec, static_cast<std::uint64_t>(i), ""));
  }
  for (const EinsumAxis& axis : spec.axes) draws.push_back(draw_sizes(spec, 0, axis.name));
  const EinsumCost cost = einsum_cost(spec, {}, find_dtype("bf16"));
  if (cost.steps.empty()) {
    throw UserError(
        fmt::format("einsum: {} executes nothing, expected several operands or an axis to add up",
                    proof.model));
  }
  for (const Sizes& sizes : draws) {
    EinsumRun(spec, cost, options, sizes).run(ledger);
    proof.draws.push_back(describe(sizes));
  }
  ledger.write_to(proof);
  return proof;
}

}  // namespace flopwise
