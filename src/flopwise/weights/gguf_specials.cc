#include "flopwise/weights/gguf_specials.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/weights/gguf_keys.h"

namespace flopwise {
namespace {

// The first decoder has one key head or all of them; the second has groups, and a norm more.
void add_falcon_groups(const GgufMetadata& metadata, nlohmann::json& config) {
  const std::int64_t heads = metadata.size("attention.head_count").value_or(0);
  const std::int64_t kv_heads = metadata.size("attention.head_count_kv").value_or(heads);
  config["num_kv_heads"] = kv_heads;
  config["multi_query"] = kv_heads == 1;
  config["new_decoder_architecture"] = kv_heads != 1 && kv_heads != heads;
}

void add_mpt_positions(const GgufMetadata& metadata, nlohmann::json& config) {
  const MetadataValue* slope = metadata.find_own("attention.max_alibi_bias");
  const auto* number = slope == nullptr ? nullptr : std::get_if<double>(&slope->value);
  config["attn_config"]["alibi"] = number != nullptr && *number > 0;
  config["learned_pos_emb"] = metadata.has_tensor("position_embd.weight");
  config["no_bias"] = !metadata.has_tensor("blk.0.attn_qkv.bias");
  if (config.contains("attn_config.clip_qkv")) {
    config["attn_config"]["clip_qkv"] = config["attn_config.clip_qkv"];
    config.erase("attn_config.clip_qkv");
  }
}

// Files whose keys are absorbed say the widths of the latent, and those of a head under other
// names.
void add_latent_attention(const GgufMetadata& metadata, const Family& family,
                          nlohmann::json& config) {
  const auto rope = metadata.size("rope.dimension_count");
  const auto key = metadata.size("attention.key_length_mla")
                       ? metadata.size("attention.key_length_mla")
                       : metadata.size("attention.key_length");
  const auto value = metadata.size("attention.value_length_mla")
                         ? metadata.size("attention.value_length_mla")
                         : metadata.size("attention.value_length");
  for (const auto& [name, said] : {
           std::pair("rope.dimension_count", rope),
           {"attention.key_length",   key  },
           {"attention.value_length", value}
  }) {
    if (!said) throw UserError(fmt::format("{}: missing", where_key(metadata.key(name))));
  }
  if (*key <= *rope) {
    throw UserError(fmt::format("{}: expected more than rope.dimension_count = {}, got {}",
                                where_key(metadata.key("attention.key_length")), *rope, *key));
  }
  config["qk_rope_head_dim"] = *rope;
  config["qk_nope_head_dim"] = *key - *rope;
  config["v_head_dim"] = *value;
  if (!metadata.size("attention.q_lora_rank")) config["q_lora_rank"] = nullptr;
  const bool is_sigmoid = family.router == RouterScore::kSigmoidThenTopK;
  const bool has_bias = !metadata.has_tensors() ? is_sigmoid : has_correction_bias(metadata);
  config["topk_method"] = has_bias ? "noaux_tc" : "greedy";
  if (const auto experts = metadata.size("expert_count")) {
    config.erase(std::string(family.names.experts));
    config["n_routed_experts"] = *experts;
  }
  // llama.cpp before the key: the weights of V3 are renormalised, those of V2 are not.
  if (!config.contains("norm_topk_prob")) config["norm_topk_prob"] = is_sigmoid;
}

// Files from before the keys: [E, F, D] of the experts, [F, D] of the shared one.
void add_expert_widths(const GgufMetadata& metadata, std::string_view architecture,
                       nlohmann::json& config, std::vector<std::string>& notes) {
  const std::pair<std::string_view, std::string_view> widths[] = {
      {"blk.0.ffn_up_exps.weight",  "moe_intermediate_size"          },
      {"blk.0.ffn_up_shexp.weight", "shared_expert_intermediate_size"},
  };
  if (architecture != "qwen2moe" && architecture != "qwen3moe") return;
  for (const auto& [name, field] : widths) {
    const StoredTensor* stored = metadata.tensor(name);
    if (stored == nullptr || stored->shape.size() < 2 || config.contains(field)) continue;
    config[std::string(field)] = stored->shape[stored->shape.size() - 2];
    notes.push_back(fmt::format("{}: from the shape of {}, no key says it", field, name));
  }
}

}  // namespace

bool has_correction_bias(const GgufMetadata& metadata) {
  return metadata.has_tensor_ending(".exp_probs_b.bias");
}

void add_what_only_some_have(const GgufMetadata& metadata, std::string_view architecture,
                             const Family& family, nlohmann::json& config) {
  if (architecture == "falcon") add_falcon_groups(metadata, config);
  if (architecture == "mpt") add_mpt_positions(metadata, config);
  if (architecture == "qwen3moe") config["norm_topk_prob"] = true;
  if (architecture == "deepseek2") add_latent_attention(metadata, family, config);
}

// llama.cpp unembeds with the token embedding where there is no output.weight, and adds the
// biases that are there.
void add_what_tensors_say(const GgufMetadata& metadata, std::string_view architecture,
                          const Family& family, nlohmann::json& config,
                          std::vector<std::string>& notes) {
  if (!metadata.has_tensors()) {
    notes.emplace_back("no tensors: head and biases are as the family has them by default");
    return;
  }
  const bool has_output = metadata.has_tensor("output.weight");
  if (metadata.has_tensor("token_embd.weight") && !has_output) {
    if (!family.tied) config["tie_word_embeddings"] = true;
    notes.emplace_back("the head is the token embedding: there is no output.weight");
  }
  if (family.tied && has_output) {
    notes.push_back(
        fmt::format("output.weight is a copy of the token embedding, to which the "
                    "head of every {} is tied",
                    family.model_type));
  }
  const auto says_bias = [](Bias rule) {
    return rule == Bias::kFieldOrFalse || rule == Bias::kFieldOrTrue ||
           rule == Bias::kQkvFieldOrFalse;
  };
  if (says_bias(family.attention_bias)) {
    config[std::string(family.attention_bias_field)] =
        metadata.has_tensor("blk.0.attn_q.bias") || metadata.has_tensor("blk.0.attn_qkv.bias");
  }
  if (says_bias(family.mlp_bias)) {
    config[std::string(family.mlp_bias_field)] = metadata.has_tensor("blk.0.ffn_up.bias");
  }
  for (const GgufFlagOfTensor& flag : kFlagsOfTensors) {
    if (flag.architecture == architecture && metadata.has_tensor(flag.tensor)) {
      config[std::string(flag.field)] = true;
    }
  }
  add_expert_widths(metadata, architecture, config, notes);
  if (family.model_type == "bert") {
    config["add_pooling_layer"] = false;  // llama.cpp pools without weights
    if (const MetadataValue* types = metadata.find("tokenizer.ggml.token_type_count")) {
      config["type_vocab_size"] = as_size(*types, "tokenizer.ggml.token_type_count");
    }
  }
}

}  // namespace flopwise
