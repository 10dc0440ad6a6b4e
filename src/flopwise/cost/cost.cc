#include "flopwise/cost/cost.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

void add_to(Flops& flops, const OpCost& op, Count layers) {
  switch (op.op_class) {
    case OpClass::kNone:
      return;
    case OpClass::kMatmul:
      flops.matmul += op.flops.value * layers;
      return;
    case OpClass::kVector:
      flops.vector += op.flops.value * layers;
      return;
    case OpClass::kAttention:
      flops.attention += op.flops.value * layers;
      flops.attention_dense += op.flops_dense.value * layers;
      return;
  }
}

Flops& flops_of(Cost& cost, Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return cost.forward;
    case Pass::kBackward:
      return cost.backward;
    case Pass::kRecompute:
      return cost.recompute;
  }
  throw InternalError("unknown pass");
}

class BlockWalk {
 public:
  BlockWalk(const Block& block, const Sizes& sizes, const CostOptions& options,
            std::set<std::string>& shared)
      : graph_(block.graph),
        sizes_(sizes),
        shared_(shared),
        kernels_(kernels_of(block.graph, options.fusion)),
        traffic_(traffic_of(block.graph, options.fusion, options.types)) {}

  std::vector<OpCost> walk() {
    std::vector<OpCost> costs;
    costs.reserve(graph_.ops().size());
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) costs.push_back(cost(i));
    return costs;
  }

 private:
  OpCost cost(std::size_t i) {
    const Op& op = graph_.ops()[i];
    const std::string place = fmt::format("{} {}", name_of(op.pass), op.name);
    const Work work = work_of(graph_, op);
    OpCost cost;
    cost.name = op.name;
    cost.pass = op.pass;
    cost.component = op.component;
    cost.op_class = work.op_class;
    cost.expression = describe(graph_, op);
    const OpId home = home_of_kernel(graph_, kernels_, kernels_[i]);
    cost.kernel = graph_.ops()[static_cast<std::size_t>(home)].name;
    cost.flops = quantity(work.flops, "FLOPs of " + place);
    cost.flops_dense =
        work.dense == work.flops ? cost.flops : quantity(work.dense, "dense FLOPs of " + place);
    cost.params = quantity(params(op), "params of " + place);
    cost.traffic = traffic_[i];
    cost.bytes = quantity(traffic_[i].total(), "bytes of " + place);
    return cost;
  }

  Quantity quantity(Expr formula, const std::string& what) const {
    const Count value = formula.is_zero() ? Count(0) : formula.eval_count(sizes_, what);
    return {std::move(formula), value};
  }

  // Parameters read for the first time.
  Expr params(const Op& op) {
    Expr sum = 0;
    if (op.pass != Pass::kForward) return sum;
    for (const TensorId id : op.inputs) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.role != Role::kParameter) continue;
      if (tensor.shared && !shared_.insert(tensor.name).second) continue;
      if (counted_.insert(id).second) sum += elements(tensor);
    }
    return sum;
  }

  const Graph& graph_;
  const Sizes& sizes_;
  std::set<std::string>& shared_;
  std::set<TensorId> counted_;
  std::vector<OpId> kernels_;
  std::vector<Traffic> traffic_;
};

}  // namespace

Flops& Flops::operator+=(const Flops& other) {
  matmul += other.matmul;
  attention += other.attention;
  attention_dense += other.attention_dense;
  vector += other.vector;
  return *this;
}

Cost cost_of(const Program& program, const CostOptions& options) {
  Cost cost;
  std::set<std::string> shared;
  for (const Block& block : program.blocks) {
    BlockCost block_cost;
    block_cost.name = block.name;
    block_cost.is_layer = block.is_layer;
    block_cost.repeat = block.repeat;
    block_cost.sizes = program.sizes_of(block);
    block_cost.layers = block.repeat.eval_count(block_cost.sizes, "layers");
    block_cost.ops = BlockWalk(block, block_cost.sizes, options, shared).walk();
    for (const OpCost& op : block_cost.ops) {
      in_context(
          fmt::format("{} FLOPs of {}, L = {}", name_of(op.pass), op.name, block_cost.layers.str()),
          [&] { add_to(flops_of(cost, op.pass), op, block_cost.layers); });
      in_context("bytes", [&] {
        const auto value = [&](const Expr& bytes) {
          return bytes.is_zero() ? Count(0)
                                 : bytes.eval_count(block_cost.sizes, op.name) * block_cost.layers;
        };
        cost.bytes.weights += value(op.traffic.weights);
        cost.bytes.activations += value(op.traffic.activations);
        cost.bytes.kv_cache += value(op.traffic.kv_cache);
      });
    }
    cost.blocks.push_back(std::move(block_cost));
  }
  cost.params = params_of(program);
  cost.activations = activation_memory(program, options.fusion, options.types);
  return cost;
}

std::optional<Expr> total_formula(const Cost& cost, OpClass op_class, Pass pass) {
  Expr total = 0;
  const Sizes* sizes = nullptr;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.op_class != op_class || op.pass != pass) continue;
      const Expr& formula = op.flops.formula;
      total += block.repeat * formula;
      // Blocks may know different letters, but no letter may mean two sizes.
      if (sizes != nullptr) {
        for (const auto& [name, size] : block.sizes) {
          const auto other = sizes->find(name);
          if (other != sizes->end() && other->second != size) return std::nullopt;
        }
      }
    }
    sizes = &block.sizes;
  }
  return total;
}

std::optional<KvCache> kv_cache_of(const Program& decode, const ElementTypes& types) {
  KvCache cache;
  bool found = false;
  for (const Block& block : decode.blocks) {
    const Sizes sizes = decode.sizes_of(block);
    const Count layers = block.repeat.eval_count(sizes, "layers");
    const Graph& graph = block.graph;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
      const Tensor& tensor = graph.tensors()[i];
      if (tensor.role != Role::kState) continue;
      found = true;
      if (tensor.is_recurrent) {
        const Expr bytes = elements(tensor) * bytes_per_element(tensor.element, types);
        const Count total = bytes.eval_count(sizes, "kv_cache." + tensor.name) * layers;
        cache.state_bytes += total;
        cache.bytes_total += total;
        cache.bytes_total_formula += block.repeat * bytes;
        continue;
      }
      const Axis& keys = tensor.axes.at(1);
      const Expr per_position = elements(tensor) / keys.size / tensor.axes.at(0).size *
                                bytes_per_element(tensor.element, types);
      const Expr held = per_position * tensor.axes.at(0).size * tensor.keys_held;
      const Count total = held.eval_count(sizes, "kv_cache." + tensor.name) * layers;
      cache.bytes_total += total;
      cache.bytes_total_formula += block.repeat * held;
      // What is kept of a source was not written by the tokens of the output.
      const bool grows = keys.name == "S";
      if (grows) {
        cache.bytes_per_token += per_position.eval_count(sizes, "kv_cache." + tensor.name) * layers;
        cache.bytes_per_token_formula += block.repeat * per_position;
      } else {
        cache.source_bytes += total;
      }
    }
  }
  if (!found) return std::nullopt;
  return cache;
}

}  // namespace flopwise
