#include "flopwise/weights/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

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
    {"mamba",       "mamba"          },
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

class GgufReader {
 public:
  explicit GgufReader(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {
    for (const StoredTensor& tensor : checkpoint.tensors) tensors_.insert(tensor.name);
  }

  nlohmann::json config() {
    const GgufArchitecture& row = architecture();
    prefix_ = std::string(row.name) + ".";
    const auto experts = size("expert_count");
    const bool has_experts = experts && *experts > 0;
    const std::string_view model_type =
        has_experts && !row.of_experts.empty() ? row.of_experts : row.model_type;
    const Family* family = find_family(model_type);
    if (family == nullptr) {
      throw UserError(fmt::format("key 'general.architecture': {} is model_type '{}', known: {}",
                                  quoted(row.name), model_type,
                                  fmt::join(known_model_types(), " ")));
    }
    nlohmann::json config = {
        {"model_type", model_type}
    };
    for (const GgufField& field : kFields) add(field, *family, config);
    add_vocabulary(config);
    add_rotary_share(*family, config);
    add_what_tensors_say(*family, config);
    return config;
  }

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

  void add(const GgufField& field, const Family& family, nlohmann::json& config) const {
    const auto value = size(field.key);
    const std::string key = prefix_ + std::string(field.key);
    if (!value) {
      if (field.is_required) throw UserError(fmt::format("{}: missing", where(key)));
      return;
    }
    if (field.key.starts_with("expert_") && *value == 0) return;
    const std::string_view name =
        field.spelling == nullptr ? field.field : family.names.*field.spelling;
    if (!name.empty()) {
      config[std::string(name)] = *value;
      return;
    }
    // The family has as many key heads as query heads, and D/N elements in each.
    const std::int64_t heads = size("attention.head_count").value_or(0);
    const std::int64_t width = size("embedding_length").value_or(0);
    const std::int64_t expected = field.spelling == &FieldNames::kv_heads ? heads
                                  : heads == 0                            ? 0
                                                                          : width / heads;
    if (*value == expected) return;
    throw UserError(fmt::format("{}: expected {}, as every {} has, got {}", where(key), expected,
                                family.model_type, *value));
  }

  // As llama.cpp takes it: a token for every row of the embedding.
  void add_vocabulary(nlohmann::json& config) const {
    const MetadataValue* tokens = checkpoint_.find_metadata("tokenizer.ggml.tokens");
    const auto* array = tokens == nullptr ? nullptr : std::get_if<MetadataArray>(&tokens->value);
    if (const auto said = size("vocab_size")) {
      config["vocab_size"] = *said;
    } else if (array != nullptr) {
      config["vocab_size"] = static_cast<std::int64_t>(array->length.value());
    } else {
      throw UserError(fmt::format("{}: missing, and so is tokenizer.ggml.tokens",
                                  where(prefix_ + "vocab_size")));
    }
  }

  void add_rotary_share(const Family& family, nlohmann::json& config) const {
    const auto rotated = size("rope.dimension_count");
    if (!rotated || family.position != PositionKind::kRotary || !family.reads_rotary_share) return;
    const std::int64_t heads = size("attention.head_count").value_or(0);
    if (heads == 0) return;
    const std::int64_t head_dim =
        size("attention.key_length").value_or(size("embedding_length").value_or(0) / heads);
    if (head_dim == 0) return;
    config["partial_rotary_factor"] = static_cast<double>(*rotated) / static_cast<double>(head_dim);
  }

  bool has_tensor(const std::string& name) const { return tensors_.count(name) != 0; }

  // llama.cpp unembeds with the token embedding where there is no output.weight, and adds the
  // biases that are there.
  void add_what_tensors_say(const Family& family, nlohmann::json& config) const {
    if (tensors_.empty()) return;
    if (!family.tied && has_tensor("token_embd.weight") && !has_tensor("output.weight")) {
      config["tie_word_embeddings"] = true;
    }
    const auto says_bias = [](Bias rule) {
      return rule == Bias::kFieldOrFalse || rule == Bias::kFieldOrTrue;
    };
    if (says_bias(family.attention_bias)) {
      config["attention_bias"] =
          has_tensor("blk.0.attn_q.bias") || has_tensor("blk.0.attn_qkv.bias");
    }
    if (says_bias(family.mlp_bias)) config["mlp_bias"] = has_tensor("blk.0.ffn_up.bias");
    if (family.model_type == "bert") {
      config["add_pooling_layer"] = false;  // llama.cpp pools without weights
      if (const MetadataValue* types =
              checkpoint_.find_metadata("tokenizer.ggml.token_type_count")) {
        config["type_vocab_size"] = as_size(*types, "tokenizer.ggml.token_type_count");
      }
    }
  }

  const Checkpoint& checkpoint_;
  std::set<std::string> tensors_;
  std::string prefix_;  // "llama."
};

}  // namespace

nlohmann::json config_of_gguf(const Checkpoint& checkpoint) {
  return GgufReader(checkpoint).config();
}

Model model_of_gguf(const Checkpoint& checkpoint, const std::string& name) {
  Model model = model_from_config(
      in_context(one_line(name), [&] { return config_of_gguf(checkpoint); }), name);
  model.assumptions.emplace_back("the model is what the metadata of the GGUF file says");
  return model;
}

}  // namespace flopwise
