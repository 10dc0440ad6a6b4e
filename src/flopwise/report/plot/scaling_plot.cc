#include "flopwise/report/plot/scaling_plot.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/report/plot/contexts.h"

namespace flopwise {
namespace {

struct Point {
  std::int64_t devices;
  TrainEstimate estimate;
};

// The best plan of each number of devices; `seq_len`: as resolved.
std::vector<Point> best_plans(const Model& model, const TrainRequest& request,
                              const PlanRequest& plan, std::int64_t from, std::int64_t& seq_len,
                              std::vector<std::int64_t>& without) {
  std::vector<Point> points;
  for (const std::int64_t devices : device_counts(from, request.devices)) {
    TrainRequest at = request;
    at.devices = devices;
    const Trainer trainer(model, at);
    seq_len = trainer.workload().seq_len;
    SearchOptions options = search_options(plan);
    options.goal = PlanGoal::kTime;
    const TrainSearch search = search_plans(trainer, space_of(trainer, plan), options);
    if (search.best.empty()) {
      without.push_back(devices);
    } else {
      points.push_back({devices, search.best.front()});
    }
  }
  return points;
}

template <typename Value>
PlotSeries series_of(const char* name, SeriesStyle style, const std::vector<Point>& points,
                     Value value) {
  PlotSeries series{name, style, {}};
  for (const Point& point : points) {
    series.points.push_back(
        {static_cast<double>(point.devices), value(point), describe(point.estimate.plan), ""});
  }
  return series;
}

void add_takeover(const std::vector<Point>& points, PlotData& data) {
  for (const Point& point : points) {
    const StepParts parts = parts_of(point.estimate);
    if (parts.waiting_s <= parts.kernels_s) continue;
    data.marks.push_back({MarkOf::kX, static_cast<double>(point.devices),
                          fmt::format("communication and bubble outweigh kernels at {}",
                                      Count(point.devices).grouped())});
    return;
  }
  data.notes.push_back(
      "Kernels outweigh communication and bubble at every number of devices shown");
}

}  // namespace

StepParts parts_of(const TrainEstimate& estimate) {
  // A bubble is as long as the kernels of the rounds that are missed.
  const double rounds_s =
      estimate.step_time_s.expected - estimate.exposed_communication_s - estimate.optimizer_s;
  StepParts parts;
  parts.waiting_s = estimate.exposed_communication_s + estimate.bubble_fraction * rounds_s;
  parts.kernels_s = (1 - estimate.bubble_fraction) * rounds_s;
  return parts;
}

PlotData scaling_plot(const Model& model, const TrainRequest& request, const PlanRequest& plan,
                      std::int64_t from) {
  if (plan.mesh) throw UserError("plot scaling: --mesh fixes the devices, expected none");
  std::int64_t seq_len = 0;
  std::vector<std::int64_t> without;
  const std::vector<Point> points = best_plans(model, request, plan, from, seq_len, without);
  if (points.empty()) {
    throw UserError(fmt::format("plot scaling: no plan of up to {} devices fits",
                                Count(request.devices).grouped()));
  }
  PlotData data;
  data.name = "scaling";
  data.title = "Time of a training step by devices, the best plan of each";
  data.subtitle = fmt::format("{} on {}, {} sequences of {} tokens a step, {}, recipe {}",
                              model.name, request.hardware.name, Count(request.batch).grouped(),
                              Count(seq_len).grouped(), request.dtype, request.recipe.name);
  data.x = {"devices", "devices", "", AxisScale::kLog2, AxisPrefix::kNone};
  data.y = {"step_time_s", "time of a step", "s", AxisScale::kLog10, AxisPrefix::kSi};
  const Point& first = points.front();
  const double device_s = first.estimate.step_time_s.expected * static_cast<double>(first.devices);
  // The answer last: over what it coincides with.
  data.series = {
      series_of("lower bound", SeriesStyle::kLine, points,
                [](const Point& p) { return p.estimate.step_time_s.lower; }),
      series_of("kernels", SeriesStyle::kLine, points,
                [](const Point& p) { return parts_of(p.estimate).kernels_s; }),
      series_of("exposed communication, bubble", SeriesStyle::kLinePoints, points,
                [](const Point& p) { return parts_of(p.estimate).waiting_s; }),
      series_of("ideal, from the first on", SeriesStyle::kDashes, points,
                [&](const Point& p) { return device_s / static_cast<double>(p.devices); }),
      series_of("expected", SeriesStyle::kLinePoints, points,
                [](const Point& p) { return p.estimate.step_time_s.expected; }),
  };
  for (const Point& point : points) {
    if (parts_of(point.estimate).waiting_s > 0) continue;
    data.notes.push_back("Where no point stands there is no exposed communication or bubble");
    break;
  }
  add_takeover(points, data);

  if (!without.empty()) {
    std::string text = "Nothing fits on so many devices:";
    for (const std::int64_t devices : without) text += fmt::format(" {}", devices);
    data.notes.push_back(text);
  }
  return data;
}

}  // namespace flopwise
