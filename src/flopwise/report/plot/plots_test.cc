// Every plot holds, to the digit, the numbers of the functions that it is made from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/plot/attention_cost_plot.h"
#include "flopwise/report/plot/contexts.h"
#include "flopwise/report/plot/memory_plot.h"
#include "flopwise/report/plot/pareto_plot.h"
#include "flopwise/report/plot/roofline_plot.h"
#include "flopwise/report/plot/scaling_plot.h"

namespace flopwise {
namespace {

const PlotSeries& series_of(const PlotData& data, const std::string& name) {
  for (const PlotSeries& series : data.series) {
    if (series.name == name) return series;
  }
  FLOPWISE_CHECK(false, "no series " + name);
}

const PlotMark* mark_of(const PlotData& data, MarkOf of) {
  for (const PlotMark& mark : data.marks) {
    if (mark.of == of) return &mark;
  }
  return nullptr;
}

Model model_of(const std::string& text) {
  std::istringstream nothing;
  return read_model(text, nothing);
}

// ---- attention-cost -----------------------------------------------------------------------------

// D = 8192, F = 4D, N heads of 128: dense attention is 4*T*D FLOPs a token and layer, a gated
// feed-forward block 6*D*F = 24*D^2, so the ratio is T/(6D) and 1 at T = 6D.
constexpr const char* kBook = "D=8192,F=32768,L=64,V=32000,N=64";

TEST(AttentionCostPlot, DenseFlopsAreTOver6D) {
  AttentionCostRequest request;
  request.pairs = Pairs::kDense;
  request.from = 512;
  const PlotData data = attention_cost_plot(model_of(kBook), request);
  ASSERT_EQ(data.series.size(), 1u);
  for (const PlotPoint& point : data.series[0].points) {
    EXPECT_EQ(point.y, Rational::of(static_cast<std::int64_t>(point.x), 6 * 8192).to_double());
  }
  ASSERT_NE(mark_of(data, MarkOf::kX), nullptr);
  EXPECT_EQ(mark_of(data, MarkOf::kX)->at, 6 * 8192);
}

// The mask leaves T(T+1)/2 of T*T pairs: (T+1)/(12D), 1 at T = 12D - 1.
TEST(AttentionCostPlot, MaskedFlops) {
  const AttentionCost cost = attention_cost(model_of(kBook), {}, 4095);
  EXPECT_EQ(cost.flops_ratio, Rational::of(4096, 12 * 8192).to_double());
  const PlotData data = attention_cost_plot(model_of(kBook), {});
  EXPECT_EQ(mark_of(data, MarkOf::kX)->at, 12 * 8192 - 1);
}

// What `count --on` says of one length, for a model with one kind of layer.
TEST(AttentionCostPlot, FlashTimeIsThatOfTheAnalysis) {
  for (const char* name : {kBook, "llama-3-8b", "gpt2-xl"}) {
    const Model model = model_of(name);
    for (const std::int64_t length : {64, 480, 1000, 4096}) {
      CountRequest count;
      count.workload.mode = Mode::kForward;
      count.workload.seq_len = length;
      count.hardware = find_hardware("h100");
      AttentionCostRequest request;
      request.pairs = Pairs::kDense;
      request.hardware = count.hardware;
      const double expected =
          count_model(model, count).analysis.attention_relative_cost->to_double();
      EXPECT_NEAR(attention_cost(model, request, length).flash_time_ratio / expected, 1, 1e-14)
          << name << " " << length;
    }
  }
}

// Naive attention moves, a layer and bf16, Q, K, V and O once and T*T scores of N heads four times
// (written, read, written, read): at long contexts 8*N*T^2 bytes against 4*D*T^2 FLOPs.
TEST(AttentionCostPlot, NaiveTimeIsThatOfTheScores) {
  AttentionCostRequest request;
  request.pairs = Pairs::kDense;
  request.hardware = find_hardware("h100");
  const double t = 8192, d = 8192, n = 64;
  const AttentionCost cost = attention_cost(model_of(kBook), request, 8192);
  const double bytes = 8 * n * t * t + 8 * t * d;
  const double feed_forward_s = 24 * d * d * t / 989.4e12;
  EXPECT_NEAR(cost.naive_time_ratio, bytes / 3.35e12 / feed_forward_s, 1e-12);
  EXPECT_GT(cost.naive_time_ratio, cost.flash_time_ratio);
}

// ---- roofline
// ------------------------------------------------------------------------------------

TEST(RooflinePlot, KernelsOfTheAnswer) {
  CountRequest request;
  request.hardware = find_hardware("h100");
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-8b"), request);
  const PlotData data = roofline_plot(answer);
  std::size_t shown = 0;
  double others_s = 0;
  for (const RooflineKernel& kernel : answer.kernels) {
    if (kernel.matrix_flops == Count(0)) {
      others_s += kernel.time_s * kernel.layers.to_double();
      continue;
    }
    ++shown;
    bool is_found = false;
    for (const PlotPoint& point : series_of(data, name_of(kernel.pass)).points) {
      is_found = is_found || (point.label == kernel.name && point.x == *kernel.intensity() &&
                              point.y == kernel.matrix_flops.to_double() / kernel.time_s);
    }
    EXPECT_TRUE(is_found) << kernel.name;
  }
  EXPECT_EQ(series_of(data, "forward").points.size() + series_of(data, "backward").points.size(),
            shown);
  EXPECT_EQ(data.notes[0], fmt::format("Not shown: {} kernels without matrix work, {} of the time",
                                       answer.kernels.size() - shown,
                                       format_percent(others_s / answer.kernels_s)));
  EXPECT_EQ(mark_of(data, MarkOf::kX)->at, 989.4e12 / 3.35e12);
}

// ---- plans
// ---------------------------------------------------------------------------------------

TrainRequest small_training(std::int64_t devices) {
  TrainRequest request;
  request.hardware = find_hardware("h100");
  request.devices = devices;
  request.batch = 16;
  request.seq_len = 2048;
  return request;
}

TEST(MemoryPlot, TrainingByContextIsThatOfTheTrainer) {
  const Model model = find_model("llama-3-8b");
  PlanRequest plan;
  plan.mesh = parse_parallelism("fsdp=4,tp=2");
  plan.remat = parse_remat("block");
  const PlotData data = train_memory_by_context(model, small_training(8), plan, 1024, 8192);
  const std::vector<std::int64_t> contexts = contexts_between(1024, 8192);
  ASSERT_EQ(data.series[0].points.size(), contexts.size());
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    TrainRequest at = small_training(8);
    at.seq_len = contexts[i];
    const TrainMemory memory = Trainer(model, at).estimate(given_plan(plan)).memory;
    EXPECT_EQ(series_of(data, "parameters").points[i].y, memory.parameters);
    EXPECT_EQ(series_of(data, "gradients").points[i].y, memory.gradients);
    EXPECT_EQ(series_of(data, "optimizer").points[i].y, memory.optimizer);
    EXPECT_EQ(series_of(data, "activations").points[i].y, memory.activations);
    EXPECT_EQ(series_of(data, "workspace").points[i].y, memory.workspace);
  }
  EXPECT_EQ(mark_of(data, MarkOf::kY)->at, Trainer(model, small_training(8)).usable_memory());
}

// A sequence that cp does not divide is left out, and said so.
TEST(MemoryPlot, LengthsThatThePlanDoesNotDivide) {
  PlanRequest plan;
  plan.mesh = parse_parallelism("cp=4,fsdp=2");
  const PlotData data =
      train_memory_by_context(find_model("llama-3-8b"), small_training(8), plan, 1023, 2048);
  EXPECT_EQ(data.series[0].points.front().x, 1024);
  ASSERT_EQ(data.notes.size(), 1u);
  EXPECT_EQ(data.notes[0], "Left out: lengths that the plan does not divide: 1,023");
}

TEST(MemoryPlot, ByDevicesIsThatOfTheBestPlan) {
  const Model model = find_model("llama-3-8b");
  const PlotData data = train_memory_by_devices(model, small_training(8), {}, 4);
  ASSERT_EQ(data.series[0].points.size(), 2u);
  const TrainAnswer answer = answer_train(model, small_training(8), {});
  EXPECT_EQ(series_of(data, "activations").points[1].y, answer.estimate.memory.activations);
  EXPECT_EQ(series_of(data, "activations").points[1].label, describe(answer.estimate.plan));
}

ServeRequest small_serving(std::int64_t devices) {
  ServeRequest request;
  request.hardware = find_hardware("h100");
  request.devices = devices;
  return request;
}

TEST(MemoryPlot, ServingIsThatOfTheServer) {
  const Model model = find_model("llama-3-8b");
  ServePlanRequest plan;
  plan.mesh = parse_parallelism("tp=2");
  plan.batch = 4;
  const PlotData data = serve_memory_by_context(model, small_serving(2), plan, 4096, 8192);
  ServeRequest at = small_serving(2);
  at.prompt = 8192 - at.output;
  const ServeMemory memory = Server(model, at).estimate({*plan.mesh, 4}).memory;
  EXPECT_EQ(series_of(data, "weights").points.back().y, memory.weights);
  EXPECT_EQ(series_of(data, "KV cache").points.back().y, memory.kv_cache);
  EXPECT_EQ(series_of(data, "workspace").points.back().y, memory.workspace);
  // 8 key heads of 128 on two devices, keys and values, 32 layers, bf16.
  EXPECT_EQ(memory.kv_cache, 4.0 * 8192 * 8 / 2 * 128 * 2 * 32 * 2);
  EXPECT_EQ(data.series[0].points.back().x, 8192);
}

TEST(ParetoPlot, TheFrontOfTheSearch) {
  const Model model = find_model("llama-3-8b");
  const Server server(model, small_serving(4));
  const ServeSearch search = search_serving(std::array{&server}, 0, 1);
  const PlotData data = serve_pareto_plot(model, small_serving(4), {});
  const std::vector<PlotPoint>& front = data.series[0].points;
  ASSERT_EQ(front.size(), search.pareto.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    EXPECT_EQ(front[i].x, search.pareto[i].tpot_s());
    EXPECT_EQ(front[i].y, search.pareto[i].tokens_per_s / 4);
    if (i > 0) {
      EXPECT_GT(front[i].y, front[i - 1].y);
    }
  }
  const PlotPoint& fastest = series_of(data, search.pareto[0].plan.mesh.str()).points.front();
  EXPECT_EQ(fastest.label, describe(search.pareto[0].plan));
}

TEST(ParetoPlot, TrainingTimeAgainstMemory) {
  const Model model = find_model("llama-3-8b");
  const TrainAnswer answer = answer_train(model, small_training(8), {});
  const PlotData data = train_pareto_plot(model, small_training(8), {});
  const std::vector<PlotPoint>& front = data.series[0].points;
  ASSERT_EQ(front.size(), answer.search->pareto.size());
  EXPECT_EQ(front.front().x, answer.estimate.step_time_s.expected);
  for (std::size_t i = 0; i < front.size(); ++i) {
    EXPECT_EQ(front[i].y, answer.search->pareto[i].memory.total());
  }
}

TEST(ScalingPlot, TheBestPlanOfEachNumber) {
  const Model model = find_model("llama-3-8b");
  const PlotData data = scaling_plot(model, small_training(16), {}, 1);
  const std::vector<PlotPoint>& expected = series_of(data, "expected").points;
  ASSERT_FALSE(expected.empty());
  const TrainEstimate best = answer_train(model, small_training(16), {}).estimate;
  EXPECT_EQ(expected.back().x, 16);
  EXPECT_EQ(expected.back().y, best.step_time_s.expected);
  EXPECT_EQ(expected.back().label, describe(best.plan));
  EXPECT_EQ(series_of(data, "lower bound").points.back().y, best.step_time_s.lower);
  EXPECT_EQ(series_of(data, "ideal, from the first on").points.back().y,
            expected.front().x * expected.front().y / 16);
}

// Kernels, what is waited for and the optimizer are the whole step.
TEST(ScalingPlot, PartsAddUp) {
  const Trainer trainer(find_model("llama-3-8b"), small_training(16));
  for (const char* text : {"tp=8,dp=2", "pp=4,tp=4", "fsdp=8,cp=2", "pp=8,dp=2,micro-batch=2"}) {
    const TrainEstimate estimate = trainer.estimate(parse_train_plan(text));
    const StepParts parts = parts_of(estimate);
    EXPECT_NEAR(parts.kernels_s + parts.waiting_s + estimate.optimizer_s,
                estimate.step_time_s.expected, 1e-12)
        << text;
    EXPECT_GT(parts.kernels_s, 0);
  }
}

// A batch of 16 short sequences on 128 devices leaves each too little to do.
TEST(ScalingPlot, MarksWhereWaitingTakesOver) {
  TrainRequest request = small_training(128);
  request.seq_len = 256;
  const PlotData data = scaling_plot(find_model("llama-3-8b"), request, {}, 32);
  const PlotMark* mark = mark_of(data, MarkOf::kX);
  ASSERT_NE(mark, nullptr);
  const std::vector<PlotPoint>& kernels = series_of(data, "kernels").points;
  const std::vector<PlotPoint>& waiting = series_of(data, "exposed communication, bubble").points;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].x < mark->at) {
      EXPECT_LE(waiting[i].y, kernels[i].y);
    }
    if (kernels[i].x == mark->at) {
      EXPECT_GT(waiting[i].y, kernels[i].y);
    }
  }
}

}  // namespace
}  // namespace flopwise
