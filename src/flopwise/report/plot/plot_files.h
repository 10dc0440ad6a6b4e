// A plot as files of numbers, every digit kept.
#pragma once

#include <string>

#include "flopwise/base/json.h"
#include "flopwise/report/plot/plot_data.h"

namespace flopwise {

// A row a point: style, series, x, y, label. The x and y columns are named by their axes' keys; a
// mark is a row of style "mark" with one of the two empty.
std::string plot_csv(const PlotData& data);

// docs/json.md, "plot".
Json plot_json(const PlotData& data);

}  // namespace flopwise
