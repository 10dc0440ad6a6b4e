// Laws that hold for every formula, on random ones (RapidCheck).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/expr/expr.h"

namespace flopwise {
namespace {

constexpr const char* kNames[] = {"T", "S", "G", "X", "dp", "u"};

// One of min ... max, at every size: RapidCheck would start with ranges of one number.
std::int64_t pick(std::int64_t min, std::int64_t max) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(min, max + 1));
}

Sizes arbitrary_sizes() {
  Sizes sizes;
  for (const char* name : kNames) sizes.emplace(name, pick(1, 7));
  return sizes;
}

Expr arbitrary_symbol() {
  return Expr::symbol(kNames[pick(0, std::size(kNames) - 1)]);
}

Rational arbitrary_constant() {
  return Rational::of(pick(-6, 6), pick(1, 3));
}

// What a random formula may hold besides sums, products and powers of symbols.
enum class Forms { kLaurent, kAtoms, kReciprocals };

Expr arbitrary_expr(Forms forms, int depth = 2);

Expr arbitrary_nonzero(Forms forms, int depth = 2) {
  const Expr expr = arbitrary_expr(forms, depth);
  return expr.is_zero() ? arbitrary_symbol() : expr;
}

Expr arbitrary_factor(Forms forms, int depth) {
  const std::int64_t last = forms == Forms::kLaurent ? 3 : forms == Forms::kAtoms ? 10 : 13;
  const std::int64_t choice = pick(0, last);
  if (choice < 4 || depth == 0) return pow(arbitrary_symbol(), choice % 4 == 0 ? -1 : choice);
  const Expr a = arbitrary_expr(forms, depth - 1);
  const Expr b = arbitrary_nonzero(forms, depth - 1);
  switch (choice) {
    case 4:
      return min(a, b);
    case 5:
      return max(a, b);
    case 6:
      return floor_div(a, b);
    case 7:
      return ceil_div(a, b);
    case 8:
      return mod(a, b);
    case 9:
      return tri(a);
    case 10:
      return power(arbitrary_constant() + Rational(7), max(arbitrary_symbol(), 2));
    default:
      return pow(b, -pick(1, 2));
  }
}

Expr arbitrary_expr(Forms forms, int depth) {
  Expr sum;
  for (std::int64_t terms = pick(0, 3); terms > 0; --terms) {
    Expr product = arbitrary_constant();
    for (std::int64_t factors = pick(0, 2); factors > 0; --factors) {
      product *= arbitrary_factor(forms, depth);
    }
    sum += product;
  }
  return sum;
}

// With one canonical form, unlike reciprocals of sums.
Forms canonical_forms() {
  return pick(0, 1) == 0 ? Forms::kLaurent : Forms::kAtoms;
}

Forms arbitrary_forms() {
  constexpr Forms kForms[] = {Forms::kLaurent, Forms::kAtoms, Forms::kReciprocals};
  return kForms[pick(0, 2)];
}

// nullopt where some divisor is 0 or the value is beyond 128 bits.
std::optional<Rational> value_of(const Expr& expr, const Sizes& sizes) {
  try {
    return expr.eval(sizes);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

// Random formulas overflow at times; such a case says nothing. No other error is expected.
template <typename Body>
void unless_overflow(Body&& body) {
  try {
    body();
  } catch (const OverflowError&) {
    RC_SUCCEED("overflow");
  }
}

// Everything but reciprocals of sums has one canonical form, so the laws hold for ==.
RC_GTEST_PROP(ExprProperty, RingLaws, ()) {
  unless_overflow([] {
    const Forms forms = canonical_forms();
    const Expr a = arbitrary_expr(forms);
    const Expr b = arbitrary_expr(forms);
    const Expr c = arbitrary_expr(forms);
    RC_ASSERT(a + b == b + a);
    RC_ASSERT((a + b) + c == a + (b + c));
    RC_ASSERT(a + 0 == a);
    RC_ASSERT(a - a == 0);
    RC_ASSERT(a - b == -(b - a));
    RC_ASSERT(a * b == b * a);
    RC_ASSERT((a * b) * c == a * (b * c));
    RC_ASSERT(a * 1 == a);
    RC_ASSERT(a * 0 == 0);
    RC_ASSERT(a * (b + c) == a * b + a * c);
    RC_ASSERT(pow(a, 3) == a * a * a);
  });
}

RC_GTEST_PROP(ExprProperty, EvalIsAHomomorphism, ()) {
  unless_overflow([] {
    const Forms forms = arbitrary_forms();
    const Sizes sizes = arbitrary_sizes();
    const Expr a = arbitrary_expr(forms);
    const Expr b = arbitrary_expr(forms);
    const std::optional<Rational> x = value_of(a, sizes);
    const std::optional<Rational> y = value_of(b, sizes);
    if (!x || !y) return;
    RC_ASSERT((a + b).eval(sizes) == *x + *y);
    RC_ASSERT((a - b).eval(sizes) == *x - *y);
    RC_ASSERT((a * b).eval(sizes) == *x * *y);
    RC_ASSERT(pow(a, 2).eval(sizes) == *x * *x);
    if (*y == Rational(0)) return;
    RC_ASSERT((a / b).eval(sizes) == *x / *y);
  });
}

RC_GTEST_PROP(ExprProperty, QuotientsCancel, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(canonical_forms());
    const Expr b = arbitrary_nonzero(canonical_forms());
    RC_ASSERT(b / b == 1);
    RC_ASSERT((a * b) / b == a);
    RC_ASSERT(1 / (1 / b) == b);
  });
}

RC_GTEST_PROP(ExprProperty, PrintAndParseAreInverse, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Expr parsed = parse_expr(a.str());
    RC_ASSERT(parsed.str() == a.str());
    RC_ASSERT(parsed == a);
  });
}

