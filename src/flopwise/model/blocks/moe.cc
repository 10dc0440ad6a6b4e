// Mixture of experts: a router picks k of E experts for every token; the chosen experts' outputs
// are weighted and added, beside what shared experts give to all tokens. Each token runs over k
// experts, never over E: the expert axis of a weight is *routed*.
#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

class MoeBuilder {
 public:
  MoeBuilder(BlockBuilder& builder, const Moe& moe, TensorId x, TensorId stream)
      : builder_(builder), moe_(moe), x_(x), routed_in_(x), router_in_(x) {
    if (!moe_.own_norms) return;
    routed_in_ = builder_.norm("experts.norm", stream, NormKind::kRms);
    router_in_ = scaled_by_vector(builder_.norm("router.norm", stream, NormKind::kRmsNoParams));
  }

  TensorId build() {
    route();
    TensorId out = routed_experts();
    if (moe_.own_norms) out = builder_.norm("experts.post_norm", out, NormKind::kRms);
    if (moe_.shared_d_ff == 0) return out;
    TensorId shared = shared_experts();
    if (moe_.own_norms) shared = builder_.norm("shared.post_norm", shared, NormKind::kRms);
    return builder_.add("moe.add_shared", out, shared, Component::kMlp);
  }

 private:
  Axes tokens() const { return {builder_.axes().batch, builder_.axes().queries}; }
  Axes tokens(const Axis& last) const {
    return {builder_.axes().batch, builder_.axes().queries, last};
  }
  Axes copies(const Axis& last) const {
    return {builder_.axes().batch, builder_.axes().queries, active_, last};
  }

  // Sets weights_ [B,T,k] and choice_ [B,T,k].
  void route() {
    constexpr Component kPart = Component::kRouter;
    TensorId scores =
        builder_.linear_bias("router.scores", router_in_, {builder_.axes().model, experts_},
                             tokens(experts_), moe_.router_bias, {experts_}, kPart);
    if (moe_.score == RouterScore::kSoftmaxThenTopK) {
      scores = softmax("router.softmax", scores, experts_);
    } else if (moe_.score == RouterScore::kSigmoidThenTopK) {
      scores = builder_.map("router.sigmoid", scalar_sigmoid(), {scores}, kPart);
    }
    std::vector<TensorId> ranked = {scores};
    if (moe_.correction_bias) {
      const TensorId bias = builder_.parameter("router.correction.bias", {experts_}, kPart);
      builder_.graph().tensor(bias).needs_gradient = false;
      ranked.push_back(builder_.add("router.corrected", scores, bias, kPart));
      builder_.graph().tensor(ranked.back()).needs_gradient = false;
    }

    weights_ = builder_.activation("router.top_k", tokens(active_), kPart);
    Tensor choice{"router.choice", tokens(active_), Role::kActivation, Element::kIndex, kPart};
    choice.needs_gradient = false;
    choice_ = builder_.graph().add_tensor(std::move(choice));
    builder_.emit("router.top_k", TopK{experts_.name}, ranked, weights_, kPart, {choice_});

    if (moe_.score == RouterScore::kTopKThenSoftmax) {
      weights_ = softmax("router.softmax", weights_, active_);
    } else if (moe_.score == RouterScore::kTopKThenSigmoid) {
      weights_ = builder_.map("router.sigmoid", scalar_sigmoid(), {weights_}, kPart);
    }
    if (moe_.renormalise) {
      const TensorId total = builder_.activation("router.sum", tokens(), kPart);
      builder_.emit("router.sum", Sum{}, {weights_}, total, kPart);
      weights_ = builder_.map("router.renormalise", scalar_div(), {weights_, total}, kPart);
    }
    if (moe_.own_norms) scale_by_expert();
    if (moe_.scaling != 1) {
      weights_ = builder_.map("router.scale", scalar_scale(moe_.scaling), {weights_}, kPart);
    }
  }

  // x times a learned vector [D] over sqrt(D).
  TensorId scaled_by_vector(TensorId x) {
    constexpr Component kPart = Component::kRouter;
    const TensorId vector =
        builder_.parameter("router.scale.weight", {builder_.axes().model}, kPart);
    const TensorId scaled = builder_.map("router.scale_input", scalar_mul(), {x, vector}, kPart);
    return builder_.map("router.scale_root", scalar_scale(0.25), {scaled}, kPart);
  }

  // Each chosen weight times a learned number of its expert.
  void scale_by_expert() {
    constexpr Component kPart = Component::kRouter;
    const TensorId table = builder_.parameter("router.expert_scale.weight", {experts_}, kPart);
    const TensorId chosen = builder_.activation("router.expert_scale", tokens(active_), kPart);
    builder_.emit("router.expert_scale", Gather{}, {choice_, table}, chosen, kPart);
    weights_ = builder_.map("router.scaled", scalar_mul(), {weights_, chosen}, kPart);
  }

