// A model with the structure of another and the sizes of a draw.
#pragma once

#include "flopwise/model/model.h"
#include "flopwise/proof/sizes.h"

namespace flopwise {

// Kept: blocks and their order, norms, biases, activations, ties, masks and their kinds, which
// sizes are equal (heads and key/value heads, widths of experts, windows of layers), whether heads
// are grouped. A block that repeats repeats two or three times. Everything else is as the draw
// says.
Model shrink(const Model& model, SizeDraw& draw);

}  // namespace flopwise
