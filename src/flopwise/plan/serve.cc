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

// What all layers' key heads have in common; 0 without attention.
std::int64_t kv_heads_of(const Program& program) {
  std::int64_t common = 0;
  for (const Block& block : program.blocks) {
    for (const Tensor& tensor : block.graph.tensors()) {
      if (!has_axis(tensor, "K")) continue;
      const Count heads = axis_of(tensor, "K").size.eval_count(program.sizes_of(block), "K");
      common = std::gcd(common, static_cast<std::int64_t>(heads.value()));
    }
  }
  return common;
}

bool has_experts(const Program& program) {
  for (const Block& block : program.blocks) {
    for (const Tensor& tensor : block.graph.tensors()) {
      if (!tensor.routed_axis.empty()) return true;
    }
  }
  return false;
}

bool outnumbers(std::int64_t tp, std::int64_t kv_heads) {
  return kv_heads > 0 && kv_heads % tp != 0;
}

Assignment assignment_of(bool splits_groups) {
  Assignment assignment;
  for (const ParallelAxis axis : {ParallelAxis::kDp, ParallelAxis::kEp, ParallelAxis::kTp}) {
    assignment.axes |= axis;
  }
  if (splits_groups) assignment.axes |= ParallelAxis::kTpGroups;
  assignment.splits_groups = splits_groups;
  return assignment;
}

}  // namespace

std::string describe(const ServePlan& plan) {
  return fmt::format("{}, batch {}", plan.mesh.str(), plan.batch);
}

Server::Server(const Model& model, ServeRequest request)
    : model_(model), request_(std::move(request)) {
  if (model_.architecture == Architecture::kEncoder) {
    throw UserError("serve: " + model_.name + " is an encoder, expected a model that decodes");
  }
  const auto pick = [&](const char* option, const std::string& name) -> const DType& {
    return in_context(
        option, [&]() -> const DType& { return find_dtype(name.empty() ? request_.dtype : name); });
  };
  types_ = {pick("--dtype", ""), pick("--weights", request_.weights), pick("--kv", request_.kv)};
  rates_ = rates_of(request_.hardware, std::string(types_.compute.name));
  if (request_.hardware.memory_bytes) {
    usable_memory_ = kUsableMemory * request_.hardware.memory_bytes->to_double();
  }
  const Program decode = program_of(Mode::kDecode, request_.prompt + request_.output);
  decode_kv_heads_ = kv_heads_of(decode);
  experts_ = flopwise::has_experts(decode);
  prefill_kv_heads_ = kv_heads_of(program_of(Mode::kPrefill, 0));
}

Workload Server::longest_decode() const {
  return resolve(workload_of(request_, Mode::kDecode, request_.prompt + request_.output), model_);
}

Program Server::program_of(Mode mode, std::int64_t context) const {
  return build_program(model_, resolve(workload_of(request_, mode, context), model_));
}

