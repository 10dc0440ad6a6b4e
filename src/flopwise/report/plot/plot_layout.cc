#include "flopwise/report/plot/plot_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

constexpr double kPointRadius = 5;
constexpr double kLeaderFrom = 22;  // pixels

class Layout {
 public:
  Layout(const PlotData& data, const PlotView& view, const PlotFrame& frame)
      : data_(data), view_(view), frame_(frame) {
    for (const PlotSeries& series : data.series) add_obstacles(series);
    for (const std::vector<StackedPoint>& stack : stacks_of(data)) add_stack(stack);
    for (const PlotMark& mark : data.marks) {
      if (mark.of != MarkOf::kX) continue;
      const double x = pixel_x(mark.at);
      taken_.push_back({x - 1, frame.area.bottom, x + 1, frame.area.top});
    }
  }

  PlotLabels place() {
    PlotLabels labels;
    for (const PlotMark& mark : data_.marks) add_mark(mark, labels);
    std::vector<PlacedLabel> wanted;
    for (const PlotSeries& series : data_.series) {
      for (const PlotPoint& point : series.points) {
        if (!point.tag.empty() && is_drawable(data_, point)) want(point, wanted);
      }
    }
    for (PlacedLabel& label : wanted) {
      if (label.others > 0) label.text += fmt::format(" and {} more", label.others);
      if (try_around(label)) labels.of_points.push_back(label);
    }
    return labels;
  }

 private:
  double pixel_x(double x) const {
    return frame_.area.left + view_.x.place(x) * (frame_.area.right - frame_.area.left);
  }
  double pixel_y(double y) const {
    return frame_.area.bottom + view_.y.place(y) * (frame_.area.top - frame_.area.bottom);
  }
  PixelBox box_of(const PlacedLabel& label) const {
    const double width = static_cast<double>(utf8_length(label.text)) * frame_.letter_width;
    const double half = frame_.letter_height / 2;
    return {label.x, label.y - half, label.x + width, label.y + half};
  }
  bool is_free(const PixelBox& box) const {
    const bool inside = box.left >= frame_.area.left && box.right <= frame_.area.right &&
                        box.bottom >= frame_.area.bottom && box.top <= frame_.area.top;
    return inside && std::none_of(taken_.begin(), taken_.end(),
                                  [&](const PixelBox& other) { return box.overlaps(other); });
  }
  bool take_if_free(const PlacedLabel& label) {
    const PixelBox box = box_of(label);
    if (!is_free(box)) return false;
    taken_.push_back(box);
    return true;
  }

  // Points, and lines in short pieces.
  void add_obstacles(const PlotSeries& series) {
    const PlotPoint* before = nullptr;
    for (const PlotPoint& point : series.points) {
      if (is_stacked(series) || !is_drawable(data_, point)) {
        before = nullptr;
        continue;
      }
      add_dot(pixel_x(point.x), pixel_y(point.y), kPointRadius);
      if (before != nullptr && series.style != SeriesStyle::kPoints) add_line(*before, point);
      before = &point;
    }
  }
  // Its points stand for what lies between them; areas start low, so that is room enough.
  void add_stack(const std::vector<StackedPoint>& stack) {
    for (const StackedPoint& point : stack) {
      const BarSides sides = bar_around(data_, point.x);
      taken_.push_back(
          {pixel_x(sides.low), pixel_y(point.low), pixel_x(sides.high), pixel_y(point.high)});
    }
  }
  void add_dot(double x, double y, double radius) {
    taken_.push_back({x - radius, y - radius, x + radius, y + radius});
  }
  void add_line(const PlotPoint& from, const PlotPoint& to) {
    constexpr double kPiece = 6;
    const double x0 = pixel_x(from.x), y0 = pixel_y(from.y);
    const double dx = pixel_x(to.x) - x0, dy = pixel_y(to.y) - y0;
    const double pieces = std::ceil(std::hypot(dx, dy) / kPiece);
    for (double i = 0; i <= pieces; ++i) add_dot(x0 + dx * i / pieces, y0 + dy * i / pieces, 2);
  }

  // Beside a vertical line from the top down, above or below a horizontal one.
  void add_mark(const PlotMark& mark, PlotLabels& labels) {
    PlacedLabel label;
    label.text = mark.label;
    const double width = static_cast<double>(utf8_length(mark.label)) * frame_.letter_width;
    const double height = frame_.letter_height;
    if (mark.of == MarkOf::kX) {
      for (double y = frame_.area.top - height; y > frame_.area.bottom; y -= height) {
        for (const double x : {pixel_x(mark.at) + 6, pixel_x(mark.at) - 6 - width}) {
          label.x = x;
          label.y = y;
          if (take_if_free(label)) return labels.of_marks.push_back(label);
        }
      }
      // Over whatever is there: a mark has to have a name.
      const bool is_left = pixel_x(mark.at) + 6 + width < frame_.area.right;
      label.x = pixel_x(mark.at) + (is_left ? 6 : -6 - width);
      label.y = frame_.area.top - height * static_cast<double>(1 + labels.of_marks.size());
      labels.of_marks.push_back(label);
      return;
    }
    for (const double side : {1.0, -1.0}) {
      label.y = pixel_y(mark.at) + side * height * 0.7;
      for (double x = frame_.area.left + 8; x + width < frame_.area.right; x += 12) {
        label.x = x;
        if (take_if_free(label)) return labels.of_marks.push_back(label);
      }
    }
    label.x = frame_.area.right - width - 8;
    label.y = pixel_y(mark.at) + height * 0.7;
    labels.of_marks.push_back(label);
  }

  void want(const PlotPoint& point, std::vector<PlacedLabel>& wanted) const {
    const double x = pixel_x(point.x);
    const double y = pixel_y(point.y);
    for (PlacedLabel& other : wanted) {
      if (std::hypot(other.point_x - x, other.point_y - y) > 3) continue;
      if (other.text != point.tag) ++other.others;
      return;
    }
    wanted.push_back({point.tag, 0, 0, x, y, false, 0});
  }

  // Nearest free place: rings of growing distance, on each first the right, then left, below,
  // above.
  bool try_around(PlacedLabel& label) {
    const double width = static_cast<double>(utf8_length(label.text)) * frame_.letter_width;
    for (double distance = 9; distance < 230; distance += 9) {
      for (const double angle :
           {-0.5, 0.5, -0.9, 0.9, 0.0, -1.4, 1.4, -1.75, 1.75, -2.3, 2.3, -2.7, 2.7, 3.14}) {
        const double dx = distance * std::cos(angle);
        const double dy = distance * std::sin(angle);
        const bool is_beside = std::abs(dx) > 0.5 * distance;
        label.x = label.point_x + (is_beside ? dx - (dx < 0 ? width : 0) : -width / 2);
        const double most = frame_.area.right - width - 2;
        label.x = std::max(std::min(label.x, most), frame_.area.left + 2);
        label.y = label.point_y + dy;
        if (!take_if_free(label)) continue;
        label.needs_leader = distance > kLeaderFrom;
        return true;
      }
    }
    return false;
  }

  const PlotData& data_;
  const PlotView& view_;
  const PlotFrame& frame_;
  std::vector<PixelBox> taken_;
};

}  // namespace

PlotLabels place_labels(const PlotData& data, const PlotView& view, const PlotFrame& frame) {
  return Layout(data, view, frame).place();
}

}  // namespace flopwise
