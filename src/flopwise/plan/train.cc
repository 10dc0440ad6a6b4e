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
  recipe_bytes_ = {recipe.parameters.to_double(), recipe.gradients.to_double(),
                   recipe.optimizer.to_double()};
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
  const Structure key{plan.remat.kind, plan.remat.names, plan.sequence_parallel,
                      splits_groups(plan.mesh.tp)};
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
  const bool can_interleave =
      mesh.pp > 1 && whole_rounds && plan.schedule == PipelineSchedule::k1F1B;
  if (plan.interleave > 1 && !can_interleave) return PlanRule::kInterleave;
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
      if (plan.schedule != PipelineSchedule::k1F1B) {
        return fmt::format("interleave {}: expected 1 with schedule {}", plan.interleave,
                           name_of(plan.schedule));
      }
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
  return mesh_sizes(plan.mesh, plan.micro_batch, split_tensor_axis(plan.mesh.tp, kv_heads_),
                    rates_.network);
}

std::optional<Padding> Trainer::padding(const TrainPlan& plan) const {
  return padding_of(blocks_of(plan), sizes_of(plan));
}

double Trainer::least_memory(const TrainPlan& plan) const {
  const Parallelism& mesh = plan.mesh;
  const MeshSizes sizes = sizes_of(plan);
  ParameterCounts all;
  for (const BlockModel& block : blocks_of(plan)) all += block.parameters(sizes);
  const double states = recipe_bytes_.gradients + recipe_bytes_.optimizer;
  return (all.all * recipe_bytes_.parameters +
          all.trainable * states / static_cast<double>(mesh.dp)) /
         static_cast<double>(mesh.pp);
}

const TrainParts& Trainer::parts_of(const TrainPlan& plan, PartsCache& cache) const {
  const MeshSizes sizes = sizes_of(plan);
  const Blocks& blocks = blocks_of(plan);
  std::vector<KernelEstimate>& kernels =
      cache.kernels[{&blocks, plan.micro_batch, plan.mesh.ep, plan.mesh.cp, plan.mesh.tp}];
  if (kernels.empty()) {
    for (const BlockModel& block : blocks) kernels.push_back(block.kernels(sizes, rates_));
  }
  TrainParts& parts = cache.parts;
  parts.before = parts.behind = parts.whole = {};
  parts.layers.clear();
  parts.serial_s.clear();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockModel& block = blocks[i];
    BlockEstimate estimate = block.estimate(sizes, rates_, kernels[i]);
    const StageSums all = stage_of(estimate, static_cast<double>(block.repeat()));
    parts.whole += all;
    if (!block.is_layer()) {
      (parts.layers.empty() ? parts.before : parts.behind) += all;
      continue;
    }
    parts.serial_s.push_back(all.serial_s / static_cast<double>(block.repeat()));
    parts.layers.push_back(std::move(estimate));
  }
  return parts;
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
