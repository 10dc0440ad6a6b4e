// `flopwise plot memory`: what a device's memory holds, by kind, as the context or the number of
// devices grows.
#pragma once

#include <cstdint>

#include "flopwise/model/model.h"
#include "flopwise/report/plot/plot_data.h"
#include "flopwise/report/serve_report.h"
#include "flopwise/report/train_report.h"

namespace flopwise {

// Over lengths T between the two, the same plan and number of sequences for each: the plan of
// `plan`, with a mesh; else the best for request.seq_len. A length that the plan does not divide is
// left out and noted. UserError where all are.
PlotData train_memory_by_context(const Model& model, const TrainRequest& request,
                                 const PlanRequest& plan, std::int64_t from, std::int64_t to);

// Over powers of two of devices from `from` up to request.devices, of each the best plan; where
// none fits, the one that lacks least. UserError where plan.mesh is given or no number of devices
// has a plan.
PlotData train_memory_by_devices(const Model& model, const TrainRequest& request,
                                 const PlanRequest& plan, std::int64_t from);

// The same of serving, by kind weights, KV cache, workspace. A context is prompt + output, of which
// request.output are written. plan.batch 0: one sequence a replica.
PlotData serve_memory_by_context(const Model& model, const ServeRequest& request,
                                 const ServePlanRequest& plan, std::int64_t from, std::int64_t to);
PlotData serve_memory_by_devices(const Model& model, const ServeRequest& request,
                                 const ServePlanRequest& plan, std::int64_t from);

}  // namespace flopwise
