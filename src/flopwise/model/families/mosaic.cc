// MPT and DBRX, of which attn_config and ffn_config hold what other files have at the top.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/clip.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

std::int64_t read_kv_heads(Config& config, std::int64_t heads) {
  JsonFields& fields = config.fields;
  const std::string_view type_field = "attn_config.attn_type";
  const std::string type =
      read_choice(config, type_field, "multihead_attention",
                  {"multihead_attention", "multiquery_attention", "grouped_query_attention"});
  const std::string_view field = "attn_config.kv_n_heads";
  const std::int64_t usual = type == "multiquery_attention" ? 1 : heads;
  const std::int64_t said = type == "grouped_query_attention"
                                ? fields.integer(field, 1, heads)
                                : fields.integer_or(field, usual, 1, heads);
  const bool agrees = type == "grouped_query_attention" ? heads % said == 0 : said == usual;
  if (agrees) return said;
  throw UserError(fmt::format("{}: expected {}, as {} = {} says, got {}", fields.where(field),
                              type == "grouped_query_attention"
                                  ? fmt::format("a divisor of n_heads = {}", heads)
                                  : fmt::format("{}", usual),
                              type_field, type, said));
}

}  // namespace

void adjust_mpt(Config& config, Layer& layer, Stack& stack) {
  JsonFields& fields = config.fields;
  Attention& attention = *layer.attention;
  attention.kv_heads = read_kv_heads(config, attention.heads);
  note_clipping(config, "attn_config.clip_qkv");
  read_choice(config, "norm_type", "low_precision_layernorm",
              {"low_precision_layernorm", "layernorm"});
  read_choice(config, "ffn_config.ffn_type", "mptmlp", {"mptmlp"});

  const bool bias = !fields.boolean_or("no_bias", true);
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = bias;
  Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  mlp.up_bias = mlp.down_bias = bias;
  layer.norm = stack.final_norm_kind = bias ? NormKind::kLayer : NormKind::kLayerNoBias;

  const bool learned = fields.boolean_or("learned_pos_emb", true);
  if (fields.boolean_or("attn_config.alibi", false)) {
    attention.position = PositionKind::kAlibi;
  } else if (learned) {
    config.model.embedding.positions = config.model.context = read_size(config, "max_seq_len");
  }
}

void adjust_dbrx(Config& config, Layer& /*layer*/, Stack& /*stack*/) {
  note_clipping(config, "attn_config.clip_qkv");
  const std::string_view field = "ffn_config.moe_normalize_expert_weights";
  const double power = config.mentions(field) ? config.fields.number_or(field, 0) : 1;
  if (power == 1) return;
  throw UserError(fmt::format("{}: expected 1, the sum by which weights are divided, got {}",
                              config.fields.where(field), shown(config.fields.raw(field))));
}

}  // namespace flopwise
