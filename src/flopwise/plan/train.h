// Training on a mesh: the time, memory, wire bytes and price of one step, and of a run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "flopwise/cost/conventions.h"
#include "flopwise/cost/cost.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"
#include "flopwise/plan/block_estimate.h"
#include "flopwise/plan/parallelism.h"
#include "flopwise/plan/recipe.h"
#include "flopwise/plan/stage_sums.h"
#include "flopwise/plan/stages.h"

namespace flopwise {

struct TrainRequest {
  Hardware hardware;
  std::int64_t devices = 1;
  std::int64_t batch = 1;       // sequences of one step, over all devices
  std::int64_t seq_len = 0;     // 0: min(2048, the model's context)
  std::optional<Count> tokens;  // of the run
  Recipe recipe = recipes().front();
  std::string dtype = "bf16";
  std::string matmul_dtype;  // of products, which may be faster than the rest: fp8; empty: as dtype
  AttentionKernel kernel = AttentionKernel::kFlash;
  FlashGeneration flash = FlashGeneration::k2;
  Fusion fusion = Fusion::kFused;
  std::string convention = "exact";
  std::optional<double> price_usd_per_hour;  // of a device; the chip's own where not given
};

struct TimeRange {
  double lower = 0;
  double expected = 0;
  double upper = 0;
};

// Bytes on the busiest device.
struct TrainMemory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;  // saved for the backward pass, of all micro-batches in flight
  double workspace = 0;    // what a block needs while it runs, gathered parameters included

  double total() const { return parameters + gradients + optimizer + activations + workspace; }
};

// Seconds of one step at peak rates, each resource by itself: `lower` is the largest.
struct TrainBound {
  double matrix_s = 0;
  double vector_s = 0;
  double memory_s = 0;
  double network_s = 0;

  double largest() const;
  const char* name() const;  // of the largest
};

struct TrainEstimate {
  TrainPlan plan;
  std::int64_t micro_batches = 1;
  TimeRange step_time_s;
  TrainBound bound;
  double bubble_fraction = 0;          // of the step, idle for want of work
  double exposed_communication_s = 0;  // of the expected time
  double optimizer_s = 0;
  double hardware_flops = 0;  // of the whole step on all devices
  TrainMemory memory;
  std::array<double, 6> wire_bytes = {};  // sent by a device in a step, by ParallelAxis
  double pipeline_bytes = 0;              // the same, between stages
  bool fits = false;
};

// Of what a chip prints, the share that a training process can use; the rest is the runtime's
// (CUDA context, communication buffers, fragmentation).
inline constexpr double kUsableMemory = 0.94;

// What a plan must obey before it means anything, in the order of checking.
enum class PlanRule {
  kDevices,
  kExperts,
  kBatch,
  kZero,
  kInterleave,
  kPipeline,
  kLayers,
  kSequence,
  kPositions,
  kWidths
};
inline constexpr int kPlanRuleCount = 10;
const char* name_of(PlanRule rule);  // "devices"

// One micro-batch of a plan, before, in and behind the layers: what its schedule is made of.
struct TrainParts {
  StageSums before, behind;
  std::vector<BlockEstimate> layers;  // one of each kind
  std::vector<double> serial_s;       // of one of each kind
  StageSums whole;                    // before, all layers, behind
};

// What plans of one search have in common, so that it is worked out once. Of one thread.
struct PartsCache {
  // By remat and parallelism of the graphs, sequences of a replica, ep, cp, tp.
  using Key = std::tuple<const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Key, std::vector<KernelEstimate>> kernels;
  TrainParts parts;  // of the last plan: its memory serves the next
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<StageLayers>>
      stages;  // pp, interleave
};

// A model, a batch and a chip; any number of plans for them. What plans have in common is derived
// once.
class Trainer {
 public:
  // UserError where the request does not go with the model.
  Trainer(const Model& model, TrainRequest request);

