#include "flopwise/graph/lora.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/split.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kWeightEnd = ".weight";

// The name of the product with a parameter matrix; "" of anything else.
std::string adaptable_name(const Graph& graph, const Op& op) {
  const auto* kind = std::get_if<Contraction>(&op.kind);
  if (kind == nullptr || kind->op_class != OpClass::kMatmul) return "";
  const Tensor& weight = graph.tensor(op.inputs[1]);
  if (weight.role != Role::kParameter || !weight.name.ends_with(kWeightEnd)) return "";
  return weight.name.substr(0, weight.name.size() - kWeightEnd.size());
}

class AdapterPass {
 public:
  AdapterPass(const Graph& forward, const Lora* lora, std::set<std::string>* met)
      : forward_(forward), lora_(lora), met_(met) {}

  Graph run() {
    for (const Tensor& tensor : forward_.tensors()) {
      Tensor copy = tensor;
      if (copy.role == Role::kParameter) copy.needs_gradient = false;
      result_.add_tensor(std::move(copy));
    }
    add_regions();
    for (const Op& op : forward_.ops()) {
      add(with_replaced_inputs(op));
      const std::string name = adaptable_name(forward_, op);
      if (!name.empty() && is_target(name)) adapt(op, name);
    }
    for (const TensorId id : forward_.outputs) result_.outputs.push_back(now(id));
    return std::move(result_);
  }

 private:
  void add_regions() {
    RegionId last = kNoRegion;
    for (const Op& op : forward_.ops()) last = std::max(last, op.region);
    for (RegionId id = 0; id <= last; ++id) result_.add_region(forward_.region(id));
  }

  TensorId now(TensorId id) const {
    const auto found = replaced_.find(id);
    return found == replaced_.end() ? id : found->second;
  }

  Op with_replaced_inputs(const Op& op) {
    Op copy = op;
    for (TensorId& id : copy.inputs) id = now(id);
    for (const TensorId id : copy.outputs) {
      Tensor& tensor = result_.tensor(id);
      if (tensor.alias_of != kNoTensor) tensor.alias_of = now(tensor.alias_of);
    }
    return copy;
  }

  // What is frozen and reads nothing that learns has no gradient.
  void add(Op op) {
    const bool learns = std::any_of(op.inputs.begin(), op.inputs.end(),
                                    [&](TensorId id) { return result_.tensor(id).needs_gradient; });
    for (const TensorId id : op.outputs) {
      Tensor& tensor = result_.tensor(id);
      tensor.needs_gradient = tensor.needs_gradient && learns;
    }
    result_.add_op(std::move(op));
  }

  bool is_target(const std::string& name) {
    if (lora_ == nullptr) return false;
    bool found = false;
    for (const std::string& target : lora_->targets) {
      if (target != kAll && target != name && target != last_part(name)) continue;
      met_->insert(target);
      found = true;
    }
    return found;
  }

  TensorId parameter(const std::string& name, std::vector<Axis> axes, const Op& op,
                     const std::string& routed_axis) {
    Tensor tensor{name, std::move(axes), Role::kParameter, Element::kWeight, op.component};
    tensor.routed_axis = routed_axis;
    return result_.add_tensor(std::move(tensor));
  }

  TensorId activation(const std::string& name, std::vector<Axis> axes, const Op& op) {
    return result_.add_tensor(
        {name, std::move(axes), Role::kActivation, Element::kCompute, op.component});
  }

