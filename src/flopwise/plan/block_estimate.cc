#include "flopwise/plan/block_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/cost/flops.h"

namespace flopwise {
namespace {

constexpr const char* kVocabulary = "V";

bool is_matrix_work(const Work& work) {
  return work.op_class == OpClass::kMatmul || work.op_class == OpClass::kAttention;
}

// The loop of a contraction as m x k times k x n, as often as batching axes say.
struct ProductAxes {
  Expr m = 1;
  Expr n = 1;
  Expr k = 1;
  Expr times = 1;
};

ProductAxes product_axes(const Graph& graph, const Op& op) {
  ProductAxes axes;
  const Tensor& a = graph.tensor(op.inputs.at(0));
  const Tensor& b = graph.tensor(op.inputs.at(1));
  const Tensor& c = graph.tensor(op.outputs.at(0));
  const std::string routed = std::get<Contraction>(op.kind).routed_axis;
  for (const Axis& axis : a.axes) {
    if (axis.name == routed) continue;
    const bool in_b = has_axis(b, axis.name);
    const bool in_c = has_axis(c, axis.name);
    (in_b && in_c ? axes.times : in_b ? axes.k : axes.m) *= axis.size;
  }
  for (const Axis& axis : b.axes) {
    if (axis.name == routed || has_axis(a, axis.name)) continue;
    axes.n *= axis.size;
  }
  if (routed.empty()) return axes;
  // The tokens are dealt out over the experts of this device.
  const Tensor& weight = has_axis(b, routed) ? b : c;
  const Expr experts = axis_of(weight, routed).size;
  axes.times *= experts;
  (has_axis(b, routed) ? axes.m : axes.k) *= 1 / experts;
  return axes;
}

// What a kernel's further product adds to its shape: columns (or rows) where both read the same
// activations, a longer sum where their results are added up.
void add_product(ProductAxes& all, const ProductAxes& more, const Op& first, const Op& op) {
  if (op.inputs[0] == first.inputs[0]) {
    all.n += more.n;
  } else if (op.inputs[1] == first.inputs[1]) {
    all.m += more.m;
  } else {
    all.k += more.k;
  }
}

}  // namespace

ChipRates rates_of(const Hardware& hardware, const std::string& dtype,
                   const std::string& matmul_dtype) {
  ChipRates rates;
  rates.attention_flops_per_s = peak_flops_per_s(hardware, dtype).to_double();
  rates.matrix_flops_per_s = rates.attention_flops_per_s;
  if (!matmul_dtype.empty()) {
    rates.matrix_flops_per_s =
        std::max(rates.matrix_flops_per_s, peak_flops_per_s(hardware, matmul_dtype).to_double());
  }
  if (hardware.vector_flops_per_s) {
    rates.vector_flops_per_s = hardware.vector_flops_per_s->to_double();
  }
  if (!hardware.memory_bytes_per_s) {
    throw UserError(hardware.name + ": its memory bandwidth is not known, expected it as " +
                    hardware.name + ",memory_bandwidth=...");
  }
  rates.memory_bytes_per_s = hardware.memory_bytes_per_s->to_double();
  rates.network = network_of(hardware);
  rates.hardware = &hardware;
  rates.efficiency = &efficiency_of(hardware);
  return rates;
}

std::int64_t MeshSizes::product(MeshSet set) const {
  std::int64_t result = 1;
  for (const ParallelAxis axis : kParallelAxes) {
    if (set.has(axis)) result *= size(axis);
  }
  return result;
}

DeviceGroup MeshSizes::group(MeshSet set, const Network& network) const {
  constexpr ParallelAxis kInnermostFirst[] = {ParallelAxis::kTp,   ParallelAxis::kTpGroups,
                                              ParallelAxis::kCp,   ParallelAxis::kEp,
                                              ParallelAxis::kFsdp, ParallelAxis::kDp};
  std::array<MeshStep, 6> steps;
  std::size_t count = 0;
  std::int64_t stride = 1;
  for (const ParallelAxis axis : kInnermostFirst) {
    if (set.has(axis) && size(axis) > 1) steps[count++] = {stride, size(axis)};
    stride *= size(axis);
  }
  return group_of({steps.data(), count}, network, slice);
}

MeshSizes mesh_sizes(const Parallelism& mesh, std::int64_t micro_batch, const TensorSplit& split,
                     const Network& network) {
  MeshSizes sizes;
  sizes.batch = micro_batch * mesh.replicas();
  sizes.axes = {mesh.dp, mesh.fsdp, mesh.ep, mesh.cp, split.keys, split.groups};
  sizes.slice = slice_of(network, mesh.devices());
  return sizes;
}

KernelSums& KernelSums::operator+=(const KernelSums& other) {
  matrix_flops += other.matrix_flops;
  vector_flops += other.vector_flops;
  bytes += other.bytes;
  kernels_s += other.kernels_s;
  return *this;
}

KernelSums& KernelSums::operator*=(double factor) {
  for (double* value : {&matrix_flops, &vector_flops, &bytes, &kernels_s}) *value *= factor;
  return *this;
}

ParameterCounts& ParameterCounts::operator+=(const ParameterCounts& other) {
  all += other.all;
  trainable += other.trainable;
  return *this;
}

ParameterCounts& ParameterCounts::operator*=(double factor) {
  all *= factor;
  trainable *= factor;
  return *this;
}

StepMoves& StepMoves::operator+=(const StepMoves& other) {
  sent += other.sent;
  time_s += other.time_s;
  for (std::size_t i = 0; i < sent_by_axis.size(); ++i) sent_by_axis[i] += other.sent_by_axis[i];
  return *this;
}

StepMoves& StepMoves::operator*=(double factor) {
  sent *= factor;
  time_s *= factor;
  for (double& bytes : sent_by_axis) bytes *= factor;
  return *this;
}

PassEstimate& PassEstimate::operator+=(const PassEstimate& other) {
  matrix_flops += other.matrix_flops;
  vector_flops += other.vector_flops;
  bytes += other.bytes;
  kernels_s += other.kernels_s;
  blocking_s += other.blocking_s;
  overlappable_s += other.overlappable_s;
  hidden_s += other.hidden_s;
  sent += other.sent;
  for (std::size_t i = 0; i < sent_by_axis.size(); ++i) sent_by_axis[i] += other.sent_by_axis[i];
  return *this;
}

PassEstimate& PassEstimate::operator*=(double factor) {
  for (double* value : {&matrix_flops, &vector_flops, &bytes, &kernels_s, &blocking_s,
                        &overlappable_s, &hidden_s}) {
    *value *= factor;
  }
  sent *= factor;
  for (double& value : sent_by_axis) value *= factor;
  return *this;
}

BlockModel::BlockModel(const Block& block, const Sizes& sizes, const Assignment& assignment,
                       Fusion fusion, const BytesPerElement& bytes, std::set<std::string>& seen)
    : name_(block.name), is_layer_(block.is_layer), sizes_(sizes), assignment_(&assignment) {
  repeat_ = static_cast<std::int64_t>(block.repeat.eval_count(sizes, "layers").value());
  variables_ = {"B"};
  for (const ParallelAxis axis : kParallelAxes) variables_.push_back(assignment.symbol(axis));
  variables_.emplace_back(kVocabulary);
  const ShardedBlock sharded = shard(block, assignment);
  for (const AxisDivision& division : sharded.divisions) {
    if (division.axis.name == kVocabulary) vocabulary_by_ |= division.by - ParallelAxis::kFsdp;
  }
  if (const auto vocabulary = sizes_.find(kVocabulary); vocabulary != sizes_.end()) {
    vocabulary_ = static_cast<std::int64_t>(vocabulary->second.value());
    sizes_.erase(vocabulary);
  }
  add_kernels(sharded.local.graph, fusion, bytes.types);
  add_moves(sharded.local.graph, bytes);
  for (const GradientReduction& gradient : sharded.gradients) {
    if (gradient.shared && seen.count("reduced " + gradient.parameter) > 0) continue;
    if (gradient.shared) seen.insert("reduced " + gradient.parameter);
    MeshSet axes;
    for (const ParallelAxis axis : kParallelAxes) {
      if (contains(gradient.collective.mesh_axes, assignment.symbol(axis))) axes |= axis;
    }
    step_moves_.push_back(
        {sort_of(CollectiveKind::kAllReduce, axes), gradient.shared,
         compile(gradient.collective.array_elements * Expr(bytes.parameter_gradient))});
  }
  add_memory(sharded.local, fusion, bytes.types, seen);
  for (const AxisDivision& division : sharded.divisions) {
    // Parameters are flat buffers to fsdp, which need not divide their first axis; tokens are
    // spread over experts by their router.
    const MeshSet by = division.by - ParallelAxis::kFsdp;
    if (by.empty() || division.axis.name == kVocabulary) continue;
    if (division.axis.name == "B" || division.axis.name == "k") continue;
    divisions_.push_back({division.axis.name,
                          static_cast<std::int64_t>(
                              division.axis.size.eval_count(sizes_, division.axis.name).value()),
                          by});
  }
  assignment_ = nullptr;
}

CompiledExpr BlockModel::compile(const Expr& expr) const {
  return {expr, variables_, sizes_};
}

void BlockModel::add_kernels(const Graph& graph, Fusion fusion, const ElementTypes& types) {
  const std::vector<OpId> leads = kernels_of(graph, fusion);
  const std::vector<Traffic> traffic = traffic_of(graph, fusion, types);
  std::map<OpId, std::vector<OpId>> members;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    if (std::holds_alternative<Collective>(graph.ops()[i].kind)) continue;
    members[leads[i]].push_back(static_cast<OpId>(i));
  }
  const auto makes_weight_gradient = [&](const Op& op) {
    return std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId id) {
      const TensorId of = graph.tensor(id).gradient_of;
      return of != kNoTensor && graph.tensor(of).role == Role::kParameter;
    });
  };
  for (const auto& [lead, ops] : members) {
    Kernel kernel;
    Expr matrix = 0;
    Expr vector = 0;
    Expr bytes = 0;
    kernel.pass = graph.ops()[static_cast<std::size_t>(home_of_kernel(graph, leads, lead))].pass;
    bool has_shape = false;
    const Op* first = nullptr;
    ProductAxes shape;
    for (const OpId id : ops) {
      const Op& op = graph.ops()[static_cast<std::size_t>(id)];
      const Work work = work_of(graph, op);
      (is_matrix_work(work) ? matrix : vector) += work.flops;
      bytes += traffic[static_cast<std::size_t>(id)].total();
      kernel.makes_weight_gradient |= makes_weight_gradient(op);
      if (!std::holds_alternative<Contraction>(op.kind) || !is_matrix_work(work)) continue;
      // What runs position by position is bound by what it reads, not by a product's shape.
      if (is_in_recurrence(graph, op)) continue;
      const bool fused = op.region != kNoRegion;
      const ProductAxes axes = product_axes(graph, op);
      if (fused && !has_shape) {
        kernel.kind = KernelKind::kAttention;
        // Pairs over queries, from the kernel's first product, of queries and keys.
        const Tensor& scores = graph.tensor(op.outputs[0]);
        if (scores.masking) {
          kernel.keys =
              compile(live_elements(scores) /
                      (elements(scores) / axis_of(scores, scores.masking->key_axis).size));
        }
        kernel.width = compile(axes.k)(std::vector<double>(variables_.size(), 1.0));
        has_shape = true;
      } else if (!fused && first != nullptr) {
        add_product(shape, axes, *first, op);
      } else if (!fused && !has_shape) {
        kernel.kind = KernelKind::kProduct;
        first = &op;
        shape = axes;
        has_shape = true;
      }
    }
    if (first != nullptr) {
      kernel.m = compile(shape.m);
      kernel.n = compile(shape.n);
      kernel.k = compile(shape.k);
      kernel.times = compile(shape.times);
    }
    kernel.matrix_flops = compile(matrix);
    kernel.vector_flops = compile(vector);
    kernel.bytes = compile(bytes);
    kernels_.push_back(std::move(kernel));
  }
}

