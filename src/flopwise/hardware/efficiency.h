// What a chip reaches of its peaks: the model behind every `expected` and `upper` time
// (docs/accuracy.md). Fitted to tables of single kernels and collectives (kernel_rows.h), never to
// a whole model.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/hardware/hardware.h"

namespace flopwise {

// Which FlashAttention runs: 1 (2022, and its Triton version), 2 (2023), 3 (2024, for Hopper; what
// cuDNN reaches too). A chip without rows of a generation runs at the rate of the second.
enum class FlashGeneration { k1, k2, k3 };
FlashGeneration parse_flash_generation(std::string_view text);  // UserError: "1", "2" or "3"

// The rows of kernel_rows.h that a constant was fitted to ("a100 products").
struct FittedTo {
  std::string_view constant;
  std::string_view rows;
};

// The constants of one family of chips.
struct Efficiency {
  std::string_view family;
  int matmul_units = 0;         // processors that tiles are dealt to, in waves; 0: no waves counted
  double matmul_fraction;       // of the peak, tiles full and K long
  double matmul_half_k;         // K at which half of that is reached
  double memory_fraction;       // of the bandwidth, by matrix products
  double streaming_fraction;    // of the bandwidth, by elementwise and row operations
  double attention_fraction;    // of the peak, by fused attention (FlashAttention-2)
  double attention_half_width;  // head dimension at which half of that is reached
  double attention_half_keys;   // keys seen by a query at which half of that is reached
  double flash1_fraction = 0;   // of the peak, by FlashAttention 1, whatever the width; 0: unknown
  double flash3_fraction = 0;   // in place of attention_fraction, by FlashAttention-3; 0: unknown
  double kernel_overhead_s;     // of every kernel
  double link_fraction;         // of the fast links, by large collectives
  double network_fraction;      // of the network
  double collective_overhead_s;     // of collectives of a mebibyte and more
  double collective_latency_s;      // of the shortest
  std::vector<FittedTo> fitted_to;  // a constant that is not among them is not measured
};

struct EfficiencyConstant {
  std::string_view name;
  double Efficiency::*value;
};
inline constexpr std::array<EfficiencyConstant, 14> kEfficiencyConstants = {
    {
     {"matmul_fraction", &Efficiency::matmul_fraction},
     {"matmul_half_k", &Efficiency::matmul_half_k},
     {"memory_fraction", &Efficiency::memory_fraction},
     {"streaming_fraction", &Efficiency::streaming_fraction},
     {"attention_fraction", &Efficiency::attention_fraction},
     {"attention_half_width", &Efficiency::attention_half_width},
     {"attention_half_keys", &Efficiency::attention_half_keys},
     {"flash1_fraction", &Efficiency::flash1_fraction},
     {"flash3_fraction", &Efficiency::flash3_fraction},
     {"kernel_overhead_s", &Efficiency::kernel_overhead_s},
     {"link_fraction", &Efficiency::link_fraction},
     {"network_fraction", &Efficiency::network_fraction},
     {"collective_overhead_s", &Efficiency::collective_overhead_s},
     {"collective_latency_s", &Efficiency::collective_latency_s},
     }
};

const std::vector<Efficiency>& efficiencies();
// The family of a chip by name; what is not known gets the generic one.
const Efficiency& efficiency_of(const Hardware& hardware);

// One matrix product [m,k] x [k,n], `times` of them.
struct ProductShape {
  double m = 1;
  double n = 1;
  double k = 1;
  double times = 1;
};

// Seconds of a product of this shape at `peak` FLOP/s and `bandwidth` B/s for `bytes`; the slower
// of the two, and the overhead of a kernel. Tiles of 64 to 256 by 64 to 128, whichever is fastest,
// those at the edges as slow as whole ones; up to 16 or 32 rows, tiles of as many. A product with
// one row is a matrix times a vector, which needs no tiles.
double matmul_time_s(const Efficiency& efficiency, const ProductShape& shape, double peak,
                     double bytes, double bandwidth);

// A fused attention: `flops` by queries that see `keys` each, heads `width` wide.
struct AttentionShape {
  double flops = 0;
  double keys = 1;
  double width = 1;
  FlashGeneration generation = FlashGeneration::k2;
};

// Seconds of it at `peak` FLOP/s and `bandwidth` B/s for `bytes`.
double attention_time_s(const Efficiency& efficiency, const AttentionShape& shape, double peak,
                        double bytes, double bandwidth);

// Seconds of an elementwise or row operation that moves `bytes`.
double stream_time_s(const Efficiency& efficiency, double bytes, double bandwidth);

// Seconds that a collective takes besides the time of the bytes that a device sends.
double collective_overhead_s(const Efficiency& efficiency, double sent_bytes);

}  // namespace flopwise
