// Attention with any head layout: queries N heads of H, keys and values K heads (G = N/K queries
// share one), scores masked.
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/model/blocks/attention_core.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kAttention;

HeadAxes head_axes(const Attention& attention) {
  const Expr n = Expr::symbol("N");
  const Expr k = Expr::symbol("K");
  const bool same = attention.value_dim == attention.head_dim;
  const Axis head{"H", Expr::symbol("H")};
  const Axis value_head = same ? head : Axis{"Hv", Expr::symbol("Hv")};
  return {
      {"N", n    },
      {"K", k    },
      {"G", n / k},
      head, value_head
  };
}

class AttentionBuilder {
 public:
  AttentionBuilder(BlockBuilder& builder, std::string name, const Attention& attention,
                   const Workload& workload, const AttentionInputs& inputs)
      : builder_(builder),
        name_(std::move(name)),
        attention_(attention),
        workload_(workload),
        inputs_(inputs),
        heads_(head_axes(attention)),
        is_cross_(name_ == "cross"),
        keys_(is_cross_ ? builder.axes().memory : builder.axes().keys) {}

  TensorId build() {
    const StackAxes& a = builder_.axes();
    const TensorId q = projected_queries();
    TensorId k = kNoTensor;
    TensorId v = kNoTensor;
    if (attention_.kv_sharing == KvSharing::kTakes) {
      k = taken("k", heads_.head);
      v = taken("v", heads_.value_head);
    } else if (is_cross_ && !encodes_source(workload_)) {
      k = cache("k_cache", heads_.head, kNoTensor);
      v = cache("v_cache", heads_.value_head, kNoTensor);
    } else {
      const TensorId raw_keys =
          projected("k", keys_source(), heads_.kv_heads, heads_.head, attention_.k_bias);
      k = stored("k", normalised_and_rotated("k", raw_keys), heads_.head);
      v = stored("v", values(raw_keys), heads_.value_head);
      if (attention_.kv_sharing == KvSharing::kGives) {
        builder_.hand_on(shared_name("k"), k);
        builder_.hand_on(shared_name("v"), v);
      }
    }
    CoreInputs core;
    core.queries_keys = {
        {q, k}
    };
    core.values = v;
    if (has_score_bias()) core.score_bias = score_bias();
    if (attention_.relative) add_relative_terms(core);
    if (attention_.sinks) {
      core.sinks = builder_.parameter(name_ + ".sinks", {heads_.kv_heads, heads_.group}, kPart);
    }
    const TensorId out =
        attention_core(builder_, name_, attention_, workload_, heads_, keys_, core);
    TensorId merged = builder_.relabel(name_ + ".out_heads", out,
                                       {a.batch, a.queries, heads_.query_heads, heads_.value_head});
    if (attention_.gate != OutputGate::kNone) merged = gated(merged);
    return builder_.linear_bias(name_ + ".o", merged,
                                {heads_.query_heads, heads_.value_head, a.model}, builder_.hidden(),
                                attention_.o_bias, {a.model}, kPart);
  }

 private:
  TensorId keys_source() const { return is_cross_ ? inputs_.memory : inputs_.x; }
  // New keys stand on the axis of their source: T (or R) until they join the cache.
  const Axis& new_keys_axis() const {
    return is_cross_ ? builder_.axes().memory : builder_.axes().queries;
  }

  TensorId projected(const std::string& part, TensorId source, const Axis& heads, const Axis& width,
                     bool bias) {
    const StackAxes& a = builder_.axes();
    const Axis& positions = part == "q" ? a.queries : new_keys_axis();
    return builder_.linear_bias(name_ + "." + part, source, {a.model, heads, width},
                                {a.batch, positions, heads, width}, bias, {heads, width}, kPart);
  }

  TensorId normalised(const std::string& norm_name, TensorId x) {
    switch (attention_.qk_norm) {
      case QkNorm::kNone:
        return x;
      case QkNorm::kPerHead:
        return builder_.norm(norm_name, x, attention_.qk_norm_kind, 1);
      case QkNorm::kFullWidth:
        return builder_.norm(norm_name, x, attention_.qk_norm_kind, 2);
      case QkNorm::kEachHead: {
        // A norm's weights have the axes it normalises; these have the heads too.
        constexpr Component kNormPart = Component::kNorm;
        const Axes& axes = builder_.graph().tensor(x).axes;
        const TensorId weight =
            builder_.parameter(norm_name + ".weight", {axes[2], axes[3]}, kNormPart);
        const TensorId centred = builder_.norm(norm_name, x, NormKind::kNoParams, 1);
        return builder_.map(norm_name + "_weight", scalar_mul(), {centred, weight}, kNormPart);
      }
    }
    throw InternalError("unknown norm of queries and keys");
  }

