#include "flopwise/hardware/efficiency.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

struct Tile {
  double m, n, most_rows;  // taken for products of at most so many rows
};
constexpr double kAnyRows = 1e300;
constexpr Tile kTiles[] = {
    {16,  128, 16      },
    {32,  128, 32      },
    {64,  64,  kAnyRows},
    {64,  128, kAnyRows},
    {128, 64,  kAnyRows},
    {128, 128, kAnyRows},
    {256, 128, kAnyRows},
};

// How much more than its FLOPs a product costs: whole tiles, dealt out in whole waves.
double tile_padding(const Efficiency& efficiency, const ProductShape& shape) {
  if (shape.m <= 1) return 1;
  double least = 0;
  for (const Tile& tile : kTiles) {
    if (shape.m > tile.most_rows) continue;
    double tiles = std::ceil(shape.m / tile.m) * std::ceil(shape.n / tile.n) * shape.times;
    if (efficiency.matmul_units > 0) {
      tiles = std::ceil(tiles / efficiency.matmul_units) * efficiency.matmul_units;
    }
    const double padding = tiles * tile.m * tile.n / (shape.m * shape.n * shape.times);
    if (least == 0 || padding < least) least = padding;
  }
  return least;
}

bool starts_with_any(const std::string& text, std::initializer_list<const char*> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const char* start) { return text.rfind(start, 0) == 0; });
}

// Of the peak, by a fused attention.
double attention_rate(const Efficiency& efficiency, const AttentionShape& shape) {
  const double keys = shape.keys / (shape.keys + efficiency.attention_half_keys);
  const bool is_first = shape.generation == FlashGeneration::k1;
  if (is_first && efficiency.flash1_fraction > 0) return efficiency.flash1_fraction * keys;
  const bool is_third = shape.generation == FlashGeneration::k3;
  const double fraction = is_third && efficiency.flash3_fraction > 0
                              ? efficiency.flash3_fraction
                              : efficiency.attention_fraction;
  return fraction * shape.width / (shape.width + efficiency.attention_half_width) * keys;
}

}  // namespace

FlashGeneration parse_flash_generation(std::string_view text) {
  if (text == "1") return FlashGeneration::k1;
  if (text == "2") return FlashGeneration::k2;
  if (text == "3") return FlashGeneration::k3;
  throw UserError("--flash: expected 1, 2 or 3, got " + quoted(text));
}

const Efficiency& efficiency_of(const Hardware& hardware) {
  const std::string& name = hardware.name;
  const std::vector<Efficiency>& all = efficiencies();
  if (starts_with_any(name, {"A100", "A800"})) return all.at(0);
  if (starts_with_any(name, {"H100", "H200", "H800", "H20-", "GH200"})) return all.at(1);
  if (starts_with_any(name, {"TPU"})) return all.at(2);
  return all.at(3);
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

double attention_time_s(const Efficiency& efficiency, const AttentionShape& shape, double peak,
                        double bytes, double bandwidth) {
  const double math = shape.flops / (attention_rate(efficiency, shape) * peak);
  const double memory = bytes / (efficiency.memory_fraction * bandwidth);
  return std::max(math, memory) + efficiency.kernel_overhead_s;
}

double stream_time_s(const Efficiency& efficiency, double bytes, double bandwidth) {
  return bytes / (efficiency.streaming_fraction * bandwidth) + efficiency.kernel_overhead_s;
}

double collective_overhead_s(const Efficiency& efficiency, double sent_bytes) {
  constexpr double kLong = 1 << 20;  // about where NCCL leaves its protocols for short messages
  const double share = std::min(1.0, sent_bytes / kLong);
  return efficiency.collective_latency_s +
         share * (efficiency.collective_overhead_s - efficiency.collective_latency_s);
}

}  // namespace flopwise
