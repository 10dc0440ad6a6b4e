// Contractions that published texts count, in their words.
#include <fmt/format.h>

#include "flopwise/cost/einsum_order.h"
#include "flopwise/report/einsum_report.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

EinsumAnswer einsum(const std::string& expression, const std::vector<std::string>& sizes = {}) {
  return answer_einsum({.expression = expression, .sizes = sizes});
}

std::string flops(const std::string& expression) {
  return einsum(expression).cost.flops.str();
}

// Canonical text of a formula as the texts write it.
std::string formula(const char* text) {
  return parse_expr(text).str();
}

// "How to Scale Your Model", Transformer Math, "Counting Dots".
TEST(TransformerMath, CountingDots) {
  EXPECT_EQ(flops("x[P] * y[P]"), formula("2*P"));          // vector times vector
  EXPECT_EQ(flops("A[N,P] * x[P]"), formula("2*N*P"));      // matrix times vector
  EXPECT_EQ(flops("A[N,P] * B[P,M]"), formula("2*N*P*M"));  // matrix times matrix
  EXPECT_EQ(flops("C[G,H,I,J,K,L] * D[G,H,M,N,K,L] -> O[G,H,I,J,M,N]"),
            formula("2*G*H*I*J*M*N*K*L"));
}

// The same: "a dimension is only batching if it occurs in both multiplicands"; "the factor of 2
// won't apply if there are no contracting dimensions and this is just an elementwise product".
TEST(TransformerMath, BatchingAndContracting) {
  const EinsumSpec spec = parse_einsum("C[G,H,I,J,K,L] * D[G,H,M,N,K,L] -> O[G,H,I,J,M,N]");
  for (const char* axis : {"G", "H"}) EXPECT_EQ(spec.kind_of(axis), EinsumAxisKind::kBatching);
  for (const char* axis : {"K", "L"}) EXPECT_EQ(spec.kind_of(axis), EinsumAxisKind::kContracting);
  for (const char* axis : {"I", "J", "M", "N"})
    EXPECT_EQ(spec.kind_of(axis), EinsumAxisKind::kFree);
  EXPECT_EQ(flops("A[I,J] * B[I,J] -> C[I,J]"), formula("I*J"));
}

// Question 2: A[B_X, D_Y] *_D W[D_Y, F] on {'X': 4, 'Y': 8, 'Z': 4}. "we're actually doing Z extra
// FLOPs, meaning 2*B*D*F*Z total FLOPs ... the total per-device is roughly 2*B*D*F/(X*Y)". A worked
// solution that multiplies by all devices and simplifies ends at 8*B*D*F, the same at Z = 4.
TEST(TransformerMath, Question2ShardedMatmul) {
  const EinsumAnswer answer =
      answer_einsum({.expression = "A[B_X, D_Y] *_D W[D_Y, F]", .mesh = "X=4,Y=8,Z=4"});
  EXPECT_EQ(answer.sharded.flops_total.str(), "2*B*D*F*Z");
  EXPECT_EQ(answer.sharded.flops_per_device.str(), "2*B*D*F/(X*Y)");
  EXPECT_EQ(answer.sharded.flops_total
                .substitute({
                    {"Z", 4}
  })
                .str(),
            "8*B*D*F");
}

// Question 3: "I and J as contracting dimensions and K, L, M, N, and O as non-contracting
// dimensions. We have no batching dimensions, so this is just 2*I*J*K*L*M*N*O, the product of all
// the axes."
TEST(TransformerMath, Question3TensorContraction) {
  const char* expression = "A[I,J,K,L] * B[I,J,M,N,O] -> C[K,L,M,N,O]";
  EXPECT_EQ(flops(expression), formula("2*I*J*K*L*M*N*O"));
  const EinsumSpec spec = parse_einsum(expression);
  for (const char* axis : {"I", "J"}) EXPECT_EQ(spec.kind_of(axis), EinsumAxisKind::kContracting);
  for (const char* axis : {"K", "L", "M", "N", "O"})
    EXPECT_EQ(spec.kind_of(axis), EinsumAxisKind::kFree);
}