  TensorId normalised_and_rotated(const std::string& part, TensorId x) {
    x = normalised(name_ + "." + part + "_norm", x);
    if (is_cross_ || attention_.position != PositionKind::kRotary) return x;
    const Expr rotated = attention_.rotary_dim == attention_.head_dim ? Expr::symbol("H")
                                                                      : Expr(attention_.rotary_dim);
    return add_rotary(builder_, name_ + "." + part + "_rotary", x, rotated);
  }

  TensorId projected_queries() {
    const StackAxes& a = builder_.axes();
    const TensorId q = normalised_and_rotated(
        "q", projected("q", inputs_.x, heads_.query_heads, heads_.head, attention_.q_bias));
    return builder_.relabel(name_ + ".q_groups", q,
                            {a.batch, a.queries, heads_.kv_heads, heads_.group, heads_.head});
  }

  TensorId values(TensorId raw_keys) {
    const TensorId v = attention_.keys_as_values ? raw_keys
                                                 : projected("v", keys_source(), heads_.kv_heads,
                                                             heads_.value_head, attention_.v_bias);
    // Whatever the constant, it costs the same.
    if (attention_.scaled_values) {
      return builder_.map(name_ + ".v_scale", scalar_scale(0.75), {v}, kPart);
    }
    return attention_.v_norm ? builder_.norm(name_ + ".v_norm", v, NormKind::kRmsNoParams, 1) : v;
  }

  std::string shared_name(const char* part) const { return attention_.shared_kv + "." + part; }

  // Keys or values of the layer that gives them: in the cache of that layer where the mode has one.
  TensorId taken(const char* part, const Axis& width) {
    const TensorId id = builder_.input(
        shared_name(part), {builder_.axes().batch, keys_, heads_.kv_heads, width}, true);
    Tensor& tensor = builder_.graph().tensor(id);
    tensor.component = kPart;
    if (keeps_cache(workload_)) {
      tensor.element = Element::kCache;
      tensor.needs_gradient = false;
      tensor.keys_read =
          keys_seen(pair_mask(attention_.mask), builder_.axes().queries.size, keys_.size);
    }
    return id;
  }

  // Keys or values on the key axis: in the cache where the mode keeps one, else the same memory
  // under its other name.
  TensorId stored(const std::string& part, TensorId fresh, const Axis& width) {
    const StackAxes& a = builder_.axes();
    if (keeps_cache(workload_)) return cache(part + "_cache", width, fresh);
    if (keys_.name == new_keys_axis().name) return fresh;
    return builder_.relabel(name_ + "." + part + "_keys", fresh,
                            {a.batch, keys_, heads_.kv_heads, width});
  }

  TensorId cache(const std::string& part, const Axis& width, TensorId fresh) {
    return add_cache(builder_, name_ + "." + part,
                     {builder_.axes().batch, keys_, heads_.kv_heads, width}, attention_.mask,
                     fresh);
  }

  // out [B,T,N,Hv] times a sigmoid of the layer's input, for each element or each head.
  TensorId gated(TensorId out) {
    const StackAxes& a = builder_.axes();
    Axes of_gate = {heads_.query_heads};
    if (attention_.gate == OutputGate::kPerElement) of_gate.push_back(heads_.value_head);
    Axes weight = {a.model};
    Axes positions = {a.batch, a.queries};
    weight.insert(weight.end(), of_gate.begin(), of_gate.end());
    positions.insert(positions.end(), of_gate.begin(), of_gate.end());
    const TensorId scores = builder_.linear(name_ + ".gate", inputs_.x, weight, positions, kPart);
    const TensorId gate = builder_.map(name_ + ".gate_sigmoid", scalar_sigmoid(), {scores}, kPart);
    return builder_.map(name_ + ".gated", scalar_mul(), {out, gate}, kPart);
  }

  bool has_score_bias() const {
    const bool alibi = attention_.position == PositionKind::kAlibi;
    return !is_cross_ && (alibi || inputs_.relative_bias != kNoTensor);
  }

  // [K,G,T,S] learned, or [K,G,S] slopes times positions.
  TensorId score_bias() {
    if (inputs_.relative_bias == kNoTensor) {
      const Constant slopes{ConstantKind::kAlibi, 0, 0};
      return builder_.constant(name_ + ".alibi", {heads_.kv_heads, heads_.group, keys_}, slopes);
    }
    return inputs_.relative_bias;
  }

  // ---- relative states (DeBERTa) -------------------------------------------------------------

