#include "flopwise/model/blocks/block_builder.h"

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {

TensorId BlockBuilder::input(const std::string& name, const Axes& axes, bool shared) {
  Tensor tensor{name, axes, Role::kInput};
  tensor.shared = shared;
  return graph_.add_tensor(std::move(tensor));
}

TensorId BlockBuilder::index_input(const std::string& name, const Axes& axes) {
  Tensor tensor{name, axes, Role::kInput, Element::kIndex};
  tensor.needs_gradient = false;
  tensor.shared = true;  // ids are handed out once, whichever block reads them
  return graph_.add_tensor(std::move(tensor));
}

TensorId BlockBuilder::constant(const std::string& name, const Axes& axes, Constant values) {
  Tensor tensor{name, axes, Role::kConstant};
  tensor.needs_gradient = false;
  tensor.constant = std::move(values);
  return graph_.add_tensor(std::move(tensor));
}

TensorId BlockBuilder::parameter(const std::string& name, const Axes& axes, Component component) {
  // A run finds a parameter by its name.
  FLOPWISE_CHECK(graph_.find(name) == kNoTensor, name + ": two parameters of one name");
  return graph_.add_tensor({name, axes, Role::kParameter, Element::kWeight, component});
}

TensorId BlockBuilder::activation(const std::string& name, const Axes& axes, Component component) {
  return graph_.add_tensor({name, axes, Role::kActivation, Element::kCompute, component});
}

TensorId BlockBuilder::emit(const std::string& name, OpKind kind, std::vector<TensorId> inputs,
                            TensorId output, Component component,
                            std::vector<TensorId> more_outputs) {
  const bool needs_gradient = std::any_of(
      inputs.begin(), inputs.end(), [&](TensorId id) { return graph_.tensor(id).needs_gradient; });
  graph_.tensor(output).needs_gradient = needs_gradient;
  std::vector<TensorId> outputs = {output};
  outputs.insert(outputs.end(), more_outputs.begin(), more_outputs.end());
  graph_.add_op({name, std::move(kind), std::move(inputs), std::move(outputs), component,
                 Pass::kForward, region_});
  return output;
}

TensorId BlockBuilder::linear(const std::string& name, TensorId x, const Axes& weight,
                              const Axes& out, Component component) {
  const TensorId w = parameter(name + ".weight", weight, component);
  return contract(name, Contraction{OpClass::kMatmul, ""}, x, w, out, component);
}

TensorId BlockBuilder::linear_bias(const std::string& name, TensorId x, const Axes& weight,
                                   const Axes& out, bool has_bias, const Axes& bias,
                                   Component component) {
  const TensorId y = linear(name, x, weight, out, component);
  if (!has_bias) return y;
  return add(name + "_bias", y, parameter(name + ".bias", bias, component), component);
}

TensorId BlockBuilder::contract(const std::string& name, const Contraction& kind, TensorId a,
                                TensorId b, const Axes& out, Component component) {
  return emit(name, kind, {a, b}, activation(name, out, component), component);
}

TensorId BlockBuilder::map(const std::string& name, ScalarProgram program,
                           std::vector<TensorId> inputs, Component component) {
  const Tensor& first = graph_.tensor(inputs.at(0));
  Tensor result{name, first.axes, Role::kActivation, Element::kCompute, component};
  result.masking = first.masking;
  const TensorId output = graph_.add_tensor(std::move(result));
  return emit(name, Map{std::move(program)}, std::move(inputs), output, component);
}

TensorId BlockBuilder::norm(const std::string& name, TensorId x, NormKind kind,
                            int normalised_axes) {
  Norm norm;
  norm.centred = kind != NormKind::kRms && kind != NormKind::kRmsNoParams;
  norm.has_weight = kind != NormKind::kNoParams && kind != NormKind::kRmsNoParams;
  norm.has_bias = kind == NormKind::kLayer;
  norm.normalised_axes = normalised_axes;
  const Axes axes = graph_.tensor(x).axes;
  const Axes last(axes.end() - normalised_axes, axes.end());
  std::vector<TensorId> inputs = {x};
  if (norm.has_weight) inputs.push_back(parameter(name + ".weight", last, Component::kNorm));
  if (norm.has_bias) inputs.push_back(parameter(name + ".bias", last, Component::kNorm));
  return emit(name, norm, std::move(inputs), activation(name, axes, Component::kNorm),
              Component::kNorm);
}

TensorId BlockBuilder::dropout(const std::string& name, TensorId x, double probability,
                               Component component) {
  if (probability == 0) return x;
  Tensor kept = graph_.tensor(x);
  kept.name = name;
  kept.role = Role::kActivation;
  kept.alias_of = kNoTensor;
  Tensor mask = kept;
  mask.name = name + ".mask";
  mask.element = Element::kByte;
  mask.needs_gradient = false;
  const TensorId output = graph_.add_tensor(std::move(kept));
  const TensorId mask_id = graph_.add_tensor(std::move(mask));
  return emit(name, Dropout{probability}, {x}, output, component, {mask_id});
}

TensorId BlockBuilder::relabel(const std::string& name, TensorId x, const Axes& axes) {
  Tensor view = graph_.tensor(x);
  view.name = name;
  view.axes = axes;
  view.alias_of = x;
  if (view.role == Role::kState) view.role = Role::kActivation;  // the cache is its owner
  const TensorId output = graph_.add_tensor(std::move(view));
  return emit(name, Relabel{}, {x}, output, graph_.tensor(x).component);
}

void BlockBuilder::hand_on(const std::string& name, TensorId x) {
  const Axes axes = graph_.tensor(x).axes;
  const TensorId given = relabel(name, x, axes);
  Tensor& tensor = graph_.tensor(given);
  tensor.role = Role::kActivation;  // of a parameter too
  tensor.shared = true;
  graph_.outputs.push_back(given);
}

void BlockBuilder::begin_region(const std::string& name, bool is_recurrence) {
  region_ = graph_.add_region({name, kNoTensor, kNoTensor, Pass::kForward, is_recurrence});
}

void BlockBuilder::end_region(TensorId output, TensorId row_stats) {
  graph_.region(region_).output = output;
  graph_.region(region_).row_stats = row_stats;
  region_ = kNoRegion;
}

std::string relative_bias_name(const StackAxes& axes) {
  return axes.queries.name == axes.memory.name ? "encoder.relative_bias" : "relative_bias";
}

Axes relative_states_axes(const StackAxes& axes) {
  return {symbol_axis("U"), axes.model};
}

ScalarProgram activation_program(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return scalar_relu();
    case Activation::kRelu2:
      return scalar_relu2();
    case Activation::kGelu:
      return scalar_gelu();
    case Activation::kGeluTanh:
      return scalar_gelu_tanh();
    case Activation::kQuickGelu:
      return scalar_quick_gelu();
    case Activation::kSilu:
      return scalar_silu();
    case Activation::kTanh:
      return scalar_tanh();
  }
  throw InternalError("unknown activation");
}

}  // namespace flopwise
