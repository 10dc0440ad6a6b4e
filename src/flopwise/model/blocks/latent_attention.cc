// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): queries of N heads with
// a part Hn and a rotated part Hr; keys and values made from a latent of Ckv elements a position,
// beside one rotated key of Hr for all heads.
#include <utility>

#include "flopwise/model/blocks/attention_core.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kAttention;

class LatentAttentionBuilder {
 public:
  LatentAttentionBuilder(BlockBuilder& builder, const std::string& name, const Attention& attention,
                         const Workload& workload, TensorId x)
      : builder_(builder), name_(name), attention_(attention), workload_(workload), x_(x) {}

  TensorId build() {
    queries();
    latent_ = builder_.norm(
        name_ + ".kv_norm",
        builder_.linear(name_ + ".kv_a", x_, {axes().model, rank_}, positions(rank_), kPart),
        NormKind::kRms);
    rotated_key_ = add_rotary(
        builder_, name_ + ".k_rotary",
        builder_.linear(name_ + ".k_rope", x_, {axes().model, rope_}, positions(rope_), kPart),
        rope_.size);
    if (attention_.latent->indexer) choose_keys();
    const bool absorbs =
        workload_.mode == Mode::kDecode && workload_.latent == LatentMode::kAbsorbed;
    return projected(absorbs ? absorbed() : expanded());
  }

 private:
  const StackAxes& axes() const { return builder_.axes(); }
  std::string named(const char* part) const { return name_ + "." + part; }
  Axes positions(const Axis& width) const { return {axes().batch, axes().queries, width}; }
  Axes positions(const Axis& heads, const Axis& width) const {
    return {axes().batch, axes().queries, heads, width};
  }

  void queries() {
    TensorId source = x_;
    Axis width = axes().model;
    if (attention_.latent->query_rank > 0) {
      width = symbol_axis("Cq");
      source = builder_.linear_bias(named("q_a"), x_, {axes().model, width}, positions(width),
                                    attention_.q_bias, {width}, kPart);
      source = builder_.norm(named("q_norm"), source, NormKind::kRms);
    }
    query_latent_ = source;
    q_nope_ = builder_.linear(named("q_nope"), source, {width, heads_, nope_},
                              positions(heads_, nope_), kPart);
    q_rope_ = add_rotary(builder_, named("q_rotary"),
                         builder_.linear(named("q_rope"), source, {width, heads_, rope_},
                                         positions(heads_, rope_), kPart),
                         rope_.size);
  }

  // The indexer: scores [B,T,S] = sum over its heads of w relu(q k), from the latent of the queries
  // and x; then the best Sx of each query. Nothing of it has a gradient: it learns apart.
  void choose_keys() {
    const auto first = static_cast<TensorId>(builder_.graph().tensors().size());
    const Axis heads = symbol_axis("Ni");
    const Axis width = symbol_axis("Hi");
    const auto rotated = [&](const char* part, TensorId x) {
      return add_rotary(builder_, named(part), x, rope_.size);
    };
    const TensorId q = rotated("index.q_rotary", builder_.linear(named("index.q"), query_latent_,
                                                                 {symbol_axis("Cq"), heads, width},
                                                                 positions(heads, width), kPart));
    const TensorId raw_key =
        builder_.linear(named("index.k"), x_, {axes().model, width}, positions(width), kPart);
    const TensorId key =
        rotated("index.k_rotary", builder_.norm(named("index.k_norm"), raw_key, NormKind::kLayer));
    const TensorId weights =
        builder_.map(named("index.scale_weights"), scalar_scale(0.25),
                     {builder_.linear(named("index.weights"), x_, {axes().model, heads},
                                      positions(heads), kPart)},
                     kPart);
    const TensorId keys = keeps_cache(workload_)
                              ? cached_for({MaskKind::kCausal, 0}, "index_cache", {width}, key)
                              : on_keys("index.keys", key, {width});
    const TensorId scores = index_scores(q, keys, weights, heads);
    // Early positions have fewer keys than are chosen later.
    const Axis chosen{"Sx", min(Expr::symbol("Sx"), axes().keys.size)};
    Tensor choice{
        named("index.choice"),
        {axes().batch, axes().queries, chosen},
        Role::kActivation,
        Element::kIndex,
        kPart
    };
    builder_.emit(named("index.choice"), SelectKeys{axes().keys.name}, {scores},
                  builder_.graph().add_tensor(std::move(choice)), kPart);
    const auto end = static_cast<TensorId>(builder_.graph().tensors().size());
    for (TensorId id = first; id < end; ++id) builder_.graph().tensor(id).needs_gradient = false;
  }

