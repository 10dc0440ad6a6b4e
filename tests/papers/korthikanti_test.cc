// Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models"
// (arXiv 2205.05198): bytes that a layer keeps on each device, in the four models of the paper.
// The formulas themselves: activation_memory_test.cc.
#include <fmt/format.h>

#include "flopwise/mesh/shard_graph.h"
#include "flopwise/model/build.h"
#include "flopwise/plan/train.h"
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

struct Shape {
  const char* name;
  int layers, d_model, heads, batch;  // batch: of a micro-batch
};
constexpr Shape k22B{"22B", 48, 6144, 64, 4};
constexpr Shape k175B{"175B", 96, 12288, 96, 1};
constexpr Shape k530B{"530B", 105, 20480, 128, 1};
constexpr Shape k1T{"1T", 128, 25600, 160, 1};

std::string letters_of(const Shape& shape) {
  return fmt::format("D={},F={},L={},V=51200,N={},gated=0,tied=1,bias=1,norm=layer,positions=2048",
                     shape.d_model, 4 * shape.d_model, shape.layers, shape.heads);
}

// What selective recomputation keeps: all that backward reads but the inside of attention. Unlike
// the policy `attention` it keeps the output of the core too.
constexpr const char* kSelective =
    "save:attention.norm,attention.q_bias,attention.k_bias,attention.v_bias,attention.av,"
    "attention.dropout.mask,attention.residual,mlp.norm,mlp.up_bias,mlp.act,mlp.dropout.mask";

Model model_of(const Shape& shape) {
  Model model = model_from_letters(letters_of(shape));
  Layer& layer = model.decoder->groups[0].layer;
  layer.dropout = 0.1;
  layer.attention->dropout = 0.1;
  return model;
}

double layer_bytes(const Shape& shape, int tp, bool sequence_parallel, const char* remat) {
  const Model model = model_of(shape);
  WorkloadRequest request;
  request.batch = shape.batch;
  request.seq_len = 2048;
  request.kernel = AttentionKernel::kPlain;
  const Program program =
      build_training_program(model, resolve(request, model), parse_remat(remat));
  Assignment assignment;
  assignment.axes = ParallelAxis::kTp;
  assignment.sequence_parallel = sequence_parallel;
  const Block& block = program.blocks.at(1);
  const Graph graph = shard(block, assignment).local.graph;
  const DType& half = find_dtype("fp16");
  Sizes sizes = program.sizes_of(block);
  sizes["tp"] = tp;
  double bytes = 0;
  for (const TensorId id : graph.saved) {
    const Tensor& tensor = graph.tensor(id);
    bytes += (elements(tensor) * bytes_per_element(tensor.element, {half, half, half}))
                 .eval_double(sizes);
  }
  return bytes;
}

// Equations 1 to 6: no parallelism, tensor parallelism over 8, sequence parallelism with it, each
// with selective recomputation, and full recomputation.
TEST(Korthikanti, BytesOfALayer) {
  struct Row {
    Shape shape;
    double whole, tp, tp_sp, tp_selective, tp_sp_selective, full;
  };
  // clang-format off
  constexpr Row kRows[] = {
      {k22B, 7079985152, 1325400064, 884998144, 654311424, 213909504, 100663296},
      {k175B, 2868903936, 578813952, 358612992, 327155712, 106954752, 50331648},
      {k530B, 4110417920, 880803840, 513802240, 545259520, 178257920, 83886080},
      {k1T, 5138022400, 1101004800, 642252800, 681574400, 222822400, 104857600},
  };
  // clang-format on
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape.name);
    EXPECT_EQ(layer_bytes(row.shape, 1, false, "none"), row.whole);
    EXPECT_EQ(layer_bytes(row.shape, 8, false, "none"), row.tp);
    EXPECT_EQ(layer_bytes(row.shape, 8, true, "none"), row.tp_sp);
    EXPECT_EQ(layer_bytes(row.shape, 8, false, kSelective), row.tp_selective);
    EXPECT_EQ(layer_bytes(row.shape, 8, true, kSelective), row.tp_sp_selective);
    EXPECT_EQ(layer_bytes(row.shape, 8, false, "full"), row.full);
  }
}

