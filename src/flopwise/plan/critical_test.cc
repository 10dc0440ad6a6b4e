// Derived crossings against the formulas that texts print for them.
#include "flopwise/plan/critical.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/model/build.h"
#include "flopwise/model/description.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

constexpr double kPeak = 459e12;
constexpr double kLink = 180e9;  // of one ring, both directions
constexpr double kRidge = kPeak / kLink;
constexpr double kD = 4096;
constexpr double kF = 16384;

// One layer of a feed-forward of two matrices alone, as the book's derivations have it.
constexpr char kFeedForward[] =
    R"({"flopwise": 1, "d_model": 4096, "vocab": 512, "layers": [
        {"name": "layer", "norm": "no_params", "mlp": {"d_ff": 16384, "gated": false}}]})";
constexpr char kExperts[] =
    R"({"flopwise": 1, "d_model": 4096, "vocab": 512, "layers": [
        {"name": "layer", "norm": "no_params",
         "moe": {"experts": 64, "active": 4, "d_ff": 16384, "gated": false}}]})";

// Weights of that layer, two matrices an expert and the router, over those that a token uses.
constexpr double kReadOverUsed = (64 * 2 * kF + 64) / (4 * 2 * kF + 64);

const ElementTypes kBf16{find_dtype("bf16"), find_dtype("bf16"), find_dtype("bf16")};

Program program_of(const char* description, Mode mode) {
  const Model model = model_from_description(nlohmann::json::parse(description), "test");
  WorkloadRequest request;
  request.mode = mode;
  request.seq_len = 2048;
  const Workload workload = resolve(request, model);
  return mode == Mode::kTrain ? build_training_program(model, workload, {})
                              : build_program(model, workload);
}

LayerOnMesh layer_of(const char* description, Mode mode, bool sequence_parallel = true) {
  const Program program = program_of(description, mode);
  for (const Block& block : program.blocks) {
    if (block.is_layer)
      return {
          block, program.sizes_of(block), sequence_parallel, {kBf16, 2}
      };
  }
  throw InternalError("no layer");
}

DeviceRates torus(int rings) {
  DeviceRates rates;
  rates.matrix_flops_per_s = kPeak;
  rates.memory_bytes_per_s = 2.8e12;
  rates.network.inside_bytes_per_s = 3 * kLink;
  rates.network.peer_bytes_per_s = kLink / 2;
  rates.network.across_bytes_per_s = 6.25e9;
  rates.network.torus_axes = 3;
  rates.rings.fill(rings);
  return rates;
}

MeshShape mesh(double dp, double fsdp, double tp) {
  return {dp, fsdp, 1, 1, tp, 1};
}

TEST(CriticalBatch, IsTheRidgeOfDenseWeights) {
  const Program program = program_of(kFeedForward, Mode::kForward);
  const Block& layer = program.blocks.at(1);
  const Sizes sizes = program.sizes_of(layer);
  const CriticalBatch bf16 = *critical_batch(layer, sizes, kBf16, 240);
  EXPECT_EQ(bf16.weights_only, Rational(240));
  // 2BDF = 240 (DF + BD + BF), in matrices of 2 bytes: B (1/240 - 1/F - 1/D) = 1.
  EXPECT_EQ(*bf16.with_activations,
            Rational(1) / (Rational::of(1, 240) - Rational::of(1, 4096) - Rational::of(1, 16384)));
  const ElementTypes int8{kBf16.compute, find_dtype("int8"), kBf16.cache};
  EXPECT_EQ(critical_batch(layer, sizes, int8, 240)->weights_only, Rational(120));
  EXPECT_FALSE(critical_batch(layer, sizes, kBf16, 4096)->with_activations.has_value());
}

// Tokens of the source count as those of the target do.
TEST(CriticalBatch, OfAnEncoder) {
  const Model model = find_model("t5-11b");
  WorkloadRequest request;
  request.mode = Mode::kForward;
  const Program program = build_program(model, resolve(request, model));
  int layers = 0;
  for (const Block& block : program.blocks) {
    if (!block.is_layer) continue;
    ++layers;
    EXPECT_EQ(critical_batch(block, program.sizes_of(block), kBf16, 240)->weights_only,
              Rational(240));
  }
  EXPECT_EQ(layers, 2);
}

