// The scalars that the executor computes with: double, Counted (a double that counts what is done
// to it) and Dual (a double with a derivative). Each has + - * / and the functions below; these are
// the operations of the cost table, and every one counts 1.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace flopwise::exec {

enum class Arithmetic {
  kAdd,  // and subtract
  kMul,
  kDiv,
  kMax,
  kCompare,
  kExp,
  kLog,
  kTanh,
  kErf,
  kRsqrt,
  kSigmoid,
};
inline constexpr std::size_t kArithmeticKinds = 11;
const char* name_of(Arithmetic kind);

// How often each operation was performed.
struct Tally {
  std::array<std::int64_t, kArithmeticKinds> performed = {};

  std::int64_t of(Arithmetic kind) const { return performed[static_cast<std::size_t>(kind)]; }
  std::int64_t total() const;
  Tally& operator+=(const Tally& other);
  friend Tally operator-(const Tally& a, const Tally& b);
  friend bool operator==(const Tally&, const Tally&) = default;
};

// What this thread's Counted scalars have performed since it started: take it before and after.
inline constinit thread_local Tally thread_tally;

inline double max_of(double a, double b) {
  return b > a || b != b ? b : a;  // a NaN stays
}
inline bool is_greater(double a, double b) {
  return a > b;
}
inline double exp_of(double a) {
  return std::exp(a);
}
inline double log_of(double a) {
  return std::log(a);
}
inline double tanh_of(double a) {
  return std::tanh(a);
}
inline double erf_of(double a) {
  return std::erf(a);
}
inline double rsqrt_of(double a) {
  return 1.0 / std::sqrt(a);
}
inline double sigmoid_of(double a) {
  return 1.0 / (1.0 + std::exp(-a));
}
inline double value_of(double a) {
  return a;
}

// A Value that counts. Copying, and making one of a number, is free.
template <typename Value>
class Counted {
 public:
  Counted() = default;
  Counted(double value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  const Value& value() const { return value_; }

  friend Counted operator+(const Counted& a, const Counted& b) {
    return performed(Arithmetic::kAdd, a.value_ + b.value_);
  }
  friend Counted operator-(const Counted& a, const Counted& b) {
    return performed(Arithmetic::kAdd, a.value_ - b.value_);
  }
  friend Counted operator*(const Counted& a, const Counted& b) {
    return performed(Arithmetic::kMul, a.value_ * b.value_);
  }
  friend Counted operator/(const Counted& a, const Counted& b) {
    return performed(Arithmetic::kDiv, a.value_ / b.value_);
  }
  friend Counted max_of(const Counted& a, const Counted& b) {
    return performed(Arithmetic::kMax, max_of(a.value_, b.value_));
  }
  friend bool is_greater(const Counted& a, const Counted& b) {
    count(Arithmetic::kCompare);
    return is_greater(a.value_, b.value_);
  }
  friend Counted exp_of(const Counted& a) { return performed(Arithmetic::kExp, exp_of(a.value_)); }
  friend Counted log_of(const Counted& a) { return performed(Arithmetic::kLog, log_of(a.value_)); }
  friend Counted tanh_of(const Counted& a) {
    return performed(Arithmetic::kTanh, tanh_of(a.value_));
  }
  friend Counted erf_of(const Counted& a) { return performed(Arithmetic::kErf, erf_of(a.value_)); }
  friend Counted rsqrt_of(const Counted& a) {
    return performed(Arithmetic::kRsqrt, rsqrt_of(a.value_));
  }
  friend Counted sigmoid_of(const Counted& a) {
    return performed(Arithmetic::kSigmoid, sigmoid_of(a.value_));
  }
  friend double value_of(const Counted& a) { return value_of(a.value_); }

 private:
  static void count(Arithmetic kind) { ++thread_tally.performed[static_cast<std::size_t>(kind)]; }
  static Counted performed(Arithmetic kind, const Value& value) {
    count(kind);
    Counted result;
    result.value_ = value;
    return result;
  }

  Value value_ = {};
};

// value + slope*epsilon with epsilon^2 = 0: run forward, it carries the exact derivative along one
// direction.
struct Dual {
  double value = 0;
  double slope = 0;

  Dual() = default;
  Dual(double number) : value(number) {}  // NOLINT(google-explicit-constructor)
  Dual(double number, double derivative) : value(number), slope(derivative) {}

  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.slope - b.slope}; }
  friend Dual operator*(Dual a, Dual b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(Dual a, Dual b) {
    const double quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  friend Dual max_of(Dual a, Dual b) {
    return b.value > a.value || b.value != b.value ? b : a;  // a NaN stays
  }
  friend bool is_greater(Dual a, Dual b) { return a.value > b.value; }
  friend Dual exp_of(Dual a) {
    const double e = std::exp(a.value);
    return {e, e * a.slope};
  }
  friend Dual log_of(Dual a) { return {std::log(a.value), a.slope / a.value}; }
  friend Dual tanh_of(Dual a) {
    const double t = std::tanh(a.value);
    return {t, (1 - t * t) * a.slope};
  }
  friend Dual erf_of(Dual a) {
    constexpr double kTwoOverSqrtPi = 1.1283791670955126;
    return {std::erf(a.value), kTwoOverSqrtPi * std::exp(-a.value * a.value) * a.slope};
  }
  friend Dual rsqrt_of(Dual a) {
    const double r = 1.0 / std::sqrt(a.value);
    return {r, -0.5 * r * r * r * a.slope};
  }
  friend Dual sigmoid_of(Dual a) {
    const double s = sigmoid_of(a.value);
    return {s, s * (1 - s) * a.slope};
  }
  friend double value_of(Dual a) { return a.value; }
};

using CountedDouble = Counted<double>;

// The scalars for which the executor is compiled: X(Scalar) for each.
#define FLOPWISE_FOR_EACH_SCALAR(X) X(double) X(CountedDouble) X(Dual)

}  // namespace flopwise::exec
