// What the keys of a GGUF file leave to be known of its architecture, or to be seen in its tensors.
// For gguf_model.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/model/families/family.h"
#include "flopwise/weights/gguf_metadata.h"

namespace flopwise {

bool has_correction_bias(const GgufMetadata& metadata);

// Fields that follow from several keys, in one architecture each.
void add_what_only_some_have(const GgufMetadata& metadata, std::string_view architecture,
                             const Family& family, nlohmann::json& config);

// `notes`: a line for each thing that was taken from the tensors, since no key says it.
void add_what_tensors_say(const GgufMetadata& metadata, std::string_view architecture,
                          const Family& family, nlohmann::json& config,
                          std::vector<std::string>& notes);

}  // namespace flopwise
