#include "flopwise/proof/prove.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

// Everything that does not hold, one line each.
std::string failures(const Proof& proof) {
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
