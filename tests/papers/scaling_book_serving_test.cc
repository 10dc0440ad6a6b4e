// "How to Scale Your Model", chapter 8: serving Llama 3 70B, of which the chapter takes 70e9
// parameters where it has 70.554e9.
#include <cmath>

#include "tests/papers/book_rows.h"

namespace flopwise {
namespace {

constexpr const char* k70B = "llama-3-70b";
const Hardware kV5e820 = chip("tpu-v5e,memory_bandwidth=820e9");
const Hardware kV5e16GB = chip("tpu-v5e,memory=16GB");

double weights_gb(const char* dtype) {
  return weights_bytes(count_of({.model = k70B, .weights = dtype})) / 1e9;
}
double kv_per_sequence_gb(const char* dtype, std::int64_t context = 8192) {
  return cache_bytes(decoding(k70B, 1, context, dtype)) / 1e9;
}
double chips_for_weights(const char* dtype) {
  return 1e9 * weights_gb(dtype) / kV5e16GB.memory_bytes->to_double();
}
// Slices have a power of two chips.
double slice_for(double chips) {
  return std::exp2(std::ceil(std::log2(chips)));
}
double free_gb(const char* dtype, double chips) {
  return chips * kV5e16GB.memory_bytes->to_double() / 1e9 - weights_gb(dtype);
}
double batch_on(const char* dtype, double chips) {
  return std::floor(free_gb(dtype, chips) / kv_per_sequence_gb(dtype));
}
// The book's step of a full memory is 19 ms, its median answer 512 tokens.
double queries_per_chip(const char* dtype, double chips) {
  return batch_on(dtype, chips) / chips / (19e-3 * 512);
}
CountResult batch_of_32() {
  return decoding(k70B, 32, 8192, "int8");
}
double step_of_32_ms(double chips) {
  return step_ms(batch_of_32(), chips, find_hardware("tpu-v5e"));
}
double prefill_s() {
  const CountResult count = count_of({.model = k70B, .mode = "prefill", .seq = 8192});
  return count.six_n_d.to_double() / (16 * 0.4 * 197e12);
}
double flops_per_dollar(const char* hardware) {
  const Hardware priced = chip(hardware);
  return peak_flops_per_s(priced, "bf16").to_double() / priced.price_usd_per_hour->to_double();
}

// One product of the feed-forward at B = 64 on 32 chips.
EinsumAnswer product_on_32() {
  return einsum("x[B,D_Y] *_D W[D,F_Y]", "B=64,D=8192,F=28672", "bf16", "Y=32",
                "tpu-v5e,link_bandwidth=180e9,memory_bandwidth=810e9");
}
double weights_on_32_us() {
  const Program program = book_layer(8192, 28672, Mode::kForward);
  const LayerTime time = on_mesh(program).time(Pass::kForward, 64, mesh_of(1, 1, 32),
                                               torus(197e12, 90e9, 1, 810e9), GroupSize::kExact);
  return 1e6 * time.weights_s / 2;  // of its two matrices
}
// Devices over which one sum takes as long as reading the weights, links an eighth of the memory.
double decode_degree() {
  return *critical_degree(feed_forward(8192, 28672), ParallelAxis::kTp, 64, mesh_of(1, 1, 1),
                          torus(197e12, 100e9, 1, 800e9), GroupSize::kLimit, Against::kWeights);
}
double prefill_degree() {
  return *critical_degree(feed_forward(8192, 28672), ParallelAxis::kTp, 1e6, mesh_of(1, 1, 1),
                          torus(197e12, 90e9, 2), GroupSize::kLimit);
}

// clang-format off
const BookRow kServing[] = {
    {"sb8-kv", "bytes", 163840, 0,
     [] { return decoding(k70B, 1, 1, "int8").kv_cache->bytes_per_token.to_double(); }},
    {"sb8-kv-32k", "per_sequence_GB", 5.37, 0.02, [] { return kv_per_sequence_gb("int8", 32768); }},
    {"sb8-kv-32k", "total_TB", 1.288, 0.02,
     [] { return cache_bytes(decoding(k70B, 240, 32768, "int8")) / 1e12; }},
    {"sb8-kv-32k", "v5e_chips", 86, 0.02,
     [] { return held_gb(decoding(k70B, 240, 32768, "int8")) / 16; }},
    {"sb8-bs32", "kv_GB", 42.9, 0.03, [] { return cache_bytes(batch_of_32()) / 1e9; }},
    {"sb8-bs32", "total_GB", 112, 0.02, [] { return held_gb(batch_of_32()); }},
    {"sb8-bs32", "min_chips", 7, 0,  // of the catalog's 16 GiB
     [] {
       return std::ceil(1e9 * held_gb(batch_of_32()) /
                        find_hardware("tpu-v5e").memory_bytes->to_double());
     }},
    {"sb8-bs32", "slice", 8, 0, [] { return slice_for(held_gb(batch_of_32()) / 16); }},
    {"sb8-latency-4x2", "ms", 17, 0.03, [] { return step_of_32_ms(8); }},
    {"sb8-latency-4x2", "tokens_per_s", 1882, 0.03, [] { return 32e3 / step_of_32_ms(8); }},
    {"sb8-latency-4x2", "tokens_per_s_per_chip", 235, 0.03, [] { return 4e3 / step_of_32_ms(8); }},
    {"sb8-latency-4x2", "ms_4x4", 8.5, 0.03, [] { return step_of_32_ms(16); }},
    {"sb8-tp-limit", "Y_max", 26, 0.02, prefill_degree},
    {"sb8-min-slice-bf16", "chips_exact", 8.75, 0.01, [] { return chips_for_weights("bf16"); }},
    {"sb8-min-slice-bf16", "slice_chips", 16, 0,
     [] { return slice_for(chips_for_weights("bf16")); }},
    {"sb8-min-slice-int4", "chips_exact", 2.19, 0.01, [] { return chips_for_weights("int4"); }},
    {"sb8-min-slice-int4", "slice_chips", 4, 0, [] { return slice_for(chips_for_weights("int4")); }},
    {"sb8-max-batch-bf16", "free_GB", 116, 0.01, [] { return free_gb("bf16", 16); }},
    {"sb8-max-batch-bf16", "batch", 43, 0.03, [] { return batch_on("bf16", 16); }},
    {"sb8-max-batch-int8", "free_GB", 58, 0.01, [] { return free_gb("int8", 8); }},
    {"sb8-max-batch-int8", "batch", 43, 0.03, [] { return batch_on("int8", 8); }},
    {"sb8-max-batch-int4", "free_GB", 29, 0.01, [] { return free_gb("int4", 4); }},
    {"sb8-max-batch-int4", "batch", 43, 0.03, [] { return batch_on("int4", 4); }},
    {"sb8-step-19ms", "ms", 19.75, 0.05,
     [] {
       const Hardware full = chip("tpu-v5e,memory=16GB,memory_bandwidth=810e9");
       return 1e3 * full.memory_bytes->to_double() / full.memory_bytes_per_s->to_double();
     }},
    {"sb8-qps-bf16", "qps_per_chip", 0.27, 0.02, [] { return queries_per_chip("bf16", 16); }},
    {"sb8-qps-int8", "qps_per_chip", 0.55, 0.02, [] { return queries_per_chip("int8", 8); }},
    {"sb8-qps2x-bf16", "batch", 140, 0.03, [] { return batch_on("bf16", 32); }},
    {"sb8-qps2x-bf16", "qps_per_chip", 0.44, 0.04, [] { return queries_per_chip("bf16", 32); }},
    {"sb8-qps2x-int8", "batch", 140, 0.03, [] { return batch_on("int8", 16); }},
    {"sb8-qps2x-int8", "qps_per_chip", 0.9, 0.04, [] { return queries_per_chip("int8", 16); }},
    {"sb8-4x8", "ici_us", 11, 0.1, [] { return 1e6 * limit_s(product_on_32()); }},
    {"sb8-4x8", "hbm_us", 18, 0.05, weights_on_32_us},
    {"sb8-4x8", "math_us", 4, 0.2, [] { return 1e6 * *product_on_32().roofline->matrix_time_s; }},
    {"sb8-y56", "Y", 56, 0.01, decode_degree},
    {"sb8-prefill-8192", "s", 0.91, 0.01, prefill_s},
    {"sb8-pd-ratio", "P_over_G", 3, 0.05, [] { return prefill_s() / (19e-3 * 512 / 32); }},
    {"sb8-latency-range", "ms_low", 5.5, 0.05,
     [] { return 1e9 * weights_gb("int8") / 16 / kV5e820.memory_bytes_per_s->to_double() * 1e3; }},
    {"sb8-latency-range", "ms_high", 20, 0.05,
     [] {
       return 1e3 * kV5e16GB.memory_bytes->to_double() / kV5e820.memory_bytes_per_s->to_double();
     }},
    {"sb8-flops-per-dollar", "H100", 91e12, 0.01, [] { return flops_per_dollar("h100,price=10.8"); }},
    {"sb8-flops-per-dollar", "v5p", 109e12, 0.01, [] { return flops_per_dollar("tpu-v5p"); }},
    {"sb8-flops-per-dollar", "v5e", 164e12, 0.01, [] { return flops_per_dollar("tpu-v5e"); }},
    {"sb8-x-q2-8b", "weights_GB", 8.03, 0.01,
     [] { return weights_bytes(decoding("llama-3-8b", 1, 1, "int8")) / 1e9; }},
    {"sb8-x-q2-8b", "kv_bytes_per_token", 65536, 0,
     [] { return decoding("llama-3-8b", 1, 1, "int8").kv_cache->bytes_per_token.to_double(); }},
    {"sb8-x-q2-8b", "kv_GB", 128.8, 0.01,
     [] { return cache_bytes(decoding("llama-3-8b", 240, 8192, "int8")) / 1e9; }},
};

const PinnedRow kServingPinned[] = {
    {"sb8-min-slice-bf16", "GB", 140, 141.107, 1e-5, [] { return weights_gb("bf16"); },
     "70e9 parameters are 70.554e9"},
    {"sb8-min-slice-int4", "GB", 35, 35.2769, 1e-5, [] { return weights_gb("int4"); },
     "70e9 parameters are 70.554e9; an older edition prints 45"},
};
// clang-format on
const bool kServingListed = list_rows(kServing) && list_rows(kServingPinned);

TEST(ScalingBook, Chapter8Serving) {
  expect_rows(kServing);
  expect_rows(kServingPinned);
}

}  // namespace
}  // namespace flopwise
