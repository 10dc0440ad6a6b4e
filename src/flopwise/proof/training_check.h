// Training steps: counts, memory and gradients under every policy.
#pragma once

#include "flopwise/proof/job_context.h"

namespace flopwise {

void check_training(JobContext& context);

}  // namespace flopwise