  // One kernel, as the scores of single heads are never stored.
  TensorId index_scores(TensorId q, TensorId keys, TensorId weights, const Axis& heads) {
    const Contraction kind{OpClass::kAttention, ""};
    const Masking masking{pair_mask({MaskKind::kCausal, 0}), axes().queries.name, axes().keys.name};
    const auto masked = [&](const char* part, const Axes& all) {
      const TensorId id = builder_.activation(named(part), all, kPart);
      builder_.graph().tensor(id).masking = masking;
      return id;
    };
    const Axes of_heads = {axes().batch, heads, axes().queries, axes().keys};
    builder_.begin_region(named("index.core"));
    const TensorId products =
        builder_.emit(named("index.qk"), kind, {q, keys}, masked("index.qk", of_heads), kPart);
    const TensorId positive = builder_.map(named("index.relu"), scalar_relu(), {products}, kPart);
    const TensorId scores =
        builder_.emit(named("index.scores"), kind, {positive, weights},
                      masked("index.scores", {axes().batch, axes().queries, axes().keys}), kPart);
    builder_.end_region(scores, kNoTensor);
    return scores;
  }

  TensorId key_matrix() {
    return builder_.parameter(named("k_nope.weight"), {rank_, heads_, nope_}, kPart);
  }
  TensorId value_matrix() {
    return builder_.parameter(named("v.weight"), {rank_, heads_, value_}, kPart);
  }
  TensorId product(const std::string& name, TensorId a, TensorId b, const Axes& out) {
    return builder_.contract(name, Contraction{OpClass::kMatmul, ""}, a, b, out, kPart);
  }

  TensorId cached(const char* part, const Axes& widths, TensorId fresh) {
    return cached_for(attention_.mask, part, widths, fresh);
  }
  TensorId cached_for(const AttentionMask& mask, const char* part, const Axes& widths,
                      TensorId fresh) {
    Axes all = {axes().batch, axes().keys};
    all.insert(all.end(), widths.begin(), widths.end());
    return add_cache(builder_, named(part), all, mask, fresh);
  }
  TensorId on_keys(const char* part, TensorId x, const Axes& widths) {
    Axes all = {axes().batch, axes().keys};
    all.insert(all.end(), widths.begin(), widths.end());
    return builder_.relabel(named(part), x, all);
  }