  // Behind `op`, x W: y becomes y + (alpha / r) (x A) B.
  void adapt(const Op& op, const std::string& name) {
    const Contraction& kind = std::get<Contraction>(op.kind);
    const std::vector<std::string> contracted = contracted_axes(forward_, op);
    const Axis rank{"r", Expr::symbol("r")};
    std::vector<Axis> down;
    std::vector<Axis> up;
    std::vector<Axis> out;
    for (const Axis& axis : forward_.tensor(op.inputs[1]).axes) {
      if (axis.name == kind.routed_axis) {
        down.push_back(axis);
        up.push_back(axis);
      } else {
        (contains(contracted, axis.name) ? down : out).push_back(axis);
      }
    }
    down.push_back(rank);
    up.push_back(rank);
    up.insert(up.end(), out.begin(), out.end());
    const Tensor& y = forward_.tensor(op.outputs[0]);
    std::vector<Axis> inner;
    for (const Axis& axis : y.axes) {
      const auto same = [&](const Axis& other) { return other.name == axis.name; };
      if (std::none_of(out.begin(), out.end(), same)) inner.push_back(axis);
    }
    inner.push_back(rank);

    const auto product = [&](const std::string& part, TensorId x, std::vector<Axis> weight,
                             std::vector<Axis> axes) {
      const std::string full = name + "." + part;
      std::vector<TensorId> inputs = {
          x, parameter(full + ".weight", std::move(weight), op, kind.routed_axis)};
      if (!kind.routed_axis.empty()) inputs.push_back(now(op.inputs[2]));  // the choice
      const TensorId made = activation(full, std::move(axes), op);
      add({full, kind, std::move(inputs), {made}, op.component});
      return made;
    };
    const auto map = [&](const std::string& part, ScalarProgram program,
                         std::vector<TensorId> inputs) {
      const std::string full = name + "." + part;
      const TensorId made = activation(full, y.axes, op);
      add({full, Map{std::move(program)}, std::move(inputs), {made}, op.component});
      return made;
    };
    const TensorId small = product("lora_a", now(op.inputs[0]), std::move(down), std::move(inner));
    const TensorId large = product("lora_b", small, std::move(up), y.axes);
    const double factor = lora_->alpha / static_cast<double>(lora_->rank);
    const TensorId scaled = map("lora_scale", scalar_scale(factor), {large});
    replaced_[op.outputs[0]] = map("lora_sum", scalar_add(), {op.outputs[0], scaled});
  }

  const Graph& forward_;
  const Lora* lora_;
  std::set<std::string>* met_;
  Graph result_;
  std::map<TensorId, TensorId> replaced_;
};

std::string own_name(std::string_view target) {
  if (target == "all-linear") return std::string(kAll);
  constexpr std::string_view kEnd = "_proj";
  if (target.ends_with(kEnd)) target.remove_suffix(kEnd.size());
  return std::string(target);
}

std::vector<std::string> parse_targets(std::string_view text) {
  std::vector<std::string> targets;
  for (const std::string_view target : split(text, '+')) {
    if (target.empty()) {
      throw UserError("--lora targets: expected names such as q+v, got an empty name");
    }
    targets.push_back(own_name(target));
  }
  return targets;
}

double parse_alpha(std::string_view text) {
  const Rational alpha = parse_quantity(text, "--lora alpha");
  if (alpha > Rational(0)) return alpha.to_double();
  throw UserError(fmt::format("--lora alpha: expected more than 0, got {}", quoted(text)));
}

}  // namespace

Lora parse_lora(std::string_view text) {
  Lora lora;
  std::set<std::string_view> seen;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    const bool is_known = key == "r" || key == "alpha" || key == "targets";
    if (!is_known || value.empty()) {
      throw UserError(
          fmt::format("--lora: expected r=..., targets=... or alpha=..., got {}", quoted(part)));
    }
    if (!seen.insert(key).second) throw UserError(fmt::format("--lora: {} is given twice", key));
    if (key == "r") lora.rank = parse_axis_size(value, "--lora r");
    if (key == "alpha") lora.alpha = parse_alpha(value);
    if (key == "targets") lora.targets = parse_targets(value);
  }
  if (lora.rank == 0 || lora.targets.empty()) {
    throw UserError(fmt::format("--lora: expected such as r=16,targets=q+v, got {}", quoted(text)));
  }
  if (lora.alpha == 0) lora.alpha = static_cast<double>(lora.rank);
  return lora;
}

Graph with_adapters(const Graph& forward, const Lora& lora, std::set<std::string>& met) {
  return AdapterPass(forward, &lora, &met).run();
}

Graph frozen(const Graph& forward) {
  return AdapterPass(forward, nullptr, nullptr).run();
}

std::set<std::string> adaptable_names(const Graph& forward) {
  std::set<std::string> names;
  for (const Op& op : forward.ops()) {
    const std::string name = adaptable_name(forward, op);
    if (!name.empty()) names.insert(last_part(name));
  }
  return names;
}

}  // namespace flopwise
