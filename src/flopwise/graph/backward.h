// Differentiation: the backward pass of a graph, derived operation by operation.
#pragma once

#include "flopwise/graph/graph.h"

namespace flopwise {

// Returns `forward` with the operations of its backward pass appended (pass kBackward), and, inside
// each fused attention, those that compute its scores again (pass kRecompute).
//
// Rules: a contraction yields one contraction per operand that needs a gradient; a map the map its
// program differentiates to (an addition hands its gradient on); a broadcast operand the sum over
// the axes it lacks; a tensor read n times adds its n gradients (n-1 additions an element; n where
// it is shared by the repeats of the block, since each layer adds to what the others gave).
// Gradients of the block's outputs are taken as given; a loss starts from its own.
Graph differentiate(const Graph& forward);

// The operations of `ops` that must run for `wanted` tensors to exist, given those `at_hand`:
// reachability backwards from what is wanted. In the order of `ops`; aliases are followed to the
// tensor that owns the memory.
std::vector<Op> producers_of(const Graph& graph, const std::vector<Op>& ops,
                             const std::vector<TensorId>& wanted,
                             const std::vector<TensorId>& at_hand);

}  // namespace flopwise
