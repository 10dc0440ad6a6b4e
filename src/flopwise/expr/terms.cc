#include "flopwise/expr/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "flopwise/base/error.h"

namespace flopwise {

namespace {

constexpr std::string_view kAxisOrder[] = {"B", "T", "S", "R", "D", "F", "N", "K", "G",
                                           "H", "V", "L", "E", "k", "W", "C", "P"};
constexpr std::string_view kMeshOrder[] = {"X", "Y", "Z", "dp", "fsdp", "tp", "cp", "pp", "ep"};
constexpr int kOtherRank = 100;
constexpr int kMeshRank = 200;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) &&
         std::all_of(text.begin(), text.end(), is_name_part);
}

// The names that occurred so far. Names are never removed, so the pointers handed out stay good.
class SymbolTable {
 public:
  SymbolTable() {
    int rank = 0;
    for (const std::string_view name : kAxisOrder) add(name, rank++);
    rank = kMeshRank;
    for (const std::string_view name : kMeshOrder) add(name, rank++);
    for (char letter = 'A'; letter <= 'z'; ++letter) {
      if (!is_letter(letter)) continue;
      const std::string_view name(&letter, 1);
      const auto found = by_name_.find(name);
      letters_[static_cast<unsigned char>(letter)] =
          found != by_name_.end() ? found->second : add(name, kOtherRank);
    }
  }

  const SymbolName* intern(std::string_view name) {
    if (name.size() == 1) return letters_[static_cast<unsigned char>(name[0])];  // never changes
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_name_.find(name);
    return found != by_name_.end() ? found->second : add(name, kOtherRank);
  }

 private:
  const SymbolName* add(std::string_view name, int rank) {
    const SymbolName& stored = names_.emplace_back(SymbolName{std::string(name), rank});
    by_name_.emplace(stored.name, &stored);
    return &stored;
  }

  std::mutex mutex_;
  std::deque<SymbolName> names_;
  std::unordered_map<std::string_view, const SymbolName*> by_name_;
  std::array<const SymbolName*, 128> letters_{};
};

std::strong_ordering symbol_order(const SymbolName& a, const SymbolName& b) {
  if (&a == &b) return std::strong_ordering::equal;
  if (a.rank != b.rank) return a.rank <=> b.rank;
  return a.name.compare(b.name) <=> 0;
}

void collect_symbols(const Expr& expr, std::vector<const SymbolName*>& found) {
  for (const Expr::Term& term : ExprAccess::terms(expr)) {
    for (const Power& power : term.powers) {
      if (power.factor.symbol != nullptr) {
        found.push_back(power.factor.symbol);
      } else {
        collect_symbols(power.factor.atom->a, found);
        collect_symbols(power.factor.atom->b, found);
      }
    }
  }
}

}  // namespace

bool is_name_start(char c) {
  return is_letter(c);
}

bool is_name_part(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

const SymbolName* intern_symbol(std::string_view name) {
  // Never destroyed: Exprs with static storage may outlive everything else.
  static SymbolTable& table = *new SymbolTable;
  if (!is_name(name)) {
    throw UserError(fmt::format(
        "{} is not a name: a letter, then letters, digits, underscores or primes", quoted(name)));
  }
  return table.intern(name);
}

std::strong_ordering factor_order(const Expr::Factor& a, const Expr::Factor& b) {
  if (a.symbol != nullptr && b.symbol != nullptr) return symbol_order(*a.symbol, *b.symbol);
  if (a.symbol != nullptr) return std::strong_ordering::less;
  if (b.symbol != nullptr) return std::strong_ordering::greater;
  if (a.atom == b.atom) return std::strong_ordering::equal;
  if (a.atom->kind != b.atom->kind) return a.atom->kind <=> b.atom->kind;
  const std::strong_ordering first = structural_order(a.atom->a, b.atom->a);
  return std::is_neq(first) ? first : structural_order(a.atom->b, b.atom->b);
}

std::strong_ordering term_order(const Expr::Term& a, const Expr::Term& b) {
  if (a.degree != b.degree) return b.degree <=> a.degree;
  // A factor that is missing has exponent 0.
  auto i = a.powers.begin();
  auto j = b.powers.begin();
  while (i != a.powers.end() || j != b.powers.end()) {
    const std::strong_ordering order = j == b.powers.end()   ? std::strong_ordering::less
                                       : i == a.powers.end() ? std::strong_ordering::greater
                                                             : factor_order(i->factor, j->factor);
    const std::int64_t a_exponent = std::is_lteq(order) ? (i++)->exponent : 0;
    const std::int64_t b_exponent = std::is_gteq(order) ? (j++)->exponent : 0;
    if (a_exponent != b_exponent) return b_exponent <=> a_exponent;
  }
  return std::strong_ordering::equal;
}

std::strong_ordering structural_order(const Expr& a, const Expr& b) {
  if (ExprAccess::is_same_object(a, b)) return std::strong_ordering::equal;
  const auto a_terms = ExprAccess::terms(a);
  const auto b_terms = ExprAccess::terms(b);
  for (std::size_t i = 0; i < std::min(a_terms.size(), b_terms.size()); ++i) {
    const std::strong_ordering order = term_order(a_terms[i], b_terms[i]);
    if (std::is_neq(order)) return order;
    if (a_terms[i].coefficient != b_terms[i].coefficient) {
      // By numerator and denominator, not by value: comparing values could overflow.
      const Rational& x = a_terms[i].coefficient;
      const Rational& y = b_terms[i].coefficient;
      return x.den() != y.den() ? x.den() <=> y.den() : x.num() <=> y.num();
    }
  }
  return a_terms.size() <=> b_terms.size();
}

bool operator==(const Expr& a, const Expr& b) {
  return ExprAccess::terms(a).size() == ExprAccess::terms(b).size() &&
         std::is_eq(structural_order(a, b));
}

std::vector<const SymbolName*> symbols_of(const Expr& expr) {
  std::vector<const SymbolName*> found;
  collect_symbols(expr, found);
  std::sort(found.begin(), found.end(), [](const SymbolName* a, const SymbolName* b) {
    return std::is_lt(symbol_order(*a, *b));
  });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace flopwise
