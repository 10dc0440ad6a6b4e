// The chips that flopwise knows by name, made from the rows in catalog/.
#include <span>
#include <string>

#include "flopwise/hardware/catalog/chip.h"

namespace flopwise {
namespace {

using catalog::Chip;
using catalog::Fabric;

struct Vendor {
  std::string_view name;
  std::span<const Chip> (*chips)();
};
constexpr Vendor kVendors[] = {
    {"NVIDIA",   catalog::nvidia_chips            },
    {"NVIDIA",   catalog::nvidia_workstation_chips},
    {"AMD",      catalog::amd_chips               },
    {"Intel",    catalog::intel_chips             },
    {"Google",   catalog::google_chips            },
    {"AWS",      catalog::aws_chips               },
    {"Apple",    catalog::apple_chips             },
    {"Cerebras", catalog::cerebras_chips          },
    {"Groq",     catalog::groq_chips              },
};

Rational exact(Decimal value) {
  return Rational::of(value.digits, value.scale);
}

std::optional<Rational> rate(catalog::Figure figure) {
  return figure ? std::optional<Rational>(*figure) : std::nullopt;
}

std::optional<Count> bytes(catalog::Figure figure) {
  return figure ? std::optional<Count>(*figure) : std::nullopt;
}

Link link_of(const Fabric& fabric) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  const std::optional<Rational> latency =
      fabric.hop_latency_ns
          ? std::optional(Rational(*fabric.hop_latency_ns) / kNanosecondsPerSecond)
          : std::nullopt;
  return {.name = std::string(fabric.name),
          .bytes_per_s = rate(fabric.bytes_per_s),
          .peer_bytes_per_s = rate(fabric.peer_bytes_per_s),
          .links = fabric.links,
          .domain_size = fabric.domain_size,
          .topology = std::string(fabric.in_words),
          .wraps_from = fabric.wraps_from,
          .hop_latency_s = latency,
          .topology_kind = fabric.topology};
}

Hardware hardware_of(const Chip& chip, std::string_view vendor) {
  Hardware hardware;
  hardware.name = chip.name;
  for (const std::string_view alias : chip.aliases) {
    if (!alias.empty()) hardware.aliases.emplace_back(alias);
  }
  hardware.vendor = vendor;
  hardware.year = chip.year;
  hardware.kind = chip.kind;
  hardware.status = chip.status;
  for (const catalog::Peak& peak : chip.peaks) {
    if (!peak.type.empty()) hardware.peaks.push_back({std::string(peak.type), peak.flops_per_s});
  }
  if (chip.sparsity) hardware.sparsity_factor = exact(*chip.sparsity);
  hardware.memory_bytes = bytes(chip.memory.bytes);
  hardware.memory_basis = chip.memory.basis;
  hardware.memory_bytes_per_s = rate(chip.memory.bytes_per_s);
  hardware.on_chip_bytes = bytes(chip.on_chip.bytes);
  if (hardware.on_chip_bytes) hardware.on_chip_what = chip.on_chip.what;
  if (chip.link) hardware.link = link_of(*chip.link);
  hardware.network_bytes_per_s = rate(chip.network);
  hardware.pcie_bytes_per_s = rate(chip.pcie);
  hardware.tdp_w = rate(chip.tdp_w);
  if (chip.price) {
    hardware.price_usd_per_hour = exact(chip.price->usd_per_hour);
    hardware.price_source = chip.price->source;
    hardware.price_date = chip.price->date;
  }
  for (const catalog::Source& source : chip.sources) {
    if (source.where.empty()) continue;
    hardware.sources.push_back({std::string(source.figures), std::string(source.where)});
  }
  hardware.notes = chip.notes;
  return hardware;
}

std::vector<Hardware> all_chips() {
  std::vector<Hardware> all;
  for (const Vendor& vendor : kVendors) {
    for (const Chip& chip : vendor.chips()) all.push_back(hardware_of(chip, vendor.name));
  }
  return all;
}

}  // namespace

const std::vector<Hardware>& hardware_catalog() {
  static const std::vector<Hardware> kCatalog = all_chips();
  return kCatalog;
}

}  // namespace flopwise
