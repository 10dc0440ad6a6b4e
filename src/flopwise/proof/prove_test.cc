#include "flopwise/proof/prove.h"

#include <gtest/gtest.h>

#include "flopwise/model/read_model.h"
#include "tests/proof_failures.h"

namespace flopwise {
namespace {

class CatalogProof : public testing::TestWithParam<std::string> {};

TEST_P(CatalogProof, Holds) {
  ProveOptions options;
  options.random_draws = 3;
  options.vary_each_letter = false;
  const Proof proof = prove_model(find_model(GetParam()), options);
  EXPECT_EQ(failures(proof), "");
  EXPECT_TRUE(proof.holds());
  EXPECT_GT(proof.operations, Count(100000));
}

std::vector<std::string> catalog_names() {
  std::vector<std::string> names;
  for (const CatalogModel& model : model_catalog()) names.push_back(model.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, CatalogProof, testing::ValuesIn(catalog_names()));

}  // namespace
}  // namespace flopwise
