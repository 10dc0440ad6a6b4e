#include "flopwise/hardware/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/dtype.h"
#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

// "3.35 TB/s" without B/s: "3.35T".
std::string without_unit(std::string text, std::string_view unit) {
  if (unit.empty() || !text.ends_with(unit)) return text;
  text.resize(text.size() - unit.size());
  const std::size_t space = text.find(' ');
  if (space != std::string::npos) text.erase(space, 1);
  return text;
}

Rational quantity(const std::string& text, std::string_view what, std::string_view unit) {
  const std::string number = without_unit(text, unit);
  if (number == text) return parse_quantity(text, what);
  try {
    return parse_quantity(number, what);
  } catch (const UserError&) {
    throw UserError(
        fmt::format("{}: expected a quantity such as 14.8T{}, got {}", what, unit, quoted(text)));
  }
}

void set_flops(Hardware& hardware, const std::string& text) {
  const Rational rate = positive(text, "flops", "FLOP/s");
  if (hardware.peaks.empty()) {
    for (const DType& dtype : all_dtypes()) hardware.peaks.push_back({std::string(dtype.name), {}});
  }
  for (PeakRate& peak : hardware.peaks) peak.flops_per_s = rate;
}

void set_vector_flops(Hardware& hardware, const std::string& text) {
  hardware.vector_flops_per_s = positive(text, "vector_flops", "FLOP/s");
}

void set_memory(Hardware& hardware, const std::string& text) {
  hardware.memory_bytes = positive_bytes(text, "memory");
  hardware.memory_basis = "given";
}

void set_memory_bandwidth(Hardware& hardware, const std::string& text) {
  hardware.memory_bytes_per_s = positive(text, "memory_bandwidth", "B/s");
}

// A peer keeps its share: all of a switched link, one axis of a torus.
void set_link_bandwidth(Hardware& hardware, const std::string& text) {
  const Rational rate = positive(text, "link_bandwidth", "B/s");
  const bool is_new = !hardware.link;
  Link& link = link_of(hardware);
  if (link.bytes_per_s && link.peer_bytes_per_s) {
    link.peer_bytes_per_s = *link.peer_bytes_per_s / *link.bytes_per_s * rate;
  } else if (is_new) {
    link.peer_bytes_per_s = rate;
  }
  link.bytes_per_s = rate;
}

void set_network_bandwidth(Hardware& hardware, const std::string& text) {
  hardware.network_bytes_per_s = positive(text, "network_bandwidth", "B/s");
}

void set_domain_size(Hardware& hardware, const std::string& text) {
  link_of(hardware).domain_size = parse_axis_size(text, "domain_size");
}

void set_wraps_from(Hardware& hardware, const std::string& text) {
  link_of(hardware).wraps_from = parse_axis_size(text, "wraps_from");
}

void set_hop_latency(Hardware& hardware, const std::string& text) {
  link_of(hardware).hop_latency_s = positive(text, "hop_latency", "s");
}

void set_tdp(Hardware& hardware, const std::string& text) {
  hardware.tdp_w = positive(text, "tdp", "W");
}

void set_price(Hardware& hardware, const std::string& text) {
  hardware.price_usd_per_hour = positive(text, "price");
  hardware.price_source = "given";
  hardware.price_date.clear();
}

constexpr FigureKey kFigures[] = {
    {"flops",             set_flops            },
    {"vector_flops",      set_vector_flops     },
    {"memory",            set_memory           },
    {"memory_bandwidth",  set_memory_bandwidth },
    {"link_bandwidth",    set_link_bandwidth   },
    {"network_bandwidth", set_network_bandwidth},
    {"domain_size",       set_domain_size      },
    {"wraps_from",        set_wraps_from       },
    {"hop_latency",       set_hop_latency      },
    {"tdp",               set_tdp              },
    {"price",             set_price            },
};

}  // namespace

const FigureKey* find_figure(std::string_view key) {
  const auto* found = std::find_if(std::begin(kFigures), std::end(kFigures),
                                   [&](const FigureKey& figure) { return figure.key == key; });
  return found == std::end(kFigures) ? nullptr : found;
}

std::string known_figures() {
  std::string keys;
  for (const FigureKey& figure : kFigures) {
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", figure.key);
  }
  return keys;
}

Rational positive(const std::string& text, std::string_view what, std::string_view unit) {
  const Rational value = quantity(text, what, unit);
  if (value > 0) return value;
  throw UserError(fmt::format("{}: expected a number above 0, got {}", what, quoted(text)));
}

Count positive_bytes(const std::string& text, std::string_view what) {
  const Count bytes = parse_bytes(text, what);
  if (bytes >= 1) return bytes;
  throw UserError(fmt::format("{}: expected at least 1 byte, got {}", what, quoted(text)));
}

std::string peak_name(std::string_view dtype) {
  for (const std::string_view rate : {"_matrix", "_acc16"}) {
    if (!dtype.ends_with(rate)) continue;
    const std::string_view type = dtype.substr(0, dtype.size() - rate.size());
    return std::string(find_dtype(type).name) + std::string(rate);
  }
  return std::string(find_dtype(dtype).name);
}

Link& link_of(Hardware& hardware) {
  if (!hardware.link) hardware.link.emplace().name = "given";
  return *hardware.link;
}

}  // namespace flopwise
