#include "flopwise/report/plot/roofline_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "flopwise/base/units.h"

namespace flopwise {
namespace {

constexpr std::size_t kMostLabels = 10;

double all_layers_s(const RooflineKernel& kernel) {
  return kernel.time_s * kernel.layers.to_double();
}

bool has_matrix_work(const RooflineKernel& kernel) {
  return kernel.matrix_flops > Count(0) && kernel.bytes > Count(0);
}

PlotSeries series_of(const RooflineAnswer& answer, Pass pass) {
  PlotSeries series{name_of(pass), SeriesStyle::kPoints, {}};
  std::set<std::string> blocks;
  for (const RooflineKernel& kernel : answer.kernels) blocks.insert(kernel.block);
  std::size_t rank = 0;  // kernels come slowest first
  for (const RooflineKernel& kernel : answer.kernels) {
    if (!has_matrix_work(kernel)) continue;
    const bool is_labelled = rank++ < kMostLabels;
    if (kernel.pass != pass) continue;
    const std::string place = blocks.size() > 3 ? kernel.block + " " : "";
    series.points.push_back({*kernel.intensity(), kernel.matrix_flops.to_double() / kernel.time_s,
                             place + kernel.name, is_labelled ? place + kernel.name : ""});
  }
  return series;
}

PlotSeries whole_step(const RooflineAnswer& answer) {
  const double flops = answer.matrix_s * answer.peak_flops_per_s;
  const double bytes = answer.memory_s * answer.memory_bytes_per_s;
  return {"the step, one kernel after another",
          SeriesStyle::kPoints,
          {{flops / bytes, flops / answer.kernels_s, "the step", "the step"}}};
}

// From one factor of ten beside the kernels and the ridge to the other.
PlotSeries roof_over(const RooflineAnswer& answer, const std::vector<PlotSeries>& series) {
  const double ridge = answer.peak_flops_per_s / answer.memory_bytes_per_s;
  double low = ridge / 10;
  double high = ridge * 10;
  for (const PlotSeries& each : series) {
    for (const PlotPoint& point : each.points) {
      low = std::min(low, point.x / 1.5);
      high = std::max(high, point.x * 1.5);
    }
  }
  return {
      fmt::format("roof: {}, {}", format_si(answer.peak_flops_per_s, "FLOP/s"),
                  format_si(answer.memory_bytes_per_s, "B/s")),
      SeriesStyle::kLine,
      {{low, low * answer.memory_bytes_per_s, "", ""},
               {ridge, answer.peak_flops_per_s, "ridge", ""},
               {high, answer.peak_flops_per_s, "", ""}}
  };
}

void add_note(const RooflineAnswer& answer, PlotData& data) {
  std::size_t left_out = 0;
  double time_s = 0;
  for (const RooflineKernel& kernel : answer.kernels) {
    if (has_matrix_work(kernel)) continue;
    ++left_out;
    time_s += all_layers_s(kernel);
  }
  if (left_out == 0) return;
  data.notes.push_back(fmt::format("Not shown: {} kernels without matrix work, {} of the time",
                                   left_out, format_percent(time_s / answer.kernels_s)));
}

}  // namespace

PlotData roofline_plot(const RooflineAnswer& answer) {
  PlotData data;
  data.name = "roofline";
  data.title = "Kernels under the roof of " + answer.hardware;
  data.subtitle = fmt::format("{}, {}, {}; what each attains at peak rates", answer.model,
                              answer.mode, answer.dtype);
  data.x = {"intensity_flops_per_byte", "arithmetic intensity", "FLOP/B", AxisScale::kLog10,
            AxisPrefix::kNone};
  data.y = {"attained_flops_per_s", "attained rate of matrix work", "FLOP/s", AxisScale::kLog10,
            AxisPrefix::kSi};
  for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kRecompute}) {
    PlotSeries series = series_of(answer, pass);
    if (!series.points.empty()) data.series.push_back(std::move(series));
  }
  if (answer.matrix_s > 0 && answer.memory_s > 0) data.series.push_back(whole_step(answer));
  data.series.insert(data.series.begin(), roof_over(answer, data.series));
  const double ridge = answer.peak_flops_per_s / answer.memory_bytes_per_s;
  data.marks.push_back({MarkOf::kX, ridge, fmt::format("ridge {:.4g} FLOP/B", ridge)});
  add_note(answer, data);
  return data;
}

}  // namespace flopwise
