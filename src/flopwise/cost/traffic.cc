#include "flopwise/cost/traffic.h"

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// What an eager loss moves besides the logits it reads and their gradient. Frameworks take it in
// fp32 (torch.autocast's list of fp32 operations; Megatron's vocab_parallel_cross_entropy of
// logits.float()). Forward: logits as fp32 written and read, their log-probabilities written.
// Backward: log-probabilities read in place of logits, their gradient filled and read, the gradient
// of fp32 logits written and read.
Expr fp32_loss_bytes(const Graph& graph, const Op& op, const ElementTypes& types) {
  const bool is_forward = std::holds_alternative<CrossEntropy>(op.kind);
  if (!is_forward && !std::holds_alternative<CrossEntropyBackward>(op.kind)) return 0;
  const Tensor& logits = graph.tensor(op.inputs.at(0));
  if (is_forward) return elements(logits) * 3 * 4;
  return elements(logits) * (5 * 4 - bytes_per_element(logits.element, types));
}

// A view of memory: who owns it, and the axes under which an operation sees it.
struct View {
  TensorId storage;
  TensorId seen_as;
  OpId op;  // the operation that reads or writes it
};

bool owns(const std::vector<View>& views, TensorId storage) {
  return std::any_of(views.begin(), views.end(),
                     [&](const View& view) { return view.storage == storage; });
}

class TrafficCounter {
 public:
  TrafficCounter(const Graph& graph, Fusion fusion, const ElementTypes& types)
      : graph_(graph), fusion_(fusion), types_(types), kernels_(kernels_of(graph, fusion)) {}

  std::vector<Traffic> count() const {
    std::vector<Traffic> traffic(graph_.ops().size());
    for (std::size_t lead = 0; lead < kernels_.size(); ++lead) {
      if (kernels_[lead] != static_cast<OpId>(lead)) continue;
      const OpId home = home_of_kernel(graph_, kernels_, static_cast<OpId>(lead));
      traffic[static_cast<std::size_t>(home)] = kernel_traffic(static_cast<OpId>(lead));
      if (fusion_ != Fusion::kEager) continue;
      traffic[static_cast<std::size_t>(home)].activations +=
          fp32_loss_bytes(graph_, op(static_cast<OpId>(lead)), types_);
    }
    return traffic;
  }

 private:
  const Op& op(OpId id) const { return graph_.ops()[static_cast<std::size_t>(id)]; }
  bool in_kernel(OpId id, OpId lead) const {
    return kernels_[static_cast<std::size_t>(id)] == lead;
  }

  Traffic kernel_traffic(OpId lead) const {
    std::vector<View> made;
    std::vector<View> read;
    const OpId count = static_cast<OpId>(graph_.ops().size());
    for (OpId id = lead; id < count; ++id) {
      if (!in_kernel(id, lead)) continue;
      for (const TensorId input : op(id).inputs) {
        const TensorId storage = graph_.storage_of(input);
        // What a recurrence carries on it reads of itself.
        const bool is_own = graph_.tensor(storage).role != Role::kState &&
                            kernel_makes(graph_, kernels_, lead, storage);
        if (!is_own && !owns(made, storage) && !owns(read, storage) && reads(id)) {
          read.push_back({storage, input, id});
        }
      }
      for (const TensorId output : op(id).outputs) {
        if (graph_.tensor(output).alias_of == kNoTensor) made.push_back({output, output, id});
      }
    }
    Traffic traffic;
    for (const View& view : read) add(traffic, view, read_elements(view));
    for (const View& view : made) {
      if (is_written(view, lead)) add(traffic, view, written_elements(view));
    }
    return traffic;
  }

  // A change of axis names moves nothing.
  bool reads(OpId id) const { return !std::holds_alternative<Relabel>(op(id).kind); }

  bool is_written(const View& view, OpId lead) const {
    const Op& producer = op(view.op);
    const Tensor& tensor = graph_.tensor(view.storage);
    if (tensor.role == Role::kState) return true;
    const auto is_result = [&](TensorId id) { return graph_.storage_of(id) == view.storage; };
    if (producer.pass != Pass::kBackward &&
        std::any_of(graph_.outputs.begin(), graph_.outputs.end(), is_result)) {
      return true;
    }
    bool read_at_all = false;
    const OpId count = static_cast<OpId>(graph_.ops().size());
    for (OpId id = 0; id < count; ++id) {
      const Op& reader = op(id);
      const bool reads_it = std::any_of(reader.inputs.begin(), reader.inputs.end(), is_result);
      if (!reads_it || std::holds_alternative<Relabel>(reader.kind)) continue;
      read_at_all = true;
      const OpId reading = kernels_[static_cast<std::size_t>(id)];
      if (reading == lead || kernel_makes(graph_, kernels_, reading, view.storage)) continue;
      if (hands_over(producer.pass, reader.pass, view.storage)) return true;
    }
    // A gradient nobody reads is a result of the block: of a parameter or of its input.
    return !read_at_all && tensor.role == Role::kGradient;
  }

