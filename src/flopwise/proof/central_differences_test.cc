// Whole models, one per kind of block: derived gradients against central differences in double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopwise/exec/ops.h"
#include "flopwise/exec/program_run.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"
#include "flopwise/proof/shrink.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::ElementBytes;
using exec::ModelState;
using exec::ProgramRun;

constexpr std::uint64_t kSeed = 12;
constexpr std::int64_t kElementsOfEach = 3;  // of every parameter tensor

Model altered(const char* name, const std::function<void(Layer&)>& alter) {
  Model model = find_model(name);
  for (std::optional<Stack>* stack : {&model.encoder, &model.decoder}) {
    if (!*stack) continue;
    for (LayerGroup& group : (*stack)->groups) alter(group.layer);
  }
  validate(model);
  return model;
}

struct Case {
  const char* name;
  Model model;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  // Pre-norm with biases and learned positions; rotary, grouped queries and a gate; windows,
  // sandwich norms and soft caps; both routers; norms of queries and keys; an encoder-decoder with
  // relative biases; post-norm.
  for (const char* name : {"gpt2", "llama-3-8b", "gemma-2-27b", "mixtral-8x7b", "qwen3-30b-a3b",
                           "t5-11b", "bert-base"}) {
    list.push_back({name, find_model(name)});
  }
  list.push_back({"parallel", altered("llama-3-8b", [](Layer& layer) {
                    layer.parallel = true;
                    layer.shared_norm = true;
                  })});
  list.push_back({"dropout", altered("gpt2", [](Layer& layer) {
                    layer.dropout = 0.2;
                    layer.attention->dropout = 0.3;
                  })});
  list.push_back({"alibi and chunks", altered("llama-3-8b", [](Layer& layer) {
                    layer.attention->position = PositionKind::kAlibi;
                    layer.attention->rotary_dim = 0;
                    layer.attention->mask = {MaskKind::kChunk, 3};
                  })});
  list.push_back({"prefix", altered("llama-3-8b", [](Layer& layer) {
                    layer.attention->mask = {MaskKind::kPrefix, 3};
                  })});
  list.push_back({"norms after blocks and of each head", altered("llama-3-8b", [](Layer& layer) {
                    layer.placement = NormPlacement::kPostOnly;
                    layer.scaled_residual = true;
                    layer.attention->qk_norm = QkNorm::kEachHead;
                  })});
  list.push_back({"normed residual",
                  altered("gpt2", [](Layer& layer) { layer.placement = NormPlacement::kNormed; })});
  list.push_back({"no norm before attention", altered("bert-base", [](Layer& layer) {
                    layer.placement = NormPlacement::kPre;
                    layer.attention_norm = false;
                  })});
  list.push_back({"shared experts", altered("qwen3-30b-a3b", [](Layer& layer) {
                    auto& moe = std::get<Moe>(layer.feed_forward);
                    moe.shared_d_ff = 10;
                    moe.shared_gate = true;
                    moe.router_bias = true;
                    moe.expert.up_bias = true;
                    moe.expert.down_bias = true;
                  })});
  return list;
}

double largest(const Array<double>& array) {
  double most = 0;
  for (const double number : array.data()) most = std::max(most, std::abs(number));
  return most;
}

void check(const Model& full, AttentionKernel kernel) {
  SizeDraw draw(kSeed, MaskRegime::kShort);
  const Model model = shrink(full, draw);
  WorkloadRequest request;
  request.mode = Mode::kTrain;
  request.batch = 2;
  request.seq_len = draw.of("T");
  request.kernel = kernel;
  const Program program =
      build_training_program(model, resolve(request, model), {RematKind::kNone, {}});
  ModelState<double> state(kSeed);
  ProgramRun<double> run(program, state, ElementBytes{});
  run.forward();
  run.backward();
  double most = 0;
  for (const auto& [key, gradient] : run.gradients()) most = std::max(most, largest(gradient));
  ASSERT_EQ(run.gradients().size(), state.parameters().size());
  for (const auto& [key, gradient] : run.gradients()) {
    // A gradient that is 0 in theory (of a key bias) is rounding only.
    const double scale = std::max(largest(gradient), 1e-4 * most);
    for (std::int64_t n = 0; n < std::min(kElementsOfEach, gradient.size()); ++n) {
      const double pick =
          exec::uniform(exec::derived_seed(kSeed, key), static_cast<std::uint64_t>(n));
      const auto i = static_cast<std::int64_t>(pick * static_cast<double>(gradient.size()));
      constexpr double kStep = 2e-5;
      const auto objective_at = [&](double shift) {
        double& element = state.parameters().at(key)[i];
        const double before = element;
        element += shift;
        ProgramRun<double> moved(program, state, ElementBytes{});
        moved.forward();
        element = before;
        return moved.objective();
      };
      const double central = (objective_at(kStep) - objective_at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(gradient[i], central, 1e-6 * scale) << key << "[" << i << "]";
    }
  }
}

class CentralDifferences : public testing::TestWithParam<std::size_t> {};

TEST_P(CentralDifferences, AreTheDerivedGradients) {
  const Case test = cases().at(GetParam());
  for (const AttentionKernel kernel : {AttentionKernel::kFlash, AttentionKernel::kPlain}) {
    SCOPED_TRACE(fmt::format("{} {}", test.name, kernel == AttentionKernel::kFlash));
    check(test.model, kernel);
  }
}
INSTANTIATE_TEST_SUITE_P(All, CentralDifferences, testing::Range<std::size_t>(0, cases().size()));

}  // namespace
}  // namespace flopwise
