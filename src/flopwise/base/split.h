#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flopwise {

// The pieces between separators, empty ones too: "a,,b" is a, "" and b. They are views of `text`.
std::vector<std::string_view> split(std::string_view text, char separator);

// "q" of "attention.q"; all of a name without a dot.
std::string last_part(std::string_view name);

}  // namespace flopwise
