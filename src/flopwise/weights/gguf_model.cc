#include "flopwise/weights/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/names.h"
#include "flopwise/model/families/family.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

// The architectures of llama.cpp (llama-arch.cpp) whose families are known, by their names there.
// `of_experts`: the model_type where expert_count says that there are some.
struct GgufArchitecture {
  std::string_view name;
  std::string_view model_type;
  std::string_view of_experts = "";
};
constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "mixtral"},
    {"gpt2",       "gpt2"        },
    {"gptneox",       "gpt_neox"},
    {"opt",       "opt"            },
    {"qwen2",       "qwen2"},
    {"qwen2moe",       "qwen2_moe"         },
    {"qwen3",       "qwen3"},
    {"qwen3moe",       "qwen3_moe"      },
    {"gemma",       "gemma" },
    {"gemma2",       "gemma2"     },
    {"gemma3",       "gemma3_text" },
    {"phi3",       "phi3"       },
    {"bert",       "bert" },
    {"phi2",       "phi"       },
    {"falcon",       "falcon"},
    {"bloom",       "bloom"        },
    {"mpt",       "mpt" },
    {"gptj",       "gptj"       },
    {"starcoder",       "gpt_bigcode"},
    {"starcoder2",       "starcoder2"      },
    {"stablelm",       "stablelm"},
    {"internlm2",       "internlm2"     },
    {"command-r",       "cohere"},
    {"cohere2",       "cohere2"       },
    {"olmo",       "olmo" },
    {"olmo2",       "olmo2"      },
    {"olmoe",       "olmoe" },
    {"granite",       "granite"    },
    {"granitemoe",       "granitemoe"},
    {"smollm3",       "smollm3"       },
    {"nemotron",       "nemotron"},
    {"deepseek2",       "deepseek_v2"      },
    {"gpt-oss",       "gpt_oss"},
    {"mamba",       "mamba"        },
};

// A key behind "llama." and the field it becomes, which the family may spell in its own way.
struct GgufField {
  std::string_view key;
  std::string_view field;                            // "" where `spelling` says it
  std::string_view FieldNames::*spelling = nullptr;  // "" in a family that has no such field
  bool is_required = false;
};
constexpr GgufField kFields[] = {
    {"block_count",             "",                         &FieldNames::layers, true},
    {"embedding_length",                     "",                                               &FieldNames::d_model, true},
    {"attention.head_count",   "",&FieldNames::heads, true},
    {"attention.head_count_kv",                         "",                              &FieldNames::kv_heads, false},
    {"attention.key_length",       "",                                                                   &FieldNames::head_dim, false},
    {"feed_forward_length", "", &FieldNames::d_ff, true},
    {"context_length",                    "",                                              &FieldNames::positions, false},
    {"expert_count",                 "",&FieldNames::experts, false},
    {"expert_used_count",                         "num_experts_per_tok"                              },
    {"expert_feed_forward_length",        "moe_intermediate_size"                             },
    {"expert_shared_feed_forward_length",          "shared_expert_intermediate_size"              },
    {"attention.sliding_window",                    "sliding_window"                                             },
};
// Of layers that carry a state and do not attend.
constexpr GgufField kMambaFields[] = {
    {"block_count",        "",                  &FieldNames::layers,  true},
    {"embedding_length",   "",                  &FieldNames::d_model, true},
    {"ssm.conv_kernel",    "conv_kernel",       nullptr,              true},
    {"ssm.inner_size",     "intermediate_size", nullptr,              true},
    {"ssm.state_size",     "state_size",        nullptr,              true},
    {"ssm.time_step_rank", "time_step_rank",    nullptr,              true},
};

