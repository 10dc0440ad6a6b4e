// A model from whatever says what it is: a name, a config.json, a checkpoint.
#pragma once

#include <iosfwd>
#include <string>

#include "flopwise/model/model.h"

namespace flopwise {

// What read_model reads (read_model.h), a GGUF file, a folder with one and no config.json, and a
// safetensors file or index, which stands for the config.json beside it.
Model read_any_model(const std::string& text, std::istream& standard_input,
                     const std::string& as = "");

}  // namespace flopwise
