#include "flopwise/hardware/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
  EXPECT_NEAR(collective_time_s(CollectiveKind::kAllGather, sent, {8, 1}, network_of(h100), h100),
              65.2e-6, 0.1e-6);
}

// Slices that Google lists for its tori of two and of three axes.
TEST(Slice, AsNearToASquareOrCubeAsTheDevicesGo) {
  const Network v5e = network_of(find_hardware("v5e"));
  const Network v5p = network_of(find_hardware("v5p"));
  EXPECT_EQ(slice_of(v5e, 4), (Slice{2, 2, 1}));
  EXPECT_EQ(slice_of(v5e, 8), (Slice{2, 4, 1}));
  EXPECT_EQ(slice_of(v5e, 128), (Slice{8, 16, 1}));
  EXPECT_EQ(slice_of(v5e, 1024), (Slice{16, 16, 1}));  // pods of 256
  EXPECT_EQ(slice_of(v5p, 16), (Slice{2, 2, 4}));
  EXPECT_EQ(slice_of(v5p, 128), (Slice{4, 4, 8}));
  EXPECT_EQ(slice_of(v5p, 8960), (Slice{16, 20, 28}));
  EXPECT_EQ(slice_of(v5p, 7), (Slice{1, 1, 7}));
  EXPECT_EQ(slice_of(network_of(find_hardware("h100")), 64), (Slice{1, 1, 1}));
}

// A line has one way only, and twice the hops of a ring.
TEST(TorusGroup, RingsAndLines) {
  struct Row {
    const char* chip;
    std::int64_t devices;
    std::vector<MeshStep> steps;
    double rings, hops;
  };
  const Row rows[] = {
      {"v5e", 256, {{1, 16}},           1,   8 }, // a whole axis of a pod
      {"v5e", 256, {{1, 8}},            0.5, 7 }, // half of it
      {"v5e", 256, {{16, 16}},          1,   8 }, // the other axis
      {"v5e", 256, {{1, 256}},          2,   16},
      {"v5e", 256, {{1, 16}, {16, 16}}, 2,   16},
      {"v5e", 16,  {{1, 4}},            0.5, 3 }, // no axis of a 4x4 slice is joined
      {"v5p", 64,  {{1, 4}},            1,   2 },
      {"v5p", 64,  {{1, 8}},            1.5, 3 }, // one axis, and two of the next
      {"v5p", 64,  {{4, 16}},           2,   4 },
      {"v5p", 64,  {{1, 64}},           3,   6 },
      {"v5p", 64,  {{2, 2}},            0.5, 1 },
  };
  for (const Row& row : rows) {
    const Network network = network_of(find_hardware(row.chip));
    const DeviceGroup group = group_of(row.steps, network, slice_of(network, row.devices));
    EXPECT_EQ(group.rings, row.rings) << row.chip << " " << row.steps.front().size;
    EXPECT_EQ(group.hops, row.hops) << row.chip << " " << row.steps.front().size;
    EXPECT_EQ(inside_rate(network, group),
              std::min(network.inside_bytes_per_s, 2 * row.rings * network.peer_bytes_per_s));
  }
}

// How to Scale Your Model, chapter 3: an axis of 4 of a v5e sends one way, 560 us; were its ends
// joined, about 377; a small array is bound by its three hops.
TEST(CollectiveTime, AxisOfFourWithAndWithoutItsEndsJoined) {
  const auto time_us = [](const char* chip, double bytes) {
    const Hardware hardware = read_hardware(chip).hardware;
    const Network network = network_of(hardware);
    DeviceGroup group{4, 1};
    lay_on_torus(group, network, 4, 4);
    const SentBytes sent = sent_bytes(CollectiveKind::kAllGather, bytes, group, true);
    return 1e6 * collective_time_s(CollectiveKind::kAllGather, sent, group, network, hardware);
  };
  EXPECT_NEAR(time_us("v5e,link_bandwidth=180G", 2048 * 8192 * 2), 559.2 + 3, 0.1);
  EXPECT_NEAR(time_us("v5e,link_bandwidth=180G,wraps_from=4", 2048 * 8192 * 2), 279.6 + 2, 0.1);
  EXPECT_NEAR(time_us("v5e", 2), 3, 0.01);
}

// Without a switch a device has one link to each of the others, and uses those of its group.
TEST(CollectiveTime, LinksToTheGroupOnly) {
  const Network mi300x = network_of(find_hardware("MI300X"));
  EXPECT_EQ(inside_rate(mi300x, {2, 1}), 64e9);
  EXPECT_EQ(inside_rate(mi300x, {4, 1}), 3 * 64e9);
  EXPECT_EQ(inside_rate(mi300x, {8, 1}), 448e9);
  EXPECT_EQ(inside_rate(network_of(find_hardware("h100")), {2, 1}), 450e9);
}

}  // namespace
}  // namespace flopwise
