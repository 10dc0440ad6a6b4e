// Models that hear: a Whisper encoder beside a text model. And those whose source is an image.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"
#include "flopwise/model/families/vision_rows.h"

namespace flopwise {
namespace {

// What tells the two towers of sound apart.
struct AudioRow {
  bool learned_positions = true;  // else sines and cosines
  std::int64_t unused_rows = 0;
  IgnoredFields ignored = {};
};
constexpr AudioRow kQwen2AudioRow = {};
constexpr AudioRow kOmniRow = {
    .learned_positions = false,
    .unused_rows = 2,
};

Layer read_audio_layer(Config& config, std::int64_t d_model) {
  Layer layer;
  layer.norm = NormKind::kLayer;
  Attention& attention = *layer.attention;
  const std::string_view heads = "encoder_attention_heads";
  attention.heads = attention.kv_heads = read_size(config, heads, 20);
  if (d_model % attention.heads != 0) {
    throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                                config.fields.where("d_model"), heads, attention.heads, d_model));
  }
  attention.head_dim = attention.value_dim = d_model / attention.heads;
  attention.q_bias = attention.v_bias = attention.o_bias = true;
  attention.position = PositionKind::kNone;
  attention.mask.kind = MaskKind::kFull;
  Mlp mlp;
  mlp.gated = false;
  mlp.d_ff = read_size(config, "encoder_ffn_dim", 5120);
  mlp.activation = read_activation(config, "activation_function", "gelu");
  mlp.up_bias = mlp.down_bias = true;
  layer.feed_forward = mlp;
  return layer;
}

// Whisper's encoder; the mean of two positions, a norm and one matrix.
Model read_audio(Config& config, const AudioRow& row, std::int64_t out) {
  Model model;
  model.name = config.fields.file();
  model.family = config.family.model_type;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, "d_model", 1280);
  model.context = read_size(config, "max_source_positions", 1500);
  Embedding& embedding = model.embedding;
  embedding.mel_bins = read_size(config, "num_mel_bins", 128);
  embedding.scaled = config.fields.boolean_or("scale_embedding", false);
  if (row.learned_positions) embedding.positions = model.context;
  embedding.sinusoidal = !row.learned_positions;
  Stack stack;
  stack.final_norm = false;
  const Layer layer = read_audio_layer(config, model.d_model);
  stack.groups = {
      {"layer", layer, read_size(config, "encoder_layers", 32)}
  };
  model.encoder = stack;
  model.head.kind = HeadKind::kProjector;
  Projector& projector = model.head.projector;
  projector.merge = 2;
  projector.pools = true;
  projector.norm = NormKind::kLayer;
  projector.out = out;
  projector.bias = true;
  if (row.unused_rows > 0) {
    model.unused.emplace();
    model.unused->rows = row.unused_rows;
  }
  return model;
}

void add_audio_tower(Config& config, const AudioRow& row) {
  const std::string_view field = "audio_config";
  if (!config.fields.has(field)) {
    throw UserError(fmt::format("{}: missing, expected an object", config.fields.where(field)));
  }
  Family family = config.family;
  family.ignored = row.ignored;
  const std::int64_t out = config.model.d_model;
  Config tower{
      config.fields.raw(field), config.fields.object(field), family, {}, config.leaves_out};
  auto model = std::make_shared<Model>(read_audio(tower, row, out));
  tower.fields.integer_or("output_dim", out, out, out);
  if (row.unused_rows > 0) {
    tower.model.assumptions.push_back(
        fmt::format("{} rows that mark a sound are stored, in no step", row.unused_rows));
  }
  tower.fields.text_or("model_type", "");
  tower.fields.mark_read("tie_word_embeddings");  // it has no vocabulary
  if (tower.fields.has("n_window")) {
    tower.fields.mark_read("n_window");
    tower.model.assumptions.emplace_back(
        "its windows are counted as attention over the whole sound");
  }
  std::vector<std::string>& assumptions = config.model.assumptions;
  for (const std::string& line : tower.model.assumptions) {
    assumptions.push_back("audio tower: " + line);
  }
  tower.model = *model;
  refuse_unread(tower);
  assumptions.insert(assumptions.end(), tower.model.assumptions.begin(),
                     tower.model.assumptions.end());
  config.model.towers.push_back({"audio", std::move(model)});
}

}  // namespace

void read_qwen2_audio(Config& config) {
  read_any_text(config);
  add_audio_tower(config, kQwen2AudioRow);
  const std::int64_t vocab = config.model.vocab;
  config.fields.integer_or("vocab_size", vocab, vocab, vocab);
}

