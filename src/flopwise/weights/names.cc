#include "flopwise/weights/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>

namespace flopwise {
namespace {

// ---- the tables ------------------------------------------------------------------------------

// What stands before a layer container or an outer module.
constexpr std::string_view kRoots[] = {
    "",
    "model",
    "transformer",
    "gpt_neox",
    "backbone",
    "bert",
    "bert.encoder",
    "roberta",
    "roberta.encoder",
    "encoder",
    "decoder",
    "enc",
    "dec",
    "model.encoder",
    "model.decoder",
    "transformer.encoder",
    "language_model",
    "language_model.model",
    "model.language_model",
};

constexpr std::string_view kEncoderRoots[] = {"encoder", "enc", "model.encoder"};

// NAME.7 is layer 7.
constexpr std::string_view kLayerContainers[] = {"layers", "layer", "h", "blocks", "block", "blk"};

// Modules of a layer, by what they hold.
constexpr NameRule kInLayer[] = {
    // norms
    {"input_layernorm", "attention.norm"},
    {"attention_norm", "attention.norm"},
    {"attn_norm", "attention.norm"},
    {"ln_1", "attention.norm"},
    {"ln_attn", "attention.norm"},
    {"norm1", "attention.norm"},
    {"norm_1", "attention.norm"},
    {"self_attn_layer_norm", "attention.norm"},
    {"attention.output.LayerNorm", "attention.norm"},
    {"attn_output_norm", "attention.norm"},
    {"layer.0.layer_norm", "attention.norm"},
    {"layer.1.layer_norm", "cross.norm | mlp.norm"},
    {"layer.2.layer_norm", "mlp.norm"},
    {"cross_attn_norm", "cross.norm"},
    {"post_attention_layernorm", "attention.post_norm | mlp.norm"},
    {"post_attention_norm", "attention.post_norm | mlp.norm"},
    {"pre_feedforward_layernorm", "mlp.norm"},
    {"post_feedforward_layernorm", "mlp.post_norm"},
    {"post_ffw_norm", "mlp.post_norm"},
    {"ffn_norm", "mlp.norm"},
    {"attn_norm_2", "mlp.norm"},
    {"ln_2", "mlp.norm"},
    {"ln_mlp", "mlp.norm"},
    {"norm2", "mlp.norm"},
    {"norm_2", "mlp.norm"},
    {"final_layer_norm", "mlp.norm"},
    {"output.LayerNorm", "mlp.norm"},
    {"layer_output_norm", "mlp.norm"},
    {"self_attn.q_norm", "attention.q_norm"},
    {"self_attn.k_norm", "attention.k_norm"},
    {"self_attn.q_layernorm", "attention.q_norm"},
    {"self_attn.k_layernorm", "attention.k_norm"},
    {"attn_q_norm", "attention.q_norm"},
    {"attn_k_norm", "attention.k_norm"},

    // attention
    {"self_attn.q_proj", "attention.q | attention.q_nope + attention.q_rope"},
    {"self_attn.q_a_proj", "attention.q_a"},
    {"self_attn.q_a_layernorm", "attention.q_norm"},
    {"self_attn.q_b_proj", "attention.q_nope + attention.q_rope"},
    {"self_attn.kv_a_proj_with_mqa", "attention.kv_a + attention.k_rope"},
    {"self_attn.kv_a_layernorm", "attention.kv_norm"},
    {"self_attn.kv_b_proj", "attention.k_nope + attention.v"},
    {"attn_q_a", "attention.q_a"},
    {"attn_q_a_norm", "attention.q_norm"},
    {"attn_q_b", "attention.q_nope + attention.q_rope"},
    {"attn_kv_a_mqa", "attention.kv_a + attention.k_rope"},
    {"attn_kv_a_norm", "attention.kv_norm"},
    {"attn_kv_b", "attention.k_nope + attention.v"},
    {"self_attn.k_proj", "attention.k"},
    {"self_attn.v_proj", "attention.v"},
    {"self_attn.o_proj", "attention.o"},
    {"self_attn.out_proj", "attention.o"},
    {"self_attn.dense", "attention.o"},
    {"self_attn.qkv_proj", "attention.q + attention.k + attention.v"},
    {"self_attn.query_key_value", "attention.q + attention.k + attention.v"},
    {"self_attn.W_pack", "attention.q + attention.k + attention.v"},
    {"self_attn.sinks", "attention.sinks"},
    {"self_attention.query_key_value", "attention.q + attention.k + attention.v"},
    {"self_attention.dense", "attention.o"},
    {"attention.query_key_value", "attention.q + attention.k + attention.v"},
    {"attention.dense", "attention.o"},
    {"attention.wqkv", "attention.q + attention.k + attention.v"},
    {"attention.wq", "attention.q"},
    {"attention.wk", "attention.k"},
    {"attention.wv", "attention.v"},
    {"attention.wo", "attention.o"},
    {"attention.self.query", "attention.q"},
    {"attention.self.key", "attention.k"},
    {"attention.self.value", "attention.v"},
    {"attention.output.dense", "attention.o"},
    {"attn.q_proj", "attention.q"},
    {"attn.k_proj", "attention.k"},
    {"attn.v_proj", "attention.v"},
    {"attn.out_proj", "attention.o"},
    {"attn.Wqkv", "attention.q + attention.k + attention.v"},
    {"attn.c_attn", "attention.q + attention.k + attention.v", Layout::kConv1d},
    {"attn.c_proj", "attention.o", Layout::kConv1d},
    {"attn_q", "attention.q"},
    {"attn_k", "attention.k"},
    {"attn_v", "attention.v"},
    {"attn_qkv", "attention.q + attention.k + attention.v"},
    {"attn_output", "attention.o"},
    {"attn_sinks", "attention.sinks"},
    {"layer.0.SelfAttention.q", "attention.q"},
    {"layer.0.SelfAttention.k", "attention.k"},
    {"layer.0.SelfAttention.v", "attention.v"},
    {"layer.0.SelfAttention.o", "attention.o"},
    {"layer.0.SelfAttention.relative_attention_bias", "relative_bias"},
    {"attn_rel_b", "relative_bias"},
    {"layer.1.EncDecAttention.q", "cross.q"},
    {"layer.1.EncDecAttention.k", "cross.k"},
    {"layer.1.EncDecAttention.v", "cross.v"},
    {"layer.1.EncDecAttention.o", "cross.o"},
    {"cross_attn_q", "cross.q"},
    {"cross_attn_k", "cross.k"},
    {"cross_attn_v", "cross.v"},
    {"cross_attn_o", "cross.o"},

    // dense feed-forward
    {"mlp.gate_proj", "mlp.gate"},
    {"mlp.up_proj", "mlp.up"},
    {"mlp.down_proj", "mlp.down"},
    {"mlp.gate_up_proj", "mlp.gate + mlp.up"},
    {"mlp.dense_h_to_4h", "mlp.gate + mlp.up | mlp.up"},
    {"mlp.dense_4h_to_h", "mlp.down"},
    {"mlp.fc1", "mlp.up"},
    {"mlp.fc2", "mlp.down"},
    {"mlp.c_fc", "mlp.up", Layout::kConv1d},
    {"mlp.c_proj", "mlp.down", Layout::kConv1d},
    {"mlp.w1", "mlp.up"},
    {"mlp.w2", "mlp.gate"},
    {"fc1", "mlp.up"},
    {"fc2", "mlp.down"},
    {"ffn.up_proj", "mlp.up"},
    {"ffn.down_proj", "mlp.down"},
    {"feed_forward.w1", "mlp.gate"},
    {"feed_forward.w2", "mlp.down"},
    {"feed_forward.w3", "mlp.up"},
    {"feed_forward.gate_proj", "mlp.gate"},
    {"feed_forward.up_proj", "mlp.up"},
    {"feed_forward.down_proj", "mlp.down"},
    {"intermediate.dense", "mlp.up"},
    {"output.dense", "mlp.down"},
    {"layer.1.DenseReluDense.wi", "mlp.up"},
    {"layer.1.DenseReluDense.wi_0", "mlp.gate"},
    {"layer.1.DenseReluDense.wi_1", "mlp.up"},
    {"layer.1.DenseReluDense.wo", "mlp.down"},
    {"layer.2.DenseReluDense.wi", "mlp.up"},
    {"layer.2.DenseReluDense.wi_0", "mlp.gate"},
    {"layer.2.DenseReluDense.wi_1", "mlp.up"},
    {"layer.2.DenseReluDense.wo", "mlp.down"},
    {"ffn_gate", "mlp.gate"},
    {"ffn_up", "mlp.up | mlp.gate + mlp.up"},
    {"ffn_down", "mlp.down"},

    // experts
    {"mlp.gate", "router.scores"},
    {"mlp.router", "router.scores"},
    {"mlp.gate.e_score_correction", "router.correction"},
    {"block_sparse_moe.e_score_correction", "router.correction"},
    {"exp_probs_b", "router.correction"},
    {"block_sparse_moe.gate", "router.scores"},
    {"block_sparse_moe.router.layer", "router.scores"},
    {"feed_forward.router", "router.scores"},
    {"ffn.router.layer", "router.scores"},
    {"ffn_gate_inp", "router.scores"},
    {"mlp.experts.{e}.gate_proj", "experts.gate"},
    {"mlp.experts.{e}.up_proj", "experts.up"},
    {"mlp.experts.{e}.down_proj", "experts.down"},
    {"mlp.experts.gate_up_proj", "experts.gate + experts.up", Layout::kStacked},
    {"mlp.experts.gate_proj", "experts.gate", Layout::kStacked},
    {"mlp.experts.up_proj", "experts.up", Layout::kStacked},
    {"mlp.experts.down_proj", "experts.down", Layout::kStacked},
    {"feed_forward.experts.gate_up_proj", "experts.gate + experts.up", Layout::kStacked},
    {"feed_forward.experts.down_proj", "experts.down", Layout::kStacked},
    {"block_sparse_moe.experts.{e}.w1", "experts.gate"},
    {"block_sparse_moe.experts.{e}.w2", "experts.down"},
    {"block_sparse_moe.experts.{e}.w3", "experts.up"},
    {"block_sparse_moe.input_linear", "experts.gate + experts.up"},
    {"block_sparse_moe.output_linear", "experts.down"},
    {"ffn.experts.mlp.w1", "experts.gate", Layout::kMergedRows},
    {"ffn.experts.mlp.v1", "experts.up", Layout::kMergedRows},
    {"ffn.experts.mlp.w2", "experts.down", Layout::kMergedColumns},
    {"ffn_gate_exps", "experts.gate"},
    {"ffn_up_exps", "experts.up"},
    {"ffn_down_exps", "experts.down"},
    {"ffn_gate.{e}", "experts.gate"},
    {"ffn_up.{e}", "experts.up"},
    {"ffn_down.{e}", "experts.down"},
    {"mlp.shared_expert.gate_proj", "shared.gate"},
    {"mlp.shared_expert.up_proj", "shared.up"},
    {"mlp.shared_expert.down_proj", "shared.down"},
    {"mlp.shared_expert_gate", "shared.scores"},
    {"mlp.shared_experts.gate_proj", "shared.gate"},
    {"mlp.shared_experts.up_proj", "shared.up"},
    {"mlp.shared_experts.down_proj", "shared.down"},
    {"feed_forward.shared_expert.gate_proj", "shared.gate"},
    {"feed_forward.shared_expert.up_proj", "shared.up"},
    {"feed_forward.shared_expert.down_proj", "shared.down"},
    {"ffn_gate_shexp", "shared.gate"},
    {"ffn_up_shexp", "shared.up"},
    {"ffn_down_shexp", "shared.down"},
    {"ffn_gate_inp_shexp", "shared.scores"},
};

// Modules outside the layers. Where a matrix is stored several times the first row is the original.
constexpr NameRule kOutside[] = {
    {"shared", "embed.tokens"},
    {"embed_tokens", "embed.tokens | =embed.tokens"},
    {"wte", "embed.tokens"},
    {"word_embeddings", "embed.tokens"},
    {"tok_embeddings", "embed.tokens"},
    {"embed_in", "embed.tokens"},
    {"embedding.word_embeddings", "embed.tokens"},
    {"embeddings.word_embeddings", "embed.tokens"},
    {"token_embd", "embed.tokens"},
    {"wpe", "embed.positions"},
    {"embed_positions", "embed.positions"},
    {"embeddings.position_embeddings", "embed.positions"},
    {"position_embd", "embed.positions"},
    {"embeddings.token_type_embeddings", "embed.token_types"},
    {"token_types", "embed.token_types"},
    {"embeddings.LayerNorm", "embed.norm"},
    {"word_embeddings_layernorm", "embed.norm"},
    {"token_embd_norm", "embed.norm"},
    {"project_in", "embed.project_in"},
    {"project_out", "unembed.project_out"},
    {"norm", "final.norm"},
    {"norm_f", "final.norm"},
    {"ln_f", "final.norm"},
    {"final_layernorm", "final.norm"},
    {"final_layer_norm", "final.norm"},
    {"output_norm", "final.norm"},
    {"lm_head", "unembed | =embed.tokens"},
    {"embed_out", "unembed | =embed.tokens"},
    {"output", "unembed | =embed.tokens"},
    {"output_layer", "unembed | =embed.tokens"},
    {"cls.predictions", "unembed"},
    {"cls.predictions.decoder", "unembed | =embed.tokens | =unembed"},
    {"cls.predictions.transform.dense", "transform.dense"},
    {"cls.predictions.transform.LayerNorm", "transform.norm"},
    {"cls.seq_relationship", "next_sentence"},
    {"pooler.dense", "pooler.dense"},
    {"classifier", "classifier"},
    {"qa_outputs", "classifier"},
    {"score", "score"},
};

// The leaves of a module. What a quantised weight is called and what accompanies it: quantised.cc.
constexpr Leaf kLeaves[] = {
    {".weight", "weight"},
    {".bias", "bias"},
    {".gamma", "weight"},
    {".beta", "bias"},
    {"", "weight"},
    {"_bias", "bias"},
    {".qweight", "weight"},
    {".weight_packed", "weight"},
    {"_blocks", "weight"},
    {"_scales", "weight", LeafKind::kCompanion},
    {".qzeros", "weight", LeafKind::kCompanion},
    {".scales", "weight", LeafKind::kCompanion},
    {".biases", "weight", LeafKind::kCompanion},
    {".g_idx", "weight", LeafKind::kCompanion},
    {".SCB", "weight", LeafKind::kCompanion},
    {".weight_format", "weight", LeafKind::kCompanion},
    {".weight.absmax", "weight", LeafKind::kCompanion},
    {".weight.quant_map", "weight", LeafKind::kCompanion},
    {".weight.nested_absmax", "weight", LeafKind::kCompanion},
    {".weight.nested_quant_map", "weight", LeafKind::kCompanion},
    {".weight.quant_state.bitsandbytes__nf4", "weight", LeafKind::kCompanion},
    {".weight.quant_state.bitsandbytes__fp4", "weight", LeafKind::kCompanion},
    {".weight_scale", "weight", LeafKind::kCompanion},
    {".weight_scale_inv", "weight", LeafKind::kCompanion},
    {".weight_scale_2", "weight", LeafKind::kCompanion},
    {".weight_global_scale", "weight", LeafKind::kCompanion},
    {".weight_zero_point", "weight", LeafKind::kCompanion},
    {".weight_g_idx", "weight", LeafKind::kCompanion},
    {".weight_shape", "weight", LeafKind::kCompanion},
    {".input_scale", "weight", LeafKind::kCompanion},
    {".input_global_scale", "weight", LeafKind::kCompanion},
    {".input_zero_point", "weight", LeafKind::kCompanion},
    {".output_scale", "weight", LeafKind::kCompanion},
    {".k_scale", "weight", LeafKind::kCompanion},
    {".v_scale", "weight", LeafKind::kCompanion},
};

// Ends of names that are no parameters of any model: tables that the code computes and saves.
struct BufferRule {
  std::string_view end;
  std::string_view comment;
};
constexpr BufferRule kBuffers[] = {
    {"rotary_emb.inv_freq", "rotary frequencies"},
    {"rotary_pos_emb.inv_freq", "rotary frequencies"},
    {"rope_freqs.weight", "rotary frequency factors"},
    {"rope_factors_long.weight", "rotary frequency factors"},
    {"rope_factors_short.weight", "rotary frequency factors"},
    {"rotary_emb.cos_cached", "rotary cosines"},
    {"rotary_emb.sin_cached", "rotary sines"},
    {"attn.bias", "causal mask"},
    {"attn.masked_bias", "value of masked scores"},
    {"attention.bias", "causal mask"},
    {"attention.masked_bias", "value of masked scores"},
    {"embeddings.position_ids", "position numbers"},
    {"embeddings.token_type_ids", "token type numbers"},
    {"final_logits_bias", "bias that stays zero"},
};

// Segments that only the layers of multi-token prediction have in their names.
constexpr std::string_view kMtpRoots[] = {"mtp", "mtp_layers"};
constexpr std::string_view kMtpModules[] = {
    "eh_proj", "enorm", "hnorm", "shared_head", "embed_tokens", "nextn", "hidden_layernorm"};

// ---- reading a name --------------------------------------------------------------------------

template <typename Range>
bool contains(const Range& range, std::string_view text) {
  return std::find(std::begin(range), std::end(range), text) != std::end(range);
}

std::vector<std::string_view> segments_of(std::string_view name) {
  std::vector<std::string_view> segments;
  while (true) {
    const std::size_t dot = name.find('.');
    segments.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return segments;
    name.remove_prefix(dot + 1);
  }
}

std::optional<std::int64_t> number_in(std::string_view segment) {
  constexpr std::size_t kMostDigits = 9;
  if (segment.empty() || segment.size() > kMostDigits) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(segment.data(), segment.data() + segment.size(), number);
  if (error != std::errc() || end != segment.data() + segment.size() || number < 0) return {};
  return number;
}

using RuleMap = std::unordered_map<std::string_view, const NameRule*>;

RuleMap map_of(std::span<const NameRule> rules) {
  RuleMap map;
  for (const NameRule& rule : rules) map.emplace(rule.module, &rule);
  return map;
}

struct Module {
  const NameRule* rule = nullptr;
  std::optional<std::int64_t> expert;
  std::size_t expert_at = 0;  // where its number begins
  std::size_t expert_digits = 0;
};

// `module` as it stands in the table, or with {e} for its one number.
std::optional<Module> find_module(const RuleMap& rules, std::string_view module) {
  if (const auto found = rules.find(module); found != rules.end()) {
    return Module{found->second, std::nullopt, 0, 0};
  }
  std::size_t at = 0;
  for (const std::string_view segment : segments_of(module)) {
    if (const auto number = number_in(segment)) {
      std::string pattern(module);
      pattern.replace(at, segment.size(), "{e}");
      const auto found = rules.find(pattern);
      if (found == rules.end()) return std::nullopt;
      return Module{found->second, number, at, segment.size()};
    }
    at += segment.size() + 1;
  }
  return std::nullopt;
}

// `rest`: what follows the layer's number, or the root. Fills rule, leaf and expert; false when no
// row fits.
bool read_rest(const RuleMap& rules, std::string_view rest, std::string_view before,
               const std::string& pattern_before, StoredName& result) {
  const Leaf* best = nullptr;
  Module module;
  for (const Leaf& leaf : kLeaves) {
    if (!rest.ends_with(leaf.suffix) || rest.size() == leaf.suffix.size()) continue;
    if (best != nullptr && best->suffix.size() > leaf.suffix.size()) continue;
    const auto found = find_module(rules, rest.substr(0, rest.size() - leaf.suffix.size()));
    if (!found) continue;
    best = &leaf;
    module = *found;
  }
  if (best == nullptr) return false;
  result.kind = best->kind == LeafKind::kCompanion ? NameKind::kCompanion : NameKind::kParameter;
  result.rule = module.rule;
  result.leaf = best;
  result.expert = module.expert;
  result.module =
      std::string(before) + std::string(rest.substr(0, rest.size() - best->suffix.size()));
  std::string pattern(rest);
  if (module.expert) pattern.replace(module.expert_at, module.expert_digits, "{e}");
  result.pattern = pattern_before + pattern;
  return true;
}

// "model.layers.7.REST": where the layer's number stands.
struct LayerPlace {
  std::string_view root;
  std::int64_t layer = 0;
  std::size_t number_at = 0;
  std::size_t rest_at = 0;
};

std::optional<LayerPlace> find_layer(std::string_view name) {
  const std::vector<std::string_view> segments = segments_of(name);
  std::size_t at = 0;
  for (std::size_t i = 0; i + 2 < segments.size(); ++i) {
    const std::size_t number_at = at + segments[i].size() + 1;
    const auto number = number_in(segments[i + 1]);
    if (number && contains(kLayerContainers, segments[i])) {
      const std::string_view root = name.substr(0, at == 0 ? 0 : at - 1);
      if (!contains(kRoots, root)) return std::nullopt;
      return LayerPlace{root, *number, number_at, number_at + segments[i + 1].size() + 1};
    }
    at = number_at;
  }
  return std::nullopt;
}

bool read_outside(const std::string& name, StoredName& result) {
  static const RuleMap kRules = map_of(kOutside);
  for (const std::string_view root : kRoots) {
    std::string_view rest = name;
    std::size_t skipped = 0;
    if (!root.empty()) {
      if (!rest.starts_with(root) || rest.size() <= root.size() || rest[root.size()] != '.') {
        continue;
      }
      skipped = root.size() + 1;
      rest.remove_prefix(skipped);
    }
    const std::string before = name.substr(0, skipped);
    if (!read_rest(kRules, rest, before, before, result)) continue;
    result.in_encoder = contains(kEncoderRoots, root);
    return true;
  }
  return false;
}

// Whatever numbers a name has: one pattern for tensors of the same kind.
std::string numberless(std::string_view name) {
  std::string pattern;
  for (const std::string_view segment : segments_of(name)) {
    pattern += number_in(segment) ? std::string_view("{i}") : segment;
    pattern += '.';
  }
  pattern.pop_back();
  return pattern;
}

const BufferRule* find_buffer(std::string_view name) {
  for (const BufferRule& rule : kBuffers) {
    if (!name.ends_with(rule.end)) continue;
    const std::size_t before = name.size() - rule.end.size();
    if (before == 0 || name[before - 1] == '.') return &rule;
  }
  return nullptr;
}

}  // namespace

std::vector<Holding> holdings_of(const NameRule& rule) {
  std::vector<Holding> holdings(1);
  for (std::string_view text = rule.holds; !text.empty();) {
    const std::size_t end = text.find(' ');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word == "|") {
      holdings.emplace_back();
    } else if (word != "+") {
      holdings.back().is_copy = word.starts_with('=');
      if (holdings.back().is_copy) word.remove_prefix(1);
      holdings.back().parameters.emplace_back(word);
    }
  }
  return holdings;
}

