// Trainer: from the parts of a plan to its step.
#include <algorithm>
#include <tuple>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/plan/train.h"

namespace flopwise {
namespace {

// The layers of a device, what all of a kind share included.
StageSums layers_of(const TrainParts& parts, const StageLayers& device) {
  StageSums sums;
  for (std::size_t i = 0; i < parts.layers.size(); ++i) {
    sums += stage_of(parts.layers[i], static_cast<double>(device.counts[i]));
  }
  return sums;
}

double serial_s(const TrainParts& parts, const StageLayers& device) {
  double time =
      (device.is_first ? parts.before.serial_s : 0) + (device.is_last ? parts.behind.serial_s : 0);
  for (std::size_t i = 0; i < parts.serial_s.size(); ++i) {
    time += static_cast<double>(device.counts[i]) * parts.serial_s[i];
  }
  return time;
}

const StageLayers& busiest(const TrainParts& parts, const std::vector<StageLayers>& devices) {
  const StageLayers* most = &devices.front();
  double longest = serial_s(parts, *most);
  for (const StageLayers& device : devices) {
    const double time = serial_s(parts, device);
    if (time > longest) std::tie(most, longest) = std::pair(&device, time);
  }
  return *most;
}

// Micro-batches whose activations a device keeps while they wait for their backward pass. 1F1B: as
// many as there are stages from it on; interleaved: what it runs ahead in parts of its layers
// (Korthikanti et al. 2022, section 4.2.3: the first keeps (p-1)/(p*v) more); H2 fills the pipeline
// twice (Qi et al. 2023).
double waiting(const TrainPlan& plan, std::int64_t position) {
  const auto pp = static_cast<double>(plan.mesh.pp);
  const auto interleave = static_cast<double>(plan.interleave);
  const double from_here = pp - static_cast<double>(position);
  if (plan.schedule == PipelineSchedule::kZeroBubbleH2) return 2 * from_here - 1;
  if (plan.interleave == 1) return from_here;
  return (2 * (from_here - 1) + (interleave - 1) * pp + 1) / interleave;
}

// Of the time a micro-batch takes through the other stages, the gradients of weights that fill it:
// a pipeline with gaps of F+B+W has gaps of F+B-W under H1 and of F+B-2W under H2.
double filled_gaps(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::k1F1B:
      return 0;
    case PipelineSchedule::kZeroBubbleH1:
      return 2;
    case PipelineSchedule::kZeroBubbleH2:
      return 3;
  }
  throw InternalError("unknown schedule");
}

// What runs on the busiest device, what fills the pipeline before it, and what a step adds. A
// micro-batch fills the pipeline once: it runs through the other stages, a part of each where a
// device holds several.
class Schedule {
 public:
  Schedule(const TrainPlan& plan, const TrainParts& parts, const StageLayers& busiest,
           double micro_batches)
      : plan_(plan), micro_batches_(micro_batches) {
    if (plan.mesh.pp == 1) {
      device_ = parts.whole;
      return;
    }
    device_ = layers_of(parts, busiest);
    if (busiest.is_first) device_ += parts.before;
    if (busiest.is_last) device_ += parts.behind;
    others_ = parts.whole;
    others_ -= device_;
    filled_ = filled_gaps(plan.schedule);
  }

  const StageSums& device() const { return device_; }
  double micro_batches() const { return micro_batches_; }
  // Gradients that are kept in shards are scattered after every micro-batch, and the new parameters
  // gathered once: half an all-reduce each.
  bool shards_gradients() const { return plan_.zero == 2; }
  double scatters() const { return shards_gradients() ? micro_batches_ : 1; }
  double reductions() const { return (scatters() + 1) / 2; }

  double total(double of_device, double of_others, double of_weight_gradients) const {
    const double gap = of_others / static_cast<double>(plan_.interleave);
    return of_device * micro_batches_ + std::max(0.0, gap - filled_ * of_weight_gradients);
  }
  double total(double StageSums::*field) const { return total(device_.*field, others_.*field, 0); }
  double total(double PassEstimate::*field, double KernelSums::*of_weights) const {
    return total(device_.all.*field, others_.all.*field, others_.weight_gradients.*of_weights);
  }
  double compute_s() const {
    return total(device_.compute_s, others_.compute_s, others_.weight_gradients.kernels_s);
  }
  double serial_s() const {
    return total(device_.serial_s, others_.serial_s, others_.weight_gradients.kernels_s);
  }
  // Of the step, idle for want of work: stages taken to be alike.
  double bubble_fraction() const {
    const double whole = others_.compute_s;
    const double kept =
        whole > 0 ? std::max(0.0, 1 - filled_ * others_.weight_gradients.kernels_s / whole) : 1;
    const double rounds = fill_rounds() * kept;
    return rounds / (micro_batches_ + rounds);
  }
  double fill_rounds() const {
    return static_cast<double>(plan_.mesh.pp - 1) / static_cast<double>(plan_.interleave);
  }

