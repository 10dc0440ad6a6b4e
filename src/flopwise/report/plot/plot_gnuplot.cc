#include "flopwise/report/plot/plot_gnuplot.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"
#include "flopwise/report/plot/plot_layout.h"
#include "flopwise/report/plot/plot_view.h"

namespace flopwise {
namespace {

constexpr int kWidth = 1200;
constexpr int kHeight = 720;
constexpr PixelBox kArea{110, 112, 900, 640};  // between the axes; the legend stands to the right
constexpr int kMostXTicks = 14;
constexpr int kMostYTicks = 10;
constexpr std::size_t kNoteLetters = 150;

// Okabe and Ito (2008): told apart by the colour-blind, too.
constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                    "#CC79A7", "#56B4E9", "#F0E442", "#555555"};
constexpr int kPointTypes[] = {7, 5, 9, 11, 13, 6, 4, 8};

const char* colour_of(std::size_t series) {
  return kColours[series % std::size(kColours)];
}

// 'text': in single quotes only a quote means anything, and is doubled.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : one_line(text)) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

std::string number(double value) {
  return fmt::format("{:.17g}", value);
}

std::string ticks(const AxisView& axis) {
  std::string text;
  for (const Tick& tick : axis.ticks) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", in_quotes(tick.label), number(tick.value));
  }
  return text;
}

std::string axis_commands(const char* name, const AxisView& axis) {
  const char* base = axis.scale == AxisScale::kLog2 ? "2" : "10";
  std::string text;
  if (axis.scale != AxisScale::kLinear) text += fmt::format("set logscale {} {}\n", name, base);
  // A hair wider, so that rounding drops no tick at an end.
  text += fmt::format("set {}range [{}:{}]\n", name, number(axis.low * (1 - 1e-9)),
                      number(axis.high * (1 + 1e-9)));
  text += fmt::format("set {}tics nomirror out scale 0.5 ({})\n", name, ticks(axis));
  return text + fmt::format("set {}label {}\n", name, in_quotes(axis.title));
}

std::string label_at(const std::string& text, double x, double y, const char* more) {
  return fmt::format("set label {} at screen {:.5f},{:.5f} left front {}\n", in_quotes(text),
                     x / kWidth, y / kHeight, more);
}

// At spaces, so that no line is longer than a picture is wide.
std::vector<std::string> wrapped(const std::vector<std::string>& notes) {
  std::vector<std::string> lines;
  for (std::string rest : notes) {
    while (utf8_length(rest) > kNoteLetters && rest.rfind(' ', kNoteLetters) != std::string::npos) {
      const std::size_t space = rest.rfind(' ', kNoteLetters);
      lines.push_back(rest.substr(0, space));
      rest = rest.substr(space + 1);
    }
    lines.push_back(rest);
  }
  return lines;
}

std::string head_commands(const PlotData& data, PictureFormat format) {
  std::string text = "set encoding utf8\n";
  text += format == PictureFormat::kSvg
              ? fmt::format(
                    "set terminal svg noenhanced size {},{} dynamic background '#ffffff' "
                    "font 'DejaVu Sans,Verdana,sans-serif,12'\n",
                    kWidth, kHeight)
              : fmt::format(
                    "set terminal pngcairo noenhanced size {},{} background '#ffffff' "
                    "font 'DejaVu Sans,10'\n",
                    kWidth, kHeight);
  text += fmt::format("set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\n",
                      kArea.left / kWidth, kArea.right / kWidth);
  text += fmt::format("set bmargin at screen {:.5f}\nset tmargin at screen {:.5f}\n",
                      kArea.bottom / kHeight, kArea.top / kHeight);
  text += "set border 3 lc rgb '#888888'\nset grid xtics ytics lt 1 lw 0.5 lc rgb '#dddddd'\n";
  const bool stacked = std::any_of(data.series.begin(), data.series.end(), is_stacked);
  text += fmt::format(
      "set key at screen {:.5f},{:.5f} left top vertical Left reverse samplen 2 "
      "spacing 1.3{}\n",
      (kArea.right + 15) / kWidth, (kArea.top + 8) / kHeight, stacked ? " invert" : "");
  text += label_at(data.title, kArea.left, 695, "font ',15'");
  text += label_at(data.subtitle, kArea.left, 667, "tc rgb '#555555'");
  double y = 44;
  for (const std::string& line : wrapped(data.notes)) {
    text += label_at(line, kArea.left, y, "tc rgb '#555555' font ',9'");
    y -= 14;
  }
  return text;
}