  // Keys and values of every head; N key/value heads.
  TensorId expanded() {
    const Axis kv_heads{"K", heads_.size};
    const HeadAxes heads{
        heads_, kv_heads, {"G", 1},
          nope_, value_
    };
    const bool caches_latent = keeps_cache(workload_) && workload_.latent == LatentMode::kAbsorbed;
    TensorId latent = latent_;
    TensorId rotated_key = rotated_key_;
    Axis where = axes().queries;
    if (caches_latent) {
      // Keys and values are made of every position, whichever of them a query sees.
      latent = cached_for({MaskKind::kCausal, 0}, "latent_cache", {rank_}, latent_);
      rotated_key = cached("rope_cache", {rope_}, rotated_key_);
      where = axes().keys;
    }
    const Axes of_keys = {axes().batch, where, heads_, nope_};
    const Axes of_values = {axes().batch, where, heads_, value_};
    TensorId k = product(named("k_nope"), latent, key_matrix(), of_keys);
    TensorId v = product(named("v"), latent, value_matrix(), of_values);
    Axes rope_widths = {rope_};
    if (keeps_cache(workload_) && !caches_latent) {
      k = cached("k_cache", {heads_, nope_}, k);
      v = cached("v_cache", {heads_, value_}, v);
      // Every head keeps its own copy of the rotated key.
      const TensorId copies =
          builder_.activation(named("k_rope_copies"), positions(heads_, rope_), kPart);
      builder_.emit(named("k_rope_copies"), Broadcast{}, {rotated_key_}, copies, kPart);
      rotated_key = cached("k_rope_cache", {heads_, rope_}, copies);
      rope_widths = {kv_heads, rope_};
    }
    CoreInputs inputs;
    inputs.queries_keys = {
        {grouped("q_nope_groups", q_nope_, heads, nope_), on_keys("k_keys", k,           {kv_heads, nope_})},
        {grouped("q_rope_groups", q_rope_, heads, rope_),
         on_keys("k_rope_keys",                                             rotated_key, rope_widths)      }
    };
    inputs.values = on_keys("v_keys", v, {kv_heads, value_});
    return merged(
        attention_core(builder_, name_, attention_, workload_, heads, axes().keys, inputs), value_);
  }

  // One key/value head, the latent, for all queries.
  TensorId absorbed() {
    const HeadAxes heads{
        heads_, {"K", 1          },
         {"G", heads_.size},
         rank_, rank_
    };
    const TensorId in_latent =
        product(named("q_absorbed"), q_nope_, key_matrix(), positions(heads_, rank_));
    const TensorId latent = cached("latent_cache", {rank_}, latent_);
    const TensorId rotated_key = cached("rope_cache", {rope_}, rotated_key_);
    CoreInputs inputs;
    inputs.queries_keys = {
        {grouped("q_latent_groups", in_latent, heads, rank_), latent     },
        {grouped("q_rope_groups",   q_rope_,   heads, rope_), rotated_key}
    };
    inputs.values = latent;
    const TensorId out = merged(
        attention_core(builder_, name_, attention_, workload_, heads, axes().keys, inputs), rank_);
    return product(named("v_absorbed"), out, value_matrix(), positions(heads_, value_));
  }

  TensorId grouped(const char* part, TensorId q, const HeadAxes& heads, const Axis& width) {
    return builder_.relabel(named(part), q,
                            {axes().batch, axes().queries, heads.kv_heads, heads.group, width});
  }
  TensorId merged(TensorId out, const Axis& width) {
    return builder_.relabel(named("out_heads"), out, positions(heads_, width));
  }

  TensorId projected(TensorId out) {
    return builder_.linear_bias(named("o"), out, {heads_, value_, axes().model}, builder_.hidden(),
                                attention_.o_bias, {axes().model}, kPart);
  }

  BlockBuilder& builder_;
  const std::string& name_;
  const Attention& attention_;
  const Workload& workload_;
  TensorId x_;
  Axis heads_ = symbol_axis("N");
  Axis rank_ = symbol_axis("Ckv");
  Axis nope_ = symbol_axis("Hn");
  Axis rope_ = symbol_axis("Hr");
  Axis value_ = symbol_axis("Hv");
  TensorId query_latent_ = kNoTensor;
  TensorId q_nope_ = kNoTensor;
  TensorId q_rope_ = kNoTensor;
  TensorId latent_ = kNoTensor;       // [B,T,Ckv], normalised
  TensorId rotated_key_ = kNoTensor;  // [B,T,Hr]
};

}  // namespace

TensorId add_latent_attention(BlockBuilder& builder, const std::string& name,
                              const Attention& attention, const Workload& workload, TensorId x) {
  return LatentAttentionBuilder(builder, name, attention, workload, x).build();
}

}  // namespace flopwise
