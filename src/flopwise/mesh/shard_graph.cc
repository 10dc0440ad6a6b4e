#include "flopwise/mesh/shard_graph.h"

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/mesh/placed_graph.h"

namespace flopwise {
namespace {

// How often a program's result follows an operand linearly is known by name: the gradients of other
// functions read the operand itself.
bool is_sum(const ScalarProgram& program) {
  return program.name == scalar_add().name || program.name == scalar_sub().name;
}
bool is_linear_in_each(const ScalarProgram& program) {
  return program.name == scalar_mul().name || program.name == scalar_scale(2).name;
}

// The number of fp32 values that a row's statistics are.
int row_statistics(const OpKind& kind) {
  if (const auto* norm = std::get_if<Norm>(&kind)) return norm->centred ? 2 : 1;
  if (const auto* back = std::get_if<NormBackward>(&kind)) return back->norm.centred ? 2 : 1;
  if (std::holds_alternative<CrossEntropy>(kind)) return 3;
  if (std::holds_alternative<Softmax>(kind)) return 2;
  if (std::holds_alternative<SoftmaxBackward>(kind)) return 1;
  return 0;
}

class Sharder {
 public:
  Sharder(const Block& block, const Assignment& assignment)
      : block_(block),
        graph_(block.graph),
        assignment_(assignment),
        placed_(block.graph, assignment) {}

  ShardedBlock run() && {
    copy_regions();
    find_made();
    find_final();
    for (const Op& op : graph_.ops()) {
      placed_.set_reader(op);
      shard_op(op);
    }
    return finish();
  }

 private:
  // ---- operations ----

  const Tensor& tensor(TensorId id) const { return graph_.tensor(id); }

  struct Operand {
    TensorId id;
    Placement placement;
  };
  Operand operand(const Op& op, std::size_t i) {
    const TensorId id = op.inputs.at(i);
    if (!is_in_recurrence(graph_, op)) return {id, placed_.placement_of(id)};
    // A recurrence visits the positions in turn: none of them are elsewhere. What closes its circle
    // is read before it is made.
    if (!placed_.is_placed(id) && contains(made_, id)) {
      placed_.make(id, without_positions(id, placed_.fixed_placement(id)));
    }
    return {id, without_positions(id, placed_.placement_of(id))};
  }
  Placement without_positions(TensorId id, Placement placement) const {
    const std::size_t positions = axis_index(tensor(id), "T");
    if (positions != kNoAxis) placement.axes[positions] = {};
    return placement;
  }
  bool is_parameter(TensorId id) const {
    return tensor(graph_.storage_of(id)).role == Role::kParameter;
  }

  std::size_t axis_split_by(const Operand& x, MeshSet m) const {
    for (std::size_t i = 0; i < x.placement.axes.size(); ++i) {
      if (x.placement.axes[i].has(m)) return i;
    }
    return kNoAxis;
  }
  std::string label_split_by(const Operand& x, MeshSet m) const {
    const std::size_t axis = axis_split_by(x, m);
    return axis == kNoAxis ? "" : tensor(x.id).axes[axis].name;
  }
  // Positions that are split over tp (sequence parallel) are gathered over all of it at once.
  void gather(Operand& x, MeshSet m) const {
    const bool positions = label_split_by(x, m) == "T" && kTensorAxes.has(m);
    for (MeshSet& set : x.placement.axes) set -= positions ? kTensorAxes : m;
  }
  void reduce(Operand& x, MeshSet m) {
    const Placement after = placed_.reduced(x.id, m);
    for (std::size_t i = 0; i < after.axes.size(); ++i) {
      x.placement.axes[i] |= after.axes[i] & m;
    }
    x.placement.unreduced -= m;
  }
  // To the axis on which `other` has m, where it is one of x too.
  void reduce_beside(Operand& x, MeshSet m, const Operand& other) {
    const std::string label = label_split_by(other, m);
    const std::size_t axis = label.empty() ? kNoAxis : axis_index(tensor(x.id), label);
    if (axis == kNoAxis) return reduce(x, m);
    x.placement.unreduced -= m;
    x.placement.axes[axis] |= m;
  }
  void move_axis(Operand& x, MeshSet m, std::string_view label) const {
    gather(x, m);
    x.placement.axes.at(axis_index(tensor(x.id), label)) |= m;
  }

