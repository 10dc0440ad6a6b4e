#include "flopwise/expr/compiled.h"

#include <algorithm>
#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/expr/terms.h"

namespace flopwise {
namespace {

double power_of(double base, std::int32_t exponent) {
  double result = base;
  for (std::int32_t i = 1; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

CompiledExpr::CompiledExpr(const Expr& expr, std::span<const std::string> variables,
                           const Sizes& constants) {
  Substitution known;
  for (const auto& [name, size] : constants) {
    if (std::find(variables.begin(), variables.end(), name) == variables.end()) {
      known.emplace(name, Expr(size));
    }
  }
  root_ = compile(expr.substitute(known), variables, constants);
}

CompiledExpr::Range CompiledExpr::compile(const Expr& expr, std::span<const std::string> variables,
                                          const Sizes& constants) {
  // Terms of one sum lie side by side, so what is inside atoms is compiled before.
  std::vector<Term> terms;
  for (const Expr::Term& source : ExprAccess::terms(expr)) {
    std::vector<Factor> factors;
    for (const Power& power : source.powers) {
      const auto exponent = static_cast<std::int32_t>(power.exponent);
      if (power.factor.symbol != nullptr) {
        const auto found = std::find(variables.begin(), variables.end(), power.factor.symbol->name);
        if (found == variables.end()) {
          throw UserError("no size for axis " + quoted(power.factor.symbol->name));
        }
        factors.push_back({static_cast<std::uint32_t>(found - variables.begin()), exponent});
        continue;
      }
      const Expr::Atom& inner = *power.factor.atom;
      Atom compiled{static_cast<Op>(inner.kind), compile(inner.a, variables, constants),
                    compile(inner.b, variables, constants)};
      atoms_.push_back(compiled);
      factors.push_back(
          {static_cast<std::uint32_t>(variables.size() + atoms_.size() - 1), exponent});
    }
    Term term{
        static_cast<double>(source.coefficient.num()),
        static_cast<double>(source.coefficient.den()),
        {static_cast<std::uint32_t>(factors_.size()),
                                            static_cast<std::uint32_t>(factors_.size() + factors.size())}
    };
    factors_.insert(factors_.end(), factors.begin(), factors.end());
    terms.push_back(term);
  }
  const Range range{static_cast<std::uint32_t>(terms_.size()),
                    static_cast<std::uint32_t>(terms_.size() + terms.size())};
  terms_.insert(terms_.end(), terms.begin(), terms.end());
  return range;
}

double CompiledExpr::sum(Range terms, std::span<const double> values) const {
  double total = 0;
  for (std::uint32_t i = terms.begin; i < terms.end; ++i) {
    const Term& term = terms_[i];
    double numerator = term.numerator;
    double denominator = term.denominator;
    for (std::uint32_t j = term.factors.begin; j < term.factors.end; ++j) {
      const Factor& factor = factors_[j];
      const double base = factor.index < values.size()
                              ? values[factor.index]
                              : atom(atoms_[factor.index - values.size()], values);
      if (factor.exponent > 0) {
        numerator *= power_of(base, factor.exponent);
      } else {
        denominator *= power_of(base, -factor.exponent);
      }
    }
    total += numerator / denominator;
  }
  return total;
}

double CompiledExpr::atom(const Atom& atom, std::span<const double> values) const {
  const double a = sum(atom.a, values);
  const double b = sum(atom.b, values);
  switch (atom.op) {
    case Op::kMin:
      return std::fmin(a, b);
    case Op::kMax:
      return std::fmax(a, b);
    case Op::kFloorDiv:
      return std::floor(a / b);
    case Op::kCeilDiv:
      return std::ceil(a / b);
    case Op::kMod:
      return a - b * std::floor(a / b);
    case Op::kTri:
      return a <= 0 ? 0 : a * (a + 1) / 2;
    case Op::kPow:
      return std::pow(a, b);
    case Op::kSum:
      return a;
  }
  throw InternalError("unknown kind of atom");
}

}  // namespace flopwise
