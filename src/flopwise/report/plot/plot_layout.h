// Where labels stand in a picture, so that none covers another, a point or a line.
#pragma once

#include <optional>
#include <vector>

#include "flopwise/report/plot/plot_data.h"
#include "flopwise/report/plot/plot_view.h"

namespace flopwise {

// Pixels; y grows upwards.
struct PixelBox {
  double left = 0;
  double bottom = 0;
  double right = 0;
  double top = 0;

  bool overlaps(const PixelBox& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};

struct PlacedLabel {
  std::string text;
  double x = 0;  // of its left edge, at half its height
  double y = 0;
  double point_x = 0;  // what it belongs to
  double point_y = 0;
  bool needs_leader = false;  // it stands so far off that a line should join the two
  int others = 0;             // points of the same pixel with other tags
};

// What of a PlotData is drawn where: the rectangle between the axes, and the size of a letter.
struct PlotFrame {
  PixelBox area;
  double letter_width = 7;
  double letter_height = 15;
};

// Labels of marks first, then tags of points in order; one that finds no free place is
// left out. Points of one pixel share the label of the first.
struct PlotLabels {
  std::vector<PlacedLabel> of_marks;
  std::vector<PlacedLabel> of_points;
};
PlotLabels place_labels(const PlotData& data, const PlotView& view, const PlotFrame& frame);

}  // namespace flopwise
