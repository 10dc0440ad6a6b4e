// What an Expr is made of. Only this folder includes it; everyone else sees expr.h.
//
// Expr = sorted terms; term = coefficient and sorted powers; power = factor and exponent, never 0.
// Powers are sorted by factor (B T S R D F ..., other names, X Y Z ..., atoms), terms by falling
// degree and then by the first factor whose exponents differ, the higher exponent first. That is a
// monomial order, so a sum times one term stays sorted.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/rational.h"
#include "flopwise/expr/expr.h"

namespace flopwise {

// A name, stored once for the whole program: equal names have equal addresses.
struct SymbolName {
  std::string name;
  int rank;  // the place in the order of axes; names outside it share one rank
};

// UserError unless `name` is a letter followed by letters, digits, underscores or primes.
const SymbolName* intern_symbol(std::string_view name);
bool is_name_start(char c);
bool is_name_part(char c);

enum class AtomKind { kMin, kMax, kFloorDiv, kCeilDiv, kMod, kTri, kPow, kSum };

struct Expr::Atom {
  AtomKind kind;
  Expr a;
  Expr b;  // 0 for kTri and kSum, which take one argument
};

// Exactly one of the two is set.
struct Expr::Factor {
  const SymbolName* symbol = nullptr;
  std::shared_ptr<const Atom> atom;

  bool is(AtomKind kind) const { return atom != nullptr && atom->kind == kind; }
};

struct Power {
  Expr::Factor factor;
  std::int64_t exponent;  // a kSum factor only has negative ones: positive powers are expanded
};

struct Expr::Term {
  Rational coefficient;
  std::vector<Power> powers;
  std::int64_t degree = 0;  // sum of all exponents

  bool has_reciprocal() const { return !powers.empty() && powers.back().factor.is(AtomKind::kSum); }
};

// The only way to the terms of an Expr.
struct ExprAccess {
  static std::span<const Expr::Term> terms(const Expr& expr) {
    if (expr.terms_ == nullptr) return {};
    return *expr.terms_;
  }
  // Terms that are canonical already.
  static Expr of(std::vector<Expr::Term> terms);
  static bool is_same_object(const Expr& a, const Expr& b) { return a.terms_ == b.terms_; }
};

// Less means: printed first.
std::strong_ordering factor_order(const Expr::Factor& a, const Expr::Factor& b);
std::strong_ordering term_order(const Expr::Term& a, const Expr::Term& b);

// The sum of all, in one pass: what a loop of += would give, without its quadratic time.
Expr sum_of(std::span<const Expr> addends);

// The atom of that kind, folded where that is exact; for kSum, `a` itself.
Expr make_atom(AtomKind kind, const Expr& a, const Expr& b);
// `atom` as it is, unfolded, to the power of `exponent`.
Expr atom_power(Expr::Atom atom, std::int64_t exponent);

// "min" ... "pow"; empty for kSum.
std::string_view atom_name(AtomKind kind);
int atom_arity(AtomKind kind);

// All names that occur, those inside atoms included, each once, in the order of axes.
std::vector<const SymbolName*> symbols_of(const Expr& expr);

// str(), cut with "…" to about 120 characters: for messages.
std::string short_text(const Expr& expr);
std::string factor_text(const Expr::Factor& factor);
// What the many users of a zero divisor throw: "division by 0 in B/X with X = 0".
[[noreturn]] void throw_division_by_zero(const Expr& where, std::string_view divisor);

// One product or sum may not have more terms than this: formulas of transformers have a hundred,
// and text such as (a+b+c+...)^60 must not take the machine down.
inline constexpr std::size_t kMaxTerms = 4096;
inline constexpr std::size_t kMaxTermPairs = 65536;
// Exponents beyond this are an OverflowError.
inline constexpr std::int64_t kMaxExponent = std::int64_t{1} << 31;

}  // namespace flopwise