  // The scores' two further terms, [B,K,G,T,S]: products with all U distances, of which each pair
  // looks up its own.
  void add_relative_terms(CoreInputs& core) {
    const RelativeStates& relative = *attention_.relative;
    const StackAxes& a = builder_.axes();
    core.score_terms = 1 + (relative.of_queries ? 1 : 0) + (relative.of_keys ? 1 : 0);
    const Constant values{ConstantKind::kDistanceBucket, a.keys.size - a.queries.size,
                          relative.rows};
    const TensorId distances = builder_.constant(name_ + ".distances", {a.queries, a.keys}, values);
    builder_.graph().tensor(distances).element = Element::kIndex;
    const auto [query, key] = core.queries_keys.at(0);
    if (relative.of_queries) {
      const TensorId rows = distance_rows("k", "position_keys", heads_.kv_heads);
      core.score_bias = looked_up("c2p", query, rows, distances, a.queries, core.score_terms);
    }
    if (relative.of_keys) {
      const TensorId rows =
          builder_.relabel(name_ + ".position_query_groups",
                           distance_rows("q", "position_queries", heads_.query_heads),
                           {symbol_axis("U"), heads_.kv_heads, heads_.group, heads_.head});
      const TensorId term = looked_up("p2c", key, rows, distances, a.keys, core.score_terms);
      core.score_bias = core.score_bias == kNoTensor
                            ? term
                            : builder_.add(name_ + ".relative_sum", core.score_bias, term, kPart);
    }
  }

  // The table through the matrix of keys or queries, or through one of its own: [U,heads,H].
  TensorId distance_rows(const std::string& part, const std::string& own, const Axis& heads) {
    const bool shares = attention_.relative->shares_maps;
    const Axes out = {symbol_axis("U"), heads, heads_.head};
    const std::string name = name_ + "." + own;
    const bool has_bias = part == "q" ? attention_.q_bias : attention_.k_bias;
    if (!shares) {
      return builder_.linear_bias(name, inputs_.relative_states,
                                  {builder_.axes().model, heads, heads_.head}, out, has_bias,
                                  {heads, heads_.head}, kPart);
    }
    const auto parameter = [&](const char* which) {
      const TensorId id = builder_.graph().find(name_ + "." + part + which);
      FLOPWISE_CHECK(id != kNoTensor, name + ": no matrix to share");
      return id;
    };
    const TensorId rows =
        builder_.contract(name, Contraction{OpClass::kMatmul, ""}, inputs_.relative_states,
                          parameter(".weight"), out, kPart);
    return has_bias ? builder_.add(name + "_bias", rows, parameter(".bias"), kPart) : rows;
  }

  // Products [U,B,K,G,..] with every distance, then for each pair that of its distance, scaled.
  TensorId looked_up(const std::string& term, TensorId states, TensorId rows, TensorId distances,
                     const Axis& positions, int score_terms) {
    const StackAxes& a = builder_.axes();
    const TensorId all = builder_.contract(
        name_ + "." + term, Contraction{OpClass::kAttention, ""}, rows, states,
        {symbol_axis("U"), a.batch, heads_.kv_heads, heads_.group, positions}, kPart);
    const TensorId pairs =
        builder_.activation(name_ + "." + term + "_pairs",
                            {a.batch, heads_.kv_heads, heads_.group, a.queries, keys_}, kPart);
    builder_.graph().tensor(pairs).masking =
        Masking{pair_mask(attention_.mask), a.queries.name, keys_.name};
    builder_.emit(name_ + "." + term + "_pairs", Gather{}, {distances, all}, pairs, kPart);
    return builder_.map(name_ + "." + term + "_scale",
                        scalar_scale(score_scale(attention_, score_terms)), {pairs}, kPart);
  }

  BlockBuilder& builder_;
  std::string name_;
  const Attention& attention_;
  const Workload& workload_;
  AttentionInputs inputs_;
  HeadAxes heads_;
  bool is_cross_;
  Axis keys_;
};

}  // namespace

PairMask pair_mask(const AttentionMask& mask) {
  switch (mask.kind) {
    case MaskKind::kFull:
    case MaskKind::kCausal:
      return {mask.kind, 0};
    case MaskKind::kWindow:
      return {mask.kind, Expr::symbol("W")};
    case MaskKind::kTwoSidedWindow:
      return {mask.kind, Expr::symbol("h")};
    case MaskKind::kChunk:
      return {mask.kind, Expr::symbol("C")};
    case MaskKind::kPrefix:
      return {mask.kind, Expr::symbol("P")};
    case MaskKind::kTopK:
      return {mask.kind, Expr::symbol("Sx")};
  }
  throw InternalError("unknown mask");
}

TensorId add_attention(BlockBuilder& builder, const std::string& name, const Attention& attention,
                       const Workload& workload, const AttentionInputs& inputs) {
  if (attention.latent) {
    return add_latent_attention(builder, name, attention, workload, inputs.x);
  }
  return AttentionBuilder(builder, name, attention, workload, inputs).build();
}

}  // namespace flopwise
