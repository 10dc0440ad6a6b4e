#include "flopwise/plan/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/parallel.h"

namespace flopwise {
namespace {

// Better first: whether a comes before b in the answer.
struct Order {
  PlanGoal goal;

  bool operator()(const TrainEstimate& a, const TrainEstimate& b) const {
    const std::pair<double, double> by_time{a.step_time_s.expected, b.step_time_s.expected};
    const std::pair<double, double> by_memory{a.memory.total(), b.memory.total()};
    const auto& [first_a, first_b] = goal == PlanGoal::kTime ? by_time : by_memory;
    if (first_a != first_b) return first_a < first_b;
    const auto& [second_a, second_b] = goal == PlanGoal::kTime ? by_memory : by_time;
    return second_a < second_b;
  }
};

// The answer of a part of the space.
class Collector {
 public:
  Collector(PlanGoal goal, std::size_t top) : order_{goal}, top_(std::max<std::size_t>(top, 2)) {}

  void add(const TrainEstimate& estimate) {
    ++found.evaluated;
    if (!estimate.fits) {
      ++found.too_large;
      if (!found.smallest || estimate.memory.total() < found.smallest->memory.total()) {
        found.smallest = estimate;
      }
      return;
    }
    add_best(estimate);
    add_pareto(estimate);
  }

  void add(const TrainSearch& other) {
    found.evaluated += other.evaluated;
    found.pruned += other.pruned;
    found.too_large += other.too_large;
    for (std::size_t i = 0; i < found.rejected.size(); ++i) found.rejected[i] += other.rejected[i];
    for (const TrainEstimate& estimate : other.best) add_best(estimate);
    for (const TrainEstimate& estimate : other.pareto) add_pareto(estimate);
    if (other.smallest &&
        (!found.smallest || other.smallest->memory.total() < found.smallest->memory.total())) {
      found.smallest = other.smallest;
    }
  }

  TrainSearch found;

 private:
  void add_best(const TrainEstimate& estimate) {
    std::vector<TrainEstimate>& best = found.best;
    if (best.size() == top_ && !order_(estimate, best.back())) return;
    // Behind its equals: the earlier, simpler plan stays first.
    best.insert(std::upper_bound(best.begin(), best.end(), estimate, order_), estimate);
    if (best.size() > top_) best.pop_back();
  }

  // Kept by rising time and falling memory.
  void add_pareto(const TrainEstimate& estimate) {
    std::vector<TrainEstimate>& front = found.pareto;
    const double time = estimate.step_time_s.expected;
    const double memory = estimate.memory.total();
    const auto place = std::lower_bound(
        front.begin(), front.end(), time,
        [](const TrainEstimate& e, double t) { return e.step_time_s.expected < t; });
    if (place != front.begin() && std::prev(place)->memory.total() <= memory) return;
    const bool as_fast = place != front.end() && place->step_time_s.expected == time;
    if (as_fast && place->memory.total() <= memory) return;
    auto last = place;
    while (last != front.end() && last->memory.total() >= memory) ++last;
    front.insert(front.erase(place, last), estimate);
  }