void BlockModel::add_moves(const Graph& graph, const BytesPerElement& bytes) {
  for (const Op& op : graph.ops()) {
    const auto* collective = std::get_if<Collective>(&op.kind);
    if (collective == nullptr) continue;
    MeshSet axes;
    for (const ParallelAxis axis : kParallelAxes) {
      if (contains(collective->mesh_axes, assignment_->symbol(axis))) axes |= axis;
    }
    Move move{sort_of(collective->kind, axes), op.pass, false, false, {}};
    const Tensor& made = graph.tensor(op.outputs[0]);
    const bool gradient =
        made.gradient_of != kNoTensor && graph.tensor(made.gradient_of).role == Role::kParameter;
    move.of_parameter =
        gradient || (!op.inputs.empty() &&
                     graph.tensor(graph.storage_of(op.inputs[0])).role == Role::kParameter);
    move.in_attention = op.region != kNoRegion;
    const Expr each =
        gradient ? Expr(bytes.parameter_gradient) : bytes_per_element(made.element, bytes.types);
    move.bytes = compile(collective->array_elements * each);
    moves_.push_back(std::move(move));
  }
}

void BlockModel::add_memory(const Block& local, Fusion fusion, const ElementTypes& types,
                            std::set<std::string>& seen) {
  const Graph& graph = local.graph;
  const std::set<std::string> kept = seen;
  Expr saved = 0;
  Expr once = 0;
  for (const TensorId id : graph.saved) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.shared && !seen.insert(tensor.name).second) continue;
    (tensor.shared ? once : saved) += elements(tensor) * bytes_per_element(tensor.element, types);
  }
  saved_ = compile(saved);
  saved_once_ = compile(once);
  lifetimes_ = lifetimes_of(local, fusion, types, kept, repeat_ > 1);
  for (const Lifetime& lifetime : lifetimes_.tensors) {
    lifetime_bytes_.push_back(compile(lifetime.bytes));
  }
  add_parameters(graph, seen);
}

