// Where a layer stops being bound by its matrix units: the tokens and the degrees of parallelism at
// which its matrix FLOPs take as long as the weights it reads, or as what it sends.
//
// Nothing here is quoted. Times are those of the layer's own graph on the mesh, every resource at
// its peak and overlapped with all others, each pass by itself. For a dense layer in 16 bits that
// comes to what texts print (C: FLOP/s, W: bytes/s of the memory or of the links, F: feed-forward
// width of two matrices):
//
//   reading weights   C/W tokens                     fsdp, dp   C/W tokens a device
//   experts, k of E   E/k times as many              tp         at most F*W/C devices
//   fsdp and tp       (C/W)^2/F tokens a device      ("How to Scale Your Model", chapters 1, 5, 7)
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/rational.h"
#include "flopwise/cost/traffic.h"
#include "flopwise/expr/compiled.h"
#include "flopwise/graph/graph.h"
#include "flopwise/hardware/network.h"
#include "flopwise/mesh/assignment.h"
#include "flopwise/plan/block_estimate.h"

namespace flopwise {

// ---- one device and its memory -----------------------------------------------------------------

// The weight products of a layer, all experts read: tokens from which they are compute-bound.
struct CriticalBatch {
  Rational flops_per_token;
  Rational activation_bytes_per_token;  // inputs and outputs of the products, each once
  Rational weight_bytes;
  Rational weights_only;                     // weights are all that is read
  std::optional<Rational> with_activations;  // absent: no number of tokens is enough
};
// Nothing for a layer without such products. `sizes`: as the block sees them.
std::optional<CriticalBatch> critical_batch(const Block& layer, const Sizes& sizes,
                                            const ElementTypes& types,
                                            const Rational& flops_per_byte);

// ---- a mesh ------------------------------------------------------------------------------------

// Peaks of a device. On a torus each mesh axis has `rings` of its rings to itself, and collectives
// of different axes run beside each other; through a switch all share the device's one link.
struct DeviceRates {
  double matrix_flops_per_s = 0;
  double memory_bytes_per_s = 0;
  Network network;
  std::array<int, 6> rings = {1, 1, 1, 1, 1, 1};  // by ParallelAxis
};

// Of a group of X devices: exact, or as in the limit of ever more, where (X-1)/X is 1.
enum class GroupSize { kExact, kLimit };

// Devices by ParallelAxis, kTp standing for all of tp (kTpGroups is 1). Whole numbers unless
// GroupSize::kLimit.
using MeshShape = std::array<double, 6>;
double devices_of(const MeshShape& mesh);

struct LayerTime {
  double matrix_s = 0;
  double weights_s = 0;               // reading weights, and backward writing their gradients
  std::array<double, 6> axis_s = {};  // on the links of a mesh axis; through a switch all in one
  double network_s = 0;               // across fast domains

  double communication_s() const;  // the longest of them
};

class LayerOnMesh {
 public:
  // `layer`: with or without its backward pass. `sizes`: as the block sees them; B is left open.
  // `bytes` as for BlockModel.
  LayerOnMesh(const Block& layer, const Sizes& sizes, bool sequence_parallel,
              const BytesPerElement& bytes);

  // Seconds that one device takes for a pass, the mesh holding `tokens` together. Backward has its
  // recomputation in it, and the gradients of dp that are reduced once a step.
  LayerTime time(Pass pass, double tokens, const MeshShape& mesh, const DeviceRates& rates,
                 GroupSize size) const;
  bool has_backward() const { return has_backward_; }

 private:
  struct Work {
    CompiledExpr flops;
    CompiledExpr weight_bytes;
  };
  struct Move {
    CollectiveKind kind;
    MeshSet axes;
    Pass pass;
    CompiledExpr bytes;
  };
  void add_work(const Graph& graph, const ElementTypes& types);
  void add_move(const Collective& collective, Pass pass, const Expr& bytes_each);
  MeshShape split_heads(const MeshShape& mesh, GroupSize size) const;

  Assignment assignment_;
  Sizes sizes_;
  std::vector<std::string> variables_;
  double positions_ = 1;  // T
  double key_heads_ = 1;  // K
  bool has_backward_ = false;
  std::array<Work, 2> work_;  // forward, backward
  std::vector<Move> moves_;
};

// What communication is held against.
enum class Against { kMatrix, kWeights };

// The share of communication: its time over that of the matrix FLOPs or the reading of weights, in
// the pass where it is larger. Above 1 the layer is communication-bound.
double communication_share(const LayerOnMesh& layer, double tokens, const MeshShape& mesh,
                           const DeviceRates& rates, GroupSize size,
                           Against against = Against::kMatrix);

// Tokens per device from which the share is at most 1; nothing where no number is enough, 0 where
// any is.
std::optional<double> critical_tokens(const LayerOnMesh& layer, const MeshShape& mesh,
                                      const DeviceRates& rates, GroupSize size);

// The degree of `axis` at which the share is 1, the other axes and the tokens of the mesh as they
// are: between powers of two, in between which the share grows linearly. Nothing where it is at
// most 1 up to 2^20.
std::optional<double> critical_degree(const LayerOnMesh& layer, ParallelAxis axis, double tokens,
                                      const MeshShape& mesh, const DeviceRates& rates,
                                      GroupSize size, Against against = Against::kMatrix);

// fsdp*tp = devices, such that the collectives of both take equally long: the split that is
// compute-bound with the fewest tokens. On a torus, in the limit of large groups.
MeshShape best_split(const LayerOnMesh& layer, double tokens, double devices,
                     const DeviceRates& rates);
// Tokens per device from which that split is compute-bound; the same for any number of devices.
std::optional<double> critical_tokens_of_best_split(const LayerOnMesh& layer, double devices,
                                                    const DeviceRates& rates);

}  // namespace flopwise
