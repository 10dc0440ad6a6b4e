// Fields that say once more what the model already is: another name of a size that was read
// (n_embd beside hidden_size), or a property that the family's code fixes (attention_bias in a
// GPT-2, which always has biases).
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "flopwise/model/families/family.h"

namespace flopwise {

// Whether `field` is one of those and `value` agrees with config.model, which must be complete.
// UserError when it says something else; false when the field is none of those.
bool restates_the_model(const Config& config, std::string_view field, const nlohmann::json& value);

}  // namespace flopwise
