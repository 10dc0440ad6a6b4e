// The proof of one einsum: its steps executed with counting scalars.
#pragma once

#include <string>

#include "flopwise/proof/prove.h"

namespace flopwise {

// Every step of the order that is cheapest with all axes equal against its formula, and the result
// against one loop over all axes. Mesh axes are not executed. UserError as parse_einsum, and for
// more axes than can be run.
Proof prove_einsum(const std::string& expression, const ProveOptions& options);

}  // namespace flopwise
