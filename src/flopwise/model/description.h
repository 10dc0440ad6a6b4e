// The builder's options as JSON, for an architecture that no family has (docs/describe.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "flopwise/model/model.h"

namespace flopwise {

// Whether a JSON file is such a description and not a config.json: it has a field "flopwise".
bool is_description(const nlohmann::json& json);

// `name` is the file in messages, and the model's name where the description has none. What it does
// not say is noted among Model::assumptions. UserError with the place, the value and what was
// expected; for a field that is not known too.
Model model_from_description(const nlohmann::json& json, const std::string& name);

}  // namespace flopwise
