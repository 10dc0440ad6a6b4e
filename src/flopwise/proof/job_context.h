// What the parts of a job share: the shrunk model, the ledger, and the comparisons that are made
// after every kind of step.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "flopwise/cost/memory.h"
#include "flopwise/exec/program_run.h"
#include "flopwise/proof/job.h"
#include "flopwise/proof/ledger.h"

namespace flopwise {

using Values = std::map<std::string, exec::Array<exec::CountedDouble>>;  // by parameter

// Weights, activations and caches of three sizes, so that none can stand for another.
ElementTypes proof_element_types();
inline constexpr exec::ElementBytes kProofElementBytes = {
    {2, 4, 1, 4, 1, 4}
};

// The largest magnitude.
double largest(const exec::Array<exec::CountedDouble>& array);
double largest(const Values& values);

class JobContext {
 public:
  JobContext(const Model& model, const ProveOptions& options, Job job);

  Workload workload(Mode mode, std::int64_t queries, std::int64_t keys) const;
  // "flash kernel, WHAT, B=2 D=11 ..."
  std::string where(const std::string& what) const;

  // Of every operation of every layer, and their totals.
  void compare_counts(Mode mode, const Program& program,
                      const exec::ProgramRun<exec::CountedDouble>& run, const std::string& place);
  // Element by element. A difference is relative to the largest of `ours`, or to least_scale where
  // that is more.
  void compare_arrays(const char* name, const exec::Array<exec::CountedDouble>& ours,
                      const exec::Array<exec::CountedDouble>& theirs, double least_scale,
                      const std::string& place);
  // `part`, [B,count,..] or of one position [B,..], against positions `first` ... of `all`,
  // [B,positions,..].
  void compare_positions(const char* name, const exec::Array<exec::CountedDouble>& all,
                         std::int64_t first, std::int64_t count,
                         const exec::Array<exec::CountedDouble>& part, const std::string& place);

  const ProveOptions& options;
  Job job;
  Model model;
  std::uint64_t seed;
  Ledger ledger;
};

}  // namespace flopwise
