#include "flopwise/plan/critical.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/cost/flops.h"
#include "flopwise/mesh/shard_graph.h"

namespace flopwise {
namespace {

constexpr double kMostTokens = 1e18;  // more than any run has
constexpr double kMostDevices = 1 << 20;
constexpr int kHalvings = 64;  // until neighbouring numbers are left

std::size_t index(ParallelAxis axis) {
  return static_cast<std::size_t>(axis);
}

// Where a falling function comes down to 1, between two positive numbers: by halving the interval
// of the logarithms.
template <typename Function>
double where_one(double low, double high, Function&& function) {
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (function(middle) > 1 ? low : high) = middle;
  }
  return high;
}

}  // namespace

// ---- one device and its memory -----------------------------------------------------------------

std::optional<CriticalBatch> critical_batch(const Block& layer, const Sizes& sizes,
                                            const ElementTypes& types,
                                            const Rational& flops_per_byte) {
  const Graph& graph = layer.graph;
  Expr flops = 0;
  Expr weights = 0;
  Expr moved = 0;
  for (const Op& op : graph.ops()) {
    if (op.pass != Pass::kForward || !std::holds_alternative<Contraction>(op.kind)) continue;
    const bool of_weights = graph.tensor(op.inputs[0]).role == Role::kParameter ||
                            graph.tensor(op.inputs[1]).role == Role::kParameter;
    if (!of_weights) continue;
    flops += work_of(graph, op).flops;
    for (const TensorId id : {op.inputs[0], op.inputs[1], op.outputs[0]}) {
      const Tensor& tensor = graph.tensor(id);
      const Expr bytes = elements(tensor) * bytes_per_element(tensor.element, types);
      (tensor.role == Role::kParameter ? weights : moved) += bytes;
    }
  }
  if (flops.is_zero()) return std::nullopt;
  Sizes one = sizes;
  one["B"] = one["T"] = 1;
  if (one.count("R") > 0) one["R"] = 1;  // a source token of an encoder-decoder
  CriticalBatch batch;
  batch.flops_per_token = flops.eval(one);
  batch.activation_bytes_per_token = moved.eval(one);
  batch.weight_bytes = weights.eval(one);
  const Rational need = flops_per_byte * batch.weight_bytes;
  const Rational left = batch.flops_per_token - flops_per_byte * batch.activation_bytes_per_token;
  batch.weights_only = need / batch.flops_per_token;
  if (left > Rational(0)) batch.with_activations = need / left;
  return batch;
}

// ---- a mesh ------------------------------------------------------------------------------------

double devices_of(const MeshShape& mesh) {
  double product = 1;
  for (const double size : mesh) product *= size;
  return product;
}

double LayerTime::communication_s() const {
  return std::max(network_s, *std::max_element(axis_s.begin(), axis_s.end()));
}

LayerOnMesh::LayerOnMesh(const Block& layer, const Sizes& sizes, bool sequence_parallel,
                         const BytesPerElement& bytes)
    : sizes_(sizes) {
  positions_ = sizes_.at("T").to_double();
  const auto heads = sizes_.find("K");
  if (heads != sizes_.end()) key_heads_ = heads->second.to_double();
  for (const ParallelAxis axis : kParallelAxes) assignment_.axes |= axis;
  assignment_.splits_groups = true;
  assignment_.sequence_parallel = sequence_parallel;
  variables_ = assignment_.symbols(assignment_.axes);
  variables_.insert(variables_.begin(), "B");
  const ShardedBlock sharded = shard(layer, assignment_);
  const Graph& graph = sharded.local.graph;
  // The work of fsdp is that of dp; its weights are whole when they are read.
  Assignment replicated = assignment_;
  replicated.axes -= ParallelAxis::kFsdp;
  add_work(shard(layer, replicated).local.graph, bytes.types);
  for (const Op& op : graph.ops()) {
    const auto* collective = std::get_if<Collective>(&op.kind);
    if (collective == nullptr) continue;
    const Tensor& made = graph.tensor(op.outputs[0]);
    const bool gradient =
        made.gradient_of != kNoTensor && graph.tensor(made.gradient_of).role == Role::kParameter;
    const Pass pass = op.pass == Pass::kForward ? Pass::kForward : Pass::kBackward;
    const Expr each =
        gradient ? Expr(bytes.parameter_gradient) : bytes_per_element(made.element, bytes.types);
    add_move(*collective, pass, each);
  }
  for (const GradientReduction& gradient : sharded.gradients) {
    add_move(gradient.collective, Pass::kBackward, Expr(bytes.parameter_gradient));
  }
}

