// ALBERT: a BERT whose layers all have the same weights, and whose embedding is narrower than the
// model.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/bert.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// Groups of layers, and layers of a group that follow each other, would each have weights of their
// own.
void require_one(Config& config, std::string_view field) {
  const std::int64_t count = config.fields.integer_or(field, 1, 1, kMaxAxisSize);
  if (count == 1) return;
  throw UserError(fmt::format("{}: expected 1, one set of weights for all layers, got {}",
                              config.fields.where(field), count));
}

}  // namespace

const std::vector<HeadClass>& albert_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model",                     HeadKind::kPooler      },
      {"ForMaskedLM",               HeadKind::kMaskedLm    },
      {"ForPreTraining",            HeadKind::kPretraining },
      {"ForSequenceClassification", HeadKind::kPooledLabels},
      {"ForMultipleChoice",         HeadKind::kPooledLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels },
      {"ForQuestionAnswering",      HeadKind::kTokenLabels },
  };
  return kHeads;
}

void read_albert(Config& config) {
  require_one(config, "num_hidden_groups");
  require_one(config, "inner_group_num");
  read_bert(config);
  Model& model = config.model;
  model.embedding.width = read_size(config, "embedding_size", 128);
  model.embedding.all_in_width = true;
  for (LayerGroup& group : model.encoder->groups) group.one_set = true;
}

}  // namespace flopwise
