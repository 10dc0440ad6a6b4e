#include "flopwise/graph/remat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/graph/backward.h"

namespace flopwise {
namespace {

struct NamedPolicy {
  std::string_view name;
  RematKind kind;
};
constexpr std::array<NamedPolicy, 5> kPolicies = {
    {{"none", RematKind::kNone},
     {"attention", RematKind::kAttention},
     {"matmuls", RematKind::kMatmuls},
     {"block", RematKind::kBlock},
     {"full", RematKind::kFull}}
};

void add_once(std::vector<TensorId>& ids, TensorId id) {
  if (!contains(ids, id)) ids.push_back(id);
}

// What comes from the forward pass or from outside: not a parameter, not a gradient, not a
// constant.
bool is_activation(const Tensor& tensor) {
  return tensor.role == Role::kActivation || tensor.role == Role::kInput ||
         tensor.role == Role::kState;
}

std::vector<Op> forward_ops(const Graph& graph) {
  std::vector<Op> ops;
  for (const Op& op : graph.ops()) {
    if (op.pass == Pass::kForward) ops.push_back(op);
  }
  return ops;
}

// Tensors that exist only inside a fused kernel of the forward pass.
std::vector<TensorId> inner_tensors(const Graph& graph) {
  std::vector<TensorId> inner;
  for (const Op& op : graph.ops()) {
    if (op.pass != Pass::kForward || op.region == kNoRegion) continue;
    const FusedKernel& region = graph.region(op.region);
    for (const TensorId id : op.outputs) {
      if (id != region.output && id != region.row_stats) inner.push_back(id);
    }
  }
  return inner;
}

// The activations that operations of the other passes read, in memory terms (aliases followed).
std::vector<TensorId> read_after_forward(const Graph& graph) {
  const std::vector<TensorId> inner = inner_tensors(graph);
  std::vector<TensorId> reads;
  for (const Op& op : graph.ops()) {
    if (op.pass == Pass::kForward) continue;
    for (const TensorId id : op.inputs) {
      const TensorId storage = graph.storage_of(id);
      if (is_activation(graph.tensor(storage)) && !contains(inner, storage)) {
        add_once(reads, storage);
      }
    }
  }
  return reads;
}

// The inside of the attention core: of a fused one, and of a recurrence, its output and statistics;
// of a plain one the scores, the weights and whatever lies between, and the output.
bool is_attention_core(const Graph& graph, const Op& op) {
  if (op.region != kNoRegion) return true;
  const auto* contraction = std::get_if<Contraction>(&op.kind);
  if (contraction != nullptr && contraction->op_class == OpClass::kAttention) return true;
  return op.component == Component::kAttention && graph.tensor(op.outputs[0]).masking.has_value();
}

std::vector<TensorId> saved_set(const Graph& graph, const RematPolicy& policy, bool is_layer,
                                const std::vector<TensorId>& reads) {
  std::vector<TensorId> saved;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Role role = graph.tensors()[i].role;
    if (role == Role::kInput) saved.push_back(static_cast<TensorId>(i));
  }
  const auto add_reads = [&](const std::vector<TensorId>& except) {
    for (const TensorId id : reads) {
      if (!contains(except, id)) add_once(saved, id);
    }
  };
  switch (is_layer ? policy.kind : RematKind::kNone) {
    case RematKind::kNone:
      add_reads({});
      break;
    case RematKind::kAttention: {
      std::vector<TensorId> core;
      for (const Op& op : forward_ops(graph)) {
        if (is_attention_core(graph, op))
          core.insert(core.end(), op.outputs.begin(), op.outputs.end());
      }
      add_reads(core);
      break;
    }
    case RematKind::kMatmuls:
      for (const Op& op : forward_ops(graph)) {
        const auto* contraction = std::get_if<Contraction>(&op.kind);
        if (contraction != nullptr && contraction->op_class == OpClass::kMatmul) {
          add_once(saved, op.outputs[0]);
        }
      }
      break;
    case RematKind::kBlock:
    case RematKind::kFull:
      break;
    case RematKind::kList:
      for (const std::string& name : policy.names) {
        const TensorId id = graph.find(name);
        if (id != kNoTensor) add_once(saved, graph.storage_of(id));
      }
      break;
  }
  return saved;
}

// A fused kernel runs as a whole or not at all.
std::vector<Op> whole_regions(const std::vector<Op>& forward, const std::vector<Op>& again) {
  std::vector<Op> result;
  for (const Op& op : forward) {
    const bool runs = std::any_of(again.begin(), again.end(), [&](const Op& other) {
      return other.name == op.name || (op.region != kNoRegion && other.region == op.region);
    });
    if (runs) result.push_back(op);
  }
  return result;
}

// Reachability with every fused kernel as one operation: repeated until no region pulls in more
// inputs.
std::vector<Op> recomputed_ops(const Graph& graph, const std::vector<TensorId>& reads,
                               const std::vector<TensorId>& saved) {
  const std::vector<Op> forward = forward_ops(graph);
  std::vector<TensorId> wanted = reads;
  std::vector<Op> again;
  while (true) {
    std::vector<Op> next = whole_regions(forward, producers_of(graph, forward, wanted, saved));
    const bool settled = next.size() == again.size();
    again = std::move(next);
    if (settled) break;
    for (const Op& op : again) {
      if (op.region == kNoRegion) continue;
      for (const TensorId id : op.outputs) add_once(wanted, id);
    }
  }
  return again;
}

}  // namespace

