// What the runs of a proof report, merged into rows and checks.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "flopwise/proof/prove.h"

namespace flopwise {

// The larger difference; a NaN stays, whatever follows it.
inline double worse_of(double worst, double difference) {
  const bool is_nan = worst != worst;
  return is_nan || difference <= worst ? worst : difference;
}

class Ledger {
 public:
  // One operation of one layer was counted.
  void count(Mode mode, const Block& block, const Op& op, const Work& work, Count predicted,
             Count counted, const std::string& where);
  // A number that must be equal.
  void equal(const char* name, Count predicted, Count measured, const std::string& where);
  // Numbers that must agree to `allowed`, relative to the largest of them.
  void close(const char* name, double difference, double scale, double allowed,
             const std::string& where);
  void hold(const char* name, bool holds, const std::string& where);
  void add_run() { ++runs_; }

  // Takes in another's, whose first counts are shown only where this has none.
  void merge(const Ledger& other);
  void write_to(Proof& proof) const;

 private:
  ProofCheck& check(const char* name);
  ProofRow& row(const ProofRow& like);

  // In order of first appearance.
  std::vector<ProofRow> rows_;
  std::map<std::tuple<Mode, std::string, Pass, std::string, std::string>, std::size_t> places_;
  std::vector<ProofCheck> checks_;
  std::int64_t runs_ = 0;
  Count operations_;
};

}  // namespace flopwise
