// A formula as straight-line arithmetic: for the many evaluations of a search.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flopwise/expr/expr.h"

namespace flopwise {

// An Expr in which only the variables are open. Evaluated in double: a whole result is exact while
// numerators and denominators of its terms stay below 2^53, otherwise it is off by a few units of
// the 16th digit.
class CompiledExpr {
 public:
  CompiledExpr() = default;  // 0
  // `constants`: the sizes of all other symbols; a symbol in neither is a UserError naming it.
  CompiledExpr(const Expr& expr, std::span<const std::string> variables, const Sizes& constants);

  // One value for each variable, in their order, none of them 0.
  double operator()(std::span<const double> values) const { return sum(root_, values); }
  bool is_zero() const { return root_.begin == root_.end; }

 private:
  enum class Op : std::uint8_t { kMin, kMax, kFloorDiv, kCeilDiv, kMod, kTri, kPow, kSum };
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  // A variable, or beyond them an atom, to a power.
  struct Factor {
    std::uint32_t index;
    std::int32_t exponent;
  };
  struct Term {
    double numerator;
    double denominator;
    Range factors;
  };
  struct Atom {
    Op op;
    Range a;
    Range b;
  };

  Range compile(const Expr& expr, std::span<const std::string> variables, const Sizes& constants);
  double sum(Range terms, std::span<const double> values) const;
  double atom(const Atom& atom, std::span<const double> values) const;

  std::vector<Term> terms_;
  std::vector<Factor> factors_;
  std::vector<Atom> atoms_;
  Range root_;
};

}  // namespace flopwise