RematPolicy parse_remat(std::string_view text) {
  for (const NamedPolicy& policy : kPolicies) {
    if (text == policy.name) return {policy.kind, {}};
  }
  constexpr std::string_view kPrefix = "save:";
  if (text.starts_with(kPrefix) && text.size() > kPrefix.size()) {
    RematPolicy policy{RematKind::kList, {}};
    for (std::size_t begin = kPrefix.size(); begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      std::string name(text.substr(begin, end - begin));
      if (contains(policy.names, name)) {
        throw UserError(
            fmt::format("--remat save: expected each tensor once, got {} again", quoted(name)));
      }
      policy.names.push_back(std::move(name));
      begin = end + 1;
    }
    return policy;
  }
  throw UserError(fmt::format(
      "--remat: expected none, attention, matmuls, block, full or save:NAME,NAME..., got {}",
      quoted(text)));
}

std::string describe(const RematPolicy& policy) {
  for (const NamedPolicy& named : kPolicies) {
    if (named.kind == policy.kind) return std::string(named.name);
  }
  return fmt::format("save:{}", fmt::join(policy.names, ","));
}

Graph rematerialise(const Graph& differentiated, const RematPolicy& policy, bool is_layer) {
  Graph graph = differentiated;
  const std::vector<TensorId> reads = read_after_forward(graph);
  const std::vector<TensorId> saved = saved_set(graph, policy, is_layer, reads);

  const bool whole_block = is_layer && policy.kind == RematKind::kFull;
  std::vector<Op> again = whole_block ? forward_ops(graph) : recomputed_ops(graph, reads, saved);
  for (Op& op : again) op.pass = Pass::kRecompute;

  for (const TensorId id : saved) {
    // What is made anew before anybody reads it is not kept, even where a list names it.
    const auto remade = std::find_if(again.begin(), again.end(),
                                     [&](const Op& op) { return contains(op.outputs, id); });
    const bool read_by_recompute = std::any_of(again.begin(), remade, [&](const Op& op) {
      return std::any_of(op.inputs.begin(), op.inputs.end(),
                         [&](TensorId input) { return graph.storage_of(input) == id; });
    });
    const bool read_by_backward = remade == again.end() && contains(reads, id);
    if (read_by_backward || read_by_recompute) graph.saved.push_back(id);
  }
  graph.insert_before_backward(again);
  return graph;
}

std::vector<std::string> savable_names(const Graph& graph) {
  const std::vector<TensorId> inner = inner_tensors(graph);
  std::vector<std::string> names;
  for (const Op& op : graph.ops()) {
    if (op.pass != Pass::kForward) continue;
    for (const TensorId id : op.outputs) {
      const Tensor& tensor = graph.tensor(id);
      if (!contains(inner, id) && tensor.alias_of == kNoTensor) names.push_back(tensor.name);
    }
  }
  return names;
}

}  // namespace flopwise