const Server::Blocks& Server::blocks_of(const Parallelism& mesh) const {
  const std::pair key(outnumbers(mesh.tp, prefill_kv_heads_),
                      outnumbers(mesh.tp, decode_kv_heads_));
  std::unique_ptr<Blocks>& blocks = blocks_[key];
  if (blocks) return *blocks;
  blocks = std::make_unique<Blocks>();
  const Assignment decode = assignment_of(key.second);
  blocks->prefill = {compile(program_of(Mode::kPrefill, 0), assignment_of(key.first), types_),
                     prefill_kv_heads_};
  const std::int64_t half = (request_.output + 1) / 2;
  blocks->decode = {compile(program_of(Mode::kDecode, request_.prompt + half), decode, types_),
                    decode_kv_heads_};
  const Program full = program_of(Mode::kDecode, request_.prompt + request_.output);
  for (const Block& block : full.blocks) {
    const ShardedBlock sharded = shard(block, decode);
    for (const Tensor& tensor : sharded.local.graph.tensors()) {
      if (tensor.role != Role::kState || tensor.alias_of != kNoTensor) continue;
      Expr held = elements(tensor) * bytes_per_element(tensor.element, types_);
      // What the queries to come can still see.
      if (!tensor.is_recurrent) held = held / tensor.axes.at(1).size * tensor.keys_held;
      blocks->caches.push_back({held * block.repeat, full.sizes_of(block)});
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
  const Blocks& blocks = blocks_of(mesh);
  for (const PassBlocks* pass : {&blocks.prefill, &blocks.decode}) {
    const MeshSizes sizes = pass->sizes(mesh, 1, rates_.network);
    const Indivisible indivisible = find_indivisible(pass->blocks, sizes);
    if (indivisible.division != nullptr) return describe(indivisible, sizes);
  }
  return std::nullopt;
}

PassTime Server::time_of(const PassBlocks& blocks, const MeshSizes& sizes, PassEstimate& sums,
                         double& workspace, double& parameters) const {
  PassTime pass;
  for (const BlockModel& block : blocks.blocks) {
    const BlockEstimate estimate = block.estimate(sizes, rates_);
    PassEstimate part = estimate.passes[static_cast<std::size_t>(Pass::kForward)];
    part *= static_cast<double>(block.repeat());
    sums += part;
    workspace = std::max(workspace, estimate.peak_bytes);
    parameters += block.parameters(sizes).all;
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
  for (const Cache& cache : blocks.caches) {
    Sizes all = cache.sizes;
    all["B"] = sizes.batch;
    for (const auto& [name, axis] :
         {std::pair("dp", ParallelAxis::kDp), std::pair("ep", ParallelAxis::kEp),
          std::pair("tp", ParallelAxis::kTp), std::pair("tk", ParallelAxis::kTp),
          std::pair("tg", ParallelAxis::kTpGroups)}) {
      all[name] = sizes.size(axis);
    }
    total += cache.bytes.eval_double(all);
  }
  return total;
}

ServeEstimate Server::estimate(const ServePlan& plan) const {
  const Parallelism& mesh = plan.mesh;
  const Blocks& blocks = blocks_of(mesh);
  const std::int64_t replicas = mesh.replicas();
  const std::int64_t each = (plan.batch + replicas - 1) / replicas;
  ServeEstimate result;
  result.plan = plan;
  result.weights = types_.weight.name;
  PassEstimate prefill, decode;
  double prefill_workspace = 0, decode_workspace = 0, parameters = 0, unused = 0;
  result.prefill = time_of(blocks.prefill, blocks.prefill.sizes(mesh, 1, rates_.network), prefill,
                           prefill_workspace, unused);
  const MeshSizes sizes = blocks.decode.sizes(mesh, each, rates_.network);
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

// All ways to write the devices as dp*tp*ep.
std::vector<Parallelism> serving_meshes(const Server& server) {
  const std::int64_t devices = server.request().devices;
  const std::int64_t count = count_factorisations(devices, server.has_experts() ? 3 : 2);
  if (count > kMostMeshes) {
    throw UserError(
        fmt::format("{} devices make {} meshes, more than the {} that are searched: "
                    "expected --mesh",
                    devices, count, kMostMeshes));
  }
  std::vector<Parallelism> meshes;
  for (const std::int64_t tp : divisors(devices)) {
    for (const std::int64_t ep : divisors(server.has_experts() ? devices / tp : 1)) {
      Parallelism mesh;
      mesh.tp = tp;
      mesh.ep = ep;
      mesh.dp = devices / tp / ep;
      meshes.push_back(mesh);
    }
  }
  return meshes;
}

}  // namespace

namespace {

void search_mesh(const Server& server, const Parallelism& mesh, std::int64_t batch, std::size_t top,
                 ServeSearch& search) {
  if (server.problem(mesh)) {
    ++search.rejected;
    return;
  }
  ++search.evaluated;
  const std::int64_t chosen = batch > 0 ? batch : server.largest_batch(mesh, true);
  const ServeEstimate estimate = server.estimate({mesh, chosen > 0 ? chosen : mesh.replicas()});
  if (!estimate.fits) {
    ++search.too_large;
    if (!search.smallest || estimate.memory.total() < search.smallest->memory.total()) {
      search.smallest = estimate;
    }
    return;
  }
  for (std::int64_t each = 1; each * mesh.replicas() <= estimate.plan.batch; each *= 2) {
    const ServeEstimate point = server.estimate({mesh, each * mesh.replicas()});
    if (point.fits && point.meets_slo) add_pareto(search.pareto, point);
  }
  if (!estimate.meets_slo) {
    ++search.too_slow;
    return;
  }
  add_pareto(search.pareto, estimate);
  const auto more = [](const ServeEstimate& a, const ServeEstimate& b) {
    return a.tokens_per_s > b.tokens_per_s;
  };
  search.best.insert(std::upper_bound(search.best.begin(), search.best.end(), estimate, more),
                     estimate);
  if (search.best.size() > std::max<std::size_t>(top, 2)) search.best.pop_back();
}

}  // namespace

ServeSearch search_serving(std::span<const Server* const> servers, std::int64_t batch,
                           std::size_t top) {
  ServeSearch search;
  for (const Server* server : servers) {
    for (const Parallelism& mesh : serving_meshes(*server)) {
      search_mesh(*server, mesh, batch, top, search);
    }
  }
  return search;
}

}  // namespace flopwise
