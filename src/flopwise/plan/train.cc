#include "flopwise/plan/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/model/build.h"

namespace flopwise {

namespace {

WorkloadRequest workload_of(const TrainRequest& request) {
  WorkloadRequest workload;
  workload.mode = Mode::kTrain;
  workload.batch = request.batch;
  workload.seq_len = request.seq_len;
  workload.kernel = request.kernel;
  return workload;
}

MeshSet all_axes() {
  MeshSet all;
  for (const ParallelAxis axis : kParallelAxes) all |= axis;
  return all;
}

using StageField = double TrainParts::Stage::*;
constexpr StageField kStageFields[] = {
    &TrainParts::Stage::compute_s,       &TrainParts::Stage::exposed_s,
    &TrainParts::Stage::serial_s,        &TrainParts::Stage::backward_s,
    &TrainParts::Stage::recompute_flops, &TrainParts::Stage::parameters,
    &TrainParts::Stage::trainable,       &TrainParts::Stage::shared_parameters,
    &TrainParts::Stage::saved_bytes,     &TrainParts::Stage::step_s};

}  // namespace

const char* name_of(PlanRule rule) {
  switch (rule) {
    case PlanRule::kDevices:
      return "devices";
    case PlanRule::kExperts:
      return "experts";
    case PlanRule::kBatch:
      return "batch";
    case PlanRule::kZero:
      return "zero";
    case PlanRule::kInterleave:
      return "interleave";
    case PlanRule::kPipeline:
      return "pipeline";
    case PlanRule::kLayers:
      return "layers";
    case PlanRule::kSequence:
      return "sequence_parallel";
    case PlanRule::kPositions:
      return "positions";
    case PlanRule::kWidths:
      return "widths";
  }
  throw InternalError("unknown rule");
}

TrainParts::Stage& TrainParts::Stage::operator+=(const Stage& other) {
  all += other.all;
  for (const auto field : kStageFields) this->*field += other.*field;
  step_sent.inside += other.step_sent.inside;
  step_sent.across += other.step_sent.across;
  for (std::size_t i = 0; i < step_sent_by_axis.size(); ++i) {
    step_sent_by_axis[i] += other.step_sent_by_axis[i];
  }
  peak_bytes = std::max(peak_bytes, other.peak_bytes);
  return *this;
}

TrainParts::Stage& TrainParts::Stage::operator*=(double factor) {
  all *= factor;
  for (const auto field : kStageFields) this->*field *= factor;
  step_sent.inside *= factor;
  step_sent.across *= factor;
  for (double& bytes : step_sent_by_axis) bytes *= factor;
  return *this;
}

Trainer::Trainer(const Model& model, TrainRequest request)
    : model_(model), request_(std::move(request)) {
  workload_ = resolve(workload_of(request_), model_);
  const DType& compute =
      in_context("--dtype", [&]() -> const DType& { return find_dtype(request_.dtype); });
  types_ = {compute, compute, compute};
  std::string matmul_dtype;
  if (!request_.matmul_dtype.empty()) {
    matmul_dtype = in_context("--matmul-dtype",
                              [&] { return std::string(find_dtype(request_.matmul_dtype).name); });
  }
  rates_ = rates_of(request_.hardware, std::string(compute.name), matmul_dtype);
  rates_.flash = request_.flash;
  if (request_.hardware.memory_bytes) {
    usable_memory_ = kUsableMemory * request_.hardware.memory_bytes->to_double();
  }
  const Recipe& recipe = request_.recipe;
  gradient_bytes_ = recipe.gradients > Rational(0) ? recipe.gradients
                                                   : flopwise::bytes_per_element(types_.compute);
  optimizer_traffic_ =
      (gradient_bytes_ + recipe.optimizer * Rational(2) + recipe.parameters).to_double();
  const Program program = build_training_program(model_, workload_, {});
  for (const Block& block : program.blocks) {
    const Sizes sizes = program.sizes_of(block);
    if (block.is_layer) {
      layers_ += static_cast<std::int64_t>(block.repeat.eval_count(sizes, "layers").value());
    }
    for (const Tensor& tensor : block.graph.tensors()) {
      if (tensor.role != Role::kParameter) continue;
      for (const Axis& axis : tensor.axes) {
        if (axis.name != "K" && axis.name != tensor.routed_axis) continue;
        const auto size = static_cast<std::int64_t>(axis.size.eval_count(sizes, axis.name).value());
        std::int64_t& common = axis.name == "K" ? kv_heads_ : experts_;
        common = std::gcd(common, size);
      }
    }
  }
  const Cost cost = cost_of(program, {request_.fusion, types_});
  const Convention& convention = find_convention(request_.convention);
  const Count tokens = Count(workload_.batch) * Count(workload_.seq_len);
  const ConventionFlops flops = flops_by(convention, cost, true, tokens, false);
  model_flops_ = flops.model;
}

bool Trainer::splits_groups(std::int64_t tp) const {
  return kv_heads_ > 0 && kv_heads_ % tp != 0;
}

const Trainer::Blocks& Trainer::blocks_of(const TrainPlan& plan) const {
  const Structure key{describe(plan.remat), plan.sequence_parallel, splits_groups(plan.mesh.tp)};
  std::unique_ptr<Blocks>& blocks = blocks_[key];
  if (blocks) return *blocks;
  blocks = std::make_unique<Blocks>();
  Assignment assignment;
  assignment.axes = all_axes();
  if (!key.splits_groups) assignment.axes -= ParallelAxis::kTpGroups;
  assignment.sequence_parallel = plan.sequence_parallel;
  assignment.splits_groups = key.splits_groups;
  const Program program = build_training_program(model_, workload_, plan.remat);
  std::set<std::string> seen;
  for (const Block& block : program.blocks) {
    blocks->emplace_back(block, program.sizes_of(block), assignment, request_.fusion,
                         BytesPerElement{types_, gradient_bytes_}, seen);
  }
  return *blocks;
}

std::optional<PlanRule> Trainer::broken_schedule_rule(const TrainPlan& plan) const {
  const Parallelism& mesh = plan.mesh;
  const std::int64_t sequences = mesh.replicas() * plan.micro_batch;
  if (mesh.devices() != request_.devices) return PlanRule::kDevices;
  if (mesh.ep > 1 && experts_ == 0) return PlanRule::kExperts;
  if (workload_.batch % sequences != 0) return PlanRule::kBatch;
  if (plan.zero > 0 && mesh.dp == 1) return PlanRule::kZero;
  const bool whole_rounds = workload_.batch / sequences % mesh.pp == 0;
  if (plan.interleave > 1 && (mesh.pp == 1 || !whole_rounds)) return PlanRule::kInterleave;
  if (mesh.pp > 1 && model_.architecture == Architecture::kEncoderDecoder) {
    return PlanRule::kPipeline;
  }
  if (mesh.pp * plan.interleave > layers_) return PlanRule::kLayers;
  if (plan.sequence_parallel && mesh.tp == 1) return PlanRule::kSequence;
  if (mesh.cp > 1 && workload_.seq_len % (2 * mesh.cp) != 0) return PlanRule::kPositions;
  return std::nullopt;
}

std::optional<PlanRule> Trainer::indivisible_rule(const TrainPlan& plan) const {
  const Division* indivisible = find_indivisible(blocks_of(plan), sizes_of(plan)).division;
  if (indivisible == nullptr) return std::nullopt;
  const bool positions = indivisible->label == "T" || indivisible->label == "S";
  return positions ? PlanRule::kPositions : PlanRule::kWidths;
}

std::string Trainer::explain(const TrainPlan& plan, PlanRule rule) const {
  const Parallelism& mesh = plan.mesh;
  const std::int64_t sequences = mesh.replicas() * plan.micro_batch;
  switch (rule) {
    case PlanRule::kDevices:
      return fmt::format("mesh {} has {} devices, expected the {} of --on", mesh.str(),
                         mesh.devices(), request_.devices);
    case PlanRule::kExperts:
      return fmt::format("ep={}: the model has no experts, expected ep=1", mesh.ep);
    case PlanRule::kBatch:
      return fmt::format("{} sequences, expected a multiple of dp*fsdp*ep*micro-batch = {}",
                         workload_.batch, sequences);
    case PlanRule::kZero:
      return fmt::format("zero {} shards over dp, expected dp > 1", plan.zero);
    case PlanRule::kInterleave:
      if (mesh.pp == 1) return fmt::format("interleave {}, expected pp > 1", plan.interleave);
      return fmt::format("interleave {}: {} micro-batches, expected a multiple of pp = {}",
                         plan.interleave, workload_.batch / sequences, mesh.pp);
    case PlanRule::kPipeline:
      return fmt::format("pp={}: expected pp=1 for an encoder-decoder", mesh.pp);
    case PlanRule::kLayers:
      return fmt::format("pp*interleave = {} stages, expected at most the {} layers",
                         mesh.pp * plan.interleave, layers_);
    case PlanRule::kSequence:
      return "sequence parallelism: expected tp > 1";
    case PlanRule::kPositions:
    case PlanRule::kWidths:
      break;
  }
  if (mesh.cp > 1 && workload_.seq_len % (2 * mesh.cp) != 0) {
    return fmt::format("T = {}, expected a multiple of 2*cp = {}", workload_.seq_len, 2 * mesh.cp);
  }
  const Indivisible indivisible = find_indivisible(blocks_of(plan), sizes_of(plan));
  FLOPWISE_CHECK(indivisible.division != nullptr, "a plan that breaks no rule");
  return describe(indivisible, sizes_of(plan));
}

MeshSizes Trainer::sizes_of(const TrainPlan& plan) const {
  return mesh_sizes(plan.mesh, plan.micro_batch, split_tensor_axis(plan.mesh.tp, kv_heads_));
}

TrainParts::Stage Trainer::stage_of(const BlockEstimate& block, double repeats) const {
  TrainParts::Stage stage;
  for (const Pass pass : {Pass::kForward, Pass::kRecompute, Pass::kBackward}) {
    const PassEstimate& part = block.passes[static_cast<std::size_t>(pass)];
    // Gathers and scatters of parameters run beside the kernels of their pass.
    const double spilled = std::max(0.0, part.overlappable_s - part.kernels_s);
    stage.all += part;
    stage.compute_s += part.kernels_s;
    stage.exposed_s += part.blocking_s - part.hidden_s + spilled;
    stage.serial_s += part.kernels_s + part.blocking_s + part.overlappable_s;
    if (pass != Pass::kForward) stage.backward_s += part.kernels_s;
    if (pass == Pass::kRecompute) stage.recompute_flops += part.matrix_flops;
  }
  stage.parameters = block.parameters;
  stage.trainable = block.trainable;
  stage.shared_parameters = block.shared_parameters;
  stage.saved_bytes = block.saved_bytes;
  stage.step_sent = block.step_sent;
  stage.step_s = block.step_s;
  stage.step_sent_by_axis = block.step_sent_by_axis;
  stage *= repeats;
  stage.saved_bytes += block.saved_once_bytes;
  stage.peak_bytes = block.peak_bytes - block.saved_bytes;
  return stage;
}

TrainParts Trainer::parts_of(const TrainPlan& plan, PartsCache& cache) const {
  const MeshSizes sizes = sizes_of(plan);
  const Blocks& blocks = blocks_of(plan);
  std::vector<KernelEstimate>& kernels =
      cache.kernels[{&blocks, plan.micro_batch, plan.mesh.ep, plan.mesh.cp, plan.mesh.tp}];
  if (kernels.empty()) {
    for (const BlockModel& block : blocks) kernels.push_back(block.kernels(sizes, rates_));
  }
  TrainParts parts;
  bool before_layers = true;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockModel& block = blocks[i];
    if (block.is_layer()) before_layers = false;
    TrainParts::Stage& stage = block.is_layer() ? parts.layers
                               : before_layers  ? parts.before
                                                : parts.behind;
    const BlockEstimate estimate = block.estimate(sizes, rates_, kernels[i]);
    stage += stage_of(estimate, static_cast<double>(block.repeat()));
  }
  return parts;
}