  TensorId softmax(const std::string& name, TensorId x, const Axis& over) {
    const TensorId out = builder_.activation(name, tokens(over), Component::kRouter);
    return builder_.emit(name, Softmax{over.name}, {x}, out, Component::kRouter);
  }

  TensorId expert_linear(const std::string& name, TensorId x, const Axis& in, const Axis& out,
                         bool bias) {
    constexpr Component kPart = Component::kMlp;
    const TensorId weight = builder_.parameter(name + ".weight", {experts_, in, out}, kPart);
    builder_.graph().tensor(weight).routed_axis = experts_.name;
    const TensorId y = builder_.activation(name, copies(out), kPart);
    builder_.emit(name, Contraction{OpClass::kMatmul, experts_.name}, {x, weight, choice_}, y,
                  kPart);
    if (!bias) return y;
    const TensorId shift = builder_.parameter(name + ".bias", {experts_, out}, kPart);
    builder_.graph().tensor(shift).routed_axis = experts_.name;
    return builder_.add(name + "_bias", y, routed_bias(name, shift, out), kPart);
  }

  // The bias rows of the chosen experts: a lookup.
  TensorId routed_bias(const std::string& name, TensorId shift, const Axis& out) {
    const TensorId rows = builder_.activation(name + ".bias_rows", copies(out), Component::kMlp);
    return builder_.emit(name + ".bias_rows", Gather{}, {choice_, shift}, rows, Component::kMlp);
  }

  TensorId routed_experts() {
    constexpr Component kPart = Component::kMlp;
    const StackAxes& a = builder_.axes();
    const Mlp& mlp = moe_.expert;
    const bool is_latent = moe_.latent_dim > 0;
    const Axis model = is_latent ? Axis{"Dl", Expr::symbol("Dl")} : a.model;
    const TensorId in = is_latent ? builder_.linear("experts.latent_in", routed_in_,
                                                    {a.model, model}, tokens(model), kPart)
                                  : routed_in_;
    const TensorId sent = builder_.activation("experts.dispatch", copies(model), kPart);
    builder_.emit("experts.dispatch", Dispatch{}, {in, choice_}, sent, kPart);
    const ScalarProgram act = activation_program(mlp.activation);
    TensorId inner = kNoTensor;
    if (mlp.gated) {
      const TensorId gate = expert_linear("experts.gate", sent, model, width_, mlp.up_bias);
      const TensorId up = expert_linear("experts.up", sent, model, width_, mlp.up_bias);
      inner = builder_.map("experts.act", scalar_gated(act), {gate, up}, kPart);
    } else {
      const TensorId up = expert_linear("experts.up", sent, model, width_, mlp.up_bias);
      inner = builder_.map("experts.act", act, {up}, kPart);
    }
    const TensorId down = expert_linear("experts.down", inner, width_, model, mlp.down_bias);
    const TensorId back = builder_.activation("experts.combine", copies(model), kPart);
    builder_.emit("experts.combine", Combine{}, {down, choice_}, back, kPart);
    // The weighted sum of k outputs is expert weighting: vector work (docs/conventions.md).
    const TensorId sum = builder_.contract("experts.weigh", Contraction{OpClass::kVector, ""}, back,
                                           weights_, tokens(model), kPart);
    if (!is_latent) return sum;
    return builder_.linear("experts.latent_out", sum, {model, a.model}, builder_.hidden(), kPart);
  }

  TensorId shared_experts() {
    Mlp mlp = moe_.expert;
    mlp.d_ff = moe_.shared_d_ff;
    const TensorId out = add_mlp(builder_, "shared", mlp, {"Fs", Expr::symbol("Fs")}, x_);
    if (!moe_.shared_gate) return out;
    const TensorId score =
        builder_.linear("shared.scores", x_, {builder_.axes().model}, tokens(), Component::kMlp);
    const TensorId gate =
        builder_.map("shared.sigmoid", scalar_sigmoid(), {score}, Component::kMlp);
    return builder_.map("shared.weigh", scalar_mul(), {out, gate}, Component::kMlp);
  }

  BlockBuilder& builder_;
  const Moe& moe_;
  TensorId x_;
  TensorId routed_in_;
  TensorId router_in_;
  Axis experts_{"E", Expr::symbol("E")};
  Axis active_{"k", Expr::symbol("k")};
  Axis width_{"F", Expr::symbol("F")};
  TensorId weights_ = kNoTensor;
  TensorId choice_ = kNoTensor;
};

}  // namespace

TensorId add_moe(BlockBuilder& builder, const Moe& moe, TensorId x, TensorId stream) {
  return MoeBuilder(builder, moe, x, stream).build();
}

}  // namespace flopwise
