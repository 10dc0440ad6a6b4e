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

std::optional<Rational> peak_of(const Hardware& hardware, std::string_view dtype) {
  for (const PeakRate& peak : hardware.peaks) {
    if (peak.dtype == dtype) return peak.flops_per_s;
  }
  return std::nullopt;
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
      .add("bytes_per_s", link->bytes_per_s.to_double())
      .add("peer_bytes_per_s", link->peer_bytes_per_s.to_double())
      .add("domain_size", link->domain_size > 0 ? Json(link->domain_size) : Json())
      .add("topology", link->topology);
}

constexpr const char* kColumnMeanings =
    "\nbf16 peak      dense, a multiply and an add counted as 2 FLOPs\n"
    "FLOPs/B        bf16 peak over bandwidth: above it work is compute-bound\n"
    "link, one way  leaving one device in one direction, all its links together\n"
    "network        to other nodes, per device, one direction\n";

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
      .add("peak_flops_per_s", peaks_json(hardware))
      .add("flops_per_byte", intensities_json(hardware))
      .add("vector_flops_per_s", rate_json(hardware.vector_flops_per_s))
      .add("memory_bytes", hardware.memory_bytes)
      .add("memory_basis", hardware.memory_basis)
      .add("memory_bytes_per_s", rate_json(hardware.memory_bytes_per_s))
      .add("link", link_json(hardware.link))
      .add("network_bytes_per_s", rate_json(hardware.network_bytes_per_s))
      .add("tdp_w", rate_json(hardware.tdp_w))
      .add("price_usd_per_hour", rate_json(hardware.price_usd_per_hour))
      .add("price_source", hardware.price_source)
      .add("sources", text_list(hardware.sources))
      .add("notes", hardware.notes);
  return json;
}

}  // namespace

std::string hardware_table_text(Explain explain) {
  TextTable table({
      {"chip",          Align::kLeft },
      {"vendor",        Align::kLeft },
      {"year",          Align::kRight},
      {"bf16 peak",     Align::kRight},
      {"memory",        Align::kRight},
      {"bandwidth",     Align::kRight},
      {"FLOPs/B",       Align::kRight},
      {"link, one way", Align::kRight},
      {"network",       Align::kRight}
  });
  for (const Hardware& chip : hardware_catalog()) {
    const std::optional<Rational> peak = peak_of(chip, "bf16");
    table.add_row({chip.name, chip.vendor, std::to_string(chip.year), rate_text(peak, "FLOP/s"),
                   chip.memory_bytes ? format_binary(chip.memory_bytes->to_double()) : kUnknown,
                   rate_text(chip.memory_bytes_per_s, "B/s"),
                   ratio_text(flops_per_byte(chip, peak)), rate_text(link_rate(chip), "B/s"),
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
  facts.add("vendor, year", fmt::format("{}, {}", hardware.vendor, hardware.year));
  facts.add("memory",
            hardware.memory_bytes ? format_binary(hardware.memory_bytes->to_double()) : kUnknown,
            hardware.memory_basis);
  facts.add("bandwidth", rate_text(hardware.memory_bytes_per_s, "B/s"), "to that memory");
  facts.add("vector rate", rate_text(hardware.vector_flops_per_s, "FLOP/s"), "of the vector units");
  facts.add("link", rate_text(link_rate(hardware), "B/s"),
            hardware.link ? fmt::format("{}, leaving one device in one direction; {}",
                                        hardware.link->name, hardware.link->topology)
                          : "");
  facts.add("network", rate_text(hardware.network_bytes_per_s, "B/s"),
            "to other nodes, per device, one direction");
  facts.add("power", rate_text(hardware.tdp_w, "W"));
  facts.add("price",
            hardware.price_usd_per_hour
                ? fmt::format("{:.2f} USD/h", hardware.price_usd_per_hour->to_double())
                : kUnknown,
            hardware.price_source);
  std::string text = facts.str() + "\n" + peaks_table(hardware);
  text += "Above that many FLOPs per byte of memory traffic, work is compute-bound.\n";
  if (explain == Explain::kYes) text += explain_intensities(hardware);
  text += lines_of("Sources", hardware.sources);
  if (!hardware.notes.empty()) text += fmt::format("\nNotes: {}\n", hardware.notes);
  return text;
}

Json hardware_json(const Hardware& hardware) {
  return with_facts(Json::object().add("schema", 1), hardware);
}

}  // namespace flopwise
