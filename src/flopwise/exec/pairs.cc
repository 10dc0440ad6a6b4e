#include "flopwise/exec/pairs.h"

#include <algorithm>
#include <cstdlib>

#include "flopwise/base/error.h"

namespace flopwise::exec {

bool sees(const PairRule& rule, std::int64_t query, std::int64_t key) {
  switch (rule.kind) {
    case MaskKind::kFull:
      return true;
    case MaskKind::kCausal:
      return key <= query;
    case MaskKind::kWindow:
    case MaskKind::kTopK:
      return key <= query && query - key < rule.size;
    case MaskKind::kTwoSidedWindow:
      return std::abs(query - key) <= rule.size;
    case MaskKind::kChunk:
      return key <= query && query / rule.size == key / rule.size;
    case MaskKind::kPrefix:
      return key <= query || (key < rule.size && query < rule.size);
  }
  throw InternalError("unknown mask");
}

std::vector<std::vector<std::int64_t>> live_keys(const PairRule& rule, std::int64_t queries,
                                                 std::int64_t keys) {
  std::vector<std::vector<std::int64_t>> live(static_cast<std::size_t>(queries));
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t position = keys - queries + i;
    for (std::int64_t j = 0; j < keys; ++j) {
      if (sees(rule, position, j)) live[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return live;
}

std::int64_t most_keys_seen(const PairRule& rule, std::int64_t keys) {
  if (rule.kind == MaskKind::kTopK) return keys;  // any may be chosen later
  std::size_t most = 0;
  for (const auto& row : live_keys(rule, keys, keys)) most = std::max(most, row.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace flopwise::exec
