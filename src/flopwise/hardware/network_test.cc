#include "flopwise/hardware/network.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace flopwise