  // Whether a reader of pass `to` finds the tensor that pass `from` made.
  bool hands_over(Pass from, Pass to, TensorId storage) const {
    if (from == Pass::kForward && to != Pass::kForward) {
      return contains(graph_.saved, storage);
    }
    if (from == Pass::kForward) return true;
    return to != Pass::kForward;
  }

  Expr read_elements(const View& view) const {
    const Tensor& tensor = graph_.tensor(view.seen_as);
    const Op& reader = op(view.op);
    if (std::holds_alternative<Gather>(reader.kind) && view.seen_as == reader.inputs[1]) {
      // The rows looked up, at most the whole table.
      const Expr rows = tensor.axes.at(0).size;
      return elements(tensor) / rows * min(elements(graph_.tensor(reader.inputs[0])), rows);
    }
    if (is_cache(graph_.tensor(view.storage))) {
      const Axis& keys = tensor.axes.at(1);
      return elements(tensor) / keys.size * tensor.keys_read;
    }
    return stored_elements(tensor, reader);
  }

  Expr written_elements(const View& view) const {
    const Tensor& tensor = graph_.tensor(view.storage);
    const Op& producer = op(view.op);
    if (std::holds_alternative<CacheAppend>(producer.kind)) {
      return elements(graph_.tensor(producer.inputs[0]));  // the new positions
    }
    return stored_elements(tensor, producer);
  }

  // A cache of this layer, or another's that it reads.
  static bool is_cache(const Tensor& tensor) {
    const bool is_taken = tensor.role == Role::kInput && tensor.element == Element::kCache;
    return is_taken || (tensor.role == Role::kState && !tensor.is_recurrent);
  }

  // All elements; of routed experts those that the call's tokens are expected to reach.
  Expr stored_elements(const Tensor& tensor, const Op& user) const {
    const bool moves_all = std::holds_alternative<Collective>(user.kind);
    if (tensor.routed_axis.empty() || moves_all) return elements(tensor);
    const Tensor* choice = nullptr;
    for (const TensorId id : user.inputs) {
      if (graph_.tensor(id).element == Element::kIndex) choice = &graph_.tensor(id);
    }
    FLOPWISE_CHECK(choice != nullptr, user.name + ": routed weights need the routing");
    const Expr experts = axis_of(tensor, tensor.routed_axis).size;
    const Expr active = choice->axes.back().size;
    const Expr tokens = elements(*choice) / active;
    return elements(tensor) / experts * expected_experts(experts, active, tokens);
  }

  // A vector of labels or a single number fills its last block of a quantised format.
  Expr in_blocks(const Tensor& tensor, const Expr& count) const {
    const int block = types_.weight.elements;
    if (tensor.element != Element::kWeight || block == 1 || !count.symbols().empty()) return count;
    return ceil_div(count, block) * block;
  }

  void add(Traffic& traffic, const View& view, const Expr& count) const {
    const Tensor& tensor = graph_.tensor(view.storage);
    const Expr bytes = in_blocks(tensor, count) * bytes_per_element(tensor.element, types_);
    const bool of_parameter = tensor.gradient_of != kNoTensor &&
                              graph_.tensor(tensor.gradient_of).role == Role::kParameter;
    if (tensor.role == Role::kParameter || of_parameter) {
      traffic.weights += bytes;
    } else if (tensor.role == Role::kState || is_cache(tensor)) {
      traffic.kv_cache += bytes;
    } else {
      traffic.activations += bytes;
    }
  }

  const Graph& graph_;
  Fusion fusion_;
  const ElementTypes& types_;
  std::vector<OpId> kernels_;
};

}  // namespace

Expr bytes_per_element(Element element, const ElementTypes& types) {
  switch (element) {
    case Element::kCompute:
      return bytes_per_element(types.compute);
    case Element::kWeight:
      return bytes_per_element(types.weight);
    case Element::kCache:
      return bytes_per_element(types.cache);
    case Element::kFp32:
    case Element::kIndex:
      return 4;
    case Element::kByte:
      return 1;
  }
  return 0;
}

Traffic& Traffic::operator+=(const Traffic& other) {
  weights += other.weights;
  activations += other.activations;
  kv_cache += other.kv_cache;
  return *this;
}

std::vector<Traffic> traffic_of(const Graph& graph, Fusion fusion, const ElementTypes& types) {
  return TrafficCounter(graph, fusion, types).count();
}

Expr expected_experts(const Expr& experts, const Expr& active, const Expr& tokens) {
  return experts * (1 - power(1 - active / experts, tokens));
}

}  // namespace flopwise
