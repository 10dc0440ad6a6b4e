// Backward graphs of small blocks: which operations differentiation derives, and what they read.
#include "flopwise/graph/backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "flopwise/graph/remat.h"

namespace flopwise {
namespace {

Axis axis(const char* name) {
  return {name, Expr::symbol(name)};
}

class SmallGraph {
 public:
  TensorId add(const std::string& name, std::vector<Axis> axes, Role role = Role::kActivation) {
    Tensor tensor{name, std::move(axes), role};
    if (role == Role::kParameter) tensor.element = Element::kWeight;
    return graph.add_tensor(std::move(tensor));
  }
  TensorId op(const std::string& name, OpKind kind, std::vector<TensorId> inputs, TensorId output) {
    graph.add_op({name, std::move(kind), std::move(inputs), {output}});
    return output;
  }
  Graph graph;
};

std::vector<std::string> names(const Graph& graph, Pass pass) {
  std::vector<std::string> result;
  for (const Op& op : graph.ops()) {
    if (op.pass == pass) result.push_back(op.name);
  }
  return result;
}

std::string expression(const Graph& graph, const std::string& name) {
  for (const Op& op : graph.ops()) {
    if (op.name == name) return describe(graph, op);
  }
  return "no operation " + name;
}

// y = x W: one contraction per operand that needs a gradient.
TEST(Backward, ContractionGivesOneContractionPerOperand) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("D")}, Role::kInput);
  const TensorId w = g.add("w", {axis("D"), axis("F")}, Role::kParameter);
  const TensorId y = g.add("y", {axis("B"), axis("F")});
  g.op("y", Contraction{}, {x, w}, y);
  g.graph.outputs = {y};
  const Graph graph = differentiate(g.graph);
  EXPECT_EQ(names(graph, Pass::kBackward), (std::vector<std::string>{"y.d_x", "y.d_w"}));
  EXPECT_EQ(expression(graph, "y.d_x"), "grad.y[B,F] *_F w[D,F] -> grad.x[B,D]");
  EXPECT_EQ(expression(graph, "y.d_w"), "grad.y[B,F] *_B x[B,D] -> grad.w[D,F]");
}

TEST(Backward, OperandWithoutGradientGetsNone) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("D")}, Role::kInput);
  g.graph.tensor(x).needs_gradient = false;
  const TensorId w = g.add("w", {axis("D"), axis("F")}, Role::kParameter);
  const TensorId y = g.add("y", {axis("B"), axis("F")});
  g.op("y", Contraction{}, {x, w}, y);
  g.graph.outputs = {y};
  EXPECT_EQ(names(differentiate(g.graph), Pass::kBackward), (std::vector<std::string>{"y.d_w"}));
}

// z = x + (y + b): the residual hands its gradient on, the bias sums it over B.
TEST(Backward, AdditionHandsOnAndBroadcastSums) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("D")}, Role::kInput);
  const TensorId y = g.add("y", {axis("B"), axis("D")}, Role::kInput);
  const TensorId b = g.add("b", {axis("D")}, Role::kParameter);
  const TensorId biased =
      g.op("biased", Map{scalar_add()}, {y, b}, g.add("biased", {axis("B"), axis("D")}));
  const TensorId z = g.op("z", Map{scalar_add()}, {x, biased}, g.add("z", {axis("B"), axis("D")}));
  g.graph.outputs = {z};
  const Graph graph = differentiate(g.graph);
  EXPECT_EQ(names(graph, Pass::kBackward), (std::vector<std::string>{"biased.d_b"}));
  EXPECT_EQ(expression(graph, "biased.d_b"), "sum(grad.z[B,D]) -> grad.b[D]");
}

// A tensor read twice adds its two gradients once.
TEST(Backward, FanOutAddsGradients) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("D")}, Role::kInput);
  const TensorId y = g.op("y", Map{scalar_relu()}, {x}, g.add("y", {axis("B"), axis("D")}));
  const TensorId z = g.op("z", Map{scalar_add()}, {x, y}, g.add("z", {axis("B"), axis("D")}));
  g.graph.outputs = {z};
  EXPECT_EQ(names(differentiate(g.graph), Pass::kBackward),
            (std::vector<std::string>{"y.d_x", "x.grad_sum"}));
}

