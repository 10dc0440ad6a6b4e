// DeBERTa-v2 and v3 (arXiv:2006.03654): a BERT whose scores also read a table of relative
// positions.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/bert.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// Twice position_buckets, or twice the longest distance where distances have no buckets.
std::int64_t relative_rows(Config& config) {
  JsonFields& fields = config.fields;
  const std::int64_t buckets = fields.integer_or("position_buckets", -1, -1, kMaxAxisSize / 2);
  const std::int64_t longest =
      fields.integer_or("max_relative_positions", -1, -1, kMaxAxisSize / 2);
  if (buckets > 0) return 2 * buckets;
  return 2 * (longest > 0 ? longest : config.model.context);
}

// A list, or one text such as "c2p|p2c".
std::vector<std::string> read_terms(Config& config) {
  const std::string_view field = "pos_att_type";
  std::vector<std::string> terms;
  if (config.fields.raw(field).is_string()) {
    std::string text = config.fields.text(field);
    std::replace(text.begin(), text.end(), '|', ' ');
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) terms.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  } else {
    terms = config.fields.texts_or(field, {});
  }
  for (const std::string& term : terms) {
    if (term == "c2p" || term == "p2c") continue;
    throw UserError(
        fmt::format("{}: expected c2p and p2c, got {}", config.fields.where(field), quoted(term)));
  }
  return terms;
}

std::optional<RelativeStates> read_relative(Config& config) {
  if (!config.fields.boolean_or("relative_attention", false)) {
    for (const std::string_view field : {"position_buckets", "max_relative_positions",
                                         "pos_att_type", "norm_rel_ebd", "share_att_key"}) {
      config.fields.mark_read(field);
    }
    return std::nullopt;
  }
  const std::vector<std::string> terms = read_terms(config);
  RelativeStates relative;
  relative.rows = relative_rows(config);
  relative.of_queries = std::count(terms.begin(), terms.end(), "c2p") > 0;
  relative.of_keys = std::count(terms.begin(), terms.end(), "p2c") > 0;
  relative.shares_maps = config.fields.boolean_or("share_att_key", false);
  if (terms.empty()) {
    throw UserError(fmt::format("{}: expected c2p, p2c or both, since relative_attention is true",
                                config.fields.where("pos_att_type")));
  }
  const std::string norm = config.fields.text_or("norm_rel_ebd", "none");
  if (norm != "layer_norm") {
    throw UserError(fmt::format("{}: expected layer_norm, got {}",
                                config.fields.where("norm_rel_ebd"), quoted(norm)));
  }
  return relative;
}

// Neither of these is a parameter of its own.
void require_plain_sizes(Config& config) {
  const std::int64_t width = config.model.d_model;
  for (const std::string_view field : {"embedding_size", "pooler_hidden_size"}) {
    const std::int64_t said = config.fields.integer_or(field, width, 1, kMaxAxisSize);
    if (said == width) continue;
    throw UserError(fmt::format("{}: expected hidden_size = {}, got {}", config.fields.where(field),
                                width, said));
  }
}

}  // namespace

const std::vector<HeadClass>& deberta_heads() {
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

void read_deberta(Config& config) {
  Model& model = config.model;
  read_bert_sizes(config);
  require_plain_sizes(config);
  if (!config.fields.boolean_or("position_biased_input", true)) model.embedding.positions = 0;
  model.embedding.token_types = config.fields.integer_or("type_vocab_size", 0, 0, kMaxAxisSize);
  model.head = read_bert_head(config);
  model.head.pooler_activation = read_activation(config, "pooler_hidden_act", "gelu");
  read_bert_layers(config);
  const std::optional<RelativeStates> relative = read_relative(config);
  for (LayerGroup& group : model.encoder->groups) group.layer.attention->relative = relative;
}

}  // namespace flopwise
