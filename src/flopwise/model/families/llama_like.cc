// What the rows of Llama's relatives cannot say.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/clip.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// Scales logits, where there are any.
void scale_logits(Config& config, std::string_view field) {
  const bool is_scaled = is_scaled_by(config, field);
  if (config.model.head.kind == HeadKind::kLanguageModel) {
    config.model.head.scaled_logits = is_scaled;
  }
}

}  // namespace

void note_clipping(Config& config, std::string_view field) {
  if (!config.fields.has(field)) return;
  config.model.assumptions.push_back(
      fmt::format("{} = {} is left out: two compares an element of queries, keys and values", field,
                  config.fields.number_or(field, 0)));
}

// Rotary in 7B and ALiBi in 13B, and nothing but the width tells them apart.
void adjust_baichuan(Config& config, Layer& layer, Stack& /*stack*/) {
  constexpr std::int64_t k7b = 4096;
  constexpr std::int64_t k13b = 5120;
  const std::int64_t width = config.model.d_model;
  if (width == k7b) return;
  if (width != k13b) {
    throw UserError(
        fmt::format("{}: expected {} (7B, rotary positions) or {} (13B, ALiBi), since "
                    "no field says which, got {}",
                    config.fields.where(config.family.names.d_model), k7b, k13b, width));
  }
  layer.attention->position = PositionKind::kAlibi;
  layer.attention->rotary_dim = 0;
}

// no_bias is about all maps but those of q, k and v, which have one anyway.
void adjust_qwen1(Config& config, Layer& layer, Stack& /*stack*/) {
  const bool bias = !config.fields.boolean_or("no_bias", true);
  layer.attention->o_bias = bias;
  Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  mlp.up_bias = mlp.down_bias = bias;
}

void adjust_olmo(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  note_clipping(config, "clip_qkv");
}

void adjust_cohere(Config& config, Layer& layer, Stack& stack) {
  adjust_cohere2(config, layer, stack);
  if (!config.fields.boolean_or("use_qk_norm", false)) return;
  layer.attention->qk_norm = QkNorm::kEachHead;
  layer.attention->qk_norm_kind = NormKind::kLayerNoBias;
}

// The class multiplies by 0.0625 when the field is absent.
void adjust_cohere2(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  scale_logits(config, "logit_scale");
  const bool is_absent = !config.mentions("logit_scale");
  if (is_absent && config.model.head.kind == HeadKind::kLanguageModel) {
    config.model.head.scaled_logits = true;
  }
}

// One of the four constants, attention_multiplier, stands in for 1/sqrt(H).
void adjust_granite(Config& config, Layer& layer, Stack& /*stack*/) {
  config.fields.number_or("attention_multiplier", 1);
  config.model.embedding.scaled = is_scaled_by(config, "embedding_multiplier");
  layer.scaled_residual = is_scaled_by(config, "residual_multiplier");
  scale_logits(config, "logits_scaling");
}

void adjust_grok1(Config& config, Layer& layer, Stack& /*stack*/) {
  config.fields.number_or("attn_output_multiplier", 1);
  config.model.embedding.scaled = is_scaled_by(config, "embedding_multiplier_scale");
  scale_logits(config, "output_multiplier_scale");
  layer.attention->softcap = config.fields.number_or("max_attn_value", 30);
}

// scale_depth/sqrt(L) on what each block adds, dim_model_base/D before the head.
void adjust_minicpm(Config& config, Layer& layer, Stack& /*stack*/) {
  config.model.embedding.scaled = is_scaled_by(config, "scale_emb");
  config.fields.number_or("scale_depth", 1);
  layer.scaled_residual = true;
  const std::int64_t base = config.fields.integer_or("dim_model_base", 1, 1, kMaxAxisSize);
  if (config.model.head.kind == HeadKind::kLanguageModel) {
    config.model.head.scaled = base != config.model.d_model;
  }
}

void adjust_phimoe(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  const bool bias = config.fields.boolean_or("lm_head_bias", false);
  if (config.model.head.kind == HeadKind::kLanguageModel) config.model.head.bias = bias;
  config.model.assumptions.emplace_back(
      "routing by sparsemixer is counted as a softmax over all experts and the k largest");
}

// Side by side, both blocks read the one norm.
void adjust_stablelm(Config& config, Layer& layer, Stack& /*stack*/) {
  layer.parallel = layer.shared_norm = config.fields.boolean_or("use_parallel_residual", false);
  if (!config.fields.boolean_or("qk_layernorm", false)) return;
  layer.attention->qk_norm = QkNorm::kEachHead;
  layer.attention->qk_norm_kind = NormKind::kLayerNoBias;
}

}  // namespace flopwise
