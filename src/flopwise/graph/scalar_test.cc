#include "flopwise/graph/scalar.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flopwise {
namespace {

struct Function {
  ScalarProgram program;
  std::int64_t forward;   // operations by hand
  std::int64_t backward;  // of the gradient by the first operand
};

// What each function costs; written out by hand here, derived there.
TEST(Scalar, OperationsOfEachFunction) {
  const Function rows[] = {
      {scalar_add(),                1, 0 }, // dy
      {scalar_mul(),                1, 1 }, // dy*b
      {scalar_div(),                1, 1 }, // dy/b
      {scalar_scale(0.25),          1, 1 }, // dy*c
      {scalar_relu(),               1, 2 }, // compare, times
      {scalar_relu2(),              2, 5 }, // max; dy*m, twice added; compare, times
      {scalar_tanh(),               1, 4 }, // tanh; t*t, 1-, times
      {scalar_sigmoid(),            1, 4 }, // sigmoid; 1-s, s*, times
      {scalar_softcap(30),          3, 7 }, // a/c, tanh; dy*c, t*t, 1-, times, /c
      {scalar_silu(),               2, 7 }, // sigmoid; dy*s; dy*a, 1-s, s*, times; added
      {scalar_gelu(),               5, 13}, // 3 forward; dy/2, times phi; dy/2 times a, the bell 4, times, /sqrt
  // 2; added
      {scalar_gelu_tanh(),          9, 22},
      {scalar_gated(scalar_silu()), 3, 8 }, // dy*b, then silu's
  };
  for (const Function& row : rows) {
    SCOPED_TRACE(row.program.name);
    EXPECT_EQ(operations(row.program), row.forward);
    EXPECT_EQ(operations(derivative(row.program, 0)), row.backward);
  }
}

TEST(Scalar, DerivativesEqualCentralDifferences) {
  const ScalarProgram functions[] = {scalar_add(),
                                     scalar_mul(),
                                     scalar_div(),
                                     scalar_scale(0.3),
                                     scalar_softcap(5),
                                     scalar_relu(),
                                     scalar_relu2(),
                                     scalar_silu(),
                                     scalar_gelu(),
                                     scalar_gelu_tanh(),
                                     scalar_tanh(),
                                     scalar_sigmoid(),
                                     scalar_gated(scalar_silu()),
                                     scalar_gated(scalar_gelu())};
  constexpr double kStep = 1e-5;
  for (const ScalarProgram& f : functions) {
    for (const double x : {-2.3, -0.4, 0.7, 1.9}) {
      for (int operand = 0; operand < f.inputs; ++operand) {
        SCOPED_TRACE(f.name + " operand " + std::to_string(operand));
        std::vector<double> at = {x, 1.3};
        at.resize(static_cast<std::size_t>(f.inputs));
        std::vector<double> above = at;
        std::vector<double> below = at;
        above[static_cast<std::size_t>(operand)] += kStep;
        below[static_cast<std::size_t>(operand)] -= kStep;
        const double difference = (evaluate(f, above) - evaluate(f, below)) / (2 * kStep);
        std::vector<double> with_gradient = at;
        with_gradient.push_back(1.7);  // d loss / d result
        const double derived = evaluate(derivative(f, operand), with_gradient);
        // Truncation kStep^2 * f''' and rounding epsilon/kStep, both near 1e-10 here.
        EXPECT_NEAR(derived, 1.7 * difference, 1e-8);
      }
    }
  }
}

TEST(Scalar, AdditionHandsItsGradientOnAndReadsNothing) {
  EXPECT_TRUE(is_identity(derivative(scalar_add(), 0), 2));
  EXPECT_TRUE(is_identity(derivative(scalar_add(), 1), 2));
}

TEST(Scalar, CompactKeepsOnlyTheOperandsThatAreRead) {
  const CompactProgram slope = compact(derivative(scalar_mul(), 0));  // b * dy
  EXPECT_EQ(slope.kept, (std::vector<int>{1, 2}));
  EXPECT_EQ(slope.program.inputs, 2);
  EXPECT_DOUBLE_EQ(evaluate(slope.program, {3, 5}), 15);
  // The gradient of a gate reads the gate, the other factor and dy.
  EXPECT_EQ(compact(derivative(scalar_gated(scalar_silu()), 1)).kept, (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace flopwise
