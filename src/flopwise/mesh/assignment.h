// The named parallelisms as assignments of axes: where parameters and activations lie on a mesh.
// Everything else about a parallelism follows by rule (shard_graph.h); docs/parallelism.md has the
// table.
//
//   dp    the batch B; parameters whole on every device
//   fsdp  the batch B; every parameter on its first axis
//   ep    the batch B; the weights of routed experts on E
//   cp    query and key positions T and S
//   tp    N, K, F, V and the widths of shared experts. Where K is no multiple of tp, tp is tk*tg: K
//         on tk alone, N on both. With sequence parallelism the residual stream and what norms make
//         of it lie on T.
//
// Pipelines (pp) are no axis of any tensor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/graph/graph.h"

namespace flopwise {

enum class ParallelAxis : std::uint8_t { kDp, kFsdp, kEp, kCp, kTp, kTpGroups };

// A set of mesh axes.
class MeshSet {
 public:
  constexpr MeshSet() = default;
  constexpr MeshSet(ParallelAxis axis)  // NOLINT(google-explicit-constructor)
      : bits_(static_cast<std::uint8_t>(1U << static_cast<unsigned>(axis))) {}

  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(MeshSet other) const { return (bits_ & other.bits_) == other.bits_; }
  friend constexpr MeshSet operator|(MeshSet a, MeshSet b) { return of(a.bits_ | b.bits_); }
  friend constexpr MeshSet operator&(MeshSet a, MeshSet b) { return of(a.bits_ & b.bits_); }
  friend constexpr MeshSet operator-(MeshSet a, MeshSet b) { return of(a.bits_ & ~b.bits_); }
  MeshSet& operator|=(MeshSet other) { return *this = *this | other; }
  MeshSet& operator-=(MeshSet other) { return *this = *this - other; }
  friend constexpr bool operator==(MeshSet a, MeshSet b) { return a.bits_ == b.bits_; }
  friend constexpr bool operator<(MeshSet a, MeshSet b) { return a.bits_ < b.bits_; }

 private:
  static constexpr MeshSet of(unsigned bits) {
    MeshSet set;
    set.bits_ = static_cast<std::uint8_t>(bits);
    return set;
  }
  std::uint8_t bits_ = 0;
};

inline constexpr ParallelAxis kParallelAxes[] = {ParallelAxis::kDp, ParallelAxis::kFsdp,
                                                 ParallelAxis::kEp, ParallelAxis::kCp,
                                                 ParallelAxis::kTp, ParallelAxis::kTpGroups};
inline constexpr MeshSet kBatchAxes =
    MeshSet(ParallelAxis::kDp) | MeshSet(ParallelAxis::kFsdp) | MeshSet(ParallelAxis::kEp);
inline constexpr MeshSet kTensorAxes =
    MeshSet(ParallelAxis::kTp) | MeshSet(ParallelAxis::kTpGroups);

// Where a tensor lies: for each of its axes the mesh axes that split it, and those over which every
// device holds a partial sum.
struct Placement {
  std::vector<MeshSet> axes;
  MeshSet unreduced;

  MeshSet split() const;  // all that split some axis
  friend bool operator==(const Placement&, const Placement&) = default;
};

// An axis and the mesh axes that split it somewhere in a block.
struct AxisDivision {
  Axis axis;  // whole
  MeshSet by;
};

struct Assignment {
  MeshSet axes;  // of more than one device, or of a size that is left open
  bool sequence_parallel = false;
  bool splits_groups = false;  // tp is tk*tg

  std::string symbol(ParallelAxis axis) const;  // "tp"
  std::vector<std::string> symbols(MeshSet set) const;
  Expr size(MeshSet set) const;  // the product of their symbols
  Placement of_parameter(const Tensor& tensor) const;
  // Of what is handed to a block or reduced: by the names of its axes.
  Placement of_activation(const Tensor& tensor) const;
};

}  // namespace flopwise
