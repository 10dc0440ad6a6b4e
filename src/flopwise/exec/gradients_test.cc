// Every operation's derived gradient against central differences and, where nothing rounds, dual
// numbers; and its arithmetic, forward and backward, against the formula.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopwise/cost/flops.h"
#include "flopwise/exec/block_run.h"
#include "flopwise/graph/backward.h"
#include "flopwise/graph/remat.h"

namespace flopwise::exec {
namespace {

const Sizes& test_sizes() {
  static const Sizes kSizes = {
      {"B", 2},
      {"T", 4},
      {"S", 6},
      {"D", 5},
      {"F", 7},
      {"N", 6},
      {"K", 3},
      {"G", 2},
      {"H", 4},
      {"V", 9},
      {"E", 5},
      {"k", 2},
      {"W", 3},
      {"Q", 3},
      {"L", 9}
  };
  return kSizes;
}

std::vector<Axis> axes(const std::string& names) {
  std::vector<Axis> result;
  for (const char name : names) {
    result.push_back({std::string(1, name), Expr::symbol(std::string(1, name))});
  }
  return result;
}

// A graph of one operation.
class TestGraph {
 public:
  TestGraph& in(const std::string& names, Role role = Role::kInput) {
    return tensor(fmt::format("in{}", count_++), names, role);
  }
  TestGraph& ids(const std::string& names) {
    in(names);
    graph_.tensor(last()).element = Element::kIndex;
    graph_.tensor(last()).needs_gradient = false;
    return *this;
  }
  TestGraph& out(const std::string& names) {
    return tensor(fmt::format("out{}", count_++), names, Role::kActivation);
  }
  TestGraph& masked(MaskKind kind) {
    const PairMask mask{kind, Expr::symbol("W")};
    graph_.tensor(last()).masking = Masking{mask, "T", "S"};
    return *this;
  }
  TestGraph& op(OpKind kind, std::vector<TensorId> inputs, const std::vector<TensorId>& outputs) {
    graph_.add_op({"op", std::move(kind), std::move(inputs), outputs});
    graph_.outputs = {outputs[0]};
    return *this;
  }
  Graph differentiated() const {
    return rematerialise(differentiate(graph_), {RematKind::kNone, {}}, true);
  }

 private:
  TestGraph& tensor(const std::string& name, const std::string& names, Role role) {
    Tensor tensor;
    tensor.name = name;
    tensor.role = role;
    tensor.axes = axes(names);
    graph_.add_tensor(std::move(tensor));
    return *this;
  }
  TensorId last() const { return static_cast<TensorId>(graph_.tensors().size()) - 1; }

  Graph graph_;
  int count_ = 0;
};

// The inputs of a graph, drawn once; element `moved` of tensor `tensor` shifted by `shift`.
template <typename Scalar>
struct Evaluation {
  const Graph& graph;
  TensorId moved = kNoTensor;
  std::int64_t element = 0;
  Scalar shift = 0.0;

  BlockRun<Scalar> run() const {
    BlockRun<Scalar> run(graph, test_sizes(), 17, ElementBytes{});
    for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
      const Tensor& tensor = graph.tensor(id);
      if (tensor.role != Role::kInput && tensor.role != Role::kParameter) continue;
      Array<Scalar> array(run.shape_of(id));
      for (std::int64_t i = 0; i < array.size(); ++i) {
        const double draw = uniform(derived_seed(3, tensor.name), static_cast<std::uint64_t>(i));
        // Ids are below every table's size; numbers stay away from the kinks at 0 and from 0
        // itself, by which some operations divide.
        array[i] = tensor.element == Element::kIndex ? std::floor(draw * 5)
                   : draw < 0.5                      ? -0.2 - draw
                                                     : 0.2 + draw;
      }
      if (id == moved) array[element] = array[element] + shift;
      run.set(id, array);
    }
    run.forward();
    return run;
  }

