// A proof as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/proof/prove.h"

namespace flopwise {

// A table per mode and block, one row per operation; the checks; the verdict.
std::string proof_text(const Proof& proof);
// One row per proof.
std::string proofs_text(const std::vector<Proof>& proofs);

// docs/json.md, `prove`.
Json proofs_json(const std::vector<Proof>& proofs);

}  // namespace flopwise
