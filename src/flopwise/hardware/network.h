// Collectives on links: the bytes that every device sends, and the least time that takes.
//
// V: bytes of the array that the devices of a group hold together when gathered; X: devices of the
// group. Sent per device: all-gather and reduce-scatter V(X-1)/X, all-reduce twice that, all-to-all
// V(X-1)/X^2 through a switch, floor(X^2/4)V/X^2 on a ring, forwarding included.
//
// A group may lie in several fast domains (8 GPUs of a node). What crosses them goes over the
// network: reduce-scatter inside, the collective across on V/inside, all-gather inside.
#pragma once

#include <cstdint>

#include "flopwise/graph/collective.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {

// The devices of one collective: how many share a fast domain, and how many domains there are.
struct DeviceGroup {
  std::int64_t inside = 1;
  std::int64_t across = 1;
};

// `size` devices at a distance of `stride` in the order in which devices fill domains of
// `domain_size`; 0, unknown: all of one domain.
DeviceGroup place_group(std::int64_t stride, std::int64_t size, std::int64_t domain_size);

struct SentBytes {
  double inside = 0;  // over the fast links of a domain
  double across = 0;  // over the network

  double total() const { return inside + across; }
};
SentBytes sent_bytes(CollectiveKind kind, double array_bytes, DeviceGroup group, bool ring);

// What one device sends a second, in one direction: peaks as the vendor prints them.
struct Network {
  double inside_bytes_per_s = 0;  // 0: not known
  double across_bytes_per_s = 0;
  std::int64_t domain_size = 0;  // 0: not known
  bool ring = false;             // a torus: each mesh axis is a ring of it
  double ring_bytes_per_s = 0;   // of one ring, its two directions together

  // Inside a domain, for a collective over so many mesh axes.
  double inside_rate(std::size_t mesh_axes) const;
};
Network network_of(const Hardware& hardware);

// Seconds at peak. UserError naming the rate that is not known of this chip.
double collective_time_s(const SentBytes& sent, const Network& network, const Hardware& hardware);

}  // namespace flopwise
