// `flopwise plot scaling`: the time of a training step as devices are added to the same batch.
#pragma once

#include <cstdint>

#include "flopwise/model/model.h"
#include "flopwise/report/plot/plot_data.h"
#include "flopwise/report/train_report.h"

namespace flopwise {

// Over powers of two of devices from `from` up to request.devices, of each the best plan that fits:
// its expected time, its lower bound, and of the expected time the kernels and what devices wait
// (exposed communication and pipeline bubble). Ideal: the first expected time, divided by the
// devices added. Marked: from where on waiting takes longer than kernels. UserError where no number
// of devices fits, or plan.mesh is given.
PlotData scaling_plot(const Model& model, const TrainRequest& request, const PlanRequest& plan,
                      std::int64_t from);

// The parts of an expected time: kernels + waiting + optimizer.
struct StepParts {
  double kernels_s = 0;
  double waiting_s = 0;
};
StepParts parts_of(const TrainEstimate& estimate);

}  // namespace flopwise
