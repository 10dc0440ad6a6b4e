// The atoms: what folds to something simpler, exactly.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/expr/terms.h"

namespace flopwise {

namespace {

struct AtomRow {
  std::string_view name;
  int arity;
};
// In the order of AtomKind.
constexpr AtomRow kAtoms[] = {
    {"min",       2},
    {"max",       2},
    {"floor_div", 2},
    {"ceil_div",  2},
    {"mod",       2},
    {"tri",       1},
    {"pow",       2},
    {"",          1},
};

bool is_whole_valued(const Expr& expr);

bool is_whole_valued(const Expr::Factor& factor) {
  if (factor.symbol != nullptr) return true;  // a size is a Count
  const Expr::Atom& atom = *factor.atom;
  switch (atom.kind) {
    case AtomKind::kFloorDiv:
    case AtomKind::kCeilDiv:
      return true;
    case AtomKind::kMin:
    case AtomKind::kMax:
    case AtomKind::kMod:
    case AtomKind::kTri:
      return is_whole_valued(atom.a) && is_whole_valued(atom.b);
    case AtomKind::kPow:
    case AtomKind::kSum:
      return false;
  }
  return false;
}

// True where the value is a whole number for whole sizes of all axes, as far as the form shows it:
// 1/2*T^2 + 1/2*T is whole too, but that is not seen.
bool is_whole_valued(const Expr& expr) {
  const auto terms = ExprAccess::terms(expr);
  return std::all_of(terms.begin(), terms.end(), [](const Expr::Term& term) {
    return term.coefficient.is_integer() &&
           std::all_of(term.powers.begin(), term.powers.end(), [](const Power& power) {
             return power.exponent > 0 && is_whole_valued(power.factor);
           });
  });
}

enum class Smaller { kFirst, kSecond, kUnknown };

// Decides where the two differ by a constant.
Smaller smaller_of(const Expr& a, const Expr& b) {
  try {
    const std::optional<Rational> difference = (a - b).constant();
    if (!difference) return Smaller::kUnknown;
    return *difference <= Rational(0) ? Smaller::kFirst : Smaller::kSecond;
  } catch (const UserError&) {  // the difference is too large to form
    return Smaller::kUnknown;
  }
}

Expr min_or_max(AtomKind kind, const Expr& a, const Expr& b) {
  switch (smaller_of(a, b)) {
    case Smaller::kFirst:
      return kind == AtomKind::kMin ? a : b;
    case Smaller::kSecond:
      return kind == AtomKind::kMin ? b : a;
    case Smaller::kUnknown:
      break;
  }
  return std::is_lt(structural_order(a, b)) ? atom_power({kind, a, b}, 1)
                                            : atom_power({kind, b, a}, 1);
}

// a/b where it is known to be whole or constant: then rounding and remainder are known as well.
std::optional<Expr> known_quotient(AtomKind kind, const Expr& a, const Expr& b) {
  if (b.is_zero()) {
    throw UserError(fmt::format("division by 0 in {}({}, 0)", atom_name(kind), short_text(a)));
  }
  Expr quotient = a / b;
  if (quotient.constant() || is_whole_valued(quotient)) return quotient;
  return std::nullopt;
}

Expr rounded(AtomKind kind, const Expr& value) {
  const std::optional<Rational> constant = value.constant();
  if (!constant) return value;  // whole
  return kind == AtomKind::kCeilDiv ? ceil(*constant) : floor(*constant);
}

}  // namespace

std::string_view atom_name(AtomKind kind) {
  return kAtoms[static_cast<int>(kind)].name;
}
int atom_arity(AtomKind kind) {
  return kAtoms[static_cast<int>(kind)].arity;
}

Expr atom_power(Expr::Atom atom, std::int64_t exponent) {
  Expr::Factor factor{nullptr, std::make_shared<const Expr::Atom>(std::move(atom))};
  return ExprAccess::of({
      {Rational(1), {{std::move(factor), exponent}}, exponent}
  });
}

Expr make_atom(AtomKind kind, const Expr& a, const Expr& b) {
  switch (kind) {
    case AtomKind::kMin:
      return min(a, b);
    case AtomKind::kMax:
      return max(a, b);
    case AtomKind::kFloorDiv:
      return floor_div(a, b);
    case AtomKind::kCeilDiv:
      return ceil_div(a, b);
    case AtomKind::kMod:
      return mod(a, b);
    case AtomKind::kTri:
      return tri(a);
    case AtomKind::kPow:
      return power(a, b);
    case AtomKind::kSum:
      return a;
  }
  throw InternalError("unknown kind of atom");
}

Expr min(const Expr& a, const Expr& b) {
  return min_or_max(AtomKind::kMin, a, b);
}
Expr max(const Expr& a, const Expr& b) {
  return min_or_max(AtomKind::kMax, a, b);
}

Expr floor_div(const Expr& a, const Expr& b) {
  const std::optional<Expr> quotient = known_quotient(AtomKind::kFloorDiv, a, b);
  return quotient ? rounded(AtomKind::kFloorDiv, *quotient)
                  : atom_power({AtomKind::kFloorDiv, a, b}, 1);
}

Expr ceil_div(const Expr& a, const Expr& b) {
  const std::optional<Expr> quotient = known_quotient(AtomKind::kCeilDiv, a, b);
  return quotient ? rounded(AtomKind::kCeilDiv, *quotient)
                  : atom_power({AtomKind::kCeilDiv, a, b}, 1);
}

Expr mod(const Expr& a, const Expr& b) {
  const std::optional<Expr> quotient = known_quotient(AtomKind::kMod, a, b);
  return quotient ? a - b * rounded(AtomKind::kFloorDiv, *quotient)
                  : atom_power({AtomKind::kMod, a, b}, 1);
}

Expr tri(const Expr& n) {
  const std::optional<Rational> value = n.constant();
  if (!value) return atom_power({AtomKind::kTri, n, 0}, 1);
  if (*value <= Rational(0)) return 0;
  return *value * (*value + Rational(1)) / Rational(2);
}

Expr power(const Expr& base, const Expr& exponent) {
  const std::optional<Rational> fixed_base = base.constant();
  if (fixed_base == Rational(1)) return 1;
  const std::optional<Rational> fixed = exponent.constant();
  if (fixed && fixed->is_integer()) {
    if (*fixed == Rational(0)) return 1;
    if (*fixed == Rational(1)) return base;
    if (base.is_zero()) {
      if (*fixed < Rational(0)) throw UserError("division by 0 in pow(0, " + fixed->str() + ")");
      return 0;
    }
    // A sum is not expanded: (1 - k/E)^1000 is evaluated in double, its thousand terms overflow.
    if (ExprAccess::terms(base).size() == 1 && fixed->num() <= kMaxExponent &&
        fixed->num() >= -kMaxExponent) {
      try {
        return pow(base, static_cast<std::int64_t>(fixed->num()));
      } catch (const OverflowError&) {  // not exact in 128 bits: stays an atom
      }
    }
  }
  return atom_power({AtomKind::kPow, base, exponent}, 1);
}

bool Expr::is_exact() const {
  const auto terms = ExprAccess::terms(*this);
  return std::all_of(terms.begin(), terms.end(), [](const Term& term) {
    return std::all_of(term.powers.begin(), term.powers.end(), [](const Power& p) {
      return p.factor.symbol != nullptr ||
             (!p.factor.is(AtomKind::kPow) && p.factor.atom->a.is_exact() &&
              p.factor.atom->b.is_exact());
    });
  });
}

}  // namespace flopwise
