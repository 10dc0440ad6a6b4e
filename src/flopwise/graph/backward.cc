#include "flopwise/graph/backward.h"

#include <algorithm>
#include <map>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/split.h"

namespace flopwise {
namespace {

class Differentiator {
 public:
  explicit Differentiator(const Graph& forward) : graph_(forward), forward_ops_(forward.ops()) {}

  Graph run() {
    for (const TensorId output : graph_.outputs) seed(output);
    std::size_t end = forward_ops_.size();
    while (end > 0) {
      const RegionId region = forward_ops_[end - 1].region;
      std::size_t begin = end - 1;
      while (region != kNoRegion && begin > 0 && forward_ops_[begin - 1].region == region) --begin;
      if (region == kNoRegion) {
        pull_back(forward_ops_[begin]);
      } else if (graph_.region(region).is_recurrence) {
        pull_back_recurrence(region, begin, end);
      } else {
        pull_back_attention(region, begin, end);
      }
      end = begin;
    }
    finish_inputs();
    for (const Op& op : emitted_) graph_.add_op(op);
    return std::move(graph_);
  }

 private:
  // ---- gradients of tensors ------------------------------------------------------------------

  // "grad.x", and for the further gradients of a tensor that is read more than once "grad.x.2", ...
  std::string unique(const std::string& name) {
    const int count = ++names_[name];
    return count == 1 ? name : name + "." + std::to_string(count);
  }

  TensorId new_gradient(TensorId of, const std::string& name) {
    Tensor gradient = graph_.tensor(of);
    gradient.name = unique(name);
    gradient.role = Role::kGradient;
    gradient.element = Element::kCompute;
    gradient.gradient_of = of;
    gradient.alias_of = kNoTensor;
    gradient.shared = graph_.tensor(of).shared;
    return graph_.add_tensor(std::move(gradient));
  }

  TensorId new_gradient(TensorId of) { return new_gradient(of, "grad." + graph_.tensor(of).name); }

  void seed(TensorId output) {
    const bool is_loss = std::any_of(forward_ops_.begin(), forward_ops_.end(), [&](const Op& op) {
      return std::holds_alternative<CrossEntropy>(op.kind) && op.outputs[0] == output;
    });
    // A loss needs no incoming gradient: its own derivative is one.
    const TensorId arriving = is_loss ? kNoTensor : new_gradient(output);
    graph_.gradients.push_back({output, arriving, kNoTensor});
    give(output, arriving);
  }

  void give(TensorId tensor, TensorId gradient) { contributions_[tensor].push_back(gradient); }
  bool wants(TensorId tensor) const { return graph_.tensor(tensor).needs_gradient; }
  bool has_gradient(TensorId tensor) const { return contributions_.count(tensor) > 0; }

  // The sum of all contributions; emits the additions.
  TensorId gradient(TensorId tensor) {
    std::vector<TensorId>& parts = contributions_.at(tensor);
    while (parts.size() > 1) {
      const TensorId sum = new_gradient(tensor);
      emit(graph_.tensor(tensor).name + ".grad_sum", Map{scalar_add()}, {parts[0], parts[1]}, {sum},
           graph_.tensor(tensor).component);
      parts.erase(parts.begin());
      parts[0] = sum;
    }
    return parts[0];
  }

  // What enters the block from outside: the residual stream, and what all layers share.
  void finish_inputs() {
    const int count = static_cast<int>(graph_.tensors().size());
    for (TensorId id = 0; id < count; ++id) {
      const Tensor& tensor = graph_.tensor(id);
      const bool is_source = tensor.role == Role::kInput || tensor.role == Role::kParameter;
      if (!is_source || !has_gradient(id)) continue;
      GradientOf link{id, kNoTensor, kNoTensor};
      if ((tensor.role == Role::kInput && tensor.shared) || tensor.added_up) {
        link.arriving = new_gradient(id, "grad." + tensor.name + ".other_layers");
        give(id, link.arriving);
      }
      link.gradient = gradient(id);
      graph_.gradients.push_back(link);
    }
  }

  void emit(const std::string& name, OpKind kind, std::vector<TensorId> inputs,
            std::vector<TensorId> outputs, Component component) {
    emitted_.push_back({unique(name), std::move(kind), std::move(inputs), std::move(outputs),
                        component, Pass::kBackward, region_});
  }

  // Emits one operation that gives `operand` of `op` its gradient.
  void emit_gradient(const Op& op, TensorId operand, OpKind kind, std::vector<TensorId> inputs) {
    const TensorId result = new_gradient(operand);
    emit(op.name + ".d_" + last_part(graph_.tensor(operand).name), std::move(kind),
         std::move(inputs), {result}, op.component);
    give(operand, result);
  }

