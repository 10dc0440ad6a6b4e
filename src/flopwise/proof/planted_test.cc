// A proof that cannot fail proves nothing: wrong costs, planted one at a time, must each be
// reported, at the operation that is wrong and at no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "flopwise/model/read_model.h"
#include "flopwise/proof/prove.h"
#include "flopwise/proof/prove_einsum.h"

namespace flopwise {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Work times(const Work& work, const Expr& factor) {
  return {work.op_class, work.flops * factor, work.dense * factor};
}

// The operations at which a proof fails when `plant` replaces the cost of those named `op`.
std::set<std::string> reported(const std::string& model, const std::string& op,
                               const std::function<Work(const Work&)>& plant) {
  ProveOptions options;
  options.random_draws = 3;
  options.vary_each_letter = false;
  options.policies = {
      {RematKind::kNone, {}}
  };
  options.work = [&](const Graph& graph, const Op& at) {
    const Work right = work_of(graph, at);
    return at.name == op ? plant(right) : right;
  };
  const Proof proof = prove_model(find_model(model), options);
  std::set<std::string> names;
  for (const ProofRow& row : proof.rows) {
    if (row.mismatch) names.insert(row.op);
  }
  EXPECT_EQ(proof.holds(), names.empty());
  return names;
}

Expr letter(const char* name) {
  return Expr::symbol(name);
}

TEST(PlantedCosts, NothingIsReportedWhereNothingIsPlanted) {
  EXPECT_THAT(reported("gpt2", "mlp.down", [](const Work& work) { return work; }), IsEmpty());
}

TEST(PlantedCosts, ADroppedFactorOfTwo) {
  EXPECT_THAT(reported("llama-3-8b", "mlp.down",
                       [](const Work& work) { return times(work, Rational::of(1, 2)); }),
              ElementsAre("mlp.down"));
  EXPECT_THAT(reported("llama-3-8b", "attention.q.d_weight",
                       [](const Work& work) { return times(work, Rational::of(1, 2)); }),
              ElementsAre("attention.q.d_weight"));
}

TEST(PlantedCosts, AMissingBias) {
  const auto nothing = [](const Work& work) { return times(work, 0); };
  EXPECT_THAT(reported("gpt2", "mlp.up_bias", nothing), ElementsAre("mlp.up_bias"));
  EXPECT_THAT(reported("gpt2", "attention.q_bias.d_bias", nothing),
              ElementsAre("attention.q_bias.d_bias"));
}

// The keys of a decoding step are those of T new tokens, not of all S.
TEST(PlantedCosts, SForT) {
  const auto s_for_t = [](const Work& work) {
    const Substitution all{
        {"T", letter("S")}
    };
    return Work{work.op_class, work.flops.substitute(all), work.dense.substitute(all)};
  };
  EXPECT_THAT(reported("llama-3-8b", "attention.k", s_for_t), ElementsAre("attention.k"));
}

TEST(PlantedCosts, AMissingMaskTerm) {
  const auto dense = [](const Work& work) { return Work{work.op_class, work.dense, work.dense}; };
  EXPECT_THAT(reported("llama-3-8b", "attention.qk", dense), ElementsAre("attention.qk"));
  // Causal where the layer has a window: half of what is masked is there.
  const auto causal = [](const Work& work) {
    const Expr pairs = live_pairs({MaskKind::kCausal, 0}, letter("T"), letter("S"));
    return Work{work.op_class, 2 * letter("B") * letter("N") * letter("H") * pairs, work.dense};
  };
  EXPECT_THAT(reported("mistral-7b", "attention.av", causal), ElementsAre("attention.av"));
}

TEST(PlantedCosts, EForKAndKForE) {
  EXPECT_THAT(reported("mixtral-8x7b", "experts.gate",
                       [](const Work& work) { return times(work, letter("E") / letter("k")); }),
              ElementsAre("experts.gate"));
  EXPECT_THAT(reported("mixtral-8x7b", "router.scores",
                       [](const Work& work) { return times(work, letter("k") / letter("E")); }),
              ElementsAre("router.scores"));
}

// Heads for key/value heads, one operation too few in a vector function, a backward pass that costs
// no more than its forward.
TEST(PlantedCosts, OthersThatUsersHaveMet) {
  EXPECT_THAT(reported("llama-3-8b", "attention.v",
                       [](const Work& work) { return times(work, letter("N") / letter("K")); }),
              ElementsAre("attention.v"));
  EXPECT_THAT(reported("llama-3-8b", "attention.softmax",
                       [](const Work& work) { return times(work, Rational::of(5, 6)); }),
              ElementsAre("attention.softmax"));
  EXPECT_THAT(
      reported("llama-3-8b", "unembed.d_weight", [](const Work& work) { return times(work, 0); }),
      ElementsAre("unembed.d_weight"));
}

// ---- faults in what is run ---------------------------------------------------------------------

// The checks that fail when every program that is executed is changed by `plant`.
std::set<std::string> failed_checks(const std::string& model,
                                    const std::function<void(Graph&)>& plant) {
  ProveOptions options;
  options.random_draws = 3;
  options.vary_each_letter = false;
  options.policies = {
      {RematKind::kNone, {}}
  };
  options.kernels = {AttentionKernel::kPlain};
  options.plant = [&](Program& program) {
    for (Block& block : program.blocks) plant(block.graph);
  };
  const Proof proof = prove_model(find_model(model), options);
  std::set<std::string> names;
  for (const ProofCheck& check : proof.checks) {
    if (check.failure) names.insert(check.name);
  }
  return names;
}

// The change, made to each operation of a kind.
template <typename Kind, typename Change>
std::function<void(Graph&)> to_each(const Change& change) {
  return [change](Graph& graph) {
    for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
      if (auto* kind = std::get_if<Kind>(&graph.op(id).kind)) change(*kind);
    }
  };
}

