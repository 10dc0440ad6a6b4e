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

// One of each structure, under the sanitizers; the program proves the whole catalog (tree.prove).
INSTANTIATE_TEST_SUITE_P(Structures, CatalogProof,
                         testing::Values("gpt2", "llama-3-8b", "mistral-7b", "gemma-2-27b",
                                         "qwen3-30b-a3b", "t5-11b", "bert-base"));

}  // namespace
}  // namespace flopwise
