// Which operations run as one kernel.
//
// Unfused, every operation is a kernel. Fused (the default), attention is one kernel and
// elementwise operations ride on the latest producer of an operand. Eager, as in a framework that
// compiles nothing but has hand-written kernels: attention is one kernel, a product adds its bias,
// products of the same activations are one (queries, keys and values; gate and up), and elementwise
// operations in a row are one (bias, dropout and sum; an activation times its gate).
#pragma once

#include <string_view>
#include <vector>

#include "flopwise/graph/graph.h"

namespace flopwise {

enum class Fusion { kFused, kEager, kUnfused };
Fusion parse_fusion(std::string_view text);  // UserError with the choices

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

}  // namespace flopwise
