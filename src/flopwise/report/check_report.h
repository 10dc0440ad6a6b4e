// `flopwise models --check`: the verdict, what every kind of tensor holds, what is stored besides,
// what is missing or left over, and the sum that explains the totals; text and JSON (docs/json.md).
#pragma once

#include <string>

#include "flopwise/base/json.h"
#include "flopwise/weights/check.h"

namespace flopwise {

std::string check_text(const WeightCheck& check, const Checkpoint& checkpoint);
Json check_json(const WeightCheck& check, const Checkpoint& checkpoint);

}  // namespace flopwise