// Stages of whole layers: some have one more; the busiest device gets as few of these as can be.
std::int64_t Trainer::held_layers(const TrainPlan& plan) const {
  const std::int64_t stages = plan.mesh.pp * plan.interleave;
  const std::int64_t longer = layers_ % stages;
  return plan.interleave * (layers_ / stages) + (longer + plan.mesh.pp - 1) / plan.mesh.pp;
}

namespace {

// The stages of a device of the pipeline, its first or its last one.
TrainParts::Stage device_of(const TrainParts& parts, double share, bool is_first, bool is_last) {
  TrainParts::Stage device = parts.layers;
  device *= share;
  if (is_first) device += parts.before;
  if (is_last) device += parts.behind;
  // A tied matrix is held at both ends.
  if (!is_first || !is_last) {
    device.parameters += device.shared_parameters;
    device.trainable += device.shared_parameters;
  }
  return device;
}

}  // namespace

TrainEstimate Trainer::compose(const TrainPlan& plan, const TrainParts& parts) const {
  const Parallelism& mesh = plan.mesh;
  TrainEstimate result;
  result.plan = plan;
  result.micro_batches = workload_.batch / (mesh.replicas() * plan.micro_batch);
  const auto micro_batches = static_cast<double>(result.micro_batches);
  const auto pp = static_cast<double>(mesh.pp);
  const auto interleave = static_cast<double>(plan.interleave);
  const double share = static_cast<double>(held_layers(plan)) / static_cast<double>(layers_);
  const bool piped = mesh.pp > 1;
  const TrainParts::Stage first = device_of(parts, share, true, !piped);
  const TrainParts::Stage last = piped ? device_of(parts, share, false, true) : first;
  const TrainParts::Stage& busiest = last.serial_s > first.serial_s ? last : first;
  // A micro-batch fills the pipeline once: it runs through the other stages, a part of each where a
  // device holds several.
  TrainParts::Stage others;
  if (piped) {
    others = busiest;
    others *= -1;
    others += parts.before;
    others += parts.layers;
    others += parts.behind;
  }
  // Gradients that are kept in shards are scattered after every micro-batch, and the new parameters
  // gathered once: half an all-reduce each.
  const double scatters = plan.zero == 2 ? micro_batches : 1;
  const Schedule schedule{&busiest, &others, micro_batches, interleave, (scatters + 1) / 2};

  result.bubble_fraction = (pp - 1) / interleave / (micro_batches + (pp - 1) / interleave);
  const double hop_s = piped ? pipeline_hop_s(plan) : 0;
  if (piped) result.pipeline_bytes = 2 * stream_bytes(plan) * micro_batches * interleave;

  const double trainable = std::max(first.trainable, last.trainable);
  const double optimizer_bytes =
      trainable / (plan.zero >= 1 ? static_cast<double>(mesh.dp) : 1) * optimizer_traffic_;
  result.optimizer_s =
      optimizer_bytes / (rates_.efficiency->streaming_fraction * rates_.memory_bytes_per_s);

  result.bound = bound_of(schedule, optimizer_bytes);
  result.step_time_s.lower = result.bound.largest();
  // Gradients are reduced while the last micro-batch still runs backward, scattered while each
  // does.
  const double reduced_s = plan.zero == 2 ? busiest.step_s / 2 : busiest.step_s;
  const double step_exposed = scatters * std::max(0.0, reduced_s - busiest.backward_s);
  const double hops_s = hop_s * (micro_batches + (pp - 1) / interleave);
  result.exposed_communication_s =
      schedule.total(busiest.exposed_s, others.exposed_s) + hops_s + step_exposed;
  result.step_time_s.expected = schedule.total(busiest.compute_s, others.compute_s) +
                                result.exposed_communication_s + result.optimizer_s;
  result.step_time_s.upper = std::max(
      result.step_time_s.expected, schedule.total(busiest.serial_s, others.serial_s) + hops_s +
                                       busiest.step_s * schedule.reductions + result.optimizer_s);

  for (std::size_t i = 0; i < result.wire_bytes.size(); ++i) {
    result.wire_bytes[i] = busiest.all.sent_by_axis[i] * micro_batches +
                           busiest.step_sent_by_axis[i] * schedule.reductions;
  }
  const double all_flops =
      parts.before.all.matrix_flops + parts.layers.all.matrix_flops + parts.behind.all.matrix_flops;
  result.hardware_flops = all_flops * micro_batches * static_cast<double>(request_.devices) / pp;

  // One forward, one backward: the first stage waits for pp micro-batches, with several stages a
  // device for (pp - 1)/interleave more (Korthikanti et al. 2022, section 4.2.3); the last for
  // none, or for those of its earlier stages.
  const double waiting_first = interleave > 1 ? pp + (pp - 1) / interleave : pp;
  const double waiting_last = ((interleave - 1) * pp + 1) / interleave;
  const double layers_saved = parts.layers.saved_bytes * share;
  const TrainMemory on_first =
      memory_of(plan, first, first.saved_bytes * std::min(micro_batches, waiting_first));
  const TrainMemory on_last = memory_of(
      plan, last, layers_saved * std::min(micro_batches, waiting_last) + parts.behind.saved_bytes);
  result.memory = !piped || on_first.total() > on_last.total() ? on_first : on_last;
  result.fits = usable_memory_ == 0 || result.memory.total() <= usable_memory_;
  return result;
}

