// Activation memory of one step: what the forward pass keeps for the backward pass, and the peak by
// liveness.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "flopwise/cost/traffic.h"
#include "flopwise/graph/graph.h"

namespace flopwise {

struct SavedTensor {
  std::string block;
  std::string name;
  Expr elements;
  Expr bytes;   // of one repeat
  Expr repeat;  // 1 for a tensor that all repeats share
  Count value;  // bytes over all repeats
};

struct ActivationMemory {
  Count saved_bytes;
  // A tensor lives from the operation that makes it to the last one that reads it,
  // a saved one to its last use in the backward pass. Parameters, their gradients and caches are
  // not activations.
  Count peak_bytes;
  std::vector<SavedTensor> saved;
};

// When a tensor comes into being and when nobody needs it any more, as positions in the block's
// list of operations.
struct Lifetime {
  TensorId tensor;
  int from;
  int to;
  Expr bytes;
};

struct Lifetimes {
  std::vector<Lifetime> tensors;
  int backward = 0;  // where the backward pass begins
  int end = 0;

  // The most that is alive at one position, given the bytes of each tensor.
  template <typename Number>
  Number peak(const std::vector<Number>& bytes) const;
};

// The activations of one block. `kept`: tensors that earlier blocks hold already.
Lifetimes lifetimes_of(const Block& block, Fusion fusion, const ElementTypes& types,
                       const std::set<std::string>& kept, bool is_repeated);

ActivationMemory activation_memory(const Program& program, Fusion fusion,
                                   const ElementTypes& types);

template <typename Number>
Number Lifetimes::peak(const std::vector<Number>& bytes) const {
  std::vector<Number> change(static_cast<std::size_t>(end) + 2, Number(0));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    change[static_cast<std::size_t>(tensors[i].from)] += bytes[i];
    change[static_cast<std::size_t>(tensors[i].to) + 1] -= bytes[i];
  }
  Number live = 0;
  Number highest = 0;
  for (const Number& step : change) {
    live += step;
    highest = std::max(highest, live);
  }
  return highest;
}

}  // namespace flopwise
