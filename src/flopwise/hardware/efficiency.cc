#include "flopwise/hardware/efficiency.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace flopwise {
namespace {

// How much more than its FLOPs a product costs: whole tiles, dealt out in whole waves.
double tile_padding(const Efficiency& efficiency, const ProductShape& shape) {
  double least = 0;
  for (const auto& [tile_m, tile_n] : std::initializer_list<std::pair<double, double>>{
           {256, 128},
           {128, 128},
           {64,  128},
           {128, 64 },
           {64,  64 }
  }) {
    double tiles = std::ceil(shape.m / tile_m) * std::ceil(shape.n / tile_n) * shape.times;
    if (efficiency.matmul_units > 0) {
      tiles = std::ceil(tiles / efficiency.matmul_units) * efficiency.matmul_units;
    }
    const double padding = tiles * tile_m * tile_n / (shape.m * shape.n * shape.times);
    if (least == 0 || padding < least) least = padding;
  }
  return least;
}

bool starts_with(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

const Efficiency& efficiency_of(const Hardware& hardware) {
  // Matrix products: 216 rows of a profile of Llama, CodeLlama, InternLM and Qwen layers at tp 1 to
  // 8 and 1 to 4,096 tokens, mean error 8 % (A100) and of 120 rows 7 % (H100). Attention:
  // FlashAttention-2's own tables, forward and backward, 3 % each. Collectives: NCCL all-reduces of
  // a DGX. Elementwise: the same profile.
  static const Efficiency kAmpere{"NVIDIA Ampere",
                                  0.75,
                                  88,
                                  108,
                                  0.76,
                                  0.6,
                                  0.77,
                                  21,
                                  270,
                                  4.2e-6,
                                  0.72,
                                  0.7,
                                  25e-6,
                                  "kernels_measured vidur-mlp-a100-*, flash_attention fa2-A100-*, "
                                  "collectives vidur-ar-a100_dgx-*"};
  static const Efficiency kHopper{"NVIDIA Hopper",
                                  0.73,
                                  8,
                                  132,
                                  0.87,
                                  0.65,
                                  0.41,
                                  23,
                                  285,
                                  4.5e-6,
                                  0.8,
                                  0.7,
                                  30e-6,
                                  "kernels_measured vidur-mlp-h100-*, flash_attention fa2-H100-*, "
                                  "collectives vidur-ar-h100_dgx-*"};
  static const Efficiency kTpu{"Google TPU",
                               0.88,
                               100,
                               0,
                               0.85,
                               0.7,
                               0.6,
                               64,
                               500,
                               2e-6,
                               0.85,
                               0.7,
                               5e-6,
                               "kernels_measured v6e-gemm-8192, ironwood-gemm; collectives "
                               "trillium-psum; attention as on GPUs, not measured"};
  static const Efficiency kGeneric{
      "generic", 0.75, 90,   0,   0.75, 0.6,   0.5,
      21,        270,  5e-6, 0.7, 0.7,  25e-6, "as Ampere, without its waves; not measured"};
  if (starts_with(hardware.name, "A100") || starts_with(hardware.name, "A800")) return kAmpere;
  if (starts_with(hardware.name, "H100") || starts_with(hardware.name, "H200") ||
      starts_with(hardware.name, "H800") || starts_with(hardware.name, "H20-") ||
      starts_with(hardware.name, "GH200")) {
    return kHopper;
  }
  if (starts_with(hardware.name, "TPU")) return kTpu;
  return kGeneric;
}

double matmul_time_s(const Efficiency& efficiency, const ProductShape& shape, double peak,
                     double bytes, double bandwidth) {
  const double flops = 2 * shape.m * shape.n * shape.k * shape.times;
  const double math = flops * tile_padding(efficiency, shape) *
                      (1 + efficiency.matmul_half_k / shape.k) /
                      (efficiency.matmul_fraction * peak);
  const double memory = bytes / (efficiency.memory_fraction * bandwidth);
  return std::max(math, memory) + efficiency.kernel_overhead_s;
}

double attention_time_s(const Efficiency& efficiency, double flops, double keys, double width,
                        double peak, double bytes, double bandwidth) {
  const double fraction = efficiency.attention_fraction * width /
                          (width + efficiency.attention_half_width) * keys /
                          (keys + efficiency.attention_half_keys);
  const double memory = bytes / (efficiency.memory_fraction * bandwidth);
  return std::max(flops / (fraction * peak), memory) + efficiency.kernel_overhead_s;
}

}  // namespace flopwise
