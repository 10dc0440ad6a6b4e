// Single kernels and collectives as others measured them: what the constants of efficiency.cc are
// fitted to (efficiency_test.cc, bench/efficiency_fit.cc). Facts, no whole model among them.
//
// Layers: Vidur (microsoft/vidur @7d47513, data/profiling/compute), CUDA graphs, fp16. Products and
// streams: LLMCompass (PrincetonUniversity/LLMCompass @2e015fd, ae/figure5), launched one by one,
// so only those that take at least three times the 30 us of the smallest product and 17 times the
// least launch of a stream (256 MB). Attention: FlashAttention-2 (arXiv 2307.08691, figures 4 to 7,
// forward and backward) and FlashAttention-3 (arXiv 2407.08608, figure 5, forward only), 16,384
// tokens, 2,048 hidden. All-reduces: Vidur (data/profiling/network) and LLMCompass, those below a
// mebibyte LLMCompass alone, since Vidur's are mostly a launch. TPUs:
// AI-Hypercomputer/tpu-recipes @c8cfe2f, microbenchmarks.
#pragma once

namespace flopwise {

enum class KernelChip { kA100, kH100, kTpu };

// The kernels of one layer on one of `tp` GPUs, heads 128 wide, gated: microseconds.
struct LayerRow {
  KernelChip chip;
  double d_model, d_ff, heads, kv_heads, tp, tokens;
  double qkv_us, out_us, up_us, down_us;    // products; up and gate are one
  double act_us, norm_us, add_us, rope_us;  // streams
};
// A product [m,k] x [k,n] on a chip of these peaks (FLOP/s, B/s).
struct ProductRow {
  KernelChip chip;
  double m, n, k, us, peak, bandwidth;
};
struct StreamRow {
  KernelChip chip;
  const char* op;
  double bytes, us;
};
// TFLOP/s at 512, 1024, ... 16384 keys; 0: not measured.
struct AttentionRow {
  KernelChip chip;
  const char* kernel;
  double width;
  bool is_causal;
  double tflops[6];
};
struct AllReduceRow {
  KernelChip chip;
  double ranks, bytes, us;
};
// From one GPU to one of another node, of `peak` B/s.
struct SendRow {
  KernelChip chip;
  double bytes, us, peak;
};

// clang-format off
inline constexpr LayerRow kLayerRows[] = {
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 1, 65, 25, 116, 60, 7, 5, 2, 5},
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 32, 66, 27, 115, 65, 8, 4, 2, 6},
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 128, 74.5, 32, 157, 88, 11, 5, 3, 7},
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 512, 234, 88, 402, 229, 36.5, 12, 7, 22},
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 2048, 979, 301, 1694, 851, 135, 53, 28, 76},
    {KernelChip::kA100, 4096, 11008, 32, 32, 1, 4096, 1911, 611, 3365.5, 1604, 266, 105, 55, 149},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 1, 38, 16, 64, 38, 6, 4, 1, 4},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 32, 38, 16, 66, 39, 7, 4, 2, 5},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 128, 41, 20, 71, 48, 5, 4, 2, 4},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 512, 90, 29, 134, 75.5, 17, 7, 4, 11},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 2048, 281, 96, 492, 218, 70, 26, 14.5, 41},
    {KernelChip::kH100, 4096, 11008, 32, 32, 1, 4096, 584, 193, 987, 441, 139, 66.5, 31, 83.5},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 1, 110, 92, 580, 290, 22, 8, 2, 6},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 32, 115, 95, 612.5, 297.5, 24, 7, 3, 6},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 128, 135, 120, 720, 322, 31, 8, 4, 8},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 512, 386.5, 355.5, 2133, 1035, 97, 22.5, 13, 21},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 2048, 1450, 1208, 8102.5, 4080, 344, 102, 56, 88},
    {KernelChip::kA100, 8192, 28672, 64, 8, 1, 4096, 2872, 2377, 15940.5, 8063.5, 676, 193, 112, 172.5},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 1, 58, 45, 283, 143, 12, 8, 2, 4},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 32, 61, 47, 316, 147, 13, 7, 3, 4},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 128, 81, 59, 418, 176, 14, 8, 4, 5},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 512, 204, 204, 1078, 530.5, 48, 21, 12, 11},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 2048, 719, 679, 4080, 2046, 173, 101, 56, 42},
    {KernelChip::kA100, 8192, 28672, 64, 8, 2, 4096, 1411, 1276, 7970, 4005.5, 334.5, 190, 112, 87},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 1, 32, 26, 150, 76, 6, 8, 2, 3},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 32, 35, 28, 159, 79, 5, 7, 3, 3},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 128, 46, 35, 202, 100, 8, 8, 4, 4},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 512, 110, 100.5, 547, 280.5, 22, 19, 11, 7},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 2048, 437.5, 315, 2069, 1005.5, 86, 97.5, 55.5, 21},
    {KernelChip::kA100, 8192, 28672, 64, 8, 4, 4096, 684.5, 716, 3835, 1981, 169, 185, 112, 44},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 1, 19, 15, 77, 41, 4, 8, 2, 3},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 32, 19, 17, 80, 44, 4, 7, 2, 3},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 128, 26, 20, 103, 55, 5, 8, 4, 3},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 512, 69, 50, 300, 164, 11, 18, 12, 6},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 2048, 194, 158, 1083.5, 547, 47, 94, 58, 14},
    {KernelChip::kA100, 8192, 28672, 64, 8, 8, 4096, 348, 296, 1931, 1047.5, 91, 177, 117, 26.5},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 1, 63, 48, 311, 171, 15, 6, 1, 4},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 32, 65, 53, 313.5, 164, 16, 6, 2, 5},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 128, 66, 52, 327, 166, 17, 6, 3, 5},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 512, 156, 94, 650, 269, 45, 12, 7, 11},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 2048, 495.5, 395, 2732, 1280.5, 180.5, 63, 31, 49},
    {KernelChip::kH100, 8192, 28672, 64, 8, 1, 4096, 982.5, 788.5, 5668.5, 2647, 361, 124, 62, 100},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 1, 32, 25, 156, 81, 8, 6, 2, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 32, 33, 29, 158, 87, 9, 6, 2, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 128, 39, 29, 172, 86, 7, 6, 3, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 512, 74, 49, 386, 140, 22, 12, 7, 7},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 2048, 283, 225.5, 1309, 739, 90, 57, 30.5, 23},
    {KernelChip::kH100, 8192, 28672, 64, 8, 2, 4096, 493, 404.5, 2756, 1304, 181.5, 121, 63, 49},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 1, 19, 16, 81, 43, 4, 6, 2, 2},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 32, 21, 18, 82.5, 48, 5, 6, 2, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 128, 25, 18, 87, 47, 4, 6, 3, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 512, 46, 29, 181, 74, 11, 11, 7, 4},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 2048, 134, 110, 677, 294, 47, 55.5, 31, 12},
    {KernelChip::kH100, 8192, 28672, 64, 8, 4, 4096, 246.5, 199, 1361, 563.5, 90, 113, 63, 23},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 1, 13, 9, 43.5, 22, 2, 6, 1, 2},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 32, 13, 9, 48, 27, 3, 6, 2, 2},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 128, 15, 11, 52, 27, 3, 6, 3, 2},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 512, 29, 18, 91, 45, 6, 11, 7, 3},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 2048, 83, 50, 334, 152, 26, 54, 30, 8},
    {KernelChip::kH100, 8192, 28672, 64, 8, 8, 4096, 150.5, 94, 643, 296, 52, 112, 63, 16},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 1, 33, 25, 142, 76, 11, 5, 2, 4},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 32, 39, 27, 163, 86, 11, 4, 2, 4},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 128, 43, 32, 191, 111, 17, 5, 3, 5},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 512, 130, 85, 516, 263, 46, 12, 6.5, 12},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 2048, 467, 308, 2248.5, 1049, 174, 54.5, 26, 48},
    {KernelChip::kA100, 4096, 14336, 32, 8, 1, 4096, 1013, 625, 4127, 2052, 343, 107, 56, 99},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 1, 21, 15, 82, 41, 5, 5, 1, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 32, 21, 16, 80, 44, 5, 4, 2, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 128, 27.5, 19, 110, 59, 7.5, 5, 3, 4},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 512, 57, 51, 280, 127, 23, 11, 6, 7},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 2048, 227, 158.5, 1096, 512.5, 87.5, 43, 26, 24},
    {KernelChip::kA100, 4096, 14336, 32, 8, 2, 4096, 444, 334, 2204.5, 1007.5, 174, 104, 56, 50.5},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 1, 14, 9, 41, 23, 4, 5, 2, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 32, 15, 10, 46, 24, 4, 4, 2, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 128, 20, 13, 58, 31, 4, 5, 3, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 512, 39, 26, 188, 75, 13, 11, 6, 6},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 2048, 120, 79, 534, 236, 47, 40, 27, 14},
    {KernelChip::kA100, 4096, 14336, 32, 8, 4, 4096, 246, 161, 1080.5, 520.5, 96, 101, 57, 28},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 1, 8, 6, 22, 13, 2, 5, 2, 2},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 32, 10, 7, 26, 14, 3, 4, 2, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 128, 13, 8, 47, 18, 3, 5, 3, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 512, 27, 17, 82, 40, 6, 11, 6, 3},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 2048, 66, 47, 261, 125, 26, 39, 29, 8},
    {KernelChip::kA100, 4096, 14336, 32, 8, 8, 4096, 122, 86, 539.5, 273.5, 51, 96, 60, 14},
};
inline constexpr ProductRow kProductRows[] = {
    {KernelChip::kA100, 64, 12288, 12288, 190, 312e12, 2.039e12},
    {KernelChip::kA100, 128, 12288, 12288, 200.3, 312e12, 2.039e12},
    {KernelChip::kA100, 256, 12288, 12288, 318.5, 312e12, 2.039e12},
    {KernelChip::kA100, 512, 12288, 12288, 611.8, 312e12, 2.039e12},
    {KernelChip::kA100, 1024, 12288, 12288, 1199, 312e12, 2.039e12},
    {KernelChip::kA100, 2048, 12288, 12288, 2358.6, 312e12, 2.039e12},
    {KernelChip::kA100, 4096, 12288, 12288, 4457.6, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 12288, 12288, 8621.6, 312e12, 2.039e12},
    {KernelChip::kA100, 16384, 12288, 12288, 17030.7, 312e12, 2.039e12},
    {KernelChip::kA100, 32768, 12288, 12288, 35440.7, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 1024, 1024, 92.7, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 2048, 2048, 281.8, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 4096, 4096, 1021, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 8192, 8192, 3961.4, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 16384, 16384, 15008.7, 312e12, 2.039e12},
    {KernelChip::kA100, 8192, 32768, 32768, 61134.6, 312e12, 2.039e12},
    {KernelChip::kTpu, 128, 128, 128, 1.619, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 256, 256, 256, 1.835, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 512, 512, 512, 2.555, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 1024, 1024, 1024, 6.14, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 2048, 2048, 2048, 25.29, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 4096, 4096, 4096, 153.9, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 16384, 16384, 16384, 9258, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 32768, 32768, 32768, 7.358e+04, 1153.5e12, 3.69e12},  // half a TPU7x
    {KernelChip::kTpu, 8192, 8192, 8192, 1328.8, 918e12, 1.638e12},  // TPU v6e
};
inline constexpr StreamRow kStreamRows[] = {
    {KernelChip::kA100, "softmax", 268435456, 277.3},
    {KernelChip::kA100, "softmax", 536870912, 557.2},
    {KernelChip::kA100, "softmax", 268435456, 271.6},
    {KernelChip::kA100, "softmax", 536870912, 481.4},
    {KernelChip::kA100, "layernorm", 268435456, 318.9},
    {KernelChip::kA100, "layernorm", 536870912, 673.5},
    {KernelChip::kA100, "layernorm", 268435456, 194.1},
    {KernelChip::kA100, "layernorm", 536870912, 347.9},
    {KernelChip::kA100, "gelu", 268435456, 204.4},
    {KernelChip::kA100, "gelu", 536870912, 372.6},
    {KernelChip::kA100, "gelu", 1073741824, 707.3},
    {KernelChip::kA100, "gelu", 2147483648, 1375.4},
};
inline constexpr AttentionRow kAttentionRows[] = {
    {KernelChip::kA100, "FlashAttention1", 64, false, {91, 92, 104, 108, 110, 110}},
    {KernelChip::kA100, "FlashTriton", 64, false, {90, 102, 98, 98, 100, 100}},
    {KernelChip::kA100, "FlashAttention2", 64, false, {132, 153, 162, 171, 175, 176}},
    {KernelChip::kA100, "FlashAttention1", 128, false, {76, 72, 76, 80, 82, 83}},
    {KernelChip::kA100, "FlashTriton", 128, false, {78, 85, 90, 93, 95, 95}},
    {KernelChip::kA100, "FlashAttention2", 128, false, {151, 173, 187, 196, 201, 203}},
    {KernelChip::kA100, "FlashAttention1", 64, true, {58, 70, 77, 87, 92, 97}},
    {KernelChip::kA100, "FlashTriton", 64, true, {59, 75, 79, 76, 79, 80}},
    {KernelChip::kA100, "FlashAttention2", 64, true, {88, 119, 140, 156, 165, 171}},
    {KernelChip::kA100, "FlashAttention1", 128, true, {55, 62, 69, 76, 80, 83}},
    {KernelChip::kA100, "FlashTriton", 128, true, {50, 61, 68, 74, 78, 80}},
    {KernelChip::kA100, "FlashAttention2", 128, true, {99, 133, 155, 173, 182, 189}},
    {KernelChip::kH100, "FlashAttention1", 64, false, {157, 159, 161, 161, 166, 168}},
    {KernelChip::kH100, "FlashAttention2", 64, false, {215, 254, 274, 288, 294, 296}},
    {KernelChip::kH100, "FlashAttention1", 128, false, {127, 127, 128, 131, 137, 139}},
    {KernelChip::kH100, "FlashAttention2", 128, false, {248, 294, 320, 326, 335, 338}},
    {KernelChip::kH100, "FlashAttention1", 64, true, {104, 123, 136, 138, 149, 156}},
    {KernelChip::kH100, "FlashAttention2", 64, true, {141, 192, 232, 257, 273, 284}},
    {KernelChip::kH100, "FlashAttention1", 128, true, {98, 109, 108, 126, 135, 137}},
    {KernelChip::kH100, "FlashAttention2", 128, true, {163, 221, 265, 294, 308, 328}},
    {KernelChip::kH100, "FlashAttention3", 64, false, {333, 392, 460, 476, 496, 497}},
    {KernelChip::kH100, "FlashAttention3", 64, true, {197, 265, 371, 420, 460, 473}},
    {KernelChip::kH100, "FlashAttention3", 128, false, {467, 565, 625, 638, 646, 648}},
    {KernelChip::kH100, "FlashAttention3", 128, true, {292, 423, 521, 579, 602, 616}},
    {KernelChip::kH100, "FlashAttention3", 256, false, {482, 0, 707, 736, 746, 756}},
    {KernelChip::kH100, "FlashAttention3", 256, true, {286, 427, 537, 612, 628, 642}},
};
inline constexpr AllReduceRow kAllReduceRows[] = {
    {KernelChip::kH100, 2, 1048576, 43},
    {KernelChip::kH100, 2, 4194304, 43},
    {KernelChip::kH100, 2, 16777216, 73},
    {KernelChip::kH100, 2, 33554432, 136},
    {KernelChip::kH100, 2, 67108864, 245},
    {KernelChip::kH100, 4, 1048576, 41},
    {KernelChip::kH100, 4, 4194304, 47},
    {KernelChip::kH100, 4, 16777216, 93},
    {KernelChip::kH100, 4, 33554432, 167},
    {KernelChip::kH100, 4, 67108864, 318},
    {KernelChip::kH100, 8, 1048576, 34},
    {KernelChip::kH100, 8, 4194304, 51},
    {KernelChip::kH100, 8, 16777216, 115},
    {KernelChip::kH100, 8, 33554432, 196},
    {KernelChip::kH100, 8, 67108864, 322},
    {KernelChip::kA100, 2, 1048576, 47},
    {KernelChip::kA100, 2, 4194304, 63},
    {KernelChip::kA100, 2, 16777216, 139},
    {KernelChip::kA100, 2, 33554432, 247},
    {KernelChip::kA100, 2, 67108864, 430},
    {KernelChip::kA100, 4, 1048576, 64},
    {KernelChip::kA100, 4, 4194304, 85},
    {KernelChip::kA100, 4, 16777216, 201},
    {KernelChip::kA100, 4, 33554432, 319},
    {KernelChip::kA100, 4, 67108864, 603},
    {KernelChip::kA100, 8, 1048576, 64},
    {KernelChip::kA100, 8, 4194304, 99},
    {KernelChip::kA100, 8, 16777216, 274},
    {KernelChip::kA100, 8, 33554432, 411},
    {KernelChip::kA100, 8, 67108864, 675},
    {KernelChip::kA100, 4, 8, 12.5},
    {KernelChip::kA100, 4, 16, 13.9},
    {KernelChip::kA100, 4, 32, 12.4},
    {KernelChip::kA100, 4, 64, 13.2},
    {KernelChip::kA100, 4, 128, 12.3},
    {KernelChip::kA100, 4, 256, 12.4},
    {KernelChip::kA100, 4, 512, 13.1},
    {KernelChip::kA100, 4, 1024, 13},
    {KernelChip::kA100, 4, 2048, 15.1},
    {KernelChip::kA100, 4, 4096, 15.2},
    {KernelChip::kA100, 4, 8192, 16},
    {KernelChip::kA100, 4, 16384, 17.4},
    {KernelChip::kA100, 4, 32768, 20},
    {KernelChip::kA100, 4, 65536, 22.9},
    {KernelChip::kA100, 4, 131072, 28.7},
    {KernelChip::kA100, 4, 262144, 35.9},
    {KernelChip::kA100, 4, 524288, 47.3},
    {KernelChip::kA100, 4, 1048576, 60.8},
    {KernelChip::kA100, 4, 2097152, 66.4},
    {KernelChip::kA100, 4, 4194304, 84.8},
    {KernelChip::kA100, 4, 8388608, 128.8},
    {KernelChip::kA100, 4, 16777216, 195.7},
    {KernelChip::kA100, 4, 33554432, 279.7},
    {KernelChip::kA100, 4, 67108864, 532.3},
    {KernelChip::kA100, 4, 134217728, 961.7},
    {KernelChip::kA100, 4, 268435456, 1883.7},
    {KernelChip::kA100, 4, 536870912, 3659},
    {KernelChip::kA100, 4, 1073741824, 7219.2},
    {KernelChip::kA100, 4, 2147483648, 14136},
};
inline constexpr SendRow kSendRows[] = {
    {KernelChip::kH100, 1048576, 54, 50e9},  // 400 Gb/s a GPU
    {KernelChip::kH100, 16777216, 476, 50e9},  // 400 Gb/s a GPU
    {KernelChip::kH100, 67108864, 1871, 50e9},  // 400 Gb/s a GPU
};
// clang-format on

}  // namespace flopwise
