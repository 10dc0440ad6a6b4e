// Korthikanti et al. 2022 (arXiv 2205.05198), table 5 (seconds), and section 6.3: 530B on 2,240
// GPUs (MFU). Narayanan et al. 2021 (arXiv 2104.04473), tables 1 and 2: seconds follow from the
// FLOP/s they print; table 1 does not state micro-batch and interleaving. Smith et al. 2022 (arXiv
// 2201.11990), section 3.2: MT-NLG 530B (seconds).
#pragma once

#include "bench/accuracy/rows.h"

namespace flopwise {

// clang-format off
inline constexpr StepRow kKorthikanti[] = {
    {"22B full", "D=6144,L=48,N=64,F=24576,V=51200", 2048, 8, 4, "tp=8,pp=1,micro-batch=4,remat=full", 1.42},
    {"22B selective", "D=6144,L=48,N=64,F=24576,V=51200", 2048, 8, 4, "tp=8,pp=1,micro-batch=4,sequence-parallel=1,remat=attention", 1.1},
    {"175B full", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 64, 64, "tp=8,pp=8,micro-batch=1,interleave=3,remat=full", 18.13},
    {"175B selective", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 64, 64, "tp=8,pp=8,micro-batch=1,interleave=3,sequence-parallel=1,remat=attention", 13.75},
    {"530B full", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 280, 280, "tp=8,pp=35,micro-batch=1,interleave=3,remat=full", 49.05},
    {"530B selective", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 280, 280, "tp=8,pp=35,micro-batch=1,interleave=3,sequence-parallel=1,remat=attention", 37.83},
    {"1T full", "D=25600,L=128,N=160,F=102400,V=51200", 2048, 512, 512, "tp=8,pp=64,micro-batch=1,remat=full", 94.42},
    {"1T selective", "D=25600,L=128,N=160,F=102400,V=51200", 2048, 512, 512, "tp=8,pp=64,micro-batch=1,sequence-parallel=1,remat=attention", 71.49},
};
inline constexpr StepRow kKorthikantiDataParallel[] = {
    {"530B, dp 8, selective", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2240, 2240, "dp=8,tp=8,pp=35,micro-batch=1,interleave=3,sequence-parallel=1,remat=attention", 54.2},
    {"530B, dp 8, full", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2240, 2240, "dp=8,tp=8,pp=35,micro-batch=1,interleave=3,remat=full", 42.1},
};
inline constexpr StepRow kMegatronTable1[] = {
    {"1.7B", "D=2304,L=24,N=24,F=9216,V=51200", 2048, 32, 512, "tp=1,pp=1,dp=32,remat=full", 3.528},
    {"3.6B", "D=3072,L=30,N=32,F=12288,V=51200", 2048, 64, 512, "tp=2,pp=1,dp=32,remat=full", 3.697},
    {"7.5B", "D=4096,L=36,N=32,F=16384,V=51200", 2048, 128, 512, "tp=4,pp=1,dp=32,remat=full", 3.696},
    {"18.4B", "D=6144,L=40,N=48,F=24576,V=51200", 2048, 256, 1024, "tp=8,pp=1,dp=32,remat=full", 9.399},
    {"39.1B", "D=8192,L=48,N=64,F=32768,V=51200", 2048, 512, 1536, "tp=8,pp=2,dp=32,remat=full", 14.453},
    {"76.1B", "D=10240,L=60,N=80,F=40960,V=51200", 2048, 1024, 1792, "tp=8,pp=4,dp=32,remat=full", 16.058},
    {"145.6B", "D=12288,L=80,N=96,F=49152,V=51200", 2048, 1536, 2304, "tp=8,pp=8,dp=24,remat=full", 24.817},
    {"310.1B", "D=16384,L=96,N=128,F=65536,V=51200", 2048, 1920, 2160, "tp=8,pp=16,dp=15,remat=full", 37.614},
    {"529.6B", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2520, 2520, "tp=8,pp=35,dp=9,remat=full", 54.085},
    {"1008B", "D=25600,L=128,N=160,F=102400,V=51200", 2048, 3072, 3072, "tp=8,pp=64,dp=6,remat=full", 102.63},
};
inline constexpr StepRow kMegatronZero3[] = {
    {"174.6B-384", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 384, 1536, "fsdp=384,micro-batch=4,remat=full", 81.579},
    {"174.6B-768", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 768, 1536, "fsdp=768,micro-batch=2,remat=full", 66.746},
    {"174.6B-1536", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 1536, 1536, "fsdp=1536,micro-batch=1,remat=full", 66.746},
    {"529.6B-640", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 640, 2560, "fsdp=640,micro-batch=4,remat=full", 255.532},
    {"529.6B-1120", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 1120, 2240, "fsdp=1120,micro-batch=2,remat=full", 179.915},
    {"529.6B-2240", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2240, 2240, "fsdp=2240,micro-batch=1,remat=full", 183.664},
};
inline constexpr StepRow kMegatronPtdp[] = {
    {"174.6B-384", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 384, 1536, "tp=8,pp=12,dp=4,micro-batch=1,remat=full", 76.78},
    {"174.6B-768", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 768, 1536, "tp=8,pp=12,dp=8,micro-batch=1,remat=full", 39.421},
    {"174.6B-1536", "D=12288,L=96,N=96,F=49152,V=51200", 2048, 1536, 1536, "tp=8,pp=12,dp=16,micro-batch=1,remat=full", 20.829},
    {"529.6B-560", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 560, 2240, "tp=8,pp=35,dp=2,micro-batch=1,remat=full", 206.219},
    {"529.6B-1120", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 1120, 2240, "tp=8,pp=35,dp=4,micro-batch=1,remat=full", 105.579},
    {"529.6B-2240", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2240, 2240, "tp=8,pp=35,dp=8,micro-batch=1,remat=full", 55.446},
};
inline constexpr StepRow kMtNlg[] = {
    {"mtnlg-280dgx", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2240, 1920, "dp=8,tp=8,pp=35,micro-batch=1,remat=full", 60.1},
    {"mtnlg-350dgx", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 2800, 1920, "dp=10,tp=8,pp=35,micro-batch=1,remat=full", 50.2},
    {"mtnlg-420dgx", "D=20480,L=105,N=128,F=81920,V=51200", 2048, 3360, 1920, "dp=12,tp=8,pp=35,micro-batch=1,remat=full", 44.4},
};
// clang-format on

}  // namespace flopwise