  // Adds the operation on these operands; what it makes lies at `outputs`.
  void emit(const Op& op, const std::vector<Operand>& inputs,
            const std::vector<Placement>& outputs) {
    Op local = op;
    local.inputs.clear();
    local.outputs.clear();
    for (const Operand& x : inputs) {
      // The choice of experts goes where the copies of the tokens go.
      const bool carried = tensor(x.id).element == Element::kIndex;
      local.inputs.push_back(carried ? placed_.carried_to(x.id, x.placement)
                                     : placed_.moved_to(x.id, x.placement));
    }
    const bool is_view = tensor(op.outputs[0]).alias_of != kNoTensor;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const TensorId alias = is_view && i == 0 ? local.inputs.at(0) : kNoTensor;
      local.outputs.push_back(placed_.make(op.outputs[i], outputs.at(i), alias));
    }
    placed_.local.add_op(std::move(local));
    for (const TensorId id : op.outputs) settle(id);
    if (std::holds_alternative<Dispatch>(op.kind)) send_to_experts(op.outputs[0]);
  }

  // Where the experts are; what is saved of it is saved there.
  void send_to_experts(TensorId copies) {
    Operand sent{copies, placed_.placement_of(copies)};
    if (!sent.placement.split().has(ParallelAxis::kEp)) return;
    move_axis(sent, ParallelAxis::kEp, tensor(copies).axes.at(2).name);
    placed_.settle(copies, sent.placement);
  }

  // What the block hands on or saves is reduced as soon as it is made, and so is the gradient of
  // what m splits unless it is only added to others.
  void settle(TensorId id) {
    const MeshSet now = placed_.placement_of(id).unreduced & reduced_at_once(id);
    if (!now.empty()) placed_.settle(id, placed_.reduced(id, now));
  }

  MeshSet reduced_at_once(TensorId id) {
    const Tensor& whole = tensor(id);
    const bool is_final = contains(final_, id);
    if (whole.role == Role::kGradient && whole.gradient_of != kNoTensor) {
      const bool of_parameter = tensor(whole.gradient_of).role == Role::kParameter;
      if (of_parameter) return is_final ? MeshSet(ParallelAxis::kFsdp) : MeshSet();
      if (is_final) return assignment_.axes;
      return only_added(id) ? MeshSet() : placed_.fixed_placement(whole.gradient_of).split();
    }
    return is_final || contains(graph_.saved, id) ? assignment_.axes : MeshSet();
  }

  bool only_added(TensorId id) const {
    bool added = false;
    for (const Op& op : graph_.ops()) {
      if (!contains(op.inputs, id)) continue;
      const auto* map = std::get_if<Map>(&op.kind);
      if (map == nullptr || !is_sum(map->program)) return false;
      added = true;
    }
    return added;
  }

  void shard_op(const Op& op) {
    if (std::holds_alternative<Contraction>(op.kind)) return contract(op);
    if (std::holds_alternative<Map>(op.kind)) return map(op);
    if (std::holds_alternative<Relabel>(op.kind)) return relabel(op);
    if (std::holds_alternative<Gather>(op.kind)) return look_up(op);
    if (std::holds_alternative<GatherBackward>(op.kind)) return scatter(op);
    if (std::holds_alternative<Norm>(op.kind)) return norm(op);
    if (std::holds_alternative<NormBackward>(op.kind)) return norm_backward(op);
    by_label(op);
  }

