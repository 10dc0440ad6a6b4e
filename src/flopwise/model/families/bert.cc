// BERT, RoBERTa and DistilBERT: encoders with norms after each block; their heads depend on the
// class that was saved.
#include "flopwise/model/families/bert.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {

Head read_bert_head(Config& config) {
  const std::string suffix = class_suffix(config);
  Head head = read_head(config, config.family.heads());
  const bool has_pooler =
      head.kind != HeadKind::kPooler || config.fields.boolean_or("add_pooling_layer", true);
  if (!has_pooler) head.kind = HeadKind::kNone;
  if (suffix.empty()) {
    config.model.assumptions.push_back(fmt::format("architectures is absent: {}Model, {} pooler",
                                                   config.family.class_name,
                                                   has_pooler ? "with its" : "without a"));
  }
  if (suffix == "ForMultipleChoice") head.labels = 1;          // a score per choice
  if (suffix == "ForNextSentencePrediction") head.labels = 2;  // follows or not
  head.bias = head.kind == HeadKind::kMaskedLm || head.kind == HeadKind::kPretraining;
  return head;
}

namespace {

void require_absolute_positions(Config& config) {
  const std::string field = "position_embedding_type";
  const std::string type = config.fields.text_or(field, "absolute");
  if (type == "absolute") return;
  throw UserError(
      fmt::format("{}: expected absolute, got {}", config.fields.where(field), quoted(type)));
}

}  // namespace

const std::vector<HeadClass>& bert_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                     HeadKind::kPooler      },
      {"ForMaskedLM",               HeadKind::kMaskedLm    },
      {"LMHeadModel",               HeadKind::kMaskedLm    },
      {"ForPreTraining",            HeadKind::kPretraining },
      {"ForSequenceClassification", HeadKind::kPooledLabels},
      {"ForMultipleChoice",         HeadKind::kPooledLabels},
      {"ForNextSentencePrediction", HeadKind::kPooledLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels },
      {"ForQuestionAnswering",      HeadKind::kTokenLabels },
  };
  return kHeads;
}

// A classifier has a dense map and tanh of its own, which amounts to BERT's pooler.
const std::vector<HeadClass>& roberta_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                     HeadKind::kPooler      },
      {"ForMaskedLM",               HeadKind::kMaskedLm    },
      {"ForSequenceClassification", HeadKind::kPooledLabels},
      {"ForMultipleChoice",         HeadKind::kPooledLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels },
      {"ForQuestionAnswering",      HeadKind::kTokenLabels },
  };
  return kHeads;
}

const std::vector<HeadClass>& distilbert_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                     HeadKind::kNone        },
      {"ForMaskedLM",               HeadKind::kMaskedLm    },
      {"ForSequenceClassification", HeadKind::kPooledLabels},
      {"ForMultipleChoice",         HeadKind::kPooledLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels },
      {"ForQuestionAnswering",      HeadKind::kTokenLabels },
  };
  return kHeads;
}

namespace {

Layer read_bert_layer(Config& config) {
  const Family& family = config.family;
  Layer layer;
  layer.norm = family.norm;
  layer.placement = family.placement;
  Attention& attention = *layer.attention;
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

void read_bert_sizes(Config& config) {
  Model& model = config.model;
  model.architecture = Architecture::kEncoder;
  model.d_model = read_size(config, config.family.names.d_model);
  model.vocab = read_size(config, "vocab_size");
  const std::int64_t rows =
      read_size(config, config.family.names.positions, config.family.absent.positions);
  model.embedding.positions = rows;
  // RoBERTa counts positions from 2 on.
  model.context = std::max<std::int64_t>(rows - config.family.unused_position_rows, 1);
  model.embedding.norm = true;
  model.embedding.norm_kind = config.family.norm;
}

void read_bert_layers(Config& config) {
  Model& model = config.model;
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

void read_bert(Config& config) {
  read_bert_sizes(config);
  config.model.embedding.token_types = read_size(config, "type_vocab_size", 2);
  require_absolute_positions(config);
  config.model.head = read_bert_head(config);
  read_bert_layers(config);
}

// No token types and no pooler; the classifier's dense map ends with relu.
void read_distilbert(Config& config) {
  read_bert_sizes(config);
  Head& head = config.model.head;
  head = read_head(config, config.family.heads());
  head.bias = head.kind == HeadKind::kMaskedLm;
  head.pooler_activation = Activation::kRelu;
  const std::string suffix = class_suffix(config);
  if (suffix == "ForMultipleChoice") head.labels = 1;
  if (suffix.empty())
    config.model.assumptions.emplace_back("architectures is absent: DistilBertModel");
  read_bert_layers(config);
}

}  // namespace flopwise
