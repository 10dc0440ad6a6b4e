// What each kind of operation costs, as formulas written by hand here and derived from axes there.
#include "flopwise/cost/flops.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace flopwise {
namespace {

Axis axis(const char* name) {
  return {name, Expr::symbol(name)};
}

std::vector<Axis> axes(std::initializer_list<const char*> names) {
  std::vector<Axis> result;
  for (const char* name : names) result.push_back(axis(name));
  return result;
}

// One operation on tensors given by their axes.
class OneOp {
 public:
  OneOp& in(std::vector<Axis> tensor_axes) {
    inputs_.push_back(graph_.add_tensor({"in", std::move(tensor_axes)}));
    return *this;
  }
  OneOp& out(std::vector<Axis> tensor_axes) {
    outputs_.push_back(graph_.add_tensor({"out", std::move(tensor_axes)}));
    return *this;
  }
  OneOp& masked_out(std::vector<Axis> tensor_axes, MaskKind kind) {
    out(std::move(tensor_axes));
    graph_.tensor(outputs_.back()).masking = Masking{
        {kind, Expr::symbol("W")},
        "T", "S"
    };
    return *this;
  }
  Work work(OpKind kind) {
    graph_.add_op({"op", std::move(kind), inputs_, outputs_});
    return work_of(graph_, graph_.ops().back());
  }

