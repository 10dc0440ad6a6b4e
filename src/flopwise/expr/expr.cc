// The algebra: sums, products, powers, reciprocals of sums, substitution.
#include "flopwise/expr/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/expr/terms.h"

namespace flopwise {

namespace {

using Term = Expr::Term;
using Terms = std::vector<Term>;

// How far an exact division of sums is tried, in pairs of terms; a longer one stays a quotient.
constexpr std::size_t kMaxDivisionPairs = 65536;

bool before(const Term& a, const Term& b) {
  return std::is_lt(term_order(a, b));
}

std::int64_t checked_exponent(Int128 exponent) {
  if (exponent > kMaxExponent || exponent < -kMaxExponent) {
    throw OverflowError(fmt::format("exponent {} is beyond {}", digits(exponent), kMaxExponent));
  }
  return static_cast<std::int64_t>(exponent);
}

Term constant_term(const Rational& value) {
  return Term{value, {}, 0};
}

Term make_term(const Rational& coefficient, std::vector<Power> powers) {
  std::int64_t degree = 0;
  for (const Power& power : powers) degree += power.exponent;
  return Term{coefficient, std::move(powers), degree};
}

bool has_reciprocal(std::span<const Term> terms) {
  return std::any_of(terms.begin(), terms.end(), [](const Term& t) { return t.has_reciprocal(); });
}

bool is_one(std::span<const Term> terms) {
  return terms.size() == 1 && terms[0].powers.empty() && terms[0].coefficient == Rational(1);
}

[[noreturn]] void throw_too_many_terms() {
  throw UserError(fmt::format("a formula of more than {} terms", kMaxTerms));
}

void check_term_count(std::size_t count) {
  if (count > kMaxTerms) throw_too_many_terms();
}

// a's powers times b's powers to the `sign` (1 or -1).
std::vector<Power> merge_powers(std::span<const Power> a, std::span<const Power> b,
                                std::int64_t sign = 1) {
  std::vector<Power> merged;
  merged.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const std::strong_ordering order = factor_order(i->factor, j->factor);
    if (std::is_lt(order)) {
      merged.push_back(*i++);
    } else if (std::is_gt(order)) {
      merged.push_back({j->factor, sign * j->exponent});
      ++j;
    } else {
      const std::int64_t exponent =
          checked_exponent(Int128{i->exponent} + Int128{sign} * j->exponent);
      if (exponent != 0) merged.push_back({i->factor, exponent});
      ++i;
      ++j;
    }
  }
  merged.insert(merged.end(), i, a.end());
  for (; j != b.end(); ++j) merged.push_back({j->factor, sign * j->exponent});
  return merged;
}

Term operator*(const Term& a, const Term& b) {
  return make_term(a.coefficient * b.coefficient, merge_powers(a.powers, b.powers));
}

Term quotient(const Term& a, const Term& b) {
  return make_term(a.coefficient / b.coefficient, merge_powers(a.powers, b.powers, -1));
}

// Sorts and adds up like terms.
Terms collected(Terms terms) {
  if (!std::is_sorted(terms.begin(), terms.end(), before)) {
    std::sort(terms.begin(), terms.end(), before);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < terms.size();) {
    std::size_t next = i + 1;
    while (next < terms.size() && std::is_eq(term_order(terms[i], terms[next]))) {
      terms[i].coefficient = terms[i].coefficient + terms[next].coefficient;
      ++next;
    }
    if (terms[i].coefficient != Rational(0)) {
      if (kept != i) terms[kept] = std::move(terms[i]);
      ++kept;
    }
    i = next;
  }
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(kept), terms.end());
  check_term_count(terms.size());
  return terms;
}

// The sum of two collected lists.
Terms merge_terms(std::span<const Term> a, std::span<const Term> b) {
  Terms merged;
  merged.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    const std::strong_ordering order = term_order(*i, *j);
    if (std::is_lt(order)) {
      merged.push_back(*i++);
    } else if (std::is_gt(order)) {
      merged.push_back(*j++);
    } else {
      const Rational coefficient = i->coefficient + j->coefficient;
      if (coefficient != Rational(0)) merged.push_back({coefficient, i->powers, i->degree});
      ++i;
      ++j;
    }
  }
  merged.insert(merged.end(), i, a.end());
  merged.insert(merged.end(), j, b.end());
  check_term_count(merged.size());
  return merged;
}

Int128 greatest_common_divisor(Int128 a, Int128 b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a < 0 ? checked_sub(0, a) : a;
}

