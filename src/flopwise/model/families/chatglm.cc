// ChatGLM: model_type chatglm is two models. ChatGLM-6B has layer norms, biases and two matrices in
// its feed-forward, and adds to the normed stream; ChatGLM2, ChatGLM3 and GLM-4 have RMS norms,
// gates, and groups of queries.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// Trained prefixes in front of every layer's keys (P-tuning) have parameters of their own.
void refuse_prefixes(Config& config) {
  if (config.fields.integer_or("pre_seq_len", 0, 0, kMaxAxisSize) == 0) return;
  throw UserError(fmt::format("{}: trained prefixes are not counted, expected null",
                              config.fields.where("pre_seq_len")));
}

}  // namespace

// The file's class is ChatGLMModel, but what it stores and loads is the language model.
const std::vector<HeadClass>& chatglm_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                    HeadKind::kLanguageModel},
      {"ForConditionalGeneration", HeadKind::kLanguageModel},
  };
  return kHeads;
}

void adjust_chatglm1(Config& config, Layer& layer, Stack& /*stack*/) {
  refuse_prefixes(config);
  layer.scaled_residual = true;
  config.model.assumptions.emplace_back(
      "attention is counted as causal; the prompt of ChatGLM-6B sees itself both ways");
}

void adjust_chatglm(Config& config, Layer& layer, Stack& stack) {
  refuse_prefixes(config);
  JsonFields& fields = config.fields;
  const bool is_rms = fields.boolean_or("rmsnorm", true);
  layer.norm = stack.final_norm_kind = is_rms ? NormKind::kRms : NormKind::kLayer;
  stack.final_norm = fields.boolean_or("post_layer_norm", true);
  if (fields.boolean_or("apply_residual_connection_post_layernorm", false)) {
    layer.placement = NormPlacement::kNormed;
  }
  Attention& attention = *layer.attention;
  const bool bias = fields.boolean_or("add_bias_linear", false);
  const bool qkv_bias = fields.boolean_or("add_qkv_bias", false) || bias;
  attention.q_bias = attention.k_bias = attention.v_bias = qkv_bias;
  attention.o_bias = bias;
  Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  mlp.up_bias = mlp.down_bias = bias;
  const std::string_view groups = "multi_query_group_num";
  const std::int64_t said = fields.integer_or(groups, 1, 1, kMaxAxisSize);
  if (!fields.boolean_or("multi_query_attention", false)) return;
  attention.kv_heads = said;
  if (attention.heads % said == 0) return;
  throw UserError(fmt::format("{}: expected a divisor of {} = {}, got {}", fields.where(groups),
                              config.family.names.heads, attention.heads, said));
}

}  // namespace flopwise