 private:
  Graph graph_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
};

TEST(Flops, ContractionIsTwiceTheProductOfItsAxes) {
  EXPECT_EQ(OneOp()
                .in(axes({"B", "D"}))
                .in(axes({"D", "F"}))
                .out(axes({"B", "F"}))
                .work(Contraction{})
                .flops.str(),
            "2*B*D*F");
  // Batching axes once.
  EXPECT_EQ(OneOp()
                .in(axes({"B", "T", "H"}))
                .in(axes({"B", "S", "H"}))
                .out(axes({"B", "T", "S"}))
                .work(Contraction{})
                .flops.str(),
            "2*B*T*S*H");
  // Nothing contracted: one multiply an element.
  EXPECT_EQ(OneOp()
                .in(axes({"B", "T"}))
                .in(axes({"D"}))
                .out(axes({"B", "T", "D"}))
                .work(Contraction{})
                .flops.str(),
            "B*T*D");
}

// Each token runs over its k experts; the E of the weight is chosen, not summed.
TEST(Flops, RoutedContractionNeverRunsOverExperts) {
  const Work work = OneOp()
                        .in(axes({"B", "T", "k", "D"}))
                        .in(axes({"E", "D", "F"}))
                        .out(axes({"B", "T", "k", "F"}))
                        .work(Contraction{OpClass::kMatmul, "E"});
  EXPECT_EQ(work.flops.str(), "2*B*T*D*F*k");
}

TEST(Flops, MaskedPairsAndDensePairs) {
  const Contraction attention{OpClass::kAttention, ""};
  const Work work = OneOp()
                        .in(axes({"B", "T", "H"}))
                        .in(axes({"B", "S", "H"}))
                        .masked_out(axes({"B", "T", "S"}), MaskKind::kCausal)
                        .work(attention);
  EXPECT_EQ(work.flops.str(), parse_expr("2*B*H*(T*S - 1/2*T^2 + 1/2*T)").str());
  EXPECT_EQ(work.dense.str(), "2*B*T*S*H");
}

TEST(Flops, VectorWork) {
  const std::vector<Axis> x = axes({"B", "T", "D"});
  struct Row {
    const char* what;
    Work work;
    const char* flops;
  };
  const Row rows[] = {
      {"add",                           OneOp().in(x).in(x).out(x).work(Map{scalar_add()}),                           "B*T*D"          },
      {"silu gate",                     OneOp().in(x).in(x).out(x).work(Map{scalar_gated(scalar_silu())}),            "3*B*T*D"        },
      {"sum over B and T",              OneOp().in(x).out(axes({"D"})).work(Sum{}),                                   "B*T*D"          },
      {"softmax",                       OneOp().in(x).out(x).work(Softmax{"D", {}}),                                  "5*B*T*D"        },
      {"scaled softmax",                OneOp().in(x).out(x).work(Softmax{"D", Scale(0.5)}),                          "6*B*T*D"        },
      {"softmax from statistics",       OneOp().in(x).out(x).work(SoftmaxFromStats{"D", Scale(0.5)}),
       "3*B*T*D"                                                                                                                       },
      {"softmax'",                      OneOp().in(x).in(x).out(x).work(SoftmaxBackward{"D", Scale(0.5), false}),
       "5*B*T*D"                                                                                                                       },
      {"softmax' with the row sum",
       OneOp().in(x).in(x).out(x).work(SoftmaxBackward{"D", Scale(0.5), true}),                                       "3*B*T*D"        },
      {"rms norm",                      OneOp().in(x).out(x).work(Norm{false, true, false, 1}),                       "4*B*T*D + 3*B*T"},
      {"layer norm",                    OneOp().in(x).out(x).work(Norm{true, true, true, 1}),                         "7*B*T*D + 4*B*T"},
      {"layer norm without parameters", OneOp().in(x).out(x).work(Norm{true, false, false, 1}),
       "5*B*T*D + 4*B*T"                                                                                                               },
      {"rms norm'",                     OneOp().in(x).out(x).work(NormBackward{{false, true, false, 1}}),
       "11*B*T*D + 4*B*T"                                                                                                              },
      {"layer norm'",                   OneOp().in(x).out(x).work(NormBackward{{true, true, true, 1}}),
       "16*B*T*D + 6*B*T"                                                                                                              },
      {"over the last two axes",        OneOp().in(x).out(x).work(Norm{false, true, false, 2}),
       "4*B*T*D + 3*B"                                                                                                                 },
      {"lookup",                        OneOp().in(axes({"B", "T"})).in(axes({"V", "D"})).out(x).work(Gather{}),      "0"              },
      {"embedding gradient",
       OneOp().in(axes({"B", "T"})).in(x).out(axes({"V", "D"})).work(GatherBackward{}),                               "B*T*D"          },
      {"top-k",                         OneOp().in(axes({"B", "T", "E"})).out(axes({"B", "T", "k"})).work(TopK{"E"}),
       "B*T*E*k"                                                                                                                       },
      {"dispatch",                      OneOp().in(x).out(axes({"B", "T", "k", "D"})).work(Dispatch{}),               "0"              },
      {"rotary of all",
       OneOp().in(axes({"T", "N", "H"})).out(axes({"T", "N", "H"})).work(Rotary{Expr::symbol("H")}),
       "3*T*N*H"                                                                                                                       },
      {"rotary of 16",
       OneOp().in(axes({"T", "N", "H"})).out(axes({"T", "N", "H"})).work(Rotary{16}),                                 "48*T*N"         },
      {"dropout",                       OneOp().in(x).out(x).out(x).work(Dropout{0.1}),                               "2*B*T*D"        },
      {"cross-entropy",
       OneOp().in(axes({"B", "T", "V"})).out(axes({"B", "T"})).work(CrossEntropy{}),
       "4*B*T*V + 4*B*T"                                                                                                               },
      {"cross-entropy'",
       OneOp().in(axes({"B", "T", "V"})).out(axes({"B", "T", "V"})).work(CrossEntropyBackward{}),
       "3*B*T*V + B*T"                                                                                                                 },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(row.work.flops.str(), row.flops);
    EXPECT_EQ(row.work.op_class, std::string(row.flops) == "0" ? OpClass::kNone : OpClass::kVector);
  }
}

// A convolution multiplies every kernel position and channel into every output element.
TEST(Flops, Convolution) {
  const Axis in_positions{"P", Expr::symbol("P")};
  const Axis kernel{"q", 3};
  const Work work = OneOp()
                        .in({
                            axis("B"), in_positions, {"c", 80}
  })
                        .in({kernel, {"c", 80}, axis("D")})
                        .out(axes({"B", "T", "D"}))
                        .work(Convolution{2});
  EXPECT_EQ(work.flops.str(), "480*B*T*D");
  EXPECT_EQ(work.op_class, OpClass::kMatmul);
}

// A product without a sum is one multiply; added to a third input it is a multiply-add.
TEST(Flops, StateUpdateIsAMultiplyAdd) {
  const Contraction outer{OpClass::kAttention, ""};
  EXPECT_EQ(OneOp()
                .in(axes({"B", "T", "I"}))
                .in(axes({"B", "T", "N"}))
                .out(axes({"B", "T", "I", "N"}))
                .work(outer)
                .flops.str(),
            "B*T*N*I");
  const Work work = OneOp()
                        .in(axes({"B", "T", "I"}))
                        .in(axes({"B", "T", "N"}))
                        .in(axes({"B", "T", "I", "N"}))
                        .out(axes({"B", "T", "I", "N"}))
                        .work(outer);
  EXPECT_EQ(work.flops.str(), "2*B*T*N*I");
  EXPECT_EQ(work.op_class, OpClass::kAttention);
}

TEST(Flops, CausalConvolutionIsAMultiplyAddATap) {
  const auto forward = [](OpKind kind) {
    return OneOp()
        .in(axes({"B", "T", "C"}))
        .in(axes({"Q", "C"}))
        .out(axes({"B", "T", "C"}))
        .work(std::move(kind));
  };
  EXPECT_EQ(forward(CausalConvolution{}).flops.str(), "2*B*T*C*Q");
  EXPECT_EQ(forward(CausalConvolution{}).op_class, OpClass::kMatmul);
  EXPECT_EQ(forward(CausalConvolutionBackward{false}).flops.str(), "2*B*T*C*Q");
  EXPECT_EQ(OneOp()
                .in(axes({"B", "T", "C"}))
                .in(axes({"B", "T", "C"}))
                .out(axes({"Q", "C"}))
                .work(CausalConvolutionBackward{true})
                .flops.str(),
            "2*B*T*C*Q");
}

TEST(Flops, MovingPositionsIsFree) {
  const auto moved = [](OpKind kind) {
    return OneOp().in(axes({"B", "T", "D"})).out(axes({"B", "T", "D"})).work(std::move(kind)).flops;
  };
  EXPECT_TRUE(moved(Previous{}).is_zero());
  EXPECT_TRUE(moved(Previous{true}).is_zero());
  EXPECT_TRUE(moved(Prepend{}).is_zero());
  EXPECT_EQ(
      OneOp().in(axes({"B", "T", "D"})).out(axes({"D"})).work(PrependBackward{true}).flops.str(),
      "B*D");
}

}  // namespace
}  // namespace flopwise