// Section 4.2.3: the first stage of a pipeline holds the layers of all stages for one micro-batch
// each, and where stages are interleaved some more.
TEST(Korthikanti, FirstStage) {
  struct Row {
    Shape shape;
    int pp, micro_batches, interleave;
    double tp_sp_gib, tp_sp_selective_gib;
  };
  constexpr Row kRows[] = {
      {k175B, 8,  64,  3, 41.4141, 12.3516},
      {k530B, 35, 280, 3, 66.5137, 23.0762},
      {k1T,   64, 512, 1, 76.5625, 26.5625},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape.name);
    TrainRequest request;
    request.hardware = find_hardware("a100-80gb");
    request.devices = 8 * row.pp;
    request.batch = row.micro_batches;
    request.seq_len = 2048;
    request.dtype = "fp16";
    request.kernel = AttentionKernel::kPlain;
    const Trainer trainer(model_of(row.shape), request);
    TrainPlan plan;
    plan.mesh.tp = 8;
    plan.mesh.pp = row.pp;
    plan.interleave = row.interleave;
    plan.sequence_parallel = true;
    const auto gib = [&](const char* remat) {
      plan.remat = parse_remat(remat);
      EXPECT_FALSE(trainer.broken_rule(plan).has_value());
      return trainer.estimate(plan).memory.activations / (1 << 30);
    };
    EXPECT_NEAR(gib("none"), row.tp_sp_gib, 0.001 * row.tp_sp_gib);
    EXPECT_NEAR(gib(kSelective), row.tp_sp_selective_gib, 0.001 * row.tp_sp_selective_gib);
  }
  // Without a pipeline: all layers.
  EXPECT_NEAR(48 * layer_bytes(k22B, 8, true, "none") / (1 << 30), 39.5625, 1e-4);
  EXPECT_NEAR(48 * layer_bytes(k22B, 8, true, kSelective) / (1 << 30), 9.5625, 1e-4);
}

// Figure 7: shares of what tensor parallelism alone keeps, in percent.
TEST(Korthikanti, Figure7) {
  struct Row {
    Shape shape;
    double sequence_parallel, selective, both, full;
  };
  constexpr Row kRows[] = {
      {k22B,  66.84, 49.42, 16.18, 7.64},
      {k175B, 62.04, 56.53, 18.49, 8.71},
      {k530B, 58.31, 62.04, 20.27, 9.42},
      {k1T,   58.31, 62.04, 20.27, 9.42},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape.name);
    const double base = layer_bytes(row.shape, 8, false, "none");
    const auto near = [&](bool sequence_parallel, const char* remat, double percent) {
      EXPECT_NEAR(100 * layer_bytes(row.shape, 8, sequence_parallel, remat) / base, percent,
                  0.02 * percent)
          << remat;
    };
    near(true, "none", row.sequence_parallel);
    near(false, kSelective, row.selective);
    near(true, kSelective, row.both);
    near(false, "full", row.full);
  }
}

// Section 5: the inside of attention is 5as/h of 34 + 5as/h parts, and running it again costs a few
// percent of the FLOPs. "HFU/MFU = 1 + s/6h" leaves the logits out.
TEST(Korthikanti, SelectiveRecomputation) {
  struct Row {
    Shape shape;
    double inside;  // 5as/h
    double saved_percent, flops_percent;
  };
  constexpr Row kRows[] = {
      {k175B, 80, 70, 2.7},
      {k530B, 64, 65, 1.6},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape.name);
    const double all = layer_bytes(row.shape, 1, false, "none");
    const double kept = layer_bytes(row.shape, 1, false, kSelective);
    EXPECT_DOUBLE_EQ((all - kept) / (kept / 34), row.inside);
    EXPECT_NEAR(100 * (1 - kept / all), row.saved_percent, 0.02 * row.saved_percent);
    const CountResult count = count_of({.model = letters_of(row.shape),
                                        .seq = 2048,
                                        .remat = "attention",
                                        .convention = "korthikanti"});
    const double overhead =
        (*count.by_convention.hardware / count.by_convention.model).to_double() - 1;
    EXPECT_NEAR(100 * overhead, row.flops_percent, 0.05 * row.flops_percent);
  }
  double layers = 0;
  const Cost cost = count_of({.model = letters_of(k175B), .seq = 2048}).cost;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      const bool counted = block.is_layer && op.pass == Pass::kForward;
      if (counted && op.op_class == OpClass::kMatmul) {
        layers += (op.flops.value * block.layers).to_double();
      }
    }
  }
  EXPECT_DOUBLE_EQ(1 + cost.forward.attention_dense.to_double() / layers, 1 + 2048 / (6 * 12288.0));
}

}  // namespace
}  // namespace flopwise
