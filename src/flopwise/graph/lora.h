// Low-rank adapters (LoRA, Hu et al. 2021, arXiv:2106.09685): beside y = x W stands
// y + (alpha / r) (x A) B with A [in, r] and B [r, out]; only A and B learn.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/graph/graph.h"

namespace flopwise {

struct Lora {
  std::int64_t rank = 0;  // r
  double alpha = 0;
  // Matrices by the last part of their names ("q" for attention.q.weight), or by all of it; "all":
  // every one of a layer.
  std::vector<std::string> targets;
};

// "r=16,targets=q+v,alpha=32": alpha is r when absent; names of the peft library such as q_proj and
// all-linear are understood. UserError with the place.
Lora parse_lora(std::string_view text);

// The graph with adapters at the matrices that `lora` names, `rank` as the symbol r, and all other
// parameters frozen. Adds to `met` the targets that it found.
Graph with_adapters(const Graph& forward, const Lora& lora, std::set<std::string>& met);
// All parameters frozen.
Graph frozen(const Graph& forward);
// What a target may be called: the last parts of the names of all matrices.
std::set<std::string> adaptable_names(const Graph& forward);

}  // namespace flopwise