void LayerOnMesh::add_move(const Collective& collective, Pass pass, const Expr& bytes_each) {
  MeshSet axes;
  for (const ParallelAxis axis : kParallelAxes) {
    if (contains(collective.mesh_axes, assignment_.symbol(axis))) axes |= axis;
  }
  moves_.push_back({collective.kind, axes, pass,
                    CompiledExpr(collective.array_elements * bytes_each, variables_, sizes_)});
}

void LayerOnMesh::add_work(const Graph& graph, const ElementTypes& types) {
  const std::vector<Traffic> traffic = traffic_of(graph, Fusion::kFused, types);
  std::array<Expr, 2> flops = {0, 0};
  std::array<Expr, 2> weights = {0, 0};
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (std::holds_alternative<Collective>(op.kind)) continue;
    const std::size_t pass = op.pass == Pass::kForward ? 0 : 1;
    if (pass == 1) has_backward_ = true;
    const flopwise::Work work = work_of(graph, op);
    if (work.op_class == OpClass::kMatmul || work.op_class == OpClass::kAttention) {
      flops[pass] += work.flops;
    }
    weights[pass] += traffic[i].weights;
  }
  const Substitution all_replicas = {
      {"dp", assignment_.size(MeshSet(ParallelAxis::kDp) | ParallelAxis::kFsdp)}
  };
  for (const std::size_t pass : {0, 1}) {
    work_[pass] = {CompiledExpr(flops[pass].substitute(all_replicas), variables_, sizes_),
                   CompiledExpr(weights[pass].substitute(all_replicas), variables_, sizes_)};
  }
}

// tp as the formulas see it: over key heads, and over the queries of each.
MeshShape LayerOnMesh::split_heads(const MeshShape& mesh, GroupSize size) const {
  MeshShape split = mesh;
  const double tp = mesh[index(ParallelAxis::kTp)];
  const double keys =
      size == GroupSize::kLimit
          ? std::min(tp, key_heads_)
          : static_cast<double>(std::gcd(std::llround(tp), std::llround(key_heads_)));
  split[index(ParallelAxis::kTp)] = keys;
  split[index(ParallelAxis::kTpGroups)] = tp / keys;
  return split;
}

namespace {

// B/s inside a domain: of `rings` of a torus; in the limit of large groups of all links.
double links_of(DeviceGroup group, double rings, const Network& network, GroupSize size) {
  if (!network.is_torus() && size == GroupSize::kLimit) return network.inside_bytes_per_s;
  group.rings = rings;
  return inside_rate(network, group);
}

}  // namespace

