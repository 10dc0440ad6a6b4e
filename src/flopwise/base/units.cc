#include "flopwise/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

struct Suffix {
  std::string_view text;
  int base;
  int exponent;
};
constexpr Suffix kSuffixes[] = {
    {"",   10, 0 },
    {"k",  10, 3 },
    {"K",  10, 3 },
    {"M",  10, 6 },
    {"G",  10, 9 },
    {"T",  10, 12},
    {"P",  10, 15},
    {"E",  10, 18},
    {"Ki", 2,  10},
    {"Mi", 2,  20},
    {"Gi", 2,  30},
    {"Ti", 2,  40},
    {"Pi", 2,  50},
};

std::optional<Rational> suffix_value(std::string_view text) {
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text == text) return pow(suffix.base, suffix.exponent);
  }
  return std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  return taken;
}

// Beyond every exponent that can lead to 128 bits, and far from overflowing an int.
constexpr std::int64_t kMaxExponent = 1'000'000;

// The exponent at the front of `text` ("e15", "E-3"), or 0 and nothing taken: in "1E" it is a
// suffix.
std::int64_t take_exponent(std::string_view& text) {
  std::string_view rest = text;
  if (!rest.starts_with('e') && !rest.starts_with('E')) return 0;
  rest.remove_prefix(1);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view exponent_digits = take_digits(rest);
  if (exponent_digits.empty()) return 0;
  std::int64_t exponent = 0;
  for (const char c : exponent_digits) {
    exponent = std::min(exponent * 10 + (c - '0'), kMaxExponent);
  }
  text = rest;
  return negative ? -exponent : exponent;
}

// The decimal number at the front of `text`, which it shortens; nullopt if there is none.
// OverflowError if the number needs more than 128 bits.
std::optional<Rational> take_number(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string mantissa(take_digits(text));
  std::int64_t exponent = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
    mantissa += fraction;
    exponent -= static_cast<std::int64_t>(fraction.size());
  }
  if (mantissa.empty()) return std::nullopt;
  exponent += take_exponent(text);

  // Zeros at the end belong to the exponent: 1.500 is 15e-1, and 0e999 is 0.
  const std::size_t last = mantissa.find_last_not_of('0');
  if (last == std::string::npos) return Rational(0);
  exponent += static_cast<std::int64_t>(mantissa.size() - last - 1);
  mantissa.resize(last + 1);
  const Rational value(parse_count((negative ? "-" : "") + mantissa));
  // 10^39 is beyond 128 bits; a value below 10^-39 would need such a denominator.
  if (exponent > 38 || exponent < -200) throw OverflowError("out of range");
  // One power of 5 and one of 2, so that 5e-1 cancels before it multiplies.
  return value * pow(5, exponent) * pow(2, exponent);
}

[[noreturn]] void bad_quantity(std::string_view text, std::string_view what) {
  throw UserError(
      fmt::format("{}: expected a quantity such as 14.8T or 8Ki, got {}", what, quoted(text)));
}

[[noreturn]] void beyond(std::string_view text, std::string_view what) {
  throw OverflowError(fmt::format("{}: {} does not fit into 128 bits", what, quoted(text)));
}

// `decimals` such that `value` shows four significant digits.
std::string four_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value,
                     size < 9.9995   ? 3
                     : size < 99.995 ? 2
                     : size < 999.95 ? 1
                                     : 0);
}

}  // namespace

Rational parse_quantity(std::string_view text, std::string_view what) {
  try {
    std::string_view rest = text;
    const std::optional<Rational> number = take_number(rest);
    const std::optional<Rational> scale = suffix_value(rest == "B" ? "G" : rest);
    if (!number || !scale) bad_quantity(text, what);
    return *number * *scale;
  } catch (const OverflowError&) {
    beyond(text, what);
  }
}

std::int64_t parse_axis_size(std::string_view text, std::string_view what) {
  const std::string expected =
      fmt::format("{}: expected a whole number of 1 ... 2^40, got {}", what, quoted(text));
  try {
    const Rational value = parse_quantity(text, what);
    if (!value.is_integer() || value < 1 || value > kMaxAxisSize) throw UserError(expected);
    return static_cast<std::int64_t>(value.num());
  } catch (const UserError&) {
    throw UserError(expected);
  }
}

Count parse_bytes(std::string_view text, std::string_view what) {
  try {
    std::string_view rest = text;
    const std::optional<Rational> number = take_number(rest);
    if (number && rest.starts_with(' ') && rest.size() > 1) rest.remove_prefix(1);
    if (rest.ends_with('B')) rest.remove_suffix(1);
    const std::optional<Rational> scale = suffix_value(rest);
    if (number && scale) {
      const Rational bytes = *number * *scale;
      if (bytes.is_integer() && bytes >= 0) return Count::of(bytes.num());
    }
  } catch (const OverflowError&) {
    beyond(text, what);
  }
  throw UserError(fmt::format("{}: expected a whole number of bytes such as 80GB or 80GiB, got {}",
                              what, quoted(text)));
}

std::string format_si(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 17> kPrefixes = {
      "y", "z", "a", "f", "p", "n", "\u00b5", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"};
  const auto with_unit = [&](const std::string& number, std::string_view prefix) {
    return prefix.empty() && unit.empty() ? number : fmt::format("{} {}{}", number, prefix, unit);
  };
  if (value == 0) return with_unit("0", "");
  if (!std::isfinite(value)) return with_unit(fmt::format("{}", value), "");
  std::size_t prefix = 8;
  // 999.95 would be printed as 1000.
  while (std::abs(value) >= 999.95 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  while (std::abs(value) < 0.99995 && prefix > 0) {
    value *= 1000;
    --prefix;
  }
  const double size = std::abs(value);
  if (size >= 999.95 || size < 0.99995) {  // beyond the prefixes
    const double unscaled = value * (size < 1 ? 1e-24 : 1e24);
    return with_unit(fmt::format("{:.3e}", unscaled), "");
  }
  return with_unit(four_digits(value), kPrefixes[prefix]);
}

std::string format_binary(double bytes) {
  constexpr std::array<std::string_view, 9> kPrefixes = {"",   "Ki", "Mi", "Gi", "Ti",
                                                         "Pi", "Ei", "Zi", "Yi"};
  if (!std::isfinite(bytes) || (std::abs(bytes) < 1024 && bytes == std::trunc(bytes))) {
    return fmt::format("{:.0f} B", bytes);
  }
  std::size_t prefix = 0;
  // 1023.5 would be printed as 1024.
  while (std::abs(bytes) >= 1023.5 && prefix + 1 < kPrefixes.size()) {
    bytes /= 1024;
    ++prefix;
  }
  return fmt::format("{} {}B", four_digits(bytes), kPrefixes[prefix]);
}

std::string format_percent(double share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return fmt::format("{:.1f} %", share * 100);
}

}  // namespace flopwise
