// Decoding: seconds a token. gpt-fast (pytorch-labs/gpt-fast), README: one sequence, prompt of 5
// tokens, A100 limited to 330 W; int4 in groups of 32 with scale and zero, 5 bits a weight, as
// q4_1; its MI250X rows run on one of two dies. llama.cpp, q4_0 of Llama-2-7B on Apple chips
// (llama.cpp discussion 4167). vLLM on TPU v6e (AI-Hypercomputer/tpu-recipes): mean time of an
// output token under a stream of requests of 1,000 tokens in and 1,000 out.
#pragma once

#include "bench/accuracy/rows.h"

namespace flopwise {

// clang-format off
inline constexpr DecodeRow kGptFast[] = {
    {"7b-bf16", "llama-2-7b", "A100-SXM4-80GB", 1, "bf16", 1, 5, 200, 0.009532888},
    {"7b-int8", "llama-2-7b", "A100-SXM4-80GB", 1, "int8", 1, 5, 200, 0.006427561},
    {"7b-int4", "llama-2-7b", "A100-SXM4-80GB", 1, "q4_1", 1, 5, 200, 0.005081301},
    {"70b-int8", "llama-2-70b", "A100-SXM4-80GB", 1, "int8", 1, 5, 200, 0.05227392},
    {"70b-int4", "llama-2-70b", "A100-SXM4-80GB", 1, "q4_1", 1, 5, 200, 0.03960396},
    {"l31-8b-bf16", "llama-3.1-8b", "A100-SXM4-80GB", 1, "bf16", 1, 5, 200, 0.01065076},
    {"l31-8b-int8", "llama-3.1-8b", "A100-SXM4-80GB", 1, "int8", 1, 5, 200, 0.00726533},
    {"l31-70b-int8", "llama-3.1-70b", "A100-SXM4-80GB", 1, "int8", 1, 5, 200, 0.05543237},
    {"7b-tp2", "llama-2-7b", "A100-SXM4-80GB", 2, "bf16", 1, 5, 200, 0.005922767},
    {"7b-tp4", "llama-2-7b", "A100-SXM4-80GB", 4, "bf16", 1, 5, 200, 0.003936698},
    {"7b-tp8", "llama-2-7b", "A100-SXM4-80GB", 8, "bf16", 1, 5, 200, 0.003044789},
    {"70b-tp2", "llama-2-70b", "A100-SXM4-80GB", 2, "bf16", 1, 5, 200, 0.04690432},
    {"70b-tp4", "llama-2-70b", "A100-SXM4-80GB", 4, "bf16", 1, 5, 200, 0.02630887},
    {"70b-tp8", "llama-2-70b", "A100-SXM4-80GB", 8, "bf16", 1, 5, 200, 0.016},
    {"l31-8b-tp2", "llama-3.1-8b", "A100-SXM4-80GB", 2, "bf16", 1, 5, 200, 0.006706908},
    {"l31-8b-tp4", "llama-3.1-8b", "A100-SXM4-80GB", 4, "bf16", 1, 5, 200, 0.00460384},
    {"l31-8b-tp8", "llama-3.1-8b", "A100-SXM4-80GB", 8, "bf16", 1, 5, 200, 0.003623057},
    {"l31-70b-tp2", "llama-3.1-70b", "A100-SXM4-80GB", 2, "bf16", 1, 5, 200, 0.06238303},
    {"l31-70b-tp4", "llama-3.1-70b", "A100-SXM4-80GB", 4, "bf16", 1, 5, 200, 0.02670227},
    {"l31-70b-tp8", "llama-3.1-70b", "A100-SXM4-80GB", 8, "bf16", 1, 5, 200, 0.01701259},
    {"70b-tp8-int8", "llama-2-70b", "A100-SXM4-80GB", 8, "int8", 1, 5, 200, 0.01243163},
    {"70b-tp8-int4", "llama-2-70b", "A100-SXM4-80GB", 8, "q4_1", 1, 5, 200, 0.01101686},
    {"l31-70b-tp8-int8", "llama-3.1-70b", "A100-SXM4-80GB", 8, "int8", 1, 5, 200, 0.01323101},
    {"l31-405b-tp8-int8", "llama-3.1-405b", "A100-SXM4-80GB", 8, "int8", 1, 5, 200, 0.06410256},
};
inline constexpr DecodeRow kGptFastMi250x[] = {
    {"mi250x-7b-bf16", "llama-2-7b", "flops=191.5T,memory_bandwidth=1.638T", 1, "bf16", 1, 5, 200, 0.01310101},
    {"mi250x-7b-int8", "llama-2-7b", "flops=191.5T,memory_bandwidth=1.638T", 1, "int8", 1, 5, 200, 0.009817396},
};
inline constexpr DecodeRow kLlamaCpp[] = {
    {"M1-Max-32", "llama-2-7b", "Apple M1 Max", 1, "q4_0", 1, 1, 128, 0.01639344},
    {"M2-Max-38", "llama-2-7b", "Apple M2 Max", 1, "q4_0", 1, 1, 128, 0.01515152},
    {"M3-Max-40", "llama-2-7b", "Apple M3 Max", 1, "q4_0", 1, 1, 128, 0.01515152},
    {"M4-Max-40", "llama-2-7b", "Apple M4 Max", 1, "q4_0", 1, 1, 128, 0.01204819},
    {"M2-Ultra-76", "llama-2-7b", "Apple M2 Ultra", 1, "q4_0", 1, 1, 128, 0.0106383},
    {"M3-Ultra-80", "llama-2-7b", "Apple M3 Ultra", 1, "q4_0", 1, 1, 128, 0.01086957},
};
inline constexpr DecodeRow kVllmTpu[] = {
    {"vllm-tpu-70b-c64", "llama-3.1-70b", "TPU v6e", 8, "bf16", 64, 1000, 1000, 0.02535},
    {"vllm-tpu-70b-c128", "llama-3.1-70b", "TPU v6e", 8, "bf16", 128, 1000, 1000, 0.03512},
};
// clang-format on

}  // namespace flopwise
