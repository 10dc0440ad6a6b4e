// The one place that knows what a G and a Gi is. Everywhere else: bytes, seconds, FLOPs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flopwise/base/count.h"
#include "flopwise/base/rational.h"

namespace flopwise {

// "14.8T", "2.79M", "8k" (8000), "8Ki" (8192), "671e9", "1.513e15", "-3": the exact value.
// Suffixes k (or K), M, B and G, T, P, E decimal; Ki Mi Gi Ti Pi binary. `what` names the quantity
// in the UserError thrown for anything else, NaN, infinity, empty text and trailing characters
// included.
Rational parse_quantity(std::string_view text, std::string_view what);

// parse_quantity that must be a whole number of 1 ... 2^40 (an axis size).
std::int64_t parse_axis_size(std::string_view text, std::string_view what);
inline constexpr std::int64_t kMaxAxisSize = std::int64_t{1} << 40;

// "80GiB", "80 GB", "85899345920": bytes, a whole number. A bare suffix (`80G`) is decimal.
Count parse_bytes(std::string_view text, std::string_view what);

// For people: four significant digits and an SI prefix, "17.44 G", "1.074 m". format_si(1e3, "B")
// is "1.000 kB".
std::string format_si(double value, std::string_view unit);
// "8.000 GiB", with binary prefixes.
std::string format_binary(double bytes);
// "12.3 %"; "0.246".
std::string format_percent(double share);

}  // namespace flopwise
