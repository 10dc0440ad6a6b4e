// What a chip reaches of its peaks: the model behind every `expected` and `upper` time
// (docs/accuracy.md). Fitted to tables of single kernels and collectives, never to a whole model.
#pragma once

#include <string>

#include "flopwise/hardware/hardware.h"

namespace flopwise {

// The constants of one family of chips.
struct Efficiency {
  std::string family;
  double matmul_fraction;       // of the peak, tiles full and K long
  double matmul_half_k;         // K at which half of that is reached
  int matmul_units;             // processors that tiles are dealt to, in waves; 0: no waves counted
  double memory_fraction;       // of the bandwidth, by matrix products
  double streaming_fraction;    // of the bandwidth, by elementwise and row operations
  double attention_fraction;    // of the peak, by fused attention
  double attention_half_width;  // head dimension at which half of that is reached
  double attention_half_keys;   // keys seen by a query at which half of that is reached
  double kernel_overhead_s;     // of every kernel
  double link_fraction;         // of the fast links, by large collectives
  double network_fraction;      // of the network
  double collective_overhead_s;
  std::string source;  // the rows that the constants were fitted to
};

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
// of the two, and the overhead of a kernel. Tiles of 64 to 256 by 64 to 256, whichever is fastest,
// those at the edges as slow as whole ones.
double matmul_time_s(const Efficiency& efficiency, const ProductShape& shape, double peak,
                     double bytes, double bandwidth);

// Seconds of a fused attention: `flops` by queries that see `keys` each, heads `width` wide.
double attention_time_s(const Efficiency& efficiency, double flops, double keys, double width,
                        double peak, double bytes, double bandwidth);

}  // namespace flopwise