// Keys of one architecture: flags, factors, and sizes that no other has.
struct GgufOwnField {
  std::string_view architecture;
  std::string_view key;
  std::string_view field;
};
constexpr GgufOwnField kOwnFields[] = {
    {"gptneox",    "use_parallel_residual",     "use_parallel_residual"  },
    {"stablelm",   "use_parallel_residual",     "use_parallel_residual"  },
    {"gemma2",     "attn_logit_softcapping",    "attn_logit_softcapping" },
    {"gemma2",     "final_logit_softcapping",   "final_logit_softcapping"},
    {"granite",    "attention.scale",           "attention_multiplier"   },
    {"granite",    "embedding_scale",           "embedding_multiplier"   },
    {"granite",    "residual_scale",            "residual_multiplier"    },
    {"granite",    "logit_scale",               "logits_scaling"         },
    {"granitemoe", "attention.scale",           "attention_multiplier"   },
    {"granitemoe", "embedding_scale",           "embedding_multiplier"   },
    {"granitemoe", "residual_scale",            "residual_multiplier"    },
    {"granitemoe", "logit_scale",               "logits_scaling"         },
    {"command-r",  "logit_scale",               "logit_scale"            },
    {"cohere2",    "logit_scale",               "logit_scale"            },
    {"olmo",       "attention.clamp_kqv",       "clip_qkv"               },
    {"mpt",        "attention.clamp_kqv",       "attn_config.clip_qkv"   },
    {"deepseek2",  "leading_dense_block_count", "first_k_dense_replace"  },
    {"deepseek2",  "attention.q_lora_rank",     "q_lora_rank"            },
    {"deepseek2",  "attention.kv_lora_rank",    "kv_lora_rank"           },
    {"deepseek2",  "expert_shared_count",       "n_shared_experts"       },
    {"deepseek2",  "expert_weights_scale",      "routed_scaling_factor"  },
    {"deepseek2",  "expert_weights_norm",       "norm_topk_prob"         },
};

// What a family may say by a flag, and a file by a tensor of its first layer.
struct GgufFlagOfTensor {
  std::string_view architecture;
  std::string_view tensor;
  std::string_view field;
};
constexpr GgufFlagOfTensor kFlagsOfTensors[] = {
    {"stablelm",  "blk.0.attn_q_norm.weight", "qk_layernorm"            },
    {"command-r", "blk.0.attn_q_norm.weight", "use_qk_norm"             },
    {"falcon",    "blk.0.attn_norm_2.weight", "new_decoder_architecture"},
};

class GgufReader {
 public:
  explicit GgufReader(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {
    for (const StoredTensor& tensor : checkpoint.tensors) tensors_.emplace(tensor.name, &tensor);
  }

  nlohmann::json config() {
    const GgufArchitecture& row = architecture();
    architecture_ = row.name;
    prefix_ = std::string(row.name) + ".";
    const std::string_view model_type = model_type_of(row);
    const Family* family = find_family(model_type);
    if (family == nullptr) {
      throw UserError(fmt::format("key 'general.architecture': {} is model_type '{}', known: {}",
                                  quoted(row.name), model_type,
                                  fmt::join(known_model_types(), " ")));
    }
    config_ = {
        {"model_type", model_type}
    };
    const bool attends = row.name != "mamba";
    const std::span<const GgufField> fields =
        attends ? std::span<const GgufField>(kFields) : std::span<const GgufField>(kMambaFields);
    for (const GgufField& field : fields) add(field, *family);
    for (const GgufOwnField& own : kOwnFields) {
      if (own.architecture == row.name) add_own(own);
    }
    add_vocabulary();
    if (attends) add_rotary_share(*family);
    add_what_only_some_have(*family);
    add_what_tensors_say(*family);
    return std::move(config_);
  }

  // What was taken from the tensors, since no key says it; after config().
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  const GgufArchitecture& architecture() const {
    const MetadataValue* value = checkpoint_.find_metadata("general.architecture");
    const auto* name = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    if (name == nullptr) {
      throw UserError("key 'general.architecture': expected a text, since it names the family");
    }
    const auto row =
        std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                     [&](const GgufArchitecture& known) { return known.name == *name; });
    if (row != std::end(kArchitectures)) return *row;
    std::vector<std::string> names;
    for (const GgufArchitecture& known : kArchitectures) names.emplace_back(known.name);
    throw UserError(fmt::format("key 'general.architecture': unknown {}, nearest: {}",
                                quoted(*name), fmt::join(nearest_names(*name, names), ", ")));
  }

