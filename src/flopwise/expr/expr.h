// Exact symbolic costs.
//
// An Expr is a canonical sum of terms; a term is a rational coefficient times factors with integer
// exponents (negative ones too: 2*B*D*F/(X*Y)). A factor is a symbol (an axis such as B) or an
// atom, opaque to collection:
//
//   min(a,b) max(a,b)      the smaller, the larger
//   floor_div(a,b)         floor(a/b)            ceil_div(a,b)   ceil(a/b)
//   mod(a,b)               a - b*floor_div(a,b)
//   tri(n)                 n*(n+1)/2 for n > 0, else 0
//   pow(a,n)               a to the power of an expression (expected number of distinct experts)
//   (a + b)^-n             the reciprocal of a sum; its common factor is taken out first, so
//                          4*B*T*S*N*H/(4*B*T*N*H + 4*B*S*N*H) is T*S/(T + S)
//
// Two Exprs are == when their canonical forms agree: when they are the same polynomial in symbols,
// their inverses and atoms. Only reciprocals of sums have more than one form: they cancel where the
// terms over one denominator, taken together, can be divided by it (T/(T + S) + S/(T + S) is 1,
// a*e/e is a), but 1 + B/(T + S) and (T + S + B)/(T + S) stay apart, and so do (T + S)^-2 and the
// reciprocal of T^2 + 2*T*S + S^2.
//
// Constant arguments of atoms fold; min and max also where the arguments differ by a constant;
// floor_div, ceil_div and mod also where the quotient is known to be whole. Sizes of axes are taken
// to be whole and not 0 (T/T is 1), nothing else is assumed of them: tri(T) stays an atom. All
// arithmetic is exact on checked 128-bit integers; an exponent beyond 2^31 is an OverflowError, a
// formula of more than 4096 terms a UserError. Values are immutable and may be shared between
// threads.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/base/rational.h"

namespace flopwise {

class Expr;
using Sizes = std::map<std::string, Count, std::less<>>;
using Substitution = std::map<std::string, Expr, std::less<>>;

class Expr {
 public:
  struct Atom;    // all three: terms.h, which only this folder includes
  struct Factor;  // a symbol or an atom
  struct Term;

  Expr() = default;                                         // 0
  Expr(std::int64_t value) : Expr(Rational(value)) {}       // NOLINT(google-explicit-constructor)
  Expr(int value) : Expr(Rational(std::int64_t{value})) {}  // NOLINT(google-explicit-constructor)
  Expr(Count value) : Expr(Rational(value)) {}              // NOLINT(google-explicit-constructor)
  Expr(const Rational& value);                              // NOLINT(google-explicit-constructor)
  // A name: a letter followed by letters, digits, underscores or primes; UserError otherwise.
  static Expr symbol(std::string_view name);

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  // Exact for a divisor of one term; the reciprocal of a sum is an atom. UserError when b is 0.
  friend Expr operator/(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a);
  Expr& operator+=(const Expr& other) { return *this = *this + other; }
  Expr& operator-=(const Expr& other) { return *this = *this - other; }
  Expr& operator*=(const Expr& other) { return *this = *this * other; }
  friend bool operator==(const Expr& a, const Expr& b);
  // A total order on canonical forms, for containers; it says nothing about values.
  friend std::strong_ordering structural_order(const Expr& a, const Expr& b);

  bool is_zero() const { return terms_ == nullptr; }
  std::optional<Rational> constant() const;  // set when no factor occurs
  std::set<std::string> symbols() const;     // also those inside atoms
  bool is_exact() const;                     // no pow atom

  // "18*B*T*D*F", "T*S - 1/2*T^2 + 1/2*T", "2*B*D*F/(X*Y)". Factors in the order
  // B T S R D F N K G H V L E k W C P, then other names, then mesh axes (X Y Z dp fsdp tp cp pp
  // ep), then atoms; terms by falling degree, then the higher power of an earlier factor first. A
  // leading minus is avoided where another term of that degree is positive.
  std::string str() const;
  // The same with \frac, \cdot-free products and \left\lfloor: "18BTDF", "\frac{2BDF}{XY}".
  std::string latex() const;

  // All symbols of `with` at once (so {T: S, S: T} swaps).
  Expr substitute(const Substitution& with) const;

  // The exact value. UserError naming the symbol when a size is missing; OverflowError beyond 128
  // bits (a pow atom with a base other than 0 and 1 overflows soon: see eval_count).
  Rational eval(const Sizes& sizes) const;
  // The value as a whole number of `quantity`, which errors name: overflow, and a remainder
  // (formula and sizes are told). With a pow atom it is the one real-valued count: terms that fit
  // stay exact, the others are summed in double, and the total is rounded to the nearest whole
  // number, half away from zero.
  Count eval_count(const Sizes& sizes, std::string_view quantity) const;
  // The exact value rounded to double; what does not fit into 128 bits is computed in double, and
  // is infinite beyond its range.
  double eval_double(const Sizes& sizes) const;

  // The product of what all terms share (coefficient and factors), and the rest: 4*B*K*H and
  // T*G + S. The coefficient of common is the gcd of the numerators over the lcm of the
  // denominators, positive; a factor has its lowest exponent over all terms, so the rest has whole
  // coefficients and no negative exponents. Of 0 they are 1 and 0.
  struct Factored;
  Factored factor_common() const;

  // "2*B*T*D*F" with sizes B=1, T=8 becomes "2*1*8*4096*16384": what --explain shows between
  // formula and value. A symbol without a size keeps its name.
  std::string str_with(const Sizes& sizes) const;

 private:
  friend struct ExprAccess;  // terms.h
  // In canonical order, no coefficient 0; null stands for 0.
  std::shared_ptr<const std::vector<Term>> terms_;
};

struct Expr::Factored {
  Expr common;
  Expr rest;
};

Expr pow(const Expr& base, std::int64_t exponent);  // exponent may be negative
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr floor_div(const Expr& a, const Expr& b);
Expr ceil_div(const Expr& a, const Expr& b);
Expr mod(const Expr& a, const Expr& b);
Expr tri(const Expr& n);
Expr power(const Expr& base, const Expr& exponent);  // the pow(a,n) atom

// Text to Expr: + - * / ^ parentheses, whole numbers and the atoms above by name. Inverse of str().
// ^ binds tighter than a sign, a sign tighter than * and /; an exponent is a whole number.
// UserError with the column (from 1) of what was not understood; nesting deeper than 200 and text
// longer than 64 KiB are refused.
Expr parse_expr(std::string_view text);

}  // namespace flopwise
