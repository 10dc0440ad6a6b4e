#include "flopwise/hardware/network.h"

#include <gtest/gtest.h>

#include "flopwise/hardware/efficiency.h"

namespace flopwise {
namespace {

// NCCL's bus bandwidth factors: (n-1)/n, and twice that for an all-reduce.
TEST(SentBytes, OneDomain) {
  for (const std::int64_t n : {2, 4, 8, 16, 64}) {
    const double share = static_cast<double>(n - 1) / static_cast<double>(n);
    const DeviceGroup group{n, 1};
    EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kAllGather, 1e9, group, false).inside, 1e9 * share);
    EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kReduceScatter, 1e9, group, false).inside,
                     1e9 * share);
    EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kAllReduce, 1e9, group, false).inside, 2e9 * share);
    EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kAllToAll, 1e9, group, false).inside,
                     1e9 * share / static_cast<double>(n));
  }
}

// floor(X^2/4) V/X^2 on a ring, forwarding included.
TEST(SentBytes, AllToAllOnARing) {
  EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kAllToAll, 64, {8, 1}, true).inside, 16);
  EXPECT_DOUBLE_EQ(sent_bytes(CollectiveKind::kAllToAll, 25, {5, 1}, true).inside, 6);
}

// Inside and across add up to what one flat group sends.
TEST(SentBytes, HierarchiesAddUp) {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
    const SentBytes two = sent_bytes(kind, 3.2e9, {8, 16}, false);
    EXPECT_NEAR(two.total(), sent_bytes(kind, 3.2e9, {128, 1}, false).total(), 1) << name_of(kind);
    EXPECT_GT(two.across, 0);
  }
}

TEST(SentBytes, NothingOnOneDevice) {
  EXPECT_EQ(sent_bytes(CollectiveKind::kAllReduce, 1e9, {1, 1}, false).total(), 0);
  EXPECT_EQ(sent_bytes(CollectiveKind::kAllToAll, 1e9, {1, 1}, true).total(), 0);
}

TEST(PlaceGroup, FillsDomainsFromTheInside) {
  const auto place = [](std::int64_t stride, std::int64_t size) {
    const DeviceGroup group = place_group(stride, size, 8);
    return std::pair(group.inside, group.across);
  };
  EXPECT_EQ(place(1, 8), std::pair(std::int64_t{8}, std::int64_t{1}));
  EXPECT_EQ(place(1, 32), std::pair(std::int64_t{8}, std::int64_t{4}));
  EXPECT_EQ(place(2, 8), std::pair(std::int64_t{4}, std::int64_t{2}));
  EXPECT_EQ(place(8, 8), std::pair(std::int64_t{1}, std::int64_t{8}));
  EXPECT_EQ(place(1, 6), std::pair(std::int64_t{6}, std::int64_t{1}));
  EXPECT_EQ(place(2, 6), std::pair(std::int64_t{3}, std::int64_t{2}));  // alike, not 4 and 2
}

// How to Scale Your Model, chapter 12: 32 MiB over 8 H100 at 450 GB/s takes 65 us (75 in the limit
// of many).
TEST(CollectiveTime, AllGatherOfANode) {
  const Hardware& h100 = find_hardware("h100");
  const SentBytes sent = sent_bytes(CollectiveKind::kAllGather, 33554432, {8, 1}, false);
  EXPECT_NEAR(collective_time_s(sent, network_of(h100), h100), 65.2e-6, 0.1e-6);
}

// Kernels that the constants were fitted to: no row beyond 30 %, 10 % on the average.
TEST(Efficiency, MatrixProducts) {
  struct Row {
    const char* chip;
    double m, k, n, measured_s;
  };
  // A Llama-2-7B layer in fp16 at tp 1: projections of 512 tokens and one.
  constexpr Row kRows[] = {
      {"a100-80gb", 512, 4096,  12288, 0.234e-3 },
      {"a100-80gb", 512, 4096,  4096,  0.088e-3 },
      {"a100-80gb", 512, 4096,  22016, 0.402e-3 },
      {"a100-80gb", 512, 11008, 4096,  0.229e-3 },
      {"a100-80gb", 1,   4096,  12288, 0.065e-3 },
      {"a100-80gb", 1,   4096,  22016, 0.116e-3 },
      {"h100",      512, 4096,  12288, 0.090e-3 },
      {"h100",      512, 4096,  22016, 0.134e-3 },
      {"h100",      512, 11008, 4096,  0.0755e-3},
      {"h100",      1,   4096,  22016, 0.064e-3 },
  };
  double sum = 0;
  for (const Row& row : kRows) {
    const Hardware& chip = find_hardware(row.chip);
    const double bytes = 2 * (row.m * row.k + row.k * row.n + row.m * row.n);
    const double time = matmul_time_s(efficiency_of(chip), {row.m, row.n, row.k, 1},
                                      peak_flops_per_s(chip, "fp16").to_double(), bytes,
                                      chip.memory_bytes_per_s->to_double());
    const double error = std::abs(time / row.measured_s - 1);
    EXPECT_LT(error, 0.3) << row.chip << " " << row.m << "x" << row.k << "x" << row.n;
    sum += error;
  }
  EXPECT_LT(sum / std::size(kRows), 0.1);
}

// FlashAttention-2's table, A100, forward and backward, heads of 128, 16,384 tokens in all.
TEST(Efficiency, FusedAttention) {
  struct Row {
    double keys, tflops;
  };
  const Hardware& chip = find_hardware("a100-80gb");
  const double peak = peak_flops_per_s(chip, "fp16").to_double();
  for (const Row& row : {
           Row{8192,  203e12},
           Row{16384, 203e12},
           Row{4096,  200e12}
  }) {
    const double time = attention_time_s(efficiency_of(chip), 1e15, row.keys, 128, peak, 0, 1e12);
    EXPECT_NEAR(1e15 / time, row.tflops, 0.1 * row.tflops);
  }
}

// Never faster than the peak, whatever the shape.
TEST(Efficiency, ExpectedIsSlowerThanThePeak) {
  for (const Hardware& chip : hardware_catalog()) {
    const Efficiency& efficiency = efficiency_of(chip);
    for (const double m : {1.0, 7.0, 128.0, 5000.0}) {
      for (const double k : {1.0, 64.0, 8192.0}) {
        const double math = 2 * m * 300 * k / 1e15;
        const double memory = m * k / 1e12;
        EXPECT_GE(matmul_time_s(efficiency, {m, 300, k, 1}, 1e15, m * k, 1e12),
                  std::max(math, memory));
      }
    }
  }
}

}  // namespace
}  // namespace flopwise
