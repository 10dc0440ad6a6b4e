#include "flopwise/proof/shrink.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flopwise {
namespace {

class Shrinker {
 public:
  Shrinker(SizeDraw& draw, std::int64_t d_model) : draw_(draw), original_d_model_(d_model) {}

  Model shrink(Model model) {
    model.d_model = draw_.of("D");
    if (model.vocab > 0) model.vocab = draw_.of("V");
    model.context = model.source_context = 0;
    Embedding& embedding = model.embedding;
    const bool projected = embedding.width != 0 && embedding.width != original_d_model_;
    embedding.width = projected ? draw_.of("De") : 0;
    // One row for each position, and some that are never looked up.
    if (embedding.positions > 0) {
      const bool is_pair = model.architecture == Architecture::kEncoderDecoder;
      embedding.positions = std::max(draw_.positions(), is_pair ? draw_.of("R") : 0) + 3;
    }
    if (embedding.token_types > 1) embedding.token_types = draw_.of("types");
    if (embedding.per_layer_dim > 0) embedding.per_layer_dim = draw_.of("Pl");
    if (embedding.patch_values > 0) embedding.patch_values = draw_.of("Cp");
    if (embedding.mel_bins > 0) embedding.mel_bins = draw_.of("mels");
    if (embedding.source_positions > 0) embedding.source_positions = draw_.of("R") + 2;
    if (model.head.labels > 0) model.head.labels = draw_.of("labels");
    shrink(model.head.projector);
    if (embedding.tiles) *embedding.tiles = {1, draw_.of("types")};
    if (embedding.spare_tokens > 0) embedding.spare_tokens = 2;
    model.unused.reset();  // nothing that runs
    model.towers.clear();  // proven by itself
    if (model.encoder) shrink(*model.encoder);
    if (model.decoder) shrink(*model.decoder);
    return model;
  }

 private:
  // M neighbours as one: one only, since M must divide T.
  void shrink(Projector& projector) {
    projector.merge = 1;
    for (ProjectorLayer& layer : projector.inner) layer.width = size("Dp", layer.width);
    if (projector.out > 0) projector.out = draw_.of("Do");
    projector.joined = std::min<std::int64_t>(projector.joined, 2);
    if (projector.resampler) {
      projector.resampler->queries = draw_.of("Lq");
      projector.resampler->heads = draw_.of("Gm");
      projector.resampler->head_dim = draw_.of("Hm");
      projector.out = projector.resampler->heads * projector.resampler->head_dim;
    }
    if (projector.merged_copies > 0) projector.merged_copies = 2;
  }

  // The same original size gets the same small one; another of its kind gets F', F''.
  std::int64_t size(const std::string& kind, std::int64_t original) {
    std::vector<std::int64_t>& known = known_[kind];
    auto place = std::find(known.begin(), known.end(), original);
    if (place == known.end()) place = known.insert(known.end(), original);
    return draw_.of(kind + std::string(static_cast<std::size_t>(place - known.begin()), '\''));
  }

  void shrink(Stack& stack) {
    for (LayerGroup& group : stack.groups) {
      if (group.repeat > 1) group.repeat = size("L", group.repeat);
      group.spans.clear();  // one kind behind the other
      if (group.layer.per_layer_dim > 0) {
        group.layer.per_layer_dim = draw_.of("Pl");
        group.layer.per_layer_rows = draw_.of("Vl");
      }
      if (group.layer.attention) shrink(*group.layer.attention);
      if (group.layer.recurrence) shrink(*group.layer.recurrence);
      if (group.layer.cross) shrink(*group.layer.cross);
      if (auto* mlp = std::get_if<Mlp>(&group.layer.feed_forward)) {
        mlp->d_ff = size("F", mlp->d_ff);
      } else if (auto* moe = std::get_if<Moe>(&group.layer.feed_forward)) {
        shrink(*moe);
      }
    }
  }

  void shrink(Attention& attention) {
    const std::int64_t group = attention.heads / attention.kv_heads;
    const bool same_value_dim = attention.value_dim == attention.head_dim;
    const bool rotates_all = attention.rotary_dim == attention.head_dim;
    const std::int64_t value_dim = attention.value_dim;
    if (attention.latent) {
      shrink(attention, *attention.latent);
      return;
    }
    attention.kv_heads = attention.kv_heads == 1 ? 1 : size("K", attention.kv_heads);
    attention.heads = attention.kv_heads * (group == 1 ? 1 : size("G", group));
    attention.head_dim = size("H", attention.head_dim);
    attention.value_dim = same_value_dim ? attention.head_dim : size("Hv", value_dim);
    if (attention.rotary_dim > 0) {
      attention.rotary_dim =
          rotates_all ? attention.head_dim : std::min(draw_.of("r"), attention.head_dim - 2);
    }
    if (attention.relative) attention.relative->rows = draw_.of("U");
    if (attention.relative_buckets > 0) attention.relative_buckets = draw_.of("buckets");
    shrink(attention.mask);
  }

