#include "flopwise/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

// Checks the parts of one model; every error starts with the model's name.
class Validator {
 public:
  explicit Validator(const Model& model) : model_(model) {}

  void run() {
    size("d_model", model_.d_model);
    const bool reads_tokens =
        model_.architecture != Architecture::kEncoder ||
        (model_.embedding.patch_values == 0 && model_.embedding.mel_bins == 0);
    in_range("vocab", model_.vocab, reads_tokens ? 1 : 0, reads_tokens ? kMaxAxisSize : 0);
    size_or_zero("source_context", model_.source_context);
    size_or_zero("context", model_.context);
    check_embedding();
    check_stacks();
    check_head();
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError(fmt::format("model {}: {}", quoted(model_.name), problem));
  }
  void require(bool holds, std::string_view expectation) const {
    if (!holds) fail(fmt::format("expected {}", expectation));
  }
  void in_range(const std::string& field, std::int64_t value, std::int64_t min,
                std::int64_t max) const {
    if (value >= min && value <= max) return;
    const std::string limit = max == kMaxAxisSize ? "2^40" : fmt::format("{}", max);
    fail(fmt::format("{}: expected a whole number of {} ... {}, got {}", field, min, limit, value));
  }
  void size(const std::string& field, std::int64_t value) const {
    in_range(field, value, 1, kMaxAxisSize);
  }
  void size_or_zero(const std::string& field, std::int64_t value) const {
    in_range(field, value, 0, kMaxAxisSize);
  }
  void probability(const std::string& field, double value) const {
    if (value >= 0 && value < 1) return;
    fail(fmt::format("{}: expected a probability below 1, got {}", field, value));
  }

  void check_embedding() const {
    size_or_zero("embedding.width", model_.embedding.width);
    require(model_.embedding.width > 0 || !model_.embedding.all_in_width,
            "a width beside all_in_width");
    size_or_zero("embedding.positions", model_.embedding.positions);
    size_or_zero("embedding.token_types", model_.embedding.token_types);
    size_or_zero("embedding.patch_values", model_.embedding.patch_values);
    size_or_zero("embedding.mel_bins", model_.embedding.mel_bins);
    size_or_zero("embedding.source_positions", model_.embedding.source_positions);
    const bool is_pair = model_.architecture == Architecture::kEncoderDecoder;
    const bool is_decoder = model_.architecture == Architecture::kDecoder;
    require(is_pair || model_.embedding.source_positions == 0,
            "source_positions of an encoder-decoder");
    require(!is_decoder || (model_.embedding.mel_bins == 0 && model_.embedding.patch_values == 0),
            "patches or a spectrogram in an encoder");
    require(model_.embedding.mel_bins == 0 || model_.embedding.patch_values == 0,
            "patches or a spectrogram, not both");
    size_or_zero("embedding.spare_tokens", model_.embedding.spare_tokens);
    require(model_.embedding.spare_tokens == 0 || !model_.head.tied,
            "spare tokens only with a head of its own");
    if (model_.embedding.tiles) check_tiles(*model_.embedding.tiles);
    require(model_.embedding.patch_values > 0 || !model_.embedding.class_token,
            "a class token beside patches");
    require(model_.embedding.positions == 0 || !model_.embedding.sinusoidal,
            "learned positions or sinusoidal ones");
  }

  void check_tiles(const Tiles& tiles) const {
    constexpr std::int64_t kMostTiles = 4096;
    in_range("embedding.tiles.count", tiles.count, 1, kMostTiles);
    size("embedding.tiles.layouts", tiles.layouts);
    require(model_.embedding.patch_values > 0 && model_.embedding.class_token &&
                model_.embedding.positions > 0,
            "tiles of patches with a class token and learned positions");
    require(model_.encoder && model_.encoder->groups.size() == 2, "two kinds of layers for tiles");
  }

  void check_stacks() const {
    const bool wants_encoder = model_.architecture != Architecture::kDecoder;
    const bool wants_decoder = model_.architecture != Architecture::kEncoder;
    require(model_.encoder.has_value() == wants_encoder,
            "an encoder stack in an encoder or encoder-decoder, and in no other");
    require(model_.decoder.has_value() == wants_decoder,
            "a decoder stack in a decoder or encoder-decoder, and in no other");
    if (wants_encoder) check_stack("encoder", *model_.encoder, false);
    if (wants_decoder) check_stack("decoder", *model_.decoder, wants_encoder);
  }

