#include "flopwise/hardware/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "flopwise/base/contains.h"
#include "flopwise/base/dtype.h"
#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/names.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
}

// The names that agree with `key` longest from the front: a chip's name starts with its family.
std::vector<std::string> nearest_chips(const std::string& key) {
  std::size_t longest = 0;
  std::vector<std::string> nearest;
  for (const Hardware& chip : hardware_catalog()) {
    std::size_t agreeing = common_prefix(key, normalised_name(chip.name));
    for (const std::string& alias : chip.aliases) {
      agreeing = std::max(agreeing, common_prefix(key, normalised_name(alias)));
    }
    if (agreeing > longest) nearest.clear();
    longest = std::max(longest, agreeing);
    if (agreeing == longest) nearest.push_back(chip.name);
  }
  return nearest;
}

// ---- figures given by the user ---------------------------------------------------------------

Rational positive(const std::string& text, std::string_view what) {
  const Rational value = parse_quantity(text, what);
  if (value > 0) return value;
  throw UserError(fmt::format("{}: expected a number above 0, got {}", what, quoted(text)));
}

Link& link_of(Hardware& hardware) {
  if (!hardware.link) hardware.link.emplace().name = "given";
  return *hardware.link;
}

void set_flops(Hardware& hardware, const std::string& text) {
  const Rational rate = positive(text, "flops");
  if (hardware.peaks.empty()) {
    for (const DType& dtype : all_dtypes()) hardware.peaks.push_back({std::string(dtype.name), {}});
  }
  for (PeakRate& peak : hardware.peaks) peak.flops_per_s = rate;
}

void set_vector_flops(Hardware& hardware, const std::string& text) {
  hardware.vector_flops_per_s = positive(text, "vector_flops");
}

void set_memory(Hardware& hardware, const std::string& text) {
  const Count bytes = parse_bytes(text, "memory");
  if (bytes < 1) {
    throw UserError(fmt::format("memory: expected at least 1 byte, got {}", quoted(text)));
  }
  hardware.memory_bytes = bytes;
  hardware.memory_basis = "given";
}

void set_memory_bandwidth(Hardware& hardware, const std::string& text) {
  hardware.memory_bytes_per_s = positive(text, "memory_bandwidth");
}

void set_link_bandwidth(Hardware& hardware, const std::string& text) {
  Link& link = link_of(hardware);
  link.bytes_per_s = link.peer_bytes_per_s = positive(text, "link_bandwidth");
}

void set_network_bandwidth(Hardware& hardware, const std::string& text) {
  hardware.network_bytes_per_s = positive(text, "network_bandwidth");
}

void set_domain_size(Hardware& hardware, const std::string& text) {
  link_of(hardware).domain_size = parse_axis_size(text, "domain_size");
}

void set_tdp(Hardware& hardware, const std::string& text) {
  hardware.tdp_w = positive(text, "tdp");
}

void set_price(Hardware& hardware, const std::string& text) {
  hardware.price_usd_per_hour = positive(text, "price");
  hardware.price_source = "given";
}

struct Figure {
  std::string_view key;
  void (*set)(Hardware& hardware, const std::string& text);
};
constexpr Figure kFigures[] = {
    {"flops",             set_flops            },
    {"vector_flops",      set_vector_flops     },
    {"memory",            set_memory           },
    {"memory_bandwidth",  set_memory_bandwidth },
    {"link_bandwidth",    set_link_bandwidth   },
    {"network_bandwidth", set_network_bandwidth},
    {"domain_size",       set_domain_size      },
    {"tdp",               set_tdp              },
    {"price",             set_price            },
};

std::string known_figures() {
  std::string keys;
  for (const Figure& figure : kFigures) {
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", figure.key);
  }
  return keys;
}

const Figure* find_figure(std::string_view key) {
  const auto* found = std::find_if(std::begin(kFigures), std::end(kFigures),
                                   [&](const Figure& figure) { return figure.key == key; });
  return found == std::end(kFigures) ? nullptr : found;
}

void apply_override(Hardware& hardware, std::string_view piece,
                    std::vector<std::string_view>& seen) {
  const std::size_t equals = piece.find('=');
  if (equals == std::string_view::npos) {
    throw UserError(fmt::format("expected KEY=VALUE, got {}", quoted(piece)));
  }
  const std::string_view key = piece.substr(0, equals);
  const Figure* figure = find_figure(key);
  if (figure == nullptr) {
    throw UserError(fmt::format("unknown key {}, known: {}", quoted(key), known_figures()));
  }
  if (contains(seen, key)) {
    throw UserError(fmt::format("key {} is given twice", quoted(key)));
  }
  seen.push_back(key);
  figure->set(hardware, std::string(piece.substr(equals + 1)));
}

