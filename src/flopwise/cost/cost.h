// The walk over a program: FLOPs, bytes and parameters of every operation of every distinct block,
// and their totals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/cost/flops.h"
#include "flopwise/cost/memory.h"
#include "flopwise/cost/params.h"
#include "flopwise/cost/traffic.h"
#include "flopwise/graph/graph.h"

namespace flopwise {

// FLOPs apart by class: peaks are those of the matrix units, so vector work never enters a model
// total.
struct Flops {
  Count matmul;
  Count attention;        // masked pairs only
  Count attention_dense;  // all T*S pairs
  Count vector;

  Count total() const { return matmul + attention + vector; }
  Count matrix() const { return matmul + attention; }
  Count matrix_dense() const { return matmul + attention_dense; }
  Flops& operator+=(const Flops& other);
};

struct Quantity {
  Expr formula;
  Count value;
};

// One operation of one repeat of its block.
struct OpCost {
  std::string name;
  Pass pass = Pass::kForward;
  Component component = Component::kOther;
  OpClass op_class = OpClass::kNone;
  std::string expression;  // "x[B,T,D] *_D attention.q.weight[D,N,H] -> attention.q[B,T,N,H]"
  std::string kernel;      // the operation at which its kernel's bytes stand; often itself
  Quantity flops;
  Quantity flops_dense;
  Quantity params;  // of the parameters it reads first
  Quantity bytes;   // of the kernel it leads; 0 where it rides on another
  Traffic traffic;
};

struct BlockCost {
  std::string name;
  bool is_layer = false;
  Expr repeat;
  Count layers;
  Sizes sizes;  // as the block sees them
  std::vector<OpCost> ops;
};

struct TrafficTotals {
  Count weights;
  Count activations;
  Count kv_cache;
  Count total() const { return weights + activations + kv_cache; }
};

struct Cost {
  std::vector<BlockCost> blocks;
  Flops forward;
  Flops backward;
  Flops recompute;
  Params params;
  TrafficTotals bytes;
  ActivationMemory activations;

  // Model FLOPs exclude recomputation, hardware FLOPs include it; both leave vector work out.
  Count model_total() const { return forward.matrix() + backward.matrix(); }
  Count model_total_dense() const { return forward.matrix_dense() + backward.matrix_dense(); }
  Count hardware_total() const { return model_total() + recompute.matrix(); }
  Count hardware_total_dense() const { return model_total_dense() + recompute.matrix_dense(); }
};

struct CostOptions {
  Fusion fusion = Fusion::kFused;
  ElementTypes types;
};

// UserError (OverflowError) naming the quantity where a value does not fit into 128 bits.
Cost cost_of(const Program& program, const CostOptions& options);

// The sum over blocks of repeat*formula for one class and pass, where all blocks share their sizes;
// nothing otherwise.
std::optional<Expr> total_formula(const Cost& cost, OpClass op_class, Pass pass);

// The KV cache: bytes that one token writes over all layers, and what the cache holds at S for the
// batch.
struct KvCache {
  Expr bytes_per_token_formula;  // of one layer of each kind, summed with repeats where sizes allow
  Count bytes_per_token;
  Expr bytes_total_formula;
  Count bytes_total;
  Count source_bytes;  // the part of bytes_total that cross-attention keeps of the source
  Count state_bytes;   // the part that recurrences carry, whatever the context
};
// From the caches that the blocks of a decoding program hold; no value when there are none (an
// encoder).
std::optional<KvCache> kv_cache_of(const Program& decode, const ElementTypes& types);

}  // namespace flopwise
