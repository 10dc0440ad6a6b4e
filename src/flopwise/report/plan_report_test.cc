// The reports of train and serve: every documented key, and the numbers of the estimate.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/serve_report.h"
#include "flopwise/report/train_report.h"

namespace flopwise {
namespace {

Model model_of(const std::string& text) {
  std::istringstream none;
  return read_model(text, none);
}

TrainRequest train_request(std::int64_t devices) {
  TrainRequest request;
  request.hardware = find_hardware("h100");
  request.devices = devices;
  request.batch = 64;
  request.seq_len = 4096;
  return request;
}

std::vector<std::string> keys_of(const nlohmann::json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

nlohmann::json parsed(const Json& json) {
  return nlohmann::json::parse(json.str());
}

TEST(TrainReport, JsonOfAPlan) {
  PlanRequest plan;
  plan.mesh = parse_parallelism("fsdp=8");
  TrainRequest request = train_request(8);
  request.tokens = Count(1000000000);
  request.price_usd_per_hour = 2.5;
  const TrainAnswer answer = answer_train(model_of("llama-3-8b"), request, plan);
  const nlohmann::json json = parsed(train_json(answer));
  // nlohmann keeps objects sorted.
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"assumptions",
                                                     "bound",
                                                     "bubble_fraction",
                                                     "compared",
                                                     "convention",
                                                     "devices",
                                                     "dtype",
                                                     "exposed_communication_s",
                                                     "fits",
                                                     "flash",
                                                     "hardware",
                                                     "hfu",
                                                     "matmul_dtype",
                                                     "memory_bytes",
                                                     "mfu",
                                                     "micro_batches",
                                                     "model",
                                                     "nearest_that_fits",
                                                     "padding",
                                                     "plan",
                                                     "recipe",
                                                     "run",
                                                     "runner_up",
                                                     "schema",
                                                     "search",
                                                     "step_time_s",
                                                     "tokens_per_s",
                                                     "wire_bytes"}));
  EXPECT_EQ(keys_of(json["memory_bytes"]),
            (std::vector<std::string>{"activations", "capacity", "gradients", "optimizer",
                                      "parameters", "total", "usable", "workspace"}));
  EXPECT_EQ(keys_of(json["wire_bytes"]),
            (std::vector<std::string>{"cp", "dp", "ep", "fsdp", "pp", "tp"}));
  EXPECT_EQ(json["memory_bytes"]["parameters"].get<std::int64_t>(), 8030261248 * 2 / 8);
  EXPECT_EQ(json["memory_bytes"]["optimizer"].get<std::int64_t>(), 8030261248 * 12 / 8);
  EXPECT_TRUE(json["search"].is_null());
  const double step = json["step_time_s"]["expected"].get<double>();
  EXPECT_DOUBLE_EQ(json["tokens_per_s"].get<double>(), 64 * 4096 / step);
  // 1e9 tokens are 3,815 steps, the last one not full.
  EXPECT_DOUBLE_EQ(json["run"]["time_s"].get<double>(), 3815 * step);
  EXPECT_DOUBLE_EQ(json["run"]["cost_usd"].get<double>(),
                   json["run"]["device_hours"].get<double>() * 2.5);
  EXPECT_DOUBLE_EQ(json["run"]["energy_J"].get<double>(), 3815 * step * 8 * 700);
  EXPECT_DOUBLE_EQ(json["mfu"].get<double>(),
                   answer.trainer->model_flops().to_double() / (step * 8 * 989.4e12));
}

TEST(TrainReport, NoNumberWhereNothingIsKnown) {
  TrainRequest request = train_request(8);
  request.hardware = read_hardware("flops=1e15,memory_bandwidth=3e12,link_bandwidth=4e11").hardware;
  request.tokens = Count(1000000);
  PlanRequest plan;
  plan.mesh = parse_parallelism("fsdp=8");
  const nlohmann::json json =
      parsed(train_json(answer_train(model_of("llama-3-8b"), request, plan)));
  EXPECT_TRUE(json["run"]["cost_usd"].is_null());
  EXPECT_TRUE(json["run"]["energy_J"].is_null());
  EXPECT_TRUE(json["memory_bytes"]["capacity"].is_null());
  request.hardware = read_hardware("flops=1e15,memory_bandwidth=3e12").hardware;
  try {
    answer_train(model_of("llama-3-8b"), request, plan);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("network_bandwidth"), std::string::npos);
  }
}

