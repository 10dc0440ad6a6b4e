#include "flopwise/report/plot/plot_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

bool is_log(AxisScale scale) {
  return scale != AxisScale::kLinear;
}

struct Range {
  double low = INFINITY;
  double high = -INFINITY;

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool is_empty() const { return low > high; }
};

// Room around what is drawn. A linear axis starts at 0.
Range widened(Range range, AxisScale scale, bool has_bars) {
  if (!is_log(scale)) {
    return {std::min(range.low, 0.0), range.high > 0 ? range.high * 1.08 : 1.0};
  }
  const double least = has_bars ? 1.45 : 1.1;
  const double factor = std::max(least, std::pow(range.high / range.low, 0.04));
  return {range.low / factor, range.high * factor};
}

// ---- ticks -------------------------------------------------------------------------------------

struct Prefix {
  const char* name;
  double factor;
};

Prefix prefix_for(double value, AxisPrefix prefix) {
  static constexpr std::array kSi{
      Prefix{"n", 1e-9},
      Prefix{"u", 1e-6},
      Prefix{"m", 1e-3},
      Prefix{"",  1   },
      Prefix{"k", 1e3 },
      Prefix{"M", 1e6 },
      Prefix{"G", 1e9 },
      Prefix{"T", 1e12},
      Prefix{"P", 1e15},
      Prefix{"E", 1e18}
  };
  static constexpr std::array kBinary{
      Prefix{"",   1     },
      Prefix{"Ki", 0x1p10},
      Prefix{"Mi", 0x1p20},
      Prefix{"Gi", 0x1p30},
      Prefix{"Ti", 0x1p40},
      Prefix{"Pi", 0x1p50}
  };
  const auto largest = [&](const auto& all, Prefix found) {
    for (const Prefix& each : all) {
      if (each.factor <= value * (1 + 1e-9)) found = each;
    }
    return found;
  };
  if (prefix == AxisPrefix::kNone) return {"", 1};
  return prefix == AxisPrefix::kSi ? largest(kSi, kSi[0]) : largest(kBinary, kBinary[0]);
}

// "20", "2.5": as few digits as tell ticks apart.
std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

// Seconds and bytes follow their prefix: "10 m" would be read as metres or minutes.
std::string tick_label(double value, const PlotAxis& axis) {
  const Prefix prefix = prefix_for(value, axis.prefix);
  const std::string unit =
      axis.prefix != AxisPrefix::kNone && axis.unit.size() == 1 ? axis.unit : "";
  const std::string suffix = prefix.name + unit;
  return number(value / prefix.factor) + (suffix.empty() ? "" : " " + suffix);
}

std::vector<double> log2_values(const Range& range, int most) {
  const int first = static_cast<int>(std::ceil(std::log2(range.low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(range.high) + 1e-9));
  const int step = std::max(1, (last - first + most) / most);
  std::vector<double> values;
  for (int i = first; i <= last; i += step) values.push_back(std::exp2(i));
  return values;
}

std::vector<double> in_decades(const Range& range, const std::vector<double>& leads) {
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::floor(std::log10(range.high)));
  for (int i = first; i <= last; ++i) {
    for (const double lead : leads) {
      const double value = lead * std::pow(10, i);
      if (value >= range.low && value <= range.high) values.push_back(value);
    }
  }
  return values;
}

// The most of: every digit, 1-2-5, whole decades, every other decade.
std::vector<double> log10_values(const Range& range, int most) {
  const auto fits = [&](const std::vector<double>& values) {
    return static_cast<int>(values.size()) <= most;
  };
  for (const std::vector<double>& leads : {
           std::vector<double>{1,  1.5, 2, 3, 4, 5, 6, 7, 8},
           {1, 2, 3, 5, 7},
           {1, 2, 5},
           {1, 3},
           {1}
  }) {
    std::vector<double> values = in_decades(range, leads);
    if (fits(values)) return values;
  }
  std::vector<double> values = in_decades(range, {1});
  std::vector<double> some;
  const std::size_t step = values.size() / static_cast<std::size_t>(most) + 1;
  for (std::size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
  return some;
}

// Steps of 1, 2 or 5 in units of the axis' prefix.
std::vector<double> linear_values(const Range& range, int most, double unit) {
  const double rough = (range.high - range.low) / unit / most;
  double step = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (step < rough) step *= factor;
  }
  std::vector<double> values;
  for (double i = std::ceil(range.low / unit / step); i * step * unit <= range.high; ++i) {
    values.push_back(i * step * unit);
  }
  return values;
}

std::string title_of(const PlotAxis& axis, const std::string& unit) {
  return unit.empty() ? axis.label : fmt::format("{} ({})", axis.label, unit);
}