LayerTime LayerOnMesh::time(Pass pass, double tokens, const MeshShape& mesh,
                            const DeviceRates& rates, GroupSize size) const {
  const MeshShape split = split_heads(mesh, size);
  MeshSizes whole;
  std::array<double, 7> values = {tokens / positions_};
  for (std::size_t i = 0; i < split.size(); ++i) {
    values[i + 1] = split[i];
    whole.axes[i] = std::llround(std::ceil(split[i]));
  }
  LayerTime time;
  const Work& work = work_[pass == Pass::kForward ? 0 : 1];
  time.matrix_s = work.flops(values) / rates.matrix_flops_per_s;
  if (rates.memory_bytes_per_s > 0) {
    time.weights_s = work.weight_bytes(values) / rates.memory_bytes_per_s;
  }
  for (const Move& move : moves_) {
    const DeviceGroup group = whole.group(move.axes, rates.network);
    if (move.pass != pass || group.inside * group.across == 1) continue;
    const double bytes = move.bytes(values);
    const SentBytes sent = size == GroupSize::kLimit
                               ? limit_bytes(move.kind, bytes, group, rates.network.is_torus())
                               : sent_bytes(move.kind, bytes, group, rates.network.is_torus());
    double rings = 0;
    std::size_t first = split.size();
    for (const ParallelAxis axis : kParallelAxes) {
      if (!move.axes.has(axis) || whole.size(axis) == 1) continue;
      const ParallelAxis owner = axis == ParallelAxis::kTpGroups ? ParallelAxis::kTp : axis;
      if (index(owner) == first) continue;
      first = std::min(first, index(owner));
      rings += rates.rings[index(owner)];
    }
    if (sent.inside > 0) {
      const double rate = links_of(group, rings, rates.network, size);
      time.axis_s[rates.network.is_torus() ? first : 0] += sent.inside / rate;
    }
    if (sent.across > 0) time.network_s += sent.across / rates.network.across_bytes_per_s;
  }
  return time;
}

double communication_share(const LayerOnMesh& layer, double tokens, const MeshShape& mesh,
                           const DeviceRates& rates, GroupSize size, Against against) {
  double share = 0;
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    if (pass == Pass::kBackward && !layer.has_backward()) continue;
    const LayerTime time = layer.time(pass, tokens, mesh, rates, size);
    const double other = against == Against::kMatrix ? time.matrix_s : time.weights_s;
    share = std::max(share, time.communication_s() / other);
  }
  return share;
}

std::optional<double> critical_tokens(const LayerOnMesh& layer, const MeshShape& mesh,
                                      const DeviceRates& rates, GroupSize size) {
  const double devices = devices_of(mesh);
  const auto share = [&](double tokens) {
    return communication_share(layer, tokens * devices, mesh, rates, size);
  };
  if (share(kMostTokens) > 1) return std::nullopt;
  if (share(1 / kMostTokens) <= 1) return 0;
  return where_one(1 / kMostTokens, kMostTokens, share);
}

std::optional<double> critical_degree(const LayerOnMesh& layer, ParallelAxis axis, double tokens,
                                      const MeshShape& mesh, const DeviceRates& rates,
                                      GroupSize size, Against against) {
  const auto share = [&](double degree) {
    MeshShape shape = mesh;
    shape[index(axis)] = degree;
    return communication_share(layer, tokens, shape, rates, size, against);
  };
  double before = share(1);
  for (double degree = 1; degree < kMostDevices; degree *= 2) {
    const double after = share(2 * degree);
    if (after > 1) return degree * (1 + (1 - before) / (after - before));
    before = after;
  }
  return std::nullopt;
}

MeshShape best_split(const LayerOnMesh& layer, double tokens, double devices,
                     const DeviceRates& rates) {
  const auto shape_of = [&](double fsdp) {
    MeshShape shape = {1, 1, 1, 1, 1, 1};
    shape[index(ParallelAxis::kFsdp)] = fsdp;
    shape[index(ParallelAxis::kTp)] = devices / fsdp;
    return shape;
  };
  // More of fsdp: longer gathers of longer parts, shorter reductions of fewer tokens.
  return shape_of(where_one(1, devices, [&](double fsdp) {
    const LayerTime time =
        layer.time(Pass::kForward, tokens, shape_of(fsdp), rates, GroupSize::kLimit);
    return time.axis_s[index(ParallelAxis::kTp)] / time.axis_s[index(ParallelAxis::kFsdp)];
  }));
}

std::optional<double> critical_tokens_of_best_split(const LayerOnMesh& layer, double devices,
                                                    const DeviceRates& rates) {
  const auto share = [&](double tokens) {
    const MeshShape mesh = best_split(layer, tokens * devices, devices, rates);
    return communication_share(layer, tokens * devices, mesh, rates, GroupSize::kLimit);
  };
  if (share(kMostTokens) > 1) return std::nullopt;
  return where_one(1 / kMostTokens, kMostTokens, share);
}

}  // namespace flopwise