TEST(PlantedFaults, NothingIsReportedWhereNothingIsPlanted) {
  EXPECT_THAT(failed_checks("llama-3-8b", [](Graph&) {}), IsEmpty());
}

TEST(PlantedFaults, ATensorThatIsNotSaved) {
  const auto forgets = [](Graph& graph) {
    if (!graph.saved.empty()) graph.saved.pop_back();
  };
  EXPECT_THAT(failed_checks("llama-3-8b", forgets), Contains("execution"));
}

TEST(PlantedFaults, ATensorOfAnotherElementType) {
  const auto widens = [](Graph& graph) {
    for (const TensorId id : graph.saved) {
      Tensor& tensor = graph.tensor(id);
      if (tensor.element == Element::kCompute) tensor.element = Element::kFp32;
    }
  };
  EXPECT_THAT(failed_checks("llama-3-8b", widens),
              ElementsAre("activations.peak_bytes", "activations.saved_bytes"));
}

TEST(PlantedFaults, AGradientThatIsWrong) {
  EXPECT_THAT(failed_checks("gpt2", to_each<SoftmaxBackward>([](SoftmaxBackward& softmax) {
                              if (softmax.scale) softmax.scale = Scale(0.5);
                            })),
              ElementsAre("gradients"));
  // Rotated on instead of back.
  EXPECT_THAT(
      failed_checks("llama-3-8b", to_each<Rotary>([](Rotary& rotary) { rotary.inverse = false; })),
      ElementsAre("gradients"));
}

// The softmax of a router, times 0.
TEST(PlantedFaults, AParameterWithoutAGradient) {
  EXPECT_THAT(failed_checks("mixtral-8x7b", to_each<SoftmaxBackward>([](SoftmaxBackward& softmax) {
                              if (softmax.axis == "k") softmax.scale = Scale(0.0);
                            })),
              Contains("gradients.alive"));
}

TEST(PlantedFaults, AWindowThatIsOneTooWide) {
  const auto widens = [](Graph& graph) {
    for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
      std::optional<Masking>& masking = graph.tensor(id).masking;
      if (masking && masking->mask.kind == MaskKind::kWindow) masking->mask.size += 1;
    }
  };
  EXPECT_THAT(
      failed_checks("mistral-7b", widens),
      AllOf(Contains("kv_cache.bytes_total"), Contains("kv_cache.keys_read"), Contains("flops")));
}

// Tokens that are rotated as if they stood at the start of the sequence.
TEST(PlantedFaults, PositionsThatStartAgain) {
  EXPECT_THAT(failed_checks("llama-3-8b",
                            to_each<Rotary>([](Rotary& rotary) { rotary.first_position = 0; })),
              AllOf(Contains("decode"), Contains("prefill")));
}

TEST(PlantedCosts, AnEinsumThatAddsForNothing) {
  ProveOptions options;
  EXPECT_TRUE(prove_einsum("A[I,J] * B[J,K] -> C[I,K]", options).holds());
  options.work = [](const Graph& graph, const Op& op) {
    return times(work_of(graph, op), Rational::of(1, 2));
  };
  const Proof proof = prove_einsum("A[I,J] * B[J,K] -> C[I,K]", options);
  ASSERT_EQ(proof.rows.size(), 1U);
  EXPECT_TRUE(proof.rows[0].mismatch.has_value());
  EXPECT_FALSE(proof.holds());
}

}  // namespace
}  // namespace flopwise
