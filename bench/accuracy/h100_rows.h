// Llama 3 (arXiv 2407.21783), table 4: BF16 TFLOP/s a GPU; interleaving and micro-batch are not
// stated; gradients are added up over micro-batches before they are scattered (section 3.3.2),
// which is zero 1 here. fms-fsdp (foundation-model-stack/fms-fsdp), README: tokens a second and
// GPU, compiled; the networks of its nodes, 400 and 800 Gb/s, stand in the rows. NeMo 24.07 and
// Megatron-Bridge, their performance tables: tokens a second and GPU; GPT-OSS in bf16, the others
// in fp8.
#pragma once

#include "bench/accuracy/rows.h"

namespace flopwise {

// clang-format off
inline constexpr StepRow kLlama3[] = {
    {"8192 GPUs, T 8192", "llama-3.1-405b", 8192, 8192, 2048, "dp=64,tp=8,pp=16,zero=1,sequence-parallel=1", 430},
    {"16384 GPUs, T 8192", "llama-3.1-405b", 8192, 16384, 2048, "dp=128,tp=8,pp=16,zero=1,sequence-parallel=1", 400},
};
inline constexpr StepRow kFms[] = {
    {"7b A100", "llama-2-7b", 4096, 128, 256, "dp=16,fsdp=8,micro-batch=2,remat=none", 4550, "A100-SXM4-80GB,network_bandwidth=6.25G"},
    {"7b H100", "llama-2-7b", 4096, 96, 192, "dp=12,fsdp=8,micro-batch=2,remat=none", 9600, "H100-SXM5-80GB,network_bandwidth=12.5G"},
    {"70b A100", "llama-2-70b", 4096, 128, 256, "fsdp=128,micro-batch=2,remat=full", 410, "A100-SXM4-80GB,network_bandwidth=6.25G"},
};
inline constexpr StepRow kNemo[] = {
    {"00-GPT3-5B-64", "D=4096,L=24,N=32,K=32,F=16384,V=51200,gated=0", 2048, 64, 2048, "dp=64,micro-batch=4,zero=1", 22521},
    {"01-GPT3-20B-64", "D=6144,L=44,N=48,K=48,F=24576,V=51200,gated=0", 2048, 64, 256, "dp=32,tp=2,micro-batch=2,sequence-parallel=1,zero=1", 5851},
    {"02-GPT3-175B-128", "D=12288,L=96,N=96,K=96,F=49152,V=51200,gated=0", 2048, 128, 256, "dp=4,tp=4,pp=8,micro-batch=1,interleave=6,sequence-parallel=1,zero=1", 726},
    {"03-GPT3-175B-512", "D=12288,L=96,N=96,K=96,F=49152,V=51200,gated=0", 2048, 512, 2048, "dp=16,tp=4,pp=8,micro-batch=2,interleave=6,sequence-parallel=1,zero=1", 782},
    {"04-LLAMA2-7B-8", "llama-2-7b", 4096, 8, 128, "dp=8,micro-batch=1,zero=1", 16847},
    {"05-LLAMA2-13B-16", "llama-2-13b", 4096, 16, 128, "dp=4,pp=4,micro-batch=1,interleave=10,zero=1", 8646},
    {"06-LLAMA2-70B-64", "llama-2-70b", 4096, 64, 128, "dp=4,tp=4,pp=4,micro-batch=1,interleave=20,sequence-parallel=1,zero=1", 1707},
    {"09-Nemotron-340B-128", "D=18432,L=96,N=96,K=8,F=73728,V=256000,gated=0", 4096, 128, 32, "dp=2,tp=8,pp=8,micro-batch=1,interleave=12,sequence-parallel=1,zero=1", 322},
    {"10-LLAMA3-8B-8", "llama-3-8b", 8192, 8, 128, "dp=4,cp=2,micro-batch=1,zero=1", 12036},
    {"11-LLAMA3-70B-64", "llama-3-70b", 8192, 64, 128, "dp=2,tp=4,cp=2,pp=4,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1533},
};
inline constexpr StepRow kBridge[] = {
    {"023-LLAMA3.1_405B-H100-1024", "llama-3.1-405b", 8192, 1024, 1536, "dp=8,tp=8,cp=2,pp=8,micro-batch=1,interleave=8,sequence-parallel=1,zero=1", 326},
    {"041-LLAMA3_70B-H100-32", "llama-3-70b", 4096, 32, 32, "dp=2,tp=4,pp=4,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1638},
    {"060-LLAMA3.1_405B-H100-1024", "llama-3.1-405b", 8192, 1024, 1536, "dp=8,tp=8,cp=2,pp=8,micro-batch=1,interleave=8,sequence-parallel=1,zero=1", 328},
    {"086-LLAMA3_70B-H100-64", "llama-3-70b", 8192, 64, 256, "dp=2,tp=4,pp=8,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1633},
    {"117-LLAMA3_70B-H100-64", "llama-3-70b", 8192, 64, 256, "dp=2,tp=4,pp=8,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1639},
    {"148-LLAMA3_70B-H100-64", "llama-3-70b", 8192, 64, 256, "dp=2,tp=4,pp=8,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1621},
    {"155-LLAMA3.1_405B-H100-1024", "llama-3.1-405b", 8192, 1024, 1536, "dp=8,tp=8,cp=2,pp=8,micro-batch=1,interleave=8,sequence-parallel=1,zero=1", 311},
    {"197-LLAMA3_8B-H100-8", "llama-3-8b", 8192, 8, 128, "fsdp=8,micro-batch=1", 14451},
    {"198-LLAMA3_70B-H100-64", "llama-3-70b", 8192, 64, 128, "dp=2,tp=4,pp=8,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1602},
    {"199-LLAMA3.1_405B-H100-1024", "llama-3.1-405b", 8192, 1024, 512, "dp=8,tp=8,cp=2,pp=8,micro-batch=1,interleave=8,sequence-parallel=1,zero=1", 292},
    {"214-LLAMA3_8B-H100-8", "llama-3-8b", 8192, 8, 128, "fsdp=8,micro-batch=1", 14079},
    {"215-LLAMA3_70B-H100-64", "llama-3-70b", 8192, 64, 128, "dp=2,tp=4,pp=8,micro-batch=1,interleave=5,sequence-parallel=1,zero=1", 1619},
    {"216-LLAMA3.1_405B-H100-1024", "llama-3.1-405b", 8192, 1024, 512, "dp=8,tp=8,cp=2,pp=8,micro-batch=1,interleave=8,sequence-parallel=1,zero=1", 302},
};
inline constexpr StepRow kBridgeGptOss[] = {
    {"069-GPTOSS120B-H100-64", "gpt-oss-120b", 4096, 64, 1280, "dp=2,pp=4,ep=8,micro-batch=1,zero=1", 5824},
    {"101-GPTOSS120B-H100-64", "gpt-oss-120b", 4096, 64, 1280, "dp=2,pp=4,ep=8,micro-batch=1,zero=1", 5810},
    {"132-GPTOSS120B-H100-64", "gpt-oss-120b", 4096, 64, 1280, "dp=2,pp=4,ep=8,micro-batch=1,zero=1", 5984},
    {"164-GPTOSS120B-H100-64", "gpt-oss-120b", 4096, 64, 1280, "dp=2,pp=4,ep=8,micro-batch=1,zero=1", 5993},
    {"200-GPTOSS120B-H100-64", "gpt-oss-120b", 4096, 64, 512, "dp=2,pp=4,ep=8,micro-batch=4,zero=1", 5630},
};
// clang-format on

}  // namespace flopwise