  Order order_;
  std::size_t top_;
};

// Calls visit(mesh index, settings) for the settings that share their parts.
template <typename Visit>
void for_each_setting(const TrainSpace& space, Visit visit) {
  for (const RematPolicy& remat : space.remats) {
    for (const bool sequence : space.sequence_parallel) {
      for (const std::int64_t micro_batch : space.micro_batches) {
        TrainPlan plan;
        plan.remat = remat;
        plan.sequence_parallel = sequence;
        plan.micro_batch = micro_batch;
        visit(plan);
      }
    }
  }
}

// Calls visit(plan) for the settings of a plan that has the rest.
template <typename Visit>
void for_each_schedule(const TrainSpace& space, TrainPlan plan, Visit visit) {
  for (const int zero : space.zeros) {
    for (const std::int64_t interleave : space.interleaves) {
      for (const PipelineSchedule schedule : space.schedules) {
        plan.zero = zero;
        plan.interleave = interleave;
        plan.schedule = schedule;
        visit(plan);
      }
    }
  }
}

// The first plan of a mesh.
TrainPlan any_plan(const TrainSpace& space, const Parallelism& mesh) {
  TrainPlan plan;
  plan.mesh = mesh;
  plan.remat = space.remats.front();
  plan.sequence_parallel = space.sequence_parallel.front();
  return plan;
}

void search_mesh(const Trainer& trainer, const TrainSpace& space, const Parallelism& mesh,
                 bool prune, Collector& collector, PartsCache& cache) {
  if (prune && trainer.usable_memory() > 0 &&
      trainer.least_memory(any_plan(space, mesh)) > trainer.usable_memory()) {
    collector.found.pruned += space.settings();
    return;
  }
  for_each_setting(space, [&](TrainPlan plan) {
    plan.mesh = mesh;
    const TrainParts* parts = nullptr;
    const std::optional<PlanRule> sizes_rule = trainer.indivisible_rule(plan);
    for_each_schedule(space, plan, [&](const TrainPlan& each) {
      std::optional<PlanRule> rule = trainer.broken_schedule_rule(each);
      if (!rule) rule = sizes_rule;
      if (rule) {
        ++collector.found.rejected[static_cast<std::size_t>(*rule)];
        return;
      }
      if (parts == nullptr) parts = &trainer.parts_of(each, cache);
      collector.add(trainer.compose(each, *parts, cache));
    });
  });
}

// Counts what is done by several threads, and tells of it a hundred times at most.
class Progress {
 public:
  Progress(const std::function<void(double)>& tell, std::size_t all) : tell_(tell), all_(all) {}

  void add_one() {
    if (!tell_) return;
    const std::size_t done = ++done_;
    if (done * 100 / all_ == (done - 1) * 100 / all_) return;
    const std::lock_guard lock(mutex_);
    tell_(static_cast<double>(done) / static_cast<double>(all_));
  }

