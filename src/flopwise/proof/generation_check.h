// Forward passes, prompts and tokens after them: counts, outputs and caches.
#pragma once

#include "flopwise/proof/job_context.h"

namespace flopwise {

void check_generation(JobContext& context);

}  // namespace flopwise