  // llama.cpp runs several families as one architecture; what tells them apart is a key.
  std::string_view model_type_of(const GgufArchitecture& row) const {
    if (row.name == "deepseek2") return routes_by_sigmoid() ? "deepseek_v3" : "deepseek_v2";
    if (!row.of_experts.empty() && size("expert_count").value_or(0) > 0) return row.of_experts;
    const bool is_windowed = size("attention.sliding_window").value_or(0) > 0;
    return row.name == "llama" && is_windowed ? "mistral" : row.model_type;
  }

  // LLAMA_EXPERT_GATING_FUNC_TYPE_SIGMOID; files from before the key have the bias or have it not.
  bool routes_by_sigmoid() const {
    constexpr std::int64_t kSigmoid = 2;
    if (const auto said = size("expert_gating_func")) return *said == kSigmoid;
    return has_correction_bias();
  }
  bool has_correction_bias() const {
    return std::any_of(tensors_.begin(), tensors_.end(), [](const auto& named) {
      return named.first.ends_with(".exp_probs_b.bias");
    });
  }

  static std::string where(std::string_view key) { return fmt::format("key '{}'", key); }

  static std::int64_t as_size(const MetadataValue& value, const std::string& key) {
    const Count* count = std::get_if<Count>(&value.value);
    if (count != nullptr && *count >= 0 && *count <= INT64_MAX) {
      return static_cast<std::int64_t>(count->value());
    }
    throw UserError(
        fmt::format("{}: expected a whole number, got a {}", where(key),
                    count == nullptr ? std::string(value.type) : "number of " + count->str()));
  }

  // A size said for every layer is one where they all agree.
  std::optional<std::int64_t> size(std::string_view key) const {
    const std::string full = prefix_ + std::string(key);
    const MetadataValue* value = checkpoint_.find_metadata(full);
    if (value == nullptr) return std::nullopt;
    const auto* array = std::get_if<MetadataArray>(&value->value);
    if (array == nullptr) return as_size(*value, full);
    if (array->elements.empty()) {
      throw UserError(fmt::format("{}: expected a size, got an empty array", where(full)));
    }
    const std::int64_t first = as_size(array->elements.front(), full);
    for (std::size_t i = 1; i < array->elements.size(); ++i) {
      const std::int64_t other = as_size(array->elements[i], full);
      if (other != first) {
        throw UserError(fmt::format("{}: expected {} for every layer, got {} for layer {}",
                                    where(full), first, other, i));
      }
    }
    return first;
  }

  // "n_embed|hidden_size": either name will do.
  void set(std::string_view name, std::int64_t value) {
    config_[std::string(name.substr(0, name.find('|')))] = value;
  }

  void add(const GgufField& field, const Family& family) {
    const auto value = size(field.key);
    const std::string key = prefix_ + std::string(field.key);
    if (!value) {
      if (field.is_required) throw UserError(fmt::format("{}: missing", where(key)));
      return;
    }
    if ((field.key.starts_with("expert_") || field.key == "attention.sliding_window") &&
        *value == 0) {
      return;
    }
    // Of latent attention the parts of a head are said, and every head has its own keys.
    const bool is_of_heads =
        field.spelling == &FieldNames::kv_heads || field.spelling == &FieldNames::head_dim;
    if (family.latent && is_of_heads) return;
    if (architecture_ == "falcon" && field.spelling == &FieldNames::kv_heads) return;
    const std::string_view name =
        field.spelling == nullptr ? field.field : family.names.*field.spelling;
    // Where every layer has experts their width is the family's one width.
    if (field.key == "expert_feed_forward_length" && family.moe == MoeRule::kAll) {
      return set(family.names.d_ff, *value);
    }
    if (!name.empty()) return set(name, *value);
    check_usual(field, family, *value);
  }

