// Activation memory of one step: what the forward pass keeps for the backward pass, and the peak by
// liveness.
#pragma once

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

ActivationMemory activation_memory(const Program& program, Fusion fusion,
                                   const ElementTypes& types);

}  // namespace flopwise
