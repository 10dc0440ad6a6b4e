#include "flopwise/plan/serve.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

constexpr char kDense[] = "D=64,L=4,V=96,N=8,K=4,F=192,gated=1";
constexpr double kParameters =
    4 * (64.0 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 192 + 2 * 64) + 64 + 2 * 96 * 64;

Model model_of(const std::string& text) {
  std::istringstream none;
  return read_model(text, none);
}

ServeRequest request_of(const std::string& chip, std::int64_t devices) {
  ServeRequest request;
  request.hardware = find_hardware(chip);
  request.devices = devices;
  return request;
}

ServeEstimate estimate_of(const std::string& model, const ServeRequest& request, const char* mesh,
                          std::int64_t batch) {
  const Server server(model_of(model), request);
  const Parallelism parallelism = parse_parallelism(mesh);
  EXPECT_FALSE(server.problem(parallelism).has_value());
  return server.estimate({parallelism, batch});
}

TEST(Serve, MemoryByHand) {
  ServeRequest request = request_of("h100", 1);
  request.prompt = 100;
  request.output = 28;
  const ServeEstimate one = estimate_of(kDense, request, "dp=1", 3);
  EXPECT_EQ(one.memory.weights, 2 * kParameters);
  EXPECT_EQ(one.memory.kv_cache, 3.0 * 128 * 4 * 2 * 4 * 8 * 2);  // L layers, K and V, K heads of H
  request.weights = "int8";
  request.kv = "fp8";
  const ServeEstimate quantised = estimate_of(kDense, request, "dp=1", 3);
  EXPECT_EQ(quantised.memory.weights, kParameters);
  EXPECT_EQ(quantised.memory.kv_cache, one.memory.kv_cache / 2);
}

// One request is split by tp alone: replicas each hold their own.
TEST(Serve, ReplicasHoldWholeSequences) {
  const ServeEstimate tp = estimate_of(kDense, request_of("h100", 4), "tp=4", 4);
  const ServeEstimate both = estimate_of(kDense, request_of("h100", 4), "dp=2,tp=2", 4);
  const ServeEstimate dp = estimate_of(kDense, request_of("h100", 4), "dp=4", 4);
  EXPECT_EQ(tp.memory.kv_cache, dp.memory.kv_cache);
  EXPECT_EQ(both.memory.kv_cache, tp.memory.kv_cache);
  EXPECT_EQ(estimate_of(kDense, request_of("h100", 4), "dp=2,tp=2", 2).memory.kv_cache,
            estimate_of(kDense, request_of("h100", 2), "tp=2", 1).memory.kv_cache);
}

// More devices than key heads repeat them.
TEST(Serve, KeyHeadsAreRepeated) {
  EXPECT_EQ(estimate_of(kDense, request_of("h100", 8), "tp=8", 4).memory.kv_cache,
            estimate_of(kDense, request_of("h100", 4), "tp=4", 4).memory.kv_cache);
}

// tenstorrent/tt-xla issue 5861: the latent cache of MLA is the same on all devices of tp, and a
// cache planned as if it were split runs out of memory.
TEST(Serve, LatentCacheIsReplicatedOverTp) {
  ServeRequest request = request_of("h200", 8);
  request.weights = "fp8";
  const double eight = estimate_of("deepseek-v3", request, "tp=8", 16).memory.kv_cache;
  EXPECT_EQ(eight, 16.0 * 1280 * 61 * 576 * 2);
  // Data parallel attention splits it.
  EXPECT_EQ(estimate_of("deepseek-v3", request, "ep=8", 16).memory.kv_cache, eight / 8);
}

// How to Scale Your Model, chapter 7: Llama-2-13B in bf16 on 8 TPU v5e at 8,192 positions reads
// weights and caches in 4.98 ms (batch 1) and 20.3 ms (batch 16). The book takes 13e9 parameters
// and 8.2e11 B/s; here they are exact.
TEST(Serve, DecodingReadsWeightsAndCache) {
  ServeRequest request = request_of("tpu-v5e", 8);
  request.prompt = 8191;
  request.output = 1;
  const double bandwidth = request.hardware.memory_bytes_per_s->to_double();
  for (const std::int64_t batch : {1, 16}) {
    const ServeEstimate estimate = estimate_of("llama-2-13b", request, "tp=8", batch);
    const double bytes =
        2 * (13015864320.0 - 32000 * 5120) + static_cast<double>(batch) * 8192 * 40 * 2 * 5120 * 2;
    EXPECT_NEAR(estimate.decode.time_s.lower, bytes / 8 / bandwidth,
                0.02 * estimate.decode.time_s.lower);
    EXPECT_STREQ(estimate.decode.bound, "memory");
    EXPECT_NEAR(estimate.decode.time_s.lower, batch == 1 ? 4.98e-3 : 20.3e-3,
                0.03 * estimate.decode.time_s.lower);
  }
}

