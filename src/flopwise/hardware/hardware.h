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

enum class ChipKind { kGpu, kTpu, kNpu, kSoc, kWafer, kCpu };
enum class ChipStatus { kAvailable, kAnnounced };

// How the devices of a fast domain are connected: what the time of a collective depends on.
enum class Topology {
  kUnknown,
  kSwitched,  // each device reaches any other at its full rate
  kTorus2d,
  kTorus3d,
  kRing,
  kDirect,  // links from each device to each other one
  kMesh,    // links to some of the others
  kPair,    // two devices
  kTree,    // below a root: PCIe under a host
};

// "gpu", "announced", "torus_2d": the names in JSON.
std::string_view name_of(ChipKind kind);
std::string_view name_of(ChipStatus status);
std::string_view name_of(Topology topology);

struct PeakRate {
  std::string dtype;     // "bf16"; fp32 and fp64 are vector rates, "fp64_matrix" the matrix units'
  Rational flops_per_s;  // dense, a multiply and an add counted as 2
};

struct Link {
  std::string name;                          // "NVLink 4"
  std::optional<Rational> bytes_per_s;       // leaving one device in one direction, all its links
  std::optional<Rational> peer_bytes_per_s;  // of these, what one single peer can receive
  std::optional<std::int64_t> links;
  std::optional<std::int64_t> domain_size;  // devices in the fast domain
  std::string topology;                     // in words
  std::optional<std::int64_t> wraps_from;   // torus: shortest axis whose ends are joined
  std::optional<Rational> hop_latency_s;    // from one device to the next
  Topology topology_kind = Topology::kUnknown;
};

struct FigureSource {
  std::string figures;  // "peaks memory link": which figures it states; empty: all
  std::string where;
};

// A figure that is not known is absent, never 0.
struct Hardware {
  std::string name;
  std::vector<std::string> aliases;
  std::string vendor;
  int year = 0;
  std::optional<ChipKind> kind;
  ChipStatus status = ChipStatus::kAvailable;
  std::vector<PeakRate> peaks;
  std::optional<Rational> sparsity_factor;     // by which the vendor's sparse peaks exceed `peaks`
  std::optional<Rational> vector_flops_per_s;  // unknown for most chips
  std::optional<Count> memory_bytes;
  std::string memory_basis;  // how the vendor's figure was read
  std::optional<Rational> memory_bytes_per_s;
  std::optional<Count> on_chip_bytes;  // of the largest level that all units share
  std::string on_chip_what;            // its name: "L2"
  std::optional<Link> link;
  std::optional<Rational> network_bytes_per_s;  // scale-out, per device, one direction
  std::optional<Rational> pcie_bytes_per_s;     // to the host, one direction
  std::optional<Rational> tdp_w;
  std::optional<Rational> price_usd_per_hour;
  std::string price_source;
  std::string price_date;  // "2026-05-20"; empty: the source has none
  std::vector<FigureSource> sources;
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
// vector_flops, memory, memory_bandwidth, link_bandwidth, network_bandwidth, domain_size,
// wraps_from, hop_latency, tdp, price. `flops` overrides the peak of every element type.
HardwareChoice read_hardware(const std::string& text);

// The dense peak for an element type. UserError naming chip, dtype and what the chip has.
Rational peak_flops_per_s(const Hardware& hardware, std::string_view dtype);
// Peak over memory bandwidth: the FLOPs per byte from which a kernel is compute-bound.
Rational intensity_of(const Hardware& hardware, std::string_view dtype);

}  // namespace flopwise