  // A size that no field of the family says, since it follows from others.
  void check_usual(const GgufField& field, const Family& family, std::int64_t value) {
    const std::int64_t heads = size("attention.head_count").value_or(0);
    const std::int64_t width = size("embedding_length").value_or(0);
    if (field.spelling == &FieldNames::positions) return;
    if (field.spelling == &FieldNames::d_ff && !family.d_ff_ratio_field.empty() && width > 0 &&
        value % width == 0) {
      return set(family.d_ff_ratio_field, value / width);
    }
    const std::int64_t expected = field.spelling == &FieldNames::kv_heads ? heads
                                  : field.spelling == &FieldNames::d_ff
                                      ? family.d_ff_per_d_model * width
                                  : heads == 0 ? 0
                                               : width / heads;
    if (value == expected) return;
    throw UserError(fmt::format("{}: expected {}, as every {} has, got {}",
                                where(prefix_ + std::string(field.key)), expected,
                                family.model_type, value));
  }

  void add_own(const GgufOwnField& own) {
    const MetadataValue* value = checkpoint_.find_metadata(prefix_ + std::string(own.key));
    if (value == nullptr) return;
    const std::string field(own.field);
    if (const auto* flag = std::get_if<bool>(&value->value)) {
      config_[field] = *flag;
    } else if (const auto* number = std::get_if<double>(&value->value)) {
      config_[field] = *number;
    } else {
      config_[field] = as_size(*value, prefix_ + std::string(own.key));
    }
  }

  // As llama.cpp takes it: a token for every row of the embedding.
  void add_vocabulary() {
    const MetadataValue* tokens = checkpoint_.find_metadata("tokenizer.ggml.tokens");
    const auto* array = tokens == nullptr ? nullptr : std::get_if<MetadataArray>(&tokens->value);
    const StoredTensor* embedding = tensor("token_embd.weight");
    if (const auto said = size("vocab_size")) {
      config_["vocab_size"] = *said;
    } else if (array != nullptr) {
      config_["vocab_size"] = static_cast<std::int64_t>(array->length.value());
    } else if (embedding != nullptr && embedding->shape.size() == 2) {
      config_["vocab_size"] = embedding->shape.front();
      notes_.emplace_back("vocabulary: the rows of token_embd.weight, no key says it");
    } else {
      throw UserError(
          fmt::format("{}: missing, and so are tokenizer.ggml.tokens and "
                      "token_embd.weight",
                      where(prefix_ + "vocab_size")));
    }
  }

  std::int64_t head_dim() const {
    const std::int64_t heads = size("attention.head_count").value_or(0);
    return size("attention.key_length")
        .value_or(heads == 0 ? 0 : size("embedding_length").value_or(0) / heads);
  }

  void add_rotary_share(const Family& family) {
    const auto rotated = size("rope.dimension_count");
    if (!rotated || family.position != PositionKind::kRotary || family.latent) return;
    const std::int64_t whole = head_dim();
    if (whole == 0) return;
    if (family.rotary_dim > 0) {
      config_["rotary_dim"] = *rotated;
    } else if (family.reads_rotary_share || *rotated != whole) {
      config_["partial_rotary_factor"] = static_cast<double>(*rotated) / static_cast<double>(whole);
    }
  }

  void add_what_only_some_have(const Family& family) {
    if (architecture_ == "falcon") add_falcon_groups();
    if (architecture_ == "mpt") add_mpt_positions();
    if (architecture_ == "qwen3moe") config_["norm_topk_prob"] = true;
    if (architecture_ == "deepseek2") add_latent_attention(family);
  }

  // The first decoder has one key head or all of them; the second has groups, and a norm more.
  void add_falcon_groups() {
    const std::int64_t heads = size("attention.head_count").value_or(0);
    const std::int64_t kv_heads = size("attention.head_count_kv").value_or(heads);
    config_["num_kv_heads"] = kv_heads;
    config_["multi_query"] = kv_heads == 1;
    config_["new_decoder_architecture"] = kv_heads != 1 && kv_heads != heads;
  }

