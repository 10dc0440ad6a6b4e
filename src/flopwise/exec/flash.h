// Flash attention: softmax(scale*q k^T) v block by block, never holding the scores.
//
// Queries meet keys and values one block against another. Of each row only three things are
// carried from block to block: the running maximum M of its scores, the running sum L of
// exp(score - M), and the running output O = sum of exp(score - M) v. Two partial results over
// different keys merge into that over both:
//
//   M = max(M1, M2)   L = e^(M1-M) L1 + e^(M2-M) L2   O = e^(M1-M) O1 + e^(M2-M) O2
//
// and in the end out = O/L, lse = M + log L. The backward pass keeps out and lse only. It computes
// each block of scores again, has p = exp(score - lse), and needs the row sum of p*dp just once:
//
//   delta_i = sum_j p_ij dp_ij = sum_h do_ih o_ih
//
// (Rabe and Staats 2021; Dao et al. 2022, FlashAttention, appendix B; How to Scale Your Model,
// appendix A of the chapter on transformers). The block functions are the step of ring attention:
// a device holds its queries, the keys and values travel.
//
//   B batch, T queries, S keys, N query heads, K key/value heads (N/K query heads share one),
//   H width of queries and keys, Hv width of values
//   q [B,T,N,H]   k [B,S,K,H]   v [B,S,K,Hv]   out [B,T,N,Hv]   lse [B,T,N]
//
// Masked pairs are not computed: what stands there, NaN included, changes nothing. A row that sees
// no key, or only scores of -inf, has output 0 and lse -inf; where q, k and v are finite its
// gradient is 0 (a key of -inf makes that of the queries that see it NaN, 0 times -inf, as in plain
// attention). Scores of any finite size are safe. A NaN, and a score of +inf, makes the rows that
// see it NaN and no others; in the gradients of keys and values it reaches what those rows see.
#pragma once

#include <cstdint>

#include "flopwise/exec/array.h"
#include "flopwise/exec/pairs.h"
#include "flopwise/exec/scalar.h"

namespace flopwise::exec {

// What the runs of a kernel performed, apart: contractions are what formulas count as attention
// FLOPs, the rest depends on the block sizes.
struct FlashWork {
  Tally forward;    // q k^T and p v
  Tally recompute;  // q k^T again
  Tally backward;   // p^T do, do v^T, ds k, ds^T q
  Tally vector;     // scaling, maxima, exponentials, merging
};

struct FlashOptions {
  PairRule mask;
  double scale = 1;
  std::int64_t query_block = 16;
  std::int64_t key_block = 16;
};

// Where a block stands in the whole sequence: positions of its first query and first key.
struct BlockPlace {
  std::int64_t first_query = 0;
  std::int64_t first_key = 0;
};

// The state of some rows after some of their keys.
template <typename Scalar>
struct AttentionPartial {
  Array<Scalar> output;   // [B,T,N,Hv], not yet divided by the sum
  Array<Scalar> row_max;  // [B,T,N], -inf where no key was seen
  Array<Scalar> row_sum;  // [B,T,N]
};

template <typename Scalar>
struct AttentionResult {
  Array<Scalar> output;  // [B,T,N,Hv]
  Array<Scalar> lse;     // [B,T,N]
};

template <typename Scalar>
struct AttentionGradients {
  Array<Scalar> dq;  // as q
  Array<Scalar> dk;  // as k
  Array<Scalar> dv;  // as v
};

// ---- one block of queries against one block of keys and values ---------------------------------

template <typename Scalar>
AttentionPartial<Scalar> attention_block(const Array<Scalar>& q, const Array<Scalar>& k,
                                         const Array<Scalar>& v, const FlashOptions& options,
                                         const BlockPlace& place, FlashWork& work);

// Adds what `other` knows of further keys of the same rows.
template <typename Scalar>
void merge(AttentionPartial<Scalar>& into, const AttentionPartial<Scalar>& other, FlashWork& work);

template <typename Scalar>
AttentionResult<Scalar> finished(const AttentionPartial<Scalar>& partial, FlashWork& work);

// delta [B,T,N], from whole rows.
template <typename Scalar>
Array<Scalar> row_delta(const Array<Scalar>& output, const Array<Scalar>& d_output,
                        FlashWork& work);

// Adds this block's share to the gradients of its queries, keys and values.
template <typename Scalar>
void attention_block_backward(const Array<Scalar>& q, const Array<Scalar>& k,
                              const Array<Scalar>& v, const Array<Scalar>& d_output,
                              const Array<Scalar>& lse, const Array<Scalar>& delta,
                              const FlashOptions& options, const BlockPlace& place,
                              AttentionGradients<Scalar>& into, FlashWork& work);

// ---- whole sequences ---------------------------------------------------------------------------

// The queries are the last T of the S positions (the first, where T > S without a mask). Memory
// beside the results: lse and one block.
template <typename Scalar>
AttentionResult<Scalar> flash_forward(const Array<Scalar>& q, const Array<Scalar>& k,
                                      const Array<Scalar>& v, const FlashOptions& options,
                                      FlashWork& work);

// From what flash_forward gave and the gradient of its output. Memory beside the results: delta and
// one block.
template <typename Scalar>
AttentionGradients<Scalar> flash_backward(const Array<Scalar>& q, const Array<Scalar>& k,
                                          const Array<Scalar>& v,
                                          const AttentionResult<Scalar>& forward,
                                          const Array<Scalar>& d_output,
                                          const FlashOptions& options, FlashWork& work);

}  // namespace flopwise::exec