  void check_stack(const std::string& name, const Stack& stack, bool wants_cross) const {
    // Patches may go to another model as they are (Fuyu).
    require(!stack.groups.empty() || model_.embedding.patch_values > 0,
            name + ": at least one layer");
    std::int64_t layers = 0;
    for (const LayerGroup& group : stack.groups) {
      const std::string where = name + "." + group.name;
      size(where + ".repeat", group.repeat);
      in_range(name + ".layers", layers += group.repeat, 1, kMaxAxisSize);
      check_layer(where, group.layer, wants_cross);
    }
    check_shared_kv(name, stack);
  }

  // One layer gives under a name, before all that take under it, keys and values of their sizes.
  void check_shared_kv(const std::string& name, const Stack& stack) const {
    std::map<std::string, const Attention*> given;
    for (const LayerGroup& group : stack.groups) {
      if (!group.layer.attention || group.layer.attention->shared_kv.empty()) continue;
      const Attention& attention = *group.layer.attention;
      const std::string where = name + "." + group.name + ".attention";
      if (attention.kv_sharing == KvSharing::kGives) {
        require(group.repeat == 1 && given.emplace(attention.shared_kv, &attention).second,
                where + ": one layer that gives keys and values under a name");
        continue;
      }
      const auto giver = given.find(attention.shared_kv);
      require(giver != given.end(), where + ": keys and values that an earlier layer gives");
      const auto kept = [](const Attention& a) {
        return std::array{a.kv_heads, a.head_dim, a.value_dim};
      };
      require(kept(*giver->second) == kept(attention) && giver->second->mask == attention.mask,
              where + ": the kv_heads, head_dim, value_dim and mask of the layer that gives");
    }
  }

  void check_layer(const std::string& where, const Layer& layer, bool wants_cross) const {
    require(!layer.shared_norm || layer.parallel, where + ": shared_norm only in a parallel layer");
    require(!layer.parallel || layer.placement == NormPlacement::kPre,
            where + ": norms before the blocks of a parallel layer");
    require(layer.attention_norm || (layer.placement == NormPlacement::kPre && !layer.parallel),
            where + ": a layer with norms before its blocks, of which attention's may be absent");
    require(!layer.scaled_residual || !layer.parallel,
            where + ": no constant in the residual sum of a parallel layer");
    require(!layer.parallel || !layer.cross, where + ": no cross-attention in a parallel layer");
    require(!layer.parallel || layer.branch_scale == BranchScale::kNone,
            where + ": no scale of branches in a parallel layer");
    require(layer.cross.has_value() == wants_cross || (layer.cross && !model_.towers.empty()),
            where + ": cross-attention in the decoder of an encoder-decoder, and nowhere else");
    require(!layer.attention || !layer.recurrence, where + ": attention or a recurrence, not both");
    require(!layer.linear || (!layer.attention && !layer.recurrence),
            where + ": a linear map in place of attention, not beside it");
    const bool has_feed_forward = !std::holds_alternative<NoFeedForward>(layer.feed_forward);
    require(layer.attention || layer.recurrence || layer.cross || layer.linear || has_feed_forward,
            where + ": a layer that does something");
    require(!layer.parallel || (layer.attention && has_feed_forward),
            where + ": attention and feed-forward in a parallel layer");
    if (layer.attention) check_attention(where + ".attention", *layer.attention);
    if (layer.recurrence) check_recurrence(where + ".recurrence", *layer.recurrence);
    if (layer.cross) {
      require(layer.attention || !wants_cross, where + ": attention beside cross-attention");
      check_attention(where + ".cross", *layer.cross);
      require(layer.cross->mask.kind == MaskKind::kFull, where + ".cross: a full mask");
      const auto shape = [](const Attention& a) {
        return std::array{a.heads, a.kv_heads, a.head_dim, a.value_dim};
      };
      require(!layer.attention || shape(*layer.cross) == shape(*layer.attention),
              where + ".cross: the heads, kv_heads, head_dim and value_dim of its attention");
    }
    if (const Mlp* mlp = std::get_if<Mlp>(&layer.feed_forward)) {
      size(where + ".mlp.d_ff", mlp->d_ff);
    } else if (const Moe* moe = std::get_if<Moe>(&layer.feed_forward)) {
      check_moe(where + ".moe", *moe);
    }
    probability(where + ".dropout", layer.dropout);
    require(layer.per_layer_dim == model_.embedding.per_layer_dim,
            where + ": the per_layer_dim of the embedding");
    in_range(where + ".per_layer_rows", layer.per_layer_rows, layer.per_layer_dim > 0 ? 1 : 0,
             layer.per_layer_dim > 0 ? kMaxAxisSize : 0);
  }

