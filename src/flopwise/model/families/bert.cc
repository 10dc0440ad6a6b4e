// BERT: an encoder with norms after each block; its head depends on the class that was saved.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

Head read_bert_head(Config& config) {
  const std::string suffix = class_suffix(config);
  Head head = read_head(config, {
                                    {"Model",                     HeadKind::kPooler      },
                                    {"ForMaskedLM",               HeadKind::kMaskedLm    },
                                    {"ForPreTraining",            HeadKind::kPretraining },
                                    {"ForSequenceClassification", HeadKind::kPooledLabels},
                                    {"ForMultipleChoice",         HeadKind::kPooledLabels},
                                    {"ForNextSentencePrediction", HeadKind::kPooledLabels},
                                    {"ForTokenClassification",    HeadKind::kTokenLabels },
                                    {"ForQuestionAnswering",      HeadKind::kTokenLabels }
  });
  const bool has_pooler =
      head.kind != HeadKind::kPooler || config.fields.boolean_or("add_pooling_layer", true);
  if (!has_pooler) head.kind = HeadKind::kNone;
  if (suffix.empty()) {
    config.model.assumptions.push_back(fmt::format("architectures is absent: BertModel, {} pooler",
                                                   has_pooler ? "with its" : "without a"));
  }
  if (suffix == "ForMultipleChoice") head.labels = 1;          // a score per choice
  if (suffix == "ForNextSentencePrediction") head.labels = 2;  // follows or not
  head.bias = head.kind == HeadKind::kMaskedLm || head.kind == HeadKind::kPretraining;
  return head;
}

void require_absolute_positions(Config& config) {
  const std::string field = "position_embedding_type";
  const std::string type = config.fields.text_or(field, "absolute");
  if (type == "absolute") return;
  throw UserError(
      fmt::format("{}: expected absolute, got {}", config.fields.where(field), quoted(type)));
}

Layer read_bert_layer(Config& config) {
  const Family& family = config.family;
  Layer layer;
  layer.norm = family.norm;
  layer.placement = family.placement;
  Attention& attention = layer.attention;
  attention.heads = attention.kv_heads = read_size(config, family.names.heads);
  if (config.model.d_model % attention.heads != 0) {
    throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                                config.fields.where(family.names.d_model), family.names.heads,
                                attention.heads, config.model.d_model));
  }
  attention.head_dim = attention.value_dim = config.model.d_model / attention.heads;
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias = true;
  attention.position = PositionKind::kNone;
  attention.mask.kind = MaskKind::kFull;
  Mlp mlp;
  mlp.d_ff = read_size(config, family.names.d_ff);
  mlp.gated = family.gated;
  mlp.activation = read_activation(config, family.names.activation, family.activation);
  mlp.up_bias = mlp.down_bias = true;
  layer.feed_forward = mlp;
  return layer;
}

}  // namespace

void read_bert(Config& config) {
  Model& model = config.model;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, config.family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  model.context = read_size(config, config.family.names.positions, config.family.absent.positions);
  model.embedding.positions = model.context;
  model.embedding.token_types = read_size(config, "type_vocab_size", 2);
  model.embedding.norm = true;
  model.embedding.norm_kind = config.family.norm;
  require_absolute_positions(config);
  model.head = read_bert_head(config);
  const Layer layer = read_bert_layer(config);
  model.head.activation = std::get<Mlp>(layer.feed_forward).activation;
  Stack stack;
  stack.groups = {
      {"layer", layer, read_size(config, config.family.names.layers)}
  };
  stack.final_norm = false;  // the last layer ends with its own
  stack.final_norm_kind = config.family.norm;
  model.encoder = stack;
}

}  // namespace flopwise
