#include "flopwise/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

std::string axis_list(const Tensor& tensor) {
  std::string text;
  for (const Axis& axis : tensor.axes) text += (text.empty() ? "" : ",") + axis.name;
  return text;
}

// Same label, same size: the invariant every contraction and map rests on.
void check_sizes_agree(const Graph& graph, const Op& op) {
  std::vector<const Axis*> seen;
  const auto check = [&](const Tensor& tensor) {
    for (const Axis& axis : tensor.axes) {
      const auto found = std::find_if(seen.begin(), seen.end(),
                                      [&](const Axis* other) { return other->name == axis.name; });
      if (found == seen.end()) {
        seen.push_back(&axis);
      } else {
        FLOPWISE_CHECK((*found)->size == axis.size,
                       fmt::format("{}: axis {} has sizes {} and {}", op.name, axis.name,
                                   (*found)->size.str(), axis.size.str()));
      }
    }
  };
  for (const TensorId id : op.inputs) check(graph.tensor(id));
  for (const TensorId id : op.outputs) check(graph.tensor(id));
}

// Every axis of the output occurs in an input, so that no operation invents elements. The routed
// axis of an expert weight's gradient is where the router sends each token's share.
void check_output_covered(const Graph& graph, const Op& op) {
  const auto* contraction = std::get_if<Contraction>(&op.kind);
  const std::string routed = contraction == nullptr ? "" : contraction->routed_axis;
  for (const Axis& axis : graph.tensor(op.outputs.at(0)).axes) {
    if (axis.name == routed) continue;
    const bool covered = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
      return has_axis(graph.tensor(id), axis.name);
    });
    FLOPWISE_CHECK(covered, fmt::format("{}: no input has axis {}", op.name, axis.name));
  }
}

void check_op(const Graph& graph, const Op& op) {
  FLOPWISE_CHECK(!op.outputs.empty(), op.name + ": an operation has an output");
  if (std::holds_alternative<Contraction>(op.kind) || std::holds_alternative<Map>(op.kind) ||
      std::holds_alternative<Sum>(op.kind)) {
    check_sizes_agree(graph, op);
    check_output_covered(graph, op);
  }
}

}  // namespace

const char* name_of(Component component) {
  switch (component) {
    case Component::kAttention:
      return "attention";
    case Component::kRecurrence:
      return "recurrence";
    case Component::kMlp:
      return "mlp";
    case Component::kRouter:
      return "router";
    case Component::kNorm:
      return "norm";
    case Component::kEmbedding:
      return "embedding";
    case Component::kUnembedding:
      return "unembedding";
    case Component::kOther:
      return "other";
  }
  return "";
}

const char* name_of(OpClass op_class) {
  switch (op_class) {
    case OpClass::kNone:
      return "none";
    case OpClass::kMatmul:
      return "matmul";
    case OpClass::kAttention:
      return "attention";
    case OpClass::kVector:
      return "vector";
  }
  return "";
}

const char* name_of(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kBackward:
      return "backward";
    case Pass::kRecompute:
      return "recompute";
  }
  return "";
}

TensorId Graph::add_tensor(Tensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors_.size()) - 1;
}

OpId Graph::add_op(Op op) {
  const int count = static_cast<int>(tensors_.size());
  for (const TensorId id : op.inputs) FLOPWISE_CHECK(id >= 0 && id < count, op.name + ": input");
  for (const TensorId id : op.outputs) FLOPWISE_CHECK(id >= 0 && id < count, op.name + ": output");
  check_op(*this, op);
  ops_.push_back(std::move(op));
  return static_cast<OpId>(ops_.size()) - 1;
}

RegionId Graph::add_region(FusedKernel region) {
  regions_.push_back(std::move(region));
  return static_cast<RegionId>(regions_.size()) - 1;
}

TensorId Graph::storage_of(TensorId id) const {
  while (tensor(id).alias_of != kNoTensor) id = tensor(id).alias_of;
  return id;
}

TensorId Graph::find(std::string_view name) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].name == name) return static_cast<TensorId>(i);
  }
  return kNoTensor;
}