void BlockModel::add_parameters(const Graph& graph, std::set<std::string>& seen) {
  struct Counts {
    Expr all = 0;
    Expr trainable = 0;
  };
  Counts own, once, tied;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role != Role::kParameter || tensor.alias_of != kNoTensor) continue;
    const bool is_new = !tensor.shared || seen.insert("parameter " + tensor.name).second;
    Counts& counts = !tensor.shared ? own : is_new ? once : tied;
    counts.all += elements(tensor);
    if (tensor.needs_gradient) counts.trainable += elements(tensor);
  }
  parameters_ = {compile(own.all), compile(own.trainable)};
  once_parameters_ = {compile(once.all), compile(once.trainable)};
  tied_parameters_ = {compile(tied.all), compile(tied.trainable)};
}

BlockModel::Values BlockModel::values_of(const MeshSizes& mesh) const {
  Values values = {static_cast<double>(mesh.batch)};
  values.back() = 1;
  for (std::size_t i = 0; i < mesh.axes.size(); ++i) {
    values[i + 1] = static_cast<double>(mesh.axes[i]);
  }
  if (vocabulary_ > 0) values.back() = static_cast<double>(padded_vocabulary(mesh));
  return values;
}

ParameterCounts BlockModel::parameters(const MeshSizes& mesh) const {
  const Values values = values_of(mesh);
  ParameterCounts counts = parameters_(values);
  counts *= static_cast<double>(repeat_);
  counts += once_parameters_(values);
  return counts;
}

