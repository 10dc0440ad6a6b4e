#include "flopwise/report/roofline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

CountRequest request_on(const char* chip) {
  CountRequest request;
  request.hardware = find_hardware(chip);
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

TEST(Roofline, NeedsAChip) {
  EXPECT_THROW(answer_roofline(find_model("llama-3-8b"), {}), UserError);
}

}  // namespace
}  // namespace flopwise
