// Persimmon, and Fuyu: the same, whose patches one matrix makes positions of, without a tower.
#include <fmt/format.h>

#include <memory>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// text_config says again what stands beside it, if it says more than its model_type.
void read_fuyu_text_config(Config& config) {
  if (!config.fields.has("text_config")) return;
  JsonFields text = config.fields.object("text_config");
  if (text.text_or("model_type", "persimmon") != "persimmon") {
    throw UserError(fmt::format("{}: expected persimmon, got {}", text.where("model_type"),
                                shown(text.raw("model_type"))));
  }
  for (const std::string& name : text.unread()) {
    const nlohmann::json& value = text.raw(name);
    const auto beside = config.object.find(name);
    if (beside == config.object.end() || *beside == value) continue;
    throw UserError(fmt::format("{}: expected {}, as {} beside text_config says, got {}",
                                text.where(name), shown(*beside), name, shown(value)));
  }
}

}  // namespace

void adjust_persimmon(Config& config, Layer& layer, Stack& /*stack*/) {
  if (!config.fields.boolean_or("qk_layernorm", true)) return;
  layer.attention->qk_norm = QkNorm::kPerHead;
  layer.attention->qk_norm_kind = NormKind::kLayer;
}

void adjust_fuyu(Config& config, Layer& layer, Stack& stack) {
  adjust_persimmon(config, layer, stack);
  read_fuyu_text_config(config);
  constexpr std::int64_t kMostAcross = 65536;
  const std::int64_t across = config.fields.integer_or("patch_size", 30, 1, kMostAcross);
  const std::int64_t image = config.fields.integer_or("image_size", 300, across, kMostAcross);
  const std::int64_t channels = config.fields.integer_or("num_channels", 3, 1, kMostAcross);
  Model patches;
  patches.name = config.model.name;
  patches.family = config.family.model_type;
  patches.source = config.model.source;
  patches.architecture = Architecture::kEncoder;
  patches.d_model = config.model.d_model;
  patches.context = (image / across) * (image / across);
  patches.embedding.patch_values = across * across * channels;
  patches.embedding.patch_bias = true;
  patches.head.kind = HeadKind::kNone;
  patches.encoder = Stack{{}, false, layer.norm};
  config.model.towers = {
      {"vision", std::make_shared<const Model>(patches)}
  };
}

}  // namespace flopwise