// What all layers share adds its gradient to what the other layers gave.
TEST(Backward, SharedInputAccumulatesOverLayers) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("D")}, Role::kInput);
  const TensorId memory = g.add("memory", {axis("B"), axis("D")}, Role::kInput);
  g.graph.tensor(memory).shared = true;
  const TensorId y = g.op("y", Map{scalar_mul()}, {x, memory}, g.add("y", {axis("B"), axis("D")}));
  g.graph.outputs = {y};
  EXPECT_EQ(names(differentiate(g.graph), Pass::kBackward),
            (std::vector<std::string>{"y.d_x", "y.d_memory", "memory.grad_sum"}));
}

// Either gradient of a convolution is a convolution's worth of multiply-adds.
TEST(Backward, Convolution) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("P"), axis("c")}, Role::kInput);
  const TensorId w = g.add("w", {axis("q"), axis("c"), axis("D")}, Role::kParameter);
  const TensorId y =
      g.op("y", Convolution{2}, {x, w}, g.add("y", {axis("B"), axis("T"), axis("D")}));
  g.graph.outputs = {y};
  EXPECT_EQ(names(differentiate(g.graph), Pass::kBackward),
            (std::vector<std::string>{"y.d_x", "y.d_w"}));
}

// The gradient of a sum is the same for every element that was added.
TEST(Backward, SumBroadcastsItsGradient) {
  SmallGraph g;
  const TensorId x = g.add("x", {axis("B"), axis("k")}, Role::kInput);
  const TensorId total = g.op("total", Sum{}, {x}, g.add("total", {axis("B")}));
  g.graph.outputs = {total};
  EXPECT_EQ(expression(differentiate(g.graph), "total.d_x"),
            "broadcast(grad.total[B]) -> grad.x[B,k]");
}

// A fused core: o = softmax(q k) v.
Graph fused_core() {
  SmallGraph g;
  const TensorId q = g.add("q", {axis("T"), axis("H")}, Role::kInput);
  const TensorId k = g.add("k", {axis("S"), axis("H")}, Role::kInput);
  const TensorId v = g.add("v", {axis("S"), axis("H")}, Role::kInput);
  const RegionId region = g.graph.add_region({"core"});
  const TensorId s = g.add("s", {axis("T"), axis("S")});
  const TensorId p = g.add("p", {axis("T"), axis("S")});
  const TensorId lse = g.add("lse", {axis("T")});
  const TensorId o = g.add("o", {axis("T"), axis("H")});
  const Contraction attention{OpClass::kAttention, ""};
  g.graph.add_op({
      "qk", attention, {q, k},
        {s},
        Component::kAttention, Pass::kForward, region
  });
  g.graph.add_op({
      "softmax",
      Softmax{"S",  Scale(0.5)},
      {s   },
      {p, lse          },
      Component::kAttention,
      Pass::kForward,
      region
  });
  g.graph.add_op({
      "av", attention, {p, v},
        {o},
        Component::kAttention, Pass::kForward, region
  });
  g.graph.region(region).output = o;
  g.graph.region(region).row_stats = lse;
  g.graph.outputs = {o};
  return g.graph;
}

// Scores and weights are computed again from q, k and the row statistics; the row sum of p*dp comes
// from o*do.
TEST(Backward, FusedAttentionRecomputesItsScores) {
  const Graph graph = differentiate(fused_core());
  EXPECT_EQ(names(graph, Pass::kRecompute), (std::vector<std::string>{"qk", "softmax"}));
  EXPECT_EQ(expression(graph, "core.o_do"), "mul(o[T,H], grad.o[T,H]) -> grad.core.o_do[T,H]");
  EXPECT_EQ(names(graph, Pass::kBackward),
            (std::vector<std::string>{"core.o_do", "core.delta", "av.d_p", "av.d_v", "softmax.d_s",
                                      "qk.d_q", "qk.d_k"}));
  for (const Op& op : graph.ops()) {
    if (op.pass == Pass::kRecompute && op.name == "softmax") {
      EXPECT_TRUE(std::holds_alternative<SoftmaxFromStats>(op.kind));
    }
  }
}

// docs/conventions.md, "Rematerialisation": flash reads Q, K, V, O and the row log-sum-exp, nothing
// of size T*S.
TEST(Backward, FusedAttentionKeepsNoScores) {
  const Graph graph = rematerialise(differentiate(fused_core()), {}, true);
  std::vector<std::string> saved;
  for (const TensorId id : graph.saved) saved.push_back(graph.tensor(id).name);
  std::sort(saved.begin(), saved.end());
  EXPECT_EQ(saved, (std::vector<std::string>{"k", "lse", "o", "q", "v"}));
}

}  // namespace
}  // namespace flopwise