  void shrink(Attention& attention, LatentAttention& latent) {
    if (latent.query_rank > 0) latent.query_rank = size("Cq", latent.query_rank);
    latent.kv_rank = size("Ckv", latent.kv_rank);
    latent.nope_dim = size("Hn", latent.nope_dim);
    latent.rope_dim = size("Hr", latent.rope_dim);
    if (latent.indexer) {
      latent.indexer->heads = size("Ni", latent.indexer->heads);
      latent.indexer->head_dim = latent.rope_dim + size("Hi", latent.indexer->head_dim);
    }
    shrink(attention.mask);
    attention.heads = attention.kv_heads = size("K", attention.kv_heads);
    attention.head_dim = latent.nope_dim + latent.rope_dim;
    attention.rotary_dim = latent.rope_dim;
    attention.value_dim = size("Hv", attention.value_dim);
  }

  // n parts of a kind; one stays one.
  std::int64_t parts(const char* kind, std::int64_t n) { return n == 1 ? 1 : size(kind, n); }

  void shrink(Recurrence& recurrence) {
    if (auto* mamba = std::get_if<Mamba>(&recurrence)) {
      mamba->inner = size("Di", mamba->inner);
      mamba->state = size("Ns", mamba->state);
      mamba->rank = size("Rt", mamba->rank);
      mamba->taps = parts("Q", mamba->taps);
    } else if (auto* mamba2 = std::get_if<Mamba2>(&recurrence)) {
      const std::int64_t per_group = parts("Jm", mamba2->heads / mamba2->groups);
      mamba2->groups = parts("Gm", mamba2->groups);
      mamba2->heads = mamba2->groups * per_group;
      mamba2->head_dim = size("Hm", mamba2->head_dim);
      mamba2->state = size("Ns", mamba2->state);
      mamba2->taps = parts("Q", mamba2->taps);
    } else if (auto* delta = std::get_if<DeltaNet>(&recurrence)) {
      const std::int64_t per_key = parts("Jd", delta->value_heads / delta->key_heads);
      delta->key_heads = parts("Kd", delta->key_heads);
      delta->value_heads = delta->key_heads * per_key;
      delta->key_dim = size("Hk", delta->key_dim);
      delta->value_dim = size("Hd", delta->value_dim);
      delta->taps = parts("Q", delta->taps);
    } else {
      auto& conv = std::get<ShortConvolution>(recurrence);
      conv.taps = parts("Q", conv.taps);
    }
  }

  void shrink(AttentionMask& mask) {
    switch (mask.kind) {
      case MaskKind::kFull:
      case MaskKind::kCausal:
        return;
      case MaskKind::kWindow:
        mask.size = size("W", mask.size);
        return;
      case MaskKind::kTwoSidedWindow:
        mask.size = size("h", mask.size);
        return;
      case MaskKind::kChunk:
        mask.size = size("C", mask.size);
        return;
      case MaskKind::kPrefix:
        mask.size = size("P", mask.size);
        return;
      case MaskKind::kTopK:
        mask.size = size("Sx", mask.size);
        return;
    }
  }

  void shrink(Moe& moe) {
    const bool all_active = moe.active_experts == moe.experts;
    moe.expert.d_ff = size("F", moe.expert.d_ff);
    if (moe.shared_d_ff > 0) moe.shared_d_ff = size("Fs", moe.shared_d_ff);
    if (moe.latent_dim > 0) moe.latent_dim = size("Dl", moe.latent_dim);
    const std::int64_t active = moe.active_experts;
    moe.experts = size("E", moe.experts);
    moe.active_experts = all_active ? moe.experts : size("k", active);
  }

  SizeDraw& draw_;
  std::int64_t original_d_model_;
  std::map<std::string, std::vector<std::int64_t>> known_;
};

}  // namespace

Model shrink(const Model& model, SizeDraw& draw) {
  draw.of("B");
  draw.positions();
  if (has_source(model)) draw.of("R");
  return Shrinker(draw, model.d_model).shrink(model);
}

}  // namespace flopwise
