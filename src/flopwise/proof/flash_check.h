// Blockwise attention against the formulas of a program's fused attentions.
#pragma once

#include <cstdint>
#include <string>

#include "flopwise/graph/graph.h"
#include "flopwise/proof/ledger.h"
#include "flopwise/proof/prove.h"

namespace flopwise {

// Runs every fused attention of the program block by block, on random queries, keys and values of
// its sizes, in blocks that do not divide them; what the contractions of each pass performed must
// be what the operations of the graph say.
void check_flash(const Program& program, const CostRule& work, std::uint64_t seed, Ledger& ledger,
                 const std::string& where);

}  // namespace flopwise
