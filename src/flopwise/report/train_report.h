// `flopwise train`: the estimate of a plan, or of the best plan there is, as text and JSON.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/plan/search.h"
#include "flopwise/plan/train.h"
#include "flopwise/report/explain.h"

namespace flopwise {

// What of a plan was asked for; the rest is searched. A given mesh fixes every setting, those left
// open at their defaults: micro-batch 1, remat none, zero 0, interleave 1, no sequence parallelism.
struct PlanRequest {
  std::optional<Parallelism> mesh;
  std::optional<std::int64_t> micro_batch;
  std::optional<RematPolicy> remat;
  std::optional<int> zero;
  std::optional<std::int64_t> interleave;
  std::optional<bool> sequence_parallel;
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
  PlanGoal goal = PlanGoal::kTime;
  std::size_t top = 1;                        // plans to list
  std::optional<TrainPlan> why;               // to be compared with the answer, line by line
  std::function<void(double)> progress = {};  // of the search: SearchOptions
};

TrainPlan given_plan(const PlanRequest& request);  // with a mesh
// Every plan in which what was asked for stands fixed, mesh apart.
SearchOptions search_options(const PlanRequest& request);
TrainSpace space_of(const Trainer& trainer, const PlanRequest& request);

struct TrainAnswer {
  std::shared_ptr<const Trainer> trainer;
  TrainEstimate estimate;
  std::optional<TrainSearch> search;               // where no mesh was given
  std::optional<TrainEstimate> nearest_that_fits;  // where a given plan does not
  std::optional<TrainEstimate> compared;           // PlanRequest::why
  std::optional<TrainRun> run;
  std::optional<Padding> padding;
  std::vector<std::string> assumptions;
  double mfu = 0;
  double hfu = 0;
  double tokens_per_s = 0;

  bool fits() const { return estimate.fits; }
};

// UserError where the plan breaks a rule, or no plan of the space breaks none.
TrainAnswer answer_train(const Model& model, const TrainRequest& request, const PlanRequest& plan);
Json train_json(const TrainAnswer& answer);
std::string train_text(const TrainAnswer& answer, Explain explain);

}  // namespace flopwise
