// Korthikanti et al. 2022, figure 1, its bars in the numbers of Calculon's validation table: memory
// of a GPU of the first stage, states at 18 bytes a parameter, activations without embedding and
// head.
#pragma once

#include "bench/accuracy/rows.h"

namespace flopwise {

inline constexpr char kSelective[] =
    "save:attention.norm,attention.q_rotary,attention.k_rotary,attention.v_bias,attention.av,"
    "attention.dropout.mask,attention.residual,mlp.norm,mlp.up_bias,mlp.act,mlp.dropout.mask";

// clang-format off
inline constexpr MemoryRow kKorthikantiMemory[] = {
    {"22B, tensor parallel", "D=6144,L=48,N=64,F=24576,V=8", 2048, 8, 4, "tp=8,pp=1,micro-batch=4", "none", 45.5625, 59.25},
    {"22B, sequence parallel, selective", "D=6144,L=48,N=64,F=24576,V=8", 2048, 8, 4, "tp=8,pp=1,micro-batch=4,sequence-parallel=1", kSelective, 45.5625, 9.5625},
    {"175B, tensor parallel", "D=12288,L=96,N=96,F=49152,V=8", 2048, 64, 64, "tp=8,pp=8,micro-batch=1,interleave=3", "none", 45.5625, 66.84375},
    {"175B, sequence parallel, selective", "D=12288,L=96,N=96,F=49152,V=8", 2048, 64, 64, "tp=8,pp=8,micro-batch=1,interleave=3,sequence-parallel=1", kSelective, 45.5625, 12.3515625},
    {"530B, tensor parallel", "D=20480,L=105,N=128,F=81920,V=8", 2048, 280, 280, "tp=8,pp=35,micro-batch=1,interleave=3", "none", 31.640625, 114.0234375},
    {"530B, sequence parallel, selective", "D=20480,L=105,N=128,F=81920,V=8", 2048, 280, 280, "tp=8,pp=35,micro-batch=1,interleave=3,sequence-parallel=1", kSelective, 31.640625, 23.07617188},
    {"1T, tensor parallel", "D=25600,L=128,N=160,F=102400,V=8", 2048, 512, 512, "tp=8,pp=64,micro-batch=1", "none", 32.95898438, 131.25},
    {"1T, sequence parallel, selective", "D=25600,L=128,N=160,F=102400,V=8", 2048, 512, 512, "tp=8,pp=64,micro-batch=1,sequence-parallel=1", kSelective, 32.95898438, 26.5625},
};
// clang-format on

}  // namespace flopwise
