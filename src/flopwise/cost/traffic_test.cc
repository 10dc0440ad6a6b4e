#include "flopwise/cost/traffic.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/graph/backward.h"
#include "flopwise/graph/remat.h"

namespace flopwise {
namespace {

const DType kBf16 = find_dtype("bf16");
const DType kInt8 = find_dtype("int8");

Axis axis(const char* name) {
  return {name, Expr::symbol(name)};
}

// y = act(x W) + x
Graph residual_layer() {
  Graph graph;
  const std::vector<Axis> hidden = {axis("B"), axis("D")};
  const TensorId x = graph.add_tensor({"x", hidden, Role::kInput});
  const Axis out{"D", Expr::symbol("D")};
  const TensorId w = graph.add_tensor({
      "w", {axis("F"), out},
       Role::kParameter, Element::kWeight
  });
  const TensorId wide = graph.add_tensor({
      "wide", {axis("B"), axis("F")},
       Role::kInput
  });
  const TensorId h = graph.add_tensor({"h", hidden});
  const TensorId a = graph.add_tensor({"a", hidden});
  const TensorId y = graph.add_tensor({"y", hidden});
  graph.add_op({
      "h", Contraction{   },
       {wide, w},
       {h   }
  });
  graph.add_op({"a", Map{scalar_relu()}, {h}, {a}});
  graph.add_op({
      "y", Map{scalar_add()},
       {x,            a},
       {y           }
  });
  graph.outputs = {y};
  return graph;
}

std::vector<std::string> totals(const Graph& graph, Fusion fusion) {
  std::vector<std::string> result;
  for (const Traffic& traffic : traffic_of(graph, fusion, {kBf16, kInt8, kBf16})) {
    result.push_back(traffic.total().str());
  }
  return result;
}

TEST(Traffic, UnfusedEveryOperationReadsAndWrites) {
  EXPECT_EQ(totals(residual_layer(), Fusion::kUnfused),
            (std::vector<std::string>{parse_expr("2*B*F + D*F + 2*B*D").str(), "4*B*D", "6*B*D"}));
}

// h and a stay inside the kernel; the residual's other operand is read.
TEST(Traffic, FusedElementwiseWorkRidesOnItsProducer) {
  EXPECT_EQ(totals(residual_layer(), Fusion::kFused),
            (std::vector<std::string>{parse_expr("2*B*F + D*F + 4*B*D").str(), "0", "0"}));
}

// Eager, an activation and the sum behind it are one kernel, apart from the product; a bias is
// added by its product.
TEST(Traffic, EagerOnlyABiasRidesOnItsProduct) {
  EXPECT_EQ(totals(residual_layer(), Fusion::kEager),
            (std::vector<std::string>{parse_expr("2*B*F + D*F + 2*B*D").str(), "6*B*D", "0"}));
  Graph graph;
  const TensorId x = graph.add_tensor({
      "x", {axis("B"), axis("F")},
       Role::kInput
  });
  const TensorId w = graph.add_tensor({
      "w", {axis("F"), axis("D")},
       Role::kParameter, Element::kWeight
  });
  const TensorId b = graph.add_tensor({"b", {axis("D")}, Role::kParameter, Element::kWeight});
  const TensorId h = graph.add_tensor({
      "h", {axis("B"), axis("D")}
  });
  const TensorId y = graph.add_tensor({
      "y", {axis("B"), axis("D")}
  });
  graph.add_op({
      "h", Contraction{},
       {x, w},
       {h}
  });
  graph.add_op({
      "y", Map{scalar_add()},
       {h,            b},
       {y           }
  });
  graph.outputs = {y};
  EXPECT_EQ(totals(graph, Fusion::kEager),
            (std::vector<std::string>{parse_expr("2*B*F + D*F + D + 2*B*D").str(), "0"}));
}

// Eager, queries and keys are one product, in each direction: x is read once, and what backward
// adds up never reaches memory in parts.
TEST(Traffic, EagerProductsOfTheSameActivationsAreOne) {
  Graph graph;
  const TensorId x = graph.add_tensor({
      "x", {axis("B"), axis("D")},
       Role::kInput
  });
  const TensorId wq = graph.add_tensor({
      "wq", {axis("D"), axis("N")},
       Role::kParameter, Element::kWeight
  });
  const TensorId wk = graph.add_tensor({
      "wk", {axis("D"), axis("K")},
       Role::kParameter, Element::kWeight
  });
  const TensorId q = graph.add_tensor({
      "q", {axis("B"), axis("N")}
  });
  const TensorId k = graph.add_tensor({
      "k", {axis("B"), axis("K")}
  });
  graph.add_op({
      "q", Contraction{},
       {x, wq},
       {q}
  });
  graph.add_op({
      "k", Contraction{},
       {x, wk},
       {k}
  });
  graph.outputs = {q, k};
  EXPECT_EQ(totals(graph, Fusion::kFused)[1], parse_expr("2*B*D + D*K + 2*B*K").str());
  const std::string both = parse_expr("2*B*D + D*N + D*K + 2*B*N + 2*B*K").str();
  EXPECT_EQ(totals(graph, Fusion::kEager), (std::vector<std::string>{both, "0"}));

  const Graph trained = rematerialise(differentiate(graph), parse_remat("none"), true);
  const std::vector<OpId> kernels = kernels_of(trained, Fusion::kEager);
  std::set<OpId> backward;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (trained.ops()[i].pass == Pass::kBackward) backward.insert(kernels[i]);
  }
  EXPECT_EQ(backward.size(), 2u);  // gradients of x, added up, and of both matrices
}

// Eager, n logits in bf16: forward 2 bytes read, 4 written as fp32, 4 read, 4 of log-probabilities
// written; backward 4 of them read, 4 filled and read, 4 written and read, 2 written.
TEST(Traffic, EagerTheLossIsTakenInFp32) {
  Graph graph;
  const TensorId logits = graph.add_tensor({
      "logits", {axis("B"), axis("V")},
       Role::kInput
  });
  const TensorId loss = graph.add_tensor({"loss", {axis("B")}});
  const TensorId gradient = graph.add_tensor({
      "d", {axis("B"), axis("V")}
  });
  graph.add_op({"loss", CrossEntropy{}, {logits}, {loss}});
  graph.add_op({"d", CrossEntropyBackward{}, {logits}, {gradient}});
  graph.outputs = {loss, gradient};
  EXPECT_EQ(totals(graph, Fusion::kFused),
            (std::vector<std::string>{parse_expr("2*B*V + 2*B").str(), "4*B*V"}));
  EXPECT_EQ(totals(graph, Fusion::kEager),
            (std::vector<std::string>{parse_expr("14*B*V + 2*B").str(), "22*B*V"}));
}

TEST(Traffic, WeightsApartFromActivations) {
  const Traffic traffic = traffic_of(residual_layer(), Fusion::kFused, {kBf16, kInt8, kBf16})[0];
  EXPECT_EQ(traffic.weights.str(), "D*F");
  EXPECT_EQ(traffic.activations.str(), parse_expr("2*B*F + 4*B*D").str());
  EXPECT_EQ(traffic.kv_cache.str(), "0");
}

// What backward reads is written in the forward pass if it is saved, and only then.
TEST(Traffic, ForwardWritesWhatIsSaved) {
  const Graph differentiated = differentiate(residual_layer());
  const Graph all = rematerialise(differentiated, parse_remat("none"), true);
  const Graph none = rematerialise(differentiated, parse_remat("block"), true);
  // h is read by the derivative of the activation.
  EXPECT_EQ(totals(all, Fusion::kFused)[0], parse_expr("2*B*F + D*F + 6*B*D").str());
  EXPECT_EQ(totals(none, Fusion::kFused)[0], parse_expr("2*B*F + D*F + 4*B*D").str());
}

TEST(Traffic, ExpectedExperts) {
  const Expr e = expected_experts(Expr::symbol("E"), Expr::symbol("k"), Expr::symbol("n"));
  // One token reaches its k; many reach all.
  EXPECT_EQ(e.eval_count(
                {
                    {"E", 8},
                    {"k", 2},
                    {"n", 1}
  },
                "experts"),
            Count(2));
  EXPECT_EQ(e.eval_count(
                {
                    {"E", 8    },
                    {"k", 2    },
                    {"n", 10000}
  },
                "experts"),
            Count(8));
  EXPECT_NEAR(e.eval_double({
                  {"E", 8},
                  {"k", 2},
                  {"n", 3}
  }),
              8 * (1 - 0.75 * 0.75 * 0.75), 1e-12);
}

// A vector of fixed length fills its last block; one of a model's width is taken to be whole
// blocks.
TEST(Traffic, BlocksOfQuantisedWeights) {
  const auto weights = [](const Axis& length) {
    Graph graph;
    const TensorId x = graph.add_tensor({"x", {length}, Role::kInput});
    const TensorId w = graph.add_tensor({"w", {length}, Role::kParameter, Element::kWeight});
    const TensorId y = graph.add_tensor({"y", {length}});
    graph.add_op({
        "y", Map{scalar_add()},
         {x,            w},
         {y           }
    });
    graph.outputs = {y};
    const ElementTypes types{kBf16, find_dtype("q8_0"), kBf16};
    return traffic_of(graph, Fusion::kFused, types).at(0).weights.str();
  };
  EXPECT_EQ(weights({"labels", 1000}), "1088");  // 32 blocks of 34 bytes
  EXPECT_EQ(weights({"labels", 1}), "34");
  EXPECT_EQ(weights({"D", Expr::symbol("D")}), "17/16*D");
}

TEST(Traffic, BytesOfElements) {
  const ElementTypes types{kBf16, kInt8, find_dtype("fp8")};
  EXPECT_EQ(bytes_per_element(Element::kCompute, types).str(), "2");
  EXPECT_EQ(bytes_per_element(Element::kWeight, types).str(), "1");
  EXPECT_EQ(bytes_per_element(Element::kCache, types).str(), "1");
  EXPECT_EQ(bytes_per_element(Element::kFp32, types).str(), "4");
  EXPECT_EQ(bytes_per_element(Element::kByte, types).str(), "1");
  EXPECT_EQ(bytes_per_element(Element::kIndex, types).str(), "4");
}

}  // namespace
}  // namespace flopwise