 private:
  const TrainPlan& plan_;
  double micro_batches_;
  double filled_ = 0;
  StageSums device_, others_;
};

TrainBound bound_of(const Schedule& schedule, const ChipRates& rates, double optimizer_bytes) {
  TrainBound bound;
  bound.matrix_s = schedule.total(&PassEstimate::matrix_flops, &KernelSums::matrix_flops) /
                   rates.matrix_flops_per_s;
  if (rates.vector_flops_per_s > 0) {
    bound.vector_s = schedule.total(&PassEstimate::vector_flops, &KernelSums::vector_flops) /
                     rates.vector_flops_per_s;
  }
  bound.memory_s = (schedule.total(&PassEstimate::bytes, &KernelSums::bytes) + optimizer_bytes) /
                   rates.memory_bytes_per_s;
  SentBytes sent = schedule.device().step.sent;
  sent *= schedule.reductions();
  SentBytes passes = schedule.device().all.sent;
  passes *= schedule.micro_batches();
  sent += passes;
  const auto link_s = [](double bytes, double rate) { return bytes > 0 ? bytes / rate : 0; };
  bound.network_s = std::max(link_s(sent.inside, rates.network.inside_bytes_per_s),
                             link_s(sent.across, rates.network.across_bytes_per_s));
  return bound;
}

void add_times(const Schedule& schedule, double hop_s, TrainEstimate& result) {
  const StageSums& device = schedule.device();
  // Gradients are reduced while the last micro-batch still runs backward, scattered while each
  // does.
  const double reduced_s =
      schedule.shards_gradients() ? device.step.time_s / 2 : device.step.time_s;
  const double step_exposed = schedule.scatters() * std::max(0.0, reduced_s - device.backward_s);
  const double hops_s = hop_s * (schedule.micro_batches() + schedule.fill_rounds());
  TimeRange& time = result.step_time_s;
  time.lower = result.bound.largest();
  result.exposed_communication_s = schedule.total(&StageSums::exposed_s) + hops_s + step_exposed;
  time.expected = schedule.compute_s() + result.exposed_communication_s + result.optimizer_s;
  time.upper =
      std::max(time.expected, schedule.serial_s() + hops_s +
                                  device.step.time_s * schedule.reductions() + result.optimizer_s);
}

}  // namespace

const std::vector<StageLayers>& Trainer::stages_of(const TrainPlan& plan, PartsCache& cache) const {
  std::vector<StageLayers>& stages = cache.stages[{plan.mesh.pp, plan.interleave}];
  if (!stages.empty()) return stages;
  if (plan.mesh.pp > 1) {
    const bool encoder = model_.architecture == Architecture::kEncoder;
    const Stack& stack = encoder ? *model_.encoder : *model_.decoder;
    stages = split_layers(stack.groups, plan.mesh.pp, plan.interleave);
  } else {
    StageLayers all;
    for (const BlockModel& block : blocks_of(plan)) {
      if (block.is_layer()) all.counts.push_back(block.repeat());
    }
    all.is_first = all.is_last = true;
    stages.push_back(std::move(all));
  }
  return stages;
}

ParameterCounts Trainer::parameters_of(const TrainParts& parts, const StageLayers& device) const {
  ParameterCounts counts, tied;
  for (std::size_t i = 0; i < parts.layers.size(); ++i) {
    if (device.counts[i] == 0) continue;
    ParameterCounts own = parts.layers[i].parameters;
    own *= static_cast<double>(device.counts[i]);
    counts += own;
    counts += parts.layers[i].once_parameters;
    tied += parts.layers[i].tied_parameters;
  }
  if (device.is_first) counts += parts.before.parameters;
  if (device.is_last) {
    counts += parts.behind.parameters;
    tied += parts.behind.tied_parameters;
  }
  // A tied matrix is held at both ends.
  if (!device.is_first || !device.is_last) counts += tied;
  return counts;
}