// What all terms share: the gcd of the numerators over the lcm of the denominators, and of each
// factor the lowest exponent, where a factor that is missing has exponent 0. Divided by it, the
// terms have whole coefficients and no negative exponents.
Term common_term(std::span<const Term> terms) {
  Int128 numerator = 0;
  Int128 denominator = 1;
  std::vector<Power> lowest = terms[0].powers;
  for (const Term& term : terms) {
    numerator = greatest_common_divisor(numerator, term.coefficient.num());
    const Int128 den = term.coefficient.den();
    denominator = checked_mul(denominator, den / greatest_common_divisor(denominator, den));
    std::vector<Power> next;
    auto i = lowest.begin();
    auto j = term.powers.begin();
    while (i != lowest.end() || j != term.powers.end()) {
      const std::strong_ordering order = j == term.powers.end() ? std::strong_ordering::less
                                         : i == lowest.end()    ? std::strong_ordering::greater
                                                             : factor_order(i->factor, j->factor);
      const Expr::Factor& factor = std::is_lteq(order) ? i->factor : j->factor;
      const std::int64_t a = std::is_lteq(order) ? (i++)->exponent : 0;
      const std::int64_t b = std::is_gteq(order) ? (j++)->exponent : 0;
      if (std::min(a, b) != 0) next.push_back({factor, std::min(a, b)});
    }
    lowest = std::move(next);
  }
  return make_term(Rational::of(numerator, denominator), std::move(lowest));
}

Terms divided(std::span<const Term> terms, const Term& divisor) {
  Terms result;
  result.reserve(terms.size());
  for (const Term& term : terms) result.push_back(quotient(term, divisor));
  return result;  // still sorted: the order of terms survives a common factor
}

// numerator / divisor where that is a sum without remainder. Long division by the leading term,
// which finds the quotient if there is one. The divisor is primitive, as every kSum is.
std::optional<Terms> exact_quotient(std::span<const Term> numerator,
                                    std::span<const Term> divisor) {
  if (numerator.size() < 2) return std::nullopt;
  const auto is_divisible = [](const Term& a, const Term& b) {
    const std::vector<Power> powers = merge_powers(a.powers, b.powers, -1);
    return std::all_of(powers.begin(), powers.end(), [](const Power& p) { return p.exponent > 0; });
  };
  try {
    const Term common = common_term(numerator);
    Terms rest = divided(numerator, common);
    if (!is_divisible(rest.back(), divisor.back())) return std::nullopt;
    Terms result;
    while (!rest.empty()) {
      if ((result.size() + 1) * divisor.size() > kMaxDivisionPairs) return std::nullopt;
      if (!is_divisible(rest.front(), divisor.front())) return std::nullopt;
      const Term step = quotient(rest.front(), divisor.front());
      Terms product;
      product.reserve(divisor.size());
      for (const Term& term : divisor) product.push_back(term * step);
      for (Term& term : product) term.coefficient = -term.coefficient;
      rest = merge_terms(rest, product);
      result.push_back(step * common);
    }
    return result;
  } catch (const UserError&) {  // too large to try; it stays a quotient
    return std::nullopt;
  }
}

// Terms over one denominator, a product of reciprocal sums.
struct Fraction {
  std::vector<Power> denominator;
  std::int64_t degree;  // of the denominator, negative
  Terms numerator;
};

