#include "flopwise/base/rational.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

__extension__ typedef unsigned __int128 UInt128;  // NOLINT(modernize-use-using)

UInt128 magnitude(Int128 value) {
  return value < 0 ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

UInt128 gcd(UInt128 a, UInt128 b) {
  while (b != 0) {
    if ((a | b) >> 64 == 0) {
      return std::gcd(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
    }
    a = std::exchange(b, a % b);
  }
  return a;
}

// 256 bits, unsigned: products of two 128-bit numbers, and what is compared or divided of them.
struct Wide {
  UInt128 high = 0;
  UInt128 low = 0;

  friend bool operator==(const Wide&, const Wide&) = default;
  friend auto operator<=>(const Wide& a, const Wide& b) {
    return a.high != b.high ? a.high <=> b.high : a.low <=> b.low;
  }
};

Wide multiply(UInt128 a, UInt128 b) {
  const UInt128 mask = UINT64_MAX;
  const UInt128 low = (a & mask) * (b & mask);
  const UInt128 middle = (a >> 64) * (b & mask) + (low >> 64);  // below 2^128
  const UInt128 middle2 = (a & mask) * (b >> 64) + (middle & mask);
  return {(a >> 64) * (b >> 64) + (middle >> 64) + (middle2 >> 64), (middle2 << 64) | (low & mask)};
}

Wide subtract(const Wide& a, const Wide& b) {  // a >= b
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

Wide add(const Wide& a, const Wide& b) {  // the callers' sums stay below 2^256
  const UInt128 low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}

struct Division {
  Wide quotient;
  UInt128 remainder = 0;
};

// Bit by bit; b is at most 2^127, so the doubled remainder does not wrap.
Division divide(const Wide& a, UInt128 b) {
  if (a.high == 0) {
    return {
        {0, a.low / b},
        a.low % b
    };
  }
  Division result;
  for (int bit = 255; bit >= 0; --bit) {
    const UInt128 word = bit >= 128 ? a.high : a.low;
    result.remainder = (result.remainder << 1) | ((word >> (bit % 128)) & 1);
    if (result.remainder >= b) {
      result.remainder -= b;
      (bit >= 128 ? result.quotient.high : result.quotient.low) |= UInt128{1} << (bit % 128);
    }
  }
  return result;
}

// Puts a sign on a magnitude, or throws: `operation` is what the result is of.
template <typename Operation>
Int128 with_sign(bool negative, const Wide& value, const Operation& operation) {
  const UInt128 limit = magnitude(kInt128Max) + (negative ? 1 : 0);
  if (value.high != 0 || value.low > limit) {
    throw OverflowError(fmt::format("{} does not fit into 128 bits", operation()));
  }
  return static_cast<Int128>(negative ? -value.low : value.low);
}

std::string in_parentheses(const Rational& value) {
  return value.is_integer() && value.num() >= 0 ? value.str() : "(" + value.str() + ")";
}

}  // namespace

Rational Rational::of(Int128 num, Int128 den) {
  const auto operation = [&] { return digits(num) + "/" + digits(den); };
  if (den == 0) throw UserError(fmt::format("{}: division by 0", operation()));
  const UInt128 divisor = gcd(magnitude(num), magnitude(den));
  Rational result;
  result.num_ = with_sign((num < 0) != (den < 0), {0, magnitude(num) / divisor}, operation);
  result.den_ = with_sign(false, {0, magnitude(den) / divisor}, operation);
  return result;
}

double Rational::to_double() const {
  return static_cast<double>(num_) / static_cast<double>(den_);
}

std::string Rational::str() const {
  return is_integer() ? digits(num_) : digits(num_) + "/" + digits(den_);
}

// a.num/(g*x) + b.num/(g*y) = (a.num*y + b.num*x)/(g*x*y), where only g can still share a factor
// with the sum (Knuth, The Art of Computer Programming, vol. 2, 4.5.1). The sum is formed in 256
// bits, since it may fit only after that factor is gone.
Rational operator+(const Rational& a, const Rational& b) {
  Rational result;
  if (a.den_ == 1 && b.den_ == 1 && !__builtin_add_overflow(a.num_, b.num_, &result.num_)) {
    return result;
  }
  const auto operation = [&] { return in_parentheses(a) + " + " + in_parentheses(b); };
  const UInt128 g = gcd(magnitude(a.den_), magnitude(b.den_));
  const UInt128 x = magnitude(a.den_) / g;
  const UInt128 y = magnitude(b.den_) / g;
  const Wide left = multiply(magnitude(a.num_), y);
  const Wide right = multiply(magnitude(b.num_), x);
  const bool same_sign = (a.num_ < 0) == (b.num_ < 0);
  const bool left_larger = left >= right;
  const Wide sum = same_sign     ? add(left, right)
                   : left_larger ? subtract(left, right)
                                 : subtract(right, left);
  const bool negative = left_larger ? a.num_ < 0 : b.num_ < 0;
  const UInt128 shared = gcd(divide(sum, g).remainder, g);
  result.num_ = with_sign(negative && sum != Wide{}, divide(sum, shared).quotient, operation);
  result.den_ = with_sign(false, multiply(x, magnitude(b.den_) / shared), operation);
  return result;
}

Rational operator-(const Rational& a, const Rational& b) {
  Rational result;
  if (a.den_ == 1 && b.den_ == 1 && !__builtin_sub_overflow(a.num_, b.num_, &result.num_)) {
    return result;
  }
  return a + -b;
}

Rational operator-(const Rational& a) {
  Rational result = a;
  result.num_ = with_sign(a.num_ >= 0 && a.num_ != 0, {0, magnitude(a.num_)},
                          [&] { return "-" + in_parentheses(a); });
  return result;
}

// Both numerators are freed of what they share with the other's denominator, so the product is
// already in lowest terms: it overflows only when the result does.
Rational operator*(const Rational& a, const Rational& b) {
  Rational result;
  if (a.den_ == 1 && b.den_ == 1 && !__builtin_mul_overflow(a.num_, b.num_, &result.num_)) {
    return result;
  }
  const auto operation = [&] { return in_parentheses(a) + " * " + in_parentheses(b); };
  const UInt128 g1 = gcd(magnitude(a.num_), magnitude(b.den_));
  const UInt128 g2 = gcd(magnitude(b.num_), magnitude(a.den_));
  const bool negative = (a.num_ < 0) != (b.num_ < 0) && a.num_ != 0 && b.num_ != 0;
  result.num_ =
      with_sign(negative, multiply(magnitude(a.num_) / g1, magnitude(b.num_) / g2), operation);
  result.den_ =
      with_sign(false, multiply(magnitude(a.den_) / g2, magnitude(b.den_) / g1), operation);
  return result;
}

Rational operator/(const Rational& a, const Rational& b) {
  const auto operation = [&] { return in_parentheses(a) + " / " + in_parentheses(b); };
  if (b.num_ == 0) throw UserError(fmt::format("{}: division by 0", operation()));
  const UInt128 g1 = gcd(magnitude(a.num_), magnitude(b.num_));
  const UInt128 g2 = gcd(magnitude(b.den_), magnitude(a.den_));
  const bool negative = (a.num_ < 0) != (b.num_ < 0) && a.num_ != 0;
  Rational result;
  result.num_ =
      with_sign(negative, multiply(magnitude(a.num_) / g1, magnitude(b.den_) / g2), operation);
  result.den_ =
      with_sign(false, multiply(magnitude(a.den_) / g2, magnitude(b.num_) / g1), operation);
  return result;
}

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  if (a.den_ == b.den_) return a.num_ <=> b.num_;
  if ((a.num_ < 0) != (b.num_ < 0)) return a.num_ <=> b.num_;
  const Wide left = multiply(magnitude(a.num_), magnitude(b.den_));
  const Wide right = multiply(magnitude(b.num_), magnitude(a.den_));
  return a.num_ < 0 ? right <=> left : left <=> right;
}

Rational pow(const Rational& base, std::int64_t exponent) {
  Rational factor = exponent < 0 ? 1 / base : base;
  std::uint64_t rest = static_cast<std::uint64_t>(exponent);
  if (exponent < 0) rest = -rest;
  Rational result = 1;
  while (rest != 0) {
    if ((rest & 1) != 0) result = result * factor;
    rest >>= 1;
    if (rest != 0) factor = factor * factor;  // not once more than needed: it could overflow
  }
  return result;
}

Rational floor(const Rational& value) {
  const Int128 quotient = value.num() / value.den();  // towards 0
  const bool round_down = value.num() < 0 && !value.is_integer();
  return Rational(Count::of(quotient - (round_down ? 1 : 0)));
}

Rational ceil(const Rational& value) {
  const Int128 quotient = value.num() / value.den();
  const bool round_up = value.num() > 0 && !value.is_integer();
  return Rational(Count::of(quotient + (round_up ? 1 : 0)));
}

}  // namespace flopwise
