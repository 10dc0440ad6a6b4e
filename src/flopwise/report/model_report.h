// `flopwise models`: the catalog as a table, one model in full, and both as JSON (docs/json.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/model/model.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/explain.h"

namespace flopwise {

// A column of the table of models, which is also a row of the details and a field of the JSON.
// Whoever computes something of a model (its parameters, say) adds one.
struct ModelColumn {
  std::string key;      // in JSON: "d_model"
  std::string title;    // in text: "D"
  std::string meaning;  // in the details of one model
  std::function<Count(const Model&)> value;
};

// Parameters and cache, derived from its graph; layers, d_model, vocab, context, as the Model says.
const std::vector<ModelColumn>& model_columns();

std::string models_text(Explain explain = Explain::kNo,
                        const std::vector<ModelColumn>& columns = model_columns());
Json models_json(const std::vector<ModelColumn>& columns = model_columns());

// One model in full: its facts, layers, assumptions and source.
std::string model_text(const Model& model, Explain explain = Explain::kNo,
                       const std::vector<ModelColumn>& columns = model_columns());
Json model_json(const Model& model, const std::vector<ModelColumn>& columns = model_columns());

}  // namespace flopwise
