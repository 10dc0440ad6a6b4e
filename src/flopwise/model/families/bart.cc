// BART, mBART and Marian: encoder-decoders with layer norms, biases and one table of tokens for
// both stacks and the head. final_logits_bias is a buffer of zeros that is added all the same.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// `side` is "encoder" or "decoder".
std::string field_of(std::string_view side, std::string_view what) {
  return fmt::format("{}_{}", side, what);
}

Layer read_layer(Config& config, std::string_view side) {
  const Family& family = config.family;
  Layer layer;
  layer.norm = family.norm;
  layer.placement = family.placement;
  Attention& attention = *layer.attention;
  const std::string heads = field_of(side, "attention_heads");
  attention.heads = attention.kv_heads = read_size(config, heads);
  if (config.model.d_model % attention.heads != 0) {
    throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                                config.fields.where(family.names.d_model), heads, attention.heads,
                                config.model.d_model));
  }
  attention.head_dim = attention.value_dim = config.model.d_model / attention.heads;
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = true;
  attention.position = PositionKind::kNone;
  Mlp mlp;
  mlp.d_ff = read_size(config, field_of(side, "ffn_dim"));
  mlp.gated = false;
  mlp.activation = read_activation(config, family.names.activation, family.activation);
  mlp.up_bias = mlp.down_bias = true;
  layer.feed_forward = mlp;
  return layer;
}

Stack stack_of(Config& config, std::string_view side, const Layer& layer) {
  Stack stack;
  stack.groups = {
      {"layer", layer, read_size(config, field_of(side, "layers"))}
  };
  stack.final_norm = layer.placement == NormPlacement::kPre;
  stack.final_norm_kind = layer.norm;
  return stack;
}

void require_one_vocabulary(Config& config) {
  JsonFields& fields = config.fields;
  const std::int64_t vocab = config.model.vocab;
  const std::string_view decoder = "decoder_vocab_size";
  if (fields.integer_or(decoder, vocab, 1, kMaxAxisSize) != vocab) {
    throw UserError(fmt::format("{}: expected vocab_size = {}, got {}", fields.where(decoder),
                                vocab, shown(fields.raw(decoder))));
  }
  const std::string_view share = "share_encoder_decoder_embeddings";
  if (fields.boolean_or(share, true)) return;
  throw UserError(fmt::format("{}: expected true, got false", fields.where(share)));
}

}  // namespace

const std::vector<HeadClass>& bart_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"ForConditionalGeneration", HeadKind::kLanguageModel},
      {"MTModel",                  HeadKind::kLanguageModel},
      {"Model",                    HeadKind::kNone         },
  };
  return kHeads;
}

// Whisper: a spectrogram through convolutions, rows of positions on both sides, norms in front, no
// bias of keys (Radford et al. 2022, arXiv:2212.04356).
void read_whisper(Config& config) {
  const Family& family = config.family;
  Model& model = config.model;
  model.architecture = Architecture::kEncoderDecoder;
  model.d_model = read_size(config, family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  model.context = read_size(config, family.names.positions, family.absent.positions);
  model.source_context = read_size(config, "max_source_positions", 1500);
  Embedding& embedding = model.embedding;
  embedding.positions = model.context;
  embedding.source_positions = model.source_context;
  embedding.mel_bins = read_size(config, "num_mel_bins", 80);
  embedding.scaled = config.fields.boolean_or("scale_embedding", false);
  model.head = read_head(config, family.heads());

  Layer encoder = read_layer(config, "encoder");
  encoder.attention->k_bias = false;
  encoder.attention->mask.kind = MaskKind::kFull;
  model.encoder = stack_of(config, "encoder", encoder);
  Layer decoder = read_layer(config, "decoder");
  decoder.attention->k_bias = false;
  decoder.cross = decoder.attention;
  decoder.cross->mask.kind = MaskKind::kFull;
  model.decoder = stack_of(config, "decoder", decoder);
}

void read_bart(Config& config) {
  const Family& family = config.family;
  Model& model = config.model;
  model.architecture = Architecture::kEncoderDecoder;
  model.d_model = read_size(config, family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  require_one_vocabulary(config);
  model.context = read_size(config, family.names.positions, family.absent.positions);
  Embedding& embedding = model.embedding;
  if (family.learned_positions) {
    embedding.positions = model.context + family.extra_position_rows;
    embedding.norm = true;
  } else {
    embedding.sinusoidal = true;
  }
  embedding.scaled = config.fields.boolean_or("scale_embedding", false);
  model.head = read_head(config, family.heads());
  if (model.head.kind == HeadKind::kLanguageModel) model.head.zero_bias = true;

  Layer encoder = read_layer(config, "encoder");
  encoder.attention->mask.kind = MaskKind::kFull;
  model.encoder = stack_of(config, "encoder", encoder);
  Layer decoder = read_layer(config, "decoder");
  decoder.cross = decoder.attention;
  decoder.cross->mask.kind = MaskKind::kFull;
  model.decoder = stack_of(config, "decoder", decoder);
}

}  // namespace flopwise