std::string mark_commands(const PlotData& data, const PlotLabels& labels) {
  std::string text;
  for (const PlotMark& mark : data.marks) {
    const std::string at = number(mark.at);
    text += mark.of == MarkOf::kX
                ? fmt::format("set arrow from first {},graph 0 to first {},graph 1", at, at)
                : fmt::format("set arrow from graph 0,first {} to graph 1,first {}", at, at);
    text += " nohead front lw 1.5 dt 2 lc rgb '#333333'\n";
  }
  for (const PlacedLabel& label : labels.of_marks) {
    text += label_at(label.text, label.x, label.y, "tc rgb '#333333'");
  }
  for (const PlacedLabel& label : labels.of_points) {
    text += label_at(label.text, label.x, label.y, "tc rgb '#333333' font ',9'");
    if (!label.needs_leader) continue;
    // To the nearest spot of the label's edge.
    const double width = static_cast<double>(utf8_length(label.text)) * 6.2;
    const double end_x = std::clamp(label.point_x, label.x, label.x + width);
    const double end_y = label.y + std::clamp(label.point_y - label.y, -7.0, 7.0);
    text += fmt::format(
        "set arrow from screen {:.5f},{:.5f} to screen {:.5f},{:.5f} nohead back lw 0.7 lc rgb "
        "'#999999'\n",
        label.point_x / kWidth, label.point_y / kHeight, end_x / kWidth, end_y / kHeight);
  }
  return text;
}

std::string block_of(const PlotData& data, std::size_t index,
                     const std::vector<StackedPoint>& stack) {
  std::string rows;
  const PlotSeries& series = data.series[index];
  for (const StackedPoint& point : stack) {
    const BarSides sides = bar_around(data, point.x);
    rows += series.style == SeriesStyle::kArea
                ? fmt::format("{} {} {}\n", number(point.x), number(point.low), number(point.high))
                : fmt::format("{} {} {} {} {} {}\n", number(point.x), number(point.high),
                              number(sides.low), number(sides.high), number(point.low),
                              number(point.high));
  }
  for (const PlotPoint& point : series.points) {
    if (is_stacked(series)) continue;
    // An empty row interrupts a line where a logarithmic axis has no place.
    rows += is_drawable(data, point) ? fmt::format("{} {}\n", number(point.x), number(point.y))
                                     : std::string("\n");
  }
  return fmt::format("$series{} << END\n{}END\n", index, rows);
}

std::string style_of(const PlotSeries& series, std::size_t index) {
  const std::string colour = fmt::format("lc rgb '{}'", colour_of(index));
  const int point = kPointTypes[index % std::size(kPointTypes)];
  switch (series.style) {
    case SeriesStyle::kLine:
      return "with lines lw 2 " + colour;
    case SeriesStyle::kDashes:
      return "with lines lw 2 dt (6,6) " + colour;
    case SeriesStyle::kPoints:
      return fmt::format("with points pt {} ps 1.1 {}", point, colour);
    case SeriesStyle::kLinePoints:
      return fmt::format("with linespoints lw 2 pt {} ps 1 {}", point, colour);
    case SeriesStyle::kArea:
      return "with filledcurves fs solid 0.75 noborder " + colour;
    case SeriesStyle::kBars:
      return "with boxxyerror fs solid 0.75 noborder " + colour;
  }
  throw InternalError("unknown style of a series");
}

bool has_points(const PlotData& data, const PlotSeries& series) {
  return std::any_of(series.points.begin(), series.points.end(), [&](const PlotPoint& point) {
    return is_stacked(series) || is_drawable(data, point);
  });
}

}  // namespace

std::string plot_gnuplot(const PlotData& data, PictureFormat format) {
  const PlotView view = view_of(data, kMostXTicks, kMostYTicks);
  const PlotLabels labels = place_labels(data, view, {kArea});
  std::string text = head_commands(data, format);
  text += axis_commands("x", view.x) + axis_commands("y", view.y);
  text += mark_commands(data, labels);
  const std::vector<std::vector<StackedPoint>> stacks = stacks_of(data);
  std::string elements;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const PlotSeries& series = data.series[i];
    if (!has_points(data, series)) continue;
    text += block_of(data, i, stacks[i]);
    elements += fmt::format("{}$series{} {} title {}", elements.empty() ? "" : ", ", i,
                            style_of(series, i), in_quotes(series.name));
  }
  return text + "plot " + elements + "\n";
}

}  // namespace flopwise
