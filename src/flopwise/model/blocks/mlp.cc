// The dense feed-forward: act(x Wgate) * (x Wup) Wdown, or act(x Wup) Wdown.
#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {

TensorId add_mlp(BlockBuilder& builder, const std::string& name, const Mlp& mlp, const Axis& width,
                 TensorId x) {
  constexpr Component kPart = Component::kMlp;
  const StackAxes& a = builder.axes();
  const Axes in = {a.model, width};
  const Axes wide = {a.batch, a.queries, width};
  const ScalarProgram act = activation_program(mlp.activation);
  TensorId inner = kNoTensor;
  if (mlp.gated) {
    const TensorId gate =
        builder.linear_bias(name + ".gate", x, in, wide, mlp.up_bias, {width}, kPart);
    const TensorId up = builder.linear_bias(name + ".up", x, in, wide, mlp.up_bias, {width}, kPart);
    inner = builder.map(name + ".act", scalar_gated(act), {gate, up}, kPart);
  } else {
    const TensorId up = builder.linear_bias(name + ".up", x, in, wide, mlp.up_bias, {width}, kPart);
    inner = builder.map(name + ".act", act, {up}, kPart);
  }
  return builder.linear_bias(name + ".down", inner, {width, a.model}, builder.hidden(),
                             mlp.down_bias, {a.model}, kPart);
}

}  // namespace flopwise