 private:
  const std::function<void(double)>& tell_;
  std::size_t all_;
  std::atomic<std::size_t> done_ = 0;
  std::mutex mutex_;
};

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low;
  std::vector<std::int64_t> high;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    low.push_back(i);
    if (i != n / i) high.push_back(n / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::int64_t count_factorisations(std::int64_t n, int factors) {
  // A prime that n holds e times is dealt to the factors in C(e + factors - 1, e) ways.
  Int128 count = 1;
  const auto deal = [&](std::int64_t exponent) {
    for (std::int64_t i = 1; i <= exponent; ++i) count = count * (i + factors - 1) / i;
  };
  for (std::int64_t prime = 2; prime * prime <= n; ++prime) {
    std::int64_t exponent = 0;
    for (; n % prime == 0; n /= prime) ++exponent;
    deal(exponent);
    if (count > Int128{INT64_MAX}) return INT64_MAX;
  }
  if (n > 1) deal(1);
  return count > Int128{INT64_MAX} ? INT64_MAX : static_cast<std::int64_t>(count);
}

std::vector<Parallelism> factorisations(std::int64_t n, bool with_experts) {
  const std::int64_t count = count_factorisations(n, with_experts ? 6 : 5);
  if (count > kMostMeshes) {
    throw UserError(
        fmt::format("{} devices make {} meshes, more than the {} that are searched: "
                    "expected --mesh",
                    n, count, kMostMeshes));
  }
  std::vector<Parallelism> all;
  // What shares its kernels lies side by side: tp, cp and ep before the rest.
  for (const std::int64_t tp : divisors(n)) {
    for (const std::int64_t cp : divisors(n / tp)) {
      for (const std::int64_t ep : divisors(with_experts ? n / tp / cp : 1)) {
        for (const std::int64_t pp : divisors(n / tp / cp / ep)) {
          const std::int64_t data = n / tp / cp / ep / pp;
          for (const std::int64_t fsdp : divisors(data)) {
            all.push_back({data / fsdp, fsdp, tp, cp, pp, ep});
          }
        }
      }
    }
  }
  return all;
}

TrainSpace TrainSpace::of(std::int64_t devices, bool has_experts) {
  TrainSpace space;
  space.meshes = factorisations(devices, has_experts);
  space.micro_batches = {1, 2, 4, 8};
  for (const char* name : {"none", "attention", "matmuls", "block", "full"}) {
    space.remats.push_back(parse_remat(name));
  }
  space.zeros = {0, 1, 2};
  space.interleaves = {1, 2, 4};
  space.sequence_parallel = {false, true};
  space.schedules = {PipelineSchedule::k1F1B};
  return space;
}

std::int64_t TrainSpace::size() const {
  return static_cast<std::int64_t>(meshes.size()) * settings();
}

std::int64_t TrainSpace::settings() const {
  return static_cast<std::int64_t>(micro_batches.size() * remats.size() * zeros.size() *
                                   interleaves.size() * sequence_parallel.size() *
                                   schedules.size());
}

std::int64_t TrainSearch::rejections() const {
  return std::accumulate(rejected.begin(), rejected.end(), std::int64_t{0});
}

TrainSearch search_plans(const Trainer& trainer, const TrainSpace& space,
                         const SearchOptions& options) {
  // What is derived once is derived before the threads start: with and without split groups.
  for_each_setting(space, [&](TrainPlan plan) {
    for (const Parallelism& mesh : space.meshes) {
      plan.mesh.tp = mesh.tp;
      trainer.prepare(plan);
    }
  });
  // A few large parts, added up in order: the answer does not depend on the threads.
  constexpr std::size_t kParts = 16;
  std::vector<Collector> parts(kParts, Collector(options.goal, options.top));
  Progress progress(options.progress, space.meshes.size());
  for_each_parallel(kParts, options.threads, [&](std::size_t part) {
    PartsCache cache;
    const std::size_t begin = space.meshes.size() * part / kParts;
    const std::size_t end = space.meshes.size() * (part + 1) / kParts;
    for (std::size_t i = begin; i < end; ++i) {
      search_mesh(trainer, space, space.meshes[i], options.prune, parts[part], cache);
      progress.add_one();
    }
  });
  Collector all(options.goal, options.top);
  for (const Collector& part : parts) all.add(part.found);
  if (all.found.best.empty() && all.found.pruned > 0) {
    SearchOptions everything = options;
    everything.prune = false;
    return search_plans(trainer, space, everything);
  }
  return std::move(all.found);
}

std::string why_worse(const TrainEstimate& better, const TrainEstimate& worse) {
  struct Difference {
    const char* what;
    double seconds;
  };
  const auto bubble = [](const TrainEstimate& e) {
    return e.bubble_fraction * (e.step_time_s.expected - e.exposed_communication_s - e.optimizer_s);
  };
  const auto kernels = [&](const TrainEstimate& e) {
    return e.step_time_s.expected - e.exposed_communication_s - e.optimizer_s - bubble(e);
  };
  std::vector<Difference> differences = {
      {"exposed communication", worse.exposed_communication_s - better.exposed_communication_s},
      {"kernels",               kernels(worse) - kernels(better)                              },
      {"pipeline bubble",       bubble(worse) - bubble(better)                                },
      {"optimizer",             worse.optimizer_s - better.optimizer_s                        },
  };
  std::sort(differences.begin(), differences.end(), [](const Difference& a, const Difference& b) {
    return std::abs(a.seconds) > std::abs(b.seconds);
  });
  const double total = worse.step_time_s.expected - better.step_time_s.expected;
  std::string text = fmt::format("{:+.3g} s a step", total);
  for (const Difference& difference : differences) {
    if (std::abs(difference.seconds) < 0.02 * std::abs(total)) continue;
    text += fmt::format(", {} {:+.3g} s", difference.what, difference.seconds);
  }
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  text +=
      fmt::format(", memory {:+.3g} GiB", (worse.memory.total() - better.memory.total()) / kGiB);
  return text;
}

}  // namespace flopwise
