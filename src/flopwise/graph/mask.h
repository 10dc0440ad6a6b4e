// Which query-key pairs of an attention are computed, as exact counts.
//
// T queries attend to S keys. Query i (0 ... T-1) stands at position p = S - T + i: the queries are
// the last T of the S positions. Symbols: W window (the last W positions *including* p, Hugging
// Face's sliding_window), C chunk, P prefix, h half width of a two-sided window.
// Sx the keys that an indexer chooses for each query. docs/conventions.md, "Pairs".
#pragma once

#include <string>

#include "flopwise/expr/expr.h"

namespace flopwise {

enum class MaskKind { kFull, kCausal, kWindow, kTwoSidedWindow, kChunk, kPrefix, kTopK };

const char* name_of(MaskKind kind);

// A mask whose size is an expression (a symbol such as W, or a number); unused for full and causal.
struct PairMask {
  MaskKind kind = MaskKind::kFull;
  Expr size;
};

// The number of pairs that are not masked:
//   full              T*S
//   causal            T*S - T*(T-1)/2
//   window W          causal - tri(S-W) + tri(S-W-T),  tri(n) = n(n+1)/2 for n > 0, else 0
//   chunk C           g(S) - g(S-T),  g(n) = floor(n/C)*C(C+1)/2 + r(r+1)/2,  r = n mod C
//   prefix P          causal + p(p-1)/2,  p = min(P, T)                          (T = S)
//   top-k Sx          as a window of Sx: min(Sx, p+1) keys for each query
//   two-sided h       T(2w+1) - w(w+1),   w = min(h, T-1)                        (T = S)
Expr live_pairs(const PairMask& mask, const Expr& queries, const Expr& keys);

// How many of the S keys at least one of the T queries sees: what a kernel must read.
//   window  min(S, W+T-1);  chunk  S - floor((S-T)/C)*C;  else S
// Which keys an indexer chooses depends on the data; they are counted, and run, as the latest.
Expr keys_seen(const PairMask& mask, const Expr& queries, const Expr& keys);

// How many of S positions a cache must hold for the queries to come: min(S, W) or min(S, C) under a
// window or chunk.
Expr keys_held(const PairMask& mask, const Expr& keys);

// Whether T queries and S keys go with the mask; otherwise what is wrong, for a UserError: T > S
// under a mask that orders positions, T != S under a prefix or two-sided window. Empty when fine.
std::string mask_problem(const PairMask& mask, const Count& queries, const Count& keys);

}  // namespace flopwise