// "compute scales cubically O(N^3) while the data transfer only scales quadratically O(N^2)": n/3
// FLOPs per byte in bf16, compute-bound from n = 3*I. The book's v5e is 1.97e14 over 8.2e11, 240.2;
// the catalog's bandwidth is 8.19e11.
TEST(TransformerMath, SquareMatmulIsComputeBoundFrom) {
  const auto from = [](const char* hardware) {
    return answer_einsum({.expression = "ij,jk->ik", .hardware = hardware})
        .roofline->compute_bound_from;
  };
  EXPECT_EQ(*einsum("ij,jk->ik").equal_sizes_intensity, parse_expr("n/3"));
  EXPECT_EQ(from("flops=1.97e14,memory_bandwidth=8.2e11"), 721);
  EXPECT_EQ(from("tpu-v5e"), 722);
}

// jax issues 20184 and 16008: the FLOPs of a 2048^3 dot came out as -1; 2 x 10 x 7 with its adds is
// 280.
TEST(ReportedFaults, DotsOfKnownSize) {
  const auto value = [](const EinsumAnswer& answer) {
    return answer.cost.flops.eval_count(answer.axis_sizes, "FLOPs").grouped();
  };
  EXPECT_EQ(value(einsum("ij,jk->ik", {"i=2048,j=2048,k=2048"})), "17,179,869,184");
  EXPECT_EQ(value(einsum("ij,jk->ik", {"i=2,j=10,k=7"})), "280");
}

// opt_einsum issue 138: flop_count's text and code disagreed on 30 and 60 for the axes a=2, b=3,
// c=5. A multiply is 1 and an add is 1: 30 multiplies without a contraction, 60 operations with
// one.
TEST(ReportedFaults, MultipliesAndAddsAreBothCounted) {
  const std::vector<std::string> sizes = {"a=2,b=3,c=5"};
  const auto value = [&](const char* expression) {
    const EinsumAnswer answer = einsum(expression, sizes);
    return answer.cost.flops.eval_count(answer.axis_sizes, "FLOPs");
  };
  EXPECT_EQ(value("ab,bc->abc"), Count(30));
  EXPECT_EQ(value("ab,bc->ac"), Count(60));
}

// opt_einsum issues 248, 103, 99: for chains of seven operands the order called optimal was worse
// than a greedy one, or had an intermediate of 6e10 elements that nobody was told of.
RC_GTEST_PROP(ReportedFaults, ChainsOfSevenAreNeverWorseThanLeftToRight, ()) {
  const auto all = *rc::gen::container<std::vector<int>>(8, rc::gen::inRange(1, 2000));
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sizes.push_back(fmt::format("{}={}", static_cast<char>('a' + i), all[i]));
  }
  const EinsumAnswer answer = einsum("ab,bc,cd,de,ef,fg,gh->ah", sizes);
  Count from_left = 0;
  for (const EinsumStep& step : einsum_steps(answer.spec, left_to_right_order(answer.spec))) {
    Count points = 2;
    for (const std::string& axis : step.loop_axes) points *= answer.axis_sizes.at(axis);
    from_left += points;
  }
  RC_ASSERT(answer.cost.flops.eval_count(answer.axis_sizes, "FLOPs") <= from_left);
  Count largest = 0;
  for (std::size_t i = 0; i + 1 < answer.cost.steps.size(); ++i) {
    largest = std::max(
        largest, answer.cost.steps[i].result_elements.eval_count(answer.axis_sizes, "elements"));
  }
  RC_ASSERT(answer.cost.peak_intermediate->elements.eval_count(answer.axis_sizes, "elements") ==
            largest);
}

}  // namespace
}  // namespace flopwise
