#include "flopwise/proof/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>

#include "flopwise/proof/prove_einsum.h"
#include "tests/proof_failures.h"

namespace flopwise {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double worst_of(std::initializer_list<double> differences) {
  double worst = 0;
  for (const double difference : differences) worst = worse_of(worst, difference);
  return worst;
}

// A NaN anywhere is a difference that no later agreement takes back.
TEST(Ledger, ANanStays) {
  EXPECT_EQ(worst_of({1, 3, 2}), 3);
  EXPECT_TRUE(std::isnan(worst_of({0, kNan, 0})));
  EXPECT_TRUE(std::isnan(worst_of({kNan, 5, 0})));
  EXPECT_TRUE(std::isnan(worst_of({5, 0, kNan})));
  Ledger ledger;
  ledger.close("decode", worst_of({0, kNan, 0}), 1, 1e-12, "here");
  Proof proof;
  ledger.write_to(proof);
  EXPECT_FALSE(proof.holds());
}

// Sums that cancel to nearly nothing are as exact as what was added up.
TEST(ProveEinsum, CancellationIsNoDifference) {
  for (const char* expression : {"e,egcdf,g->", "abdf,afe,facde,e->", "fea,abcde,ead->"}) {
    EXPECT_EQ(failures(prove_einsum(expression, ProveOptions())), "") << expression;
  }
}

}  // namespace
}  // namespace flopwise
