// What an einsum costs, as formulas in its own axis names.
//
// A multiply is 1 FLOP, an add is 1 FLOP. A product of two arrays costs 2 x the product of its
// distinct axes when it contracts one (accumulating into zero), else 1 x (elementwise, outer). A
// summed axis is added up first, at 1 x its operand's elements. Transposing is free. With more than
// two operands this is the sum over the cheapest order of pairs (einsum_order.h); `naive_flops` is
// what one loop over all axes would cost instead.
//
// Bytes are the operands and the output, each once; intermediates between pairs are not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/dtype.h"
#include "flopwise/expr/expr.h"
#include "flopwise/graph/einsum.h"
#include "flopwise/mesh/mesh.h"
#include "flopwise/mesh/shard_einsum.h"

namespace flopwise {

struct EinsumStepCost {
  EinsumStep step;
  Expr flops;
  Expr result_elements;
};

// The largest array that is neither an operand nor the output.
struct EinsumIntermediate {
  std::string array;  // "(A*B)[I,K]"
  Expr elements;
  Expr bytes;
};

struct EinsumCost {
  Expr flops;        // of all steps
  Expr naive_flops;  // one loop over all axes: operands - 1 multiplies, and an add where an axis is
                     // reduced
  Expr bytes;
  Expr intensity;  // flops / bytes
  std::vector<EinsumStepCost> steps;
  std::optional<EinsumIntermediate> peak_intermediate;
  bool has_order_choice = false;  // three or more operands
  // Sizes that were not given and only served to choose the order and rule (4) of shard_einsum.h.
  Sizes assumed;
};

// `sizes` may lack axes: every size that is not given is then taken to be kAssumedAxisSize where a
// choice depends on it.
EinsumCost einsum_cost(const EinsumSpec& spec, const Sizes& sizes, const DType& dtype);
inline constexpr std::int64_t kAssumedAxisSize = 1024;
inline constexpr std::int64_t kAssumedMeshSize = 2;

// ---- on a mesh ---------------------------------------------------------------------------------

struct EinsumCollective {
  CollectiveMove move;
  Expr array_bytes;  // V: what the group holds together when gathered
  Expr sent_bytes;   // by each device; an all-to-all between pairs over a switch
};

struct ShardedEinsumCost {
  Expr flops_per_device;
  Expr flops_total;       // per device x all devices, those that repeat work included
  Expr bytes_per_device;  // what a device reads and writes when it computes, after gathers and
                          // before reductions
  std::vector<EinsumCollective> collectives;
  EinsumArray output;
  std::vector<std::string> notes;
};

// `mesh` empty: the mesh is the axes that `spec` names, of unknown sizes. UserError as check_mesh
// and shard_einsum say.
ShardedEinsumCost sharded_einsum_cost(const EinsumSpec& spec, const EinsumCost& cost,
                                      const std::optional<Mesh>& mesh, const Sizes& sizes,
                                      const DType& dtype);

// ---- all axes equal ----------------------------------------------------------------------------

// The intensity when every axis has the size n: n/3 for a square matrix product in bf16.
Expr equal_sizes_intensity(const EinsumCost& cost, const EinsumSpec& spec);

// The smallest n from which that intensity is at least `flops_per_byte`, found by bisection.
// Nothing when no axis is contracted, when the intensity does not grow with n for sure, and when no
// n up to 2^40 is enough.
std::optional<std::int64_t> smallest_compute_bound_size(const EinsumCost& cost,
                                                        const EinsumSpec& spec,
                                                        const Rational& flops_per_byte);

}  // namespace flopwise