  // ---- one rule per kind of operation --------------------------------------------------------

  void pull_back(const Op& op) {
    if (!has_gradient(op.outputs[0])) return;
    const TensorId dy = gradient(op.outputs[0]);
    std::visit([&](const auto& kind) { pull(op, kind, dy); }, op.kind);
  }

  void pull(const Op& op, const Contraction& kind, TensorId dy) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!wants(op.inputs[i])) continue;
      std::vector<TensorId> inputs = {dy, op.inputs[1 - i]};
      if (!kind.routed_axis.empty()) inputs.push_back(op.inputs[2]);  // the choice
      emit_gradient(op, op.inputs[i], kind, std::move(inputs));
    }
    if (starts_from_input(op)) give(op.inputs[2], dy);
  }

  void pull(const Op& op, const Map& kind, TensorId dy) {
    const int operands = static_cast<int>(op.inputs.size());
    for (int i = 0; i < operands; ++i) {
      const TensorId operand = op.inputs[static_cast<std::size_t>(i)];
      if (!wants(operand)) continue;
      const ScalarProgram slope = derivative(kind.program, i);
      if (is_identity(slope, operands)) {
        hand_on(op, operand, dy);
      } else {
        pull_through(op, operand, slope, dy);
      }
    }
  }

  // The gradient passes unchanged, summed over the axes that the operand lacks.
  void hand_on(const Op& op, TensorId operand, TensorId dy) {
    if (graph_.tensor(operand).axes.size() == graph_.tensor(dy).axes.size()) {
      give(operand, dy);
    } else {
      emit_gradient(op, operand, Sum{}, {dy});
    }
  }

  void pull_through(const Op& op, TensorId operand, const ScalarProgram& slope, TensorId dy) {
    std::vector<TensorId> all = op.inputs;
    all.push_back(dy);
    const CompactProgram map = compact(slope);
    std::vector<TensorId> inputs;
    for (const int kept : map.kept) inputs.push_back(all[static_cast<std::size_t>(kept)]);
    if (graph_.tensor(operand).axes.size() == graph_.tensor(dy).axes.size()) {
      emit_gradient(op, operand, Map{map.program}, std::move(inputs));
      return;
    }
    const TensorId wide =
        new_gradient(op.outputs[0], "grad." + graph_.tensor(operand).name + ".wide");
    emit(op.name + ".d_" + last_part(graph_.tensor(operand).name) + "_wide", Map{map.program},
         std::move(inputs), {wide}, op.component);
    emit_gradient(op, operand, Sum{}, {wide});
  }

  void pull(const Op& op, const Sum&, TensorId dy) {
    emit_gradient(op, op.inputs[0], Broadcast{}, {dy});
  }

  void pull(const Op& op, const Broadcast&, TensorId dy) {
    emit_gradient(op, op.inputs[0], Sum{}, {dy});
  }

  void pull(const Op& op, const Softmax& kind, TensorId dy) {
    std::vector<TensorId> inputs = {op.outputs[0], dy};
    if (delta_ != kNoTensor) inputs.push_back(delta_);
    emit_gradient(op, op.inputs[0], SoftmaxBackward{kind.axis, kind.scale, delta_ != kNoTensor},
                  std::move(inputs));
    if (op.inputs.size() > 1) {
      emit_gradient(op, op.inputs[1], SinkBackward{kind.axis}, {op.outputs[0], dy});
    }
  }

  void pull(const Op& op, const Norm& kind, TensorId dy) {
    std::vector<TensorId> inputs = {op.inputs[0]};
    if (kind.has_weight) inputs.push_back(op.inputs[1]);
    inputs.push_back(dy);
    std::vector<TensorId> outputs;
    for (const TensorId operand : op.inputs) {
      outputs.push_back(new_gradient(operand));
      give(operand, outputs.back());
    }
    emit(op.name + ".d_" + last_part(graph_.tensor(op.inputs[0]).name), NormBackward{kind},
         std::move(inputs), std::move(outputs), op.component);
  }

  void pull(const Op& op, const Gather&, TensorId dy) {
    if (wants(op.inputs[1])) emit_gradient(op, op.inputs[1], GatherBackward{}, {op.inputs[0], dy});
  }

  void pull(const Op& op, const TopK&, TensorId dy) {
    emit_gradient(op, op.inputs[0], TopKBackward{}, {dy, op.outputs[1]});
  }

  void pull(const Op& op, const Dispatch&, TensorId dy) {
    emit_gradient(op, op.inputs[0], Sum{}, {dy});  // a token's k copies add up
  }

  void pull(const Op& op, const Combine&, TensorId dy) {
    emit_gradient(op, op.inputs[0], Combine{}, {dy, op.inputs[1]});
  }

  void pull(const Op& op, const Rotary& kind, TensorId dy) {
    Rotary back = kind;
    back.inverse = !kind.inverse;
    emit_gradient(op, op.inputs[0], back, {dy});
  }

  void pull(const Op& op, const Dropout&, TensorId dy) {
    emit_gradient(op, op.inputs[0], Map{scalar_mul()}, {dy, op.outputs[1]});
  }

  void pull(const Op& op, const CrossEntropy&, TensorId) {
    emit_gradient(op, op.inputs[0], CrossEntropyBackward{},
                  {op.inputs[0], op.inputs[1], op.outputs[1]});
  }

  void pull(const Op& op, const Convolution& kind, TensorId dy) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!wants(op.inputs[i])) continue;
      emit_gradient(op, op.inputs[i], ConvolutionBackward{kind.stride, i == 1},
                    {dy, op.inputs[1 - i]});
    }
  }

  void pull(const Op& op, const CausalConvolution&, TensorId dy) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (!wants(op.inputs[i])) continue;
      emit_gradient(op, op.inputs[i], CausalConvolutionBackward{i == 1}, {dy, op.inputs[1 - i]});
    }
  }

  void pull(const Op& op, const Prepend&, TensorId dy) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (wants(op.inputs[i])) emit_gradient(op, op.inputs[i], PrependBackward{i == 1}, {dy});
    }
  }

  // Of the positions but the first: zeros for that one. What adds up the first has no gradient.
  void pull(const Op& op, const PrependBackward& kind, TensorId dy) {
    if (kind.of_row) no_gradient(op);
    emit_gradient(op, op.inputs[0], Prepend{}, {dy});
  }

  // Its gradient has been promised to the tensor that is carried on.
  void pull(const Op& op, const Previous&, TensorId dy) {
    emit(op.name + ".d_" + last_part(graph_.tensor(op.inputs[0]).name), Previous{true}, {dy},
         {from_next_.at(op.inputs[0])}, op.component);
  }

  void pull(const Op& op, const Relabel&, TensorId dy) {
    const TensorId result = new_gradient(op.inputs[0]);
    graph_.tensor(result).alias_of = dy;
    emit(op.name + ".d_" + last_part(graph_.tensor(op.inputs[0]).name), Relabel{}, {dy}, {result},
         op.component);
    give(op.inputs[0], result);
  }

  void pull(const Op& op, const TakeOne& kind, TensorId dy) {
    emit_gradient(op, op.inputs[0], TakeOneBackward{kind.last}, {dy});
  }

  // No training step differentiates through these.
  void pull(const Op& op, const CacheAppend&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const SoftmaxFromStats&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const SoftmaxBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const SinkBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const NormBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const GatherBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const TopKBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const SelectKeys&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const CrossEntropyBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const ConvolutionBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const CausalConvolutionBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const TakeOneBackward&, TensorId) { no_gradient(op); }
  void pull(const Op& op, const Collective&, TensorId) { no_gradient(op); }
  [[noreturn]] void no_gradient(const Op& op) {
    throw InternalError(op.name + ": this operation has no gradient");
  }

  // ---- fused kernels -------------------------------------------------------------------------

  std::vector<Op> forward_slice(std::size_t begin, std::size_t end) const {
    return {forward_ops_.begin() + static_cast<std::ptrdiff_t>(begin),
            forward_ops_.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  std::vector<TensorId> read_since(std::size_t first_emitted) const {
    std::vector<TensorId> read;
    for (std::size_t i = first_emitted; i < emitted_.size(); ++i) {
      read.insert(read.end(), emitted_[i].inputs.begin(), emitted_[i].inputs.end());
    }
    return read;
  }

  void insert_recomputed(std::size_t first_emitted, std::vector<Op> again) {
    for (Op& op : again) {
      op.pass = Pass::kRecompute;
      op.region = region_;
    }
    emitted_.insert(emitted_.begin() + static_cast<std::ptrdiff_t>(first_emitted), again.begin(),
                    again.end());
  }

  // The same rules inside, from the last position to the first: what is carried on gets a part of
  // its gradient from the position behind, and is computed again.
  void pull_back_recurrence(RegionId id, std::size_t begin, std::size_t end) {
    const FusedKernel forward = graph_.region(id);
    region_ = graph_.add_region({forward.name, kNoTensor, kNoTensor, Pass::kBackward, true});
    const std::size_t first_emitted = emitted_.size();
    const std::vector<Op> inner = forward_slice(begin, end);
    for (const Op& op : inner) {
      if (!std::holds_alternative<Previous>(op.kind)) continue;
      const TensorId carried = op.inputs[0];
      from_next_[carried] = new_gradient(carried, "grad." + graph_.tensor(carried).name + ".next");
      give(carried, from_next_[carried]);
    }
    for (std::size_t i = end; i > begin; --i) pull_back(forward_ops_[i - 1]);

    // The circle: until what is computed again asks for nothing more.
    std::vector<TensorId> wanted = read_since(first_emitted);
    std::vector<Op> again;
    for (bool settled = false; !settled;) {
      std::vector<Op> next = producers_of(graph_, inner, wanted, {forward.output});
      settled = next.size() == again.size();
      again = std::move(next);
      for (const Op& op : again) wanted.insert(wanted.end(), op.inputs.begin(), op.inputs.end());
    }
    insert_recomputed(first_emitted, std::move(again));
    region_ = kNoRegion;
  }

  // The same rules inside, with three differences: the row sum of p*dp comes from o*do; nothing of
  // size T*S was kept, so what backward reads of it is computed again from the inputs and the row
  // log-sum-exp; all of it is one kernel.
  void pull_back_attention(RegionId id, std::size_t begin, std::size_t end) {
    const FusedKernel forward = graph_.region(id);
    if (!has_gradient(forward.output)) return;  // an indexer, which learns apart
    region_ = graph_.add_region({forward.name, kNoTensor, kNoTensor, Pass::kBackward});
    const std::size_t first_emitted = emitted_.size();
    emit_delta(forward);
    for (std::size_t i = end; i > begin; --i) pull_back(forward_ops_[i - 1]);
    delta_ = kNoTensor;

    std::vector<Op> again =
        producers_of(graph_, forward_slice(begin, end), read_since(first_emitted),
                     {forward.output, forward.row_stats});
    for (Op& op : again) {
      if (const auto* softmax = std::get_if<Softmax>(&op.kind)) {
        op.kind = SoftmaxFromStats{softmax->axis, softmax->scale};
        op.inputs = {op.inputs[0], forward.row_stats};  // a sink is part of the statistics
        op.outputs.resize(1);
      }
    }
    insert_recomputed(first_emitted, std::move(again));
    region_ = kNoRegion;
  }

  void emit_delta(const FusedKernel& forward) {
    const TensorId d_output = gradient(forward.output);
    const TensorId product = new_gradient(forward.output, "grad." + forward.name + ".o_do");
    emit(forward.name + ".o_do", Map{scalar_mul()}, {forward.output, d_output}, {product},
         Component::kAttention);
    Tensor rows = graph_.tensor(forward.row_stats);
    rows.name = "grad." + forward.name + ".delta";
    rows.role = Role::kGradient;
    delta_ = graph_.add_tensor(std::move(rows));
    emit(forward.name + ".delta", Sum{}, {product}, {delta_}, Component::kAttention);
  }

  Graph graph_;
  std::vector<Op> forward_ops_;
  std::vector<Op> emitted_;
  std::map<TensorId, std::vector<TensorId>> contributions_;
  std::map<std::string, int> names_;
  RegionId region_ = kNoRegion;
  TensorId delta_ = kNoTensor;
  std::map<TensorId, TensorId> from_next_;  // by what a recurrence carries on
};

}  // namespace

