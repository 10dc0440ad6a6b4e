#pragma once

#include <algorithm>
#include <iterator>

namespace flopwise {

// Whether a value is among the elements; looks at one after another.
template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace flopwise
