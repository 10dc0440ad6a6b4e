// Layers that predict further tokens (DeepSeek-V3, arXiv:2412.19437, section 2.2).
#include <utility>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {

Block mtp_join_block(const LayerGroup& mtp, const StackAxes& axes) {
  BlockBuilder builder(axes);
  const Axis joined{"D'", axes.model.size};
  const auto half = [&](const std::string& name) {
    const TensorId x = builder.input(name, builder.hidden());
    const TensorId norm = builder.norm("mtp." + name + "_norm", x, mtp.layer.norm);
    return builder.linear("mtp." + name, norm, {axes.model, joined},
                          {axes.batch, axes.queries, joined}, Component::kOther);
  };
  const TensorId hidden = half("hidden");
  const TensorId embedding = half("embedding");
  const TensorId sum = builder.add("mtp.join", hidden, embedding, Component::kOther);
  Block block;
  block.name = "mtp.join";
  block.graph = std::move(builder.graph());
  block.graph.outputs = {sum};
  block.repeat = mtp.repeat;
  return block;
}

Block mtp_norm_block(const LayerGroup& mtp, const StackAxes& axes) {
  BlockBuilder builder(axes);
  const TensorId x = builder.input("input", builder.hidden());
  const TensorId norm = builder.norm("mtp.norm", x, mtp.layer.norm);
  Block block;
  block.name = "mtp.norm";
  block.graph = std::move(builder.graph());
  block.graph.outputs = {norm};
  block.repeat = mtp.repeat;
  return block;
}

}  // namespace flopwise
