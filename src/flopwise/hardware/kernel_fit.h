// The rows of kernel_rows.h beside what the efficiency model says of them: how well its constants
// fit (efficiency_test.cc), and how they are found again (bench/efficiency_fit.cc).
#pragma once

#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "flopwise/hardware/efficiency.h"
#include "flopwise/hardware/kernel_rows.h"

namespace flopwise {

struct KernelFitRow {
  std::string_view group;  // "a100 products"
  double measured_s = 0;
  std::function<double(const Efficiency&)> expected_s;
};

struct KernelChipPeaks {
  double flops_per_s, memory_bytes_per_s, link_bytes_per_s;
};
// fp16; an A100-SXM4-80GB and an H100 SXM. Product rows of TPUs bring their own.
inline KernelChipPeaks peaks_of(KernelChip chip) {
  if (chip == KernelChip::kA100) return {312e12, 2.039e12, 300e9};
  return {989.5e12, 3.35e12, 450e9};
}

inline std::string_view group_of(KernelChip chip, std::string_view a100, std::string_view h100,
                                 std::string_view tpu = {}) {
  if (chip == KernelChip::kTpu) return tpu;
  return chip == KernelChip::kA100 ? a100 : h100;
}

inline void add_product(std::vector<KernelFitRow>& rows, const ProductRow& row) {
  // Most of a small product on a TPU is the start of its kernel: the overhead has rows of its own.
  const std::string_view tpu = row.m < 4096 ? "tpu small products" : "tpu products";
  const std::string_view group = group_of(row.chip, "a100 products", "h100 products", tpu);
  rows.push_back(
      {group, row.us * 1e-6, [row](const Efficiency& efficiency) {
         const double bytes = 2 * (row.m * row.k + row.k * row.n + row.m * row.n);
         return matmul_time_s(efficiency, {row.m, row.n, row.k, 1}, row.peak, bytes, row.bandwidth);
       }});
}

inline void add_stream(std::vector<KernelFitRow>& rows, const StreamRow& row) {
  rows.push_back({group_of(row.chip, "a100 streams", "h100 streams"), row.us * 1e-6,
                  [row](const Efficiency& efficiency) {
                    return stream_time_s(efficiency, row.bytes,
                                         peaks_of(row.chip).memory_bytes_per_s);
                  }});
}

// Streams from 2,048 tokens on: shorter ones take few of the microseconds they were measured in.
inline void add_layer(std::vector<KernelFitRow>& rows, const LayerRow& row) {
  constexpr double kHeadDim = 128;
  const auto [peak, bandwidth, link] = peaks_of(row.chip);
  const double d_ff = row.d_ff / row.tp;
  const double heads = row.heads * kHeadDim / row.tp;
  const double kv_heads = row.kv_heads * kHeadDim / row.tp;
  const double t = row.tokens;
  const double d = row.d_model;
  add_product(rows, {row.chip, t, heads + 2 * kv_heads, d, row.qkv_us, peak, bandwidth});
  add_product(rows, {row.chip, t, d, heads, row.out_us, peak, bandwidth});
  add_product(rows, {row.chip, t, 2 * d_ff, d, row.up_us, peak, bandwidth});
  add_product(rows, {row.chip, t, d, d_ff, row.down_us, peak, bandwidth});
  if (t < 2048) return;
  add_stream(rows, {row.chip, "act", 2 * t * 3 * d_ff, row.act_us});
  add_stream(rows, {row.chip, "norm", 2 * t * 2 * d, row.norm_us});
  add_stream(rows, {row.chip, "add", 2 * t * 3 * d, row.add_us});
  add_stream(rows, {row.chip, "rope", 2 * t * 2 * (heads + kv_heads), row.rope_us});
}

inline void add_attention(std::vector<KernelFitRow>& rows, const AttentionRow& row) {
  const std::string_view kernel = row.kernel;
  const FlashGeneration generation = kernel == "FlashAttention3"   ? FlashGeneration::k3
                                     : kernel == "FlashAttention2" ? FlashGeneration::k2
                                                                   : FlashGeneration::k1;
  const std::string_view group = generation == FlashGeneration::k3 ? "h100 flash 3"
                                 : generation == FlashGeneration::k2
                                     ? group_of(row.chip, "a100 flash 2", "h100 flash 2")
                                     : group_of(row.chip, "a100 flash 1", "h100 flash 1");
  double keys = 512;
  for (const double tflops : row.tflops) {
    const double seen = row.is_causal ? (keys + 1) / 2 : keys;
    keys *= 2;
    if (tflops == 0) continue;
    // FLOPs of a second at the measured rate: launches do not count.
    const AttentionShape shape{tflops * 1e12, seen, row.width, generation};
    const double peak = peaks_of(row.chip).flops_per_s;
    rows.push_back({group, 1, [shape, peak](const Efficiency& efficiency) {
                      return attention_time_s(efficiency, shape, peak, 0, 1);
                    }});
  }
}

inline std::vector<KernelFitRow> kernel_fit_rows() {
  std::vector<KernelFitRow> rows;
  for (const LayerRow& row : kLayerRows) add_layer(rows, row);
  for (const ProductRow& row : kProductRows) add_product(rows, row);
  for (const StreamRow& row : kStreamRows) add_stream(rows, row);
  for (const AttentionRow& row : kAttentionRows) add_attention(rows, row);
  for (const AllReduceRow& row : kAllReduceRows) {
    const std::string_view group = row.bytes < 1 << 20
                                       ? "a100 short all-reduces"
                                       : group_of(row.chip, "a100 all-reduces", "h100 all-reduces");
    rows.push_back({group, row.us * 1e-6, [row](const Efficiency& efficiency) {
                      const double sent = 2 * (row.ranks - 1) / row.ranks * row.bytes;
                      return collective_overhead_s(efficiency, sent) +
                             sent /
                                 (efficiency.link_fraction * peaks_of(row.chip).link_bytes_per_s);
                    }});
  }
  for (const SendRow& row : kSendRows) {
    rows.push_back({"h100 sends", row.us * 1e-6, [row](const Efficiency& efficiency) {
                      return collective_overhead_s(efficiency, row.bytes) +
                             row.bytes / (efficiency.network_fraction * row.peak);
                    }});
  }
  return rows;
}

// Mean |ln(expected / measured)| of the rows of a group; what a fit makes least.
inline double fit_error(const std::vector<KernelFitRow>& rows, std::string_view group,
                        const Efficiency& efficiency) {
  double sum = 0;
  double count = 0;
  for (const KernelFitRow& row : rows) {
    if (row.group != group) continue;
    sum += std::abs(std::log(row.expected_s(efficiency) / row.measured_s));
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace flopwise
