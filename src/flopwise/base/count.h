// Exact integers for parameters, FLOPs and bytes: 128 bits, every operation checked.
// 3.8e25 FLOPs of a training run do not fit 64 bits; they fit here, and what does not fit throws.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace flopwise {

__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using)

inline constexpr Int128 kInt128Max =
    (Int128{INT64_MAX} << 64) + (Int128{INT64_MAX} << 1) + 1;  // 2^127 - 1
inline constexpr Int128 kInt128Min = -kInt128Max - 1;

// Checked arithmetic on the bare integer: the exact result, or an OverflowError.
Int128 checked_add(Int128 a, Int128 b);
Int128 checked_sub(Int128 a, Int128 b);
Int128 checked_mul(Int128 a, Int128 b);

// "-123": decimal digits. "17,442,541,568": the same in groups of three.
std::string digits(Int128 value);
std::string grouped_digits(Int128 value);

class Count {
 public:
  constexpr Count() = default;
  constexpr Count(std::int64_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  static constexpr Count of(Int128 value) {
    Count count;
    count.value_ = value;
    return count;
  }

  constexpr Int128 value() const { return value_; }
  double to_double() const { return static_cast<double>(value_); }
  std::string str() const { return digits(value_); }
  std::string grouped() const { return grouped_digits(value_); }

  friend Count operator+(Count a, Count b) { return of(checked_add(a.value_, b.value_)); }
  friend Count operator-(Count a, Count b) { return of(checked_sub(a.value_, b.value_)); }
  friend Count operator*(Count a, Count b) { return of(checked_mul(a.value_, b.value_)); }
  Count& operator+=(Count other) { return *this = *this + other; }
  Count& operator-=(Count other) { return *this = *this - other; }
  Count& operator*=(Count other) { return *this = *this * other; }
  friend constexpr bool operator==(Count a, Count b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Count a, Count b) {
    return a.value_ <=> b.value_;
  }

 private:
  Int128 value_ = 0;
};

// An optional sign and decimal digits, nothing else; OverflowError beyond 128 bits.
Count parse_count(std::string_view text);

}  // namespace flopwise
