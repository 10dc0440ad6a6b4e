#include "flopwise/report/plot/plot_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"
#include "flopwise/report/plot/plot_view.h"

namespace flopwise {
namespace {

constexpr int kRows = 20;
constexpr int kMostXTicks = 8;
constexpr int kMostYTicks = 7;
constexpr std::string_view kLineSymbols = "*o+x@%&";
constexpr std::string_view kFills = "#=+:.o%";

// Lines of the terminal's width, broken at spaces, those after the first indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string lines;
  std::string rest = one_line(text);
  while (rest.size() > kPlotTextWidth) {
    const std::size_t space = rest.rfind(' ', kPlotTextWidth);
    if (space == std::string::npos || space <= indent) break;
    lines += rest.substr(0, space) + "\n";
    rest = std::string(indent, ' ') + rest.substr(space + 1);
  }
  return lines + rest + "\n";
}

// The rectangle between the axes, row 0 on top.
class Canvas {
 public:
  Canvas(const PlotView& view, int width)
      : view_(view),
        width_(width),
        rows_(kRows, std::string(static_cast<std::size_t>(width), ' ')) {}

  int width() const { return width_; }
  const std::string& row(int i) const { return rows_[static_cast<std::size_t>(i)]; }
  int column_of(double x) const { return nearest(view_.x.place(x), width_); }
  int row_of(double y) const { return kRows - 1 - nearest(view_.y.place(y), kRows); }
  double x_at(int column) const {
    return view_.x.value_at(static_cast<double>(column) / (width_ - 1));
  }

  void put(int column, int row, char symbol) {
    if (column < 0 || column >= width_ || row < 0 || row >= kRows) return;
    rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = symbol;
  }
  void fill(int column, double low, double high, char symbol) {
    // What is thinner than a row is left to its neighbours.
    const int top = kRows - static_cast<int>(std::lround(view_.y.place(high) * kRows));
    const int bottom = kRows - static_cast<int>(std::lround(view_.y.place(low) * kRows));
    for (int row = std::max(top, 0); row < bottom; ++row) put(column, row, symbol);
  }
  void line(const PlotPoint& from, const PlotPoint& to, char symbol, int step) {
    const double x0 = view_.x.place(from.x), y0 = view_.y.place(from.y);
    const double x1 = view_.x.place(to.x), y1 = view_.y.place(to.y);
    const int steps = std::max({std::abs(nearest(x1, width_) - nearest(x0, width_)),
                                std::abs(nearest(y1, kRows) - nearest(y0, kRows)), 1});
    for (int i = 0; i <= steps; i += step) {
      const double share = static_cast<double>(i) / steps;
      put(nearest(x0 + share * (x1 - x0), width_),
          kRows - 1 - nearest(y0 + share * (y1 - y0), kRows), symbol);
    }
  }

 private:
  static int nearest(double place, int count) {
    return static_cast<int>(std::lround(place * (count - 1)));
  }

