// The fields of a config.json that no reader asked for: which of them are harmless.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

// To be called when config.model is complete. UserError naming the first field that was not read
// and contradicts the model, or could change a cost and is not switched off.
void refuse_unread(Config& config);

}  // namespace flopwise
