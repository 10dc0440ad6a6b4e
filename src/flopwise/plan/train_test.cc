#include "flopwise/plan/train.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <sstream>

#include "flopwise/base/error.h"
#include "flopwise/cost/params.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"
#include "flopwise/plan/search.h"

namespace flopwise {
namespace {

// 2 layers of D = 64, N = 8, K = 4, H = 8, F = 192, V = 96, no norms to speak of.
constexpr char kDense[] = "D=64,L=4,V=96,N=8,K=4,F=192,gated=1";
constexpr char kMoe[] = "D=64,L=4,V=96,N=8,K=4,F=192,gated=1,E=8,k=2";
constexpr double kLayer = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 192;  // matrices of one layer
constexpr double kNorms = 4 * 2 * 64 + 64;
constexpr double kParameters = 4 * kLayer + kNorms + 2 * 96 * 64;

Model model_of(const std::string& text) {
  std::istringstream none;
  return read_model(text, none);
}

TrainRequest request_of(std::int64_t devices, std::int64_t batch, std::int64_t seq_len = 32) {
  TrainRequest request;
  request.hardware = find_hardware("h100");
  request.devices = devices;
  request.batch = batch;
  request.seq_len = seq_len;
  return request;
}

TrainEstimate estimate_of(const char* model, std::int64_t batch, const char* mesh,
                          TrainPlan plan = {}) {
  plan.mesh = parse_parallelism(mesh);
  const Trainer trainer(model_of(model), request_of(plan.mesh.devices(), batch));
  const auto rule = trainer.broken_rule(plan);
  EXPECT_FALSE(rule.has_value()) << (rule ? trainer.explain(plan, *rule) : "");
  return trainer.estimate(plan);
}

double wire(const TrainEstimate& estimate, ParallelAxis axis) {
  return estimate.wire_bytes[static_cast<std::size_t>(axis)];
}

TEST(Train, OneDeviceHoldsEverything) {
  const TrainEstimate one = estimate_of(kDense, 4, "dp=1");
  EXPECT_EQ(one.memory.parameters, 2 * kParameters);
  EXPECT_EQ(one.memory.gradients, 4 * kParameters);
  EXPECT_EQ(one.memory.optimizer, 12 * kParameters);
  EXPECT_EQ(one.micro_batches, 4);
  for (const ParallelAxis axis : kParallelAxes) EXPECT_EQ(wire(one, axis), 0);
  EXPECT_EQ(one.bubble_fraction, 0);
  EXPECT_EQ(one.exposed_communication_s, 0);
}

TEST(Train, DpReducesEveryGradientOnce) {
  const TrainEstimate four = estimate_of(kDense, 8, "dp=4");
  EXPECT_EQ(wire(four, ParallelAxis::kDp), 2 * 4 * kParameters * 3 / 4);
  EXPECT_EQ(four.memory.parameters, 2 * kParameters);
  EXPECT_EQ(four.micro_batches, 2);
}

// Products in fp8, twice the peak of bf16, and attention as before; bytes stay.
TEST(Train, ProductsInATypeOfTheirOwn) {
  TrainRequest request = request_of(1, 4, 4096);
  TrainPlan plan;
  const TrainEstimate bf16 = Trainer(model_of(kDense), request).estimate(plan);
  request.matmul_dtype = "fp8";
  const TrainEstimate fp8 = Trainer(model_of(kDense), request).estimate(plan);
  const double times = peak_flops_per_s(request.hardware, "fp8").to_double() /
                       peak_flops_per_s(request.hardware, "bf16").to_double();
  EXPECT_GT(times, 1.9);
  EXPECT_DOUBLE_EQ(fp8.bound.matrix_s, bf16.bound.matrix_s / times);
  EXPECT_EQ(fp8.bound.memory_s, bf16.bound.memory_s);
  EXPECT_EQ(fp8.memory.total(), bf16.memory.total());
  request.flash = FlashGeneration::k3;
  const TrainEstimate flash3 = Trainer(model_of(kDense), request).estimate(plan);
  EXPECT_LT(flash3.step_time_s.expected, fp8.step_time_s.expected);
  EXPECT_EQ(flash3.step_time_s.lower, fp8.step_time_s.lower);
}

// A recipe that counts no gradients in memory sends them all the same, in bf16.
TEST(Train, GradientsTravelWhereNoneAreKept) {
  TrainRequest request = request_of(4, 8);
  request.recipe = parse_recipe("book");
  TrainPlan plan;
  plan.mesh = parse_parallelism("dp=4");
  const TrainEstimate four = Trainer(model_of(kDense), request).estimate(plan);
  EXPECT_EQ(four.memory.gradients, 0);
  EXPECT_EQ(wire(four, ParallelAxis::kDp), 2 * 2 * kParameters * 3 / 4);
}

TEST(Train, ZeroShardsStatesOverDp) {
  TrainPlan plan;
  plan.zero = 1;
  EXPECT_EQ(estimate_of(kDense, 4, "dp=4", plan).memory.optimizer, 12 * kParameters / 4);
  EXPECT_EQ(estimate_of(kDense, 4, "dp=4", plan).memory.gradients, 4 * kParameters);
  plan.zero = 2;
  EXPECT_EQ(estimate_of(kDense, 4, "dp=4", plan).memory.gradients, 4 * kParameters / 4);
}

// Gradients in shards are scattered after each micro-batch: of one alone, and the gather of the new
// parameters, as many bytes as an all-reduce.
TEST(Train, ZeroTwoScattersEveryMicroBatch) {
  TrainPlan plan;
  plan.zero = 2;
  const double scatter = 4 * kParameters * 3 / 4;
  EXPECT_EQ(wire(estimate_of(kDense, 4, "dp=4", plan), ParallelAxis::kDp), 2 * scatter);
  EXPECT_EQ(wire(estimate_of(kDense, 32, "dp=4", plan), ParallelAxis::kDp), 9 * scatter);
  plan.zero = 1;
  EXPECT_EQ(wire(estimate_of(kDense, 32, "dp=4", plan), ParallelAxis::kDp), 2 * scatter);
}

// The last of pp devices keeps ((v-1)*pp + 1)/v micro-batches of its layers, the first pp +
// (pp-1)/v.
TEST(Train, InterleavedStagesKeepMore) {
  const char* eight = "D=64,L=8,V=4096,N=8,K=4,F=192,gated=1";
  TrainPlan plan;
  plan.remat = parse_remat("block");
  plan.interleave = 2;
  const double input = 32 * 64 * 2;
  const TrainEstimate estimate = estimate_of(eight, 8, "pp=4", plan);
  // The head: its input, the norm of it, logits in bf16; a target and a log-sum-exp for each row.
  const double head = 2 * input + 32 * 4096 * 2 + 32 * (4 + 4);
  EXPECT_EQ(estimate.memory.activations, 2 * input * 2.5 + head);
}

// Between stages on two nodes each of 8 tp devices sends its eighth of the residual stream, whether
// it holds the rest or not: forward, back, for 4 micro-batches and the one that fills the pipeline.
TEST(Train, StagesSendAShareOfTheStreamOverTheNetwork) {
  TrainPlan plan;
  plan.mesh = parse_parallelism("tp=8,pp=2");
  TrainRequest slow = request_of(16, 4);
  TrainRequest fast = slow;
  fast.hardware.network_bytes_per_s = Rational(2) * *slow.hardware.network_bytes_per_s;
  const double rate = slow.hardware.network_bytes_per_s->to_double();
  const double fraction = efficiency_of(slow.hardware).network_fraction;
  const double eighth = 32 * 64 * 2 / 8;
  for (const bool sequence_parallel : {false, true}) {
    plan.sequence_parallel = sequence_parallel;
    const double slow_s = Trainer(model_of(kDense), slow).estimate(plan).step_time_s.expected;
    const double fast_s = Trainer(model_of(kDense), fast).estimate(plan).step_time_s.expected;
    const double saved = 2 * (4 + 1) * eighth / fraction * (1 / rate - 1 / (2 * rate));
    EXPECT_NEAR(slow_s - fast_s, saved, 1e-3 * saved);
  }
}

// 2 gathers of every parameter in bf16 and one scatter of its fp32 gradient, each micro-batch; an
// embedding is looked up in the gathered table and not gathered again for its backward.
TEST(Train, FsdpMovesEveryParameterThrice) {
  const TrainEstimate four = estimate_of(kDense, 8, "fsdp=4");
  const double twice = kParameters - 96 * 64;
  EXPECT_EQ(wire(four, ParallelAxis::kFsdp),
            2 * (2 * twice + 2 * twice + 2 * 96 * 64 + 4 * kParameters) * 3 / 4);
  EXPECT_EQ(four.memory.parameters, 2 * kParameters / 4);
  EXPECT_EQ(four.memory.optimizer, 12 * kParameters / 4);
}

// Per layer and micro-batch 4 all-reduces of the residual stream; the embedding's, the head's, and
// 3 fp32 numbers a row for the loss.
TEST(Train, TpReducesTheStream) {
  const TrainEstimate four = estimate_of(kDense, 2, "tp=4");
  const double stream = 32 * 64 * 2;
  EXPECT_EQ(wire(four, ParallelAxis::kTp),
            2 * (4 * 4 + 2) * 2 * stream * 3 / 4 + 2 * 2 * (3 * 32 * 4) * 3 / 4.0);
}

// Narayanan et al. 2021: (p-1)/m of the ideal time is idle, (p-1)/(v*m) when interleaved.
TEST(Train, PipelineBubble) {
  const TrainEstimate four = estimate_of(kDense, 8, "pp=4");
  EXPECT_DOUBLE_EQ(four.bubble_fraction, 3.0 / 11);
  TrainPlan plan;
  plan.interleave = 2;
  EXPECT_DOUBLE_EQ(estimate_of(kDense, 8, "pp=2", plan).bubble_fraction, 0.5 / 8.5);
  // One layer a stage; the embedding beside on the first, where four micro-batches wait.
  EXPECT_EQ(four.memory.parameters, 2 * (kLayer + 2 * 64 + 96 * 64));
}

TEST(Train, UnevenStages) {
  const char* five = "D=64,L=5,V=96,N=8,K=4,F=192,gated=1";
  // Of 5 layers on 4 stages the longest has 2.
  EXPECT_GE(estimate_of(five, 8, "pp=4").memory.parameters, 2 * 2 * kLayer);
  EXPECT_LT(estimate_of(five, 8, "pp=4").memory.parameters, 2 * 3 * kLayer);
}

// Qi et al. 2023: with gradients of weights put off a pipeline idles (p-1)(F+B-W), under H2
// (p-1)(F+B-2W), which is nothing where all three take as long; H1 keeps the memory of 1F1B.
TEST(Train, ZeroBubble) {
  TrainPlan plan;
  const TrainEstimate plain = estimate_of(kDense, 8, "pp=4", plan);
  plan.schedule = PipelineSchedule::kZeroBubbleH1;
  const TrainEstimate h1 = estimate_of(kDense, 8, "pp=4", plan);
  plan.schedule = PipelineSchedule::kZeroBubbleH2;
  const TrainEstimate h2 = estimate_of(kDense, 8, "pp=4", plan);
  EXPECT_LT(h1.bubble_fraction, plain.bubble_fraction);
  EXPECT_LT(h2.bubble_fraction, h1.bubble_fraction);
  EXPECT_LT(h1.step_time_s.expected, plain.step_time_s.expected);
  EXPECT_LE(h1.step_time_s.lower, plain.step_time_s.lower);
  EXPECT_EQ(h1.memory.total(), plain.memory.total());
  EXPECT_GT(h2.memory.activations, plain.memory.activations);
  EXPECT_EQ(h1.wire_bytes, plain.wire_bytes);
  // Without attention and vocabulary to speak of F = B = W: gaps of a third, and none.
  const auto flops_bubble = [](const TrainEstimate& e) { return e.bound.matrix_s; };
  const char* wide = "D=4096,L=4,V=8,N=32,K=32,F=16384,gated=1";
  TrainPlan large;
  const auto matrix_s = [&](PipelineSchedule schedule) {
    large.schedule = schedule;
    return flops_bubble(estimate_of(wide, 8, "pp=4", large));
  };
  const double all = matrix_s(PipelineSchedule::k1F1B);
  EXPECT_NEAR(matrix_s(PipelineSchedule::kZeroBubbleH1) / all, (8 + 3 / 3.0) / 11, 1e-3);
  EXPECT_NEAR(matrix_s(PipelineSchedule::kZeroBubbleH2) / all, 8 / 11.0, 1e-3);
}

// Positions fill what is left of a stage: the schedule wants whole stages.
TEST(Train, ZeroBubbleIsNotInterleaved) {
  const Trainer trainer(model_of(kDense), request_of(2, 8));
  TrainPlan plan;
  plan.mesh = parse_parallelism("pp=2");
  plan.interleave = 2;
  EXPECT_FALSE(trainer.broken_rule(plan).has_value());
  plan.schedule = PipelineSchedule::kZeroBubbleH1;
  ASSERT_EQ(trainer.broken_rule(plan), PlanRule::kInterleave);
  EXPECT_EQ(trainer.explain(plan, PlanRule::kInterleave),
            "interleave 2: expected 1 with schedule zb-h1");
}

// Of 61 stages the last of DeepSeek-V3 holds one layer with experts and the head; the first a dense
// one, smaller than either.
TEST(Train, LayersOfSeveralKindsInOrder) {
  const Trainer trainer(model_of("deepseek-v3"), request_of(61, 64));
  TrainPlan plan;
  plan.mesh = parse_parallelism("pp=61");
  const double attention =
      7168 * 1536 + 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 + 512 * 128 * 256 + 128 * 128 * 7168;
  const double experts = 257 * 3.0 * 7168 * 2048 + 256 * 7168 + 256;
  const double head = 129280.0 * 7168 + 7168;
  EXPECT_EQ(trainer.estimate(plan).memory.parameters, 2 * (attention + experts + 2 * 7168 + head));
}

// 97 rows on 4 devices of tp are 100.
TEST(Train, VocabularyIsFilledUp) {
  const char* odd = "D=64,L=4,V=97,N=8,K=4,F=192,gated=1";
  const char* even = "D=64,L=4,V=100,N=8,K=4,F=192,gated=1";
  const TrainEstimate filled = estimate_of(odd, 4, "tp=4");
  const TrainEstimate whole = estimate_of(even, 4, "tp=4");
  EXPECT_EQ(filled.memory.total(), whole.memory.total());
  EXPECT_EQ(filled.hardware_flops, whole.hardware_flops);
  EXPECT_EQ(filled.wire_bytes, whole.wire_bytes);
  TrainPlan plan;
  plan.mesh = parse_parallelism("tp=4");
  const Trainer trainer(model_of(odd), request_of(4, 4));
  ASSERT_TRUE(trainer.padding(plan).has_value());
  EXPECT_EQ(trainer.padding(plan)->rows, 97);
  EXPECT_EQ(trainer.padding(plan)->padded_rows, 100);
  plan.mesh = parse_parallelism("dp=4");
  EXPECT_FALSE(trainer.padding(plan).has_value());
}

// Parameters that all repeats share (ALBERT's) are held, and their gradients reduced, once.
TEST(Train, OneSetForAllRepeats) {
  Model model = model_of(kDense);
  model.decoder->groups[0].one_set = true;
  TrainPlan plan;
  plan.mesh = parse_parallelism("dp=2");
  const TrainEstimate two = Trainer(model, request_of(2, 4)).estimate(plan);
  const double parameters = kLayer + 2 * 64 + 64 + 2 * 96 * 64;
  EXPECT_EQ(two.memory.parameters, 2 * parameters);
  EXPECT_EQ(wire(two, ParallelAxis::kDp), 2 * 4 * parameters / 2);
}

// On one device every architecture holds the parameters that count says it has.
TEST(Train, OneDeviceHoldsEveryArchitectureOnce) {
  std::set<std::string> families;
  for (const CatalogModel& row : model_catalog()) {
    const Model model = read_catalog_row(row);
    if (!families.insert(model.family).second) continue;
    const Trainer trainer(model, request_of(1, 1, 16));
    const Program program = build_training_program(model, trainer.workload(), {});
    EXPECT_EQ(trainer.estimate({}).memory.parameters, 2 * params_of(program).total.to_double())
        << model.name;
  }
}

// A tied matrix is one parameter on one device, and one at either end of a pipeline.
TEST(Train, TiedMatrixAtBothEnds) {
  const char* tied = "D=64,L=4,V=96,N=8,K=4,F=192,gated=1,tied=1";
  EXPECT_EQ(estimate_of(tied, 4, "dp=1").memory.parameters, 2 * (kParameters - 96 * 64));
  EXPECT_EQ(estimate_of(tied, 4, "pp=4").memory.parameters,
            estimate_of(kDense, 4, "pp=4").memory.parameters);
}

TEST(Train, ExpertsAreSplit) {
  const double experts = 4.0 * 8 * 3 * 64 * 192;
  const TrainEstimate one = estimate_of(kMoe, 8, "dp=4");
  const TrainEstimate split = estimate_of(kMoe, 8, "ep=4");
  EXPECT_EQ(one.memory.parameters - split.memory.parameters, 2 * experts * 3 / 4);
  EXPECT_GT(wire(split, ParallelAxis::kEp), 0);
}

TEST(Train, WorkIsConserved) {
  const double one = estimate_of(kDense, 16, "dp=1").hardware_flops;
  for (const char* mesh : {"dp=4", "fsdp=4", "tp=4", "cp=4", "pp=4", "dp=2,tp=2,pp=2,cp=2"}) {
    EXPECT_NEAR(estimate_of(kDense, 16, mesh).hardware_flops, one, 1e-9 * one) << mesh;
  }
}

TEST(Train, RulesSayWhatIsWrong) {
  const Trainer trainer(model_of(kDense), request_of(8, 8));
  const auto explained = [&](const char* mesh, TrainPlan plan = {}) {
    plan.mesh = parse_parallelism(mesh);
    const auto rule = trainer.broken_rule(plan);
    return rule ? std::string(name_of(*rule)) + ": " + trainer.explain(plan, *rule) : "none";
  };
  EXPECT_EQ(explained("dp=8"), "none");
  EXPECT_EQ(explained("dp=4"), "devices: mesh dp=4 has 4 devices, expected the 8 of --on");
  EXPECT_EQ(explained("ep=8"), "experts: ep=8: the model has no experts, expected ep=1");
  EXPECT_EQ(explained("pp=8"), "layers: pp*interleave = 8 stages, expected at most the 4 layers");
  TrainPlan plan;
  plan.micro_batch = 3;
  EXPECT_EQ(explained("dp=8", plan),
            "batch: 8 sequences, expected a multiple of dp*fsdp*ep*micro-batch = 24");
  plan = {};
  plan.zero = 1;
  EXPECT_EQ(explained("tp=8", plan), "zero: zero 1 shards over dp, expected dp > 1");
  const Trainer odd(model_of("D=60,L=4,V=96,N=6,K=2,F=180"), request_of(4, 8));
  plan = {};
  plan.mesh = parse_parallelism("tp=4");
  ASSERT_TRUE(odd.broken_rule(plan).has_value());
  EXPECT_EQ(odd.explain(plan, *odd.broken_rule(plan)),
            "N = 6 (block layer), expected a multiple of 4");
}

RC_GTEST_PROP(Train, TimesAreInOrder, ()) {
  const bool moe = *rc::gen::arbitrary<bool>();
  const std::int64_t devices = *rc::gen::element(1, 2, 4, 8, 16);
  const Trainer trainer(model_of(moe ? kMoe : kDense), request_of(devices, 32));
  const std::vector<Parallelism> meshes = factorisations(devices, moe);
  TrainPlan plan;
  plan.mesh = *rc::gen::elementOf(meshes);
  plan.micro_batch = *rc::gen::element(1, 2, 4);
  plan.remat = parse_remat(*rc::gen::element<std::string>("none", "attention", "full"));
  plan.sequence_parallel = *rc::gen::arbitrary<bool>();
  plan.interleave = *rc::gen::element(1, 2);
  plan.zero = *rc::gen::inRange(0, 3);
  if (trainer.broken_rule(plan)) return;
  const TrainEstimate estimate = trainer.estimate(plan);
  RC_ASSERT(estimate.step_time_s.lower <= estimate.step_time_s.expected);
  RC_ASSERT(estimate.step_time_s.expected <= estimate.step_time_s.upper * (1 + 1e-12));
  RC_ASSERT(estimate.exposed_communication_s >= 0);
  RC_ASSERT(estimate.memory.total() > 0);
}

// ---- the search ----

TrainSearch search(const Trainer& trainer, const TrainSpace& space, PlanGoal goal, std::size_t top,
                   int threads, bool prune = true) {
  SearchOptions options;
  options.goal = goal;
  options.top = top;
  options.threads = threads;
  options.prune = prune;
  return search_plans(trainer, space, options);
}

TEST(Search, CountsEveryPlanOnce) {
  const Trainer trainer(model_of(kMoe), request_of(8, 16));
  const TrainSpace space = TrainSpace::of(8, true);
  const TrainSearch found = search(trainer, space, PlanGoal::kTime, 3, 2);
  EXPECT_EQ(found.evaluated + found.rejections(), space.size());
  EXPECT_GT(found.evaluated, 0);
  ASSERT_EQ(found.best.size(), 3U);
}

// The answer of a pruned search is that of an unpruned one.
TEST(Search, PrunesNothingOfTheAnswer) {
  for (const char* text : {kDense, kMoe}) {
    TrainRequest request = request_of(16, 32);
    request.hardware = read_hardware("h100,memory=2000000").hardware;
    const Trainer trainer(model_of(text), request);
    const TrainSpace space = TrainSpace::of(16, text == kMoe);
    for (const PlanGoal goal : {PlanGoal::kTime, PlanGoal::kMemory}) {
      const TrainSearch pruned = search(trainer, space, goal, 5, 2);
      const TrainSearch whole = search(trainer, space, goal, 5, 2, false);
      EXPECT_GT(pruned.pruned, 0);
      EXPECT_EQ(whole.pruned, 0);
      EXPECT_LT(pruned.evaluated, whole.evaluated);
      EXPECT_EQ(pruned.evaluated + pruned.rejections() + pruned.pruned, space.size());
      EXPECT_EQ(whole.evaluated + whole.rejections(), space.size());
      ASSERT_FALSE(whole.best.empty());
      const auto plans = [](const std::vector<TrainEstimate>& estimates) {
        std::vector<std::string> texts;
        for (const TrainEstimate& each : estimates) texts.push_back(describe(each.plan));
        return texts;
      };
      EXPECT_EQ(plans(pruned.best), plans(whole.best));
      EXPECT_EQ(plans(pruned.pareto), plans(whole.pareto));
    }
  }
}

// Where nothing fits, the plan that lacks least is looked for among all.
TEST(Search, PrunesNothingWhereNothingFits) {
  TrainRequest request = request_of(8, 16);
  request.hardware = read_hardware("h100,memory=1000").hardware;
  const Trainer trainer(model_of(kDense), request);
  const TrainSpace space = TrainSpace::of(8, false);
  const TrainSearch found = search(trainer, space, PlanGoal::kTime, 1, 2);
  EXPECT_TRUE(found.best.empty());
  EXPECT_EQ(found.pruned, 0);
  EXPECT_EQ(found.too_large, found.evaluated);
  ASSERT_TRUE(found.smallest.has_value());
}

TEST(Search, TellsHowFarItIs) {
  const Trainer trainer(model_of(kDense), request_of(16, 32));
  SearchOptions options;
  double last = 0;
  options.threads = 1;
  options.progress = [&](double share) {
    EXPECT_GT(share, last);
    last = share;
  };
  search_plans(trainer, TrainSpace::of(16, false), options);
  EXPECT_EQ(last, 1);
}

// The numbers of a plan found are those of the plan by itself, to the last bit; and no plan of the
// space is better than the best.
TEST(Search, FindsTheBestOfAll) {
  const Trainer trainer(model_of(kDense), request_of(8, 16));
  const TrainSpace space = TrainSpace::of(8, false);
  const TrainSearch found = search(trainer, space, PlanGoal::kTime, 5, 2);
  std::int64_t evaluated = 0;
  double fastest = 1e9;
  for (const Parallelism& mesh : space.meshes) {
    for (const std::int64_t micro_batch : space.micro_batches) {
      for (const RematPolicy& remat : space.remats) {
        for (const int zero : space.zeros) {
          for (const std::int64_t interleave : space.interleaves) {
            for (const bool sequence : space.sequence_parallel) {
              const TrainPlan plan{mesh, micro_batch, remat, zero, interleave, sequence};
              if (trainer.broken_rule(plan)) continue;
              ++evaluated;
              fastest = std::min(fastest, trainer.estimate(plan).step_time_s.expected);
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(found.evaluated, evaluated);
  EXPECT_EQ(found.best.front().step_time_s.expected, fastest);
  for (const TrainEstimate& each : found.best) {
    const TrainEstimate again = trainer.estimate(each.plan);
    EXPECT_EQ(again.step_time_s.expected, each.step_time_s.expected);
    EXPECT_EQ(again.step_time_s.lower, each.step_time_s.lower);
    EXPECT_EQ(again.memory.total(), each.memory.total());
    EXPECT_EQ(again.wire_bytes, each.wire_bytes);
  }
}

TEST(Search, DoesNotDependOnThreads) {
  const Trainer trainer(model_of(kDense), request_of(16, 32));
  const TrainSpace space = TrainSpace::of(16, false);
  const TrainSearch one = search(trainer, space, PlanGoal::kMemory, 4, 1);
  const TrainSearch three = search(trainer, space, PlanGoal::kMemory, 4, 3);
  ASSERT_EQ(one.best.size(), three.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) {
    EXPECT_EQ(describe(one.best[i].plan), describe(three.best[i].plan));
  }
  EXPECT_EQ(one.pareto.size(), three.pareto.size());
}

TEST(Search, ParetoHasNoDominatedPlan) {
  const Trainer trainer(model_of(kDense), request_of(16, 32));
  const TrainSearch found = search(trainer, TrainSpace::of(16, false), PlanGoal::kTime, 1, 2);
  ASSERT_GT(found.pareto.size(), 1U);
  for (std::size_t i = 1; i < found.pareto.size(); ++i) {
    EXPECT_GT(found.pareto[i].step_time_s.expected, found.pareto[i - 1].step_time_s.expected);
    EXPECT_LT(found.pareto[i].memory.total(), found.pareto[i - 1].memory.total());
  }
  EXPECT_EQ(found.pareto.front().step_time_s.expected, found.best.front().step_time_s.expected);
}

TEST(Factorisations, AreAllOfThem) {
  EXPECT_EQ(factorisations(16384, false).size(), 3060U);  // C(14 + 4, 4)
  EXPECT_EQ(factorisations(1024, true).size(), 3003U);    // C(10 + 5, 5)
  for (const Parallelism& mesh : factorisations(72, true)) EXPECT_EQ(mesh.devices(), 72);
  EXPECT_EQ(count_factorisations(72, 6),
            static_cast<std::int64_t>(factorisations(72, true).size()));
  EXPECT_EQ(count_factorisations(1, 5), 1);
  EXPECT_EQ(count_factorisations(97, 5), 5);
  // 6,720 divisors: too many to list.
  EXPECT_THROW(factorisations(963761198400, true), UserError);
}

}  // namespace
}  // namespace flopwise
