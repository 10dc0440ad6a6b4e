#include "flopwise/mesh/shard_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/cost/flops.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kDense[] = "D=64,L=2,V=96,N=8,K=4,F=192,gated=1";
constexpr char kMoe[] = "D=64,L=2,V=96,N=8,K=4,F=192,gated=1,E=8,k=2";

Program program_of(const std::string& text, const std::string& remat = "none") {
  std::istringstream none;
  const Model model = read_model(text, none);
  WorkloadRequest request;
  request.batch = 16;
  request.seq_len = 32;
  return build_training_program(model, resolve(request, model), parse_remat(remat));
}

const Block& layer_of(const Program& program) {
  for (const Block& block : program.blocks) {
    if (block.is_layer) return block;
  }
  FLOPWISE_CHECK(false, "a program has a layer");
}

Assignment assignment_of(MeshSet axes, bool sequence_parallel = false) {
  Assignment assignment;
  assignment.axes = axes;
  assignment.sequence_parallel = sequence_parallel;
  assignment.splits_groups = axes.has(ParallelAxis::kTpGroups);
  return assignment;
}

// "all_reduce tp", how often in a pass. Those of vectors (norms, biases) are left out: what is
// pinned is pinned of matrices.
using Counts = std::map<std::string, int>;
Counts collectives(const ShardedBlock& block, Pass pass) {
  Counts counts;
  for (const Op& op : block.local.graph.ops()) {
    const auto* move = std::get_if<Collective>(&op.kind);
    if (move == nullptr || op.pass != pass) continue;
    if (block.local.graph.tensor(op.outputs[0]).axes.size() < 2) continue;
    std::string name = name_of(move->kind);
    for (const std::string& axis : move->mesh_axes) name += " " + axis;
    ++counts[name];
  }
  return counts;
}

std::vector<std::string> moves(const ShardedBlock& block) {
  std::vector<std::string> lines;
  for (const Op& op : block.local.graph.ops()) {
    const auto* move = std::get_if<Collective>(&op.kind);
    if (move == nullptr) continue;
    std::string line = std::string(name_of(op.pass)) + " " + op.name;
    for (const std::string& axis : move->mesh_axes) line += " " + axis;
    lines.push_back(line + " " + move->array_elements.str());
  }
  return lines;
}

ShardedBlock sharded_layer(const std::string& model, const Assignment& assignment,
                           const std::string& remat = "none") {
  return shard(layer_of(program_of(model, remat)), assignment);
}

// Megatron (Shoeybi et al. 2019, figure 3): f and g, one all-reduce a block and pass.
TEST(ShardGraph, TensorParallelReducesTwiceEachWay) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kTp));
  EXPECT_THAT(collectives(layer, Pass::kForward), ElementsAre(Pair("all_reduce tp", 2)));
  EXPECT_THAT(collectives(layer, Pass::kBackward), ElementsAre(Pair("all_reduce tp", 2)));
  EXPECT_THAT(layer.gradients, IsEmpty());
}

// Korthikanti et al. 2022, section 4.2.2, and the gathers again that it mentions for backward.
TEST(ShardGraph, SequenceParallelGathersAndScatters) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kTp, true));
  EXPECT_THAT(collectives(layer, Pass::kForward),
              UnorderedElementsAre(Pair("all_gather tp", 2), Pair("reduce_scatter tp", 2)));
  EXPECT_THAT(collectives(layer, Pass::kBackward),
              UnorderedElementsAre(Pair("all_gather tp", 4), Pair("reduce_scatter tp", 2)));
  // Norms are on T: their gradients are partial sums.
  ASSERT_EQ(layer.gradients.size(), 2U);
  EXPECT_EQ(layer.gradients[0].parameter, "attention.norm.weight");
  EXPECT_THAT(layer.gradients[0].collective.mesh_axes, ElementsAre("tp"));
}

TEST(ShardGraph, FsdpGathersEveryMatrixForEachPass) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kFsdp));
  EXPECT_THAT(collectives(layer, Pass::kForward), ElementsAre(Pair("all_gather fsdp", 7)));
  EXPECT_THAT(collectives(layer, Pass::kBackward),
              UnorderedElementsAre(Pair("all_gather fsdp", 7), Pair("reduce_scatter fsdp", 7)));
  EXPECT_THAT(layer.gradients, IsEmpty());
}

