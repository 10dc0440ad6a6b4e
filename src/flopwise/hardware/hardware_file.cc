#include "flopwise/hardware/hardware_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/units.h"
#include "flopwise/hardware/figures.h"

namespace flopwise {
namespace {

// 3.35e12 or "80GiB" as the text that the figures' setters read.
std::string figure_text(JsonFields& fields, std::string_view field) {
  const nlohmann::json& value = fields.raw(field);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw UserError(fmt::format("{}: expected a number or a quantity such as \"80GiB\", got {}",
                              fields.where(field), shown(value)));
}

void read_peaks(Hardware& hardware, JsonFields peaks) {
  hardware.peaks.clear();
  for (const std::string& name : peaks.unread()) {
    const PeakRate peak{in_context(peaks.where(name), [&] { return peak_name(name); }),
                        positive(figure_text(peaks, name), peaks.where(name), "FLOP/s")};
    const auto same = std::find_if(hardware.peaks.begin(), hardware.peaks.end(),
                                   [&](const PeakRate& p) { return p.dtype == peak.dtype; });
    if (same == hardware.peaks.end()) {
      hardware.peaks.push_back(peak);
    } else if (same->flops_per_s != peak.flops_per_s) {
      throw UserError(fmt::format("{}: expected {}, as another name of {} says, got {}",
                                  peaks.where(name), same->flops_per_s.str(), peak.dtype,
                                  peak.flops_per_s.str()));
    }
  }
}

// ---- fields that a file has and the command line has not -------------------------------------

constexpr ChipKind kKinds[] = {ChipKind::kGpu, ChipKind::kTpu,   ChipKind::kNpu,
                               ChipKind::kSoc, ChipKind::kWafer, ChipKind::kCpu};
constexpr ChipStatus kStatuses[] = {ChipStatus::kAvailable, ChipStatus::kAnnounced};
constexpr Topology kTopologies[] = {Topology::kUnknown, Topology::kSwitched, Topology::kTorus2d,
                                    Topology::kTorus3d, Topology::kRing,     Topology::kDirect,
                                    Topology::kMesh,    Topology::kPair,     Topology::kTree};

template <typename Choice>
Choice choice(JsonFields& fields, std::string_view field, std::span<const Choice> choices) {
  const std::string text = fields.text(field);
  std::string known;
  for (const Choice& candidate : choices) {
    if (name_of(candidate) == text) return candidate;
    known += fmt::format(" {}", name_of(candidate));
  }
  throw UserError(
      fmt::format("{}: expected one of{}, got {}", fields.where(field), known, quoted(text)));
}

Rational rate(JsonFields& fields, std::string_view field, std::string_view unit) {
  return positive(figure_text(fields, field), fields.where(field), unit);
}

void read_kind(Hardware& hardware, JsonFields& fields) {
  hardware.kind = choice<ChipKind>(fields, "kind", kKinds);
}

void read_status(Hardware& hardware, JsonFields& fields) {
  hardware.status = choice<ChipStatus>(fields, "status", kStatuses);
}

void read_vendor(Hardware& hardware, JsonFields& fields) {
  hardware.vendor = fields.text("vendor");
}

void read_year(Hardware& hardware, JsonFields& fields) {
  hardware.year = static_cast<int>(fields.integer("year", 1940, 2100));
}

void read_sparsity_factor(Hardware& hardware, JsonFields& fields) {
  const Rational factor = rate(fields, "sparsity_factor", "");
  if (factor < 1) {
    throw UserError(fmt::format("{}: expected 1 (no sparse peaks) or more, got {}",
                                fields.where("sparsity_factor"), factor.str()));
  }
  hardware.sparsity_factor = factor;
}

void read_on_chip(Hardware& hardware, JsonFields& fields) {
  hardware.on_chip_bytes = positive_bytes(figure_text(fields, "on_chip"), fields.where("on_chip"));
}

void read_on_chip_what(Hardware& hardware, JsonFields& fields) {
  hardware.on_chip_what = fields.text("on_chip_what");
}

void read_link_name(Hardware& hardware, JsonFields& fields) {
  link_of(hardware).name = fields.text("link_name");
}

void read_links(Hardware& hardware, JsonFields& fields) {
  link_of(hardware).links = fields.integer("links", 1, 1'000'000);
}

void read_topology(Hardware& hardware, JsonFields& fields) {
  Link& link = link_of(hardware);
  link.topology_kind = choice<Topology>(fields, "topology", kTopologies);
  link.topology = name_of(link.topology_kind);
}

void read_pcie_bandwidth(Hardware& hardware, JsonFields& fields) {
  hardware.pcie_bytes_per_s = rate(fields, "pcie_bandwidth", "B/s");
}

void read_price_source(Hardware& hardware, JsonFields& fields) {
  hardware.price_source = fields.text("price_source");
}

void read_price_date(Hardware& hardware, JsonFields& fields) {
  const std::string date = fields.text("price_date");
  constexpr std::string_view kShape = "0000-00-00";
  const bool is_date =
      std::equal(date.begin(), date.end(), kShape.begin(), kShape.end(), [](char c, char shape) {
        return shape == '-' ? c == '-' : std::isdigit(static_cast<unsigned char>(c)) != 0;
      });
  if (!is_date) {
    throw UserError(fmt::format("{}: expected a date such as 2026-05-20, got {}",
                                fields.where("price_date"), quoted(date)));
  }
  hardware.price_date = date;
}

void read_source(Hardware& hardware, JsonFields& fields) {
  hardware.sources.push_back({"", fields.text("source")});
}

void read_notes(Hardware& hardware, JsonFields& fields) {
  hardware.notes = fields.text("notes");
}

// After link_bandwidth, by which a peer receives all that leaves a device.
void read_peer_bandwidth(Hardware& hardware, JsonFields& fields) {
  Link& link = link_of(hardware);
  const Rational peer = rate(fields, "peer_bandwidth", "B/s");
  if (link.bytes_per_s && peer > *link.bytes_per_s) {
    throw UserError(fmt::format("{}: expected at most link_bandwidth, {}, got {}",
                                fields.where("peer_bandwidth"), link.bytes_per_s->str(),
                                peer.str()));
  }
  link.peer_bytes_per_s = peer;
}

struct FileField {
  std::string_view name;
  void (*read)(Hardware& hardware, JsonFields& fields);
};
constexpr FileField kFileFields[] = {
    {"peer_bandwidth",  read_peer_bandwidth },
    {"links",           read_links          },
    {"link_name",       read_link_name      },
    {"topology",        read_topology       },
    {"pcie_bandwidth",  read_pcie_bandwidth },
    {"on_chip",         read_on_chip        },
    {"on_chip_what",    read_on_chip_what   },
    {"sparsity_factor", read_sparsity_factor},
    {"kind",            read_kind           },
    {"status",          read_status         },
    {"vendor",          read_vendor         },
    {"year",            read_year           },
    {"price_source",    read_price_source   },
    {"price_date",      read_price_date     },
    {"source",          read_source         },
    {"notes",           read_notes          },
};

std::string known_fields() {
  std::string names = "name, peak_flops, " + known_figures();
  for (const FileField& field : kFileFields) names += fmt::format(", {}", field.name);
  return names;
}

void read_all_peaks(Hardware& hardware, JsonFields& fields) {
  if (fields.has("peak_flops") && fields.has("flops")) {
    throw UserError(
        fmt::format("{}: expected flops, the peak of every type, or peak_flops, those "
                    "of some, got both",
                    fields.where("flops")));
  }
  if (fields.has("peak_flops")) read_peaks(hardware, fields.object("peak_flops"));
}

Hardware hardware_from_json(const nlohmann::json& json, const std::string& file) {
  JsonFields fields(json, file);
  Hardware hardware;
  hardware.name = fields.text("name");
  hardware.sources = {
      {"", file}
  };
  read_all_peaks(hardware, fields);
  const std::vector<std::string> given = fields.unread();
  for (const std::string& name : given) {
    const FigureKey* figure = find_figure(name);
    if (figure == nullptr) continue;
    if (!fields.has(name)) {  // null: not known
      fields.mark_read(name);
      continue;
    }
    const std::string text = figure_text(fields, name);
    in_context(file, [&] { figure->set(hardware, text); });
  }
  for (const FileField& field : kFileFields) {
    if (fields.has(field.name)) field.read(hardware, fields);
    fields.mark_read(field.name);
  }
  const std::vector<std::string> unknown = fields.unread();
  if (unknown.empty()) return hardware;
  throw UserError(
      fmt::format("{}: unknown key, known: {}", fields.where(unknown.front()), known_fields()));
}

}  // namespace

Hardware read_hardware_file(const std::string& path) {
  return hardware_from_json(read_json_file(path), path);
}

}  // namespace flopwise
