// `flopwise hardware`: the chips as a table, one chip in full, and both as JSON (docs/json.md).
#pragma once

#include <string>

#include "flopwise/base/json.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/report/explain.h"

namespace flopwise {

std::string hardware_table_text(Explain explain = Explain::kNo);
Json hardware_table_json();

// One chip in full: peaks, intensities by element type, memory, links, sources and notes.
std::string hardware_text(const Hardware& hardware, Explain explain = Explain::kNo);
Json hardware_json(const Hardware& hardware);

}  // namespace flopwise