std::int64_t BlockModel::padded_vocabulary(const MeshSizes& mesh) const {
  const std::int64_t devices = mesh.product(vocabulary_by_);
  return (vocabulary_ + devices - 1) / devices * devices;
}

KernelEstimate BlockModel::kernels(const MeshSizes& mesh, const ChipRates& rates) const {
  // The sequences of a replica alone: the same numbers, whatever dp and fsdp are.
  MeshSizes replica = mesh;
  const std::int64_t copies = mesh.size(ParallelAxis::kDp) * mesh.size(ParallelAxis::kFsdp);
  replica.batch = mesh.batch / copies;
  replica.axes[static_cast<std::size_t>(ParallelAxis::kDp)] = 1;
  replica.axes[static_cast<std::size_t>(ParallelAxis::kFsdp)] = 1;
  const Values values = values_of(replica);
  KernelEstimate result;
  for (const Kernel& kernel : kernels_) {
    const auto pass_index = static_cast<std::size_t>(kernel.pass);
    PassEstimate& pass = result.passes[pass_index];
    const double flops = kernel.matrix_flops(values);
    const double bytes = kernel.bytes(values);
    const double vector = kernel.vector_flops(values);
    pass.matrix_flops += flops;
    pass.vector_flops += vector;
    pass.bytes += bytes;
    const double time = kernel_time_s(kernel, values, flops, vector, bytes, rates);
    pass.kernels_s += time;
    if (kernel.kind == KernelKind::kAttention) result.attention_s[pass_index] += time;
    if (kernel.makes_weight_gradient) {
      result.weight_gradients += {flops, vector, bytes, time};
    }
  }
  result.saved_bytes = saved_(values);
  result.saved_once_bytes = saved_once_(values);
  std::vector<double> bytes;
  bytes.reserve(lifetime_bytes_.size());
  for (const CompiledExpr& each : lifetime_bytes_) bytes.push_back(each(values));
  result.peak_bytes = lifetimes_.peak(bytes);
  return result;
}

