// From the last hidden state to what the model is asked for: logits over the vocabulary or a few
// labels, and the loss.
#include <cmath>
#include <utility>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

constexpr Component kUnembed = Component::kUnembedding;
constexpr Component kOther = Component::kOther;

class HeadBuilder {
 public:
  HeadBuilder(const Model& model, const StackAxes& axes, const Workload& workload)
      : builder_(axes), model_(model), workload_(workload) {}

  Graph build(const Stack& stack) {
    TensorId x = builder_.input("input", builder_.hidden());
    if (stack.final_norm) x = builder_.norm("final.norm", x, stack.final_norm_kind);
    if (workload_.logits == Logits::kLast && model_.architecture != Architecture::kEncoder) {
      x = take_one("final.last", x, TakeOne{true});
    }
    TensorId out = x;
    switch (model_.head.kind) {
      case HeadKind::kNone:
        break;
      case HeadKind::kLanguageModel:
        out = loss(vocabulary_logits(scaled(x)));
        break;
      case HeadKind::kMaskedLm:
        out = loss(vocabulary_logits(masked_lm_transform(x)));
        break;
      case HeadKind::kPooler:
        out = pooled(x);
        break;
      case HeadKind::kPooledLabels:
        out = loss(label_logits("classifier", pooled(x), true));
        break;
      case HeadKind::kTokenLabels:
        out = loss(label_logits("classifier", x, true));
        break;
      case HeadKind::kSequenceLabels:
        out = loss(label_logits("score", x, false));
        break;
      case HeadKind::kLastLabels:
        out = loss(label_logits("score", last_position(x), true));
        break;
      case HeadKind::kFirstLabels:
        out =
            loss(label_logits("classifier", take_one("classifier.first", x, TakeOne{false}), true));
        break;
      case HeadKind::kProjector:
        out = add_projector(builder_, model_.head.projector, x);
        break;
      case HeadKind::kPretraining: {
        builder_.graph().outputs.push_back(loss(label_logits("next_sentence", pooled(x), true)));
        out = loss(vocabulary_logits(masked_lm_transform(x)));
        break;
      }
    }
    builder_.graph().outputs.push_back(out);
    return std::move(builder_.graph());
  }

 private:
  // The axes of x, the last one replaced.
  Axes like(TensorId x, const Axis& last) const {
    Axes axes = builder_.graph().tensor(x).axes;
    axes.back() = last;
    return axes;
  }

  TensorId take_one(const std::string& name, TensorId x, TakeOne kind) {
    const StackAxes& a = builder_.axes();
    const TensorId out = builder_.activation(name, {a.batch, a.model}, kOther);
    return builder_.emit(name, kind, {x}, out, kOther);
  }

  // What a workload that asks for the last logits only has taken already.
  TensorId last_position(TensorId x) {
    const bool is_taken = builder_.graph().tensor(x).axes.size() == 2;
    return is_taken ? x : take_one("score.last", x, TakeOne{true});
  }

  TensorId scaled(TensorId x) {
    if (!model_.head.scaled) return x;
    const double factor = 1 / std::sqrt(static_cast<double>(model_.d_model));
    return builder_.map("unembed.scale", scalar_scale(factor), {x}, kUnembed);
  }

  TensorId masked_lm_transform(TensorId x) {
    const StackAxes& a = builder_.axes();
    const Head& head = model_.head;
    // To the width of the embedding, whose table the head is.
    const Axis width = embedding_width();
    const Axis out{width.name == a.model.name ? "D'" : width.name, width.size};
    x = builder_.linear_bias("transform.dense", x, {a.model, out}, like(x, out),
                             head.transform_bias, {out}, kOther);
    x = builder_.map("transform.act", activation_program(head.activation), {x}, kOther);
    x = builder_.norm("transform.norm", x, head.transform_norm);
    return width.name == a.model.name ? builder_.relabel("transform.out", x, like(x, a.model)) : x;
  }