// A gather of a parameter serves recomputation and backward; nothing is gathered three times.
TEST(ShardGraph, RecomputationSharesTheGathersOfParameters) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kFsdp), "full");
  EXPECT_THAT(collectives(layer, Pass::kForward), ElementsAre(Pair("all_gather fsdp", 7)));
  EXPECT_THAT(collectives(layer, Pass::kRecompute), ElementsAre(Pair("all_gather fsdp", 7)));
  EXPECT_THAT(collectives(layer, Pass::kBackward), ElementsAre(Pair("reduce_scatter fsdp", 7)));
}

TEST(ShardGraph, RecomputationRepeatsTheMovesOfActivations) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kTp, true), "full");
  EXPECT_THAT(collectives(layer, Pass::kRecompute),
              UnorderedElementsAre(Pair("all_gather tp", 2), Pair("reduce_scatter tp", 2)));
}

TEST(ShardGraph, DataParallelReducesEachGradientOnceAStep) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kDp));
  EXPECT_THAT(moves(layer), IsEmpty());
  ASSERT_EQ(layer.gradients.size(), 9U);  // seven matrices, two norms
  EXPECT_EQ(layer.gradients[1].parameter, "attention.q.weight");
  EXPECT_EQ(layer.gradients[1].collective.array_elements.str(), "D*N*H");
}

// K and V travel the ring, and again backward, with their gradients.
TEST(ShardGraph, ContextParallelMovesKeysAndValues) {
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(ParallelAxis::kCp));
  EXPECT_THAT(moves(layer),
              ElementsAre("forward attention.k_keys.all_gather cp B*S*K*H",
                          "forward attention.v_keys.all_gather cp B*S*K*H",
                          "recompute attention.k_keys.all_gather cp B*S*K*H",
                          "backward attention.v_keys.all_gather cp B*S*K*H",
                          "backward grad.attention.v_keys.reduce_scatter cp B*S*K*H",
                          "backward grad.attention.k_keys.reduce_scatter cp B*S*K*H"));
}

// Dispatch and combine, each way k copies of every token.
TEST(ShardGraph, ExpertParallelExchangesTokens) {
  const ShardedBlock layer = sharded_layer(kMoe, assignment_of(ParallelAxis::kEp));
  EXPECT_THAT(moves(layer), ElementsAre("forward experts.dispatch.all_to_all ep B*T*D*k",
                                        "forward experts.down.all_to_all ep B*T*D*k",
                                        "backward grad.experts.down.all_to_all ep B*T*D*k",
                                        "backward grad.experts.dispatch.3.all_to_all ep B*T*D*k"));
  // Experts are whole where they are, all else is replicated.
  std::vector<std::string> reduced;
  for (const GradientReduction& gradient : layer.gradients) reduced.push_back(gradient.parameter);
  EXPECT_THAT(reduced, ElementsAre("attention.norm.weight", "attention.q.weight",
                                   "attention.k.weight", "attention.v.weight", "attention.o.weight",
                                   "mlp.norm.weight", "router.scores.weight"));
}

// tp = tk*tg with K on tk alone: keys and values are the same on the tg devices of a group.
TEST(ShardGraph, FewerKeyHeadsThanDevicesAreReplicated) {
  const MeshSet tp = MeshSet(ParallelAxis::kTp) | ParallelAxis::kTpGroups;
  const ShardedBlock layer = sharded_layer(kDense, assignment_of(tp, true));
  EXPECT_THAT(collectives(layer, Pass::kForward),
              UnorderedElementsAre(Pair("all_gather tk tg", 2), Pair("reduce_scatter tk tg", 2)));
  EXPECT_THAT(collectives(layer, Pass::kBackward),
              UnorderedElementsAre(Pair("all_gather tk tg", 4), Pair("reduce_scatter tk tg", 2)));
  const Graph& graph = layer.local.graph;
  EXPECT_EQ(elements(graph.tensor(graph.find("attention.k"))).str(), "B*T*K*H/tk");
  EXPECT_EQ(elements(graph.tensor(graph.find("attention.q"))).str(), "B*T*N*H/(tg*tk)");
  std::map<std::string, std::vector<std::string>> reduced;
  for (const GradientReduction& gradient : layer.gradients) {
    reduced[gradient.parameter] = gradient.collective.mesh_axes;
  }
  EXPECT_THAT(reduced["attention.k.weight"], ElementsAre("tg"));
  EXPECT_EQ(reduced.count("attention.q.weight"), 0U);
}

