#include "flopwise/cost/params.h"

#include <set>
#include <string>

namespace flopwise {

Params params_of(const Program& program) {
  Params params;
  std::set<std::string> shared;
  for (const Block& block : program.blocks) {
    const Sizes sizes = program.sizes_of(block);
    const Count repeat = block.repeat.eval_count(sizes, "layers");
    for (const Tensor& tensor : block.graph.tensors()) {
      if (tensor.role != Role::kParameter) continue;
      if (tensor.shared && !shared.insert(tensor.name).second) continue;
      const Expr all = elements(tensor);
      const Count count = all.eval_count(sizes, "params." + tensor.name) * repeat;
      params.total += count;
      params.by_component[static_cast<std::size_t>(tensor.component)] += count;
      if (tensor.routed_axis.empty()) {
        params.active += count;
      } else {
        const Expr share = Expr::symbol("k") / axis_of(tensor, tensor.routed_axis).size;
        params.active += (all * share).eval_count(sizes, "params." + tensor.name) * repeat;
      }
    }
  }
  return params;
}

}  // namespace flopwise
