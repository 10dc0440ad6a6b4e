// The model that a GGUF file describes. Its metadata is translated into the fields of the family's
// config.json and read as that, so a size means the same from either.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "flopwise/checkpoint/checkpoint.h"
#include "flopwise/model/model.h"

namespace flopwise {

// UserError (key, value, what was expected) for metadata that describes no model. What a GGUF tells
// by its tensors alone (a tied head, biases) is taken from them.
nlohmann::json config_of_gguf(const Checkpoint& checkpoint);

// `name` is the file in messages and in Model::name.
Model model_of_gguf(const Checkpoint& checkpoint, const std::string& name);

}  // namespace flopwise