  PlotView view_;
  int width_;
  std::vector<std::string> rows_;
};

// What a series is drawn with, by its number among those of its sort.
char symbol_of(const PlotData& data, std::size_t index) {
  std::size_t number = 0;
  const auto sort = [](const PlotSeries& series) {
    return is_stacked(series) ? 0 : series.style == SeriesStyle::kDashes ? 1 : 2;
  };
  for (std::size_t i = 0; i < index; ++i) {
    number += sort(data.series[i]) == sort(data.series[index]) ? 1 : 0;
  }
  if (sort(data.series[index]) == 0) return kFills[number % kFills.size()];
  return sort(data.series[index]) == 1 ? '.' : kLineSymbols[number % kLineSymbols.size()];
}

void draw_marks(const PlotData& data, Canvas& canvas) {
  for (const PlotMark& mark : data.marks) {
    if (mark.of == MarkOf::kX) {
      for (int row = 0; row < kRows; ++row) canvas.put(canvas.column_of(mark.at), row, '|');
    } else {
      for (int i = 0; i < canvas.width(); ++i) canvas.put(i, canvas.row_of(mark.at), '-');
    }
  }
}

// An area between two points by straight line, in the places of the axis.
void draw_area(const std::vector<StackedPoint>& stack, const PlotView& view, char symbol,
               Canvas& canvas) {
  for (int column = 0; column < canvas.width(); ++column) {
    const double x = canvas.x_at(column);
    const auto after = std::find_if(stack.begin(), stack.end(),
                                    [&](const auto& p) { return p.x >= x * (1 - 1e-12); });
    if (after == stack.end()) continue;
    if (after == stack.begin() && after->x > x * (1 + 1e-9)) continue;
    const StackedPoint& right = *after;
    const StackedPoint& left = after == stack.begin() ? right : *std::prev(after);
    const double width = view.x.place(right.x) - view.x.place(left.x);
    const double share = width > 0 ? (view.x.place(x) - view.x.place(left.x)) / width : 0;
    canvas.fill(column, left.low + share * (right.low - left.low),
                left.high + share * (right.high - left.high), symbol);
  }
}

void draw_bars(const PlotData& data, const std::vector<StackedPoint>& stack, char symbol,
               Canvas& canvas) {
  for (const StackedPoint& point : stack) {
    const BarSides sides = bar_around(data, point.x);
    for (int i = canvas.column_of(sides.low); i <= canvas.column_of(sides.high); ++i) {
      canvas.fill(i, point.low, point.high, symbol);
    }
  }
}

void draw_series(const PlotData& data, std::size_t index, const PlotView& view,
                 const std::vector<StackedPoint>& stack, Canvas& canvas) {
  const PlotSeries& series = data.series[index];
  const char symbol = symbol_of(data, index);
  if (series.style == SeriesStyle::kArea) return draw_area(stack, view, symbol, canvas);
  if (series.style == SeriesStyle::kBars) return draw_bars(data, stack, symbol, canvas);
  const bool has_line = series.style != SeriesStyle::kPoints;
  const int step = series.style == SeriesStyle::kDashes ? 2 : 1;
  const PlotPoint* before = nullptr;
  for (const PlotPoint& point : series.points) {
    if (!is_drawable(data, point)) {
      before = nullptr;
      continue;
    }
    if (has_line && before != nullptr) canvas.line(*before, point, symbol, step);
    canvas.put(canvas.column_of(point.x), canvas.row_of(point.y), symbol);
    before = &point;
  }
}

// Letters over labelled points, and what they stand for. Points of one place share a letter.
std::vector<std::string> draw_letters(const PlotData& data, Canvas& canvas) {
  struct Place {
    int column, row;
    std::string texts;
  };
  std::vector<Place> places;
  for (const PlotSeries& series : data.series) {
    for (const PlotPoint& point : series.points) {
      if (point.tag.empty() || !is_drawable(data, point)) continue;
      const int column = canvas.column_of(point.x);
      const int row = canvas.row_of(point.y);
      const auto same = std::find_if(places.begin(), places.end(), [&](const Place& place) {
        return place.column == column && place.row == row;
      });
      const std::string text = series.name + ": " + point.tag;
      if (same != places.end()) {
        same->texts += ", " + text;
      } else if (places.size() < 26) {
        places.push_back({column, row, text});
      }
    }
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const char letter = static_cast<char>('a' + i);
    canvas.put(places[i].column, places[i].row, letter);
    lines.push_back(fmt::format("  {}  {}", letter, places[i].texts));
  }
  return lines;
}

// The ticks' labels, each centred under its tick, those that would touch left out.
std::string x_labels(const AxisView& axis, const Canvas& canvas, int left) {
  std::string line;
  for (const Tick& tick : axis.ticks) {
    const int centre = left + canvas.column_of(tick.value);
    const int begin = std::min(centre - static_cast<int>(tick.label.size()) / 2,
                               kPlotTextWidth - static_cast<int>(tick.label.size()));
    if (begin < 0 || (!line.empty() && begin <= static_cast<int>(line.size()))) continue;
    line.resize(static_cast<std::size_t>(begin), ' ');
    line += tick.label;
  }
  return line;
}

std::string frame(const PlotView& view, const Canvas& canvas, int left) {
  std::string text;
  for (int row = 0; row < kRows; ++row) {
    std::string label;
    for (const Tick& tick : view.y.ticks) {
      if (canvas.row_of(tick.value) == row) label = tick.label;
    }
    std::string line =
        fmt::format("{:>{}} {}{}", label, left - 2, label.empty() ? '|' : '+', canvas.row(row));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  std::string axis(static_cast<std::size_t>(canvas.width()), '-');
  for (const Tick& tick : view.x.ticks) {
    axis[static_cast<std::size_t>(canvas.column_of(tick.value))] = '+';
  }
  text += std::string(static_cast<std::size_t>(left - 1), ' ') + "+" + axis + "\n";
  text += x_labels(view.x, canvas, left) + "\n";
  const int pad =
      std::max(0, left + (canvas.width() - static_cast<int>(utf8_length(view.x.title))) / 2);
  return text + std::string(static_cast<std::size_t>(pad), ' ') + view.x.title + "\n";
}

// Stacks from top to bottom, as they lie.
std::string legend(const PlotData& data, const std::vector<std::string>& letters) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const std::string line = fmt::format("  {}  {}", symbol_of(data, i), data.series[i].name);
    lines.insert(is_stacked(data.series[i]) ? lines.begin() : lines.end(), line);
  }
  lines.insert(lines.end(), letters.begin(), letters.end());
  for (const PlotMark& mark : data.marks) {
    lines.push_back(fmt::format("  {}  {}", mark.of == MarkOf::kX ? '|' : '-', mark.label));
  }
  constexpr std::size_t kIndent = 5;
  std::string text;
  for (const std::string& line : lines) text += wrapped(line, kIndent);
  for (const std::string& note : data.notes) text += wrapped(note, 0);
  return text;
}

}  // namespace

std::string plot_text(const PlotData& data) {
  const PlotView view = view_of(data, kMostXTicks, kMostYTicks);
  std::size_t widest = 0;
  for (const Tick& tick : view.y.ticks) widest = std::max(widest, tick.label.size());
  const int left = static_cast<int>(widest) + 2;
  Canvas canvas(view, kPlotTextWidth - left);
  draw_marks(data, canvas);
  const std::vector<std::vector<StackedPoint>> stacks = stacks_of(data);
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    draw_series(data, i, view, stacks[i], canvas);
  }
  const std::vector<std::string> letters = draw_letters(data, canvas);
  // A limit is seen through what reaches beyond it.
  for (const PlotMark& mark : data.marks) {
    if (mark.of != MarkOf::kY) continue;
    for (int i = 0; i < canvas.width(); i += 2) canvas.put(i, canvas.row_of(mark.at), '-');
  }
  return wrapped(data.title, 0) + wrapped(data.subtitle, 0) + "\n" + wrapped(view.y.title, 0) +
         frame(view, canvas, left) + "\n" + legend(data, letters);
}

}  // namespace flopwise
