// `flopwise roofline --plot`: every kernel of a step under a chip's roof (Williams, Waterman and
// Patterson 2009).
#pragma once

#include "flopwise/report/plot/plot_data.h"
#include "flopwise/report/roofline.h"

namespace flopwise {

// Against intensity (matrix FLOPs a byte) the FLOP/s that a kernel attains in its least time:
// min(peak, intensity * bandwidth), less where the vector units hold it up. One series a pass, and
// the whole step, one kernel after another. Kernels without matrix work have no place and are named
// in a note with their share of the time. Labelled: the slowest.
PlotData roofline_plot(const RooflineAnswer& answer);

}  // namespace flopwise
