// Models that are published with a vision tower: the text model is in text_config.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"
#include "flopwise/model/families/vision.h"

namespace flopwise {

namespace {

// Sizes of a text model that its config within another leaves to its class.
struct TextSizes {
  std::string_view model_type;
  AbsentSizes absent;
};
constexpr TextSizes kTextSizes[] = {
    {"llama",
     {.d_model = 4096,
      .layers = 32,
      .heads = 32,
      .d_ff = 11008,
      .positions = 2048,
      .vocab = 32000} },
    {"mistral",
     {.d_model = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 8,
      .d_ff = 14336,
      .positions = 131072,
      .vocab = 32000} },
    {"qwen2",
     {.d_model = 4096,
      .layers = 32,
      .heads = 32,
      .kv_heads = 32,
      .d_ff = 22016,
      .positions = 32768,
      .vocab = 151936}},
};

// The row of the text model that the file names.
Family named_text_family(Config& config) {
  JsonFields text = config.fields.object(config.family.text_field);
  const std::string type = text.text_or("model_type", "llama");
  const Family* found = find_family(type);
  if (found != nullptr && found->variant != nullptr) {
    found = &found->variant(config.fields.raw(config.family.text_field));
  }
  if (found == nullptr || found->read != read_decoder) {
    throw UserError(fmt::format("{}: expected the model_type of a decoder, got {}",
                                text.where("model_type"), quoted(type)));
  }
  Family family = *found;
  for (const TextSizes& row : kTextSizes) {
    if (row.model_type == type) family.absent = row.absent;
  }
  return family;
}

// What stands in `architectures` of a config within another is nobody's class.
nlohmann::json without_classes(const nlohmann::json& object) {
  nlohmann::json copy = object;
  if (copy.is_object()) copy.erase("architectures");
  return copy;
}

}  // namespace

void read_text_config(Config& config, Family family, void (*finish)(Config& text)) {
  if (config.fields.has("vision_config") && config.family.tower == nullptr) {
    throw UserError(fmt::format(
        "{}: the vision tower of model_type '{}' is not counted yet, expected a config without "
        "this field",
        config.fields.where("vision_config"), config.family.model_type));
  }
  const std::string_view field = config.family.text_field;
  const Head head = read_head(config, config.family.heads());
  const std::string_view tie = "tie_word_embeddings";
  family.tied = config.fields.boolean_or(tie, family.tied);
  const nlohmann::json& object = config.fields.raw(field);
  const nlohmann::json own =
      config.family.text_type == "*" ? without_classes(object) : nlohmann::json(object);
  JsonFields fields = config.fields.object(field);
  if (config.family.text_type == "*") fields = JsonFields(own, fields.file(), std::string(field));
  Config text{own, fields, family, config.model, config.leaves_out};
  family.names = names_in_use(text);
  const std::string type = text.fields.text_or("model_type", std::string(family.model_type));
  if (type != family.model_type) {
    throw UserError(fmt::format("{}: expected {}, got {}", text.fields.where("model_type"),
                                family.model_type, quoted(type)));
  }
  if (config.fields.has(tie) && text.fields.boolean_or(tie, family.tied) != family.tied) {
    throw UserError(fmt::format("{}: expected {}, as {} beside {} says, got {}",
                                text.fields.where(tie), family.tied, tie, field, !family.tied));
  }
  read_decoder(text);
  if (finish != nullptr) finish(text);
  refuse_unread(text);
  config.model = text.model;
  if (head.kind != HeadKind::kLanguageModel) config.model.head = head;
}

void read_any_text(Config& config) {
  read_text_config(config, named_text_family(config), nullptr);
}

void read_text_beside(Config& config, const Family& row) {
  Family family = row;
  family.class_name = config.family.class_name;
  Config own{config.object, config.fields, family, config.model, config.leaves_out};
  family.names = names_in_use(own);
  read_decoder(own);
  config.fields = own.fields;
  config.model = own.model;
}

void add_vision_tower(Config& config) {
  Model& model = config.model;
  if (config.fields.has("vision_config")) {
    model.towers = {
        {"vision", read_tower(config, "vision_config", *config.family.tower, model.d_model)}
    };
  } else {
    model.assumptions.emplace_back("no vision_config: the language model alone");
  }
}

void read_with_tower(Config& config) {
  const std::string_view type = config.family.text_type;
  if (type == "*") {
    read_any_text(config);
  } else if (const Family& text = *find_family(type);
             config.fields.has("text_config") || !config.fields.has(text.names.d_model)) {
    read_text_config(config, text, nullptr);
  } else {
    read_text_beside(config, text);
  }
  add_vision_tower(config);
  if (config.family.join != nullptr) config.family.join(config);
}

}  // namespace flopwise
