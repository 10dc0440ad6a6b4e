#include "flopwise/cost/kernels.h"

#include <fmt/format.h>

#include <algorithm>

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

Fusion parse_fusion(std::string_view text) {
  if (text == "fused") return Fusion::kFused;
  if (text == "eager") return Fusion::kEager;
  if (text == "unfused") return Fusion::kUnfused;
  throw UserError(fmt::format("--fusion: expected fused, eager or unfused, got {}", quoted(text)));
}

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

}  // namespace flopwise
