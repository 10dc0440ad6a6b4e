#include "flopwise/graph/mask.h"

#include <fmt/format.h>

namespace flopwise {
namespace {

Expr half(const Expr& value) {
  return Rational::of(1, 2) * value;
}

Expr causal_pairs(const Expr& queries, const Expr& keys) {
  return queries * keys - half(queries * (queries - 1));
}

// Pairs of the first n positions under a chunked mask, all of them queries.
Expr chunk_triangle(const Expr& n, const Expr& chunk) {
  const Expr rest = mod(n, chunk);
  return half(floor_div(n, chunk) * chunk * (chunk + 1)) + half(rest * (rest + 1));
}

}  // namespace

const char* name_of(MaskKind kind) {
  switch (kind) {
    case MaskKind::kFull:
      return "full";
    case MaskKind::kCausal:
      return "causal";
    case MaskKind::kWindow:
      return "window";
    case MaskKind::kTwoSidedWindow:
      return "two-sided window";
    case MaskKind::kChunk:
      return "chunk";
    case MaskKind::kPrefix:
      return "prefix";
    case MaskKind::kTopK:
      return "top-k";
  }
  return "";
}

Expr live_pairs(const PairMask& mask, const Expr& queries, const Expr& keys) {
  switch (mask.kind) {
    case MaskKind::kFull:
      return queries * keys;
    case MaskKind::kCausal:
      return causal_pairs(queries, keys);
    case MaskKind::kWindow:
    case MaskKind::kTopK:
      return causal_pairs(queries, keys) - tri(keys - mask.size) + tri(keys - mask.size - queries);
    case MaskKind::kTwoSidedWindow: {
      const Expr reach = min(mask.size, queries - 1);
      return queries * (2 * reach + 1) - reach * (reach + 1);
    }
    case MaskKind::kChunk:
      return chunk_triangle(keys, mask.size) - chunk_triangle(keys - queries, mask.size);
    case MaskKind::kPrefix: {
      const Expr prefix = min(mask.size, queries);
      return causal_pairs(queries, keys) + half(prefix * (prefix - 1));
    }
  }
  return 0;
}

Expr keys_seen(const PairMask& mask, const Expr& queries, const Expr& keys) {
  switch (mask.kind) {
    case MaskKind::kWindow:
    case MaskKind::kTopK:
      return min(keys, mask.size + queries - 1);
    case MaskKind::kChunk:
      return keys - floor_div(keys - queries, mask.size) * mask.size;
    case MaskKind::kFull:
    case MaskKind::kCausal:
    case MaskKind::kTwoSidedWindow:
    case MaskKind::kPrefix:
      return keys;
  }
  return keys;
}

Expr keys_held(const PairMask& mask, const Expr& keys) {
  const bool capped = mask.kind == MaskKind::kWindow || mask.kind == MaskKind::kChunk;
  return capped ? min(keys, mask.size) : keys;
}

std::string mask_problem(const PairMask& mask, const Count& queries, const Count& keys) {
  const std::string name = name_of(mask.kind);
  switch (mask.kind) {
    case MaskKind::kFull:
      return "";
    case MaskKind::kCausal:
    case MaskKind::kWindow:
    case MaskKind::kChunk:
    case MaskKind::kTopK:
      if (queries <= keys) return "";
      return fmt::format(
          "a {} mask needs T <= S (the queries are the last T of S positions), got T={} S={}", name,
          queries.str(), keys.str());
    case MaskKind::kTwoSidedWindow:
    case MaskKind::kPrefix:
      if (queries == keys) return "";
      return fmt::format("a {} mask needs T = S, got T={} S={}", name, queries.str(), keys.str());
  }
  return "";
}

}  // namespace flopwise
