#include "flopwise/cost/params.h"

#include <set>

namespace flopwise {

std::vector<ParameterTensor> parameter_tensors(const Program& program) {
  std::vector<ParameterTensor> tensors;
  std::set<std::string> shared;
  for (const Block& block : program.blocks) {
    const Sizes sizes = program.sizes_of(block);
    const Count repeat = block.repeat.eval_count(sizes, "layers");
    for (const Tensor& tensor : block.graph.tensors()) {
      if (tensor.role != Role::kParameter) continue;
      if (tensor.shared && !shared.insert(tensor.name).second) continue;
      const Expr count = elements(tensor);
      tensors.push_back({block.name, tensor, sizes, count,
                         count.eval_count(sizes, "params." + tensor.name),
                         tensor.shared ? Count(1) : repeat});
    }
  }
  return tensors;
}

Params params_of(const Program& program) {
  Params params;
  for (const ParameterTensor& parameter : parameter_tensors(program)) {
    const Tensor& tensor = parameter.tensor;
    const Count count = parameter.value * parameter.repeat;
    params.total += count;
    if (tensor.needs_gradient) params.trainable += count;
    params.by_component[static_cast<std::size_t>(tensor.component)] += count;
    if (tensor.routed_axis.empty()) {
      params.active += count;
      continue;
    }
    const Expr share = Expr::symbol("k") / axis_of(tensor, tensor.routed_axis).size;
    const Expr active = parameter.elements * share;
    params.active += active.eval_count(parameter.sizes, "params." + tensor.name) * parameter.repeat;
  }
  return params;
}

Params& Params::operator+=(const Params& other) {
  total += other.total;
  active += other.active;
  trainable += other.trainable;
  for (std::size_t i = 0; i < by_component.size(); ++i) by_component[i] += other.by_component[i];
  return *this;
}

}  // namespace flopwise
