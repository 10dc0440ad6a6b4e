// Parameters: the trainable tensors that the graph reads, each counted once however often it is
// read.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "flopwise/graph/graph.h"

namespace flopwise {

struct Params {
  Count total;
  // One token's share: routed experts count k of E.
  Count active;
  Count trainable;  // of the total, what learns: adapters alone where there are some
  std::array<Count, kComponentCount> by_component = {};

  Count of(Component component) const { return by_component[static_cast<std::size_t>(component)]; }
  Params& operator+=(const Params& other);
  Count embedding() const { return of(Component::kEmbedding) + of(Component::kUnembedding); }
};

Params params_of(const Program& program);

// One trainable tensor of a block; a tensor that several blocks share stands with the first.
struct ParameterTensor {
  std::string block;
  Tensor tensor;
  Sizes sizes;    // as the block sees them
  Expr elements;  // of one repeat
  Count value;    // the same at these sizes
  Count repeat;   // of the block; 1 where its repeats share it
};
std::vector<ParameterTensor> parameter_tensors(const Program& program);

}  // namespace flopwise