// Every expert is read, k of E are used; the router is read and used whole.
TEST(CriticalBatch, OfExpertsIsAsManyTimesMoreAsAreRead) {
  const Program program = program_of(kExperts, Mode::kForward);
  const Block& layer = program.blocks.at(1);
  const CriticalBatch batch = *critical_batch(layer, program.sizes_of(layer), kBf16, 240);
  EXPECT_NEAR(batch.weights_only.to_double(), 240 * kReadOverUsed, 1e-9);
}

// fsdp gathers all weights for each pass, dp reduces all gradients in the backward one: both are
// compute-bound from C/W tokens a device, whatever the layer.
TEST(CriticalTokens, OfDataParallelism) {
  for (const int rings : {1, 2, 3}) {
    for (const MeshShape& shape : {mesh(1, 64, 1), mesh(64, 1, 1)}) {
      EXPECT_NEAR(*critical_tokens(layer_of(kFeedForward, Mode::kTrain), shape, torus(rings),
                                   GroupSize::kLimit),
                  kRidge / rings, 1e-6);
      EXPECT_NEAR(*critical_tokens(layer_of(kFeedForward, Mode::kTrain), shape, torus(rings),
                                   GroupSize::kExact),
                  kRidge / rings * 63 / 64, 1e-6);
    }
  }
  EXPECT_EQ(*critical_tokens(layer_of(kFeedForward, Mode::kTrain), mesh(1, 1, 1), torus(1),
                             GroupSize::kExact),
            0);
}

// A sum over tp moves 2 x 2BD bytes forward, against 4BDF/tp FLOPs: F*W/C devices. Backward of
// sequence parallelism gathers twice and scatters once, 3 x 2BD against 8BDF/tp.
TEST(CriticalDegree, OfTensorParallelism) {
  const double limit = kF / kRidge;
  for (const bool sequence_parallel : {false, true}) {
    for (const Mode mode : {Mode::kForward, Mode::kTrain}) {
      const LayerOnMesh layer = layer_of(kFeedForward, mode, sequence_parallel);
      const auto degree = [&](GroupSize size) {
        return *critical_degree(layer, ParallelAxis::kTp, 1e6, mesh(1, 1, 1), torus(1), size);
      };
      EXPECT_NEAR(degree(GroupSize::kLimit), limit, 1e-6);
      EXPECT_NEAR(degree(GroupSize::kExact), limit + 1, 1e-6);
    }
  }
  const LayerOnMesh layer = layer_of(kFeedForward, Mode::kTrain);
  const LayerTime backward =
      layer.time(Pass::kBackward, 1e6, mesh(1, 1, 4), torus(1), GroupSize::kLimit);
  EXPECT_NEAR(backward.communication_s(), 6 * 1e6 * kD / kLink, 1e-9);
  EXPECT_NEAR(backward.matrix_s, 8 * 1e6 * kD * kF / 4 / kPeak, 1e-9);
}

// What is read does not depend on how it is stored; tp reads its part.
TEST(LayerOnMesh, ReadsItsWeights) {
  const LayerOnMesh layer = layer_of(kFeedForward, Mode::kForward);
  for (const MeshShape& shape : {mesh(1, 1, 1), mesh(1, 16, 1), mesh(8, 2, 1), mesh(1, 2, 8)}) {
    const LayerTime time = layer.time(Pass::kForward, 64, shape, torus(1), GroupSize::kExact);
    EXPECT_NEAR(time.weights_s, 2 * 2 * kD * kF / shape[4] / 2.8e12, 1e-12);
    EXPECT_NEAR(time.matrix_s, 2 * 2 * 64 * kD * kF / devices_of(shape) / kPeak, 1e-15);
  }
  // One sum of 2 x 2BD bytes over tp against 2 x 2DF/tp bytes of weights: F*W/(B*memory) devices.
  EXPECT_NEAR(*critical_degree(layer, ParallelAxis::kTp, 64, mesh(1, 1, 1), torus(1),
                               GroupSize::kLimit, Against::kWeights),
              kF * kLink / (64 * 2.8e12), 1e-6);
}