  void add_mpt_positions() {
    const MetadataValue* slope = checkpoint_.find_metadata(prefix_ + "attention.max_alibi_bias");
    const auto* number = slope == nullptr ? nullptr : std::get_if<double>(&slope->value);
    config_["attn_config"]["alibi"] = number != nullptr && *number > 0;
    config_["learned_pos_emb"] = has_tensor("position_embd.weight");
    config_["no_bias"] = !has_tensor("blk.0.attn_qkv.bias");
    if (config_.contains("attn_config.clip_qkv")) {
      config_["attn_config"]["clip_qkv"] = config_["attn_config.clip_qkv"];
      config_.erase("attn_config.clip_qkv");
    }
  }

  // Files whose keys are absorbed say the widths of the latent, and those of a head under other
  // names.
  void add_latent_attention(const Family& family) {
    const auto rope = size("rope.dimension_count");
    const auto key = size("attention.key_length_mla") ? size("attention.key_length_mla")
                                                      : size("attention.key_length");
    const auto value = size("attention.value_length_mla") ? size("attention.value_length_mla")
                                                          : size("attention.value_length");
    for (const auto& [name, said] : {
             std::pair("rope.dimension_count", rope),
             {"attention.key_length",   key  },
             {"attention.value_length", value}
    }) {
      if (!said) throw UserError(fmt::format("{}: missing", where(prefix_ + name)));
    }
    if (*key <= *rope) {
      throw UserError(fmt::format("{}: expected more than rope.dimension_count = {}, got {}",
                                  where(prefix_ + "attention.key_length"), *rope, *key));
    }
    config_["qk_rope_head_dim"] = *rope;
    config_["qk_nope_head_dim"] = *key - *rope;
    config_["v_head_dim"] = *value;
    if (!size("attention.q_lora_rank")) config_["q_lora_rank"] = nullptr;
    const bool is_sigmoid = family.router == RouterScore::kSigmoidThenTopK;
    const bool has_bias = tensors_.empty() ? is_sigmoid : has_correction_bias();
    config_["topk_method"] = has_bias ? "noaux_tc" : "greedy";
    if (const auto experts = size("expert_count")) {
      config_.erase(std::string(family.names.experts));
      config_["n_routed_experts"] = *experts;
    }
    // llama.cpp before the key: the weights of V3 are renormalised, those of V2 are not.
    if (!config_.contains("norm_topk_prob")) config_["norm_topk_prob"] = is_sigmoid;
  }

  const StoredTensor* tensor(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : found->second;
  }
  bool has_tensor(std::string_view name) const { return tensor(name) != nullptr; }

  // llama.cpp unembeds with the token embedding where there is no output.weight, and adds the
  // biases that are there.
  void add_what_tensors_say(const Family& family) {
    if (tensors_.empty()) {
      notes_.emplace_back("no tensors: head and biases are as the family has them by default");
      return;
    }
    const bool has_output = has_tensor("output.weight");
    if (has_tensor("token_embd.weight") && !has_output) {
      if (!family.tied) config_["tie_word_embeddings"] = true;
      notes_.emplace_back("the head is the token embedding: there is no output.weight");
    }
    if (family.tied && has_output) {
      notes_.push_back(
          fmt::format("output.weight is a copy of the token embedding, to which the "
                      "head of every {} is tied",
                      family.model_type));
    }
    const auto says_bias = [](Bias rule) {
      return rule == Bias::kFieldOrFalse || rule == Bias::kFieldOrTrue ||
             rule == Bias::kQkvFieldOrFalse;
    };
    if (says_bias(family.attention_bias)) {
      config_[std::string(family.attention_bias_field)] =
          has_tensor("blk.0.attn_q.bias") || has_tensor("blk.0.attn_qkv.bias");
    }
    if (says_bias(family.mlp_bias)) {
      config_[std::string(family.mlp_bias_field)] = has_tensor("blk.0.ffn_up.bias");
    }
    for (const GgufFlagOfTensor& flag : kFlagsOfTensors) {
      if (flag.architecture == architecture_ && has_tensor(flag.tensor)) {
        config_[std::string(flag.field)] = true;
      }
    }
    add_expert_widths();
    if (family.model_type == "bert") {
      config_["add_pooling_layer"] = false;  // llama.cpp pools without weights
      if (const MetadataValue* types =
              checkpoint_.find_metadata("tokenizer.ggml.token_type_count")) {
        config_["type_vocab_size"] = as_size(*types, "tokenizer.ggml.token_type_count");
      }
    }
  }

