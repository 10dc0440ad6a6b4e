// What the commands that plan read alike.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "flopwise/flopwise.h"

namespace flopwise::cli {

// --on, and how many where only --mesh ("" without one) says it.
HardwareChoice devices_of(const std::string& on, const std::string& mesh);

// --price in dollars per device and hour; "": not given. UserError below 0.
std::optional<double> price_of(const std::string& text);

// Writes "plans: 40 %" over and over to `err`, from the first second on.
std::function<void(double)> progress_on(std::ostream& err, const char* what);

}  // namespace flopwise::cli
