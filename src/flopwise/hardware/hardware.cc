#include "flopwise/hardware/hardware.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/names.h"
#include "flopwise/base/units.h"
#include "flopwise/hardware/figures.h"
#include "flopwise/hardware/hardware_file.h"

namespace flopwise {
namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shorter), b.begin()).first -
      a.begin());
}

// What a chip is called, spelt alike.
std::vector<std::string> keys_of(const Hardware& chip) {
  std::vector<std::string> keys = {normalised_name(chip.name)};
  for (const std::string& alias : chip.aliases) keys.push_back(normalised_name(alias));
  return keys;
}

// The names that agree with `key` longest from the front: a chip's name starts with its family.
std::vector<std::string> agreeing_chips(const std::string& key) {
  std::size_t longest = 1;
  std::vector<std::string> agreeing;
  for (const Hardware& chip : hardware_catalog()) {
    std::size_t length = 0;
    for (const std::string& name : keys_of(chip)) {
      length = std::max(length, common_prefix(key, name));
    }
    if (length > longest) agreeing.clear();
    longest = std::max(longest, length);
    if (length == longest) agreeing.push_back(chip.name);
  }
  return agreeing;
}

// "wse3" is part of the name Cerebras WSE-3.
std::vector<std::string> containing_chips(const std::string& key) {
  std::vector<std::string> containing;
  if (key.size() < 2) return containing;
  for (const Hardware& chip : hardware_catalog()) {
    const std::vector<std::string> keys = keys_of(chip);
    const bool has_key = std::any_of(keys.begin(), keys.end(), [&](const std::string& name) {
      return name.find(key) != std::string::npos;
    });
    if (has_key) containing.push_back(chip.name);
  }
  return containing;
}

std::vector<std::string> nearest_chips(std::string_view name) {
  constexpr std::size_t kMost = 5;
  const std::string key = normalised_name(name);
  std::vector<std::string> nearest = containing_chips(key);
  if (nearest.empty()) nearest = agreeing_chips(key);
  if (nearest.empty()) {
    for (const Hardware& chip : hardware_catalog()) nearest.push_back(chip.name);
  }
  return nearest.size() <= kMost ? nearest : nearest_names(name, nearest);
}

// ---- --on ------------------------------------------------------------------------------------

void apply_override(Hardware& hardware, std::string_view piece,
                    std::vector<std::string_view>& seen) {
  const std::size_t equals = piece.find('=');
  if (equals == std::string_view::npos) {
    throw UserError(fmt::format("expected KEY=VALUE, got {}", quoted(piece)));
  }
  const std::string_view key = piece.substr(0, equals);
  const FigureKey* figure = find_figure(key);
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

Hardware hardware_called(const std::string& name) {
  if (normalised_name(name) == "this") {
    throw UserError(
        "hardware 'this' is not calibrated on this machine, expected a chip, figures such as "
        "flops=1e15, or a JSON file");
  }
  if (name.ends_with(".json")) return read_hardware_file(name);
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

std::string_view name_of(ChipKind kind) {
  switch (kind) {
    case ChipKind::kGpu:
      return "gpu";
    case ChipKind::kTpu:
      return "tpu";
    case ChipKind::kNpu:
      return "npu";
    case ChipKind::kSoc:
      return "soc";
    case ChipKind::kWafer:
      return "wafer";
    case ChipKind::kCpu:
      return "cpu";
  }
  throw InternalError("unknown kind of chip");
}

std::string_view name_of(ChipStatus status) {
  switch (status) {
    case ChipStatus::kAvailable:
      return "available";
    case ChipStatus::kAnnounced:
      return "announced";
  }
  throw InternalError("unknown status of a chip");
}

std::string_view name_of(Topology topology) {
  switch (topology) {
    case Topology::kUnknown:
      return "unknown";
    case Topology::kSwitched:
      return "switched";
    case Topology::kTorus2d:
      return "torus_2d";
    case Topology::kTorus3d:
      return "torus_3d";
    case Topology::kRing:
      return "ring";
    case Topology::kDirect:
      return "direct";
    case Topology::kMesh:
      return "mesh";
    case Topology::kPair:
      return "pair";
    case Topology::kTree:
      return "tree";
  }
  throw InternalError("unknown topology");
}

const Hardware& find_hardware(std::string_view name) {
  const std::string key = normalised_name(name);
  for (const Hardware& chip : hardware_catalog()) {
    if (contains(keys_of(chip), key)) return chip;
  }
  throw UserError(fmt::format("unknown hardware {}, nearest: {}", quoted(name),
                              fmt::join(nearest_chips(name), ", ")));
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
    figures.hardware.sources = {
        {"", "given"}
    };
    apply(figures.hardware, text);
    return figures;
  }
  HardwareChoice chip = read_chip(head);
  if (comma != std::string::npos) apply(chip.hardware, text.substr(comma + 1));
  return chip;
}

Rational peak_flops_per_s(const Hardware& hardware, std::string_view dtype) {
  const std::string wanted = peak_name(dtype);
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
