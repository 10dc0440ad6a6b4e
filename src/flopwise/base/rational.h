// Exact coefficients, such as the 1/2 of T*(T+1)/2. Always in lowest terms, denominator positive.
#pragma once

#include <compare>
#include <string>

#include "flopwise/base/count.h"

namespace flopwise {

class Rational {
 public:
  constexpr Rational() = default;
  constexpr Rational(std::int64_t value) : num_(value) {}  // NOLINT(google-explicit-constructor)
  Rational(Count value) : num_(value.value()) {}           // NOLINT(google-explicit-constructor)
  // num/den in lowest terms; UserError when den is 0.
  static Rational of(Int128 num, Int128 den);

  Int128 num() const { return num_; }
  Int128 den() const { return den_; }
  bool is_integer() const { return den_ == 1; }
  double to_double() const;
  std::string str() const;  // "3", "-1/2"

  // Exact; cancels before it multiplies, and throws OverflowError if the result does not fit.
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);  // UserError when b is 0
  friend Rational operator-(const Rational& a);
  friend bool operator==(const Rational& a, const Rational& b) = default;
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);

 private:
  Int128 num_ = 0;
  Int128 den_ = 1;
};

Rational pow(const Rational& base, std::int64_t exponent);  // exponent may be negative
Rational floor(const Rational& value);
Rational ceil(const Rational& value);

}  // namespace flopwise
