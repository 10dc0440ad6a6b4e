// `flopwise plot pareto`: the plans that no other beats in both of two things.
#pragma once

#include "flopwise/model/model.h"
#include "flopwise/report/plot/plot_data.h"
#include "flopwise/report/serve_report.h"
#include "flopwise/report/train_report.h"

namespace flopwise {

// Serving: tokens a second of a device against the time per output token, from search_serving. A
// point's tag is its batch, its series its mesh. UserError where nothing fits or is fast enough.
PlotData serve_pareto_plot(const Model& model, const ServeRequest& request,
                           const ServePlanRequest& plan);

// Training: memory of the busiest device against the expected time of a step, from search_plans. A
// point's tag is its mesh, its series its remat policy.
PlotData train_pareto_plot(const Model& model, const TrainRequest& request,
                           const PlanRequest& plan);

}  // namespace flopwise
