#include "flopwise/plan/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/model/build.h"
#include "flopwise/plan/search.h"

namespace flopwise {
namespace {

WorkloadRequest workload_of(const ServeRequest& request, Mode mode, std::int64_t context) {
  WorkloadRequest workload;
  workload.mode = mode;
  workload.latent = request.latent;
  if (mode == Mode::kPrefill) {
    workload.seq_len = request.prompt;
  } else {
    workload.context = context;
  }
  return workload;
}

std::vector<BlockModel> compile(const Program& program, const Assignment& assignment,
                                const ElementTypes& types) {
  std::vector<BlockModel> blocks;
  std::set<std::string> seen;
  for (const Block& block : program.blocks) {
    blocks.emplace_back(block, program.sizes_of(block), assignment, Fusion::kFused,
                        BytesPerElement{types, 0}, seen);
  }
  return blocks;
}

}  // namespace

std::string describe(const ServePlan& plan) {
  return fmt::format("{}, batch {}", plan.mesh.str(), plan.batch);
}

Server::Server(const Model& model, ServeRequest request)
    : model_(model), request_(std::move(request)) {
  const auto pick = [&](const char* option, const std::string& name) -> const DType& {
    return in_context(
        option, [&]() -> const DType& { return find_dtype(name.empty() ? request_.dtype : name); });
  };
  types_ = {pick("--dtype", ""), pick("--weights", request_.weights), pick("--kv", request_.kv)};
  rates_ = rates_of(request_.hardware, std::string(types_.compute.name));
  if (request_.hardware.memory_bytes) {
    usable_memory_ = kUsableMemory * request_.hardware.memory_bytes->to_double();
  }
  // Refuses what cannot prefill or decode.
  const Program program = build_program(
      model_,
      resolve(workload_of(request_, Mode::kDecode, request_.prompt + request_.output), model_));
  resolve(workload_of(request_, Mode::kPrefill, 0), model_);
  for (const Block& block : program.blocks) {
    for (const Tensor& tensor : block.graph.tensors()) {
      if (tensor.role != Role::kParameter) continue;
      if (!tensor.routed_axis.empty()) experts_ = true;
      for (const Axis& axis : tensor.axes) {
        if (axis.name != "K") continue;
        kv_heads_ = std::gcd(
            kv_heads_,
            static_cast<std::int64_t>(axis.size.eval_count(program.sizes_of(block), "K").value()));
      }
    }
  }
}

const Server::Blocks& Server::blocks_of(const Parallelism& mesh) const {
  const bool splits_groups = kv_heads_ > 0 && kv_heads_ % mesh.tp != 0;
  std::unique_ptr<Blocks>& blocks = blocks_[splits_groups];
  if (blocks) return *blocks;
  blocks = std::make_unique<Blocks>();
  Assignment assignment;
  for (const ParallelAxis axis : {ParallelAxis::kDp, ParallelAxis::kEp, ParallelAxis::kTp}) {
    assignment.axes |= axis;
  }
  if (splits_groups) assignment.axes |= ParallelAxis::kTpGroups;
  assignment.splits_groups = splits_groups;
  const auto program = [&](Mode mode, std::int64_t context) {
    return build_program(model_, resolve(workload_of(request_, mode, context), model_));
  };
  const std::int64_t half = (request_.output + 1) / 2;
  blocks->prefill = compile(program(Mode::kPrefill, 0), assignment, types_);
  blocks->decode = compile(program(Mode::kDecode, request_.prompt + half), assignment, types_);
  const Program full = program(Mode::kDecode, request_.prompt + request_.output);
  for (const Block& block : full.blocks) {
    const ShardedBlock sharded = shard(block, assignment);
    for (const Tensor& tensor : sharded.local.graph.tensors()) {
      if (tensor.role != Role::kState || tensor.alias_of != kNoTensor) continue;
      Expr held = elements(tensor) * bytes_per_element(tensor.element, types_);
      // What the queries to come can still see.
      if (!tensor.is_recurrent) held = held / tensor.axes.at(1).size * tensor.keys_held;
      blocks->cache_elements.push_back(held * block.repeat);
      blocks->cache_sizes.push_back(full.sizes_of(block));
    }
  }
  return *blocks;
}

std::optional<std::string> Server::problem(const Parallelism& mesh) const {
  if (mesh.devices() != request_.devices) {
    return fmt::format("mesh {} has {} devices, expected the {} of --on", mesh.str(),
                       mesh.devices(), request_.devices);
  }
  if (mesh.fsdp > 1 || mesh.cp > 1 || mesh.pp > 1) {
    return fmt::format("mesh {}: expected dp, tp and ep only", mesh.str());
  }
  if (mesh.ep > 1 && !experts_) {
    return fmt::format("ep={}: the model has no experts, expected ep=1", mesh.ep);
  }
  const MeshSizes sizes = mesh_sizes(mesh, 1, split_tensor_axis(mesh.tp, kv_heads_));
  const Indivisible indivisible = find_indivisible(blocks_of(mesh).decode, sizes);
  if (indivisible.division != nullptr) return describe(indivisible, sizes);
  return std::nullopt;
}

PassTime Server::time_of(const std::vector<BlockModel>& blocks, const MeshSizes& sizes,
                         PassEstimate& sums, double& workspace, double& parameters) const {
  PassTime pass;
  for (const BlockModel& block : blocks) {
    const BlockEstimate estimate = block.estimate(sizes, rates_);
    PassEstimate part = estimate.passes[static_cast<std::size_t>(Pass::kForward)];
    part *= static_cast<double>(block.repeat());
    sums += part;
    workspace = std::max(workspace, estimate.peak_bytes);
    parameters += estimate.parameters * static_cast<double>(block.repeat());
  }
  const auto link_s = [](double bytes, double rate) { return bytes > 0 ? bytes / rate : 0; };
  TrainBound bound;
  bound.matrix_s = sums.matrix_flops / rates_.matrix_flops_per_s;
  if (rates_.vector_flops_per_s > 0) bound.vector_s = sums.vector_flops / rates_.vector_flops_per_s;
  bound.memory_s = sums.bytes / rates_.memory_bytes_per_s;
  bound.network_s = std::max(link_s(sums.sent.inside, rates_.network.inside_bytes_per_s),
                             link_s(sums.sent.across, rates_.network.across_bytes_per_s));
  pass.time_s = {bound.largest(), sums.kernels_s + sums.blocking_s - sums.hidden_s,
                 sums.kernels_s + sums.blocking_s};
  pass.bound = bound.name();
  return pass;
}

double Server::cache_bytes(const Blocks& blocks, const MeshSizes& sizes) const {
  double total = 0;
  for (std::size_t i = 0; i < blocks.cache_elements.size(); ++i) {
    Sizes all = blocks.cache_sizes[i];
    all["B"] = sizes.batch;
    for (const auto& [name, axis] :
         {std::pair("dp", ParallelAxis::kDp), std::pair("ep", ParallelAxis::kEp),
          std::pair("tp", ParallelAxis::kTp), std::pair("tk", ParallelAxis::kTp),
          std::pair("tg", ParallelAxis::kTpGroups)}) {
      all[name] = sizes.size(axis);
    }
    total += blocks.cache_elements[i].eval_double(all);
  }
  return total;
}

ServeEstimate Server::estimate(const ServePlan& plan) const {
  const Parallelism& mesh = plan.mesh;
  const Blocks& blocks = blocks_of(mesh);
  const TensorSplit split = split_tensor_axis(mesh.tp, kv_heads_);
  const std::int64_t replicas = mesh.replicas();
  const std::int64_t each = (plan.batch + replicas - 1) / replicas;
  ServeEstimate result;
  result.plan = plan;
  PassEstimate prefill, decode;
  double prefill_workspace = 0, decode_workspace = 0, parameters = 0, unused = 0;
  result.prefill =
      time_of(blocks.prefill, mesh_sizes(mesh, 1, split), prefill, prefill_workspace, unused);
  const MeshSizes sizes = mesh_sizes(mesh, each, split);
  result.decode = time_of(blocks.decode, sizes, decode, decode_workspace, parameters);
  result.decode_wire_bytes = decode.sent_by_axis;
  result.tokens_per_s = static_cast<double>(plan.batch) / result.decode.time_s.expected;
  const double weight_bytes = parameters * flopwise::bytes_per_element(types_.weight).to_double();
  const double flops_each = decode.matrix_flops / static_cast<double>(each);
  result.critical_batch =
      weight_bytes / rates_.memory_bytes_per_s / (flops_each / rates_.matrix_flops_per_s);
  result.prefill_per_decode = result.prefill.time_s.expected /
                              (result.decode.time_s.expected *
                               static_cast<double>(request_.output) / static_cast<double>(each));
  result.memory.weights = weight_bytes;
  result.memory.kv_cache = cache_bytes(blocks, sizes);
  result.memory.workspace = std::max(prefill_workspace, decode_workspace);
  result.fits = usable_memory_ == 0 || result.memory.total() <= usable_memory_;
  result.meets_slo = (!request_.ttft_s || result.ttft_s() <= *request_.ttft_s) &&
                     (!request_.tpot_s || result.tpot_s() <= *request_.tpot_s);
  return result;
}

std::int64_t Server::largest_batch(const Parallelism& mesh, bool in_time) const {
  const auto works = [&](std::int64_t each) {
    const ServeEstimate estimate = this->estimate({mesh, each * mesh.replicas()});
    return estimate.fits && (estimate.meets_slo || !in_time);
  };
  if (!works(1)) return 0;
  // Memory and time grow with the batch: the last that works is found by halving.
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  std::int64_t low = 1;
  std::int64_t high = 2;
  while (high < kMost && works(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (works(middle) ? low : high) = middle;
  }
  return low * mesh.replicas();
}

namespace {

void add_pareto(std::vector<ServeEstimate>& front, const ServeEstimate& estimate) {
  const auto dominates = [](const ServeEstimate& a, const ServeEstimate& b) {
    return a.tpot_s() <= b.tpot_s() && a.tokens_per_s >= b.tokens_per_s;
  };
  for (const ServeEstimate& other : front) {
    if (dominates(other, estimate)) return;
  }
  front.erase(
      std::remove_if(front.begin(), front.end(),
                     [&](const ServeEstimate& other) { return dominates(estimate, other); }),
      front.end());
  front.insert(std::upper_bound(front.begin(), front.end(), estimate,
                                [](const ServeEstimate& a, const ServeEstimate& b) {
                                  return a.tpot_s() < b.tpot_s();
                                }),
               estimate);
}

}  // namespace

ServeSearch search_serving(const Server& server, std::int64_t batch, std::size_t top) {
  ServeSearch search;
  for (const Parallelism& mesh : factorisations(server.request().devices, server.has_experts())) {
    if (mesh.fsdp > 1 || mesh.cp > 1 || mesh.pp > 1) continue;
    if (server.problem(mesh)) {
      ++search.rejected;
      continue;
    }
    ++search.evaluated;
    const std::int64_t chosen = batch > 0 ? batch : server.largest_batch(mesh, true);
    const ServeEstimate estimate = server.estimate({mesh, chosen > 0 ? chosen : mesh.replicas()});
    if (!estimate.fits) {
      ++search.too_large;
      if (!search.smallest || estimate.memory.total() < search.smallest->memory.total()) {
        search.smallest = estimate;
      }
      continue;
    }
    for (std::int64_t each = 1; each * mesh.replicas() <= estimate.plan.batch; each *= 2) {
      const ServeEstimate point = server.estimate({mesh, each * mesh.replicas()});
      if (point.fits && point.meets_slo) add_pareto(search.pareto, point);
    }
    if (!estimate.meets_slo) {
      ++search.too_slow;
      continue;
    }
    add_pareto(search.pareto, estimate);
    const auto more = [](const ServeEstimate& a, const ServeEstimate& b) {
      return a.tokens_per_s > b.tokens_per_s;
    };
    search.best.insert(std::upper_bound(search.best.begin(), search.best.end(), estimate, more),
                       estimate);
    if (search.best.size() > std::max<std::size_t>(top, 2)) search.best.pop_back();
  }
  return search;
}

}  // namespace flopwise