  // The rule that the plan breaks, or nothing; explain() says it with its sizes ("widths: N = 32 of
  // block layer is no multiple of 6").
  std::optional<PlanRule> broken_rule(const TrainPlan& plan) const {
    const std::optional<PlanRule> rule = broken_schedule_rule(plan);
    return rule ? rule : indivisible_rule(plan);
  }
  // Its two halves: what does not, and what does look at the sizes of tensors. The second is the
  // same whatever zero and interleave are.
  std::optional<PlanRule> broken_schedule_rule(const TrainPlan& plan) const;
  std::optional<PlanRule> indivisible_rule(const TrainPlan& plan) const;
  std::string explain(const TrainPlan& plan, PlanRule rule) const;

  // Both need a plan that breaks no rule. Plans that differ in zero, interleave and schedule
  // alone have the same parts.
  TrainEstimate estimate(const TrainPlan& plan) const {
    PartsCache cache;
    return compose(plan, parts_of(plan, cache), cache);
  }
  // Held by the cache until it is asked again.
  const TrainParts& parts_of(const TrainPlan& plan, PartsCache& cache) const;
  TrainEstimate compose(const TrainPlan& plan, const TrainParts& parts, PartsCache& cache) const;

  // Bytes that a device holds at least under any plan with the mesh of this: parameters, gradients
  // and optimizer state, spread evenly over stages and in shards over dp.
  double least_memory(const TrainPlan& plan) const;
  // Where tp does not divide the vocabulary.
  std::optional<Padding> padding(const TrainPlan& plan) const;

  // Derives what plans with these settings share, so that several threads may estimate them.
  void prepare(const TrainPlan& plan) const { blocks_of(plan); }

  const Model& model() const { return model_; }
  const TrainRequest& request() const { return request_; }
  const Workload& workload() const { return workload_; }
  std::int64_t layers() const { return layers_; }
  std::int64_t kv_heads() const { return kv_heads_; }
  bool has_experts() const { return experts_ > 0; }
  std::int64_t experts() const { return experts_; }
  // Of a step on all devices, by the request's convention.
  const Rational& model_flops() const { return model_flops_; }
  double peak_flops_per_s() const { return rates_.matrix_flops_per_s; }
  double usable_memory() const { return usable_memory_; }

 private:
  struct Structure {  // what determines the sharded graphs
    RematKind remat;
    std::vector<std::string> saved;
    bool sequence_parallel;
    bool splits_groups;
    std::strong_ordering operator<=>(const Structure&) const = default;
  };
  using Blocks = std::vector<BlockModel>;
  const Blocks& blocks_of(const TrainPlan& plan) const;
  bool splits_groups(std::int64_t tp) const;
  MeshSizes sizes_of(const TrainPlan& plan) const;
  const std::vector<StageLayers>& stages_of(const TrainPlan& plan, PartsCache& cache) const;
  TrainMemory memory_of(const TrainPlan& plan, const TrainParts& parts, const StageLayers& device,
                        double micro_batches, const ParameterCounts& parameters) const;
  ParameterCounts parameters_of(const TrainParts& parts, const StageLayers& device) const;
  double stream_bytes(const TrainPlan& plan) const;
  double pipeline_hop_s(const TrainPlan& plan) const;

  Model model_;
  TrainRequest request_;
  Workload workload_;
  ElementTypes types_;
  ChipRates rates_;
  struct RecipeBytes {
    double parameters = 0;
    double gradients = 0;
    double optimizer = 0;
  };
  RecipeBytes recipe_bytes_;
  std::int64_t layers_ = 0;
  std::int64_t kv_heads_ = 0;
  std::int64_t experts_ = 0;
  double usable_memory_ = 0;  // 0: the chip's memory is not known
  // A gradient on the wire and as an update reads it: as the recipe keeps it, or where it keeps
  // none in the type of the computation.
  Rational gradient_bytes_;
  double optimizer_traffic_ = 0;  // bytes a parameter that an update reads and writes
  Rational model_flops_;
  mutable std::map<Structure, std::unique_ptr<Blocks>> blocks_;
};

// A run of `tokens`: nothing where they are not known.
struct TrainRun {
  Count tokens;
  double time_s = 0;
  double device_hours = 0;
  std::optional<double> cost_usd;
  std::optional<double> energy_j;
};
std::optional<TrainRun> run_of(const TrainRequest& request, const Workload& workload,
                               double step_time_s);

}  // namespace flopwise