// The part that understands.
void read_qwen25_omni_thinker(Config& config) {
  read_text_config(config, *find_family("qwen2_5_omni_text"), nullptr);
  add_vision_tower(config);
  add_audio_tower(config, kOmniRow);
}

// The part that speaks is another model, and so is what makes sound of its tokens.
void read_qwen25_omni(Config& config) {
  const std::string_view field = "thinker_config";
  if (!config.fields.has(field)) {
    throw UserError(fmt::format("{}: missing, expected an object", config.fields.where(field)));
  }
  for (const char* part : {"talker_config", "token2wav_config"}) {
    if (!config.fields.has(part)) continue;
    config.fields.mark_read(part);
    config.model.assumptions.push_back(fmt::format("{} is left out", part));
  }
  class_suffix(config);
  nlohmann::json object = config.fields.raw(field);
  if (object.is_object()) object.erase("architectures");
  config.fields.object(field);
  Family family = *find_family("qwen2_5_omni_thinker");
  Config thinker{object, JsonFields(object, config.fields.file(), std::string(field)), family,
                 config.model, config.leaves_out};
  thinker.fields.text_or("model_type", "");
  read_qwen25_omni_thinker(thinker);
  refuse_unread(thinker);
  config.model = thinker.model;
}

// ---- vision-encoder-decoder
// ------------------------------------------------------------------------

namespace {

Config part_of(Config& config, std::string_view field, const Family& family) {
  if (!config.fields.has(field)) {
    throw UserError(fmt::format("{}: missing, expected an object", config.fields.where(field)));
  }
  Config part{config.fields.raw(field), config.fields.object(field), family, {}, config.leaves_out};
  const std::string type = part.fields.text("model_type");
  if (type == family.model_type) return part;
  throw UserError(fmt::format("{}: expected {}, got {}", part.fields.where("model_type"),
                              family.model_type, quoted(type)));
}

void add_lines(const Config& part, const char* name, Model& model) {
  for (const std::string& line : part.model.assumptions) {
    model.assumptions.push_back(fmt::format("{}: {}", name, line));
  }
}

// Every layer attends to the image as well.
void attend_to_source(Stack& stack) {
  for (LayerGroup& group : stack.groups) {
    group.layer.cross = group.layer.attention;
    group.layer.cross->mask = {MaskKind::kFull, 0};
  }
}

}  // namespace

// ViT's hidden states as the source of GPT-2.
void read_vision_encoder_decoder(Config& config) {
  Config encoder = part_of(config, "encoder", *find_family("vit"));
  read_head(encoder, vit_heads());
  Model vit = read_vision_layers(encoder, kVitLayers);
  add_lines(encoder, "encoder", config.model);
  encoder.model = vit;
  refuse_unread(encoder);

  Config decoder = part_of(config, "decoder", *find_family("gpt2"));
  if (!decoder.fields.boolean_or("add_cross_attention", true)) {
    throw UserError(
        fmt::format("{}: expected true, got false", decoder.fields.where("add_cross_attention")));
  }
  read_decoder(decoder);
  refuse_unread(decoder);
  add_lines(decoder, "decoder", config.model);

  class_suffix(config);
  Model& model = config.model;
  Model whole = decoder.model;
  if (whole.d_model != vit.d_model) {
    throw UserError(fmt::format("{}: expected {}, as wide as the decoder, got {}",
                                encoder.fields.where("hidden_size"), whole.d_model, vit.d_model));
  }
  whole.name = model.name;
  whole.family = model.family;
  whole.source = model.source;
  whole.assumptions = model.assumptions;
  whole.architecture = Architecture::kEncoderDecoder;
  whole.encoder = vit.encoder;
  whole.source_context = vit.context;
  attend_to_source(*whole.decoder);
  Embedding& embedding = whole.embedding;
  embedding.source_positions = vit.embedding.positions;
  embedding.patch_values = vit.embedding.patch_values;
  embedding.patch_bias = vit.embedding.patch_bias;
  embedding.class_token = vit.embedding.class_token;
  whole.unused.emplace();
  whole.unused->pooler = true;
  whole.assumptions.emplace_back("the encoder's pooler is stored, in no step");
  config.fields.mark_read("tie_word_embeddings");  // of the two parts' tables with each other
  config.fields.mark_read("is_encoder_decoder");
  model = whole;
}

}  // namespace flopwise
