// Bytes that operations move to and from memory, and what stays there.
//
// Each kernel (kernels.h) reads its inputs once and writes its outputs once, so what only
// operations of one kernel exchange never reaches memory. Eager, the loss is taken in fp32, step by
// step. A tensor is written if another kernel reads it, or if the backward pass will and it is
// saved.
#pragma once

#include <vector>

#include "flopwise/base/dtype.h"
#include "flopwise/cost/kernels.h"
#include "flopwise/graph/graph.h"

namespace flopwise {

struct ElementTypes {
  DType compute;  // activations and gradients
  DType weight;
  DType cache;
};
Expr bytes_per_element(Element element, const ElementTypes& types);

struct Traffic {
  Expr weights;      // parameters read, their gradients written
  Expr activations;  // everything else that is not a cache
  Expr kv_cache;

  Expr total() const { return weights + activations + kv_cache; }
  Traffic& operator+=(const Traffic& other);
};

// Per operation, indexed like graph.ops(); a kernel's traffic stands at its home.
std::vector<Traffic> traffic_of(const Graph& graph, Fusion fusion, const ElementTypes& types);

// Expected number of distinct experts that n tokens reach when each draws k of E: E*(1 - (1 -
// k/E)^n).
Expr expected_experts(const Expr& experts, const Expr& active, const Expr& tokens);

}  // namespace flopwise