  // The axis of the copies of a token, on which what was sent to experts lies.
  std::string copies_axis(const Op& op) const {
    for (const TensorId id : op.inputs) {
      if (tensor(id).element == Element::kIndex) return tensor(id).axes.back().name;
    }
    return "";
  }

  // ---- contractions ----

  void contract(const Op& op) {
    const auto& kind = std::get<Contraction>(op.kind);
    Operand a = operand(op, 0);
    Operand b = operand(op, 1);
    const Tensor& result = tensor(op.outputs[0]);
    const std::string copies = kind.routed_axis.empty() ? "" : copies_axis(op);
    for (const ParallelAxis m : kParallelAxes) {
      if (assignment_.axes.has(m)) agree(op, a, b, m, copies);
    }
    Placement made;
    made.axes.resize(result.axes.size());
    made.unreduced = a.placement.unreduced | b.placement.unreduced;
    for (const Operand* x : {&a, &b}) {
      for (std::size_t i = 0; i < x->placement.axes.size(); ++i) {
        const std::string& label = tensor(x->id).axes[i].name;
        MeshSet split = x->placement.axes[i];
        const std::size_t axis = axis_index(result, label);
        if (axis != kNoAxis) {
          made.axes[axis] |= split;
        } else if (label == kind.routed_axis) {
          continue;  // the copies carry it
        } else if (label == copies && axis_index(result, kind.routed_axis) != kNoAxis) {
          // The gradient of an expert's weight is whole where the expert is.
          const MeshSet routed = split & ParallelAxis::kEp;
          made.axes[axis_index(result, kind.routed_axis)] |= routed;
          made.unreduced |= split - routed;
        } else {
          made.unreduced |= split;
        }
      }
    }
    std::vector<Operand> inputs = {a, b};
    if (op.inputs.size() > 2) {
      Operand third = operand(op, 2);
      third.placement = copies.empty() ? placed_.like(third.id, op.outputs[0], made)
                                       : placed_.like(third.id, a.id, a.placement);
      inputs.push_back(third);
    }
    emit(op, inputs, {made});
  }

