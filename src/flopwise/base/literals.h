// Exact figures in tables: 989.4_T is 989'400'000'000'000 and 0.5_GiB is 2^29. A figure that is not
// whole, or beyond 64 bits, does not compile.
#pragma once

#include <cstdint>

namespace flopwise {

struct Decimal {  // digits / scale: 2.95 is 295/100
  std::int64_t digits = 0;
  std::int64_t scale = 1;
};

namespace literals {

consteval Decimal operator""_exact(const char* text) {
  constexpr std::int64_t kMost = (INT64_MAX - 9) / 10;
  Decimal value;
  bool has_point = false;
  for (; *text != '\0'; ++text) {
    if (*text == '.' && !has_point) {
      has_point = true;
    } else if (*text >= '0' && *text <= '9' && value.digits <= kMost && value.scale <= kMost) {
      value.digits = value.digits * 10 + (*text - '0');
      if (has_point) value.scale *= 10;
    } else if (*text != '\'') {
      throw "expected a decimal number of up to 18 digits";
    }
  }
  return value;
}

consteval std::int64_t scaled(Decimal value, std::int64_t unit) {
  if (value.digits > INT64_MAX / unit) throw "expected a figure of up to 64 bits";
  if (value.digits * unit % value.scale != 0) throw "expected a whole number of units";
  return value.digits * unit / value.scale;
}

consteval std::int64_t operator""_MB(const char* text) {
  return scaled(operator""_exact(text), 1'000'000);
}
consteval std::int64_t operator""_G(const char* text) {
  return scaled(operator""_exact(text), 1'000'000'000);
}
consteval std::int64_t operator""_GB(const char* text) {
  return scaled(operator""_exact(text), 1'000'000'000);
}
consteval std::int64_t operator""_T(const char* text) {
  return scaled(operator""_exact(text), 1'000'000'000'000);
}
consteval std::int64_t operator""_MiB(const char* text) {
  return scaled(operator""_exact(text), std::int64_t{1} << 20);
}
consteval std::int64_t operator""_GiB(const char* text) {
  return scaled(operator""_exact(text), std::int64_t{1} << 30);
}

}  // namespace literals
}  // namespace flopwise
