// One block of a program on one device of a mesh: its kernels, collectives and memory as compiled
// formulas, and what they come to on a chip.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "flopwise/cost/memory.h"
#include "flopwise/cost/traffic.h"
#include "flopwise/expr/compiled.h"
#include "flopwise/graph/graph.h"
#include "flopwise/hardware/efficiency.h"
#include "flopwise/hardware/network.h"
#include "flopwise/mesh/shard_graph.h"
#include "flopwise/plan/parallelism.h"

namespace flopwise {

// A chip's rates in double.
struct ChipRates {
  double matrix_flops_per_s = 0;     // of products, in the faster type where they have their own
  double attention_flops_per_s = 0;  // of fused attention
  double vector_flops_per_s = 0;     // 0: not known
  double memory_bytes_per_s = 0;
  Network network;
  const Hardware* hardware = nullptr;
  const Efficiency* efficiency = nullptr;
  FlashGeneration flash = FlashGeneration::k2;
};
// `matmul_dtype`: of products, empty as dtype. UserError where the chip lacks a type, or its memory
// bandwidth is not known.
ChipRates rates_of(const Hardware& hardware, const std::string& dtype,
                   const std::string& matmul_dtype = "");

// The sizes of a plan: what the compiled formulas leave open, and where devices lie.
struct MeshSizes {
  std::int64_t batch = 1;  // B: sequences of one micro-batch over all replicas
  std::array<std::int64_t, 6> axes = {1, 1, 1, 1, 1, 1};  // by ParallelAxis
  Slice slice = {1, 1, 1};

  std::int64_t size(ParallelAxis axis) const { return axes[static_cast<std::size_t>(axis)]; }
  std::int64_t product(MeshSet set) const;
  // Devices fill the fast domains in the order tp, cp, ep, fsdp, dp (then pp).
  DeviceGroup group(MeshSet set, const Network& network) const;
};
MeshSizes mesh_sizes(const Parallelism& mesh, std::int64_t micro_batch, const TensorSplit& split,
                     const Network& network);

struct BytesPerElement {
  ElementTypes types;
  Rational parameter_gradient = 2;
};

// Work and time of kernels.
struct KernelSums {
  double matrix_flops = 0;
  double vector_flops = 0;
  double bytes = 0;
  double kernels_s = 0;

  KernelSums& operator+=(const KernelSums& other);
  KernelSums& operator*=(double factor);
};

// What one run of a block takes in one pass.
struct PassEstimate {
  double matrix_flops = 0;
  double vector_flops = 0;
  double bytes = 0;
  double kernels_s = 0;       // at expected efficiency, one after another
  double blocking_s = 0;      // collectives that what follows waits for: tp, ep, cp
  double overlappable_s = 0;  // gathers of parameters and scatters of their gradients: fsdp
  double hidden_s = 0;        // of blocking_s, what runs beside fused attention (a ring)
  SentBytes sent;             // at one device
  std::array<double, 6> sent_by_axis = {};  // by ParallelAxis

  PassEstimate& operator+=(const PassEstimate& other);
  PassEstimate& operator*=(double factor);
};

// The part of an estimate that dp and fsdp leave alone: work, kernels and activations.
struct KernelEstimate {
  std::array<PassEstimate, 3> passes;      // without what is sent
  std::array<double, 3> attention_s = {};  // of the kernels' time, in fused attention
  KernelSums weight_gradients;             // of the backward pass: what makes those of parameters
  double saved_bytes = 0;
  double saved_once_bytes = 0;
  double peak_bytes = 0;
};

// Parameters on one device.
struct ParameterCounts {
  double all = 0;
  double trainable = 0;

  ParameterCounts& operator+=(const ParameterCounts& other);
  ParameterCounts& operator*=(double factor);
};

// Gradients that are reduced once a step.
struct StepMoves {
  SentBytes sent;
  double time_s = 0;
  std::array<double, 6> sent_by_axis = {};  // by ParallelAxis

  StepMoves& operator+=(const StepMoves& other);
  StepMoves& operator*=(double factor);
};

struct BlockEstimate {
  std::array<PassEstimate, 3> passes;  // by Pass
  KernelSums weight_gradients;
  double saved_bytes = 0;           // of one micro-batch and repeat
  double saved_once_bytes = 0;      // by all repeats together
  double peak_bytes = 0;            // while one repeat runs
  ParameterCounts parameters;       // of one repeat
  ParameterCounts once_parameters;  // of all repeats together
  ParameterCounts tied_parameters;  // that an earlier block holds too: a tied matrix
  StepMoves step;                   // of one repeat
  StepMoves step_once;              // of all repeats together
};

// A size and the mesh axes whose product must divide it.
struct Division {
  std::string label;
  std::int64_t size;
  MeshSet by;
};

class BlockModel {
 public:
  // `assignment` outlives it no longer than the constructor. `sizes`: as the block sees them.
  // `seen`: names of shared tensors that earlier blocks hold; extended.
  BlockModel(const Block& block, const Sizes& sizes, const Assignment& assignment, Fusion fusion,
             const BytesPerElement& bytes, std::set<std::string>& seen);

