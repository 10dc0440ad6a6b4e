// What the rows of GPT-2, GPT-NeoX and OPT cannot say.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {

void adjust_gpt2(Config& config, Layer& layer, Stack& /*stack*/) {
  layer.attention.scaled = config.fields.boolean_or("scale_attn_weights", true);
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
  Attention& attention = layer.attention;
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