RC_GTEST_PROP(ExprProperty, StrWithSizesIsTheValue, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Sizes sizes = arbitrary_sizes();
    const std::optional<Rational> value = value_of(a, sizes);
    if (!value) return;
    RC_ASSERT(parse_expr(a.str_with(sizes)).eval({}) == *value);
  });
}

RC_GTEST_PROP(ExprProperty, SubstitutionCommutesWithEvaluation, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Sizes sizes = arbitrary_sizes();
    // Values have to be whole to be sizes: products and sums of symbols.
    const Expr for_t = arbitrary_symbol() * arbitrary_symbol() + pick(0, 2);
    const Expr for_x = arbitrary_symbol();
    Sizes replaced = sizes;
    replaced["T"] = for_t.eval_count(sizes, "T");
    replaced["X"] = for_x.eval_count(sizes, "X");
    const std::optional<Rational> expected = value_of(a, replaced);
    if (!expected) return;
    RC_ASSERT(a.substitute({
                               {"T", for_t},
                               {"X", for_x}
    })
                  .eval(sizes) == *expected);
  });
}

RC_GTEST_PROP(ExprProperty, SubstitutingNumbersIsEvaluation, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Sizes sizes = arbitrary_sizes();
    const std::optional<Rational> value = value_of(a, sizes);
    if (!value) return;
    Substitution numbers;
    for (const auto& [name, size] : sizes) numbers.emplace(name, size);
    RC_ASSERT(a.substitute(numbers).eval({}) == *value);
  });
}

RC_GTEST_PROP(ExprProperty, CommonFactorTimesRestIsTheSame, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Sizes sizes = arbitrary_sizes();
    const auto [common, rest] = a.factor_common();
    const std::optional<Rational> value = value_of(a, sizes);
    if (!value) return;
    RC_ASSERT(common.eval(sizes) * rest.eval(sizes) == *value);
    // Nothing is left to take out.
    RC_ASSERT(rest.is_zero() || rest.factor_common().common == 1);
    RC_ASSERT(rest.factor_common().rest == rest);
  });
}

// Terms in any order, added one by one: one form, and the value of their sum.
RC_GTEST_PROP(ExprProperty, CollectingKeepsTheValue, ()) {
  unless_overflow([] {
    const Sizes sizes = arbitrary_sizes();
    std::vector<Expr> parts;
    for (int i = 0; i < 6; ++i) parts.push_back(arbitrary_expr(Forms::kAtoms, 1));
    Rational value;
    for (const Expr& part : parts) {
      const std::optional<Rational> addend = value_of(part, sizes);
      if (!addend) return;
      value = value + *addend;
    }
    Expr forwards;
    for (const Expr& part : parts) forwards += part;
    std::reverse(parts.begin(), parts.end());
    Expr backwards;
    for (const Expr& part : parts) backwards += part;
    RC_ASSERT(forwards == backwards);
    RC_ASSERT(forwards.eval(sizes) == value);
    RC_ASSERT(forwards + Expr(0) == forwards);
  });
}

RC_GTEST_PROP(ExprProperty, AtomsAgreeWithPlainIntegers, ()) {
  const auto a = pick(-50, 50);
  const auto b = pick(-20, 20);
  const Sizes sizes = {
      {"a", a},
      {"b", b}
  };
  const Expr x = Expr::symbol("a");
  const Expr y = Expr::symbol("b");
  const auto agree = [&sizes](const Expr& symbolic, const Expr& folded, std::int64_t expected) {
    RC_ASSERT(symbolic.eval(sizes) == Rational(expected));
    RC_ASSERT(folded == expected);
  };
  agree(min(x, y), min(Expr(a), Expr(b)), std::min(a, b));
  agree(max(x, y), max(Expr(a), Expr(b)), std::max(a, b));
  agree(tri(x), tri(a), a > 0 ? a * (a + 1) / 2 : 0);
  if (b != 0) {
    std::int64_t floored = a / b;
    if (a % b != 0 && (a < 0) != (b < 0)) --floored;
    agree(floor_div(x, y), floor_div(a, b), floored);
    agree(ceil_div(x, y), ceil_div(a, b), a % b == 0 ? floored : floored + 1);
    agree(mod(x, y), mod(a, b), a - b * floored);
  }
  const auto n = pick(0, 8);
  std::int64_t expected = 1;
  for (std::int64_t i = 0; i < n; ++i) expected *= b;
  RC_ASSERT(power(y, Expr::symbol("n"))
                .eval({
                    {"b", b},
                    {"n", n}
  }) == Rational(expected));
  RC_ASSERT(power(b, n) == expected);
}

RC_GTEST_PROP(ExprProperty, DoubleIsTheRoundedExactValue, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(arbitrary_forms());
    const Sizes sizes = arbitrary_sizes();
    const std::optional<Rational> exact = value_of(a, sizes);
    if (!exact) return;
    RC_ASSERT(a.eval_double(sizes) == exact->to_double());
  });
}

RC_GTEST_PROP(ExprProperty, OrderIsTotal, ()) {
  unless_overflow([] {
    const Expr a = arbitrary_expr(Forms::kReciprocals);
    const Expr b = arbitrary_expr(Forms::kReciprocals);
    const Expr c = arbitrary_expr(Forms::kReciprocals);
    const auto is_less = [](const Expr& x, const Expr& y) { return structural_order(x, y) < 0; };
    RC_ASSERT((a == b) == (!is_less(a, b) && !is_less(b, a)));
    RC_ASSERT(!(is_less(a, b) && is_less(b, a)));
    RC_ASSERT(!(is_less(a, b) && is_less(b, c)) || is_less(a, c));
  });
}

}  // namespace
}  // namespace flopwise