double BlockModel::kernel_time_s(const Kernel& kernel, const Values& values, double flops,
                                 double vector, double bytes, const ChipRates& rates) {
  const Efficiency& efficiency = *rates.efficiency;
  switch (kernel.kind) {
    case KernelKind::kProduct:
      return matmul_time_s(
          efficiency, {kernel.m(values), kernel.n(values), kernel.k(values), kernel.times(values)},
          rates.matrix_flops_per_s, bytes, rates.memory_bytes_per_s);
    case KernelKind::kAttention:
      return attention_time_s(
          efficiency, {flops, std::max(kernel.keys(values), 1.0), kernel.width, rates.flash},
          rates.attention_flops_per_s, bytes, rates.memory_bytes_per_s);
    case KernelKind::kStream:
      if (bytes == 0 && vector == 0 && flops == 0) return 0;  // a change of names
      return std::max(stream_time_s(efficiency, bytes, rates.memory_bytes_per_s),
                      flops / (efficiency.attention_fraction * rates.attention_flops_per_s));
  }
  throw InternalError("unknown kind of kernel");
}

namespace {

// A collective over several axes is one; its bytes stand with the first of more than one device.
std::size_t axis_of_bytes(MeshSet axes, const MeshSizes& mesh) {
  for (const ParallelAxis axis : kParallelAxes) {
    if (axes.has(axis) && mesh.size(axis) > 1) return static_cast<std::size_t>(axis);
  }
  return 0;
}

constexpr std::size_t kMostSorts = 64;

}  // namespace

std::size_t BlockModel::sort_of(CollectiveKind kind, MeshSet axes) {
  const Sort sort{kind, axes};
  const auto known = std::find(sorts_.begin(), sorts_.end(), sort);
  if (known != sorts_.end()) return static_cast<std::size_t>(known - sorts_.begin());
  FLOPWISE_CHECK(sorts_.size() < kMostSorts, "collectives of too many sorts");
  sorts_.push_back(sort);
  return sorts_.size() - 1;
}

