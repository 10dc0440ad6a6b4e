#include "flopwise/base/count.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)

[[noreturn]] void overflow(Int128 a, char sign, Int128 b) {
  throw OverflowError(
      fmt::format("{} {} {} does not fit into 128 bits", digits(a), sign, digits(b)));
}

}  // namespace

Int128 checked_add(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_add_overflow(a, b, &result)) overflow(a, '+', b);
  return result;
}

Int128 checked_sub(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_sub_overflow(a, b, &result)) overflow(a, '-', b);
  return result;
}

Int128 checked_mul(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_mul_overflow(a, b, &result)) overflow(a, '*', b);
  return result;
}

std::string digits(Int128 value) {
  // Negated as unsigned: -2^127 has no positive counterpart in Int128.
  UInt128 rest = value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string reversed;
  do {
    reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) reversed += '-';
  return {reversed.rbegin(), reversed.rend()};
}

std::string grouped_digits(Int128 value) {
  std::string result = digits(value);
  const std::size_t first_digit = value < 0 ? 1 : 0;
  for (std::size_t i = result.size(); i > first_digit + 3;) {
    i -= 3;
    result.insert(i, ",");
  }
  return result;
}

Count parse_count(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view rest = text;
  if (negative || text.starts_with('+')) rest.remove_prefix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (rest.empty() || !std::all_of(rest.begin(), rest.end(), is_digit)) {
    throw UserError(fmt::format("expected a whole number, got {}", quoted(text)));
  }
  // Downwards from 0, since -2^127 is a Count and 2^127 is not.
  Int128 value = 0;
  for (const char c : rest) {
    if (__builtin_mul_overflow(value, Int128{10}, &value) ||
        __builtin_sub_overflow(value, Int128{c - '0'}, &value)) {
      throw OverflowError(fmt::format("{} does not fit into 128 bits", quoted(text)));
    }
  }
  if (!negative && value == kInt128Min) {
    throw OverflowError(fmt::format("{} does not fit into 128 bits", quoted(text)));
  }
  return Count::of(negative ? value : -value);
}

}  // namespace flopwise
