// Names that people type: alike in spite of case and separators, and the nearest when nobody knows
// one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flopwise {

// "H100 SXM", "h100-sxm" and "H100_sxm" are one name: lower case without spaces, underscores and
// dashes.
std::string normalised_name(std::string_view name);

// The fewest insertions, deletions and replacements of a character that turn `a` into `b`
// (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

// Up to `count` of `names`, the nearest to `name` first; equally near ones in their order.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& names,
                                       std::size_t count = 3);

}  // namespace flopwise