Graph differentiate(const Graph& forward) {
  return Differentiator(forward).run();
}

std::vector<Op> producers_of(const Graph& graph, const std::vector<Op>& ops,
                             const std::vector<TensorId>& wanted,
                             const std::vector<TensorId>& at_hand) {
  std::vector<TensorId> have;
  for (const TensorId id : at_hand) {
    if (id != kNoTensor) have.push_back(graph.storage_of(id));
  }
  std::vector<TensorId> need;
  const auto ask = [&](TensorId id) {
    const TensorId storage = graph.storage_of(id);
    if (!contains(have, storage) && !contains(need, storage)) need.push_back(storage);
  };
  for (const TensorId id : wanted) ask(id);
  std::vector<bool> runs(ops.size(), false);
  // Operations stand in order of execution, so one sweep from the last to the first reaches all.
  for (std::size_t i = ops.size(); i-- > 0;) {
    runs[i] = std::any_of(ops[i].outputs.begin(), ops[i].outputs.end(), [&](TensorId id) {
      return graph.tensor(id).alias_of == kNoTensor && contains(need, id);
    });
    if (!runs[i]) continue;
    for (const TensorId id : ops[i].inputs) ask(id);
  }
  std::vector<Op> result;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (runs[i]) result.push_back(ops[i]);
  }
  return result;
}

}  // namespace flopwise
