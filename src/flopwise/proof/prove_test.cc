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

// Sizes do not make a structure: 7B and 13B are one. Groups of heads do, and so does a tie.
TEST(ProveModels, ProvesEachStructureOnce) {
  ProveOptions options;
  options.random_draws = 1;
  options.vary_each_letter = false;
  std::vector<Model> models;
  for (const char* name : {"llama-2-7b", "llama-2-70b", "llama-2-13b", "llama-3.2-1b"}) {
    models.push_back(find_model(name));
  }
  std::vector<std::string> announced;
  const std::vector<Proof> proofs =
      prove_models(models, options, [&](const std::string& model, std::size_t, std::size_t count) {
        announced.push_back(model);
        EXPECT_EQ(count, 3U);
      });
  using Names = std::vector<std::string>;
  ASSERT_EQ(proofs.size(), 3U);
  EXPECT_EQ(proofs[0].models, (Names{"llama-2-7b", "llama-2-13b"}));
  EXPECT_EQ(proofs[1].models, Names{"llama-2-70b"});
  EXPECT_EQ(proofs[2].models, Names{"llama-3.2-1b"});
  EXPECT_EQ(announced, (Names{"llama-2-7b", "llama-2-70b", "llama-3.2-1b"}));
  // What a shared proof rests on: the other model's own proof is the same, count for count.
  const Proof own = prove_model(models[2], options);
  EXPECT_EQ(own.draws, proofs[0].draws);
  EXPECT_EQ(own.operations, proofs[0].operations);
  EXPECT_EQ(own.comparisons, proofs[0].comparisons);
}

}  // namespace
}  // namespace flopwise
