// ModernBERT and Nomic BERT: encoders with rotary positions, gates and hardly a bias.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

std::int64_t read_head_dim(Config& config, std::int64_t heads) {
  const std::int64_t width = config.model.d_model;
  if (width % (2 * heads) == 0) return width / heads;
  throw UserError(fmt::format("{}: expected an even multiple of {} = {}, got {}",
                              config.fields.where(config.family.names.d_model),
                              config.family.names.heads, heads, width));
}

Attention read_attention(Config& config) {
  Attention attention;
  attention.heads = attention.kv_heads = read_size(config, config.family.names.heads);
  attention.head_dim = attention.value_dim = read_head_dim(config, attention.heads);
  attention.rotary_dim = attention.head_dim;
  attention.mask.kind = MaskKind::kFull;
  return attention;
}

// Every n-th layer from layer 0 on sees all positions, the others half a local_attention each way;
// layer 0 reads the embedding's norm as it is.
Stack modernbert_stack(const Layer& global, std::int64_t layers, std::int64_t period,
                       std::int64_t local_width) {
  Layer first = global;
  first.attention_norm = false;
  Layer local = global;
  local.attention->mask = {MaskKind::kTwoSidedWindow, local_width / 2};
  const std::int64_t globals = (layers + period - 1) / period;
  LayerList list;
  list.add("first", first);
  list.add("local", local, layers - globals);
  list.add("global", global, globals - 1);
  Stack stack;
  stack.groups = list.groups();
  stack.final_norm_kind = global.norm;
  return stack;
}

}  // namespace

void read_modernbert(Config& config) {
  JsonFields& fields = config.fields;
  Model& model = config.model;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, config.family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  model.context = read_size(config, config.family.names.positions, config.family.absent.positions);
  Layer layer;
  layer.norm = fields.boolean_or("norm_bias", false) ? NormKind::kLayer : NormKind::kLayerNoBias;
  model.embedding.norm = true;
  model.embedding.norm_kind = layer.norm;
  Attention& attention = *(layer.attention = read_attention(config));
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias =
      fields.boolean_or("attention_bias", false);
  Mlp mlp;
  mlp.d_ff = read_size(config, config.family.names.d_ff);
  mlp.activation =
      read_activation(config, config.family.names.activation, config.family.activation);
  mlp.up_bias = mlp.down_bias = fields.boolean_or("mlp_bias", false);
  layer.feed_forward = mlp;
  model.encoder =
      modernbert_stack(layer, read_size(config, config.family.names.layers),
                       fields.integer_or("global_attn_every_n_layers", 3, 1, kMaxAxisSize),
                       fields.integer_or("local_attention", 128, 2, kMaxAxisSize));

  Head& head = model.head = read_head(config, config.family.heads());
  const bool has_bias = fields.boolean_or("decoder_bias", true);
  head.bias = has_bias && head.kind == HeadKind::kMaskedLm;
  head.transform_bias = fields.boolean_or("classifier_bias", false);
  head.transform_norm = layer.norm;
  head.activation = read_activation(config, "classifier_activation", "gelu");
}

const std::vector<HeadClass>& modernbert_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"ForMaskedLM", HeadKind::kMaskedLm},
      {"Model",       HeadKind::kNone    },
  };
  return kHeads;
}

void read_nomic_bert(Config& config) {
  JsonFields& fields = config.fields;
  Model& model = config.model;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, config.family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  model.context = read_size(config, config.family.names.positions, config.family.absent.positions);
  model.embedding.token_types = read_size(config, "type_vocab_size", 2);
  model.embedding.norm = true;
  Layer layer;
  layer.norm = NormKind::kLayer;
  layer.placement =
      fields.boolean_or("prenorm", false) ? NormPlacement::kPre : NormPlacement::kPost;
  Attention& attention = *(layer.attention = read_attention(config));
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias =
      fields.boolean_or("qkv_proj_bias", true);
  const double share = fields.number_or("rotary_emb_fraction", 1);
  if (share != 1) {
    throw UserError(fmt::format("{}: expected 1, rotary positions of whole heads, got {}",
                                fields.where("rotary_emb_fraction"), share));
  }
  Mlp mlp;
  mlp.d_ff = read_size(config, config.family.names.d_ff);
  read_choice(config, config.family.names.activation, "swiglu", {"swiglu"});
  mlp.up_bias = fields.boolean_or("mlp_fc1_bias", true);
  mlp.down_bias = fields.boolean_or("mlp_fc2_bias", true);
  layer.feed_forward = mlp;
  Stack stack;
  stack.groups = {
      {"layer", layer, read_size(config, config.family.names.layers)}
  };
  stack.final_norm = layer.placement == NormPlacement::kPre;
  stack.final_norm_kind = layer.norm;
  model.encoder = stack;
  model.head = read_head(config, config.family.heads());
}

const std::vector<HeadClass>& nomic_bert_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model", HeadKind::kNone}
  };
  return kHeads;
}

}  // namespace flopwise