  void taps(const std::string& where, std::int64_t taps) const {
    constexpr std::int64_t kMostTaps = 1024;
    in_range(where + ".taps", taps, 1, kMostTaps);
  }
  void divides(const std::string& where, const char* parts_name, std::int64_t parts,
               const char* whole_name, std::int64_t whole) const {
    if (whole % parts == 0) return;
    fail(fmt::format("{}: {} must divide {}, got {} and {}", where, parts_name, whole_name, parts,
                     whole));
  }

  void check_recurrence(const std::string& where, const Recurrence& recurrence) const {
    if (const Mamba* mamba = std::get_if<Mamba>(&recurrence)) {
      size(where + ".inner", mamba->inner);
      size(where + ".state", mamba->state);
      size(where + ".rank", mamba->rank);
      taps(where, mamba->taps);
    } else if (const Mamba2* mamba2 = std::get_if<Mamba2>(&recurrence)) {
      size(where + ".heads", mamba2->heads);
      size(where + ".head_dim", mamba2->head_dim);
      size(where + ".groups", mamba2->groups);
      size(where + ".state", mamba2->state);
      taps(where, mamba2->taps);
      divides(where, "groups", mamba2->groups, "heads", mamba2->heads);
    } else if (const DeltaNet* delta = std::get_if<DeltaNet>(&recurrence)) {
      size(where + ".key_heads", delta->key_heads);
      size(where + ".value_heads", delta->value_heads);
      size(where + ".key_dim", delta->key_dim);
      size(where + ".value_dim", delta->value_dim);
      taps(where, delta->taps);
      divides(where, "key_heads", delta->key_heads, "value_heads", delta->value_heads);
    } else {
      taps(where, std::get<ShortConvolution>(recurrence).taps);
    }
  }

  void check_attention(const std::string& where, const Attention& attention) const {
    size(where + ".heads", attention.heads);
    size(where + ".kv_heads", attention.kv_heads);
    size(where + ".head_dim", attention.head_dim);
    size(where + ".value_dim", attention.value_dim);
    probability(where + ".dropout", attention.dropout);
    if (attention.heads % attention.kv_heads != 0) {
      fail(fmt::format("{}: kv_heads must divide heads, got heads={} kv_heads={}", where,
                       attention.heads, attention.kv_heads));
    }
    check_position(where, attention);
    if (attention.latent) check_latent(where, attention);
    require((attention.kv_sharing == KvSharing::kNone) == attention.shared_kv.empty(),
            where + ": a name of shared keys and values where they are given or taken");
    require(!attention.latent || (attention.kv_sharing == KvSharing::kNone && !attention.v_norm &&
                                  !attention.keys_as_values),
            where + ": latent attention with keys and values of its own");
    require(!attention.keys_as_values || attention.value_dim == attention.head_dim,
            where + ": values as wide as the keys that they are");
    if (attention.relative) check_relative(where, attention);
    const bool is_sized =
        attention.mask.kind != MaskKind::kFull && attention.mask.kind != MaskKind::kCausal;
    in_range(where + ".mask.size", attention.mask.size, is_sized ? 1 : 0,
             is_sized ? kMaxAxisSize : 0);
  }

  void check_latent(const std::string& where, const Attention& attention) const {
    const LatentAttention& latent = *attention.latent;
    size_or_zero(where + ".query_rank", latent.query_rank);
    size(where + ".kv_rank", latent.kv_rank);
    size(where + ".nope_dim", latent.nope_dim);
    size(where + ".rope_dim", latent.rope_dim);
    require(latent.rope_dim % 2 == 0, where + ": an even rope_dim");
    if (latent.indexer) {
      size(where + ".indexer.heads", latent.indexer->heads);
      in_range(where + ".indexer.head_dim", latent.indexer->head_dim, latent.rope_dim,
               kMaxAxisSize);
      require(attention.mask.kind == MaskKind::kTopK && latent.query_rank > 0,
              where +
                  ": an indexer where attention sees the keys that it chooses, of queries with "
                  "a latent");
    }
    require(attention.kv_heads == attention.heads &&
                attention.head_dim == latent.nope_dim + latent.rope_dim &&
                attention.position == PositionKind::kRotary &&
                attention.rotary_dim == latent.rope_dim,
            where + ": as many kv_heads as heads, heads of nope_dim + rope_dim, rope_dim rotated");
    require(attention.qk_norm == QkNorm::kNone && !attention.sinks && attention.softcap == 0 &&
                attention.gate == OutputGate::kNone,
            where + ": latent attention without norms of heads, sinks, caps and gates");
  }

