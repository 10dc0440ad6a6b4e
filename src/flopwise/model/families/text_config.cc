// Models that are published with a vision tower: the text model is in text_config.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"
#include "flopwise/model/families/vision.h"

namespace flopwise {

void read_text_config(Config& config, Family family, void (*finish)(Config& text)) {
  if (config.fields.has("vision_config") && config.family.tower == nullptr) {
    throw UserError(fmt::format(
        "{}: the vision tower of model_type '{}' is not counted yet, expected a config without "
        "this field",
        config.fields.where("vision_config"), config.family.model_type));
  }
  const Head head = read_head(config, decoder_heads());
  const std::string_view tie = "tie_word_embeddings";
  family.tied = config.fields.boolean_or(tie, family.tied);
  const nlohmann::json& object = config.fields.raw("text_config");
  Config text{object, config.fields.object("text_config"), family, config.model, config.leaves_out};
  const std::string type = text.fields.text_or("model_type", std::string(family.model_type));
  if (type != family.model_type) {
    throw UserError(fmt::format("{}: expected {}, got {}", text.fields.where("model_type"),
                                family.model_type, quoted(type)));
  }
  if (config.fields.has(tie) && text.fields.boolean_or(tie, family.tied) != family.tied) {
    throw UserError(fmt::format("{}: expected {}, as {} beside text_config says, got {}",
                                text.fields.where(tie), family.tied, tie, !family.tied));
  }
  read_decoder(text);
  if (finish != nullptr) finish(text);
  refuse_unread(text);
  config.model = text.model;
  if (head.kind != HeadKind::kLanguageModel) config.model.head = head;
}

void read_with_tower(Config& config) {
  const Family& text = *find_family(config.family.text_type);
  if (config.fields.has("text_config") || !config.fields.has(text.names.d_model)) {
    read_text_config(config, text, nullptr);
  } else {
    Family row = text;
    row.class_name = config.family.class_name;
    Config own{config.object, config.fields, row, config.model, config.leaves_out};
    read_decoder(own);
    config.fields = own.fields;
    config.model = own.model;
  }
  Model& model = config.model;
  if (config.fields.has("vision_config")) {
    model.towers = {
        {"vision", read_tower(config, "vision_config", *config.family.tower, model.d_model)}
    };
  } else {
    model.assumptions.emplace_back("no vision_config: the language model alone");
  }
}

}  // namespace flopwise
