#include "flopwise/mesh/placed_graph.h"

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// Over which the gradient of a parameter that they do not split is a partial sum.
constexpr MeshSet kSumAxes = kBatchAxes | MeshSet(ParallelAxis::kCp);

std::size_t at(TensorId id) {
  return static_cast<std::size_t>(id);
}

// What lies on another axis afterwards.
MeshSet changing_axes(const Placement& from, const Placement& to) {
  MeshSet group;
  for (std::size_t i = 0; i < from.axes.size(); ++i) {
    group |= (from.axes[i] - to.axes[i]) & to.split();
  }
  return group;
}

}  // namespace

std::size_t axis_index(const Tensor& tensor, std::string_view label) {
  for (std::size_t i = 0; i < tensor.axes.size(); ++i) {
    if (tensor.axes[i].name == label) return i;
  }
  return kNoAxis;
}

std::size_t axis_index(const Placement& placement, MeshSet m) {
  for (std::size_t i = 0; i < placement.axes.size(); ++i) {
    if (placement.axes[i].has(m)) return i;
  }
  return kNoAxis;
}

PlacedGraph::PlacedGraph(const Graph& whole, const Assignment& assignment)
    : whole_(whole),
      assignment_(assignment),
      main_(whole.tensors().size()),
      placed_(whole.tensors().size()) {}

void PlacedGraph::note_division(const Axis& axis, MeshSet by) {
  const auto same = [&](const AxisDivision& other) {
    return other.axis.name == axis.name && other.by == by && other.axis.size == axis.size;
  };
  if (by.empty() || std::any_of(divisions.begin(), divisions.end(), same)) return;
  divisions.push_back({axis, by});
}

Tensor PlacedGraph::local_tensor(const Tensor& whole, const Placement& placement) {
  Tensor part = whole;
  for (std::size_t i = 0; i < whole.axes.size(); ++i) {
    part.axes[i].size = whole.axes[i].size / assignment_.size(placement.axes[i]);
    note_division(whole.axes[i], placement.axes[i]);
  }
  if (whole.masking) {
    const std::size_t queries = axis_index(whole, whole.masking->query_axis);
    const std::size_t keys = axis_index(whole, whole.masking->key_axis);
    const MeshSet split = placement.axes[queries] | placement.axes[keys];
    if (!split.empty()) {
      part.masking->pairs_here =
          pairs_of(*whole.masking, whole.axes[queries].size, whole.axes[keys].size) /
          assignment_.size(split);
    }
  }
  part.alias_of = kNoTensor;
  part.gradient_of = kNoTensor;
  return part;
}

TensorId PlacedGraph::make(TensorId id, const Placement& placement, TensorId alias_of) {
  placed_[at(id)] = placement;
  const auto again = made_.find(id);
  if (again != made_.end()) {
    FLOPWISE_CHECK(again->second.second == placement, tensor(id).name + ": made at two places");
    return main_[at(id)] = again->second.first;
  }
  Tensor part = local_tensor(tensor(id), placement);
  part.alias_of = alias_of;
  if (tensor(id).gradient_of != kNoTensor) part.gradient_of = version(tensor(id).gradient_of);
  main_[at(id)] = local.add_tensor(std::move(part));
  made_[id] = {main_[at(id)], placement};
  return main_[at(id)];
}

TensorId PlacedGraph::version(TensorId id) {
  if (placed_[at(id)]) return main_[at(id)];
  const Tensor& whole = tensor(id);
  if (whole.role == Role::kParameter) return make(id, assignment_.of_parameter(whole));
  if (whole.role != Role::kGradient || whole.gradient_of == kNoTensor) {
    return make(id, assignment_.of_activation(whole));
  }
  Placement placement = fixed_placement(whole.gradient_of);
  // What other blocks gave to a parameter that they share is a partial sum like theirs.
  if (tensor(whole.gradient_of).role == Role::kParameter) {
    placement.unreduced = (assignment_.axes & kSumAxes) - placement.split();
  }
  return make(id, placement);
}

const Placement& PlacedGraph::placement_of(TensorId id) {
  version(id);
  return *placed_[at(id)];
}

Placement PlacedGraph::fixed_placement(TensorId id) {
  const Tensor& whole = tensor(id);
  if (whole.role == Role::kGradient && whole.gradient_of != kNoTensor) {
    return fixed_placement(whole.gradient_of);
  }
  if (whole.role == Role::kParameter) return assignment_.of_parameter(whole);
  if (!placed_[at(id)]) return assignment_.of_activation(whole);
  return reduced(id, placed_[at(id)]->unreduced);
}

Placement PlacedGraph::reduced(TensorId id, MeshSet sums) {
  Placement placement = placement_of(id);
  const TensorId of = tensor(id).role == Role::kGradient ? tensor(id).gradient_of : kNoTensor;
  const Placement wanted =
      of != kNoTensor ? fixed_placement(of) : assignment_.of_activation(tensor(id));
  sums = sums & placement.unreduced;
  for (std::size_t i = 0; i < placement.axes.size(); ++i) {
    placement.axes[i] |= wanted.axes[i] & sums;
  }
  placement.unreduced -= sums;
  return placement;
}

