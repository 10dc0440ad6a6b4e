// A chip that a user describes in a JSON file: `--on chip.json`. docs/hardware.md has its fields.
#pragma once

#include <string>

#include "flopwise/hardware/hardware.h"

namespace flopwise {

Hardware read_hardware_file(const std::string& path);

}  // namespace flopwise