void Graph::insert_before_backward(const std::vector<Op>& ops) {
  const auto first = std::find_if(ops_.begin(), ops_.end(),
                                  [](const Op& op) { return op.pass != Pass::kForward; });
  ops_.insert(first, ops.begin(), ops.end());
}

bool has_axis(const Tensor& tensor, std::string_view axis) {
  return std::any_of(tensor.axes.begin(), tensor.axes.end(),
                     [&](const Axis& a) { return a.name == axis; });
}

const Axis& axis_of(const Tensor& tensor, std::string_view axis) {
  const auto found = std::find_if(tensor.axes.begin(), tensor.axes.end(),
                                  [&](const Axis& a) { return a.name == axis; });
  FLOPWISE_CHECK(found != tensor.axes.end(), fmt::format("{} has no axis {}", tensor.name, axis));
  return *found;
}

Expr pairs_of(const Masking& masking, const Expr& queries, const Expr& keys) {
  return masking.pairs_here ? *masking.pairs_here : live_pairs(masking.mask, queries, keys);
}

Expr elements(const Tensor& tensor) {
  Expr product = 1;
  for (const Axis& axis : tensor.axes) product *= axis.size;
  return product;
}

Expr live_elements(const Tensor& tensor) {
  if (!tensor.masking) return elements(tensor);
  const Masking& masking = *tensor.masking;
  Expr product = 1;
  for (const Axis& axis : tensor.axes) {
    if (axis.name != masking.query_axis && axis.name != masking.key_axis) product *= axis.size;
  }
  return product * pairs_of(masking, axis_of(tensor, masking.query_axis).size,
                            axis_of(tensor, masking.key_axis).size);
}

bool starts_from_input(const Op& op) {
  const auto* contraction = std::get_if<Contraction>(&op.kind);
  return contraction != nullptr && contraction->routed_axis.empty() && op.inputs.size() == 3;
}

bool is_in_recurrence(const Graph& graph, const Op& op) {
  return op.region != kNoRegion && graph.region(op.region).is_recurrence;
}

std::string kind_name(const OpKind& kind) {
  struct Visitor {
    std::string operator()(const Contraction&) const { return "contraction"; }
    std::string operator()(const Map& map) const { return map.program.name; }
    std::string operator()(const Broadcast&) const { return "broadcast"; }
    std::string operator()(const Sum&) const { return "sum"; }
    std::string operator()(const Softmax& s) const {
      return s.scale ? "softmax(scale)" : "softmax";
    }
    std::string operator()(const SoftmaxFromStats&) const { return "exp_minus_lse"; }
    std::string operator()(const SoftmaxBackward&) const { return "softmax'"; }
    std::string operator()(const SinkBackward&) const { return "sink'"; }
    std::string operator()(const Norm& norm) const {
      return norm.centred ? "layer_norm" : "rms_norm";
    }
    std::string operator()(const NormBackward& b) const {
      return b.norm.centred ? "layer_norm'" : "rms_norm'";
    }
    std::string operator()(const Gather&) const { return "gather"; }
    std::string operator()(const GatherBackward&) const { return "scatter_add"; }
    std::string operator()(const TopK&) const { return "top_k"; }
    std::string operator()(const TopKBackward&) const { return "top_k'"; }
    std::string operator()(const SelectKeys&) const { return "select_keys"; }
    std::string operator()(const Dispatch&) const { return "dispatch"; }
    std::string operator()(const Combine&) const { return "combine"; }
    std::string operator()(const Rotary&) const { return "rotary"; }
    std::string operator()(const Dropout&) const { return "dropout"; }
    std::string operator()(const CrossEntropy&) const { return "cross_entropy"; }
    std::string operator()(const CrossEntropyBackward&) const { return "cross_entropy'"; }
    std::string operator()(const Convolution&) const { return "convolution"; }
    std::string operator()(const ConvolutionBackward&) const { return "convolution'"; }
    std::string operator()(const CausalConvolution&) const { return "causal_convolution"; }
    std::string operator()(const CausalConvolutionBackward&) const { return "causal_convolution'"; }
    std::string operator()(const Previous& previous) const {
      return previous.reversed ? "next" : "previous";
    }
    std::string operator()(const Prepend&) const { return "prepend"; }
    std::string operator()(const PrependBackward& back) const {
      return back.of_row ? "prepend'" : "without_first";
    }
    std::string operator()(const Relabel&) const { return "relabel"; }
    std::string operator()(const CacheAppend&) const { return "cache_append"; }
    std::string operator()(const TakeOne& take) const {
      return take.last ? "take_last" : "take_first";
    }
    std::string operator()(const TakeOneBackward& take) const {
      return take.last ? "take_last'" : "take_first'";
    }
    std::string operator()(const Collective& collective) const { return name_of(collective.kind); }
  };
  return std::visit(Visitor{}, kind);
}