  const std::string& name() const { return name_; }
  bool is_layer() const { return is_layer_; }
  std::int64_t repeat() const { return repeat_; }

  BlockEstimate estimate(const MeshSizes& mesh, const ChipRates& rates) const {
    return estimate(mesh, rates, kernels(mesh, rates));
  }
  // Depends on the sequences of a replica, ep, cp and tp only.
  KernelEstimate kernels(const MeshSizes& mesh, const ChipRates& rates) const;
  BlockEstimate estimate(const MeshSizes& mesh, const ChipRates& rates,
                         const KernelEstimate& kernels) const;

  const std::vector<Division>& divisions() const { return divisions_; }
  // Of all repeats together, without those that an earlier block holds.
  ParameterCounts parameters(const MeshSizes& mesh) const;
  std::int64_t vocabulary() const { return vocabulary_; }
  // Rows of its vocabulary, filled up to a multiple of the devices that split it: 0 without one.
  std::int64_t padded_vocabulary(const MeshSizes& mesh) const;

 private:
  using Values = std::array<double, 8>;  // B, the axes by ParallelAxis, V
  enum class KernelKind { kProduct, kAttention, kStream };
  struct Kernel {
    KernelKind kind = KernelKind::kStream;
    Pass pass = Pass::kForward;
    bool makes_weight_gradient = false;
    CompiledExpr matrix_flops;
    CompiledExpr vector_flops;
    CompiledExpr bytes;
    CompiledExpr m, n, k, times;  // of its largest product
    CompiledExpr keys;            // that a query of its attention sees
    double width = 0;
  };
  // Collectives of one kind over the same axes: what they cost a byte is worked out once.
  struct Sort {
    CollectiveKind kind;
    MeshSet axes;
    friend bool operator==(const Sort&, const Sort&) = default;
  };
  // Without initialisers: an array of them is filled as far as it is read.
  struct SortCost {
    bool is_alone;  // groups of one device, which send nothing
    double inside;  // sent by a device for each byte of the array
    double across;
    double s_per_byte;  // at expected efficiency
    double hops_s;      // for each collective
    std::size_t axis;   // with which the bytes stand
  };
  struct Move {
    std::size_t sort = 0;
    Pass pass = Pass::kForward;
    bool of_parameter = false;
    bool in_attention = false;
    CompiledExpr bytes;
  };
  struct StepMove {
    std::size_t sort = 0;
    bool once;  // for all repeats together
    CompiledExpr bytes;
  };
  struct CompiledCounts {
    CompiledExpr all, trainable;
    ParameterCounts operator()(const Values& values) const {
      return {all(values), trainable(values)};
    }
  };

  void add_kernels(const Graph& graph, Fusion fusion, const ElementTypes& types);
  void add_moves(const Graph& graph, const BytesPerElement& bytes);
  void add_memory(const Block& local, Fusion fusion, const ElementTypes& types,
                  std::set<std::string>& seen);
  void add_parameters(const Graph& graph, std::set<std::string>& seen);
  CompiledExpr compile(const Expr& expr) const;
  std::size_t sort_of(CollectiveKind kind, MeshSet axes);
  SortCost cost_of(const Sort& sort, const MeshSizes& mesh, const ChipRates& rates) const;
  Values values_of(const MeshSizes& mesh) const;
  static double kernel_time_s(const Kernel& kernel, const Values& values, double flops,
                              double vector, double bytes, const ChipRates& rates);

  std::string name_;
  bool is_layer_ = false;
  std::int64_t repeat_ = 1;
  std::int64_t vocabulary_ = 0;  // 0: has none
  MeshSet vocabulary_by_;
  Sizes sizes_;
  std::vector<std::string> variables_;
  const Assignment* assignment_ = nullptr;
  std::vector<Kernel> kernels_;
  std::vector<Sort> sorts_;
  std::vector<Move> moves_;
  std::vector<StepMove> step_moves_;
  Lifetimes lifetimes_;
  std::vector<CompiledExpr> lifetime_bytes_;
  CompiledExpr saved_, saved_once_;
  CompiledCounts parameters_, once_parameters_, tied_parameters_;
  std::vector<Division> divisions_;
};

// The vocabulary of a model where the mesh does not divide it.
struct Padding {
  std::int64_t rows = 0;
  std::int64_t padded_rows = 0;
};
std::optional<Padding> padding_of(const std::vector<BlockModel>& blocks, const MeshSizes& mesh);

// The first size that the mesh does not divide, and its block; nothing where all are divided. A
// vocabulary is filled up to the next multiple and never among them.
struct Indivisible {
  const BlockModel* block = nullptr;
  const Division* division = nullptr;
};
Indivisible find_indivisible(const std::vector<BlockModel>& blocks, const MeshSizes& mesh);
// "N = 32 (block layer), expected a multiple of 6".
std::string describe(const Indivisible& indivisible, const MeshSizes& mesh);

}  // namespace flopwise
