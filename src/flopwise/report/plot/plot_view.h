// What every drawing of a PlotData needs: the range of each axis, its ticks, and stacks.
#pragma once

#include <string>
#include <vector>

#include "flopwise/report/plot/plot_data.h"

namespace flopwise {

struct Tick {
  double value = 0;
  std::string label;  // "10 ms"
};

struct AxisView {
  AxisScale scale = AxisScale::kLinear;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
  std::string title;  // "memory of a device (GiB)"

  // Where a value stands: 0 at `low`, 1 at `high`.
  double place(double value) const;
  // The value at a place.
  double value_at(double place) const;
};

struct PlotView {
  AxisView x;
  AxisView y;
};

// Ranges hold every point and mark; ticks are at most so many. UserError where nothing is to be
// drawn: no point, or on a logarithmic axis none above 0.
PlotView view_of(const PlotData& data, int most_x_ticks, int most_y_ticks);

// Whether the axes can show the point: a logarithmic one has no place for 0.
bool is_drawable(const PlotData& data, const PlotPoint& point);

// Low and high end of each point of a stacked series.
struct StackedPoint {
  double x = 0;
  double low = 0;
  double high = 0;
};
bool is_stacked(const PlotSeries& series);
// By series; empty for what is not stacked.
std::vector<std::vector<StackedPoint>> stacks_of(const PlotData& data);

// The bar around x reaches to the middle between neighbours, less a gap.
struct BarSides {
  double low = 0;
  double high = 0;
};
BarSides bar_around(const PlotData& data, double x);

}  // namespace flopwise