  void check_relative(const std::string& where, const Attention& attention) const {
    size(where + ".relative.rows", attention.relative->rows);
    require(attention.relative->of_queries || attention.relative->of_keys,
            where + ": scores that read the table of relative positions");
    require(attention.kv_heads == attention.heads && attention.mask.kind == MaskKind::kFull &&
                attention.position == PositionKind::kNone && !attention.latent &&
                attention.qk_norm == QkNorm::kNone && attention.softcap == 0,
            where +
                ": relative states with as many kv_heads as heads, a full mask and no other "
                "positions, norms of heads or caps");
  }

  void check_position(const std::string& where, const Attention& attention) const {
    const bool rotary = attention.position == PositionKind::kRotary;
    const bool relative = attention.position == PositionKind::kRelative;
    in_range(where + ".rotary_dim", attention.rotary_dim, rotary ? 1 : 0,
             rotary ? attention.head_dim : 0);
    if (attention.rotary_dim % 2 != 0) {
      fail(fmt::format("{}: rotary_dim must be even, got rotary_dim={} head_dim={}", where,
                       attention.rotary_dim, attention.head_dim));
    }
    in_range(where + ".relative_buckets", attention.relative_buckets, relative ? 1 : 0,
             relative ? kMaxAxisSize : 0);
  }

  void check_moe(const std::string& where, const Moe& moe) const {
    size(where + ".experts", moe.experts);
    in_range(where + ".active_experts", moe.active_experts, 1, moe.experts);
    size(where + ".expert.d_ff", moe.expert.d_ff);
    size_or_zero(where + ".shared_d_ff", moe.shared_d_ff);
    size_or_zero(where + ".latent_dim", moe.latent_dim);
    require(!moe.own_norms || moe.shared_d_ff > 0, where + ": own_norms only with a shared expert");
    require(!moe.shared_gate || moe.shared_d_ff > 0,
            where + ": shared_gate only with a shared expert");
    const bool top_k_last =
        moe.score == RouterScore::kSoftmaxThenTopK || moe.score == RouterScore::kSigmoidThenTopK;
    require(!moe.renormalise || top_k_last, where + ": renormalise only where top-k comes last");
    require(!moe.correction_bias || top_k_last,
            where + ": a correction bias only where top-k comes last");
  }

  void check_head() const {
    const Head& head = model_.head;
    const bool has_vocab = head.kind == HeadKind::kLanguageModel ||
                           head.kind == HeadKind::kMaskedLm || head.kind == HeadKind::kPretraining;
    require(has_vocab || !(head.tied || head.bias || head.softcap != 0),
            "head.tied, head.bias and head.softcap only with a vocabulary matrix");
    require(has_vocab || !(head.scaled || head.scaled_logits || head.zero_bias),
            "head.scaled, head.scaled_logits and head.zero_bias only with a vocabulary matrix");
    const bool has_labels =
        head.kind == HeadKind::kPooledLabels || head.kind == HeadKind::kTokenLabels ||
        head.kind == HeadKind::kSequenceLabels || head.kind == HeadKind::kLastLabels ||
        head.kind == HeadKind::kFirstLabels;
    in_range("head.labels", head.labels, has_labels ? 1 : 0, has_labels ? kMaxAxisSize : 0);
    if (head.kind == HeadKind::kProjector) check_projector(head.projector);
  }

  void check_projector(const Projector& projector) const {
    constexpr std::int64_t kMostParts = 4096;
    in_range("projector.merge", projector.merge, 1, kMostParts);
    for (const ProjectorLayer& layer : projector.inner) size("projector.inner", layer.width);
    size("projector.out", projector.out);
    in_range("projector.joined", projector.joined, 0, kMostParts);
    require(projector.joined == 0 || (projector.merge == 1 && projector.inner.empty()),
            "joined hidden states read by one matrix");
    if (projector.resampler) {
      size("projector.resampler.queries", projector.resampler->queries);
      size("projector.resampler.heads", projector.resampler->heads);
      size("projector.resampler.head_dim", projector.resampler->head_dim);
      require(projector.resampler->heads * projector.resampler->head_dim == projector.out,
              "heads of a resampler as wide as its output");
    }
    in_range("projector.merged_copies", projector.merged_copies, 0, kMostParts);
    in_range("projector.scalars", projector.scalars, 0, kMostParts);
    const bool of_one = projector.position == Projector::Position::kFirst ||
                        projector.position == Projector::Position::kLast;
    require(!of_one || projector.merge == 1, "a projector of one position without neighbours");
    require(projector.merged_copies == 0 || !projector.inner.empty(),
            "copies of a projector with a dense layer");
  }

