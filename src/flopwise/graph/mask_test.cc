#include "flopwise/graph/mask.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace flopwise {
namespace {

struct Geometry {
  MaskKind kind;
  std::int64_t size;
  std::int64_t queries;
  std::int64_t keys;
};

// The definition: query i stands at position p = S - T + i.
bool sees(const Geometry& g, std::int64_t i, std::int64_t key) {
  const std::int64_t p = g.keys - g.queries + i;
  switch (g.kind) {
    case MaskKind::kFull:
      return true;
    case MaskKind::kCausal:
      return key <= p;
    case MaskKind::kWindow:
    case MaskKind::kTopK:  // as if the latest were chosen
      return key <= p && key > p - g.size;
    case MaskKind::kTwoSidedWindow:
      return key >= p - g.size && key <= p + g.size;
    case MaskKind::kChunk:
      return key <= p && key / g.size == p / g.size;
    case MaskKind::kPrefix:
      return key <= p || key < g.size;
  }
  return false;
}

struct Enumerated {
  std::int64_t pairs = 0;
  std::int64_t first_seen = 0;  // lowest key that some query sees
};

Enumerated enumerate(const Geometry& g) {
  Enumerated result{0, g.keys};
  for (std::int64_t i = 0; i < g.queries; ++i) {
    for (std::int64_t key = 0; key < g.keys; ++key) {
      if (!sees(g, i, key)) continue;
      ++result.pairs;
      result.first_seen = std::min(result.first_seen, key);
    }
  }
  return result;
}

PairMask symbolic(MaskKind kind) {
  return {kind, Expr::symbol("W")};
}

Sizes sizes_of(const Geometry& g) {
  return {
      {"T", g.queries},
      {"S", g.keys   },
      {"W", g.size   }
  };
}

// Every formula against enumeration, at all small sizes: windows wider and narrower than the keys,
// chunks that divide and that do not, prefixes inside and outside.
TEST(Mask, PairsAndKeysSeenEqualEnumeration) {
  const Expr t = Expr::symbol("T");
  const Expr s = Expr::symbol("S");
  for (const MaskKind kind :
       {MaskKind::kFull, MaskKind::kCausal, MaskKind::kWindow, MaskKind::kTwoSidedWindow,
        MaskKind::kChunk, MaskKind::kPrefix, MaskKind::kTopK}) {
    const Expr pairs = live_pairs(symbolic(kind), t, s);
    const Expr seen = keys_seen(symbolic(kind), t, s);
    for (std::int64_t keys = 1; keys <= 11; ++keys) {
      for (std::int64_t queries = 1; queries <= keys; ++queries) {
        for (std::int64_t size = 1; size <= 13; ++size) {
          const Geometry g{kind, size, queries, keys};
          if (!mask_problem({kind, size}, queries, keys).empty()) continue;
          SCOPED_TRACE(std::string(name_of(kind)) + " T=" + std::to_string(queries) +
                       " S=" + std::to_string(keys) + " size=" + std::to_string(size));
          const Enumerated expected = enumerate(g);
          EXPECT_EQ(pairs.eval_count(sizes_of(g), "pairs"), Count(expected.pairs));
          EXPECT_EQ(seen.eval_count(sizes_of(g), "keys"), Count(keys - expected.first_seen));
        }
      }
    }
  }
}

// docs/conventions.md, check values; the window and chunk are Megatron-LM issue 3280, the last
// xformers issue 1402.
TEST(Mask, PublishedPairs) {
  struct Row {
    MaskKind kind;
    std::int64_t size, queries, keys, pairs;
  };
  constexpr Row kRows[] = {
      {MaskKind::kFull,   1,   2048, 2048, 4194304},
      {MaskKind::kCausal, 1,   2048, 2048, 2098176},
      {MaskKind::kWindow, 512, 2048, 2048, 917760 },
      {MaskKind::kChunk,  256, 2048, 2048, 263168 },
      {MaskKind::kCausal, 1,   4,    10,   34     },
  };
  for (const Row& row : kRows) {
    const Expr pairs = live_pairs({row.kind, row.size}, row.queries, row.keys);
    EXPECT_EQ(pairs.eval_count({}, "pairs"), Count(row.pairs)) << name_of(row.kind);
  }
}

TEST(Mask, SaysWhichLengthsDoNotGoWithIt) {
  EXPECT_EQ(mask_problem({MaskKind::kCausal, 0}, 10, 4),
            "a causal mask needs T <= S (the queries are the last T of S positions), got T=10 S=4");
  EXPECT_EQ(mask_problem({MaskKind::kPrefix, 2}, 3, 4), "a prefix mask needs T = S, got T=3 S=4");
  EXPECT_EQ(mask_problem({MaskKind::kFull, 0}, 10, 4), "");
}

TEST(Mask, CacheHoldsWhatTheQueriesToComeWillSee) {
  const Expr s = Expr::symbol("S");
  const Sizes sizes = {
      {"S", 8192},
      {"W", 4096}
  };
  const auto held = [&](MaskKind kind) {
    return keys_held(symbolic(kind), s).eval_count(sizes, "keys held");
  };
  EXPECT_EQ(held(MaskKind::kCausal), Count(8192));
  EXPECT_EQ(held(MaskKind::kWindow), Count(4096));
  EXPECT_EQ(held(MaskKind::kChunk), Count(4096));
}

}  // namespace
}  // namespace flopwise
