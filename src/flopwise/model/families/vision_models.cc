// ViT and CLIP: models of images alone, and of images beside texts.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"
#include "flopwise/model/families/vision_rows.h"

namespace flopwise {
namespace {

// The text side: causal layers with layer norms and biases, of which the last position counts.
Model read_clip_text(Config& config, std::int64_t out) {
  Model model;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, "hidden_size", 512);
  model.vocab = read_size(config, "vocab_size", 49408);
  model.context = model.embedding.positions = read_size(config, "max_position_embeddings", 77);
  Layer layer;
  layer.norm = NormKind::kLayer;
  Attention& attention = *layer.attention;
  attention.heads = attention.kv_heads = read_size(config, "num_attention_heads", 8);
  if (model.d_model % attention.heads != 0) {
    throw UserError(fmt::format("{}: expected a multiple of num_attention_heads = {}, got {}",
                                config.fields.where("hidden_size"), attention.heads,
                                model.d_model));
  }
  attention.head_dim = attention.value_dim = model.d_model / attention.heads;
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = true;
  attention.position = PositionKind::kNone;
  Mlp mlp;
  mlp.gated = false;
  mlp.d_ff = read_size(config, "intermediate_size", 2048);
  mlp.activation = read_activation(config, "hidden_act", "quick_gelu");
  mlp.up_bias = mlp.down_bias = true;
  layer.feed_forward = mlp;
  Stack stack;
  stack.final_norm_kind = NormKind::kLayer;
  stack.groups = {
      {"layer", layer, read_size(config, "num_hidden_layers", 12)}
  };
  model.encoder = stack;
  model.head.kind = HeadKind::kProjector;
  model.head.projector.position = Projector::Position::kLast;
  model.head.projector.out = out;
  model.head.projector.scalars = 1;
  return model;
}

}  // namespace

const std::vector<HeadClass>& vit_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                  HeadKind::kPooler     },
      {"ForImageClassification", HeadKind::kFirstLabels},
  };
  return kHeads;
}

void read_vit(Config& config) {
  const Head head = read_head(config, vit_heads());
  Model model = read_vision_layers(config, kVitLayers);
  model.name = config.model.name;
  model.source = config.model.source;
  model.assumptions = config.model.assumptions;
  model.head = head;
  config.model = model;
}

void read_clip(Config& config) {
  const std::int64_t out = read_size(config, "projection_dim", 512);
  const std::string suffix = class_suffix(config);
  if (!suffix.empty() && suffix != "Model") {
    throw UserError(fmt::format("{}: expected CLIPModel, got {}",
                                config.fields.where("architectures"), quoted("CLIP" + suffix)));
  }
  const nlohmann::json& object = config.fields.raw("text_config");
  if (object.is_null()) {
    throw UserError(
        fmt::format("{}: missing, expected an object", config.fields.where("text_config")));
  }
  Config text{object, config.fields.object("text_config"), config.family, {}};
  Model model = read_clip_text(text, out);
  text.fields.integer_or("projection_dim", out, 1, kMaxAxisSize);
  text.fields.text_or("model_type", "");
  model.name = config.model.name;
  model.source = config.model.source;
  model.family = config.model.family;
  model.assumptions = config.model.assumptions;
  for (const std::string& line : text.model.assumptions) {
    model.assumptions.push_back("text_config: " + line);
  }
  text.model = model;
  refuse_unread(text);
  config.model = model;
  if (!config.fields.has("vision_config")) {
    throw UserError(
        fmt::format("{}: missing, expected an object", config.fields.where("vision_config")));
  }
  config.model.towers = {
      {"vision", read_tower(config, "vision_config", kClipTower, out)}
  };
}

}  // namespace flopwise
