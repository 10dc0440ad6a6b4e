// Parts of a decoder that families which list their layers read like the others.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

// The width of a dense feed-forward.
std::int64_t read_d_ff(Config& config);
// The experts that the row describes; `mlp` is one of them but for its width.
Moe read_moe(Config& config, const Mlp& mlp);

}  // namespace flopwise
