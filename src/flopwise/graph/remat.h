// Rematerialisation: which tensors the forward pass keeps for the backward pass, and what is
// computed again because it was not kept. Both are found by reachability in the graph; a policy is
// nothing but a set of saved tensors (docs/conventions.md, "Rematerialisation").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flopwise/graph/graph.h"

namespace flopwise {

enum class RematKind {
  kNone,       // all that backward reads
  kAttention,  // all but the inside of the attention core: plain scores, weights and output; flash
               // output and statistics
  kMatmuls,    // the outputs of the block's weight matmuls
  kBlock,      // the block's input only; recomputed is what backward reads
  kFull,  // the block's input only; the whole forward of the block runs again (Megatron, reentrant
          // checkpointing)
  kList,  // the block's input and the named tensors
};

struct RematPolicy {
  RematKind kind = RematKind::kNone;
  std::vector<std::string> names;  // of kList
};

// "none", "attention", "matmuls", "block", "full", "save:attention.q,mlp.up". UserError with the
// choices otherwise.
RematPolicy parse_remat(std::string_view text);
std::string describe(const RematPolicy& policy);

// Takes a differentiated graph; returns it with the recomputed operations in front of the backward
// pass (pass kRecompute, each at most once) and `saved` set: the tensors of the policy's set that
// backward or the recomputation reads. Inputs of the block always belong to the set. With
// `is_layer` false (embedding, head) everything backward reads is saved.
Graph rematerialise(const Graph& differentiated, const RematPolicy& policy, bool is_layer);

// Names a `save:` list may use for this graph: what its forward pass produces outside a fused
// attention.
std::vector<std::string> savable_names(const Graph& graph);

}  // namespace flopwise
