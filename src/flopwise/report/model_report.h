// `flopwise models`: the catalog as a table, one model in full, and both as JSON (docs/json.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/cost/params.h"
#include "flopwise/model/model.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/explain.h"

namespace flopwise {

// What is derived from a model's graph, once for all columns.
struct ModelFacts {
  const Model& model;
  Params params;
  // Of the 16-bit KV cache, 0 for an encoder, which keeps none: what a token writes, and by how
  // much a token makes the cache grow once every window and chunk is full.
  Count cache_bytes;
  Count long_run_cache_bytes;
};
ModelFacts facts_of(const Model& model);

// A column of the table of models, which is also a row of the details and a field of the JSON.
// Whoever computes something of a model (its parameters, say) adds one.
struct ModelColumn {
  std::string key;      // in JSON: "d_model"
  std::string title;    // in text: "D"
  std::string meaning;  // in the details of one model
  std::function<Count(const ModelFacts&)> value;
  bool in_table = true;  // otherwise in the details and the JSON only
};

// Parameters and caches, derived from its graph; layers, d_model, vocab, context, as the Model
// says.
const std::vector<ModelColumn>& model_columns();

std::string models_text(const std::vector<ModelColumn>& columns = model_columns());
Json models_json(const std::vector<ModelColumn>& columns = model_columns());

// One model in full: its facts, layers, what each block does and costs, assumptions and source.
std::string model_text(const Model& model, Explain explain = Explain::kNo,
                       const std::vector<ModelColumn>& columns = model_columns());
Json model_json(const Model& model, const std::vector<ModelColumn>& columns = model_columns());

}  // namespace flopwise
