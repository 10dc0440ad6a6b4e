// A picture as data: axes, series and marks, in SI units. Functions beside this file make it from
// the numbers of the library; renderers turn it into CSV, JSON, text and a gnuplot script.
#pragma once

#include <string>
#include <vector>

namespace flopwise {

enum class AxisScale { kLinear, kLog2, kLog10 };

// How numbers on an axis are shortened: 0.01; 10 m, 10 k; 10 Ki.
enum class AxisPrefix { kNone, kSi, kBinary };

struct PlotAxis {
  std::string key;    // in CSV and JSON, with its unit: "step_time_s"
  std::string label;  // "time of a step"
  std::string unit;   // "s"; empty for a ratio
  AxisScale scale = AxisScale::kLinear;
  AxisPrefix prefix = AxisPrefix::kNone;
};

// Areas and bars are stacked on those before them and have a point at every x of the first.
enum class SeriesStyle { kLine, kDashes, kPoints, kLinePoints, kArea, kBars };
const char* name_of(SeriesStyle style);  // "line"

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string label;  // what it is, in CSV and JSON
  std::string tag;    // a short name, shown beside the point where there is room
};

struct PlotSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::kLine;
  std::vector<PlotPoint> points;
};

// A value of one axis that is worth a line across the picture.
enum class MarkOf { kX, kY };
struct PlotMark {
  MarkOf of = MarkOf::kX;
  double at = 0;
  std::string label;
};

struct PlotData {
  std::string name;      // "attention-cost"
  std::string title;     // what is shown
  std::string subtitle;  // of which model, on what
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotMark> marks;
  std::vector<std::string> notes;  // what the picture leaves out
};

}  // namespace flopwise
