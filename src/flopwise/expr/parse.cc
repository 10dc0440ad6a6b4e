// Text to Expr, by recursive descent:
//
//   sum     = product { ("+" | "-") product }
//   product = signed { ("*" | "/") signed }
//   signed  = "-" signed | primary [ "^" exponent ]
//   primary = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
//   exponent = [ "-" ] number | "(" [ "-" ] number ")"
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"
#include "flopwise/expr/terms.h"

namespace flopwise {

namespace {

constexpr std::size_t kMaxLength = std::size_t{64} << 10;
constexpr int kMaxDepth = 200;

constexpr AtomKind kFunctions[] = {AtomKind::kMin,     AtomKind::kMax, AtomKind::kFloorDiv,
                                   AtomKind::kCeilDiv, AtomKind::kMod, AtomKind::kTri,
                                   AtomKind::kPow};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A product that is not multiplied out yet. A divisor has to stay in its factors: 1/(X*(T + S)^2)
// is 1/X times the square of one reciprocal sum, and not the reciprocal of a sum of three terms.
struct FactorPower {
  Expr base;
  std::int64_t exponent;
  std::size_t position;  // where it stands, for errors
};
using Product = std::vector<FactorPower>;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expr parse() {
    if (text_.size() > kMaxLength) {
      fail(kMaxLength, fmt::format("the formula is longer than {} characters", kMaxLength));
    }
    const Product product = sum();
    skip_spaces();
    if (position_ < text_.size()) fail(position_, "expected an operator, got " + next_token());
    return multiplied(product);
  }

 private:
  // ---- grammar

  Product sum() {
    skip_spaces();
    const std::size_t start = position_;
    Product first = product();
    if (peek() != '+' && peek() != '-') return first;
    std::vector<Expr> addends = {multiplied(first)};
    while (peek() == '+' || peek() == '-') {
      const bool is_minus = text_[position_++] == '-';
      const Expr addend = multiplied(product());
      addends.push_back(is_minus ? -addend : addend);
    }
    return one_factor(at(start, [&] { return sum_of(addends); }), start);
  }

  Product product() {
    Product factors = signed_factor();
    while (peek() == '*' || peek() == '/') {
      const bool is_divided = text_[position_++] == '/';
      Product more = signed_factor();
      if (is_divided) raise(more, -1);
      append(factors, std::move(more));
    }
    return factors;
  }

  Product signed_factor() {
    if (peek() != '-') return factor();
    const std::size_t start = position_++;
    const Nesting nesting(*this);
    Product negated = one_factor(-1, start);
    append(negated, signed_factor());
    return negated;
  }

  Product factor() {
    Product base = primary();
    if (peek() == '^') {
      ++position_;
      raise(base, exponent());
    }
    return base;
  }

  Product primary() {
    const char c = peek();
    const std::size_t start = position_;
    if (is_digit(c)) return one_factor(number(), start);
    if (is_name_start(c)) {
      const std::string_view name = name_token();
      position_ += name.size();
      return one_factor(peek() == '(' ? call(start, name) : Expr::symbol(name), start);
    }
    if (c == '(') {
      ++position_;
      const Nesting nesting(*this);
      Product inside = sum();
      if (peek() != ')') fail(position_, "expected an operator or ')', got " + next_token());
      ++position_;
      return inside;
    }
    fail(start, "expected a number, an axis or '(', got " + next_token());
  }

  Expr call(std::size_t start, std::string_view name) {
    ++position_;  // the '('
    const Nesting nesting(*this);
    const AtomKind kind = function_named(start, name);
    std::vector<Expr> arguments;
    arguments.push_back(multiplied(sum()));
    while (peek() == ',') {
      ++position_;
      arguments.push_back(multiplied(sum()));
    }
    if (peek() != ')') fail(position_, "expected an operator, ',' or ')', got " + next_token());
    ++position_;
    const int arity = atom_arity(kind);
    if (static_cast<int>(arguments.size()) != arity) {
      fail(start, fmt::format("{} takes {} argument{}, got {}", name, arity, arity == 1 ? "" : "s",
                              arguments.size()));
    }
    arguments.resize(2);
    return at(start, [&] { return make_atom(kind, arguments[0], arguments[1]); });
  }