Placement PlacedGraph::like(TensorId id, TensorId other, const Placement& placement) const {
  Placement result;
  for (const Axis& axis : tensor(id).axes) {
    const std::size_t i = axis_index(tensor(other), axis.name);
    result.axes.push_back(i == kNoAxis ? MeshSet() : placement.axes[i]);
  }
  return result;
}

int PlacedGraph::phase(bool is_parameter) const {
  Pass pass = reader_->pass;
  if (reader_->region != kNoRegion) pass = whole_.region(reader_->region).pass;
  if (is_parameter && pass == Pass::kRecompute) pass = Pass::kBackward;
  return static_cast<int>(pass);
}

TensorId PlacedGraph::moved_to(TensorId id, const Placement& target) {
  Move move{id, version(id), *placed_[at(id)]};
  if (move.placement == target) return move.local;
  const bool is_parameter = tensor(id).role == Role::kParameter;
  const Key key{id, phase(is_parameter), target.axes, target.unreduced};
  const auto found = moved_.find(key);
  if (found != moved_.end()) return found->second;
  slice(move, target);  // free, and makes smaller what follows
  reduce_scatter(move, target);
  exchange(move, target);
  all_reduce(move, target);
  all_gather(move, target);
  FLOPWISE_CHECK(move.placement == target, tensor(id).name + ": no way to its placement");
  return moved_[key] = move.local;
}

TensorId PlacedGraph::carried_to(TensorId id, const Placement& target) {
  if (placement_of(id) == target) return version(id);
  const Key key{id, -1, target.axes, target.unreduced};
  const auto found = moved_.find(key);
  if (found != moved_.end()) return found->second;
  Tensor part = local_tensor(tensor(id), target);
  part.alias_of = version(id);
  return moved_[key] = local.add_tensor(std::move(part));
}

void PlacedGraph::settle(TensorId id, const Placement& target) {
  const TensorId there = moved_to(id, target);
  placed_[at(id)] = target;
  main_[at(id)] = there;
}

void PlacedGraph::slice(Move& move, const Placement& target) {
  bool sliced = false;
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    const MeshSet more = target.axes[i] - move.placement.split() - move.placement.unreduced;
    if (more.empty()) continue;
    move.placement.axes[i] |= more;
    sliced = true;
  }
  if (!sliced) return;
  Tensor part = local_tensor(tensor(move.id), move.placement);
  part.alias_of = move.local;
  part.gradient_of = local.tensor(move.local).gradient_of;
  move.local = local.add_tensor(std::move(part));
}

void PlacedGraph::reduce_scatter(Move& move, const Placement& target) {
  const Placement before = move.placement;
  Placement after = before;
  MeshSet group;
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    const MeshSet here = target.axes[i] & before.unreduced;
    after.axes[i] |= here;
    group |= here;
  }
  after.unreduced -= group;
  emit(CollectiveKind::kReduceScatter, move, before, after, group);
}

void PlacedGraph::exchange(Move& move, const Placement& target) {
  const MeshSet group = changing_axes(move.placement, target);
  Placement together = move.placement;
  Placement after = move.placement;
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    together.axes[i] -= group;
    after.axes[i] = together.axes[i] | (target.axes[i] & group);
  }
  emit(CollectiveKind::kAllToAll, move, together, after, group);
}

void PlacedGraph::all_reduce(Move& move, const Placement& target) {
  const MeshSet group = move.placement.unreduced - target.unreduced;
  Placement after = move.placement;
  after.unreduced -= group;
  emit(CollectiveKind::kAllReduce, move, after, after, group);
}

void PlacedGraph::all_gather(Move& move, const Placement& target) {
  Placement after = move.placement;
  MeshSet group;
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    group |= after.axes[i] - target.axes[i];
    after.axes[i] = after.axes[i] & target.axes[i];
  }
  emit(CollectiveKind::kAllGather, move, after, after, group);
}

void PlacedGraph::emit(CollectiveKind kind, Move& move, const Placement& together,
                       const Placement& after, MeshSet group) {
  if (group.empty()) return;
  const Tensor& whole = tensor(move.id);
  Tensor result = local_tensor(whole, after);
  if (whole.role == Role::kParameter) result.role = Role::kActivation;
  result.gradient_of = local.tensor(move.local).gradient_of;
  result.name += std::string(".") + name_of(kind);
  const std::string name = result.name;
  const Expr array = elements(local_tensor(whole, together));
  const TensorId made = local.add_tensor(std::move(result));
  local.add_op({
      name,
      Collective{kind,       assignment_.symbols(group), array},
      {move.local    },
      {made},
      whole.component,
      reader_->pass,
      reader_->region
  });
  move.local = made;
  move.placement = after;
}

}  // namespace flopwise