TEST(ShardGraph, VocabularyOnTpReducesTheRowsOfTheLoss) {
  const Program program = program_of(kDense);
  const ShardedBlock embed = shard(program.blocks.front(), assignment_of(ParallelAxis::kTp));
  EXPECT_THAT(moves(embed), ElementsAre("forward embed.tokens.all_reduce tp B*T*D"));
  const ShardedBlock head = shard(program.blocks.back(), assignment_of(ParallelAxis::kTp));
  EXPECT_THAT(moves(head), ElementsAre("forward loss.unembed.stats tp 3*B*T",
                                       "backward grad.final.norm.all_reduce tp B*T*D"));
}

// Every contraction's work is divided by all mesh axes that split it, and by nothing else.
TEST(ShardGraph, WorkIsSharedOut) {
  const MeshSet all = MeshSet(ParallelAxis::kDp) | ParallelAxis::kFsdp | ParallelAxis::kEp |
                      ParallelAxis::kCp | ParallelAxis::kTp;
  const auto check = [&](const char* model, const char* remat) {
    const Program program = program_of(model, remat);
    for (const Block& block : program.blocks) {
      const ShardedBlock sharded = shard(block, assignment_of(all, true));
      const Graph& local = sharded.local.graph;
      std::vector<Work> parts;
      for (const Op& op : local.ops()) {
        if (!std::holds_alternative<Collective>(op.kind)) parts.push_back(work_of(local, op));
      }
      ASSERT_EQ(parts.size(), block.graph.ops().size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const Op& op = block.graph.ops()[i];
        if (!std::holds_alternative<Contraction>(op.kind)) continue;
        const Work whole = work_of(block.graph, op);
        EXPECT_EQ((parts[i].flops * parse_expr("dp*fsdp*ep*cp*tp")).str(), whole.flops.str())
            << op.name;
        EXPECT_EQ((parts[i].dense * parse_expr("dp*fsdp*ep*cp*tp")).str(), whole.dense.str())
            << op.name;
      }
    }
  };
  check(kDense, "none");
  check(kDense, "full");
  check(kMoe, "block");
}

// The rules cover every operation of every architecture; work is divided or repeated, never lost.
TEST(ShardGraph, CoversTheCatalog) {
  const MeshSet all = MeshSet(ParallelAxis::kDp) | ParallelAxis::kFsdp | ParallelAxis::kEp |
                      ParallelAxis::kCp | ParallelAxis::kTp;
  Sizes mesh;
  for (const char* axis : {"dp", "fsdp", "ep", "cp", "tp"}) mesh[axis] = 2;
  for (const CatalogModel& row : model_catalog()) {
    SCOPED_TRACE(row.name);
    const Model model = read_catalog_row(row);
    WorkloadRequest request;
    request.batch = 16;
    request.seq_len = 32;
    const Program program = build_training_program(model, resolve(request, model), {});
    for (const Block& block : program.blocks) {
      Sizes sizes = program.sizes_of(block);
      sizes.insert(mesh.begin(), mesh.end());
      const ShardedBlock sharded = shard(block, assignment_of(all, true));
      double here = 0;
      double whole = 0;
      for (const Op& op : sharded.local.graph.ops()) {
        here += work_of(sharded.local.graph, op).flops.eval_double(sizes);
      }
      for (const Op& op : block.graph.ops()) {
        whole += work_of(block.graph, op).flops.eval_double(sizes);
      }
      EXPECT_GE(here * 32 * (1 + 1e-9), whole) << block.name;
      EXPECT_LE(here, whole * (1 + 1e-9)) << block.name;
    }
  }
}

// Nothing moves and nothing changes on one device.
TEST(ShardGraph, OneDeviceKeepsTheGraph) {
  const Program program = program_of(kMoe, "matmuls");
  for (const Block& block : program.blocks) {
    const ShardedBlock sharded = shard(block, Assignment{});
    ASSERT_EQ(sharded.local.graph.ops().size(), block.graph.ops().size());
    EXPECT_EQ(sharded.local.graph.tensors().size(), block.graph.tensors().size());
    for (std::size_t i = 0; i < block.graph.ops().size(); ++i) {
      EXPECT_EQ(describe(sharded.local.graph, sharded.local.graph.ops()[i]),
                describe(block.graph, block.graph.ops()[i]));
    }
    EXPECT_THAT(sharded.gradients, IsEmpty());
  }
}

}  // namespace
}  // namespace flopwise
