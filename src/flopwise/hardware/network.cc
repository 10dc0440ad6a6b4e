#include "flopwise/hardware/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

bool is_torus(Topology topology) {
  return topology == Topology::kTorus2d || topology == Topology::kTorus3d ||
         topology == Topology::kRing;
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

Network network_of(const Hardware& hardware) {
  Network network;
  if (hardware.link) {
    const Link& link = *hardware.link;
    if (link.bytes_per_s) network.inside_bytes_per_s = link.bytes_per_s->to_double();
    network.domain_size = link.domain_size.value_or(0);
    network.ring = is_torus(link.topology_kind);
    if (network.ring && link.peer_bytes_per_s) {
      network.ring_bytes_per_s = 2 * link.peer_bytes_per_s->to_double();
    }
  }
  if (hardware.network_bytes_per_s) {
    network.across_bytes_per_s = hardware.network_bytes_per_s->to_double();
  }
  if (!hardware.link) network.domain_size = 1;
  return network;
}

double Network::inside_rate(std::size_t mesh_axes) const {
  if (ring_bytes_per_s == 0) return inside_bytes_per_s;
  return std::min(inside_bytes_per_s, ring_bytes_per_s * static_cast<double>(mesh_axes));
}

double collective_time_s(const SentBytes& sent, const Network& network, const Hardware& hardware) {
  double time = 0;
  if (sent.inside > 0) {
    time += sent.inside / rate(network.inside_bytes_per_s, "link_bandwidth", hardware);
  }
  if (sent.across > 0) {
    time += sent.across / rate(network.across_bytes_per_s, "network_bandwidth", hardware);
  }
  return time;
}

}  // namespace flopwise
