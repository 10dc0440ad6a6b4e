#include "flopwise/cost/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"

namespace flopwise {
namespace {

bool is_elementwise(const OpKind& kind) {
  return std::holds_alternative<Map>(kind) || std::holds_alternative<Rotary>(kind) ||
         std::holds_alternative<Dropout>(kind) || std::holds_alternative<Relabel>(kind) ||
         std::holds_alternative<CacheAppend>(kind) || std::holds_alternative<Broadcast>(kind);
}

// The last operation before `before`, of the same pass, that makes the tensor.
OpId producer_before(const Graph& graph, TensorId tensor, OpId before) {
  const std::vector<Op>& ops = graph.ops();
  const TensorId storage = graph.storage_of(tensor);
  for (OpId i = before - 1; i >= 0; --i) {
    const Op& op = ops[static_cast<std::size_t>(i)];
    if (op.pass != ops[static_cast<std::size_t>(before)].pass) continue;
    for (const TensorId output : op.outputs) {
      if (output == storage) return i;
    }
  }
  return -1;
}

// y = x w + bias: the sum is part of the product's kernel in every framework.
bool is_bias_of_product(const Graph& graph, const Op& op, OpId id) {
  if (!std::holds_alternative<Map>(op.kind) || op.inputs.size() != 2) return false;
  const Tensor& bias = graph.tensor(op.inputs[1]);
  const OpId producer = producer_before(graph, op.inputs[0], id);
  return bias.role == Role::kParameter && producer >= 0 &&
         std::holds_alternative<Contraction>(graph.ops()[static_cast<std::size_t>(producer)].kind);
}

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

Fusion parse_fusion(std::string_view text) {
  if (text == "fused") return Fusion::kFused;
  if (text == "eager") return Fusion::kEager;
  if (text == "unfused") return Fusion::kUnfused;
  throw UserError(fmt::format("--fusion: expected fused, eager or unfused, got {}", quoted(text)));
}

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

namespace {

// Products that frameworks run as one: of the same activations with matrices that lie side by side
// (queries, keys and values; gate and up), of the same activations with what their gradients are,
// and those whose results backward adds up (the gradient of such activations).
class MergedProducts {
 public:
  explicit MergedProducts(const Graph& graph) : graph_(graph) {}

  // The kernel of an earlier product that this operation belongs to, or -1. `kernels`: of all
  // operations before it; a second product that a sum merges moves to the kernel of the first.
  OpId kernel_of(OpId id, std::vector<OpId>& kernels) const {
    const Op& op = this->op(id);
    if (is_weight_product(op)) return kernel_of_sibling(id, kernels);
    const auto* map = std::get_if<Map>(&op.kind);
    if (map == nullptr || op.pass != Pass::kBackward || op.inputs.size() != 2) return -1;
    if (graph_.tensor(op.outputs[0]).role != Role::kGradient) return -1;
    const OpId first = producer_before(graph_, op.inputs[0], id);
    const OpId second = producer_before(graph_, op.inputs[1], id);
    if (first < 0 || second < 0) return -1;
    const OpId kernel = kernels[static_cast<std::size_t>(first)];
    const OpId other = kernels[static_cast<std::size_t>(second)];
    if (!is_weight_product(this->op(kernel)) || !is_weight_product(this->op(other))) return -1;
    std::replace(kernels.begin(), kernels.begin() + id, other, kernel);
    return kernel;
  }

 private:
  const Op& op(OpId id) const { return graph_.ops()[static_cast<std::size_t>(id)]; }
  // A parameter, or one that a collective gathered.
  bool is_parameter(TensorId id) const {
    if (graph_.tensor(id).role == Role::kParameter) return true;
    for (const Op& op : graph_.ops()) {
      if (!std::holds_alternative<Collective>(op.kind) || !contains(op.outputs, id)) continue;
      return is_parameter(op.inputs[0]);
    }
    return false;
  }