TrainMemory Trainer::memory_of(const TrainPlan& plan, const TrainParts::Stage& device,
                               double saved_bytes) const {
  const Recipe& recipe = request_.recipe;
  const auto dp = static_cast<double>(plan.mesh.dp);
  TrainMemory memory;
  memory.parameters = device.parameters * recipe.parameters.to_double();
  memory.gradients = device.trainable * recipe.gradients.to_double() / (plan.zero >= 2 ? dp : 1);
  memory.optimizer = device.trainable * recipe.optimizer.to_double() / (plan.zero >= 1 ? dp : 1);
  memory.activations = saved_bytes;
  memory.workspace = device.peak_bytes;
  return memory;
}

TrainBound Trainer::bound_of(const Schedule& schedule, double optimizer_bytes) const {
  const PassEstimate& device = schedule.device->all;
  const PassEstimate& others = schedule.others->all;
  TrainBound bound;
  bound.matrix_s =
      schedule.total(device.matrix_flops, others.matrix_flops) / rates_.matrix_flops_per_s;
  if (rates_.vector_flops_per_s > 0) {
    bound.vector_s =
        schedule.total(device.vector_flops, others.vector_flops) / rates_.vector_flops_per_s;
  }
  bound.memory_s =
      (schedule.total(device.bytes, others.bytes) + optimizer_bytes) / rates_.memory_bytes_per_s;
  const auto link_s = [](double bytes, double rate) { return bytes > 0 ? bytes / rate : 0; };
  const SentBytes& step = schedule.device->step_sent;
  bound.network_s = std::max(
      link_s(device.sent.inside * schedule.micro_batches + step.inside * schedule.reductions,
             rates_.network.inside_bytes_per_s),
      link_s(device.sent.across * schedule.micro_batches + step.across * schedule.reductions,
             rates_.network.across_bytes_per_s));
  return bound;
}

