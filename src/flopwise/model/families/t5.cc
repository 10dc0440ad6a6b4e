// T5, Flan-T5 and mT5: encoder-decoders whose attention has a learned bias by distance instead of
// positions, and does not scale its scores.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

enum class Parts { kBoth, kEncoder };

// T5EncoderModel is the encoder alone; its last hidden state is the result.
Parts parts_of(Config& config) {
  const std::string suffix = class_suffix(config);
  const std::string_view field = "is_encoder_decoder";
  const bool is_pair = config.fields.boolean_or(field, true);
  if (suffix == "EncoderModel") return Parts::kEncoder;
  if (is_pair) return Parts::kBoth;
  if (suffix.empty()) {
    config.model.assumptions.push_back(
        fmt::format("architectures is absent: {}EncoderModel, since is_encoder_decoder is false",
                    config.family.class_name));
    return Parts::kEncoder;
  }
  throw UserError(fmt::format("{}: expected true, as architectures with {}{} says, got false",
                              config.fields.where(field), config.family.class_name, suffix));
}

Attention read_attention(Config& config) {
  Attention attention;
  attention.heads = attention.kv_heads = read_size(config, "num_heads");
  attention.head_dim = attention.value_dim = read_size(config, "d_kv", 64);
  attention.scaled = false;
  attention.position = PositionKind::kRelative;
  attention.relative_buckets = read_size(config, "relative_attention_num_buckets", 32);
  return attention;
}

// feed_forward_proj is "relu", or "gated-gelu", whose gelu is the tanh approximation. Newer files
// say it again in two fields of their own, which count where they stand alone.
Mlp read_mlp(Config& config) {
  constexpr std::string_view kGated = "gated-";
  JsonFields& fields = config.fields;
  const std::string field = "feed_forward_proj";
  const std::string said = fields.text_or(field, std::string(config.family.activation));
  Mlp mlp;
  mlp.gated = said.starts_with(kGated);
  const std::string name = !mlp.gated             ? said
                           : said == "gated-gelu" ? "gelu_new"
                                                  : said.substr(kGated.size());
  mlp.activation = activation_called(name, fields.where(field));
  const bool gated = fields.boolean_or("is_gated_act", mlp.gated);
  const Activation activation = read_activation(config, "dense_act_fn", name);
  const auto refuse = [&](std::string_view other, const std::string& expected) {
    throw UserError(fmt::format("{}: expected {}, as {} = {} says, got {}", fields.where(other),
                                expected, field, quoted(said), shown(fields.raw(other))));
  };
  if (fields.has(field) && gated != mlp.gated) {
    refuse("is_gated_act", mlp.gated ? "true" : "false");
  }
  if (fields.has(field) && activation != mlp.activation) refuse("dense_act_fn", name);
  mlp.gated = gated;
  mlp.activation = activation;
  mlp.d_ff = read_size(config, "d_ff");
  return mlp;
}

Stack stack_of(const Layer& layer, std::int64_t layers) {
  Stack stack;
  stack.groups = {
      {"layer", layer, layers}
  };
  return stack;
}

}  // namespace

void read_t5(Config& config) {
  Model& model = config.model;
  const Parts parts = parts_of(config);
  model.architecture =
      parts == Parts::kBoth ? Architecture::kEncoderDecoder : Architecture::kEncoder;
  model.d_model = read_size(config, "d_model");
  model.vocab = read_size(config, "vocab_size");
  model.context = config.fields.integer_or("n_positions", 0, 1, kMaxAxisSize);
  const std::int64_t encoder_layers = read_size(config, "num_layers");
  const std::int64_t decoder_layers =
      config.fields.integer_or("num_decoder_layers", encoder_layers, 1, kMaxAxisSize);
  model.head = read_head(config, {
                                     {"ForConditionalGeneration", HeadKind::kLanguageModel},
                                     {"WithLMHeadModel",          HeadKind::kLanguageModel},
                                     {"Model",                    HeadKind::kNone         },
                                     {"EncoderModel",             HeadKind::kNone         }
  });
  // The encoder alone, of a file that names no class.
  if (parts == Parts::kEncoder) {
    model.head = Head{};
    model.head.kind = HeadKind::kNone;
  }
  model.head.scaled = model.head.tied;

  Layer layer;
  layer.attention = read_attention(config);
  layer.attention->mask.kind = MaskKind::kFull;
  layer.feed_forward = read_mlp(config);
  model.encoder = stack_of(layer, encoder_layers);
  if (parts == Parts::kEncoder) return;

  layer.cross = layer.attention;
  layer.cross->position = PositionKind::kNone;
  layer.cross->relative_buckets = 0;
  layer.attention->mask.kind = MaskKind::kCausal;
  model.decoder = stack_of(layer, decoder_layers);
}

}  // namespace flopwise