  TensorId vocabulary_logits(TensorId x) {
    const Axis vocab{"V", Expr::symbol("V")};
    const Axis width = embedding_width();
    const StackAxes& a = builder_.axes();
    if (builder_.graph().tensor(x).axes.back().name != width.name) {
      x = builder_.linear("unembed.project_out", x, {a.model, width}, like(x, width), kUnembed);
    }
    TensorId logits = kNoTensor;
    if (model_.head.tied) {
      logits = builder_.contract("unembed", Contraction{OpClass::kMatmul, ""}, x,
                                 token_table(builder_, model_), like(x, vocab), kUnembed);
    } else {
      logits = builder_.linear("unembed", x, {width, vocab}, like(x, vocab), kUnembed);
    }
    if (model_.head.bias) {
      logits = builder_.add("unembed_bias", logits,
                            builder_.parameter("unembed.bias", {vocab}, kUnembed), kUnembed);
    }
    if (model_.head.zero_bias) {
      const TensorId zeros =
          builder_.constant("unembed.zeros", {vocab}, {ConstantKind::kZero, 0, 0});
      logits = builder_.add("unembed.add_zeros", logits, zeros, kUnembed);
    }
    if (model_.head.scaled_logits) {  // whatever the constant, it costs the same
      logits = builder_.map("unembed.scale_logits", scalar_scale(0.25), {logits}, kUnembed);
    }
    if (model_.head.softcap != 0) {
      logits =
          builder_.map("unembed.softcap", scalar_softcap(model_.head.softcap), {logits}, kUnembed);
    }
    return logits;
  }

  Axis embedding_width() const {
    const bool projected = model_.embedding.width != 0 && model_.embedding.width != model_.d_model;
    return projected ? Axis{"De", Expr::symbol("De")} : builder_.axes().model;
  }

  // Dense and tanh (of DistilBERT relu) on one position, BERT's first.
  TensorId pooled(TensorId x) {
    const StackAxes& a = builder_.axes();
    const Axis out{"D'", a.model.size};
    const TensorId first = take_one("pooler.first", x, TakeOne{false});
    const TensorId dense = builder_.linear_bias("pooler.dense", first, {a.model, out},
                                                {a.batch, out}, true, {out}, kOther);
    const Activation activation = model_.head.pooler_activation;
    const TensorId bent = builder_.map(std::string("pooler.") + name_of(activation),
                                       activation_program(activation), {dense}, kOther);
    return builder_.relabel("pooler.out", bent, {a.batch, a.model});
  }

  TensorId label_logits(const std::string& name, TensorId x, bool has_bias) {
    const bool pairs = model_.head.kind == HeadKind::kPretraining;
    const Axis labels{"labels", pairs ? std::int64_t{2} : model_.head.labels};
    return builder_.linear_bias(name, x, {builder_.axes().model, labels}, like(x, labels), has_bias,
                                {labels}, kOther);
  }

  // Mean cross-entropy against target ids, in training only.
  TensorId loss(TensorId logits) {
    if (workload_.mode != Mode::kTrain) return logits;
    Axes rows = builder_.graph().tensor(logits).axes;
    rows.pop_back();
    const std::string name = "loss." + builder_.graph().tensor(logits).name;
    const TensorId targets = builder_.index_input(name + ".targets", rows);
    Tensor out{name, rows, Role::kActivation, Element::kFp32, kOther};
    const TensorId per_row = builder_.graph().add_tensor(out);
    out.name = name + ".lse";
    const TensorId stats = builder_.graph().add_tensor(std::move(out));
    return builder_.emit(name, CrossEntropy{}, {logits, targets}, per_row, kOther, {stats});
  }

  BlockBuilder builder_;
  const Model& model_;
  const Workload& workload_;
};

}  // namespace

Block head_block(const Model& model, const Stack& stack, const StackAxes& axes,
                 const Workload& workload) {
  Block block;
  block.name = "head";
  block.graph = HeadBuilder(model, axes, workload).build(stack);
  const bool projected = model.embedding.width != 0 && model.embedding.width != model.d_model;
  if (projected) block.sizes["De"] = model.embedding.width;
  return block;
}

Block tower_states_block(const StackAxes& axes) {
  BlockBuilder builder(axes);
  builder.graph().outputs = {builder.input("tower.states", {axes.batch, axes.memory, axes.model})};
  Block block;
  block.name = "tower.states";
  block.hands_on = "memory";
  block.graph = std::move(builder.graph());
  return block;
}

Block encoder_output_block(const Stack& stack, const StackAxes& axes) {
  BlockBuilder builder(axes);
  const TensorId x = builder.input("input", builder.hidden());
  builder.graph().outputs = {stack.final_norm ? builder.norm("final.norm", x, stack.final_norm_kind)
                                              : x};
  Block block;
  block.name = "encoder.output";
  block.hands_on = "memory";
  block.graph = std::move(builder.graph());
  return block;
}

}  // namespace flopwise
