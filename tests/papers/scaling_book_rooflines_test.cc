// "How to Scale Your Model", chapters 1 to 3: rooflines, TPUs, sharded matrices.
#include "flopwise/cost/einsum_order.h"
#include "tests/papers/book_rows.h"

namespace flopwise {
namespace {

constexpr const char* kV5e = "flops=197e12,memory_bandwidth=810e9";
constexpr const char* kV5eNew = "flops=197e12,memory_bandwidth=820e9";

// A product of 1e12 FLOPs.
double product_s(const char* hardware) {
  return *einsum("ij,jk->ik", "i=1000,j=500000,k=1000", "bf16", std::nullopt, hardware)
              .roofline->matrix_time_s;
}

double intensity(const char* expression, const char* sizes, const char* dtype = "bf16") {
  const EinsumAnswer answer = einsum(expression, sizes, dtype);
  return at_sizes(answer.cost.intensity, answer);
}

// D from which the product takes longer than the partial sums that two chips exchange. Both are
// proportional to B*F, the sums not to D.
double two_chip_width() {
  const EinsumAnswer answer = einsum("A[B,D_X] *_D W[D_X,F]", "B=1024,D=8192,F=8192", "bf16", "X=2",
                                     "flops=197e12,memory_bandwidth=810e9,link_bandwidth=45e9");
  return 8192 * *answer.roofline->collectives.at(0).time_s / *answer.roofline->matrix_time_s;
}
double two_chip_intensity() {
  const EinsumAnswer answer =
      einsum("A[B,D_X] *_D W[D_X,F]", "B=1024,D=8192,F=8192", "bf16", "X=2");
  return two_chip_width() / 8192 * at_sizes(answer.sharded.flops_per_device, answer) /
         at_sizes(answer.sharded.collectives.at(0).sent_bytes, answer);
}

// clang-format off
const BookRow kRooflines[] = {
    {"sb1-compute-1e12", "h100_ms", 1.01, 0.01, [] { return 1e3 * product_s("h100"); }},
    {"sb1-compute-1e12", "v6e_ms", 1.1, 0.01, [] { return 1e3 * product_s("tpu-v6e"); }},
    {"sb1-dot-intensity", "intensity_limit", 0.5, 0.001,
     [] { return intensity("x[N] * y[N]", "N=4096"); }},
    {"sb1-v5e-critical", "intensity", 240, 0.005, [] { return ridge(kV5eNew); }},
    {"sb1-vpu-critical", "intensity", 3, 0.2,
     [] { return ridge("flops=7e12,memory_bandwidth=2.8e12"); }},
    {"sb1-matmul-intensity", "intensity", 124.12121212121212, 1e-6,
     [] { return intensity("A[B,D] * W[D,F]", "B=128,D=8192,F=8192"); }},
    {"sb1-two-chip-matmul", "ratio", 4377, 0.001, two_chip_intensity},
    {"sb1-two-chip-matmul", "D_critical", 8755, 0.001, two_chip_width},
    {"sb1-q1-int8", "critical_intensity", 486, 0.005,
     [] { return ridge("flops=394e12,memory_bandwidth=810e9", "int8"); }},
    {"sb1-q1-int8", "B_critical", 243, 0.005,
     [] {
       return batch_of(8192, 8192, "int8", "int8", Rational::of(394000, 810))
           .weights_only.to_double();
     }},
    {"sb1-q2-int8-weights", "B_critical", 120, 0.02,
     [] {
       return batch_of(8192, 8192, "bf16", "int8", intensity_of(chip(kV5e), "bf16"))
           .weights_only.to_double();
     }},
    {"sb1-q3-roofline", "B_critical_4096", 136.1, 0.01,
     [] {
       return batch_of(4096, 4096, "bf16", "int8", intensity_of(chip(kV5eNew), "bf16"))
           .with_activations->to_double();
     }},
    {"sb1-q3-roofline", "B_critical_1024", 226.3, 0.01,
     [] {
       return batch_of(1024, 1024, "bf16", "int8", intensity_of(chip(kV5eNew), "bf16"))
           .with_activations->to_double();
     }},
    {"sb1-q4-batched", "intensity_limit", 2, 0.01,
     [] { return intensity("x[B,D] * W[B,D,F] -> y[B,F]", "B=8,D=4096,F=4096", "int8"); }},
};
// clang-format on
const bool kRooflinesListed = list_rows(kRooflines);

TEST(ScalingBook, Chapter1Rooflines) {
  expect_rows(kRooflines);
}

// Question 1: BD + DF bytes loaded, BF written, 2BDF operations; 2B a byte where B is small.
TEST(ScalingBook, Chapter1Question1Formulas) {
  const EinsumAnswer answer = answer_einsum({.expression = "x[B,D] * W[D,F]", .dtype = "int8"});
  EXPECT_EQ(answer.cost.bytes, parse_expr("B*D + D*F + B*F"));
  EXPECT_EQ(answer.cost.flops, parse_expr("2*B*D*F"));
  EXPECT_NEAR(intensity("x[B,D] * W[D,F]", "B=8,D=1G,F=1G", "int8"), 2 * 8, 1e-6);
}

// ---- chapter 2 ---------------------------------------------------------------------------------

// int8[128Ki,128Ki] over 16 chips, gathered on each and multiplied by bf16[8,128Ki].
EinsumAnswer gathered_product(const char* dtype) {
  return einsum("x[B,D] *_D W[D_X,F]", "B=8,D=128Ki,F=128Ki", dtype, "X=16",
                "flops=197e12,memory_bandwidth=810e9,link_bandwidth=90e9");
}
double weight_bytes() {
  return array_bytes(gathered_product("int8"));
}
double gather_ms() {
  return 1e3 * *gathered_product("int8").roofline->collectives.at(0).time_s;
}

// A step of decoding that reads 2e11 parameters in bf16 over 32 chips; a model of about as many,
// scaled.
double decode_ms() {
  const CountResult count = count_of(
      {.model = "D=16384,F=65536,L=62,V=1000,N=128,gated=0", .mode = "decode", .context = 1});
  const double bytes = count.cost.bytes.weights.to_double();
  const double parameters = count.cost.params.total.to_double();
  const Hardware v4 = chip("tpu-v4,memory_bandwidth=1.23e12");
  return 1e3 * bytes * 200e9 / parameters / 32 / v4.memory_bytes_per_s->to_double();
}

// clang-format off
const BookRow kTpus[] = {
    {"sb2-q1-llm-latency", "ms", 10.2, 0.02, decode_ms},
    {"sb2-q2-v5p-pod", "flops_s", 4.1e18, 0.03,
     [] {
       const Hardware& v5p = find_hardware("tpu-v5p");
       return peak_flops_per_s(v5p, "bf16").to_double() *
              static_cast<double>(*v5p.link->domain_size);
     }},
    {"sb2-q3-pcie", "B_min", 61000, 0.01,  // weights come over PCIe in place of memory
     [] {
       const Rational intensity = intensity_of(chip("flops=920e12,memory_bandwidth=15e9"), "bf16");
       return batch_of(8192, 32768, "bf16", "bf16", intensity).weights_only.to_double();
     }},
    // The book takes 16e9 bytes, of 2^34.
    {"sb2-q6-end-to-end", "pcie_ms", 66, 0.1, [] { return 1e3 * weight_bytes() / (16 * 15e9); }},
    {"sb2-q6-end-to-end", "ici_ms", 167, 0.15, gather_ms},
    {"sb2-q6-end-to-end", "hbm_ms", 19, 0.15, [] { return 1e3 * weight_bytes() / 810e9; }},
    {"sb2-q6-end-to-end", "compute_ms", 1.3, 0.1,
     [] { return 1e3 * *gathered_product("bf16").roofline->matrix_time_s; }},
    {"sb2-q6-end-to-end", "total_ms_low", 150, 0.2, gather_ms},  // all else beside it
    {"sb2-q6-end-to-end", "total_ms_high", 200, 0.2,             // and the memory behind it
     [] { return gather_ms() + 1e3 * weight_bytes() / 810e9; }},
};
// clang-format on
const bool kTpusListed = list_rows(kTpus);

TEST(ScalingBook, Chapter2Tpus) {
  expect_rows(kTpus);
}

// ---- chapter 3 ---------------------------------------------------------------------------------

double bytes_held(const char* expression, const char* sizes, const char* mesh, bool by_all) {
  const EinsumAnswer answer = einsum(expression, sizes, "int8", mesh);
  const ShardedEinsum sharded =
      shard_einsum(answer.spec, einsum_steps(answer.spec, left_to_right_order(answer.spec)),
                   {"X", "Y", "Z"}, answer.sizes);
  const double each = at_sizes(sharded.operand_elements.at(0), answer);
  return by_all ? each * answer.mesh->devices().to_double() : each;
}

// Links at 45 GB/s, of a nominal 50; 6 of them make rings of 90 both ways.
constexpr const char* kV4Ring = "tpu-v4,link_bandwidth=270e9";

// X[B,D] * Y[D_X,F] on v5p: gather the weights, or sum the parts of the result.
constexpr const char* kV5pOneRing = "flops=459e12,memory_bandwidth=2.8e12,link_bandwidth=180e9";
EinsumAnswer gather_first() {
  return einsum("x[B,D] *_D W[D_X,F]", "B=1024,D=8192,F=8192", "bf16", "X=4", kV5pOneRing);
}
EinsumAnswer sum_after() {
  return einsum("x[B,D_X] *_D W[D_X,F]", "B=1024,D=8192,F=8192", "bf16", "X=4", kV5pOneRing);
}

// clang-format off
const BookRow kSharding[] = {
    {"sb3-sharded-size", "bytes_per_device", 16384, 0,
     [] { return bytes_held("A[I_{X,Y},J]", "I=128,J=2048", "X=2,Y=8,Z=2", false); }},
    {"sb3-sharded-size", "total_bytes", 524288, 0,
     [] { return bytes_held("A[I_{X,Y},J]", "I=128,J=2048", "X=2,Y=8,Z=2", true); }},
    {"sb3-q1-replication", "ratio", 16, 0,
     [] {
       return bytes_held("A[I_X,J,K]", "I=64,J=3,K=5", "X=4,Y=8,Z=2", true) / (64 * 3 * 5);
     }},
    {"sb3-popquiz-ag", "wrap_ideal_us", 377, 0.02,
     [] {
       return 1e6 * limit_s(einsum("A[B_Y,D] -> A[B,D]", "B=2048,D=8192", "bf16", "Y=4",
                                   "tpu-v5e,link_bandwidth=180e9,wraps_from=4"));
     }},
    {"sb3-popquiz-ag", "no_wrap_us", 560, 0.02,
     [] {
       return 1e6 * time_s(einsum("A[B_Y,D] -> A[B,D]", "B=2048,D=8192", "bf16", "Y=4",
                                  "tpu-v5e,link_bandwidth=180e9"));
     }},
    {"sb3-q3-small-ag", "us", 2, 0.1,
     [] {
       return 1e6 * time_s(einsum("A[B_X] -> A[B]", "B=128", "bf16", "X=4", "tpu-v4"));
     }},
    {"sb3-q2-ag-x", "us", 23, 0.03,
     [] {
       return 1e6 * limit_s(einsum("A[B_X,D_Y] -> A[B,D_Y]", "B=1024,D=4096", "bf16",
                                   "X=4,Y=4,Z=4", kV4Ring));
     }},
    {"sb3-q2-ar-z", "us", 11.6, 0.03,
     [] {
       return 1e6 * limit_s(einsum("A[B_X,I_Z] *_I W[I_Z,D_Y]", "B=1024,D=4096,I=64", "bf16",
                                   "X=4,Y=4,Z=4", kV4Ring));
     }},
    // Both times are proportional to D*F, so B where they are equal is B of any.
    {"sb3-q4-strategies", "strategy1_comms_bound_B_below", 2550, 0.01,
     [] { return 1024 * limit_s(gather_first()) / *gather_first().roofline->matrix_time_s; }},
    {"sb3-q4-strategies", "strategy2_compute_bound_needs_D_over_2X_above", 2550, 0.01,
     [] {
       return 8192.0 / (2 * 4) * limit_s(sum_after()) / *sum_after().roofline->matrix_time_s;
     }},
    {"sb3-q4-strategies", "strategy2_faster_when_D_above", 5100, 0.01,
     [] { return 8192 * limit_s(sum_after()) / *gather_first().roofline->matrix_time_s; }},
};
// clang-format on
const PinnedRow kShardingPinned[] = {
    {"sb3-popquiz-ag-small", "predicted_us", 3, 5.1845, 1e-4,
     [] {
       return 1e6 * time_s(einsum("A[B_Y,D] -> A[B,D]", "B=256,D=256", "bf16", "Y=4",
                                  "tpu-v5e,link_bandwidth=180e9"));
     }, "3 us of hops and 2.2 of bytes one after another; the book takes the larger, and measures 8"},
};
const bool kShardingListed = list_rows(kSharding) && list_rows(kShardingPinned);

TEST(ScalingBook, Chapter3ShardedMatrices) {
  expect_rows(kSharding);
  expect_rows(kShardingPinned);
}

// The table of collectives: V/W, an all-reduce twice that, an all-to-all a quarter; over n axes n
// times as fast.
TEST(ScalingBook, Chapter3Collectives) {
  struct Row {
    const char* expression;
    double of_v_over_w;
  };
  const Row rows[] = {
      {"A[B_X,D] -> A[B,D]",                1      },
      {"A[B,I_X] *_I W[I_X,D]",             2      },
      {"A[B_X,D] -> A[B,D_X]",              1.0 / 4},
      {"A[B_{X,Y},D] -> A[B,D]",            1.0 / 2},
      {"A[B,I_X] *_I W[I_X,D] -> C[B_X,D]", 1      },
  };
  const double w = network_of(find_hardware("tpu-v4")).ring_bytes_per_s();
  for (const Row& row : rows) {
    const char* sizes = std::string(row.expression).find('I') == std::string::npos
                            ? "B=1024,D=4096"
                            : "B=1024,D=4096,I=64";
    const EinsumAnswer answer = einsum(row.expression, sizes, "bf16", "X=4,Y=4", "tpu-v4");
    EXPECT_DOUBLE_EQ(limit_s(answer), row.of_v_over_w * 2 * 1024 * 4096 / w) << row.expression;
  }
}
const bool kCollectivesListed = [] {
  set_status("sb3-formulas", BookStatus::kReproduced);
  return true;
}();

}  // namespace
}  // namespace flopwise
