#include "flopwise/weights/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
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
#include "flopwise/weights/gguf_keys.h"
#include "flopwise/weights/gguf_metadata.h"
#include "flopwise/weights/gguf_specials.h"

namespace flopwise {
namespace {

class GgufReader {
 public:
  explicit GgufReader(const Checkpoint& checkpoint) : metadata_(checkpoint) {}

  nlohmann::json config() {
    const GgufArchitecture& row = architecture();
    architecture_ = row.name;
    metadata_.set_architecture(row.name);
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
    add_what_only_some_have(metadata_, architecture_, *family, config_);
    add_what_tensors_say(metadata_, architecture_, *family, config_, notes_);
    return std::move(config_);
  }

  // What was taken from the tensors, since no key says it; after config().
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  const GgufArchitecture& architecture() const {
    const MetadataValue* value = metadata_.find("general.architecture");
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
    if (!row.of_experts.empty() && metadata_.size("expert_count").value_or(0) > 0)
      return row.of_experts;
    const bool is_windowed = metadata_.size("attention.sliding_window").value_or(0) > 0;
    return row.name == "llama" && is_windowed ? "mistral" : row.model_type;
  }

  // LLAMA_EXPERT_GATING_FUNC_TYPE_SIGMOID; files from before the key have the bias or have it not.
  bool routes_by_sigmoid() const {
    constexpr std::int64_t kSigmoid = 2;
    if (const auto said = metadata_.size("expert_gating_func")) return *said == kSigmoid;
    return has_correction_bias(metadata_);
  }
  // "n_embed|hidden_size": either name will do.
  void set(std::string_view name, std::int64_t value) {
    config_[std::string(name.substr(0, name.find('|')))] = value;
  }

  void add(const GgufField& field, const Family& family) {
    const auto value = metadata_.size(field.key);
    const std::string key = metadata_.key(field.key);
    if (!value) {
      if (field.is_required) throw UserError(fmt::format("{}: missing", where_key(key)));
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
    const std::int64_t heads = metadata_.size("attention.head_count").value_or(0);
    const std::int64_t width = metadata_.size("embedding_length").value_or(0);
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
                                where_key(metadata_.key(field.key)), expected, family.model_type,
                                value));
  }

  void add_own(const GgufOwnField& own) {
    const MetadataValue* value = metadata_.find_own(own.key);
    if (value == nullptr) return;
    const std::string field(own.field);
    if (const auto* flag = std::get_if<bool>(&value->value)) {
      config_[field] = *flag;
    } else if (const auto* number = std::get_if<double>(&value->value)) {
      config_[field] = *number;
    } else {
      config_[field] = as_size(*value, metadata_.key(own.key));
    }
  }

  // As llama.cpp takes it: a token for every row of the embedding.
  void add_vocabulary() {
    const MetadataValue* tokens = metadata_.find("tokenizer.ggml.tokens");
    const auto* array = tokens == nullptr ? nullptr : std::get_if<MetadataArray>(&tokens->value);
    const StoredTensor* embedding = metadata_.tensor("token_embd.weight");
    if (const auto said = metadata_.size("vocab_size")) {
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
                      where_key(metadata_.key("vocab_size"))));
    }
  }

  std::int64_t head_dim() const {
    const std::int64_t heads = metadata_.size("attention.head_count").value_or(0);
    return metadata_.size("attention.key_length")
        .value_or(heads == 0 ? 0 : metadata_.size("embedding_length").value_or(0) / heads);
  }

  void add_rotary_share(const Family& family) {
    const auto rotated = metadata_.size("rope.dimension_count");
    if (!rotated || family.position != PositionKind::kRotary || family.latent) return;
    const std::int64_t whole = head_dim();
    if (whole == 0) return;
    if (family.rotary_dim > 0) {
      config_["rotary_dim"] = *rotated;
    } else if (family.reads_rotary_share || *rotated != whole) {
      config_["partial_rotary_factor"] = static_cast<double>(*rotated) / static_cast<double>(whole);
    }
  }

  GgufMetadata metadata_;
  std::string_view architecture_;
  nlohmann::json config_;
  std::vector<std::string> notes_;
};

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

}  // namespace flopwise
