// MaxText (AI-Hypercomputer/maxtext), performance tables of its README: TFLOP/s a chip. A slice is
// a domain of fast links, dp runs over slices. Shapes by the rule of its configuration file, as of
// the tables; `minimal` keeps the outputs of weight products. v4: two matrices in the feed-forward.
#pragma once

#include "bench/accuracy/rows.h"

namespace flopwise {

// clang-format off
inline constexpr StepRow kMaxTextV5e[] = {
    {"v5e-16b-1x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 256, 1536, "fsdp=256,micro-batch=6,remat=full", 120, "TPU v5e,domain_size=256"},
    {"v5e-16b-2x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 512, 3072, "dp=2,fsdp=256,micro-batch=6,remat=full", 117, "TPU v5e,domain_size=256"},
    {"v5e-16b-4x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 1024, 6144, "dp=4,fsdp=256,micro-batch=6,remat=full", 117, "TPU v5e,domain_size=256"},
    {"v5e-16b-8x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 2048, 12288, "dp=8,fsdp=256,micro-batch=6,remat=full", 115, "TPU v5e,domain_size=256"},
    {"v5e-16b-16x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 4096, 24576, "dp=16,fsdp=256,micro-batch=6,remat=full", 111, "TPU v5e,domain_size=256"},
    {"v5e-16b-32x256", "D=4096,L=32,N=64,H=128,F=28672,V=32000", 2048, 8192, 49152, "dp=32,fsdp=256,micro-batch=6,remat=full", 108, "TPU v5e,domain_size=256"},
    {"v5e-32b-1x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 256, 1024, "fsdp=256,micro-batch=4,remat=full", 132, "TPU v5e,domain_size=256"},
    {"v5e-32b-2x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 512, 2048, "dp=2,fsdp=256,micro-batch=4,remat=full", 128, "TPU v5e,domain_size=256"},
    {"v5e-32b-4x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 1024, 4096, "dp=4,fsdp=256,micro-batch=4,remat=full", 126, "TPU v5e,domain_size=256"},
    {"v5e-32b-8x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 2048, 8192, "dp=8,fsdp=256,micro-batch=4,remat=full", 125, "TPU v5e,domain_size=256"},
    {"v5e-32b-16x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 4096, 16384, "dp=16,fsdp=256,micro-batch=4,remat=full", 123, "TPU v5e,domain_size=256"},
    {"v5e-32b-32x256", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 8192, 32768, "dp=32,fsdp=256,micro-batch=4,remat=full", 119, "TPU v5e,domain_size=256"},
    {"v5e-64b-1x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 256, 512, "fsdp=256,micro-batch=2,remat=full", 118, "TPU v5e,domain_size=256"},
    {"v5e-64b-2x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 512, 1024, "dp=2,fsdp=256,micro-batch=2,remat=full", 112, "TPU v5e,domain_size=256"},
    {"v5e-64b-4x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 1024, 2048, "dp=4,fsdp=256,micro-batch=2,remat=full", 110, "TPU v5e,domain_size=256"},
    {"v5e-64b-8x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 2048, 4096, "dp=8,fsdp=256,micro-batch=2,remat=full", 108, "TPU v5e,domain_size=256"},
    {"v5e-64b-16x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 4096, 8192, "dp=16,fsdp=256,micro-batch=2,remat=full", 105, "TPU v5e,domain_size=256"},
    {"v5e-64b-32x256", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 8192, 16384, "dp=32,fsdp=256,micro-batch=2,remat=full", 99, "TPU v5e,domain_size=256"},
};
inline constexpr StepRow kMaxTextV5p[] = {
    {"v5p-32b-1x128", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 64, 384, "fsdp=16,tp=4,micro-batch=24,remat=matmuls", 328, "TPU v5p,domain_size=64"},
    {"v5p-32b-2x128", "D=8192,L=32,N=64,H=128,F=28672,V=32000", 2048, 128, 768, "dp=2,fsdp=16,tp=4,micro-batch=24,remat=matmuls", 319, "TPU v5p,domain_size=64"},
    {"v5p-64b-1x128", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 64, 192, "fsdp=16,tp=4,micro-batch=12,remat=matmuls", 323, "TPU v5p,domain_size=64"},
    {"v5p-64b-2x128", "D=8192,L=64,N=64,H=128,F=28672,V=32000", 2048, 128, 384, "dp=2,fsdp=16,tp=4,micro-batch=12,remat=matmuls", 309, "TPU v5p,domain_size=64"},
    {"v5p-128b-1x256", "D=8192,L=64,N=128,H=128,F=57344,V=32000", 2048, 128, 128, "fsdp=16,tp=8,micro-batch=8,remat=matmuls", 315, "TPU v5p,domain_size=128"},
    {"v5p-128b-2x256", "D=8192,L=64,N=128,H=128,F=57344,V=32000", 2048, 256, 256, "dp=2,fsdp=16,tp=8,micro-batch=8,remat=matmuls", 305, "TPU v5p,domain_size=128"},
    {"v5p-128b-1x512", "D=8192,L=64,N=128,H=128,F=57344,V=32000", 2048, 256, 256, "fsdp=32,tp=8,micro-batch=8,remat=matmuls", 316, "TPU v5p,domain_size=256"},
    {"v5p-128b-2x512", "D=8192,L=64,N=128,H=128,F=57344,V=32000", 2048, 512, 512, "dp=2,fsdp=32,tp=8,micro-batch=8,remat=matmuls", 274, "TPU v5p,domain_size=256"},
    {"v5p-256b-1x1024", "D=16384,L=64,N=128,H=128,F=57344,V=32000", 2048, 512, 512, "fsdp=64,tp=8,micro-batch=8,remat=matmuls", 308, "TPU v5p,domain_size=512"},
    {"v5p-256b-2x1024", "D=16384,L=64,N=128,H=128,F=57344,V=32000", 2048, 1024, 1024, "dp=2,fsdp=64,tp=8,micro-batch=8,remat=matmuls", 289, "TPU v5p,domain_size=512"},
    {"v5p-512b-1x1024", "D=16384,L=128,N=128,H=128,F=57344,V=32000", 2048, 512, 1024, "fsdp=64,tp=8,micro-batch=16,remat=full", 294, "TPU v5p,domain_size=512"},
    {"v5p-512b-2x1024", "D=16384,L=128,N=128,H=128,F=57344,V=32000", 2048, 1024, 2048, "dp=2,fsdp=64,tp=8,micro-batch=16,remat=full", 282, "TPU v5p,domain_size=512"},
    {"v5p-1024b-1x2048", "D=16384,L=128,N=256,H=128,F=114688,V=32000", 2048, 1024, 2048, "fsdp=64,tp=16,micro-batch=32,remat=full", 254, "TPU v5p,domain_size=1024"},
    {"v5p-1024b-2x2048", "D=16384,L=128,N=256,H=128,F=114688,V=32000", 2048, 2048, 4096, "dp=2,fsdp=64,tp=16,micro-batch=32,remat=full", 237, "TPU v5p,domain_size=1024"},
    {"v5p-1024b-1x4096", "D=16384,L=128,N=256,H=128,F=114688,V=32000", 2048, 2048, 4096, "fsdp=128,tp=16,micro-batch=32,remat=full", 297, "TPU v5p,domain_size=2048"},
    {"v5p-1024b-2x4096", "D=16384,L=128,N=256,H=128,F=114688,V=32000", 2048, 4096, 8192, "dp=2,fsdp=128,tp=16,micro-batch=32,remat=full", 279, "TPU v5p,domain_size=2048"},
};
inline constexpr StepRow kMaxTextV4[] = {
    {"v4-22b-1x", "D=6144,L=48,N=24,H=256,F=24576,V=32000,gated=0", 2048, 64, 832, "fsdp=64,micro-batch=13,remat=full", 156, "TPU v4,domain_size=64"},
    {"v4-22b-2x", "D=6144,L=48,N=24,H=256,F=24576,V=32000,gated=0", 2048, 128, 1664, "dp=2,fsdp=64,micro-batch=13,remat=full", 152, "TPU v4,domain_size=64"},
    {"v4-22b-4x", "D=6144,L=48,N=24,H=256,F=24576,V=32000,gated=0", 2048, 256, 3328, "dp=4,fsdp=64,micro-batch=13,remat=full", 149, "TPU v4,domain_size=64"},
    {"v4-22b-8x", "D=6144,L=48,N=24,H=256,F=24576,V=32000,gated=0", 2048, 512, 6656, "dp=8,fsdp=64,micro-batch=13,remat=full", 146, "TPU v4,domain_size=64"},
    {"v4-52b-1x", "D=12288,L=32,N=32,H=256,F=49152,V=32000,gated=0", 2048, 192, 1344, "fsdp=192,micro-batch=7,remat=full", 154, "TPU v4,domain_size=192"},
    {"v4-52b-2x", "D=12288,L=32,N=32,H=256,F=49152,V=32000,gated=0", 2048, 384, 2688, "dp=2,fsdp=192,micro-batch=7,remat=full", 162, "TPU v4,domain_size=192"},
};
// clang-format on

}  // namespace flopwise
