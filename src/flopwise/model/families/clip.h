// clip_qkv of OLMo, MPT and DBRX: queries, keys and values are kept within a limit.
#pragma once

#include <string_view>

#include "flopwise/model/families/family.h"

namespace flopwise {

// Reads the limit. It has no parameters; its compares, two an element, are not counted, which is
// said among the model's assumptions.
void note_clipping(Config& config, std::string_view field);

}  // namespace flopwise
