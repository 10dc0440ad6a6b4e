// Bytes that operations move to and from memory, and what stays there.
//
// Each kernel reads its inputs once and writes its outputs once. Unfused, every operation is a
// kernel. Fused (the default), attention is one kernel and elementwise operations ride on the
// latest producer of an operand, so what only they exchange never reaches memory. Eager, as in a
// framework that compiles nothing but has hand-written kernels: attention is one kernel, a product
// adds its bias, products of the same activations are one (queries, keys and values; gate and up),
// elementwise operations in a row are one kernel (bias, dropout and sum; an
// activation times its gate), and the loss is taken in fp32, step by step. A tensor is written if
// another kernel reads it, or if the backward pass will and it is saved.
#pragma once

#include <vector>

#include "flopwise/base/dtype.h"
#include "flopwise/graph/graph.h"

namespace flopwise {

enum class Fusion { kFused, kEager, kUnfused };
Fusion parse_fusion(std::string_view text);  // UserError with the choices

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

// Which kernel each operation belongs to: the index of the kernel's first operation.
std::vector<OpId> kernels_of(const Graph& graph, Fusion fusion);

// The operation at which a kernel's traffic stands: its first of the pass in which it ends, so that
// a fused attention's backward kernel, which starts by computing its scores again, counts as
// backward.
OpId home_of_kernel(const Graph& graph, const std::vector<OpId>& kernels, OpId lead);

// Whether a kernel makes the tensor itself, as a fused attention's backward makes its scores again:
// then it reads nobody else's.
bool kernel_makes(const Graph& graph, const std::vector<OpId>& kernels, OpId lead,
                  TensorId storage);

// Per operation, indexed like graph.ops(); a kernel's traffic stands at its home.
std::vector<Traffic> traffic_of(const Graph& graph, Fusion fusion, const ElementTypes& types);

// Expected number of distinct experts that n tokens reach when each draws k of E: E*(1 - (1 -
// k/E)^n).
Expr expected_experts(const Expr& experts, const Expr& active, const Expr& tokens);

}  // namespace flopwise
