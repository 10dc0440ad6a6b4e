// A chip as a row of literals. One row per product that differs in a number; an absent figure is
// not known.
//
// Peaks are dense, a multiply and an add counted as 2: those of the matrix units with accumulation
// in fp32 where there are such units; fp32 and fp64 are vector rates. Rates of links are those of
// one direction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "flopwise/base/literals.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise::catalog {

using namespace literals;  // NOLINT(google-build-using-namespace)

using Figure = std::optional<std::int64_t>;

struct Peak {
  std::string_view type;
  std::int64_t flops_per_s = 0;
};
using Peaks = std::array<Peak, 10>;  // the rest is empty

constexpr Peak fp64(std::int64_t rate) {
  return {"fp64", rate};
}
constexpr Peak fp64_matrix(std::int64_t rate) {
  return {"fp64_matrix", rate};
}
constexpr Peak fp32(std::int64_t rate) {
  return {"fp32", rate};
}
constexpr Peak fp32_matrix(std::int64_t rate) {
  return {"fp32_matrix", rate};
}
constexpr Peak tf32(std::int64_t rate) {
  return {"tf32", rate};
}
constexpr Peak fp16(std::int64_t rate) {
  return {"fp16", rate};
}
constexpr Peak fp16_acc16(std::int64_t rate) {
  return {"fp16_acc16", rate};
}
constexpr Peak bf16(std::int64_t rate) {
  return {"bf16", rate};
}
constexpr Peak fp8(std::int64_t rate) {
  return {"fp8", rate};
}
constexpr Peak fp8_acc16(std::int64_t rate) {
  return {"fp8_acc16", rate};
}
constexpr Peak fp6(std::int64_t rate) {
  return {"fp6", rate};
}
constexpr Peak fp4(std::int64_t rate) {
  return {"fp4", rate};
}
constexpr Peak int8(std::int64_t rate) {
  return {"int8", rate};
}
constexpr Peak int4(std::int64_t rate) {
  return {"int4", rate};
}

inline constexpr std::string_view kPrintsGb = "vendor prints GB; binary (GiB) used";
inline constexpr std::string_view kStatesGib = "vendor states GiB";

struct Memory {
  Figure bytes = {};
  Figure bytes_per_s = {};
  std::string_view basis = kPrintsGb;
};

struct OnChip {
  Figure bytes = {};
  std::string_view what = "L2";
};

struct Fabric {
  std::string_view name = {};
  Topology topology = Topology::kUnknown;
  std::string_view in_words = {};
  Figure bytes_per_s = {};
  Figure peer_bytes_per_s = {};
  Figure links = {};
  Figure domain_size = {};
  Figure wraps_from = {};
  Figure hop_latency_ns = {};
};

struct Price {
  Decimal usd_per_hour = {};
  std::string_view source = {};
  std::string_view date = {};  // empty: the source has none
};

// `figures`: peaks (all of them) or element types; sparsity, memory, memory_bandwidth, on_chip,
// link, network, pcie, tdp.
struct Source {
  std::string_view figures = {};
  std::string_view where = {};
};

struct Chip {
  std::string_view name = {};
  std::array<std::string_view, 4> aliases = {};
  int year = 0;
  ChipKind kind = ChipKind::kGpu;
  ChipStatus status = ChipStatus::kAvailable;
  Peaks peaks = {};
  std::optional<Decimal> sparsity = Decimal{1, 1};  // 1: the vendor prints no sparse peaks
  Memory memory = {};
  OnChip on_chip = {};
  std::optional<Fabric> link = {};
  Figure network = {};
  Figure pcie = {};
  Figure tdp_w = {};
  std::optional<Price> price = {};
  Source sources[8] = {};
  std::string_view notes = {};
};

// ---- what many rows share --------------------------------------------------------------------

// Host links of 16 lanes in one direction, after encoding: 8, 16 and 32 GT/s with 128b/130b, and
// 64 GT/s in flits of 256 bytes with 242 of payload.
inline constexpr std::int64_t kGen3 = 15.75_G;
inline constexpr std::int64_t kGen4 = 31.5_G;
inline constexpr std::int64_t kGen5 = 63_G;
inline constexpr std::int64_t kGen6 = 121_G;

// Behind a switch all that leaves a device can reach a single peer; so it can on a bridge of two.
constexpr Fabric nvswitch(std::string_view name, std::int64_t links, std::int64_t rate,
                          std::int64_t domain_size) {
  return {.name = name,
          .topology = Topology::kSwitched,
          .in_words = "switched all-to-all (NVSwitch)",
          .bytes_per_s = rate,
          .peer_bytes_per_s = rate,
          .links = links,
          .domain_size = domain_size};
}

constexpr Fabric bridge_pair(std::string_view name, std::int64_t links, std::int64_t rate) {
  return {.name = name,
          .topology = Topology::kPair,
          .in_words = "bridge pair",
          .bytes_per_s = rate,
          .peer_bytes_per_s = rate,
          .links = links,
          .domain_size = 2};
}

constexpr Fabric pcie_only(std::int64_t rate) {
  return {.name = "PCIe only",
          .topology = Topology::kTree,
          .in_words = "host PCIe tree",
          .bytes_per_s = rate,
          .peer_bytes_per_s = rate,
          .links = 1};
}

// Links without a switch: one peer receives `peer_rate` of the whole.
constexpr Fabric linked(std::string_view name, Topology topology, std::string_view in_words,
                        std::int64_t links, std::int64_t rate, std::int64_t peer_rate,
                        std::int64_t domain_size) {
  return {.name = name,
          .topology = topology,
          .in_words = in_words,
          .bytes_per_s = rate,
          .peer_bytes_per_s = peer_rate,
          .links = links,
          .domain_size = domain_size};
}

std::span<const Chip> nvidia_chips();
std::span<const Chip> nvidia_workstation_chips();
std::span<const Chip> amd_chips();
std::span<const Chip> intel_chips();
std::span<const Chip> google_chips();
std::span<const Chip> aws_chips();
std::span<const Chip> apple_chips();
std::span<const Chip> cerebras_chips();
std::span<const Chip> groq_chips();

}  // namespace flopwise::catalog