// Chapter 7, question 1 of MoE serving and chapter 8: prefill to decode is 0.91 s against
// 512 x 19 ms / 32.
TEST(Serve, PrefillPerDecode) {
  const ServeEstimate estimate = estimate_of(kDense, request_of("h100", 1), "dp=1", 32);
  EXPECT_DOUBLE_EQ(estimate.prefill_per_decode, estimate.ttft_s() / (estimate.tpot_s() * 256 / 32));
}

TEST(Serve, TimesAreInOrder) {
  for (const char* mesh : {"tp=8", "dp=8", "dp=2,tp=4", "ep=8", "ep=2,tp=4"}) {
    const ServeEstimate estimate = estimate_of("mixtral-8x7b", request_of("h100", 8), mesh, 64);
    for (const PassTime& pass : {estimate.prefill, estimate.decode}) {
      EXPECT_LE(pass.time_s.lower, pass.time_s.expected) << mesh;
      EXPECT_LE(pass.time_s.expected, pass.time_s.upper) << mesh;
    }
  }
}

TEST(Serve, LargestBatchIsTheLastThatFits) {
  const Server server(model_of("llama-3-8b"), request_of("h100", 2));
  const Parallelism mesh = parse_parallelism("dp=2");
  const std::int64_t most = server.largest_batch(mesh, false);
  ASSERT_GT(most, 0);
  EXPECT_TRUE(server.estimate({mesh, most}).fits);
  EXPECT_FALSE(server.estimate({mesh, most + 2}).fits);
}

TEST(Serve, RespectsTheTimesAskedFor) {
  ServeRequest request = request_of("h100", 8);
  request.tpot_s = 0.03;
  const Server server(model_of("llama-3-70b"), request);
  const ServeSearch search = search_serving(std::array{&server}, 0, 3);
  ASSERT_FALSE(search.best.empty());
  for (const ServeEstimate& found : search.best) EXPECT_LE(found.tpot_s(), 0.03);
  const ServeEstimate& best = search.best.front();
  EXPECT_GT(server.estimate({best.plan.mesh, best.plan.batch + best.plan.mesh.replicas()}).tpot_s(),
            0.03);
}

// ai-dynamo/aiconfigurator issues 509 and 1396: what cannot fit, or fits only into all of the
// memory, is no plan.
TEST(Serve, ReservesWhatTheRuntimeTakes) {
  const Server server(model_of("llama-3.1-405b"), request_of("h100", 1));
  const ServeSearch search = search_serving(std::array{&server}, 0, 1);
  EXPECT_TRUE(search.best.empty());
  EXPECT_EQ(search.too_large, 1);
  const ServeEstimate one = server.estimate({Parallelism{}, 1});
  EXPECT_FALSE(one.fits);
  EXPECT_DOUBLE_EQ(server.usable_memory(), 0.94 * 80 * 1024 * 1024 * 1024);
}

TEST(Serve, SaysWhatIsWrong) {
  const Server server(model_of("D=60,L=4,V=96,N=6,K=2,F=180"), request_of("h100", 4));
  EXPECT_EQ(*server.problem(parse_parallelism("tp=4")),
            "N = 6 (block layer), expected a multiple of 4");
  EXPECT_EQ(*server.problem(parse_parallelism("pp=4")), "mesh pp=4: expected dp, tp and ep only");
  EXPECT_EQ(*server.problem(parse_parallelism("ep=4")),
            "ep=4: the model has no experts, expected ep=1");
  EXPECT_EQ(*server.problem(parse_parallelism("dp=2")),
            "mesh dp=2 has 2 devices, expected the 4 of --on");
  EXPECT_THROW(Server(model_of("bert-base"), request_of("h100", 1)), UserError);
}

}  // namespace
}  // namespace flopwise
