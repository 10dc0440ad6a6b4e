// Collectives on links: the bytes that every device sends, and the least time that takes.
//
// V: bytes of the array that the devices of a group hold together when gathered; X: devices of the
// group. Sent per device: all-gather and reduce-scatter V(X-1)/X, all-reduce twice that, all-to-all
// V(X-1)/X^2 through a switch, floor(X^2/4)V/X^2 on a ring, forwarding included.
//
// A group may lie in several fast domains (8 GPUs of a node). What crosses them goes over the
// network: reduce-scatter inside, the collective across on V/inside, all-gather inside.
//
// Time: bytes over the rate of the links that a group can use, and one latency per hop. A group on
// an axis of a torus whose ends are joined is a ring, which sends both ways; elsewhere a line,
// whose ends have one way only. Without a switch a device uses the links to the others of its
// group.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "flopwise/graph/collective.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {

// The devices of one collective: how many share a fast domain, and how many domains there are.
struct DeviceGroup {
  std::int64_t inside = 1;
  std::int64_t across = 1;
  double rings = 0;  // torus: the axes of it that the group lies on; a line counts half
  double hops = 0;   // inside, from one device to the farthest
};

// `size` devices at a distance of `stride` in the order in which devices fill domains of
// `domain_size`; 0, unknown: all of one domain.
DeviceGroup place_group(std::int64_t stride, std::int64_t size, std::int64_t domain_size);

struct SentBytes {
  double inside = 0;  // over the fast links of a domain
  double across = 0;  // over the network

  double total() const { return inside + across; }
  SentBytes& operator+=(const SentBytes& other) {
    inside += other.inside;
    across += other.across;
    return *this;
  }
  SentBytes& operator*=(double factor) {
    inside *= factor;
    across *= factor;
    return *this;
  }
};
SentBytes sent_bytes(CollectiveKind kind, double array_bytes, DeviceGroup group, bool ring);

// The same in the limit of large groups, where (X-1)/X is 1.
SentBytes limit_bytes(CollectiveKind kind, double array_bytes, DeviceGroup group, bool ring);

// What one device sends a second, in one direction: peaks as the vendor prints them.
struct Network {
  double inside_bytes_per_s = 0;  // all links; 0: not known
  double peer_bytes_per_s = 0;    // to one other device; 0: not known
  double across_bytes_per_s = 0;
  std::int64_t domain_size = 0;  // 0: not known
  int torus_axes = 0;            // 1 a ring; 0 no torus
  std::int64_t wraps_from = 0;   // torus: shortest axis whose ends are joined; 0: all are
  double hop_latency_s = 0;      // 0: not known

  bool is_torus() const { return torus_axes > 0; }
  double ring_bytes_per_s() const { return is_torus() ? 2 * peer_bytes_per_s : 0; }
  bool wraps(std::int64_t side) const { return side >= wraps_from; }
};
Network network_of(const Hardware& hardware);

// The sides of the part of a torus that so many devices get, as near to a square or cube as they
// go, the shortest first: 8 of a 2D torus 2x4, 128 of a 3D one 4x4x8. All 1 without a torus.
using Slice = std::array<std::int64_t, 3>;
Slice slice_of(const Network& network, std::int64_t devices);

// One mesh axis of a group: so many devices at this distance, in the order in which they fill
// domains and the sides of a slice.
struct MeshStep {
  std::int64_t stride = 1;
  std::int64_t size = 1;
};
DeviceGroup group_of(std::span<const MeshStep> steps, const Network& network, const Slice& slice);

// A group on mesh axes that each are an axis of the torus.
void lay_on_torus(DeviceGroup& group, const Network& network, std::int64_t side,
                  std::int64_t extent);

// B/s that a device of the group sends inside its domain: 0 where that is not known.
double inside_rate(const Network& network, const DeviceGroup& group);

// Seconds at peak. UserError naming the rate that is not known of this chip.
double collective_time_s(CollectiveKind kind, const SentBytes& sent, const DeviceGroup& group,
                         const Network& network, const Hardware& hardware);
// The part of it that does not depend on the bytes: the latency of the hops.
double hops_time_s(CollectiveKind kind, const DeviceGroup& group, const Network& network);
// Of one message to the next device of a group.
double message_time_s(const SentBytes& sent, const Network& network, const Hardware& hardware);

}  // namespace flopwise
