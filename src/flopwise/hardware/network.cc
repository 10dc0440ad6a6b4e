#include "flopwise/hardware/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

int torus_axes(Topology topology) {
  switch (topology) {
    case Topology::kRing:
      return 1;
    case Topology::kTorus2d:
      return 2;
    case Topology::kTorus3d:
      return 3;
    default:
      return 0;
  }
}

// The divisor of n nearest to its `root`th root from below.
std::int64_t shortest_side(std::int64_t n, int root) {
  auto side =
      static_cast<std::int64_t>(std::floor(std::pow(static_cast<double>(n), 1.0 / root) + 1e-9));
  while (n % side != 0) --side;
  return side;
}

// What an all-to-all sends to every one of the X-1 others.
double all_to_all_share(double array_bytes, double devices) {
  return array_bytes / (devices * devices);
}

double rate(double known, const char* what, const Hardware& hardware) {
  if (known > 0) return known;
  throw UserError(fmt::format("{}: the {} is not known, expected it as {},{}=...", hardware.name,
                              what, hardware.name, what));
}

}  // namespace

DeviceGroup place_group(std::int64_t stride, std::int64_t size, std::int64_t domain_size) {
  if (domain_size <= 0) return {size, 1};
  const std::int64_t room = std::max<std::int64_t>(1, domain_size / stride);
  std::int64_t inside = std::min(size, room);
  while (size % inside != 0) --inside;  // domains that are filled alike
  return {inside, size / inside};
}

SentBytes sent_bytes(CollectiveKind kind, double array_bytes, DeviceGroup group, bool ring) {
  const auto inside = static_cast<double>(group.inside);
  const auto across = static_cast<double>(group.across);
  const SentBytes gather{array_bytes * (inside - 1) / inside,
                         array_bytes / inside * (across - 1) / across};
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return gather;
    case CollectiveKind::kAllReduce:
      return {2 * gather.inside, 2 * gather.across};
    case CollectiveKind::kAllToAll: {
      const double share = all_to_all_share(array_bytes, inside * across);
      const double peers = ring ? std::floor(inside * inside / 4) : inside - 1;
      return {share * peers, share * inside * (across - 1)};
    }
  }
  throw InternalError("unknown kind of collective");
}

SentBytes limit_bytes(CollectiveKind kind, double array_bytes, DeviceGroup group, bool ring) {
  const double inside = group.inside > 1 ? 1 : 0;
  const double across = group.across > 1 ? 1 : 0;
  const auto holders = static_cast<double>(group.inside);
  const auto devices = static_cast<double>(group.inside * group.across);
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return {inside * array_bytes, across * array_bytes / holders};
    case CollectiveKind::kAllReduce:
      return {inside * 2 * array_bytes, across * 2 * array_bytes / holders};
    case CollectiveKind::kAllToAll:
      return {inside * array_bytes * (ring ? 1 / 4.0 : holders / devices / devices),
              across * array_bytes / devices};
  }
  throw InternalError("unknown kind of collective");
}

Network network_of(const Hardware& hardware) {
  const auto known = [](const std::optional<Rational>& rate) {
    return rate ? rate->to_double() : 0;
  };
  Network network;
  network.across_bytes_per_s = known(hardware.network_bytes_per_s);
  if (!hardware.link) {
    network.domain_size = 1;
    return network;
  }
  const Link& link = *hardware.link;
  network.inside_bytes_per_s = known(link.bytes_per_s);
  network.peer_bytes_per_s = known(link.peer_bytes_per_s);
  network.domain_size = link.domain_size.value_or(0);
  network.torus_axes = torus_axes(link.topology_kind);
  network.wraps_from = link.wraps_from.value_or(0);
  network.hop_latency_s = known(link.hop_latency_s);
  return network;
}

Slice slice_of(const Network& network, std::int64_t devices) {
  Slice slice = {1, 1, 1};
  if (!network.is_torus()) return slice;
  std::int64_t rest = network.domain_size > 0 ? std::min(devices, network.domain_size) : devices;
  std::size_t side = 0;
  for (int axes = network.torus_axes; axes > 1; --axes) {
    slice[side] = shortest_side(rest, axes);
    rest /= slice[side++];
  }
  slice[side] = rest;
  // The first may come out longer than the second, 8960 = 20*16*28; the last is the longest.
  if (network.torus_axes == 3 && slice[0] > slice[1]) std::swap(slice[0], slice[1]);
  return slice;
}

void lay_on_torus(DeviceGroup& group, const Network& network, std::int64_t side,
                  std::int64_t extent) {
  if (extent <= 1) return;
  const bool closed = extent == side && network.wraps(side);
  group.rings += closed ? 1 : 0.5;
  group.hops += static_cast<double>(closed ? extent / 2 : extent - 1);
}

DeviceGroup group_of(std::span<const MeshStep> steps, const Network& network, const Slice& slice) {
  DeviceGroup group;
  Slice extents = {1, 1, 1};
  for (const MeshStep& step : steps) {
    if (step.size == 1) continue;
    const DeviceGroup part = place_group(step.stride, step.size, network.domain_size);
    group.inside *= part.inside;
    group.across *= part.across;
    if (!network.is_torus()) continue;
    // The part of each side between the nearest and the farthest of these devices.
    std::int64_t below = 1;
    for (std::size_t i = 0; i < slice.size(); ++i) {
      const std::int64_t above = below * slice[i];
      const std::int64_t from = std::max(below, step.stride);
      const std::int64_t to = std::min(above, step.stride * part.inside);
      if (to > from) extents[i] *= (to + from - 1) / from;
      below = above;
    }
  }
  for (std::size_t i = 0; i < slice.size(); ++i) {
    lay_on_torus(group, network, slice[i], extents[i]);
  }
  if (!network.is_torus() && group.inside > 1) group.hops = 1;
  return group;
}

double inside_rate(const Network& network, const DeviceGroup& group) {
  if (network.peer_bytes_per_s == 0) return network.inside_bytes_per_s;
  const double peers = network.is_torus() ? 2 * group.rings : static_cast<double>(group.inside - 1);
  if (peers == 0) return network.inside_bytes_per_s;
  return std::min(network.inside_bytes_per_s, peers * network.peer_bytes_per_s);
}

double collective_time_s(CollectiveKind kind, const SentBytes& sent, const DeviceGroup& group,
                         const Network& network, const Hardware& hardware) {
  double time = 0;
  if (sent.inside > 0) {
    time += sent.inside / rate(inside_rate(network, group), "link_bandwidth", hardware) +
            hops_time_s(kind, group, network);
  }
  if (sent.across > 0) {
    time += sent.across / rate(network.across_bytes_per_s, "network_bandwidth", hardware);
  }
  return time;
}

double hops_time_s(CollectiveKind kind, const DeviceGroup& group, const Network& network) {
  const double rounds = kind == CollectiveKind::kAllReduce ? 2 : 1;
  return rounds * group.hops * network.hop_latency_s;
}

double message_time_s(const SentBytes& sent, const Network& network, const Hardware& hardware) {
  double time = 0;
  if (sent.inside > 0) {
    const double peer = network.peer_bytes_per_s;
    time += sent.inside /
                rate(peer > 0 ? peer : network.inside_bytes_per_s, "link_bandwidth", hardware) +
            network.hop_latency_s;
  }
  if (sent.across > 0) {
    time += sent.across / rate(network.across_bytes_per_s, "network_bandwidth", hardware);
  }
  return time;
}

}  // namespace flopwise
