// Formula and sizes to a number: exactly, as a whole count, or in double.
#include <fmt/format.h>

#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/expr/terms.h"

namespace flopwise {

namespace {

using Term = Expr::Term;

// base^n by squaring: only multiplications, so every machine gets the same double.
double real_power(double base, Int128 exponent) {
  double result = 1;
  double square = base;
  for (Int128 left = exponent; left != 0; left /= 2) {
    if (left % 2 != 0) result *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / result : result;
}

class Evaluator {
 public:
  explicit Evaluator(const Sizes& sizes) : sizes_(sizes) {}

  // OverflowError where a step does not fit into 128 bits.
  Rational exact(const Expr& expr) const {
    Rational total;
    for (const Term& term : ExprAccess::terms(expr)) total = total + exact(term);
    return total;
  }

  Rational exact(const Term& term) const {
    Rational product = term.coefficient;
    // Divisors first: each multiplication then cancels before it can overflow.
    for (const Power& power : term.powers) {
      if (power.exponent < 0) product = product * exact(power, term);
    }
    for (const Power& power : term.powers) {
      if (power.exponent > 0) product = product * exact(power, term);
    }
    return product;
  }

  // The same in double: what is exact stays exact as long as it fits.
  double real(const Expr& expr) const {
    try {
      return exact(expr).to_double();
    } catch (const OverflowError&) {
      double total = 0;
      for (const Term& term : ExprAccess::terms(expr)) total += real(term);
      return total;
    }
  }

  double real(const Term& term) const {
    try {
      return exact(term).to_double();
    } catch (const OverflowError&) {
      double product = term.coefficient.to_double();
      for (const Power& power : term.powers) {
        const double value = real(power.factor);
        if (power.exponent < 0) check_divisor(value, term, power.factor);
        product *= real_power(value, power.exponent);
      }
      return product;
    }
  }

 private:
  Rational exact(const Power& power, const Term& term) const {
    const Rational value = exact(power.factor);
    if (power.exponent == 1) return value;
    if (power.exponent < 0) check_divisor(value, term, power.factor);
    return pow(value, power.exponent);
  }

  Rational exact(const Expr::Factor& factor) const {
    if (factor.symbol == nullptr) return exact(*factor.atom);
    const auto size = sizes_.find(factor.symbol->name);
    if (size == sizes_.end()) {
      throw UserError(fmt::format("no size for axis {}", quoted(factor.symbol->name)));
    }
    return Rational(size->second);
  }

  Rational exact(const Expr::Atom& atom) const {
    const Rational a = exact(atom.a);
    const Rational b = exact(atom.b);
    switch (atom.kind) {
      case AtomKind::kMin:
        return a < b ? a : b;
      case AtomKind::kMax:
        return a < b ? b : a;
      case AtomKind::kFloorDiv:
        check_divisor(b, atom);
        return floor(a / b);
      case AtomKind::kCeilDiv:
        check_divisor(b, atom);
        return ceil(a / b);
      case AtomKind::kMod:
        check_divisor(b, atom);
        return a - b * floor(a / b);
      case AtomKind::kTri:
        if (a <= Rational(0)) return 0;
        return a * (a + Rational(1)) / Rational(2);
      case AtomKind::kPow:
        return exact_power(atom, a, whole_exponent(atom, b));
      case AtomKind::kSum:
        return a;
    }
    throw InternalError("unknown kind of atom");
  }

  double real(const Expr::Factor& factor) const {
    try {
      return exact(factor).to_double();
    } catch (const OverflowError&) {
      if (factor.symbol != nullptr) throw;
    }
    const Expr::Atom& atom = *factor.atom;
    const double a = real(atom.a);
    const double b = real(atom.b);
    switch (atom.kind) {
      case AtomKind::kMin:
        return std::fmin(a, b);
      case AtomKind::kMax:
        return std::fmax(a, b);
      case AtomKind::kFloorDiv:
        check_divisor(b, atom);
        return std::floor(a / b);
      case AtomKind::kCeilDiv:
        check_divisor(b, atom);
        return std::ceil(a / b);
      case AtomKind::kMod:
        check_divisor(b, atom);
        return a - b * std::floor(a / b);
      case AtomKind::kTri:
        return a <= 0 ? 0 : a * (a + 1) / 2;
      case AtomKind::kPow:
        return real_power(a, whole_exponent(atom, exact(atom.b)));
      case AtomKind::kSum:
        return a;
    }
    throw InternalError("unknown kind of atom");
  }

  template <typename Number>
  static void check_divisor(const Number& value, const Term& term, const Expr::Factor& factor) {
    if (value == Number(0)) throw_division_by_zero(ExprAccess::of({term}), factor_text(factor));
  }

  template <typename Number>
  static void check_divisor(const Number& value, const Expr::Atom& atom) {
    if (value == Number(0)) throw_division_by_zero(expr_of(atom), short_text(atom.b));
  }

  static Expr expr_of(const Expr::Atom& atom) { return atom_power(atom, 1); }

  Int128 whole_exponent(const Expr::Atom& atom, const Rational& exponent) const {
    if (!exponent.is_integer()) {
      throw UserError(fmt::format("the exponent of {} is {}, not a whole number",
                                  short_text(expr_of(atom)), exponent.str()));
    }
    return exponent.num();
  }

  Rational exact_power(const Expr::Atom& atom, const Rational& base, Int128 exponent) const {
    if (exponent == 0 || base == Rational(1)) return 1;
    if (base == Rational(-1)) return exponent % 2 == 0 ? 1 : -1;
    if (base == Rational(0)) {
      if (exponent < 0) throw_division_by_zero(expr_of(atom), short_text(atom.a));
      return 0;
    }
    if (exponent > 127 || exponent < -127) throw OverflowError("a power beyond 128 bits");
    return pow(base, static_cast<std::int64_t>(exponent));
  }

  const Sizes& sizes_;
};

// " at T=3, X=2": the sizes that occur.
std::string at_sizes(const Expr& expr, const Sizes& sizes) {
  std::string text;
  for (const SymbolName* symbol : symbols_of(expr)) {
    const auto size = sizes.find(symbol->name);
    if (size == sizes.end()) continue;
    text += fmt::format("{}{}={}", text.empty() ? " at " : ", ", symbol->name, size->second.str());
  }
  return text;
}

OverflowError does_not_fit(const Expr& expr, const Sizes& sizes) {
  return OverflowError(short_text(expr) + " does not fit into 128 bits" + at_sizes(expr, sizes));
}

// Half away from zero.
Rational rounded_half_away(const Rational& value) {
  const Rational half = Rational::of(1, 2);
  return value < Rational(0) ? ceil(value - half) : floor(value + half);
}

Rational exact_sum(const Evaluator& evaluator, const Expr& expr) {
  Rational sum;
  for (const Term& term : ExprAccess::terms(expr)) sum = sum + evaluator.exact(term);
  return sum;
}

// A total with pow atoms: exact where it fits 128 bits, else its pow terms summed in double;
// rounded once.
Count rounded_count(const Expr& expr, const Sizes& sizes) {
  const Evaluator evaluator(sizes);
  try {
    return Count::of(rounded_half_away(exact_sum(evaluator, expr)).num());
  } catch (const OverflowError&) {
    // A power of a rational outgrows 128 bits long before its value does.
  }
  Expr exact_terms;
  double real_part = 0;
  for (const Term& term : ExprAccess::terms(expr)) {
    const Expr one = ExprAccess::of({term});
    if (one.is_exact()) {
      exact_terms += one;
    } else {
      real_part += evaluator.real(term);
    }
  }
  // The whole numbers stay exact even where they are too large for a double.
  const Rational exact_part = exact_sum(evaluator, exact_terms);
  const Rational whole = exact_part < Rational(0) ? ceil(exact_part) : floor(exact_part);
  real_part = std::round(real_part + (exact_part - whole).to_double());
  constexpr double kLimit = 170141183460469231731687303715884105728.0;    // 2^127
  if (!(std::fabs(real_part) < kLimit)) throw does_not_fit(expr, sizes);  // NaN included
  return Count::of(checked_add(whole.num(), static_cast<Int128>(real_part)));
}

}  // namespace

void throw_division_by_zero(const Expr& where, std::string_view divisor) {
  throw UserError(fmt::format("division by 0 in {} with {} = 0", short_text(where), divisor));
}

Rational Expr::eval(const Sizes& sizes) const {
  try {
    return Evaluator(sizes).exact(*this);
  } catch (const OverflowError&) {
    throw does_not_fit(*this, sizes);
  }
}

Count Expr::eval_count(const Sizes& sizes, std::string_view quantity) const {
  return in_context(quantity, [&] {
    if (!is_exact()) {
      try {
        return rounded_count(*this, sizes);
      } catch (const OverflowError&) {
        throw does_not_fit(*this, sizes);
      }
    }
    const Rational value = eval(sizes);
    if (!value.is_integer()) {
      throw UserError(
          fmt::format("{} is not a whole number{}", short_text(*this), at_sizes(*this, sizes)));
    }
    return Count::of(value.num());
  });
}

double Expr::eval_double(const Sizes& sizes) const {
  return Evaluator(sizes).real(*this);
}

}  // namespace flopwise
