#include "flopwise/cost/einsum_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/units.h"
#include "flopwise/cost/einsum_order.h"

namespace flopwise {
namespace {

Expr product(const std::vector<std::string>& axes) {
  Expr result = 1;
  for (const std::string& axis : axes) result *= Expr::symbol(axis);
  return result;
}

// FLOPs for each point that a step's loop runs over.
std::int64_t flops_per_point(const EinsumStep& step) {
  const std::int64_t multiplies = static_cast<std::int64_t>(step.inputs.size()) - 1;
  const std::int64_t adds = step.reduced_axes.empty() ? 0 : 1;
  return multiplies + adds;
}

bool is_reduced(EinsumAxisKind kind) {
  return kind == EinsumAxisKind::kContracting || kind == EinsumAxisKind::kSummed;
}

Expr naive_flops(const EinsumSpec& spec) {
  Expr points = 1;
  std::int64_t adds = 0;
  for (const EinsumAxis& axis : spec.axes) {
    points *= Expr::symbol(axis.name);
    if (is_reduced(axis.kind)) adds = 1;
  }
  return points * (static_cast<std::int64_t>(spec.operands.size()) - 1 + adds);
}

Expr elements_of_all(const EinsumSpec& spec) {
  Expr elements = product(spec.output.axes());
  for (const EinsumArray& operand : spec.operands) elements += product(operand.axes());
  return elements;
}

std::vector<EinsumPair> best_order(const EinsumSpec& spec, const Sizes& sizes) {
  return spec.operands.size() > 2 ? cheapest_order(spec, sizes) : left_to_right_order(spec);
}

// The largest at `sizes`; the first of equals.
std::optional<EinsumIntermediate> peak_intermediate(const std::vector<EinsumStepCost>& steps,
                                                    const Sizes& sizes,
                                                    const Rational& element_bytes) {
  std::optional<EinsumIntermediate> peak;
  double peak_elements = 0;  // a choice, not a result: a double cannot overflow
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const double elements = steps[i].result_elements.eval_double(sizes);
    if (peak && elements <= peak_elements) continue;
    peak_elements = elements;
    EinsumArray array;
    array.name.text = steps[i].step.result;
    for (const std::string& axis : steps[i].step.result_axes) {
      EinsumDim dim;
      dim.axis.text = axis;
      array.dims.push_back(std::move(dim));
    }
    peak = {describe(array), steps[i].result_elements, steps[i].result_elements * element_bytes};
  }
  return peak;
}

// Sent by each of X devices for an array of V bytes.
Expr sent_bytes(CollectiveKind kind, const Expr& array_bytes, const Expr& devices) {
  Expr others = array_bytes * (devices - 1) / devices;
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return others;
    case CollectiveKind::kAllReduce:
      return 2 * others;
    case CollectiveKind::kAllToAll:
      return others / devices;
  }
  throw InternalError("unknown kind of collective");
}

// True when flops/bytes cannot fall as n grows: both are sums of powers of n with positive
// coefficients, and no power below is larger than one above.
bool intensity_grows(const EinsumCost& cost, const EinsumSpec& spec) {
  std::size_t largest_array = spec.output.dims.size();
  for (const EinsumArray& operand : spec.operands)
    largest_array = std::max(largest_array, operand.dims.size());
  return std::all_of(cost.steps.begin(), cost.steps.end(), [&](const EinsumStepCost& step) {
    return step.step.loop_axes.size() >= largest_array;
  });
}

}  // namespace

EinsumCost einsum_cost(const EinsumSpec& spec, const Sizes& sizes, const DType& dtype) {
  EinsumCost cost;
  Sizes complete = sizes;
  for (const EinsumAxis& axis : spec.axes) {
    if (complete.emplace(axis.name, kAssumedAxisSize).second)
      cost.assumed.emplace(axis.name, kAssumedAxisSize);
  }
  for (EinsumStep& step : einsum_steps(spec, best_order(spec, complete))) {
    const Expr flops = flops_per_point(step) * product(step.loop_axes);
    cost.flops += flops;
    const Expr elements = product(step.result_axes);
    cost.steps.push_back({std::move(step), flops, elements});
  }
  const Rational element_bytes = bytes_per_element(dtype);
  cost.naive_flops = naive_flops(spec);
  cost.bytes = elements_of_all(spec) * element_bytes;
  cost.intensity = cost.flops / cost.bytes;
  cost.peak_intermediate = peak_intermediate(cost.steps, complete, element_bytes);
  cost.has_order_choice = spec.operands.size() > 2;
  return cost;
}

ShardedEinsumCost sharded_einsum_cost(const EinsumSpec& spec, const EinsumCost& cost,
                                      const std::optional<Mesh>& mesh, const Sizes& sizes,
                                      const DType& dtype) {
  std::vector<std::string> mesh_axes;
  Sizes complete = sizes;
  complete.insert(cost.assumed.begin(), cost.assumed.end());
  if (mesh) {
    check_mesh(spec, *mesh, sizes);
    for (const MeshAxis& axis : mesh->axes) {
      mesh_axes.push_back(axis.name);
      complete.emplace(axis.name, axis.size);
    }
  } else {
    mesh_axes = mesh_axes_of(spec);
    for (const std::string& axis : mesh_axes) complete.emplace(axis, kAssumedMeshSize);
  }
  std::vector<EinsumStep> steps;
  for (const EinsumStepCost& step : cost.steps) steps.push_back(step.step);
  const ShardedEinsum sharded = shard_einsum(spec, steps, mesh_axes, complete);

  ShardedEinsumCost result;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    result.flops_per_device += flops_per_point(steps[i]) * sharded.step_points[i];
  }
  result.flops_total = result.flops_per_device * sharded.devices;
  Expr elements = sharded.result_elements;
  for (const Expr& operand : sharded.operand_elements) elements += operand;
  const Rational element_bytes = bytes_per_element(dtype);
  result.bytes_per_device = elements * element_bytes;
  for (const CollectiveMove& move : sharded.moves) {
    const Expr array_bytes = move.elements * element_bytes;
    result.collectives.push_back(
        {move, array_bytes, sent_bytes(move.kind, array_bytes, product(move.mesh_axes))});
  }
  result.output = sharded.output;
  result.notes = sharded.notes;
  return result;
}

Expr equal_sizes_intensity(const EinsumCost& cost, const EinsumSpec& spec) {
  Substitution all_equal;
  for (const EinsumAxis& axis : spec.axes) all_equal.emplace(axis.name, Expr::symbol("n"));
  return cost.flops.substitute(all_equal) / cost.bytes.substitute(all_equal);
}

std::optional<std::int64_t> smallest_compute_bound_size(const EinsumCost& cost,
                                                        const EinsumSpec& spec,
                                                        const Rational& flops_per_byte) {
  const bool contracts =
      std::any_of(spec.axes.begin(), spec.axes.end(),
                  [](const EinsumAxis& axis) { return axis.kind == EinsumAxisKind::kContracting; });
  if (!contracts || !intensity_grows(cost, spec)) return std::nullopt;
  const Expr intensity = equal_sizes_intensity(cost, spec);
  const auto is_enough = [&](std::int64_t n) {
    try {
      return intensity.eval({
                 {"n", n}
      }) >= flops_per_byte;
    } catch (const OverflowError&) {
      return intensity.eval_double({
                 {"n", n}
      }) >= flops_per_byte.to_double();
    }
  };
  if (!is_enough(kMaxAxisSize)) return std::nullopt;
  std::int64_t low = 0;  // not enough, or no size
  std::int64_t high = kMaxAxisSize;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (is_enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace flopwise