TEST(TrainReport, SearchSaysWhy) {
  PlanRequest plan;
  plan.top = 3;
  const TrainAnswer answer = answer_train(model_of("llama-3-8b"), train_request(16), plan);
  const nlohmann::json json = parsed(train_json(answer));
  std::int64_t rejected = 0;
  for (const auto& [rule, count] : json["search"]["rejected"].items()) {
    rejected += count.get<std::int64_t>();
  }
  const auto pruned = json["search"]["pruned"].get<std::int64_t>();
  EXPECT_GT(pruned, 0);
  EXPECT_EQ(json["search"]["evaluated"].get<std::int64_t>() + rejected + pruned,
            TrainSpace::of(16, false).size());
  EXPECT_EQ(json["top"].size(), 3U);
  EXPECT_FALSE(json["runner_up"]["why"].get<std::string>().empty());
  const std::string text = train_text(answer, Explain::kYes);
  EXPECT_NE(text.find("runner-up: "), std::string::npos);
  EXPECT_NE(text.find("at peak rates"), std::string::npos);
}

TEST(TrainReport, SaysWhatItFillsUpAndTakesForGranted) {
  PlanRequest plan;
  plan.mesh = parse_parallelism("tp=4");
  TrainRequest request = train_request(4);
  const TrainAnswer answer = answer_train(model_of("gpt2"), request, plan);
  const nlohmann::json json = parsed(train_json(answer));
  EXPECT_EQ(json["padding"]["vocabulary"], 50257);
  EXPECT_EQ(json["padding"]["padded"], 50260);
  EXPECT_EQ(json["assumptions"].at(0),
            "4096 positions, though the model has learned 1024; a longer table is not counted");
  const std::string text = train_text(answer, Explain::kNo);
  EXPECT_NE(text.find("\nvocabulary of 50,257 filled up to 50,260 rows, a multiple of tp\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nassumed: 4096 positions"), std::string::npos);
  plan.mesh = parse_parallelism("dp=4");
  request.seq_len = 1024;
  const nlohmann::json plain = parsed(train_json(answer_train(model_of("gpt2"), request, plan)));
  EXPECT_TRUE(plain["padding"].is_null());
  EXPECT_TRUE(plain["assumptions"].empty());
}

// The parts of a memory are whole bytes, and the total is their sum.
TEST(TrainReport, MemoryAddsUp) {
  PlanRequest plan;
  plan.mesh = parse_parallelism("fsdp=64");
  const nlohmann::json memory = parsed(
      train_json(answer_train(model_of("llama-3-8b"), train_request(64), plan)))["memory_bytes"];
  std::int64_t sum = 0;
  for (const char* part : {"parameters", "gradients", "optimizer", "activations", "workspace"}) {
    sum += memory[part].get<std::int64_t>();
  }
  EXPECT_EQ(memory["total"].get<std::int64_t>(), sum);
}

TEST(ServeReport, ChoosesAmongWeights) {
  ServeRequest request;
  request.hardware = find_hardware("h100");
  request.devices = 2;
  ServePlanRequest plan;
  plan.weights = {"bf16", "fp8"};
  const Model model = model_of("llama-3-70b");
  const ServeAnswer answer = answer_serve(model, request, plan);
  const nlohmann::json json = parsed(serve_json(answer));
  EXPECT_EQ(json["plan"]["weights"], "fp8");  // half the bytes to read, more room for sequences
  EXPECT_EQ(json["search"]["evaluated"].get<int>() + json["search"]["rejected"].get<int>(), 2 * 2);
  request.weights = "fp8";
  plan.weights.clear();
  const nlohmann::json alone = parsed(serve_json(answer_serve(model, request, plan)));
  EXPECT_EQ(alone["decode"], json["decode"]);
  EXPECT_EQ(weights_to_choose_from("bf16,fp8"), (std::vector<std::string>{"bf16", "fp8"}));
  EXPECT_TRUE(weights_to_choose_from("bf16").empty());
  for (const char* text : {"bf16,", ",", "bf16,bfloat16", "bf16,fp7"}) {
    EXPECT_THROW(weights_to_choose_from(text), UserError) << text;
  }
  plan.weights = {"bf16", "fp8"};
  plan.mesh = parse_parallelism("tp=2");
  EXPECT_THROW(answer_serve(model, request, plan), UserError);
}

