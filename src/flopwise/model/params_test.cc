// Published parameter counts against the layer formulas of each family, written down by hand: that
// the readers put the right sizes, biases, norms and ties into a Model.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "flopwise/base/contains.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"
#include "tests/catalog_totals.h"

namespace flopwise {
namespace {

std::int64_t norm_params(NormKind kind, std::int64_t width) {
  switch (kind) {
    case NormKind::kRms:
    case NormKind::kLayerNoBias:
      return width;
    case NormKind::kLayer:
      return 2 * width;
    case NormKind::kNoParams:
    case NormKind::kRmsNoParams:
      return 0;
  }
  return 0;
}

std::int64_t latent_attention_params(std::int64_t d_model, const Attention& a) {
  const LatentAttention& l = *a.latent;
  const std::int64_t q = a.heads * (l.nope_dim + l.rope_dim);
  const std::int64_t queries =
      l.query_rank > 0 ? d_model * l.query_rank + l.query_rank + l.query_rank * q : d_model * q;
  const std::int64_t indexer = l.indexer ? l.query_rank * l.indexer->heads * l.indexer->head_dim +
                                               (d_model + 2) * l.indexer->head_dim +
                                               d_model * l.indexer->heads
                                         : 0;
  return queries + indexer + d_model * (l.kv_rank + l.rope_dim) + l.kv_rank +
         l.kv_rank * a.heads * (l.nope_dim + a.value_dim) + a.heads * a.value_dim * d_model;
}

std::int64_t attention_params(std::int64_t d_model, const Attention& a) {
  if (a.latent) return latent_attention_params(d_model, a);
  const std::int64_t q = a.heads * a.head_dim;
  const std::int64_t k = a.kv_heads * a.head_dim;
  const std::int64_t v = a.kv_heads * a.value_dim;
  const std::int64_t o = a.heads * a.value_dim;
  const std::int64_t biases = a.q_bias * q + a.k_bias * k + a.v_bias * v + a.o_bias * d_model;
  const std::int64_t width = a.qk_norm == QkNorm::kNone      ? 0
                             : a.qk_norm == QkNorm::kPerHead ? 2 * a.head_dim
                                                             : q + k;
  const std::int64_t qk_norms = norm_params(a.qk_norm_kind, width);
  const std::int64_t gate = a.gate == OutputGate::kNone         ? 0
                            : a.gate == OutputGate::kPerElement ? d_model * o
                                                                : d_model * a.heads;
  return d_model * (q + k + v + o) + biases + qk_norms + a.sinks * a.heads + gate;
}

std::int64_t mlp_params(std::int64_t d_model, const Mlp& mlp) {
  const std::int64_t ups = mlp.gated ? 2 : 1;
  return (ups + 1) * d_model * mlp.d_ff + mlp.up_bias * ups * mlp.d_ff + mlp.down_bias * d_model;
}

std::int64_t moe_params(std::int64_t d_model, const Moe& moe) {
  Mlp shared = moe.expert;
  shared.d_ff = moe.shared_d_ff;
  const std::int64_t width = moe.latent_dim > 0 ? moe.latent_dim : d_model;
  return (d_model + moe.router_bias + moe.correction_bias) * moe.experts +
         moe.experts * mlp_params(width, moe.expert) + 2 * moe.latent_dim * d_model +
         (moe.shared_d_ff > 0 ? mlp_params(d_model, shared) : 0) + moe.shared_gate * d_model;
}

// In, out and skip, the convolution, the decay, and what makes dt, B and C.
std::int64_t recurrence_params(std::int64_t d, const Recurrence& recurrence) {
  if (const auto* m = std::get_if<Mamba>(&recurrence)) {
    const std::int64_t low = m->rank + 2 * m->state;
    return 3 * d * m->inner + m->proj_bias * (2 * m->inner + d) +
           (m->taps + m->conv_bias) * m->inner + m->inner * low + m->inner_norms * low +
           (m->rank + 1) * m->inner + m->inner * m->state + m->inner;
  }
  if (const auto* m = std::get_if<Mamba2>(&recurrence)) {
    const std::int64_t inner = m->heads * m->head_dim;
    const std::int64_t mixed = inner + 2 * m->groups * m->state;
    return d * (inner + mixed + m->heads) + m->proj_bias * (inner + mixed + m->heads + d) +
           (m->taps + m->conv_bias) * mixed + 3 * m->heads + inner + inner * d;
  }
  if (const auto* m = std::get_if<DeltaNet>(&recurrence)) {
    const std::int64_t keys = m->key_heads * m->key_dim;
    const std::int64_t values = m->value_heads * m->value_dim;
    return d * (2 * keys + 2 * values) + 2 * d * m->value_heads + m->taps * (2 * keys + values) +
           2 * m->value_heads + m->value_dim + values * d;
  }
  const auto& conv = std::get<ShortConvolution>(recurrence);
  return 4 * d * d + conv.taps * d + conv.bias * 5 * d;
}

std::int64_t feed_forward_params(std::int64_t d_model, const Layer& layer) {
  if (const auto* mlp = std::get_if<Mlp>(&layer.feed_forward)) return mlp_params(d_model, *mlp);
  if (const auto* moe = std::get_if<Moe>(&layer.feed_forward)) return moe_params(d_model, *moe);
  if (const auto* map = std::get_if<LinearMap>(&layer.feed_forward)) {
    return d_model * d_model + map->bias * d_model;
  }
  return 0;
}

std::int64_t scale_params(std::int64_t d_model, BranchScale scale) {
  if (scale == BranchScale::kNone) return 0;
  return scale == BranchScale::kTanhScalar ? 1 : d_model;
}

std::int64_t layer_params(std::int64_t d_model, const Layer& layer) {
  std::int64_t blocks = (layer.attention || layer.recurrence || layer.linear) +
                        layer.cross.has_value() +
                        !std::holds_alternative<NoFeedForward>(layer.feed_forward);
  const std::int64_t branches = blocks;
  if (layer.placement == NormPlacement::kSandwich) blocks *= 2;
  if (layer.shared_norm) blocks = 1;
  if (!layer.attention_norm) --blocks;
  return blocks * norm_params(layer.norm, d_model) +
         (layer.attention ? attention_params(d_model, *layer.attention) : 0) +
         (layer.recurrence ? recurrence_params(d_model, *layer.recurrence) : 0) +
         (layer.linear ? d_model * d_model + layer.linear->bias * d_model : 0) +
         (layer.cross ? attention_params(d_model, *layer.cross) : 0) +
         branches * scale_params(d_model, layer.branch_scale) + feed_forward_params(d_model, layer);
}

std::int64_t stack_params(std::int64_t d_model, const Stack& stack) {
  std::int64_t params = stack.final_norm ? norm_params(stack.final_norm_kind, d_model) : 0;
  for (const LayerGroup& group : stack.groups) {
    params += (group.one_set ? 1 : group.repeat) * layer_params(d_model, group.layer);
  }
  if (stack.groups.empty() || !stack.groups.front().layer.attention) return params;
  const Attention& attention = *stack.groups.front().layer.attention;
  // A table of relative positions and its norm.
  if (attention.relative) params += (attention.relative->rows + 2) * d_model;
  return params + attention.relative_buckets * attention.heads;
}

// Rows of a tile before and behind the first layers, rows of every position; three gates; a norm.
std::int64_t tile_params(const Model& model) {
  if (!model.embedding.tiles) return 0;
  const Tiles& tiles = *model.embedding.tiles;
  const std::int64_t rows = model.embedding.positions;
  return (tiles.layouts * tiles.count * (2 + rows) + rows) * model.d_model + 3 +
         norm_params(model.embedding.norm_kind, model.d_model);
}

std::int64_t embedding_params(const Model& model) {
  const Embedding& embedding = model.embedding;
  const std::int64_t width = embedding.width > 0 ? embedding.width : model.d_model;
  const std::int64_t spare = embedding.spare_tokens * model.d_model;
  // The tokens' table is one, the rest is there in each stack.
  const std::int64_t stacks = model.architecture == Architecture::kEncoderDecoder ? 2 : 1;
  if (embedding.mel_bins > 0) {
    const std::int64_t d = model.d_model;
    return model.vocab * d + (embedding.positions + embedding.source_positions) * d +
           3 * embedding.mel_bins * d + d + 3 * d * d + d;
  }
  const std::int64_t patches =
      (embedding.patch_values + embedding.patch_bias + embedding.class_token) * model.d_model;
  const std::int64_t own = embedding.tiles ? 0 : embedding.positions;
  const std::int64_t rows = own + embedding.token_types;
  if (stacks == 2 && embedding.patch_values > 0) {
    return model.vocab * width + patches + (rows + embedding.source_positions) * model.d_model;
  }
  if (embedding.all_in_width) {
    return (model.vocab + rows) * width + norm_params(embedding.norm_kind, width) +
           (width + 1) * model.d_model;
  }
  const std::int64_t norm = embedding.norm ? norm_params(embedding.norm_kind, model.d_model) : 0;
  return model.vocab * width + spare + tile_params(model) +
         (embedding.width > 0 ? 2 * width * model.d_model : 0) +
         stacks * (rows * model.d_model + norm) + (embedding.patch_values > 0 ? patches : 0);
}

// Queries, a matrix to keys and values, attention with biases, three norms, a matrix.
std::int64_t resampler_params(std::int64_t d_model, const Projector& p) {
  const std::int64_t out = p.out;
  return p.resampler->queries * out + d_model * out + 4 * (out * out + out) +
         3 * norm_params(p.resampler->norm, out) + out * out;
}

// A norm, a dense layer as wide as M neighbours, a matrix; and the further ones.
std::int64_t projector_params(std::int64_t d_model, const Projector& p) {
  const std::int64_t merged = (p.pools ? 1 : p.merge) * d_model;
  if (p.resampler) return resampler_params(d_model, p);
  std::int64_t in = merged + p.joined * d_model;
  std::int64_t matrices = 0;
  for (const ProjectorLayer& layer : p.inner) {
    matrices += (1 + layer.gated) * (in + layer.bias) * layer.width +
                (layer.norm ? norm_params(*layer.norm, layer.width) : 0);
    in = layer.width;
  }
  matrices += (in + p.bias) * p.out;
  const std::int64_t norm = p.norm ? norm_params(*p.norm, p.norm_merged ? merged : d_model) : 0;
  const std::int64_t copy = matrices + (p.norm ? norm_params(*p.norm, merged) : 0);
  return matrices + norm + p.merged_copies * copy + p.scalars;
}

std::int64_t head_params(const Model& model) {
  const std::int64_t d_model = model.d_model;
  const std::int64_t dense = d_model * d_model + d_model;
  const std::int64_t matrix =
      (model.head.tied ? 0 : model.vocab * d_model) + model.head.bias * model.vocab;
  const std::int64_t width = model.embedding.all_in_width ? model.embedding.width : d_model;
  const std::int64_t transform = d_model * width + model.head.transform_bias * width +
                                 norm_params(model.head.transform_norm, width);
  const std::int64_t masked_lm = transform + matrix;
  const std::int64_t labels = model.head.labels;
  switch (model.head.kind) {
    case HeadKind::kNone:
      return 0;
    case HeadKind::kLanguageModel:
      return matrix;
    case HeadKind::kMaskedLm:
      return masked_lm;
    case HeadKind::kPooler:
      return dense;
    case HeadKind::kPooledLabels:
      return dense + labels * (d_model + 1);
    case HeadKind::kPretraining:
      return masked_lm + dense + 2 * (d_model + 1);
    case HeadKind::kProjector:
      return projector_params(d_model, model.head.projector);
    case HeadKind::kTokenLabels:
    case HeadKind::kLastLabels:
    case HeadKind::kFirstLabels:
      return labels * (d_model + 1);
    case HeadKind::kSequenceLabels:
      return labels * d_model;
  }
  return 0;
}

std::int64_t unused_params(const Model& model) {
  const Unused& unused = *model.unused;
  std::int64_t params = unused.rows * model.head.projector.out;
  for (const LayerGroup& group : unused.groups) {
    params += group.repeat * layer_params(model.d_model, group.layer);
  }
  if (unused.norm) params += norm_params(*unused.norm, model.d_model);
  return params + unused.pooler * model.d_model * (model.d_model + 1);
}

std::int64_t params_of(const Model& model) {
  std::int64_t towers = 0;
  for (const Tower& tower : model.towers) towers += params_of(*tower.model);
  if (model.unused) towers += unused_params(model);
  return towers + embedding_params(model) + head_params(model) +
         (model.encoder ? stack_params(model.d_model, *model.encoder) : 0) +
         (model.decoder ? stack_params(model.d_model, *model.decoder) : 0);
}

// Of the routed experts that one token does not use.
std::int64_t idle_params(const Model& model) {
  std::int64_t idle = 0;
  for (const std::optional<Stack>* stack : {&model.encoder, &model.decoder}) {
    if (!*stack) continue;
    for (const LayerGroup& group : (*stack)->groups) {
      const Moe* moe = std::get_if<Moe>(&group.layer.feed_forward);
      if (moe == nullptr) continue;
      idle += group.repeat * (moe->experts - moe->active_experts) *
              mlp_params(moe->latent_dim > 0 ? moe->latent_dim : model.d_model, moe->expert);
    }
  }
  return idle;
}

// What a file with layers that predict further tokens holds of them: the layer, a matrix that joins
// two hidden states, and three norms.
std::int64_t mtp_params(const Model& model) {
  if (!model.mtp) return 0;
  const std::int64_t d = model.d_model;
  return model.mtp->repeat * (layer_params(d, model.mtp->layer) + 2 * d * d +
                              3 * norm_params(model.mtp->layer.norm, d));
}

// Published totals of the file with its layers that predict further tokens; of others without.
bool counts_mtp(const std::string& name) {
  return name.starts_with("Qwen3.5-") || name == "MiMo-7B-Base";
}

TEST(Params, CatalogTotalsAreThePublishedOnes) {
  expect_a_number_for_every_model();
  for (const CatalogTotal& row : catalog_totals()) {
    SCOPED_TRACE(row.name);
    const Model model = find_model(row.name);
    EXPECT_EQ(params_of(model), row.total) << row.provenance;
    EXPECT_EQ(params_of(model) - idle_params(model), row.active);
  }
}

TEST(Params, LettersOfTheScalingBook) {
  const std::string letters = "D=4096,F=16384,L=64,V=32000,N=32,K=32,H=128";
  EXPECT_EQ(params_of(model_from_letters(letters)), 17'442'541'568);
  EXPECT_EQ(params_of(model_from_letters(letters + ",final_norm=0")), 17'442'537'472);
  EXPECT_EQ(params_of(model_from_letters(letters + ",tied=1")), 17'311'469'568);
}

// The collection of real configurations beside the checkout, where there is one.
TEST(Params, SharedConfigurationsHaveTheirPublishedTotals) {
  const std::filesystem::path models =
      std::filesystem::path(FLOPWISE_SOURCE_DIR).parent_path() / "shared" / "models";
  if (!std::filesystem::exists(models / "params.json")) {
    GTEST_SKIP() << "there is no shared/models beside the checkout";
  }
  const std::vector<std::string> families = known_model_types();
  int read = 0;
  for (const nlohmann::json& row : read_json_file((models / "params.json").string())) {
    const std::filesystem::path file = models / row["name"].get<std::string>() / "config.json";
    if (!std::filesystem::exists(file)) continue;
    const nlohmann::json config = read_json_file(file.string());
    const auto type = config.find("model_type");
    if (type == config.end() || !contains(families, type->get<std::string>())) {
      continue;
    }
    if (!row.contains("exact_params") && !row.contains("approx_params")) continue;
    SCOPED_TRACE(file.string());
    const Model model = model_from_config(config, file.string());
    ++read;
    if (row.contains("exact_params")) {
      const std::int64_t mtp = counts_mtp(row["name"]) ? mtp_params(model) : 0;
      EXPECT_EQ(params_of(model) + mtp, row["exact_params"].get<std::int64_t>());
    } else if (row.contains("approx_params")) {
      EXPECT_EQ(params_of(model), row["approx_params"].get<std::int64_t>());
    }
  }
  EXPECT_GE(read, 150);
}

}  // namespace
}  // namespace flopwise