  Scalar objective(const BlockRun<Scalar>& run) const {
    if (std::holds_alternative<CrossEntropy>(graph.ops()[0].kind)) return run.loss();
    const Array<Scalar> out = run.get(graph.outputs[0]);
    Scalar sum = 0.0;
    for (std::int64_t i = 0; i < out.size(); ++i) sum = sum + out[i] * Scalar(slope(i));
    return sum;
  }
  static double slope(std::int64_t i) { return 2 * uniform(5, static_cast<std::uint64_t>(i)) - 1; }
};

void check(const TestGraph& test) {
  const Graph graph = test.differentiated();
  const Evaluation<CountedDouble> evaluation{graph};
  BlockRun<CountedDouble> run = evaluation.run();
  for (const GradientOf& link : graph.gradients) {
    if (link.gradient != kNoTensor || link.arriving == kNoTensor) continue;
    const Array<CountedDouble> out = run.get(link.tensor);
    Array<CountedDouble> arriving(run.shape_of(link.arriving));
    for (std::int64_t i = 0; i < arriving.size(); ++i) {
      const bool is_masked = out[i].value() == 0;
      arriving[i] = is_masked ? 0.0 : Evaluation<CountedDouble>::slope(i);
    }
    run.set(link.arriving, arriving);
  }
  run.backward();

  std::int64_t checked = 0;
  for (const GradientOf& link : graph.gradients) {
    if (link.gradient == kNoTensor) continue;
    const Array<CountedDouble> gradient = run.get(link.gradient);
    double largest = 0;
    for (const CountedDouble& g : gradient.data()) largest = std::max(largest, std::abs(g.value()));
    ASSERT_GT(largest, 0) << graph.tensor(link.tensor).name;
    for (std::int64_t i = 0; i < gradient.size(); ++i) {
      constexpr double kStep = 1e-5;
      const auto at = [&](double shift) {
        const Evaluation<double> moved{graph, link.tensor, i, shift};
        return moved.objective(moved.run());
      };
      const double central = (at(kStep) - at(-kStep)) / (2 * kStep);
      EXPECT_NEAR(gradient[i].value(), central, 1e-6 * largest)
          << graph.tensor(link.tensor).name << "[" << i << "]";
      const Evaluation<Dual> dual{graph, link.tensor, i, Dual(0, 1)};
      EXPECT_NEAR(gradient[i].value(), dual.objective(dual.run()).slope, 1e-12 * largest)
          << graph.tensor(link.tensor).name << "[" << i << "]";
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    EXPECT_EQ(work_of(graph, op).flops.eval_count(test_sizes(), op.name),
              Count(run.tallies()[i].total()))
        << name_of(op.pass) << " " << op.name;
  }
}

struct Case {
  std::string name;
  TestGraph graph;
};

std::vector<Case> cases() {
  const auto map = [](const ScalarProgram& program) {
    return TestGraph().in("BTD").out("BTD").op(Map{program}, {0}, {1});
  };
  const auto norm = [](bool centred, bool weight, bool bias, int normalised) {
    TestGraph graph;
    const std::string last = normalised == 1 ? "D" : "TD";
    graph.in("BTD");
    std::vector<TensorId> inputs = {0};
    for (const bool is_there : {weight, bias}) {
      if (!is_there) continue;
      graph.in(last, Role::kParameter);
      inputs.push_back(static_cast<TensorId>(inputs.size()));
    }
    graph.out("BTD");
    return graph.op(Norm{centred, weight, bias, normalised}, inputs,
                    {static_cast<TensorId>(inputs.size())});
  };
  const auto scores = [](MaskKind kind) {
    return TestGraph().in("BTKGH").in("BSKH").out("BKGTS").masked(kind).op(
        Contraction{OpClass::kAttention, ""}, {0, 1}, {2});
  };
  const auto softmax = [](MaskKind kind, std::optional<Scale> scale) {
    return TestGraph().in("BTS").masked(kind).out("BTS").masked(kind).op(Softmax{"S", scale}, {0},
                                                                         {1});
  };
  std::vector<Case> list;
  const auto add = [&](const char* name, const TestGraph& graph) { list.push_back({name, graph}); };
  add("matmul",
      TestGraph().in("BTD").in("DF", Role::kParameter).out("BTF").op(Contraction{}, {0, 1}, {2}));
  add("outer",
      TestGraph().in("BT").in("D", Role::kParameter).out("BTD").op(Contraction{}, {0, 1}, {2}));
  add("elementwise", TestGraph().in("BT").in("BT").out("BT").op(Contraction{}, {0, 1}, {2}));
  add("routed", TestGraph()
                    .in("BTkD")
                    .in("EDF", Role::kParameter)
                    .ids("BTk")
                    .out("BTkF")
                    .op(Contraction{OpClass::kMatmul, "E"}, {0, 1, 2}, {3}));
  add("scores", scores(MaskKind::kFull));
  add("causal scores", scores(MaskKind::kCausal));
  add("scores of two parts", TestGraph()
                                 .in("BTKGH")
                                 .in("BSKH")
                                 .in("BKGTS")
                                 .masked(MaskKind::kCausal)
                                 .out("BKGTS")
                                 .masked(MaskKind::kCausal)
                                 .op(Contraction{OpClass::kAttention, ""}, {0, 1, 2}, {3}));
  add("window scores", scores(MaskKind::kWindow));
  add("chunk scores", scores(MaskKind::kChunk));
  add("weighted sum", TestGraph()
                          .in("BKGTS")
                          .masked(MaskKind::kCausal)
                          .in("BSKH")
                          .out("BTKGH")
                          .op(Contraction{OpClass::kAttention, ""}, {0, 1}, {2}));
  add("relu", map(scalar_relu()));
  add("relu2", map(scalar_relu2()));
  add("silu", map(scalar_silu()));
  add("gelu", map(scalar_gelu()));
  add("gelu_tanh", map(scalar_gelu_tanh()));
  add("tanh", map(scalar_tanh()));
  add("sigmoid", map(scalar_sigmoid()));
  add("softcap", map(scalar_softcap(2)));
  add("scale", map(scalar_scale(0.3)));
  add("gate",
      TestGraph().in("BTF").in("BTF").out("BTF").op(Map{scalar_gated(scalar_silu())}, {0, 1}, {2}));
  add("bias", TestGraph()
                  .in("BTD")
                  .in("D", Role::kParameter)
                  .out("BTD")
                  .op(Map{scalar_add()}, {0, 1}, {2}));
  add("broadcast product",
      TestGraph().in("BTD").in("BT").out("BTD").op(Map{scalar_mul()}, {0, 1}, {2}));
  add("quotient", TestGraph().in("BTk").in("BT").out("BTk").op(Map{scalar_div()}, {0, 1}, {2}));
  add("masked bias", TestGraph()
                         .in("BKGTS")
                         .masked(MaskKind::kWindow)
                         .in("KGTS")
                         .masked(MaskKind::kWindow)
                         .out("BKGTS")
                         .masked(MaskKind::kWindow)
                         .op(Map{scalar_add()}, {0, 1}, {2}));
  add("sum", TestGraph().in("BTk").out("BT").op(Sum{}, {0}, {1}));
  add("broadcast", TestGraph().in("BT").out("BTD").op(Broadcast{}, {0}, {1}));
  add("softmax", softmax(MaskKind::kFull, {}));
  add("scaled softmax", softmax(MaskKind::kFull, Scale(0.7)));
  add("causal softmax", softmax(MaskKind::kCausal, Scale(0.7)));
  add("window softmax", softmax(MaskKind::kWindow, {}));
  add("softmax with a sink", TestGraph()
                                 .in("BKGTS")
                                 .masked(MaskKind::kCausal)
                                 .in("KG", Role::kParameter)
                                 .out("BKGTS")
                                 .masked(MaskKind::kCausal)
                                 .op(Softmax{"S", Scale(0.7)}, {0, 1}, {2}));
  add("rms norm", norm(false, true, false, 1));
  add("rms norm of two axes", norm(false, true, false, 2));
  add("layer norm", norm(true, true, true, 1));
  add("layer norm without bias", norm(true, true, false, 1));
  add("layer norm without parameters", norm(true, false, false, 1));
  add("lookup",
      TestGraph().ids("BT").in("VD", Role::kParameter).out("BTD").op(Gather{}, {0, 1}, {2}));
  add("top k by other ranks",
      TestGraph().in("BTE").ids("BTE").out("BTk").out("BTk").op(TopK{"E"}, {0, 1}, {2, 3}));
  add("top k", TestGraph().in("BTE").out("BTk").out("BTk").op(TopK{"E"}, {0}, {1, 2}));
  add("dispatch", TestGraph().in("BTD").ids("BTk").out("BTkD").op(Dispatch{}, {0, 1}, {2}));
  add("combine", TestGraph().in("BTkD").ids("BTk").out("BTkD").op(Combine{}, {0, 1}, {2}));
  add("rotary", TestGraph().in("BTNH").out("BTNH").op(Rotary{Expr::symbol("H"), 2}, {0}, {1}));
  add("partial rotary", TestGraph().in("BTNH").out("BTNH").op(Rotary{2, 1}, {0}, {1}));
  add("dropout", TestGraph().in("BTD").out("BTD").out("BTD").op(Dropout{0.4}, {0}, {1, 2}));
  add("cross entropy",
      TestGraph().in("BTV").ids("BT").out("BT").out("BT").op(CrossEntropy{}, {0, 1}, {2, 3}));
  add("convolution",
      TestGraph().in("BLD").in("QDF", Role::kParameter).out("BTF").op(Convolution{2}, {0, 1}, {2}));
  add("last position", TestGraph().in("BTD").out("BD").op(TakeOne{true}, {0}, {1}));
  add("first position", TestGraph().in("BTD").out("BD").op(TakeOne{false}, {0}, {1}));
  return list;
}

class OpGradient : public testing::TestWithParam<std::size_t> {};

TEST_P(OpGradient, IsTheDerivative) {
  const Case test = cases().at(GetParam());
  SCOPED_TRACE(test.name);
  check(test.graph);
}
INSTANTIATE_TEST_SUITE_P(All, OpGradient, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& instance) {
                           std::string name = cases().at(instance.param).name;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace flopwise::exec
