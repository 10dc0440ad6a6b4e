// One operation of a graph, executed. The loops of ops_*.cc are the definition of every kind of
// operation, and perform exactly what cost/flops.cc says it costs.
//
// Their algorithms do not depend on the data: sums and maxima of n elements are n operations from
// the neutral element, products accumulate into zero, top-k is k passes over all elements. Masked
// query-key pairs are not computed and stay 0.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "flopwise/exec/array.h"
#include "flopwise/exec/loop.h"
#include "flopwise/exec/scalar.h"
#include "flopwise/graph/graph.h"

namespace flopwise::exec {

template <typename Scalar>
struct OpRun {
  const Graph& graph;
  const Op& op;
  std::vector<Array<Scalar>> inputs;
  // Zeros, but for what is written in place: a cache with its older positions, and a gradient of a
  // table to which other readers have already added theirs.
  std::vector<Array<Scalar>> outputs;
  const LivePairs* live = nullptr;  // where an input or output is masked
  std::int64_t rotated = 0;         // of Rotary: elements of a head
  std::int64_t first_position = 0;  // of Rotary: of the first query
  std::uint64_t seed = 0;           // of Dropout
  Scalar* loss = nullptr;           // of CrossEntropy: where it adds up
};

template <typename Scalar>
void run_op(OpRun<Scalar>& run);

// The rows that a cross-entropy is a mean over.
template <typename Scalar>
std::int64_t loss_rows(const Array<Scalar>& logits) {
  return logits.size() / logits.shape().back().size;
}

// A uniform number of [0, 1), the same for the same seed and index.
double uniform(std::uint64_t seed, std::uint64_t index);
// Another seed for each name.
std::uint64_t derived_seed(std::uint64_t seed, std::string_view name);

}  // namespace flopwise::exec
