// The text of an einsum as it is written, before anything is known about what its axes are for.
// Used by einsum.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "flopwise/graph/einsum.h"

namespace flopwise {

struct EinsumText {
  bool in_brackets = true;  // A[B,D] * W[D,F]; otherwise bd,df
  std::vector<EinsumArray> operands;
  std::optional<EinsumArray> output;   // what follows the arrow
  std::vector<EinsumName> contracted;  // what the `*_D` name
};

// UserError with the column where the text is not the notation, and for an axis or a mesh axis
// twice in one array.
EinsumText read_einsum_text(std::string_view text);

}  // namespace flopwise
