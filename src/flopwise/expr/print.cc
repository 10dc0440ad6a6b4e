// Expr to text: as it is written, with sizes put in, and as LaTeX.
#include <fmt/format.h>

#include <algorithm>

#include "flopwise/expr/terms.h"

namespace flopwise {

namespace {

using Term = Expr::Term;

constexpr std::size_t kShortLength = 120;

// The digits of a numerator without its sign, which the sum writes.
std::string unsigned_digits(Int128 value) {
  std::string text = digits(value);
  if (text[0] == '-') text.erase(0, 1);
  return text;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

// The terms with " + " and " - " between them. Where the first is negative, the first positive one
// of the same degree goes before it: T*S - 1/2*T^2 + 1/2*T, tri(S - T).
template <typename TermText>
std::string sum_text(const Expr& expr, TermText term_text) {
  const auto terms = ExprAccess::terms(expr);
  if (terms.empty()) return "0";
  const auto is_positive = [](const Term& term) { return term.coefficient.num() > 0; };
  auto first = std::find_if(terms.begin(), terms.end(), is_positive);
  if (first == terms.end() || first->degree != terms[0].degree) first = terms.begin();
  std::string text = (is_positive(*first) ? "" : "-") + term_text(*first);
  for (auto term = terms.begin(); term != terms.end(); ++term) {
    if (term != first) text += (is_positive(*term) ? " + " : " - ") + term_text(*term);
  }
  return text;
}

class TextWriter {
 public:
  explicit TextWriter(const Sizes* sizes) : sizes_(sizes) {}

  std::string sum(const Expr& expr) const {
    return sum_text(expr, [this](const Term& term) { return product(term); });
  }

  std::string factor(const Expr::Factor& factor) const {
    if (factor.symbol != nullptr) {
      if (sizes_ == nullptr) return factor.symbol->name;
      const auto size = sizes_->find(factor.symbol->name);
      if (size == sizes_->end()) return factor.symbol->name;
      const std::string number = size->second.str();
      return number[0] == '-' ? "(" + number + ")" : number;
    }
    const Expr::Atom& atom = *factor.atom;
    if (atom.kind == AtomKind::kSum) return "(" + sum(atom.a) + ")";
    std::string text(atom_name(atom.kind));
    text += "(" + sum(atom.a);
    if (atom_arity(atom.kind) == 2) text += ", " + sum(atom.b);
    return text + ")";
  }

 private:
  std::string product(const Term& term) const {
    std::vector<std::string> above;
    std::vector<std::string> below;
    for (const Power& power : term.powers) {
      const std::int64_t exponent = power.exponent < 0 ? -power.exponent : power.exponent;
      std::string text = factor(power.factor);
      if (exponent != 1) text += "^" + std::to_string(exponent);
      (power.exponent < 0 ? below : above).push_back(std::move(text));
    }
    // 1/2*T and 1/2*T/X, but 1/(2*X)
    const std::string numerator = unsigned_digits(term.coefficient.num());
    const std::string denominator = digits(term.coefficient.den());
    if (term.coefficient.is_integer()) {
      if (numerator != "1" || above.empty()) above.insert(above.begin(), numerator);
    } else if (!above.empty() || below.empty()) {
      above.insert(above.begin(), numerator + "/" + denominator);
    } else {
      above.push_back(numerator);
      below.insert(below.begin(), denominator);
    }
    std::string text = joined(above, "*");
    if (below.size() == 1) text += "/" + below[0];
    if (below.size() > 1) text += "/(" + joined(below, "*") + ")";
    return text;
  }

  const Sizes* sizes_;
};

std::string latex_sum(const Expr& expr);

std::string latex_exponent(std::int64_t exponent) {
  if (exponent == 1) return "";
  return exponent < 10 ? fmt::format("^{}", exponent) : fmt::format("^{{{}}}", exponent);
}

std::string latex_symbol(const std::string& name) {
  const bool is_letter = name.size() == 1 || name.find_first_not_of('\'', 1) == std::string::npos;
  if (is_letter) return name;
  std::string escaped;
  for (const char c : name) {
    if (c == '_') escaped += '\\';
    escaped += c;
  }
  return "\\mathrm{" + escaped + "}";
}

// A sum in parentheses, anything else as it is.
std::string latex_operand(const Expr& expr) {
  const std::string text = latex_sum(expr);
  return ExprAccess::terms(expr).size() > 1 ? "\\left(" + text + "\\right)" : text;
}

std::string latex_atom(const Expr::Atom& atom) {
  const std::string a = latex_sum(atom.a);
  const std::string b = latex_sum(atom.b);
  switch (atom.kind) {
    case AtomKind::kMin:
      return fmt::format("\\min\\left({}, {}\\right)", a, b);
    case AtomKind::kMax:
      return fmt::format("\\max\\left({}, {}\\right)", a, b);
    case AtomKind::kFloorDiv:
      return fmt::format("\\left\\lfloor \\frac{{{}}}{{{}}} \\right\\rfloor", a, b);
    case AtomKind::kCeilDiv:
      return fmt::format("\\left\\lceil \\frac{{{}}}{{{}}} \\right\\rceil", a, b);
    case AtomKind::kMod:
      return fmt::format("\\left({} \\bmod {}\\right)", latex_operand(atom.a),
                         latex_operand(atom.b));
    case AtomKind::kTri:
      return fmt::format("\\mathrm{{tri}}\\left({}\\right)", a);
    case AtomKind::kPow:
      return fmt::format("\\left({}\\right)^{{{}}}", a, b);
    case AtomKind::kSum:
      return fmt::format("\\left({}\\right)", a);
  }
  return "";
}

std::string latex_power(const Power& power) {
  const std::int64_t exponent = power.exponent < 0 ? -power.exponent : power.exponent;
  if (power.factor.symbol != nullptr) {
    return latex_symbol(power.factor.symbol->name) + latex_exponent(exponent);
  }
  std::string text = latex_atom(*power.factor.atom);
  if (power.factor.is(AtomKind::kPow) && exponent != 1) text = "\\left(" + text + "\\right)";
  return text + latex_exponent(exponent);
}

// Side by side, with a thin space before a name of several letters.
std::string latex_juxtaposed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty() && part.rfind("\\mathrm", 0) == 0) text += "\\,";
    text += part;
  }
  return text;
}

