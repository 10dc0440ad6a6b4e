// Chips as facts: dense peaks by element type, memory, links. SI units: FLOP/s, bytes, B/s, W.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/base/rational.h"

namespace flopwise {

struct PeakRate {
  std::string dtype;     // "bf16"; fp32 and fp64 are vector rates, "fp64_matrix" the matrix units'
  Rational flops_per_s;  // dense, a multiply and an add counted as 2
};

struct Link {
  std::string name;              // "NVLink 4"
  Rational bytes_per_s;          // leaving one device in one direction, all its links together
  Rational peer_bytes_per_s;     // what one single peer can receive
  std::int64_t domain_size = 0;  // devices in the fast domain; 0: not known
  std::string topology;
};

struct Hardware {
  std::string name;
  std::vector<std::string> aliases;
  std::string vendor;
  int year = 0;
  std::vector<PeakRate> peaks;
  std::optional<Rational> vector_flops_per_s;  // unknown for most chips
  std::optional<Count> memory_bytes;
  std::string memory_basis;  // how the vendor's figure was read
  std::optional<Rational> memory_bytes_per_s;
  std::optional<Link> link;
  std::optional<Rational> network_bytes_per_s;  // scale-out, per device, one direction
  std::optional<Rational> tdp_w;
  std::optional<Rational> price_usd_per_hour;
  std::string price_source;
  std::vector<std::string> sources;
  std::string notes;
};

// A chip and how many of it: what --on says. count is 1 unless given; count_given tells the two
// apart.
struct HardwareChoice {
  Hardware hardware;
  std::int64_t count = 1;
  bool count_given = false;
};

const std::vector<Hardware>& hardware_catalog();
// By name or alias, without regard to case, spaces and dashes. UserError with the nearest names.
const Hardware& find_hardware(std::string_view name);

// "h100", "h100:64", "h100:8,memory_bandwidth=3.0e12", bare figures
// "flops=1.513e15,memory_bandwidth=3.35e12,memory=80GiB", or a JSON file. Override keys: flops,
// vector_flops, memory, memory_bandwidth, link_bandwidth, network_bandwidth, domain_size, tdp,
// price. `flops` overrides the peak of every element type.
HardwareChoice read_hardware(const std::string& text);

// The dense peak for an element type. UserError naming chip, dtype and what the chip has.
Rational peak_flops_per_s(const Hardware& hardware, std::string_view dtype);
// Peak over memory bandwidth: the FLOPs per byte from which a kernel is compute-bound.
Rational intensity_of(const Hardware& hardware, std::string_view dtype);

}  // namespace flopwise
