// The local graph while it is built: which version of a tensor lies where, and the moves between
// them. The rules that say where each must lie are in shard_graph.cc.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "flopwise/graph/graph.h"
#include "flopwise/mesh/assignment.h"

namespace flopwise {

inline constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);
// The place of a label among the axes of a tensor, or kNoAxis.
std::size_t axis_index(const Tensor& tensor, std::string_view label);
std::size_t axis_index(const Placement& placement, MeshSet m);  // the axis that m splits

class PlacedGraph {
 public:
  PlacedGraph(const Graph& whole, const Assignment& assignment);

  const Tensor& tensor(TensorId id) const { return whole_.tensor(id); }
  // Moves from here on belong to this operation's pass and kernel.
  void set_reader(const Op& op) { reader_ = &op; }

  // The main version of a tensor, as its operation makes it. Made again (recomputed), it is the
  // same tensor; InternalError where it would then lie elsewhere.
  TensorId make(TensorId id, const Placement& placement, TensorId alias_of = kNoTensor);
  // The main version; of what nothing makes (parameters, inputs) where the assignment puts it.
  TensorId version(TensorId id);
  bool is_placed(TensorId id) const { return placed_[static_cast<std::size_t>(id)].has_value(); }
  const Placement& placement_of(TensorId id);
  // Where a tensor lies once it is reduced; a gradient where its tensor lies.
  Placement fixed_placement(TensorId id);
  // The placement after a partial sum over `sums` is reduced: scattered over the axis on which the
  // tensor's fixed placement has them.
  Placement reduced(TensorId id, MeshSet sums);
  // A tensor of some labels placed as these labels are in another.
  Placement like(TensorId id, TensorId other, const Placement& placement) const;

  // The tensor as the reader finds it there; what must move for that, moves, once a pass.
  TensorId moved_to(TensorId id, const Placement& target);
  // The same without a move that counts: indices of experts that travel with the tokens.
  TensorId carried_to(TensorId id, const Placement& target);
  // From now on the main version is the one there.
  void settle(TensorId id, const Placement& target);

  Tensor local_tensor(const Tensor& whole, const Placement& placement);

  Graph local;
  std::vector<AxisDivision> divisions;  // each once

 private:
  struct Key {
    TensorId id;
    int phase;
    std::vector<MeshSet> axes;
    MeshSet unreduced;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tie(a.id, a.phase, a.axes, a.unreduced) <
             std::tie(b.id, b.phase, b.axes, b.unreduced);
    }
  };
  // A tensor on its way.
  struct Move {
    TensorId id;
    TensorId local;
    Placement placement;
  };

  void note_division(const Axis& axis, MeshSet by);
  int phase(bool is_parameter) const;
  void slice(Move& move, const Placement& target);
  void reduce_scatter(Move& move, const Placement& target);
  void exchange(Move& move, const Placement& target);
  void all_reduce(Move& move, const Placement& target);
  void all_gather(Move& move, const Placement& target);
  // `together`: the placement of what the group holds together.
  void emit(CollectiveKind kind, Move& move, const Placement& together, const Placement& after,
            MeshSet group);

  const Graph& whole_;
  const Assignment& assignment_;
  const Op* reader_ = nullptr;
  std::vector<TensorId> main_;
  std::vector<std::optional<Placement>> placed_;             // of the main version
  std::map<TensorId, std::pair<TensorId, Placement>> made_;  // as its operation made it
  std::map<Key, TensorId> moved_;
};

}  // namespace flopwise