std::string latex_product(const Term& term) {
  std::vector<std::string> above;
  std::vector<std::string> below;
  for (const Power& power : term.powers) {
    (power.exponent < 0 ? below : above).push_back(latex_power(power));
  }
  const std::string numerator = unsigned_digits(term.coefficient.num());
  const std::string denominator = digits(term.coefficient.den());
  if (below.empty()) {
    if (!term.coefficient.is_integer()) {
      above.insert(above.begin(), fmt::format("\\frac{{{}}}{{{}}}", numerator, denominator));
    } else if (numerator != "1" || above.empty()) {
      above.insert(above.begin(), numerator);
    }
    return latex_juxtaposed(above);
  }
  if (numerator != "1" || above.empty()) above.insert(above.begin(), numerator);
  if (denominator != "1") below.insert(below.begin(), denominator);
  // A sum alone below the line needs no parentheses.
  const Power& last = term.powers.back();
  const bool is_one_sum =
      below.size() == 1 && last.factor.is(AtomKind::kSum) && last.exponent == -1;
  return fmt::format("\\frac{{{}}}{{{}}}", latex_juxtaposed(above),
                     is_one_sum ? latex_sum(last.factor.atom->a) : latex_juxtaposed(below));
}

std::string latex_sum(const Expr& expr) {
  return sum_text(expr, latex_product);
}

}  // namespace

std::string Expr::str() const {
  return TextWriter(nullptr).sum(*this);
}

std::string Expr::str_with(const Sizes& sizes) const {
  return TextWriter(&sizes).sum(*this);
}

std::string Expr::latex() const {
  return latex_sum(*this);
}

std::string factor_text(const Expr::Factor& factor) {
  return TextWriter(nullptr).factor(factor);
}

std::string short_text(const Expr& expr) {
  std::string text = expr.str();
  if (text.size() > kShortLength) text = text.substr(0, kShortLength - 1) + "…";
  return text;
}

}  // namespace flopwise
