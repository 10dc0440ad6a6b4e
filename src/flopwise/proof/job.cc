#include "flopwise/proof/job.h"

#include "flopwise/base/error.h"
#include "flopwise/proof/generation_check.h"
#include "flopwise/proof/job_context.h"
#include "flopwise/proof/training_check.h"

namespace flopwise {

Ledger run_job(const Model& model, const ProveOptions& options, const Job& job) {
  JobContext context(model, options, job);
  // A step that misses a tensor is a wrong saved set or cache, which is what is to be found out.
  const auto check = [&](void (*part)(JobContext&)) {
    std::string missing;
    try {
      part(context);
    } catch (const InternalError& error) {
      missing = error.what();
    }
    context.ledger.hold("execution", missing.empty(), missing + ", " + context.where("run"));
  };
  check(check_training);
  check(check_generation);
  return context.ledger;
}

}  // namespace flopwise
