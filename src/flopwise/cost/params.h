// Parameters: the trainable tensors that the graph reads, each counted once however often it is
// read.
#pragma once

#include <array>

#include "flopwise/graph/graph.h"

namespace flopwise {

struct Params {
  Count total;
  // One token's share: routed experts count k of E.
  Count active;
  std::array<Count, kComponentCount> by_component = {};

  Count of(Component component) const { return by_component[static_cast<std::size_t>(component)]; }
  Count embedding() const { return of(Component::kEmbedding) + of(Component::kUnembedding); }
};

Params params_of(const Program& program);

}  // namespace flopwise
