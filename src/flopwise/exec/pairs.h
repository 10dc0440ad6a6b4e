// Which query-key pairs a mask lets through, pair by pair: the definition that the pair counts of
// graph/mask.h are proven against.
#pragma once

#include <cstdint>
#include <vector>

#include "flopwise/graph/mask.h"

namespace flopwise::exec {

struct PairRule {
  MaskKind kind = MaskKind::kFull;
  std::int64_t size = 0;  // W, h, C or P
};

// Whether the query at position `query` sees the key at position `key`, both counted from 0.
bool sees(const PairRule& rule, std::int64_t query, std::int64_t key);

// For each of `queries` queries, the last of `keys` positions, the keys that it sees, ascending.
std::vector<std::vector<std::int64_t>> live_keys(const PairRule& rule, std::int64_t queries,
                                                 std::int64_t keys);

// The most keys that any one query of `keys` positions sees.
std::int64_t most_keys_seen(const PairRule& rule, std::int64_t keys);

}  // namespace flopwise::exec
