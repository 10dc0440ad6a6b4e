#include "flopwise/report/plan_numbers.h"

#include <fmt/format.h>

#include <cmath>

#include "flopwise/base/units.h"

namespace flopwise {

namespace {

Count whole(double value) {
  return static_cast<std::int64_t>(std::llround(value));
}

}  // namespace

Json whole_bytes(double value) {
  return {whole(value)};
}

Json memory_parts_json(const std::vector<MemoryPart>& parts, const Hardware& hardware,
                       double usable) {
  Json json = Json::object();
  Count total = 0;
  for (const MemoryPart& part : parts) {
    json.add(part.name, whole_bytes(part.bytes));
    total += whole(part.bytes);
  }
  json.add("total", total);
  const std::optional<Count>& capacity = hardware.memory_bytes;
  json.add("capacity", capacity ? Json(*capacity) : Json(nullptr))
      .add("usable", capacity ? whole_bytes(usable) : Json(nullptr));
  return json;
}

std::string describe(const Padding& padding) {
  return fmt::format("vocabulary of {} filled up to {} rows, a multiple of tp",
                     Count(padding.rows).grouped(), Count(padding.padded_rows).grouped());
}

Json time_json(const TimeRange& time) {
  Json json = Json::object();
  json.add("lower", time.lower).add("expected", time.expected).add("upper", time.upper);
  return json;
}

Json mesh_json(const Parallelism& mesh) {
  Json json = Json::object();
  json.add("dp", mesh.dp)
      .add("fsdp", mesh.fsdp)
      .add("tp", mesh.tp)
      .add("cp", mesh.cp)
      .add("pp", mesh.pp)
      .add("ep", mesh.ep);
  return json;
}

std::vector<AxisBytes> axis_bytes(const std::array<double, 6>& by_axis, double pipeline) {
  const auto of = [&](ParallelAxis axis) { return by_axis[static_cast<std::size_t>(axis)]; };
  return {
      {"dp",   of(ParallelAxis::kDp)                              },
      {"fsdp", of(ParallelAxis::kFsdp)                            },
      {"tp",   of(ParallelAxis::kTp) + of(ParallelAxis::kTpGroups)},
      {"cp",   of(ParallelAxis::kCp)                              },
      {"pp",   pipeline                                           },
      {"ep",   of(ParallelAxis::kEp)                              },
  };
}

std::string duration(double time_s) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  constexpr double kDay = 86400;
  if (time_s < 2 * kMinute) return format_si(time_s, "s");
  if (time_s < 2 * kHour) return fmt::format("{:.1f} min", time_s / kMinute);
  if (time_s < 2 * kDay) return fmt::format("{:.1f} h", time_s / kHour);
  return fmt::format("{:.1f} days", time_s / kDay);
}

std::string money(double usd) {
  return usd < 1000 ? fmt::format("${:.4g}", usd) : "$" + format_si(usd, "");
}

std::string memory_verdict(const Hardware& hardware, double used) {
  if (!hardware.memory_bytes) return "the chip's memory is not known";
  const double capacity = hardware.memory_bytes->to_double();
  const double usable = kUsableMemory * capacity;
  return fmt::format("{} {} {} usable, {:.0f} % of {}", format_binary(std::abs(usable - used)),
                     used <= usable ? "to spare of" : "more than the", format_binary(usable),
                     100 * kUsableMemory, format_binary(capacity));
}

std::optional<double> price_of(const Hardware& hardware, const std::optional<double>& given) {
  if (given) return given;
  if (!hardware.price_usd_per_hour) return std::nullopt;
  return hardware.price_usd_per_hour->to_double();
}

}  // namespace flopwise