  // Files from before the keys: [E, F, D] of the experts, [F, D] of the shared one.
  void add_expert_widths() {
    const std::pair<std::string_view, std::string_view> widths[] = {
        {"blk.0.ffn_up_exps.weight",  "moe_intermediate_size"          },
        {"blk.0.ffn_up_shexp.weight", "shared_expert_intermediate_size"},
    };
    if (architecture_ != "qwen2moe" && architecture_ != "qwen3moe") return;
    for (const auto& [name, field] : widths) {
      const StoredTensor* stored = tensor(name);
      if (stored == nullptr || stored->shape.size() < 2 || config_.contains(field)) continue;
      config_[std::string(field)] = stored->shape[stored->shape.size() - 2];
      notes_.push_back(fmt::format("{}: from the shape of {}, no key says it", field, name));
    }
  }

  const Checkpoint& checkpoint_;
  std::map<std::string_view, const StoredTensor*> tensors_;
  std::string_view architecture_;
  std::string prefix_;  // "llama."
  nlohmann::json config_;
  std::vector<std::string> notes_;
};

bool is_gguf(const std::filesystem::path& path) {
  if (path.extension() == ".gguf") return true;
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, sizeof magic) && std::string_view(magic, sizeof magic) == "GGUF";
}

// What names tensors and says nothing of the model; its config.json lies beside it.
bool is_weights_file(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json") ||
         name.ends_with(".bin.index.json");
}

// A folder of which the only thing that describes a model is a GGUF file.
bool is_gguf_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder / "config.json", error)) return false;
  const std::filesystem::directory_iterator entries(folder, error);
  return !error && std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().extension() == ".gguf";
  });
}

}  // namespace

nlohmann::json config_of_gguf(const Checkpoint& checkpoint) {
  return GgufReader(checkpoint).config();
}

Model model_of_gguf(const Checkpoint& checkpoint, const std::string& name) {
  GgufReader reader(checkpoint);
  const nlohmann::json config = in_context(one_line(name), [&] { return reader.config(); });
  Model model = model_from_config(config, name);
  model.assumptions.emplace_back("the model is what the metadata of the GGUF file says");
  for (std::string& note : reader.take_notes()) model.assumptions.push_back(std::move(note));
  return model;
}

Model read_any_model(const std::string& text, std::istream& standard_input, const std::string& as) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path(text);
  const bool is_folder = fs::is_directory(path, error);
  const bool is_file = fs::is_regular_file(path, error);
  if (is_file && is_weights_file(text)) {
    const fs::path config = path.parent_path() / "config.json";
    if (fs::exists(config, error)) return read_model(config.string(), standard_input, as);
    throw UserError(fmt::format("{}: names tensors and no model, expected a config.json beside it",
                                one_line(text)));
  }
  if ((is_folder && is_gguf_folder(path)) || (is_file && is_gguf(path))) {
    if (!as.empty()) {
      throw UserError(
          fmt::format("--as {}: expected a config.json, got the GGUF file {}", as, quoted(text)));
    }
    return model_of_gguf(read_checkpoint(text), text);
  }
  return read_model(text, standard_input, as);
}

}  // namespace flopwise