TEST(TrainReport, GivenSettingsStandFixed) {
  PlanRequest plan;
  plan.remat = parse_remat("block");
  plan.zero = 0;
  const TrainAnswer answer = answer_train(model_of("llama-3-8b"), train_request(16), plan);
  for (const TrainEstimate& found : answer.search->pareto) {
    EXPECT_EQ(describe(found.plan.remat), "block");
    EXPECT_EQ(found.plan.zero, 0);
  }
}

TEST(TrainReport, ComparesTwoPlans) {
  PlanRequest plan;
  plan.mesh = parse_parallelism("fsdp=16");
  plan.why = parse_train_plan("dp=2,tp=8,micro-batch=2,remat=block,zero=1,sequence-parallel=1");
  EXPECT_EQ(describe(*plan.why),
            "dp=2,tp=8, micro-batch 2, remat block, sequence parallel, zero 1");
  const TrainAnswer answer = answer_train(model_of("llama-3-8b"), train_request(16), plan);
  ASSERT_TRUE(answer.compared.has_value());
  const nlohmann::json json = parsed(train_json(answer));
  EXPECT_EQ(json["compared"]["plan"]["mesh"]["tp"].get<int>(), 8);
  const std::string text = train_text(answer, Explain::kNo);
  EXPECT_NE(text.find("why not dp=2,tp=8, micro-batch 2"), std::string::npos) << text;
  plan.why = parse_train_plan("dp=4");
  EXPECT_THROW(answer_train(model_of("llama-3-8b"), train_request(16), plan), UserError);
  EXPECT_EQ(describe(parse_train_plan("dp=4,remat=save:attention.q,attention.k,zero=1")),
            "dp=4, micro-batch 1, remat save:attention.q,attention.k, zero 1");
  EXPECT_THROW(parse_train_plan("dp=4,zero=3"), UserError);
  EXPECT_THROW(parse_train_plan("dp=4,remat=some"), UserError);
  EXPECT_THROW(parse_train_plan("dp=4,speed=9"), UserError);
}

TEST(ServeReport, JsonOfADeployment) {
  ServeRequest request;
  request.hardware = find_hardware("h100");
  request.devices = 8;
  request.price_usd_per_hour = 3;
  ServePlanRequest plan;
  plan.mesh = parse_parallelism("tp=8");
  plan.batch = 32;
  const ServeAnswer answer = answer_serve(model_of("llama-3-70b"), request, plan);
  const nlohmann::json json = parsed(serve_json(answer));
  EXPECT_EQ(keys_of(json), (std::vector<std::string>{"assumptions",  "cost_usd_per_million_tokens",
                                                     "decode",       "devices",
                                                     "fits",         "hardware",
                                                     "max_batch",    "meets_slo",
                                                     "memory_bytes", "model",
                                                     "output",       "plan",
                                                     "prefill",      "prefill_per_decode",
                                                     "prompt",       "runner_up",
                                                     "schema",       "search",
                                                     "tpot_s",       "ttft_s"}));
  const double per_second = 3.0 * 8 / 3600;
  EXPECT_DOUBLE_EQ(json["cost_usd_per_million_tokens"]["output"].get<double>(),
                   per_second / (32 / json["tpot_s"].get<double>()) * 1e6);
  EXPECT_DOUBLE_EQ(json["cost_usd_per_million_tokens"]["input"].get<double>(),
                   per_second / (1024 / json["ttft_s"].get<double>()) * 1e6);
  EXPECT_EQ(json["memory_bytes"]["kv_cache"].get<std::int64_t>(), 32LL * 1280 * 327680 / 8);
  EXPECT_NE(serve_text(answer, Explain::kYes).find("time per output token"), std::string::npos);
}

// What cannot fit has no latency.
TEST(ServeReport, NoTimesWithoutRoom) {
  ServeRequest request;
  request.hardware = find_hardware("h100");
  const ServeAnswer answer = answer_serve(model_of("llama-3.1-405b"), request, {});
  EXPECT_FALSE(answer.is_yes());
  const nlohmann::json json = parsed(serve_json(answer));
  for (const char* key : {"prefill", "decode", "ttft_s", "tpot_s"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["max_batch"].get<std::int64_t>(), 0);
  EXPECT_TRUE(json["cost_usd_per_million_tokens"]["output"].is_null());
  const std::string text = serve_text(answer, Explain::kNo);
  EXPECT_EQ(text.find("time to first token"), std::string::npos);
  EXPECT_NE(text.find("does not fit"), std::string::npos);
}

}  // namespace
}  // namespace flopwise
