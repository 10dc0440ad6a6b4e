// Mixture of experts as it runs: real top-k routing, experts that are really reached.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "flopwise/cost/traffic.h"
#include "flopwise/exec/ops.h"
#include "flopwise/exec/program_run.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"

namespace flopwise::exec {
namespace {

// The k experts of each of `tokens` tokens with scores drawn at random.
std::set<std::int64_t> experts_hit(std::int64_t experts, std::int64_t active, std::int64_t tokens,
                                   std::uint64_t seed) {
  Graph graph;
  const Op op{"route", TopK{"E"}, {}, {}};
  Array<double> scores({
      {"T", tokens },
      {"E", experts}
  });
  for (std::int64_t i = 0; i < scores.size(); ++i) {
    scores[i] = uniform(seed, static_cast<std::uint64_t>(i));
  }
  OpRun<double> run{graph, op, {}, {}};
  run.inputs = {scores};
  run.outputs = {
      Array<double>({{"T", tokens}, {"k", active}}
      ), Array<double>({{"T", tokens}, {"k", active}}
      )
  };
  run_op(run);
  std::set<std::int64_t> hit;
  for (const double expert : run.outputs[1].data()) hit.insert(static_cast<std::int64_t>(expert));
  return hit;
}

// E(1 - (1 - k/E)^n), what the bytes of expert weights are counted by, is the mean over many draws.
TEST(Routing, DistinctExpertsAreAsManyAsExpected) {
  struct Row {
    std::int64_t experts, active, tokens;
  };
  constexpr Row kRows[] = {
      {8,   2, 1 },
      {8,   2, 3 },
      {8,   2, 16},
      {64,  6, 10},
      {128, 8, 30},
      {5,   5, 4 }
  };
  constexpr int kDraws = 4000;
  for (const auto& [experts, active, tokens] : kRows) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const auto hit = static_cast<double>(
          experts_hit(experts, active, tokens, static_cast<std::uint64_t>(i)).size());
      sum += hit;
      squares += hit * hit;
    }
    const double mean = sum / kDraws;
    const double deviation = std::sqrt(std::max(0.0, squares / kDraws - mean * mean) / kDraws);
    const double expected = expected_experts(experts, active, tokens).eval_double({});
    // Five standard errors: one run in two million is wrong by chance, and the draws are fixed.
    EXPECT_NEAR(mean, expected, 5 * deviation + 1e-9) << experts << " " << active << " " << tokens;
  }
}

// Dropless: every token runs through its k experts, whichever they are, and through no other.
TEST(Routing, ExpertsCostWhatTheirTokensDo) {
  const Model model = model_from_letters("D=6,F=5,L=1,V=9,N=2,E=7,k=3");
  WorkloadRequest request;
  request.mode = Mode::kForward;
  request.batch = 2;
  request.seq_len = 4;
  const Program program = build_program(model, resolve(request, model));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ModelState<CountedDouble> state(seed);
    ProgramRun<CountedDouble> run(program, state, ElementBytes{});
    run.forward();
    std::int64_t counted = 0;
    for (const auto& layer : run.layers()) {
      const Graph& graph = program.blocks[layer.block].graph;
      for (std::size_t i = 0; i < graph.ops().size(); ++i) {
        const std::string& name = graph.ops()[i].name;
        const bool is_expert =
            name == "experts.gate" || name == "experts.up" || name == "experts.down";
        if (is_expert) counted += layer.run->tallies()[i].total();
      }
    }
    EXPECT_EQ(counted, 3 * 2 * 3 * 2 * 4 * 6 * 5);  // three matrices, 2*k*B*T*D*F each
  }
}

// Two experts far apart: the token goes where its score is highest, and its output is theirs.
TEST(Routing, TheHighestScoresAreChosen) {
  const std::set<std::int64_t> all = experts_hit(4, 4, 1, 1);
  EXPECT_EQ(all, (std::set<std::int64_t>{0, 1, 2, 3}));
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::int64_t> best;
    double highest = -1;
    for (std::int64_t e = 0; e < 6; ++e) {
      const double score = uniform(seed, static_cast<std::uint64_t>(e));
      if (score <= highest) continue;
      highest = score;
      best = {e};
    }
    EXPECT_EQ(experts_hit(6, 1, 1, seed), best);
  }
}

}  // namespace
}  // namespace flopwise::exec
