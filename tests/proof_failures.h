// For tests: everything in a proof that does not hold, one line each.
#pragma once

#include <fmt/format.h>

#include <string>

#include "flopwise/proof/prove.h"

namespace flopwise {

inline std::string failures(const Proof& proof) {
  std::string text;
  for (const ProofRow& row : proof.rows) {
    if (!row.mismatch) continue;
    text +=
        fmt::format("{} {} {} {} {}: predicted {} counted {} ({})\n", name_of(row.mode), row.block,
                    name_of(row.pass), row.op, row.formula.str(), row.mismatch->predicted.str(),
                    row.mismatch->counted.str(), row.mismatch->where);
  }
  for (const ProofCheck& check : proof.checks) {
    if (check.failure) text += fmt::format("{}: {}\n", check.name, *check.failure);
  }
  return text;
}

}  // namespace flopwise