StoredName read_name(const std::string& name) {
  static const RuleMap kRules = map_of(kInLayer);
  StoredName result;
  result.pattern = numberless(name);
  if (const BufferRule* buffer = find_buffer(name)) {
    result.kind = NameKind::kBuffer;
    result.comment = buffer->comment;
    return result;
  }
  const std::vector<std::string_view> segments = segments_of(name);
  if (std::any_of(segments.begin(), segments.end(),
                  [](std::string_view segment) { return contains(kMtpRoots, segment); })) {
    result.kind = NameKind::kMtp;
    return result;
  }
  const auto place = find_layer(name);
  if (!place) {
    read_outside(name, result);
    return result;
  }
  result.layer = place->layer;
  result.in_encoder = contains(kEncoderRoots, place->root);
  read_rest(kRules, std::string_view(name).substr(place->rest_at), name.substr(0, place->rest_at),
            name.substr(0, place->number_at) + "{i}.", result);
  return result;
}

bool marks_mtp_layer(const std::string& name) {
  const auto place = find_layer(name);
  if (!place) return false;
  const std::string_view rest = std::string_view(name).substr(place->rest_at);
  return contains(kMtpModules, segments_of(rest).front());
}

std::string fill_pattern(std::string pattern, std::optional<std::int64_t> layer,
                         std::optional<std::int64_t> expert) {
  const auto replace = [&](std::string_view mark, std::optional<std::int64_t> number) {
    const std::size_t at = pattern.find(mark);
    if (at != std::string::npos && number)
      pattern.replace(at, mark.size(), std::to_string(*number));
  };
  replace("{i}", layer);
  replace("{e}", expert);
  return pattern;
}

}  // namespace flopwise