// Cancels reciprocal sums: the terms over one denominator, taken together, are divided by each of
// its sums where that leaves no remainder. T/(T + S) + S/(T + S) becomes 1.
Terms cancelled(Terms terms) {
  std::vector<Fraction> open;
  const auto add = [&open](std::vector<Power> denominator, Terms numerator) {
    for (Fraction& fraction : open) {
      const bool same = std::equal(
          denominator.begin(), denominator.end(), fraction.denominator.begin(),
          fraction.denominator.end(), [](const Power& a, const Power& b) {
            return a.exponent == b.exponent && std::is_eq(factor_order(a.factor, b.factor));
          });
      if (!same) continue;
      std::move(numerator.begin(), numerator.end(), std::back_inserter(fraction.numerator));
      return;
    }
    std::int64_t degree = 0;
    for (const Power& power : denominator) degree += power.exponent;
    open.push_back({std::move(denominator), degree, std::move(numerator)});
  };
  for (Term& term : terms) {
    const auto first_sum =
        std::find_if(term.powers.begin(), term.powers.end(),
                     [](const Power& power) { return power.factor.is(AtomKind::kSum); });
    std::vector<Power> denominator(first_sum, term.powers.end());
    term.powers.erase(first_sum, term.powers.end());
    add(std::move(denominator), {make_term(term.coefficient, std::move(term.powers))});
  }

  Terms result;
  while (!open.empty()) {
    // The largest denominator first: what cancels lands in a smaller one.
    const auto largest =
        std::min_element(open.begin(), open.end(),
                         [](const Fraction& a, const Fraction& b) { return a.degree < b.degree; });
    Fraction fraction = std::move(*largest);
    open.erase(largest);
    fraction.numerator = collected(std::move(fraction.numerator));
    bool is_done = true;
    for (std::size_t i = 0; i < fraction.denominator.size() && is_done; ++i) {
      std::optional<Terms> reduced = exact_quotient(
          fraction.numerator, ExprAccess::terms(fraction.denominator[i].factor.atom->a));
      if (!reduced) continue;
      std::vector<Power> denominator = fraction.denominator;
      if (++denominator[i].exponent == 0) {
        denominator.erase(denominator.begin() + static_cast<std::ptrdiff_t>(i));
      }
      add(std::move(denominator), std::move(*reduced));
      is_done = false;
    }
    if (!is_done) continue;
    for (const Term& term : fraction.numerator) {
      result.push_back(
          make_term(term.coefficient, merge_powers(term.powers, fraction.denominator)));
    }
  }
  return collected(std::move(result));
}

// Any terms to an Expr.
Expr canonical(Terms terms) {
  terms = collected(std::move(terms));
  if (terms.size() > 1 && has_reciprocal(terms)) terms = cancelled(std::move(terms));
  return ExprAccess::of(std::move(terms));
}

Expr expr_of(const Term& term) {
  return ExprAccess::of({term});
}

// The power of one term. A reciprocal sum with a negative exponent becomes the sum again.
Expr power_of_term(const Term& term, std::int64_t exponent) {
  std::vector<Power> powers;
  powers.reserve(term.powers.size());
  Expr sums = 1;
  for (const Power& power : term.powers) {
    const std::int64_t product = checked_exponent(Int128{power.exponent} * exponent);
    if (power.factor.is(AtomKind::kSum) && product > 0) {
      sums *= pow(power.factor.atom->a, product);
    } else {
      powers.push_back({power.factor, product});
    }
  }
  return expr_of(make_term(pow(term.coefficient, exponent), std::move(powers))) * sums;
}

// sum^-exponent for a sum of at least two terms.
Expr reciprocal_of_sum(const Expr& sum, std::int64_t exponent) {
  auto [common, rest] = sum.factor_common();
  if (ExprAccess::terms(rest).size() < 2) return pow(common, -exponent) * pow(rest, -exponent);
  if (ExprAccess::terms(rest)[0].coefficient < Rational(0)) {
    rest = -rest;
    common = -common;
  }
  return pow(common, -exponent) * atom_power({AtomKind::kSum, rest, 0}, -exponent);
}

}  // namespace

Expr ExprAccess::of(std::vector<Expr::Term> terms) {
  Expr result;
  if (!terms.empty()) {
    result.terms_ = std::make_shared<const std::vector<Expr::Term>>(std::move(terms));
  }
  return result;
}

Expr::Expr(const Rational& value) {
  if (value != Rational(0)) *this = ExprAccess::of({constant_term(value)});
}

Expr Expr::symbol(std::string_view name) {
  return ExprAccess::of({
      Term{Rational(1), {{{intern_symbol(name), nullptr}, 1}}, 1}
  });
}

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  Terms terms = merge_terms(ExprAccess::terms(a), ExprAccess::terms(b));
  if (terms.size() > 1 && has_reciprocal(terms)) terms = cancelled(std::move(terms));
  return ExprAccess::of(std::move(terms));
}

Expr operator-(const Expr& a) {
  Terms terms(ExprAccess::terms(a).begin(), ExprAccess::terms(a).end());
  for (Term& term : terms) term.coefficient = -term.coefficient;
  return ExprAccess::of(std::move(terms));
}

Expr operator-(const Expr& a, const Expr& b) {
  return a + -b;
}

