// One draw of sizes with one attention kernel: everything that is executed and compared at them.
#pragma once

#include <vector>

#include "flopwise/proof/ledger.h"
#include "flopwise/proof/prove.h"
#include "flopwise/proof/sizes.h"

namespace flopwise {

struct Job {
  SizeDraw draw;
  AttentionKernel kernel = AttentionKernel::kFlash;
  std::vector<RematPolicy> policies;
  bool counts_only = false;  // memory, gradients and outputs are not compared
};

// Training under every policy; then, of a decoder, a forward pass, a prompt in one piece and in
// two, and tokens after it.
Ledger run_job(const Model& model, const ProveOptions& options, const Job& job);

}  // namespace flopwise