double TrainBound::largest() const {
  return std::max({matrix_s, vector_s, memory_s, network_s});
}

const char* TrainBound::name() const {
  const double most = largest();
  if (most == matrix_s) return "matrix";
  if (most == memory_s) return "memory";
  return most == vector_s ? "vector" : "network";
}

// The residual stream of a micro-batch, as a device holds it.
double Trainer::stream_bytes(const TrainPlan& plan) const {
  const double positions = static_cast<double>(workload_.seq_len) /
                           static_cast<double>(plan.mesh.cp) /
                           (plan.sequence_parallel ? static_cast<double>(plan.mesh.tp) : 1);
  return static_cast<double>(plan.micro_batch) * positions * static_cast<double>(model_.d_model) *
         flopwise::bytes_per_element(types_.compute).to_double();
}

// To the next stage and its gradient back, for every stage that a device holds. What the devices of
// tp all hold crosses the network in tp pieces, one a device, and is gathered inside (Narayanan et
// al. 2021, section 4.1): as many bytes sent, most of them over fast links.
double Trainer::pipeline_hop_s(const TrainPlan& plan) const {
  const Network& network = rates_.network;
  const Efficiency& efficiency = *rates_.efficiency;
  const DeviceGroup stages =
      place_group(request_.devices / plan.mesh.pp, plan.mesh.pp, network.domain_size);
  SentBytes sent{stream_bytes(plan), 0};
  if (stages.across > 1) {
    const DeviceGroup holders = place_group(1, plan.mesh.tp, network.domain_size);
    const auto pieces = static_cast<double>(plan.sequence_parallel ? 1 : holders.inside);
    sent = {sent.inside * (pieces - 1) / pieces, sent.inside / pieces};
  }
  sent.inside /= efficiency.link_fraction;
  sent.across /= efficiency.network_fraction;
  return 2 * static_cast<double>(plan.interleave) *
         collective_time_s(sent, network, *rates_.hardware);
}

std::optional<TrainRun> run_of(const TrainRequest& request, const Workload& workload,
                               double step_time_s) {
  if (!request.tokens) return std::nullopt;
  TrainRun run;
  run.tokens = *request.tokens;
  const double step_tokens =
      static_cast<double>(workload.batch) * static_cast<double>(workload.seq_len);
  const double steps = std::ceil(run.tokens.to_double() / step_tokens);
  run.time_s = steps * step_time_s;
  const auto devices = static_cast<double>(request.devices);
  run.device_hours = run.time_s / 3600 * devices;
  const std::optional<double> price =
      request.price_usd_per_hour ? request.price_usd_per_hour
      : request.hardware.price_usd_per_hour
          ? std::optional(request.hardware.price_usd_per_hour->to_double())
          : std::nullopt;
  if (price) run.cost_usd = run.device_hours * *price;
  if (request.hardware.tdp_w) {
    run.energy_j = request.hardware.tdp_w->to_double() * devices * run.time_s;
  }
  return run;
}

}  // namespace flopwise