Expr operator*(const Expr& a, const Expr& b) {
  const auto a_terms = ExprAccess::terms(a);
  const auto b_terms = ExprAccess::terms(b);
  if (is_one(a_terms)) return b;
  if (is_one(b_terms)) return a;
  if (a_terms.size() * b_terms.size() > kMaxTermPairs) throw_too_many_terms();
  Terms terms;
  terms.reserve(a_terms.size() * b_terms.size());
  for (const Term& x : a_terms) {
    for (const Term& y : b_terms) terms.push_back(x * y);
  }
  // Times one term without sums in it, everything stays sorted and nothing new cancels.
  const bool a_is_plain = a_terms.size() == 1 && !a_terms[0].has_reciprocal();
  const bool b_is_plain = b_terms.size() == 1 && !b_terms[0].has_reciprocal();
  if (a_is_plain || b_is_plain || terms.size() == 1) return ExprAccess::of(std::move(terms));
  return canonical(std::move(terms));
}

Expr operator/(const Expr& a, const Expr& b) {
  if (b.is_zero()) throw UserError("division by 0");
  return a * pow(b, -1);
}

Expr sum_of(std::span<const Expr> addends) {
  Terms terms;
  for (const Expr& addend : addends) {
    const auto more = ExprAccess::terms(addend);
    terms.insert(terms.end(), more.begin(), more.end());
  }
  return canonical(std::move(terms));
}

Expr pow(const Expr& base, std::int64_t exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1) return base;
  const auto terms = ExprAccess::terms(base);
  if (terms.empty()) {
    if (exponent < 0) throw UserError("division by 0");
    return 0;
  }
  checked_exponent(exponent);
  if (terms.size() == 1) return power_of_term(terms[0], exponent);
  if (exponent < 0) return reciprocal_of_sum(base, -exponent);
  Expr result = 1;
  Expr square = base;
  for (std::int64_t left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1) result *= square;
    if (left > 1) square *= square;
  }
  return result;
}

std::optional<Rational> Expr::constant() const {
  const auto terms = ExprAccess::terms(*this);
  if (terms.empty()) return Rational(0);
  if (terms.size() == 1 && terms[0].powers.empty()) return terms[0].coefficient;
  return std::nullopt;
}

std::set<std::string> Expr::symbols() const {
  std::set<std::string> names;
  for (const SymbolName* symbol : symbols_of(*this)) names.insert(symbol->name);
  return names;
}

Expr::Factored Expr::factor_common() const {
  const auto terms = ExprAccess::terms(*this);
  if (terms.empty()) return {1, 0};
  Term common = common_term(terms);
  const Terms rest = divided(terms, common);
  // Over a reciprocal sum in `common`, terms of the rest are left with that sum as a factor.
  if (!has_reciprocal(rest)) return {expr_of(common), ExprAccess::of(rest)};
  std::vector<Expr> expanded;
  for (const Term& term : rest) {
    std::vector<Power> powers;
    Expr sums = 1;
    for (const Power& power : term.powers) {
      if (power.factor.is(AtomKind::kSum)) {
        sums *= pow(power.factor.atom->a, power.exponent);
      } else {
        powers.push_back(power);
      }
    }
    expanded.push_back(expr_of(make_term(term.coefficient, std::move(powers))) * sums);
  }
  const Factored inner = sum_of(expanded).factor_common();
  return {expr_of(common) * inner.common, inner.rest};
}

Expr Expr::substitute(const Substitution& with) const {
  bool is_changed = false;
  std::vector<Expr> parts;
  for (const Term& term : ExprAccess::terms(*this)) {
    std::vector<Power> kept;
    Expr replaced = 1;
    for (const Power& power : term.powers) {
      Expr value;
      if (power.factor.symbol != nullptr) {
        const auto found = with.find(power.factor.symbol->name);
        if (found == with.end()) {
          kept.push_back(power);
          continue;
        }
        value = found->second;
      } else {
        const Atom& atom = *power.factor.atom;
        const Expr a = atom.a.substitute(with);
        const Expr b = atom.b.substitute(with);
        if (ExprAccess::is_same_object(a, atom.a) && ExprAccess::is_same_object(b, atom.b)) {
          kept.push_back(power);
          continue;
        }
        value = make_atom(atom.kind, a, b);
      }
      is_changed = true;
      if (value.is_zero() && power.exponent < 0) {
        throw_division_by_zero(expr_of(term), factor_text(power.factor));
      }
      replaced *= pow(value, power.exponent);
    }
    parts.push_back(expr_of(make_term(term.coefficient, std::move(kept))) * replaced);
  }
  return is_changed ? sum_of(parts) : *this;
}

}  // namespace flopwise