AxisView axis_view(const PlotAxis& axis, const Range& range, int most) {
  AxisView view;
  view.scale = axis.scale;
  view.low = range.low;
  view.high = range.high;
  if (axis.scale == AxisScale::kLinear) {
    // One prefix for the whole axis, in its title.
    const Prefix prefix = prefix_for(range.high, axis.prefix);
    for (const double value : linear_values(range, most, prefix.factor)) {
      view.ticks.push_back({value, number(value / prefix.factor)});
    }
    view.title = title_of(axis, prefix.name + axis.unit);
    return view;
  }
  const std::vector<double> values =
      axis.scale == AxisScale::kLog2 ? log2_values(range, most) : log10_values(range, most);
  for (const double value : values) view.ticks.push_back({value, tick_label(value, axis)});
  view.title = title_of(axis, axis.unit);
  return view;
}

bool has_place(const PlotAxis& axis, double value) {
  return std::isfinite(value) && (!is_log(axis.scale) || value > 0);
}

}  // namespace

const char* name_of(SeriesStyle style) {
  switch (style) {
    case SeriesStyle::kLine:
      return "line";
    case SeriesStyle::kDashes:
      return "dashes";
    case SeriesStyle::kPoints:
      return "points";
    case SeriesStyle::kLinePoints:
      return "line and points";
    case SeriesStyle::kArea:
      return "area";
    case SeriesStyle::kBars:
      return "bars";
  }
  throw InternalError("unknown style of a series");
}

double AxisView::place(double value) const {
  if (!is_log(scale)) return (value - low) / (high - low);
  return std::log(value / low) / std::log(high / low);
}

double AxisView::value_at(double place) const {
  if (!is_log(scale)) return low + place * (high - low);
  return low * std::pow(high / low, place);
}

bool is_drawable(const PlotData& data, const PlotPoint& point) {
  return has_place(data.x, point.x) && has_place(data.y, point.y);
}

bool is_stacked(const PlotSeries& series) {
  return series.style == SeriesStyle::kArea || series.style == SeriesStyle::kBars;
}

std::vector<std::vector<StackedPoint>> stacks_of(const PlotData& data) {
  std::vector<std::vector<StackedPoint>> stacks;
  const std::vector<StackedPoint>* below = nullptr;
  stacks.reserve(data.series.size());
  for (const PlotSeries& series : data.series) {
    stacks.emplace_back();
    if (!is_stacked(series)) continue;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const double low = below != nullptr ? below->at(i).high : 0;
      stacks.back().push_back({series.points[i].x, low, low + series.points[i].y});
    }
    below = &stacks.back();
  }
  return stacks;
}

PlotView view_of(const PlotData& data, int most_x_ticks, int most_y_ticks) {
  Range x, y;
  bool has_bars = false;
  for (const PlotSeries& series : data.series) {
    has_bars = has_bars || series.style == SeriesStyle::kBars;
    if (is_stacked(series)) continue;
    for (const PlotPoint& point : series.points) {
      if (!is_drawable(data, point)) continue;
      x.add(point.x);
      y.add(point.y);
    }
  }
  for (const std::vector<StackedPoint>& stack : stacks_of(data)) {
    for (const StackedPoint& point : stack) {
      x.add(point.x);
      y.add(point.high);
    }
  }
  if (x.is_empty()) throw UserError("plot " + data.name + ": no point to draw");
  for (const PlotMark& mark : data.marks) (mark.of == MarkOf::kX ? x : y).add(mark.at);
  // Areas reach from edge to edge.
  const bool has_areas = std::any_of(data.series.begin(), data.series.end(), [](const auto& s) {
    return s.style == SeriesStyle::kArea && s.points.size() > 1;
  });
  if (!has_areas) x = widened(x, data.x.scale, has_bars);
  y = widened(y, data.y.scale, false);
  return {axis_view(data.x, x, most_x_ticks), axis_view(data.y, y, most_y_ticks)};
}

BarSides bar_around(const PlotData& data, double x) {
  constexpr double kShare = 0.36;  // of the distance to the next bar, on either side
  std::vector<double> places;
  for (const PlotSeries& series : data.series) {
    if (!is_stacked(series)) continue;
    for (const PlotPoint& point : series.points) places.push_back(point.x);
    break;
  }
  std::sort(places.begin(), places.end());
  const bool log = is_log(data.x.scale);
  double nearest = log ? std::log(2) : 1;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double distance = log ? std::log(places[i] / places[i - 1]) : places[i] - places[i - 1];
    nearest = i == 1 ? distance : std::min(nearest, distance);
  }
  if (log) return {x * std::exp(-kShare * nearest), x * std::exp(kShare * nearest)};
  return {x - kShare * nearest, x + kShare * nearest};
}

}  // namespace flopwise
