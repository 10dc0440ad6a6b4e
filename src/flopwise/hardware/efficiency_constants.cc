// The constants of every family of chips, each with the rows of kernel_rows.h that it was fitted
// to. bench/efficiency_fit finds them again and prints the errors; what is not in `fitted_to` is
// not measured. Units are streaming multiprocessors, of an A100 and an H100 SXM. An A100's network
// is taken at an H100's fraction, the latency of an H100's collectives from an A100's, whose rows
// alone are without a launch, and the generic family is Ampere, rounded, without its waves.
#include "flopwise/hardware/efficiency.h"

namespace flopwise {

const std::vector<Efficiency>& efficiencies() {
  static const std::vector<Efficiency> kAll = {
      {.family = "NVIDIA Ampere",
       .matmul_units = 108,
       .matmul_fraction = 0.76,
       .matmul_half_k = 115,
       .memory_fraction = 0.76,
       .streaming_fraction = 0.5,
       .attention_fraction = 0.77,
       .attention_half_width = 21,
       .attention_half_keys = 270,
       .flash1_fraction = 0.32,
       .kernel_overhead_s = 4.2e-6,
       .link_fraction = 0.64,
       .network_fraction = 0.75,
       .collective_overhead_s = 53e-6,
       .collective_latency_s = 14e-6,
       .fitted_to = {{"matmul_fraction", "a100 products"},
                     {"matmul_half_k", "a100 products"},
                     {"memory_fraction", "a100 products"},
                     {"streaming_fraction", "a100 streams"},
                     {"attention_fraction", "a100 flash 2"},
                     {"attention_half_width", "a100 flash 2"},
                     {"attention_half_keys", "a100 flash 2"},
                     {"flash1_fraction", "a100 flash 1"},
                     {"kernel_overhead_s", "a100 products"},
                     {"link_fraction", "a100 all-reduces"},
                     {"collective_overhead_s", "a100 all-reduces"},
                     {"collective_latency_s", "a100 short all-reduces"}}},

      {.family = "NVIDIA Hopper",
       .matmul_units = 132,
       .matmul_fraction = 0.73,
       .matmul_half_k = 0,
       .memory_fraction = 0.87,
       .streaming_fraction = 0.6,
       .attention_fraction = 0.41,
       .attention_half_width = 23,
       .attention_half_keys = 285,
       .flash1_fraction = 0.17,
       .flash3_fraction = 0.75,
       .kernel_overhead_s = 4.5e-6,
       .link_fraction = 0.79,
       .network_fraction = 0.75,
       .collective_overhead_s = 31e-6,
       .collective_latency_s = 14e-6,
       .fitted_to = {{"matmul_fraction", "h100 products"},
                     {"memory_fraction", "h100 products"},
                     {"streaming_fraction", "h100 streams"},
                     {"attention_fraction", "h100 flash 2"},
                     {"attention_half_width", "h100 flash 2"},
                     {"attention_half_keys", "h100 flash 2"},
                     {"flash1_fraction", "h100 flash 1"},
                     {"flash3_fraction", "h100 flash 3"},
                     {"kernel_overhead_s", "h100 products"},
                     {"link_fraction", "h100 all-reduces"},
                     {"network_fraction", "h100 sends"},
                     {"collective_overhead_s", "h100 all-reduces"}}},

      {.family = "Google TPU",
       .matmul_fraction = 0.84,
       .matmul_half_k = 290,
       .memory_fraction = 0.85,
       .streaming_fraction = 0.7,
       .attention_fraction = 0.6,
       .attention_half_width = 64,
       .attention_half_keys = 500,
       .kernel_overhead_s = 1.7e-6,
       .link_fraction = 0.85,
       .network_fraction = 0.7,
       .collective_overhead_s = 5e-6,
       .collective_latency_s = 5e-6,
       .fitted_to = {{"matmul_fraction", "tpu products"},
                     {"matmul_half_k", "tpu products"},
                     {"kernel_overhead_s", "tpu small products"}}   },

      {.family = "generic",
       .matmul_fraction = 0.75,
       .matmul_half_k = 90,
       .memory_fraction = 0.75,
       .streaming_fraction = 0.5,
       .attention_fraction = 0.5,
       .attention_half_width = 21,
       .attention_half_keys = 270,
       .kernel_overhead_s = 5e-6,
       .link_fraction = 0.7,
       .network_fraction = 0.7,
       .collective_overhead_s = 25e-6,
       .collective_latency_s = 14e-6,
       .fitted_to = {}     }
  };
  return kAll;
}

}  // namespace flopwise
