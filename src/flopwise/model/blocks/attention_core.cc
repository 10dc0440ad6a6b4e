#include "flopwise/model/blocks/attention_core.h"

#include <cmath>

namespace flopwise {
namespace {

constexpr Component kPart = Component::kAttention;

class Core {
 public:
  Core(BlockBuilder& builder, const std::string& name, const Attention& attention,
       const Workload& workload, const HeadAxes& heads, const Axis& keys, const CoreInputs& inputs)
      : builder_(builder),
        name_(name),
        attention_(attention),
        workload_(workload),
        heads_(heads),
        keys_(keys),
        inputs_(inputs) {}

  TensorId build() {
    const StackAxes& a = builder_.axes();
    const bool flash = workload_.kernel == AttentionKernel::kFlash;
    if (flash) builder_.begin_region(name_ + ".core");
    TensorId last = scores();
    const double scale = score_scale(attention_, inputs_.score_terms);
    const bool scale_in_softmax =
        attention_.scaled && inputs_.score_bias == kNoTensor && attention_.softcap == 0;
    if (attention_.scaled && !scale_in_softmax) {
      last = builder_.map(name_ + ".scale", scalar_scale(scale), {last}, kPart);
    }
    if (inputs_.score_bias != kNoTensor) {
      last = builder_.add(name_ + ".score_bias", last, inputs_.score_bias, kPart);
    }
    if (attention_.softcap != 0) {
      last = builder_.map(name_ + ".softcap", scalar_softcap(attention_.softcap), {last}, kPart);
    }

    Tensor weights_like = builder_.graph().tensor(last);
    weights_like.name = name_ + ".softmax";
    const TensorId weights = builder_.graph().add_tensor(std::move(weights_like));
    const TensorId stats = flash ? row_stats() : kNoTensor;
    Softmax softmax{keys_.name};
    if (scale_in_softmax) softmax.scale = Scale(scale);
    std::vector<TensorId> read = {last};
    if (inputs_.sinks != kNoTensor) read.push_back(inputs_.sinks);
    std::vector<TensorId> more;
    if (flash) more.push_back(stats);
    builder_.emit(name_ + ".softmax", softmax, read, weights, kPart, more);
    const TensorId kept =
        builder_.dropout(name_ + ".weights_dropout", weights,
                         workload_.mode == Mode::kTrain ? attention_.dropout : 0, kPart);
    const TensorId out = builder_.contract(
        name_ + ".av", Contraction{OpClass::kAttention, ""}, kept, inputs_.values,
        {a.batch, a.queries, heads_.kv_heads, heads_.group, heads_.value_head}, kPart);
    if (flash) builder_.end_region(out, stats);
    return out;
  }

 private:
  // "attention.qk", of further parts "attention.qk.2".
  TensorId scores() {
    TensorId sum = kNoTensor;
    for (const auto& [query, key] : inputs_.queries_keys) {
      const std::string part = sum == kNoTensor ? name_ + ".qk" : name_ + ".qk.2";
      const TensorId scores = builder_.activation(
          part,
          {builder_.axes().batch, heads_.kv_heads, heads_.group, builder_.axes().queries, keys_},
          kPart);
      builder_.graph().tensor(scores).masking =
          Masking{pair_mask(attention_.mask), builder_.axes().queries.name, keys_.name};
      std::vector<TensorId> operands = {query, key};
      if (sum != kNoTensor) operands.push_back(sum);
      sum = builder_.emit(part, Contraction{OpClass::kAttention, ""}, operands, scores, kPart);
    }
    return sum;
  }

  TensorId row_stats() {
    Tensor rows{
        name_ + ".lse",
        {builder_.axes().batch, heads_.kv_heads, heads_.group, builder_.axes().queries}
    };
    rows.element = Element::kFp32;
    rows.component = kPart;
    return builder_.graph().add_tensor(std::move(rows));
  }

  BlockBuilder& builder_;
  const std::string& name_;
  const Attention& attention_;
  const Workload& workload_;
  const HeadAxes& heads_;
  const Axis& keys_;
  const CoreInputs& inputs_;
};

}  // namespace

double score_scale(const Attention& attention, int terms) {
  return 1 / std::sqrt(static_cast<double>(terms) * static_cast<double>(attention.head_dim));
}

TensorId attention_core(BlockBuilder& builder, const std::string& name, const Attention& attention,
                        const Workload& workload, const HeadAxes& heads, const Axis& keys,
                        const CoreInputs& inputs) {
  return Core(builder, name, attention, workload, heads, keys, inputs).build();
}

TensorId add_cache(BlockBuilder& builder, const std::string& name, const Axes& axes,
                   const AttentionMask& mask, TensorId fresh) {
  const PairMask pairs = pair_mask(mask);
  const Expr keys = axes.at(1).size;
  Tensor tensor{name, axes, Role::kState, Element::kCache, kPart};
  tensor.needs_gradient = false;
  tensor.keys_read = keys_seen(pairs, builder.axes().queries.size, keys);
  tensor.keys_held = keys_held(pairs, keys);
  const TensorId id = builder.graph().add_tensor(std::move(tensor));
  if (fresh == kNoTensor) return id;
  return builder.emit(name, CacheAppend{}, {fresh}, id, kPart);
}

bool keeps_cache(const Workload& workload) {
  return workload.mode == Mode::kPrefill || workload.mode == Mode::kDecode;
}

// Queries, and the new keys beside them, are the last of all positions.
TensorId add_rotary(BlockBuilder& builder, const std::string& name, TensorId x,
                    const Expr& rotated) {
  const Expr first_position = builder.axes().keys.size - builder.axes().queries.size;
  const TensorId output = builder.activation(name, builder.graph().tensor(x).axes, kPart);
  return builder.emit(name, Rotary{rotated, first_position}, {x}, output, kPart);
}

}  // namespace flopwise
