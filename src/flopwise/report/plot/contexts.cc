#include "flopwise/report/plot/contexts.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {

std::vector<std::int64_t> contexts_between(std::int64_t from, std::int64_t to) {
  if (from > to) {
    throw UserError(fmt::format("--from, --to: expected a range, got {} to {}", from, to));
  }
  std::vector<std::int64_t> contexts = {from};
  for (std::int64_t power = 2; power / 2 < to; power *= 2) {
    for (const std::int64_t each : {power, power + power / 2}) {
      if (each > from && each < to) contexts.push_back(each);
    }
  }
  if (to > from) contexts.push_back(to);
  return contexts;
}

std::vector<std::int64_t> device_counts(std::int64_t from, std::int64_t most) {
  if (from > most) {
    throw UserError(
        fmt::format("--from: expected at most the {} devices of --on, got {}", most, from));
  }
  std::vector<std::int64_t> counts;
  for (std::int64_t power = 1; power < most; power *= 2) {
    if (power >= from) counts.push_back(power);
  }
  counts.push_back(most);
  return counts;
}

}  // namespace flopwise