  bool is_weight_product(const Op& op) const {
    const auto* contraction = std::get_if<Contraction>(&op.kind);
    return contraction != nullptr && contraction->op_class == OpClass::kMatmul &&
           contraction->routed_axis.empty() && op.region == kNoRegion && op.inputs.size() == 2;
  }

  OpId kernel_of_sibling(OpId id, const std::vector<OpId>& kernels) const {
    const Op& product = op(id);
    for (OpId i = 0; i < id; ++i) {
      const Op& other = op(i);
      if (other.pass == product.pass && is_weight_product(other) && are_siblings(other, product)) {
        return kernels[static_cast<std::size_t>(i)];
      }
    }
    return -1;
  }

  // The same activations in the same place, and both times a matrix or both times a gradient.
  bool are_siblings(const Op& a, const Op& b) const {
    for (const std::size_t shared : {0, 1}) {
      const std::size_t rest = 1 - shared;
      if (is_parameter(a.inputs[shared]) || is_parameter(b.inputs[shared])) continue;
      if (graph_.storage_of(a.inputs[shared]) != graph_.storage_of(b.inputs[shared])) continue;
      if (is_parameter(a.inputs[rest]) == is_parameter(b.inputs[rest])) return true;
    }
    return false;
  }

  const Graph& graph_;
};

}  // namespace

std::vector<OpId> kernels_of(const Graph& graph, Fusion fusion) {
  const std::vector<Op>& ops = graph.ops();
  std::vector<OpId> kernels(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const OpId id = static_cast<OpId>(i);
    kernels[i] = id;
    if (fusion == Fusion::kUnfused) continue;
    if (i > 0 && ops[i].region != kNoRegion) {
      // A recomputed and an original run of the same region are two kernels.
      const bool continues =
          ops[i - 1].region == ops[i].region &&
          (ops[i - 1].pass == ops[i].pass || graph.region(ops[i].region).pass == Pass::kBackward);
      if (continues) kernels[i] = kernels[i - 1];
      continue;
    }
    const OpId merged =
        fusion == Fusion::kEager ? MergedProducts(graph).kernel_of(id, kernels) : -1;
    if (merged >= 0) kernels[i] = merged;
    if (merged >= 0 || !is_elementwise(ops[i].kind)) continue;
    // The kernel that starts last among those that make an operand: all others are done by then.
    OpId latest = -1;
    for (const TensorId input : ops[i].inputs) {
      const OpId producer = producer_before(graph, input, id);
      if (producer >= 0) latest = std::max(latest, kernels[static_cast<std::size_t>(producer)]);
    }
    if (latest < 0) continue;
    const bool is_chain = is_elementwise(ops[static_cast<std::size_t>(latest)].kind);
    if (fusion == Fusion::kEager && !is_chain && !is_bias_of_product(graph, ops[i], id)) continue;
    kernels[i] = latest;
  }
  return kernels;
}

OpId home_of_kernel(const Graph& graph, const std::vector<OpId>& kernels, OpId lead) {
  OpId last = lead;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i] == lead) last = static_cast<OpId>(i);
  }
  const Pass pass = graph.ops()[static_cast<std::size_t>(last)].pass;
  for (std::size_t i = static_cast<std::size_t>(lead); i < kernels.size(); ++i) {
    if (kernels[i] == lead && graph.ops()[i].pass == pass) return static_cast<OpId>(i);
  }
  return lead;
}

bool kernel_makes(const Graph& graph, const std::vector<OpId>& kernels, OpId lead,
                  TensorId storage) {
  for (std::size_t i = static_cast<std::size_t>(lead); i < kernels.size(); ++i) {
    if (kernels[i] != lead) continue;
    const std::vector<TensorId>& outputs = graph.ops()[i].outputs;
    if (contains(outputs, storage)) return true;
  }
  return false;
}

std::vector<Traffic> traffic_of(const Graph& graph, Fusion fusion, const ElementTypes& types) {
  return TrafficCounter(graph, fusion, types).count();
}

Expr expected_experts(const Expr& experts, const Expr& active, const Expr& tokens) {
  return experts * (1 - power(1 - active / experts, tokens));
}

}  // namespace flopwise