// "memory_bandwidth=3.0e12,price=2": each key at most once.
void apply_overrides(Hardware& hardware, std::string_view text) {
  std::vector<std::string_view> seen;
  for (;;) {
    const std::size_t comma = text.find(',');
    apply_override(hardware, text.substr(0, comma), seen);
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

// ---- a chip described in a JSON file ---------------------------------------------------------

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
    const DType& dtype =
        in_context(peaks.where(name), [&]() -> const DType& { return find_dtype(name); });
    const PeakRate peak{std::string(dtype.name),
                        positive(figure_text(peaks, name), peaks.where(name))};
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

Hardware hardware_from_json(const nlohmann::json& json, const std::string& file) {
  JsonFields fields(json, file);
  Hardware hardware;
  hardware.name = fields.text("name");
  hardware.sources = {file};
  if (fields.has("peak_flops") && fields.has("flops")) {
    throw UserError(
        fmt::format("{}: expected flops, the peak of every type, or peak_flops, those "
                    "of some, got both",
                    fields.where("flops")));
  }
  if (fields.has("peak_flops")) read_peaks(hardware, fields.object("peak_flops"));
  for (const std::string& field : fields.unread()) {
    const Figure* figure = find_figure(field);
    if (figure == nullptr) {
      throw UserError(fmt::format("{}: unknown key, known: name, peak_flops, {}",
                                  fields.where(field), known_figures()));
    }
    const std::string text = figure_text(fields, field);
    in_context(file, [&] { figure->set(hardware, text); });
  }
  return hardware;
}

// ---- --on ------------------------------------------------------------------------------------

Hardware hardware_called(const std::string& name) {
  if (normalised_name(name) == "this") {
    throw UserError(
        "hardware 'this' is not calibrated on this machine, expected a chip, figures such as "
        "flops=1e15, or a JSON file");
  }
  if (name.ends_with(".json")) return hardware_from_json(read_json_file(name), name);
  return find_hardware(name);
}

// "h100:64": the name, and the count where one is given.
HardwareChoice read_chip(const std::string& text) {
  HardwareChoice choice;
  const std::size_t colon = text.rfind(':');
  choice.hardware = hardware_called(text.substr(0, colon));
  if (colon != std::string::npos) {
    choice.count = parse_axis_size(text.substr(colon + 1), "hardware count");
    choice.count_given = true;
  }
  return choice;
}

}  // namespace

const Hardware& find_hardware(std::string_view name) {
  const std::string key = normalised_name(name);
  for (const Hardware& chip : hardware_catalog()) {
    if (normalised_name(chip.name) == key) return chip;
    for (const std::string& alias : chip.aliases) {
      if (normalised_name(alias) == key) return chip;
    }
  }
  throw UserError(fmt::format("unknown hardware {}, nearest: {}", quoted(name),
                              fmt::join(nearest_chips(key), ", ")));
}

HardwareChoice read_hardware(const std::string& text) {
  if (text.empty()) throw UserError("hardware: expected a chip, figures or a JSON file, got ''");
  const std::size_t comma = text.find(',');
  const std::string head = text.substr(0, comma);
  const auto apply = [&](Hardware& hardware, std::string_view figures) {
    in_context("hardware " + quoted(text), [&] { apply_overrides(hardware, figures); });
  };
  if (head.find('=') != std::string::npos) {
    HardwareChoice figures;
    figures.hardware.name = text;
    figures.hardware.sources = {"given"};
    apply(figures.hardware, text);
    return figures;
  }
  HardwareChoice chip = read_chip(head);
  if (comma != std::string::npos) apply(chip.hardware, text.substr(comma + 1));
  return chip;
}

Rational peak_flops_per_s(const Hardware& hardware, std::string_view dtype) {
  const bool is_matrix_rate = dtype.ends_with("_matrix");
  const std::string_view wanted = is_matrix_rate ? dtype : find_dtype(dtype).name;
  std::vector<std::string_view> known;
  for (const PeakRate& peak : hardware.peaks) {
    if (peak.dtype == wanted) return peak.flops_per_s;
    known.push_back(peak.dtype);
  }
  throw UserError(fmt::format("hardware {}: no peak for {}, known: {}", quoted(hardware.name),
                              wanted,
                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

Rational intensity_of(const Hardware& hardware, std::string_view dtype) {
  if (!hardware.memory_bytes_per_s) {
    throw UserError(
        fmt::format("hardware {}: memory_bandwidth is not known, expected "
                    "memory_bandwidth=BYTES_PER_S",
                    quoted(hardware.name)));
  }
  return peak_flops_per_s(hardware, dtype) / *hardware.memory_bytes_per_s;
}

}  // namespace flopwise
