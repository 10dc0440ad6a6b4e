#include "flopwise/report/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

CountRequest request_on(const char* chip) {
  CountRequest request;
  request.hardware = read_hardware(chip).hardware;
  return request;
}

const RooflineKernel& kernel_of(const RooflineAnswer& answer, const char* name, Pass pass) {
  for (const RooflineKernel& kernel : answer.kernels) {
    if (kernel.name == name && kernel.pass == pass) return kernel;
  }
  FLOPWISE_CHECK(false, std::string("no kernel ") + name);
}

// The same FLOPs and bytes as `count`, each once.
TEST(Roofline, KernelsAddUpToTheCount) {
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "t5-3b", "mamba-130m"}) {
    const CountRequest request = request_on("h100");
    const CountResult count = count_model(find_model(model), request);
    const RooflineAnswer answer = answer_roofline(find_model(model), request);
    Count matrix = 0;
    Count bytes = 0;
    for (const RooflineKernel& kernel : answer.kernels) {
      matrix += kernel.matrix_flops * kernel.layers;
      bytes += kernel.bytes * kernel.layers;
    }
    EXPECT_EQ(matrix, count.cost.hardware_total()) << model;
    EXPECT_EQ(bytes, count.cost.bytes.total()) << model;
    EXPECT_LE(answer.lower_s(), answer.kernels_s * (1 + 1e-12)) << model;
  }
}

// [2048, 4096] x [4096, 14336] in bf16, and the activation function that rides on the second of
// two.
TEST(Roofline, OneMatrixProduct) {
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-8b"), request_on("h100"));
  const RooflineKernel& gate = kernel_of(answer, "mlp.gate", Pass::kForward);
  EXPECT_EQ(gate.matrix_flops, Count(2) * 2048 * 4096 * 14336);
  EXPECT_EQ(gate.bytes, Count(2) * (2048 * 4096 + 4096 * 14336 + 2048 * 14336));
  EXPECT_STREQ(gate.bound, "matrix");
  EXPECT_DOUBLE_EQ(gate.time_s, 2.0 * 2048 * 4096 * 14336 / 989.4e12);
}

// The backward kernel of flash attention computes the scores again: one row, 5 of forward's 2
// products.
TEST(Roofline, FlashBackwardIsOneKernel) {
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-8b"), request_on("h100"));
  const RooflineKernel& forward = kernel_of(answer, "attention.qk", Pass::kForward);
  const RooflineKernel& backward = kernel_of(answer, "attention.core.o_do", Pass::kBackward);
  EXPECT_EQ(backward.matrix_flops * 2, forward.matrix_flops * 5);
  for (const RooflineKernel& kernel : answer.kernels) EXPECT_NE(kernel.pass, Pass::kRecompute);
}

// A token at a time is bound by memory: weights are read for it alone.
TEST(Roofline, DecodingIsMemoryBound) {
  CountRequest request = request_on("h100");
  request.workload.mode = Mode::kDecode;
  request.workload.context = 2048;
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-8b"), request);
  EXPECT_STREQ(answer.bound(), "memory");
  EXPECT_NEAR(*kernel_of(answer, "mlp.down", Pass::kForward).intensity(), 1, 1e-3);
}

// Dense weights in 16 bits: the ridge; in 8 bits half of it.
TEST(Roofline, TokensThatHideTheWeights) {
  CountRequest request = request_on("h100");
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-8b"), request);
  ASSERT_EQ(answer.bounds.size(), 1);
  EXPECT_EQ(answer.bounds[0].batch->weights_only, intensity_of(find_hardware("h100"), "bf16"));
  request.weights = "int8";
  const RooflineAnswer int8 = answer_roofline(find_model("llama-3-8b"), request);
  EXPECT_EQ(int8.bounds[0].batch->weights_only * Rational(2), answer.bounds[0].batch->weights_only);
}

// Each parallelism by itself, and a mesh: what the torus and the switch have.
TEST(Roofline, BoundsOfParallelisms) {
  const auto bounds = [](const char* model, const char* chip,
                         const std::optional<Parallelism>& mesh = std::nullopt) {
    std::string names;
    const RooflineAnswer answer = answer_roofline(find_model(model), request_on(chip), mesh);
    for (const ParallelBound& bound : answer.bounds.at(0).parallel) {
      names += bound.parallelism + " " + bound.links + "; ";
    }
    return names;
  };
  EXPECT_EQ(bounds("llama-3-8b", "h100"),
            "fsdp inside 8 devices; fsdp across domains; tp links of a domain; ");
  EXPECT_EQ(bounds("mixtral-8x7b", "tpu-v5e"),
            "fsdp 1 ring; ep 1 ring; tp 1 ring; fsdp 2 rings; ep 2 rings; tp 2 rings; "
            "fsdp and tp 1 ring and 1, best split; ");
  constexpr const char* kNoLinks = "flops=1e14,memory_bandwidth=1e12";
  EXPECT_EQ(bounds("llama-3-8b", kNoLinks), "");
  EXPECT_EQ(bounds("llama-3-8b", "h100", parse_parallelism("fsdp=8,tp=4")),
            "fsdp=8,tp=4 as placed; ");
  EXPECT_THROW(bounds("llama-3-8b", "h100", parse_parallelism("pp=2")), UserError);
  EXPECT_THROW(bounds("llama-3-8b", kNoLinks, parse_parallelism("tp=2")), UserError);
}

// Twice the links, half the tokens.
TEST(Roofline, TokensFallWithTheRings) {
  const RooflineAnswer answer = answer_roofline(find_model("llama-3-70b"), request_on("tpu-v5p"));
  std::vector<double> tokens;
  for (const ParallelBound& bound : answer.bounds.at(0).parallel) {
    if (bound.parallelism == "fsdp") tokens.push_back(*bound.tokens_per_device);
  }
  ASSERT_EQ(tokens.size(), 3);
  EXPECT_NEAR(tokens[1], tokens[0] / 2, 1e-6);
  EXPECT_NEAR(tokens[2], tokens[0] / 3, 1e-6);
  // Attention and its projections are hidden behind too, so below the ridge of the links.
  EXPECT_LT(tokens[0], 459e12 / 200e9);
  EXPECT_GT(tokens[0], 0.97 * 459e12 / 200e9);
}

TEST(Roofline, NeedsAChip) {
  EXPECT_THROW(answer_roofline(find_model("llama-3-8b"), {}), UserError);
}

}  // namespace
}  // namespace flopwise
