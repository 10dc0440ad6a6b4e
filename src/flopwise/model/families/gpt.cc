// What the rows of the GPT lineage cannot say: layer norms, feed-forwards of two matrices.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {

void adjust_gpt2(Config& config, Layer& layer, Stack& /*stack*/) {
  layer.attention->scaled = config.fields.boolean_or("scale_attn_weights", true);
}

void adjust_gpt_bigcode(Config& config, Layer& layer, Stack& stack) {
  adjust_gpt2(config, layer, stack);
  if (config.fields.boolean_or("multi_query", true)) layer.attention->kv_heads = 1;
}

// Its scores are not divided by sqrt(H).
void adjust_gpt_neo(Config& /*config*/, Layer& layer, Stack& /*stack*/) {
  layer.attention->scaled = false;
  layer.attention->o_bias = true;
}

// rotary_dim counts elements; null rotates all.
void adjust_gptj(Config& config, Layer& layer, Stack& /*stack*/) {
  JsonFields& fields = config.fields;
  const bool is_null = config.mentions("rotary_dim") && !fields.has("rotary_dim");
  Attention& attention = *layer.attention;
  attention.rotary_dim = fields.integer_or(
      "rotary_dim", is_null ? attention.head_dim : config.family.rotary_dim, 2, attention.head_dim);
  if (attention.rotary_dim % 2 == 0) return;
  throw UserError(fmt::format("{}: expected an even number, got {}", fields.where("rotary_dim"),
                              attention.rotary_dim));
}

void adjust_phi(Config& config, Layer& layer, Stack& /*stack*/) {
  if (!config.fields.boolean_or("qk_layernorm", false)) return;
  layer.attention->qk_norm = QkNorm::kPerHead;
  layer.attention->qk_norm_kind = NormKind::kLayer;
}

void adjust_starcoder2(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  read_choice(config, "mlp_type", "default", {"default"});
  read_choice(config, "norm_type", "layer_norm", {"layer_norm"});
}

void adjust_xglm(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  config.model.embedding.sinusoidal = true;
  config.model.embedding.scaled = config.fields.boolean_or("scale_embedding", true);
}

void adjust_bloom(Config& config, Layer& layer, Stack& /*stack*/) {
  config.model.embedding.norm = true;
  if (config.fields.boolean_or("apply_residual_connection_post_layernorm", false)) {
    layer.placement = NormPlacement::kNormed;
  }
}

const std::vector<HeadClass>& reward_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"", HeadKind::kLastLabels}
  };
  return kHeads;
}

void adjust_reward_model(Config& config, Layer& layer, Stack& stack) {
  adjust_gpt_neox(config, layer, stack);
  read_choice(config, "pooling", "last", {"last"});
  config.model.head.labels = 1;
}

void adjust_gpt_neox(Config& config, Layer& layer, Stack& /*stack*/) {
  layer.parallel = config.fields.boolean_or("use_parallel_residual", true);
}

void adjust_opt(Config& config, Layer& layer, Stack& stack) {
  JsonFields& fields = config.fields;
  const bool is_pre_norm = fields.boolean_or("do_layer_norm_before", true);
  layer.placement = is_pre_norm ? NormPlacement::kPre : NormPlacement::kPost;
  stack.final_norm = !fields.boolean_or("_remove_final_layer_norm", false) && is_pre_norm;
  const bool has_weights = fields.boolean_or("layer_norm_elementwise_affine", true);
  layer.norm = stack.final_norm_kind = has_weights ? NormKind::kLayer : NormKind::kNoParams;
  const bool bias = fields.boolean_or("enable_bias", true);
  Attention& attention = *layer.attention;
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = bias;
  Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  mlp.up_bias = mlp.down_bias = bias;

  const std::int64_t width =
      fields.integer_or("word_embed_proj_dim", config.model.d_model, 1, kMaxAxisSize);
  if (width == config.model.d_model) return;
  config.model.embedding.width = width;
  if (config.model.head.kind == HeadKind::kLanguageModel) return;
  throw UserError(fmt::format("{}: expected hidden_size = {} without a language model head, got {}",
                              fields.where("word_embed_proj_dim"), config.model.d_model, width));
}

}  // namespace flopwise
