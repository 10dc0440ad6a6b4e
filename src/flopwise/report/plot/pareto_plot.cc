#include "flopwise/report/plot/pareto_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

// The front joined by a line, and over it each point in the series of its kind.
void add_to_front(const std::string& kind, const PlotPoint& point, PlotData& data) {
  if (data.series.empty())
    data.series.push_back({"no plan is better in both", SeriesStyle::kLine, {}});
  data.series[0].points.push_back({point.x, point.y, "", ""});
  auto series = std::find_if(data.series.begin() + 1, data.series.end(),
                             [&](const PlotSeries& each) { return each.name == kind; });
  if (series == data.series.end()) {
    series = data.series.insert(series, {kind, SeriesStyle::kPoints, {}});
  }
  series->points.push_back(point);
}

std::string on(const Model& model, std::int64_t devices, const Hardware& hardware) {
  return fmt::format("{} on {} x {}", model.name, Count(devices).grouped(), hardware.name);
}

void refuse_mesh(bool is_given) {
  if (is_given) throw UserError("plot pareto: it looks at every mesh, expected no --mesh");
}

}  // namespace

PlotData serve_pareto_plot(const Model& model, const ServeRequest& request,
                           const ServePlanRequest& plan) {
  refuse_mesh(plan.mesh.has_value());
  const Server server(model, request);
  const ServeSearch search = search_serving(std::array{&server}, plan.batch, 1);
  if (search.pareto.empty()) {
    throw UserError(fmt::format(
        "plot pareto: no mesh of {} devices serves the model: {} too large, {} too slow, {} do not "
        "divide it",
        Count(request.devices).grouped(), search.too_large, search.too_slow, search.rejected));
  }
  PlotData data;
  data.name = "pareto";
  data.title = "Latency against throughput";
  data.subtitle = fmt::format("{}, prompt {}, output {}, weights {}, KV cache {}",
                              on(model, request.devices, request.hardware),
                              Count(request.prompt).grouped(), Count(request.output).grouped(),
                              server.types().weight.name, server.types().cache.name);
  data.x = {"tpot_s", "time per output token", "s", AxisScale::kLog10, AxisPrefix::kSi};
  data.y = {"tokens_per_s_per_device", "output of a device", "tokens/s", AxisScale::kLog10,
            AxisPrefix::kSi};
  for (const ServeEstimate& each : search.pareto) {
    add_to_front(each.plan.mesh.str(),
                 {each.tpot_s(), each.tokens_per_s / static_cast<double>(request.devices),
                  describe(each.plan), fmt::format("batch {}", each.plan.batch)},
                 data);
  }
  if (request.tpot_s) {
    data.marks.push_back({MarkOf::kX, *request.tpot_s,
                          fmt::format("asked for: {} a token", format_si(*request.tpot_s, "s"))});
  }
  return data;
}

PlotData train_pareto_plot(const Model& model, const TrainRequest& request,
                           const PlanRequest& plan) {
  refuse_mesh(plan.mesh.has_value());
  const Trainer trainer(model, request);
  const TrainSearch search = search_plans(trainer, space_of(trainer, plan), search_options(plan));
  if (search.pareto.empty()) {
    throw UserError(
        fmt::format("plot pareto: no plan of {} devices fits: {} too large, {} break a rule",
                    Count(request.devices).grouped(), search.too_large, search.rejections()));
  }
  PlotData data;
  data.name = "pareto";
  data.title = "Time of a training step against memory";
  data.subtitle =
      fmt::format("{}, {} sequences of {} tokens, recipe {}",
                  on(model, request.devices, request.hardware), Count(request.batch).grouped(),
                  Count(trainer.workload().seq_len).grouped(), request.recipe.name);
  data.x = {"step_time_s", "expected time of a step", "s", AxisScale::kLog10, AxisPrefix::kSi};
  data.y = {"memory_bytes", "memory of the busiest device", "B", AxisScale::kLinear,
            AxisPrefix::kBinary};
  for (const TrainEstimate& each : search.pareto) {
    add_to_front(
        "remat " + describe(each.plan.remat),
        {each.step_time_s.expected, each.memory.total(), describe(each.plan), each.plan.mesh.str()},
        data);
  }
  if (request.hardware.memory_bytes) {
    data.marks.push_back(
        {MarkOf::kY, trainer.usable_memory(), "usable: " + format_binary(trainer.usable_memory())});
  }
  return data;
}

}  // namespace flopwise
