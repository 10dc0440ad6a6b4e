// Every plan for a number of devices: evaluated, or rejected by a rule that is counted.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/plan/train.h"

namespace flopwise {

// The space is the product of its lists: all ways to write the devices as
// dp*fsdp*tp*cp*pp*ep, times each setting.
struct TrainSpace {
  std::vector<Parallelism> meshes;
  std::vector<std::int64_t> micro_batches;
  std::vector<RematPolicy> remats;
  std::vector<int> zeros;
  std::vector<std::int64_t> interleaves;
  std::vector<bool> sequence_parallel;
  std::vector<PipelineSchedule> schedules;

  // Of all devices, micro-batches 1 2 4 8, every remat policy that has a name, zero 0 to 2,
  // interleave 1 2 4, with and without sequence parallelism, 1F1B. A model without experts has ep
  // = 1.
  static TrainSpace of(std::int64_t devices, bool has_experts);
  std::int64_t size() const;
  std::int64_t settings() const;  // of one mesh
};

// All ways to write n as an ordered product of six factors; of five (ep = 1) without experts.
// UserError where there are more than kMostMeshes.
std::vector<Parallelism> factorisations(std::int64_t n, bool with_experts);
// How many ways there are to write n as an ordered product of so many factors, without listing
// them; no more than INT64_MAX.
std::int64_t count_factorisations(std::int64_t n, int factors);
inline constexpr std::int64_t kMostMeshes = 200'000;
std::vector<std::int64_t> divisors(std::int64_t n);  // rising

enum class PlanGoal { kTime, kMemory };

struct SearchOptions {
  PlanGoal goal = PlanGoal::kTime;
  std::size_t top = 2;  // of the best; at least 2 are kept
  int threads = 0;      // 0: as many as the machine has
  // Leave out meshes whose parameters and optimizer state alone do not fit.
  bool prune = true;
  // Told the share of the space that is done, now and then, one call at a time; may be empty.
  std::function<void(double)> progress;
};

// evaluated + rejections() + pruned is the size of the space.
struct TrainSearch {
  std::int64_t evaluated = 0;
  std::int64_t pruned = 0;  // cannot be in the answer: SearchOptions::prune
  std::array<std::int64_t, kPlanRuleCount> rejected = {};  // by PlanRule
  std::int64_t too_large = 0;                              // of the evaluated: they do not fit
  std::vector<TrainEstimate> best;                         // that fit, best first
  std::vector<TrainEstimate> pareto;      // no other is both faster and smaller; fastest first
  std::optional<TrainEstimate> smallest;  // where none fits: the one that lacks least

  std::int64_t rejections() const;
};

// The best plans of the space; by expected time, or by memory. Ties go to the simpler plan, which
// comes first in the space. Where no plan fits nothing is pruned.
TrainSearch search_plans(const Trainer& trainer, const TrainSpace& space,
                         const SearchOptions& options);

// Why the second is worse than the first, the largest differences first: "exposed communication
// +0.31 s, recomputation +0.12 s".
std::string why_worse(const TrainEstimate& better, const TrainEstimate& worse);

}  // namespace flopwise