  AtomKind function_named(std::size_t start, std::string_view name) const {
    std::string known;
    for (const AtomKind kind : kFunctions) {
      if (atom_name(kind) == name) return kind;
      known += fmt::format(" {}", atom_name(kind));
    }
    fail(start, fmt::format("unknown function {}, known:{}", quoted(name), known));
  }

  std::int64_t exponent() {
    const bool is_in_parentheses = peek() == '(';
    if (is_in_parentheses) ++position_;
    const bool is_negative = peek() == '-';
    if (is_negative) ++position_;
    const std::size_t start = position_;
    if (!is_digit(peek())) {
      fail(start, "expected a whole number as exponent, got " + next_token());
    }
    const Count value = number();
    if (value > Count(kMaxExponent)) {
      fail(start, fmt::format("exponent {} is beyond {}", value.str(), kMaxExponent));
    }
    if (is_in_parentheses) {
      if (peek() != ')') fail(position_, "expected ')', got " + next_token());
      ++position_;
    }
    const auto magnitude = static_cast<std::int64_t>(value.value());
    return is_negative ? -magnitude : magnitude;
  }

  Count number() {
    peek();
    const std::string_view token = digits_token();
    const Count value = at(position_, [&] { return parse_count(token); });
    position_ += token.size();
    return value;
  }

  // ---- products

  static Product one_factor(Expr expr, std::size_t position) {
    Product product;
    product.push_back({std::move(expr), 1, position});
    return product;
  }

  void raise(Product& product, std::int64_t exponent) const {
    for (FactorPower& factor : product) {
      const Int128 raised = Int128{factor.exponent} * exponent;
      if (raised > kMaxExponent || raised < -kMaxExponent) {
        fail(factor.position,
             fmt::format("exponent {} is beyond {}", digits(raised), kMaxExponent));
      }
      factor.exponent = static_cast<std::int64_t>(raised);
    }
  }

  static void append(Product& product, Product more) {
    std::move(more.begin(), more.end(), std::back_inserter(product));
  }

  // Single terms first, so that a long sum is multiplied once and not by each factor in turn.
  Expr multiplied(const Product& product) const {
    Expr single = 1;
    std::vector<std::pair<Expr, std::size_t>> sums;
    for (const FactorPower& factor : product) {
      at(factor.position, [&] {
        Expr power = pow(factor.base, factor.exponent);
        if (ExprAccess::terms(power).size() > 1) {
          sums.emplace_back(std::move(power), factor.position);
        } else {
          single *= power;
        }
      });
    }
    Expr result = single;
    for (const auto& [sum, position] : sums) {
      at(position, [&, &addend = sum] { result *= addend; });
    }
    return result;
  }

  // ---- tokens

  void skip_spaces() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
  }

  // The next character that is not a space; '\0', which stands in no formula, at the end.
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  std::string_view token_while(bool (*belongs)(char)) const {
    std::size_t end = position_;
    while (end < text_.size() && belongs(text_[end])) ++end;
    return text_.substr(position_, end - position_);
  }
  std::string_view digits_token() const { return token_while(is_digit); }
  std::string_view name_token() const { return token_while(is_name_part); }

  // What stands at the current position, for "got ...".
  std::string next_token() {
    const char c = peek();
    if (position_ >= text_.size()) return "the end";
    if (is_digit(c)) return quoted(digits_token());
    if (is_name_start(c)) return quoted(name_token());
    const std::string_view rest = text_.substr(position_);
    return quoted(rest.substr(0, std::max<std::size_t>(1, utf8_sequence_length(rest))));
  }

  // ---- errors

  static std::string column(std::size_t position) { return fmt::format("column {}", position + 1); }

  [[noreturn]] static void fail(std::size_t position, const std::string& message) {
    throw UserError(column(position) + ": " + message);
  }

  // Arithmetic whose errors name the column; the text is made only when there is one.
  template <typename Body>
  static auto at(std::size_t position, const Body& body) -> decltype(body()) {
    try {
      return body();
    } catch (const UserError&) {
      return in_context(column(position), []() -> decltype(body()) { throw; });
    }
  }

  // One level of parentheses, call or sign.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxDepth) {
        fail(parser_.position_, fmt::format("nested deeper than {} levels", kMaxDepth));
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Expr parse_expr(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace flopwise