std::vector<std::string> contracted_axes(const Graph& graph, const Op& op) {
  std::vector<std::string> names;
  for (const Axis& axis : graph.tensor(op.inputs.at(0)).axes) {
    if (has_axis(graph.tensor(op.inputs.at(1)), axis.name) &&
        !has_axis(graph.tensor(op.outputs.at(0)), axis.name)) {
      names.push_back(axis.name);
    }
  }
  return names;
}

std::string describe(const Tensor& tensor) {
  return fmt::format("{}[{}]", tensor.name, axis_list(tensor));
}

std::string describe(const Graph& graph, const Op& op) {
  std::string inputs;
  if (std::holds_alternative<Contraction>(op.kind)) {
    const Tensor& a = graph.tensor(op.inputs.at(0));
    const Tensor& b = graph.tensor(op.inputs.at(1));
    const std::vector<std::string> axes = contracted_axes(graph, op);
    std::string contracted = fmt::format("{}", fmt::join(axes, ","));
    if (axes.size() > 1) contracted = "{" + contracted + "}";
    inputs = fmt::format("{} *{} {}", describe(a), contracted.empty() ? "" : "_" + contracted,
                         describe(b));
    if (starts_from_input(op)) inputs = describe(graph.tensor(op.inputs[2])) + " + " + inputs;
  } else {
    for (const TensorId id : op.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + describe(graph.tensor(id));
    }
    inputs = fmt::format("{}({})", kind_name(op.kind), inputs);
  }
  std::string outputs;
  for (const TensorId id : op.outputs) {
    outputs += (outputs.empty() ? "" : ", ") + describe(graph.tensor(id));
  }
  return inputs + " -> " + outputs;
}

Expr iteration_space(const Graph& graph, const Op& op, bool dense, std::string_view skip) {
  std::vector<const Axis*> axes;
  const Masking* masking = nullptr;
  const auto visit = [&](TensorId id) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.masking && !dense) masking = &*tensor.masking;
    for (const Axis& axis : tensor.axes) {
      const bool seen = std::any_of(axes.begin(), axes.end(),
                                    [&](const Axis* other) { return other->name == axis.name; });
      if (!seen && axis.name != skip) axes.push_back(&axis);
    }
  };
  for (const TensorId id : op.inputs) visit(id);
  for (const TensorId id : op.outputs) visit(id);
  Expr product = 1;
  const Axis* queries = nullptr;
  const Axis* keys = nullptr;
  for (const Axis* axis : axes) {
    if (masking != nullptr && axis->name == masking->query_axis) {
      queries = axis;
    } else if (masking != nullptr && axis->name == masking->key_axis) {
      keys = axis;
    } else {
      product *= axis->size;
    }
  }
  if (masking == nullptr) return product;
  FLOPWISE_CHECK(queries != nullptr && keys != nullptr,
                 op.name + ": a masked tensor has both axes");
  return product * pairs_of(*masking, queries->size, keys->size);
}

Sizes Program::sizes_of(const Block& block) const {
  Sizes merged = block.sizes;
  merged.insert(sizes.begin(), sizes.end());
  return merged;
}

}  // namespace flopwise
