#include "flopwise/exec/scalar.h"

#include <numeric>

namespace flopwise::exec {

const char* name_of(Arithmetic kind) {
  constexpr std::array<const char*, kArithmeticKinds> kNames = {
      "add", "mul", "div", "max", "compare", "exp", "log", "tanh", "erf", "rsqrt", "sigmoid"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t Tally::total() const {
  return std::accumulate(performed.begin(), performed.end(), std::int64_t{0});
}

Tally& Tally::operator+=(const Tally& other) {
  for (std::size_t i = 0; i < kArithmeticKinds; ++i) performed[i] += other.performed[i];
  return *this;
}

Tally operator-(const Tally& a, const Tally& b) {
  Tally difference;
  for (std::size_t i = 0; i < kArithmeticKinds; ++i) {
    difference.performed[i] = a.performed[i] - b.performed[i];
  }
  return difference;
}

}  // namespace flopwise::exec