TrainMemory Trainer::memory_of(const TrainPlan& plan, const TrainParts& parts,
                               const StageLayers& device, double micro_batches,
                               const ParameterCounts& parameters) const {
  const auto dp = static_cast<double>(plan.mesh.dp);
  TrainMemory memory;
  memory.parameters = parameters.all * recipe_bytes_.parameters;
  memory.gradients = parameters.trainable * recipe_bytes_.gradients / (plan.zero >= 2 ? dp : 1);
  memory.optimizer = parameters.trainable * recipe_bytes_.optimizer / (plan.zero >= 1 ? dp : 1);
  double saved = 0;
  for (std::size_t i = 0; i < parts.layers.size(); ++i) {
    if (device.counts[i] == 0) continue;
    saved += static_cast<double>(device.counts[i]) * parts.layers[i].saved_bytes +
             parts.layers[i].saved_once_bytes;
    memory.workspace =
        std::max(memory.workspace, parts.layers[i].peak_bytes - parts.layers[i].saved_bytes);
  }
  if (device.is_first) {
    saved += parts.before.saved_bytes;
    memory.workspace = std::max(memory.workspace, parts.before.peak_bytes);
  }
  memory.activations = saved * std::min(micro_batches, waiting(plan, device.position));
  if (device.is_last) {  // whose head runs backward at once
    memory.activations += parts.behind.saved_bytes;
    memory.workspace = std::max(memory.workspace, parts.behind.peak_bytes);
  }
  return memory;
}

TrainEstimate Trainer::compose(const TrainPlan& plan, const TrainParts& parts,
                               PartsCache& cache) const {
  TrainEstimate result;
  result.plan = plan;
  result.micro_batches = workload_.batch / (plan.mesh.replicas() * plan.micro_batch);
  const auto micro_batches = static_cast<double>(result.micro_batches);
  const std::vector<StageLayers>& devices = stages_of(plan, cache);
  const Schedule schedule(plan, parts, busiest(parts, devices), micro_batches);
  result.bubble_fraction = schedule.bubble_fraction();

  double trainable = 0;
  for (const StageLayers& device : devices) {
    const ParameterCounts parameters = parameters_of(parts, device);
    const TrainMemory memory = memory_of(plan, parts, device, micro_batches, parameters);
    if (memory.total() > result.memory.total()) result.memory = memory;
    trainable = std::max(trainable, parameters.trainable);
  }
  result.fits = usable_memory_ == 0 || result.memory.total() <= usable_memory_;

  const double optimizer_bytes =
      trainable / (plan.zero >= 1 ? static_cast<double>(plan.mesh.dp) : 1) * optimizer_traffic_;
  result.optimizer_s =
      optimizer_bytes / (rates_.efficiency->streaming_fraction * rates_.memory_bytes_per_s);
  result.bound = bound_of(schedule, rates_, optimizer_bytes);
  const bool piped = plan.mesh.pp > 1;
  add_times(schedule, piped ? pipeline_hop_s(plan) : 0, result);

  for (std::size_t i = 0; i < result.wire_bytes.size(); ++i) {
    result.wire_bytes[i] = schedule.device().all.sent_by_axis[i] * micro_batches +
                           schedule.device().step.sent_by_axis[i] * schedule.reductions();
  }
  if (piped) {
    result.pipeline_bytes =
        2 * stream_bytes(plan) * micro_batches * static_cast<double>(plan.interleave);
  }
  result.hardware_flops = parts.whole.all.matrix_flops * micro_batches *
                          static_cast<double>(request_.devices) / static_cast<double>(plan.mesh.pp);
  return result;
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
  const double bytes = stream_bytes(plan);
  double time = 0;
  if (stages.across == 1) {
    time = message_time_s({bytes / efficiency.link_fraction, 0}, network, *rates_.hardware);
  } else {
    const DeviceGroup holders = sizes_of(plan).group(kTensorAxes, network);
    const auto pieces = static_cast<double>(plan.sequence_parallel ? 1 : holders.inside);
    const SentBytes across{0, bytes / pieces / efficiency.network_fraction};
    const SentBytes inside{bytes * (pieces - 1) / pieces / efficiency.link_fraction, 0};
    time =
        message_time_s(across, network, *rates_.hardware) +
        collective_time_s(CollectiveKind::kAllGather, inside, holders, network, *rates_.hardware);
  }
  return 2 * static_cast<double>(plan.interleave) * time;
}

}  // namespace flopwise