  void agree(const Op& op, Operand& a, Operand& b, MeshSet m, const std::string& copies) {
    const auto& kind = std::get<Contraction>(op.kind);
    if (a.placement.unreduced.has(m) && b.placement.unreduced.has(m)) reduce(a, m);
    for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (x->placement.unreduced.has(m) && axis_split_by(*y, m) != kNoAxis)
        reduce_beside(*x, m, *y);
    }
    const std::string on_a = label_split_by(a, m);
    const std::string on_b = label_split_by(b, m);
    if (on_a == on_b) return;
    const Tensor& result = tensor(op.outputs[0]);
    // Experts on m: the copies of the tokens go there.
    if (!copies.empty() && on_b == kind.routed_axis && is_parameter(b.id) &&
        m == MeshSet(ParallelAxis::kEp)) {
      if (on_a != copies) move_axis(a, m, copies);
      return;
    }
    if (!copies.empty() && axis_index(result, kind.routed_axis) != kNoAxis &&
        m == MeshSet(ParallelAxis::kEp) && assignment_.axes.has(m)) {
      move_axis(a, m, copies);
      move_axis(b, m, copies);
      return;
    }
    const auto is_contracted = [&](const std::string& label) {
      return !label.empty() && axis_index(tensor(a.id), label) != kNoAxis &&
             axis_index(tensor(b.id), label) != kNoAxis && axis_index(result, label) == kNoAxis;
    };
    const bool a_contracted = is_contracted(on_a);
    const bool b_contracted = is_contracted(on_b);
    if (a_contracted) gather(a, m);
    if (b_contracted) gather(b, m);
    if (!a_contracted && !b_contracted && !on_a.empty() && !on_b.empty()) {
      gather(chosen_to_gather(a, b, m, on_a), m);
    }
    // A batching axis that only one has split is sliced in the other.
    for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const std::string label = label_split_by(*x, m);
      if (label.empty() || axis_split_by(*y, m) != kNoAxis) continue;
      const std::size_t axis = axis_index(tensor(y->id), label);
      if (axis != kNoAxis && axis_index(result, label) != kNoAxis &&
          !y->placement.unreduced.has(m)) {
        y->placement.axes[axis] |= m;
      }
    }
  }

  // m on two different axes: under fsdp the parameter, otherwise the activation; of two activations
  // the keys.
  Operand& chosen_to_gather(Operand& a, Operand& b, MeshSet m, const std::string& on_a) const {
    const bool a_parameter = is_parameter(a.id);
    const bool b_parameter = is_parameter(b.id);
    if (a_parameter != b_parameter) {
      const bool gathers_parameter = m == MeshSet(ParallelAxis::kFsdp);
      return gathers_parameter == a_parameter ? a : b;
    }
    return on_a == "S" || on_a == "T" ? (on_a == "T" && label_split_by(b, m) == "S" ? b : a) : b;
  }

  // ---- element by element ----

  void map(const Op& op) {
    const ScalarProgram& program = std::get<Map>(op.kind).program;
    std::vector<Operand> inputs;
    for (std::size_t i = 0; i < op.inputs.size(); ++i) inputs.push_back(operand(op, i));
    const Tensor& result = tensor(op.outputs[0]);
    const MeshSet partial = stays_partial(program, inputs);
    for (Operand& x : inputs) {
      for (const ParallelAxis m : kParallelAxes) {
        if ((x.placement.unreduced - partial).has(m)) reduce_for(x, m, inputs);
      }
    }
    Placement made;
    made.unreduced = partial;
    made.axes.resize(result.axes.size());
    for (const Operand& x : inputs) {
      if (!is_parameter(x.id)) take_axes(made, result, x);
    }
    // A gradient lies where its tensor lies; parameters follow the activations.
    for (const Operand& x : inputs) {
      if (is_parameter(x.id)) take_axes(made, result, x, MeshSet(ParallelAxis::kFsdp));
    }
    for (Operand& x : inputs) {
      Placement target = placed_.like(x.id, op.outputs[0], made);
      target.unreduced = x.placement.unreduced & partial;
      x.placement = target;
    }
    emit(op, inputs, {made});
  }

  // m splits the result where it splits an operand, unless another operand, earlier, has it on
  // another axis.
  void take_axes(Placement& made, const Tensor& result, const Operand& x, MeshSet without = {}) {
    const MeshSet taken = made.split() | made.unreduced | without;
    for (std::size_t i = 0; i < x.placement.axes.size(); ++i) {
      const std::size_t axis = axis_index(result, tensor(x.id).axes[i].name);
      if (axis != kNoAxis) made.axes[axis] |= x.placement.axes[i] - taken;
    }
  }

  // What a partial sum m of an operand remains in the result: in a sum where all operands are, in a
  // linear function where the others are whole on m.
  MeshSet stays_partial(const ScalarProgram& program, const std::vector<Operand>& inputs) {
    MeshSet partial;
    for (const ParallelAxis m : kParallelAxes) {
      std::size_t sums = 0;
      std::size_t splits = 0;
      for (const Operand& x : inputs) {
        if (x.placement.unreduced.has(m)) ++sums;
        if (axis_split_by(x, m) != kNoAxis) ++splits;
      }
      if (sums == 0) continue;
      const bool all = sums == inputs.size();
      const bool linear = is_linear_in_each(program) && sums == 1 && splits == 0;
      if ((is_sum(program) && all) || linear || (inputs.size() == 1 && is_sum(program))) {
        partial |= m;
      }
    }
    return partial;
  }

  // To where another operand has m, else to the tensor's own placement.
  void reduce_for(Operand& x, MeshSet m, const std::vector<Operand>& inputs) {
    for (const Operand& other : inputs) {
      if (axis_split_by(other, m) != kNoAxis) return reduce_beside(x, m, other);
    }
    reduce(x, m);
  }

  // ---- views ----

  // Axes keep their places by name; those renamed, split in two or joined follow in order.
  void relabel(const Op& op) {
    Operand x = operand(op, 0);
    const Tensor& from = tensor(x.id);
    const Tensor& to = tensor(op.outputs[0]);
    Placement made;
    made.axes.resize(to.axes.size());
    made.unreduced = x.placement.unreduced;
    for (std::size_t i = 0; i < from.axes.size(); ++i) {
      const MeshSet split = x.placement.axes[i];
      const std::string& label = from.axes[i].name;
      const std::size_t same = axis_index(to, label);
      if (same != kNoAxis) {
        made.axes[same] |= split;
      } else if (axis_index(from, "K") != kNoAxis && (label == "K" || label == "G") &&
                 axis_index(to, "N") != kNoAxis) {
        made.axes[axis_index(to, "N")] |= split;
      } else if (label == "N" && axis_index(to, "K") != kNoAxis) {
        const std::size_t groups = axis_index(to, "G");
        const MeshSet on_groups = groups == kNoAxis ? MeshSet() : split & ParallelAxis::kTpGroups;
        if (groups != kNoAxis) made.axes[groups] |= on_groups;
        made.axes[axis_index(to, "K")] |= split - on_groups;
      } else if (const std::size_t other = only_new_axis(from, to, i); other != kNoAxis) {
        made.axes[other] |= split;
      } else {
        gather(x, split);
      }
    }
    emit(op, {x}, {made});
  }

  // The axis of `to` that stands in the place of axis i of `from`, of the same size.
  std::size_t only_new_axis(const Tensor& from, const Tensor& to, std::size_t i) const {
    for (std::size_t j = 0; j < to.axes.size(); ++j) {
      if (axis_index(from, to.axes[j].name) == kNoAxis && j == i &&
          from.axes.size() == to.axes.size()) {
        return j;
      }
    }
    return kNoAxis;
  }

  // ---- tables ----

  void look_up(const Op& op) {
    Operand ids = operand(op, 0);
    Operand table = operand(op, 1);
    const Tensor& result = tensor(op.outputs[0]);
    Placement made;
    made.axes.resize(result.axes.size());
    const std::string copies = tensor(ids.id).axes.empty() ? "" : tensor(ids.id).axes.back().name;
    const bool routed = !tensor(table.id).routed_axis.empty();
    for (const ParallelAxis m : kParallelAxes) {
      if (axis_split_by(table, m) == kNoAxis) continue;
      const bool on_rows = table.placement.axes[0].has(m);
      if (routed && on_rows && m == ParallelAxis::kEp) {
        move_axis(ids, m, copies);
      } else if (m == ParallelAxis::kFsdp || axis_split_by(ids, m) != kNoAxis) {
        gather(table, m);
      } else if (on_rows) {
        made.unreduced |= m;
      }
    }
    take_axes(made, result, ids);
    for (std::size_t i = 1; i < table.placement.axes.size(); ++i) {
      const std::size_t axis = axis_index(result, tensor(table.id).axes[i].name);
      if (axis != kNoAxis) made.axes[axis] |= table.placement.axes[i];
    }
    emit(op, {ids, table}, {made});
  }

  // The rows of the gradient; each device has those of its own tokens, or of its own part of the
  // table.
  void scatter(const Op& op) {
    Operand ids = operand(op, 0);
    Operand dy = operand(op, 1);
    const TensorId table = tensor(op.outputs[0]).gradient_of;
    const Placement parameter = placed_.fixed_placement(table);
    const bool routed = !tensor(table).routed_axis.empty();
    Placement made;
    made.axes.resize(parameter.axes.size());
    for (const ParallelAxis m : kParallelAxes) {
      if (!assignment_.axes.has(m)) continue;
      if (dy.placement.unreduced.has(m)) reduce(dy, m);
      const std::size_t on_table = axis_index(parameter, m);
      const std::size_t on_dy = axis_split_by(dy, m);
      if (routed && on_table == 0 && m == ParallelAxis::kEp) {
        const std::string copies = tensor(ids.id).axes.back().name;
        if (on_dy != kNoAxis) move_axis(dy, m, copies);
        move_axis(ids, m, copies);
        made.axes[0] |= m;
        continue;
      }
      if (on_table != kNoAxis && m != ParallelAxis::kFsdp) {
        const std::string label = tensor(table).axes[on_table].name;
        if (on_dy != kNoAxis && tensor(dy.id).axes[on_dy].name != label) gather(dy, m);
        made.axes[on_table] |= m;
      } else if (on_dy != kNoAxis) {
        made.unreduced |= m;
      }
    }
    ids.placement = placed_.like(ids.id, dy.id, dy.placement);
    emit(op, {ids, dy}, {made});
  }

  // ---- rows ----

  void norm(const Op& op) {
    Operand x = operand(op, 0);
    if (!x.placement.unreduced.empty()) reduce(x, x.placement.unreduced);
    std::vector<Operand> inputs = {x};
    for (std::size_t i = 1; i < op.inputs.size(); ++i) inputs.push_back(follower(op, i, x));
    reduce_statistics(op, x, std::get<Norm>(op.kind).normalised_axes);
    emit(op, inputs, {x.placement});
  }

  // A parameter or constant beside an activation: whole but where the activation is split.
  Operand follower(const Op& op, std::size_t i, const Operand& x) {
    Operand other = operand(op, i);
    other.placement = placed_.like(other.id, x.id, x.placement);
    return other;
  }

  void norm_backward(const Op& op) {
    const Norm& kind = std::get<NormBackward>(op.kind).norm;
    Operand x = operand(op, 0);
    if (!x.placement.unreduced.empty()) reduce(x, x.placement.unreduced);
    std::vector<Operand> inputs = {x};
    for (std::size_t i = 1; i < op.inputs.size(); ++i) {
      Operand other = follower(op, i, x);
      inputs.push_back(other);
    }
    reduce_statistics(op, x, kind.normalised_axes);
    std::vector<Placement> made;
    for (const TensorId id : op.outputs) {
      Placement placement = placed_.like(id, x.id, x.placement);
      if (axis_index(tensor(id), "B") == kNoAxis) {
        placement.unreduced = x.placement.split() - placement.split();
      }
      made.push_back(placement);
    }
    emit(op, inputs, made);
  }

  // One all-reduce of the statistics of every row that m splits.
  void reduce_statistics(const Op& op, const Operand& x, int row_axes) {
    const std::size_t first = x.placement.axes.size() - static_cast<std::size_t>(row_axes);
    MeshSet group;
    Tensor stats{op.name + ".stats", {}, Role::kActivation, Element::kFp32, op.component};
    const Tensor local = placed_.local_tensor(tensor(x.id), x.placement);
    for (std::size_t i = 0; i < x.placement.axes.size(); ++i) {
      if (i < first) {
        stats.axes.push_back(local.axes[i]);
      } else {
        group |= x.placement.axes[i];
      }
    }
    if (group.empty()) return;
    stats.axes.push_back({"Values", row_statistics(op.kind)});
    const Expr array = elements(stats);
    const TensorId made = placed_.local.add_tensor(std::move(stats));
    placed_.local.add_op({
        op.name + ".stats",
        Collective{CollectiveKind::kAllReduce, assignment_.symbols(group), array},
        {     },
        {made                      },
        op.component,
        op.pass,
        op.region
    });
  }

  // ---- everything else: what the labels say ----

  bool is_linear(const OpKind& kind) const {
    return std::holds_alternative<Sum>(kind) || std::holds_alternative<Broadcast>(kind) ||
           std::holds_alternative<Rotary>(kind) || std::holds_alternative<Dispatch>(kind) ||
           std::holds_alternative<Combine>(kind) || std::holds_alternative<TakeOne>(kind) ||
           std::holds_alternative<TakeOneBackward>(kind) ||
           std::holds_alternative<CacheAppend>(kind);
  }
  // Looks from one position to others.
  static bool reaches_along_positions(const OpKind& kind) {
    return std::holds_alternative<Convolution>(kind) ||
           std::holds_alternative<ConvolutionBackward>(kind) ||
           std::holds_alternative<CausalConvolution>(kind) ||
           std::holds_alternative<CausalConvolutionBackward>(kind) ||
           std::holds_alternative<Previous>(kind) || std::holds_alternative<Prepend>(kind) ||
           std::holds_alternative<PrependBackward>(kind) || std::holds_alternative<TakeOne>(kind) ||
           std::holds_alternative<TakeOneBackward>(kind);
  }
  static std::string row_axis(const OpKind& kind) {
    if (const auto* softmax = std::get_if<Softmax>(&kind)) return softmax->axis;
    if (const auto* back = std::get_if<SoftmaxBackward>(&kind)) return back->axis;
    return "";
  }
  // Chooses among all of an axis.
  static std::string whole_axis(const OpKind& kind) {
    if (const auto* top_k = std::get_if<TopK>(&kind)) return top_k->axis;
    if (const auto* select = std::get_if<SelectKeys>(&kind)) return select->axis;
    return "";
  }

  void by_label(const Op& op) {
    Operand x = op.inputs.empty() ? Operand{} : operand(op, 0);
    const bool linear = is_linear(op.kind);
    if (!linear && !x.placement.unreduced.empty()) reduce(x, x.placement.unreduced);
    bring_copies_back(op, x);
    const auto make_whole = [&](const std::string& label) {
      const std::size_t axis = axis_index(tensor(x.id), label);
      if (axis != kNoAxis) gather(x, x.placement.axes[axis]);
    };
    if (reaches_along_positions(op.kind)) {
      make_whole("T");
      make_whole("S");
    }
    make_whole(whole_axis(op.kind));
    if (std::holds_alternative<CrossEntropy>(op.kind)) reduce_statistics(op, x, 1);
    if (const std::string axis = row_axis(op.kind); !axis.empty()) softmax_statistics(op, x, axis);
    std::vector<Operand> inputs = {x};
    for (std::size_t i = 1; i < op.inputs.size(); ++i) inputs.push_back(follower(op, i, x));
    std::vector<Placement> made;
    for (const TensorId id : op.outputs) made.push_back(result_by_label(op, id, x, linear));
    emit(op, inputs, made);
  }

  // Only experts compute on copies that were sent to them.
  void bring_copies_back(const Op& op, Operand& x) const {
    const bool reads_copies =
        std::holds_alternative<Combine>(op.kind) || std::holds_alternative<Sum>(op.kind);
    const std::string label = label_split_by(x, ParallelAxis::kEp);
    if (!reads_copies || label.empty() || label == "B" || label == "E") return;
    if (axis_index(tensor(x.id), "B") != kNoAxis) move_axis(x, ParallelAxis::kEp, "B");
  }

  void softmax_statistics(const Op& op, const Operand& x, const std::string& axis) {
    const std::size_t i = axis_index(tensor(x.id), axis);
    if (i == kNoAxis || x.placement.axes[i].empty()) return;
    FLOPWISE_CHECK(i + 1 == x.placement.axes.size(), op.name + ": rows along the last axis");
    reduce_statistics(op, x, 1);
  }

  Placement result_by_label(const Op& op, TensorId id, const Operand& x, bool linear) {
    const Tensor& whole = tensor(id);
    Placement made;
    if (op.inputs.empty()) {
      made.axes.resize(whole.axes.size());
      return made;
    }
    made = placed_.like(id, x.id, x.placement);
    if (linear) made.unreduced = x.placement.unreduced;
    // Added up over what is missing: a partial sum where that was split.
    const bool adds = std::holds_alternative<Sum>(op.kind) ||
                      std::holds_alternative<SinkBackward>(op.kind) ||
                      std::holds_alternative<ConvolutionBackward>(op.kind) ||
                      std::holds_alternative<CausalConvolutionBackward>(op.kind) ||
                      std::holds_alternative<PrependBackward>(op.kind);
    if (adds) made.unreduced |= x.placement.split() - made.split();
    if (whole.gradient_of != kNoTensor && tensor(whole.gradient_of).role != Role::kParameter) {
      // An axis that is new: where the tensor itself is split.
      const Placement wanted = placed_.fixed_placement(whole.gradient_of);
      for (std::size_t i = 0; i < made.axes.size(); ++i) {
        if (axis_index(tensor(x.id), whole.axes[i].name) == kNoAxis) {
          made.axes[i] |= wanted.axes[i] - made.split() - made.unreduced;
        }
      }
    }
    return made;
  }

  // ---- the end of the block ----

  void copy_regions() {
    for (RegionId id = 0;; ++id) {
      const bool used = std::any_of(graph_.ops().begin(), graph_.ops().end(),
                                    [&](const Op& op) { return op.region >= id; });
      if (!used) return;
      FusedKernel region = graph_.region(id);
      region.output = region.row_stats = kNoTensor;
      placed_.local.add_region(std::move(region));
    }
  }

  void find_made() {
    for (const Op& op : graph_.ops())
      made_.insert(made_.end(), op.outputs.begin(), op.outputs.end());
  }

  void find_final() {
    for (const TensorId id : graph_.outputs) final_.push_back(graph_.storage_of(id));
    for (const GradientOf& link : graph_.gradients) {
      if (link.gradient != kNoTensor) final_.push_back(link.gradient);
    }
  }

  ShardedBlock finish() {
    Graph& local = placed_.local;
    for (const TensorId id : graph_.outputs) local.outputs.push_back(placed_.version(id));
    for (const TensorId id : graph_.saved) local.saved.push_back(placed_.version(id));
    ShardedBlock result;
    for (const GradientOf& link : graph_.gradients) {
      GradientOf part{placed_.version(link.tensor), kNoTensor, kNoTensor};
      if (link.arriving != kNoTensor) part.arriving = placed_.version(link.arriving);
      if (link.gradient != kNoTensor) {
        part.gradient = placed_.version(link.gradient);
        if (tensor(link.tensor).role == Role::kParameter) {
          reduce_over_the_step(link, result.gradients);
        }
      }
      local.gradients.push_back(part);
    }
    result.divisions = placed_.divisions;
    result.local = block_;
    result.local.graph = std::move(local);
    return result;
  }

  void reduce_over_the_step(const GradientOf& link, std::vector<GradientReduction>& reductions) {
    const Tensor& of = tensor(link.tensor);
    const MeshSet left = placed_.placement_of(link.gradient).unreduced;
    if (left.empty()) return;
    const Expr part = elements(placed_.local.tensor(placed_.version(link.gradient)));
    reductions.push_back({
        of.name, of.shared,
        Collective{CollectiveKind::kAllReduce, assignment_.symbols(left), part}
    });
  }

  const Block& block_;
  const Graph& graph_;
  const Assignment& assignment_;
  PlacedGraph placed_;
  std::vector<TensorId> made_;   // by some operation
  std::vector<TensorId> final_;  // what the block hands on, and final gradients
};

}  // namespace

ShardedBlock shard(const Block& block, const Assignment& assignment) {
  return Sharder(block, assignment).run();
}

}  // namespace flopwise