BlockModel::SortCost BlockModel::cost_of(const Sort& sort, const MeshSizes& mesh,
                                         const ChipRates& rates) const {
  const Network& network = rates.network;
  const DeviceGroup group = mesh.group(sort.axes, network);
  SortCost cost{true, 0, 0, 0, 0, 0};
  if (group.inside * group.across == 1) return cost;
  cost.is_alone = false;
  const SentBytes sent = sent_bytes(sort.kind, 1, group, network.is_torus());
  cost.inside = sent.inside;
  cost.across = sent.across;
  cost.hops_s = sent.inside > 0 ? hops_time_s(sort.kind, group, network) : 0;
  DeviceGroup without_hops = group;
  without_hops.hops = 0;
  cost.s_per_byte = collective_time_s(sort.kind,
                                      {sent.inside / rates.efficiency->link_fraction,
                                       sent.across / rates.efficiency->network_fraction},
                                      without_hops, network, *rates.hardware);
  cost.axis = axis_of_bytes(sort.axes, mesh);
  return cost;
}

BlockEstimate BlockModel::estimate(const MeshSizes& mesh, const ChipRates& rates,
                                   const KernelEstimate& kernels) const {
  const Values values = values_of(mesh);
  BlockEstimate result;
  result.passes = kernels.passes;
  result.weight_gradients = kernels.weight_gradients;
  result.saved_bytes = kernels.saved_bytes;
  result.saved_once_bytes = kernels.saved_once_bytes;
  result.peak_bytes = kernels.peak_bytes;
  std::array<SortCost, kMostSorts> costs;
  for (std::size_t i = 0; i < sorts_.size(); ++i) costs[i] = cost_of(sorts_[i], mesh, rates);
  for (const Move& move : moves_) {
    const SortCost& cost = costs[move.sort];
    if (cost.is_alone) continue;
    PassEstimate& pass = result.passes[static_cast<std::size_t>(move.pass)];
    const double array_bytes = move.bytes(values);
    const SentBytes sent{cost.inside * array_bytes, cost.across * array_bytes};
    pass.sent += sent;
    pass.sent_by_axis[cost.axis] += sent.total();
    const double time = cost.s_per_byte * array_bytes + cost.hops_s;
    if (move.of_parameter) {
      pass.overlappable_s += time;
    } else {
      const double all = time + collective_overhead_s(*rates.efficiency, sent.total());
      pass.blocking_s += all;
      if (move.in_attention) pass.hidden_s += all;
    }
  }
  for (std::size_t i = 0; i < result.passes.size(); ++i) {
    result.passes[i].hidden_s = std::min(result.passes[i].hidden_s, kernels.attention_s[i]);
  }
  for (const StepMove& move : step_moves_) {
    const SortCost& cost = costs[move.sort];
    if (cost.is_alone) continue;
    const double array_bytes = move.bytes(values);
    const SentBytes sent{cost.inside * array_bytes, cost.across * array_bytes};
    StepMoves& step = move.once ? result.step_once : result.step;
    step.sent += sent;
    step.sent_by_axis[cost.axis] += sent.total();
    step.time_s += cost.s_per_byte * array_bytes + cost.hops_s;
  }
  result.parameters = parameters_(values);
  result.once_parameters = once_parameters_(values);
  result.tied_parameters = tied_parameters_(values);
  return result;
}

std::optional<Padding> padding_of(const std::vector<BlockModel>& blocks, const MeshSizes& mesh) {
  for (const BlockModel& block : blocks) {
    const Padding padding{block.vocabulary(), block.padded_vocabulary(mesh)};
    if (padding.padded_rows != padding.rows) return padding;
  }
  return std::nullopt;
}

Indivisible find_indivisible(const std::vector<BlockModel>& blocks, const MeshSizes& mesh) {
  for (const BlockModel& block : blocks) {
    for (const Division& division : block.divisions()) {
      if (division.size % mesh.product(division.by) == 0) continue;
      return {&block, &division};
    }
  }
  return {};
}

std::string describe(const Indivisible& indivisible, const MeshSizes& mesh) {
  const Division& division = *indivisible.division;
  return fmt::format("{} = {} (block {}), expected a multiple of {}", division.label, division.size,
                     indivisible.block->name(), mesh.product(division.by));
}

}  // namespace flopwise
