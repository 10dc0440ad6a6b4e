// A plot for a terminal: ASCII, 80 columns, axes with units, a legend below.
#pragma once

#include <string>

#include "flopwise/report/plot/plot_data.h"

namespace flopwise {

inline constexpr int kPlotTextWidth = 80;

// Each series has a symbol; a point with a tag shows a letter that the legend explains.
std::string plot_text(const PlotData& data);

}  // namespace flopwise
