#include "flopwise/report/hardware_report.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/facts.h"

namespace flopwise {
namespace {

constexpr const char* kUnknown = "-";

std::string rate_text(const std::optional<Rational>& value, const char* unit) {
  return value ? format_si(value->to_double(), unit) : kUnknown;
}

Json rate_json(const std::optional<Rational>& value) {
  return value ? Json(value->to_double()) : Json();
}

std::optional<Rational> link_rate(const Hardware& hardware) {
  if (!hardware.link) return std::nullopt;
  return hardware.link->bytes_per_s;
}

// Peak over bandwidth, for any peak that the chip lists.
std::optional<Rational> flops_per_byte(const Hardware& hardware,
                                       const std::optional<Rational>& peak) {
  if (!peak || !hardware.memory_bytes_per_s) return std::nullopt;
  return *peak / *hardware.memory_bytes_per_s;
}

std::string ratio_text(const std::optional<Rational>& value) {
  return value ? fmt::format("{:.1f}", value->to_double()) : kUnknown;
}

std::string peaks_table(const Hardware& hardware) {
  TextTable table({
      {"element type",   Align::kLeft },
      {"peak",           Align::kRight},
      {"FLOPs per byte", Align::kRight}
  });
  for (const PeakRate& peak : hardware.peaks) {
    table.add_row({peak.dtype, rate_text(peak.flops_per_s, "FLOP/s"),
                   ratio_text(flops_per_byte(hardware, peak.flops_per_s))});
  }
  return table.str();
}

Json peaks_json(const Hardware& hardware) {
  Json peaks = Json::object();
  for (const PeakRate& peak : hardware.peaks) peaks.add(peak.dtype, peak.flops_per_s.to_double());
  return peaks;
}

Json intensities_json(const Hardware& hardware) {
  Json intensities = Json::object();
  for (const PeakRate& peak : hardware.peaks) {
    intensities.add(peak.dtype, rate_json(flops_per_byte(hardware, peak.flops_per_s)));
  }
  return intensities;
}

Json link_json(const std::optional<Link>& link) {
  if (!link) return nullptr;
  return Json::object()
      .add("name", link->name)
      .add("bytes_per_s", rate_json(link->bytes_per_s))
      .add("peer_bytes_per_s", rate_json(link->peer_bytes_per_s))
      .add("links", link->links)
      .add("domain_size", link->domain_size)
      .add("wraps_from", link->wraps_from)
      .add("hop_latency_s", rate_json(link->hop_latency_s))
      .add("topology", link->topology)
      .add("topology_kind", name_of(link->topology_kind));
}

constexpr const char* kColumnMeanings =
    "\n16-bit peak    dense, a multiply and an add counted as 2 FLOPs: bf16, or fp16 without it\n"
    "FLOPs/B        that peak over bandwidth: above it work is compute-bound\n"
    "link, one way  leaving one device in one direction, all its links together\n"
    "domain         devices that these links connect\n"
    "network        to other nodes, per device, one direction\n";

// The peak that the list shows.
const PeakRate* sixteen_bit_peak(const Hardware& hardware) {
  for (const char* dtype : {"bf16", "fp16"}) {
    for (const PeakRate& peak : hardware.peaks) {
      if (peak.dtype == dtype) return &peak;
    }
  }
  return nullptr;
}

// "where (peaks memory)".
std::vector<std::string> source_lines(const Hardware& hardware) {
  std::vector<std::string> lines;
  for (const FigureSource& source : hardware.sources) {
    lines.push_back(source.figures.empty() ? source.where
                                           : fmt::format("{} ({})", source.where, source.figures));
  }
  return lines;
}

std::string size_text(const std::optional<Count>& bytes) {
  return bytes ? format_binary(bytes->to_double()) : kUnknown;
}

std::string whole_text(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : kUnknown;
}

// "NVLink 4, leaving one device in one direction; 450.0 GB/s to one peer; ...".
std::string link_meaning(const Link& link) {
  std::string text = fmt::format("{}, leaving one device in one direction", link.name);
  if (link.peer_bytes_per_s) {
    text += fmt::format("; {} to one peer", rate_text(link.peer_bytes_per_s, "B/s"));
  }
  if (link.links) text += fmt::format("; links: {}", *link.links);
  if (link.domain_size) text += fmt::format("; devices: {}", *link.domain_size);
  if (link.wraps_from) text += fmt::format("; axes of {} and more are rings", *link.wraps_from);
  if (link.hop_latency_s) {
    text += fmt::format("; a hop {}", rate_text(link.hop_latency_s, "s"));
  }
  return link.topology.empty() ? text : fmt::format("{}; {}", text, link.topology);
}

std::string price_meaning(const Hardware& hardware) {
  if (!hardware.price_usd_per_hour) return "";
  return hardware.price_source + ", " +
         (hardware.price_date.empty() ? "no date" : hardware.price_date);
}

// "bf16: 989.4e12 FLOP/s / 3.35e12 B/s = 295.3 FLOPs per byte".
std::string explain_intensities(const Hardware& hardware) {
  std::vector<std::string> lines;
  for (const PeakRate& peak : hardware.peaks) {
    const std::optional<Rational> ratio = flops_per_byte(hardware, peak.flops_per_s);
    if (!ratio) continue;
    lines.push_back(fmt::format("{}: {:.6g} FLOP/s / {:.6g} B/s = {:.6g}", peak.dtype,
                                peak.flops_per_s.to_double(),
                                hardware.memory_bytes_per_s->to_double(), ratio->to_double()));
  }
  return lines_of("FLOPs per byte", lines);
}

// `json` with all fields of one chip.
Json with_facts(Json json, const Hardware& hardware) {
  json.add("name", hardware.name)
      .add("aliases", text_list(hardware.aliases))
      .add("vendor", hardware.vendor)
      .add("year", hardware.year)
      .add("kind", hardware.kind ? Json(name_of(*hardware.kind)) : Json())
      .add("status", name_of(hardware.status))
      .add("peak_flops_per_s", peaks_json(hardware))
      .add("flops_per_byte", intensities_json(hardware))
      .add("sparsity_factor", rate_json(hardware.sparsity_factor))
      .add("vector_flops_per_s", rate_json(hardware.vector_flops_per_s))
      .add("memory_bytes", hardware.memory_bytes)
      .add("memory_basis", hardware.memory_basis)
      .add("memory_bytes_per_s", rate_json(hardware.memory_bytes_per_s))
      .add("on_chip_bytes", hardware.on_chip_bytes)
      .add("on_chip_what", hardware.on_chip_what)
      .add("link", link_json(hardware.link))
      .add("network_bytes_per_s", rate_json(hardware.network_bytes_per_s))
      .add("pcie_bytes_per_s", rate_json(hardware.pcie_bytes_per_s))
      .add("tdp_w", rate_json(hardware.tdp_w))
      .add("price_usd_per_hour", rate_json(hardware.price_usd_per_hour))
      .add("price_source", hardware.price_source)
      .add("price_date", hardware.price_date.empty() ? Json() : Json(hardware.price_date))
      .add("sources", text_list(source_lines(hardware)))
      .add("notes", hardware.notes);
  return json;
}

}  // namespace

std::string hardware_table_text(Explain explain) {
  TextTable table({
      {"vendor",        Align::kLeft },
      {"chip",          Align::kLeft },
      {"year",          Align::kRight},
      {"16-bit peak",   Align::kRight},
      {"memory",        Align::kRight},
      {"bandwidth",     Align::kRight},
      {"FLOPs/B",       Align::kRight},
      {"link, one way", Align::kRight},
      {"domain",        Align::kRight},
      {"network",       Align::kRight}
  });
  std::string vendor;
  for (const Hardware& chip : hardware_catalog()) {
    const bool is_first = chip.vendor != vendor;
    if (is_first && !vendor.empty()) table.add_rule();
    vendor = chip.vendor;
    const PeakRate* peak = sixteen_bit_peak(chip);
    const std::optional<Rational> rate =
        peak == nullptr ? std::nullopt : std::optional<Rational>(peak->flops_per_s);
    const bool is_announced = chip.status == ChipStatus::kAnnounced;
    table.add_row({is_first ? vendor : "", chip.name + (is_announced ? " (announced)" : ""),
                   std::to_string(chip.year),
                   (peak == nullptr ? "" : peak->dtype + " ") + rate_text(rate, "FLOP/s"),
                   size_text(chip.memory_bytes), rate_text(chip.memory_bytes_per_s, "B/s"),
                   ratio_text(flops_per_byte(chip, rate)), rate_text(link_rate(chip), "B/s"),
                   chip.link ? whole_text(chip.link->domain_size) : kUnknown,
                   rate_text(chip.network_bytes_per_s, "B/s")});
  }
  return explain == Explain::kNo ? table.str() : table.str() + kColumnMeanings;
}

Json hardware_table_json() {
  Json chips = Json::array();
  for (const Hardware& chip : hardware_catalog()) chips.push(with_facts(Json::object(), chip));
  return Json::object().add("schema", 1).add("hardware", chips);
}

std::string hardware_text(const Hardware& hardware, Explain explain) {
  Facts facts;
  facts.add("chip", hardware.name);
  facts.add("also called", fmt::format("{}", fmt::join(hardware.aliases, ", ")));
  facts.add("vendor, year", fmt::format("{}, {}", hardware.vendor, hardware.year),
            hardware.status == ChipStatus::kAnnounced ? "announced" : "");
  if (hardware.kind) facts.add("kind", std::string(name_of(*hardware.kind)));
  facts.add("memory", size_text(hardware.memory_bytes), hardware.memory_basis);
  facts.add("bandwidth", rate_text(hardware.memory_bytes_per_s, "B/s"), "to that memory");
  facts.add("on chip", size_text(hardware.on_chip_bytes), hardware.on_chip_what);
  facts.add("vector rate", rate_text(hardware.vector_flops_per_s, "FLOP/s"), "of the vector units");
  facts.add("sparsity", ratio_text(hardware.sparsity_factor),
            "by which the vendor's sparse peaks exceed those below");
  facts.add("link", rate_text(link_rate(hardware), "B/s"),
            hardware.link ? link_meaning(*hardware.link) : "");
  facts.add("network", rate_text(hardware.network_bytes_per_s, "B/s"),
            "to other nodes, per device, one direction");
  facts.add("PCIe", rate_text(hardware.pcie_bytes_per_s, "B/s"), "to the host, one direction");
  facts.add("power", rate_text(hardware.tdp_w, "W"));
  facts.add("price",
            hardware.price_usd_per_hour
                ? fmt::format("{:.2f} USD/h", hardware.price_usd_per_hour->to_double())
                : kUnknown,
            price_meaning(hardware));
  std::string text = facts.str() + "\n" + peaks_table(hardware);
  text += "Above that many FLOPs per byte of memory traffic, work is compute-bound.\n";
  if (explain == Explain::kYes) text += explain_intensities(hardware);
  text += lines_of("Sources", source_lines(hardware));
  if (!hardware.notes.empty()) text += fmt::format("\nNotes: {}\n", hardware.notes);
  return text;
}

Json hardware_json(const Hardware& hardware) {
  return with_facts(Json::object().add("schema", 1), hardware);
}

}  // namespace flopwise
