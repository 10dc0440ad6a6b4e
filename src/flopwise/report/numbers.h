// How reports write numbers for people.
#pragma once

#include <optional>
#include <string>

#include "flopwise/base/count.h"
#include "flopwise/base/rational.h"

namespace flopwise {

// "26,624"; where it is no whole number one decimal from 1,000 on, else four significant digits.
std::string decimal(const Rational& value);
// A length or batch; "never" where there is none.
std::string length(const std::optional<Rational>& value);
std::string length(const std::optional<Count>& value);
std::string percent(const Rational& share);
// "95.52 TFLOP".
std::string si(Count value, const char* unit);
// "8,589,934,592 B (8.000 GiB)".
std::string bytes(Count value);

}  // namespace flopwise
