#include "flopwise/report/numbers.h"

#include <fmt/format.h>

#include "flopwise/base/units.h"

namespace flopwise {

std::string decimal(const Rational& value) {
  if (value.is_integer()) return Count::of(value.num()).grouped();
  if (value < 1000) return fmt::format("{:.4g}", value.to_double());
  const Rational tenths = floor(value * 10 + Rational::of(1, 2));
  return fmt::format("{}.{}", Count::of(tenths.num() / 10).grouped(),
                     static_cast<int>(tenths.num() % 10));
}

std::string length(const std::optional<Rational>& value) {
  return value ? decimal(*value) : "never";
}

std::string length(const std::optional<Count>& value) {
  return value ? value->grouped() : "never";
}

std::string percent(const Rational& share) {
  return format_percent(share.to_double());
}

std::string si(Count value, const char* unit) {
  return format_si(value.to_double(), unit);
}

std::string bytes(Count value) {
  std::string exact = value.grouped() + " B";
  if (value < Count(1024)) return exact;
  return fmt::format("{} ({})", exact, format_binary(value.to_double()));
}

}  // namespace flopwise