  const Model& model_;
};

}  // namespace

std::int64_t LayerSpan::count_below(std::int64_t layer) const {
  const std::int64_t last = std::clamp(layer, first, end);
  const std::int64_t enders = last / period - first / period;
  return ends_period ? enders : last - first - enders;
}

void LayerList::add(const std::string& name, const Layer& layer, std::int64_t repeat) {
  add(name, layer, LayerSpan{end_, end_ + repeat});
}

void LayerList::add(const std::string& name, const Layer& layer, const LayerSpan& span) {
  const std::int64_t repeat = span.count();
  end_ = span.end;
  if (repeat == 0) return;
  const auto same = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const LayerGroup& group) { return group.layer == layer; });
  if (same == groups_.end()) {
    groups_.push_back({.name = name, .layer = layer, .repeat = repeat, .spans = {span}});
    return;
  }
  same->repeat += repeat;
  LayerSpan& before = same->spans.back();
  if (before.end == span.first && before.period == 1 && span.period == 1) {
    before.end = span.end;
  } else {
    same->spans.push_back(span);
  }
}

bool has_source(const Model& model) {
  if (model.architecture == Architecture::kEncoderDecoder) return true;
  if (!model.decoder) return false;
  const std::vector<LayerGroup>& groups = model.decoder->groups;
  return std::any_of(groups.begin(), groups.end(),
                     [](const LayerGroup& group) { return group.layer.cross.has_value(); });
}

const Model* find_tower(const Model& model, std::string_view name) {
  for (const Tower& tower : model.towers) {
    if (tower.name == name) return tower.model.get();
  }
  return nullptr;
}

void validate(const Model& model) {
  Validator(model).run();
  for (const Tower& tower : model.towers) Validator(*tower.model).run();
}

const char* name_of(NormKind kind) {
  switch (kind) {
    case NormKind::kRms:
      return "rms";
    case NormKind::kLayer:
      return "layer";
    case NormKind::kLayerNoBias:
      return "layer_no_bias";
    case NormKind::kNoParams:
      return "no_params";
    case NormKind::kRmsNoParams:
      return "rms_no_params";
  }
  return "";
}

const char* name_of(NormPlacement placement) {
  switch (placement) {
    case NormPlacement::kPre:
      return "pre";
    case NormPlacement::kPost:
      return "post";
    case NormPlacement::kSandwich:
      return "sandwich";
    case NormPlacement::kPostOnly:
      return "post_only";
    case NormPlacement::kNormed:
      return "normed";
  }
  return "";
}

const char* name_of(Activation activation) {
  switch (activation) {
    case Activation::kRelu:
      return "relu";
    case Activation::kRelu2:
      return "relu2";
    case Activation::kGelu:
      return "gelu";
    case Activation::kGeluTanh:
      return "gelu_tanh";
    case Activation::kQuickGelu:
      return "quick_gelu";
    case Activation::kSilu:
      return "silu";
    case Activation::kTanh:
      return "tanh";
  }
  return "";
}

const char* name_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::kNone:
      return "none";
    case PositionKind::kRotary:
      return "rotary";
    case PositionKind::kAlibi:
      return "alibi";
    case PositionKind::kRelative:
      return "relative";
  }
  return "";
}

const char* name_of(const Recurrence& recurrence) {
  struct Visitor {
    const char* operator()(const Mamba&) const { return "mamba"; }
    const char* operator()(const Mamba2&) const { return "mamba2"; }
    const char* operator()(const DeltaNet&) const { return "delta_net"; }
    const char* operator()(const ShortConvolution&) const { return "short_convolution"; }
  };
  return std::visit(Visitor{}, recurrence);
}

const char* name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::kDecoder:
      return "decoder";
    case Architecture::kEncoder:
      return "encoder";
    case Architecture::kEncoderDecoder:
      return "encoder-decoder";
  }
  return "";
}

}  // namespace flopwise