// fsdp on two rings and tp on one: equally long where fsdp^2 = devices * tokens/F * 2/1, and
// compute-bound there from (C/W)^2 / (2*1*F) tokens a device.
TEST(BestSplit, OfTwoParallelisms) {
  const LayerOnMesh layer = layer_of(kFeedForward, Mode::kForward);
  DeviceRates rates = torus(1);
  rates.rings[static_cast<std::size_t>(ParallelAxis::kFsdp)] = 2;
  for (const double devices : {64.0, 4096.0}) {
    const double tokens = 750 * devices;
    const MeshShape split = best_split(layer, tokens, devices, rates);
    EXPECT_NEAR(split[1], std::sqrt(2 * devices * tokens / kF), 1e-6 * devices);
    EXPECT_NEAR(split[1] * split[4], devices, 1e-9 * devices);
    EXPECT_NEAR(*critical_tokens_of_best_split(layer, devices, rates), kRidge * kRidge / (2 * kF),
                1e-6);
  }
}

// Gathering the weights of all experts, using k of E.
TEST(CriticalTokens, OfExperts) {
  EXPECT_NEAR(*critical_tokens(layer_of(kExperts, Mode::kTrain), mesh(1, 64, 1), torus(1),
                               GroupSize::kLimit),
              kRidge * kReadOverUsed, 1e-6);
}

// Devices of 8 in a node: what crosses nodes goes over 8 network links at once.
TEST(CriticalTokens, AcrossDomains) {
  DeviceRates rates;
  rates.matrix_flops_per_s = 990e12;
  rates.network.inside_bytes_per_s = 450e9;
  rates.network.across_bytes_per_s = 50e9;
  rates.network.domain_size = 8;
  const LayerOnMesh layer = layer_of(kFeedForward, Mode::kTrain);
  EXPECT_NEAR(*critical_tokens(layer, mesh(1, 8, 1), rates, GroupSize::kLimit), 990e12 / 450e9,
              1e-6);
  EXPECT_NEAR(*critical_tokens(layer, mesh(1, 512, 1), rates, GroupSize::kLimit), 990e12 / 400e9,
              1e-6);
  // Replicas of 8 devices that share the weights: each sends an eighth.
  EXPECT_NEAR(*critical_tokens(layer, mesh(64, 8, 1), rates, GroupSize::kLimit), 990e12 / 400e9,
              1e-6);
}

// Whole layers: grouped heads split over more devices than there are keys, and every gradient.
TEST(LayerOnMesh, AgreesWithTheEstimateOfItsBlock) {
  const Model model = find_model("llama-3-8b");
  WorkloadRequest request;
  request.seq_len = 4096;
  const Workload workload = resolve(request, model);
  const Program program = build_training_program(model, workload, {});
  const Block& block = program.blocks.at(1);
  const Sizes sizes = program.sizes_of(block);
  const Hardware& h100 = find_hardware("h100");
  const ChipRates chip = rates_of(h100, "bf16");
  DeviceRates rates{chip.matrix_flops_per_s, chip.memory_bytes_per_s, chip.network};
  for (const bool splits_groups : {false, true}) {
    Assignment assignment;
    for (const ParallelAxis axis : kParallelAxes) assignment.axes |= axis;
    assignment.splits_groups = splits_groups;
    if (!splits_groups) assignment.axes -= ParallelAxis::kTpGroups;
    std::set<std::string> seen;
    const BlockModel expected(block, sizes, assignment, Fusion::kFused, {kBf16, 2}, seen);
    const std::int64_t tp = splits_groups ? 16 : 4;
    Parallelism parallelism;
    parallelism.fsdp = 2;
    parallelism.tp = tp;
    const BlockEstimate estimate =
        expected.estimate(mesh_sizes(parallelism, 3, split_tensor_axis(tp, 8), chip.network), chip);
    const LayerOnMesh layer(block, sizes, false, {kBf16, 2});
    const LayerTime forward =
        layer.time(Pass::kForward, 3 * 2 * 4096, mesh(1, 2, static_cast<double>(tp)), rates,
                   GroupSize::kExact);
    const PassEstimate& pass = estimate.passes[0];
    EXPECT_NEAR(forward.matrix_s, pass.matrix_flops / rates.matrix_flops_per_s, 1e-12);
    EXPECT_NEAR(forward.axis_s[0], pass.sent.inside / rates.network.inside_bytes_per_s, 1e-12);
    EXPECT_NEAR(forward.network_s, pass.sent.across / rates.network.across_bytes_per_s, 1e-12);
    EXPECT_GT(forward.axis_s[0], 0);
  }
}

}  // namespace
}  // namespace flopwise
