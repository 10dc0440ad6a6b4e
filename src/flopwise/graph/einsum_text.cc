#include "flopwise/graph/einsum_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace flopwise {
namespace {

// An array as messages show it: cut where it is long.
std::string shown(const EinsumArray& array) {
  constexpr std::size_t kLongest = 200;
  std::string text = describe(array);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

// ASCII on purpose: <cctype> depends on the locale and is undefined for bytes above 127.
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_letter(char c) {
  return is_capital(c) || (c >= 'a' && c <= 'z');
}
bool is_name_char(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '\'';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_utf8_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

constexpr std::string_view kProducts[] = {"*", "·", "⋅", "×"};
constexpr std::string_view kArrows[] = {"->", "→"};
constexpr std::string_view kEllipses[] = {"...", "…"};

// A place in the text. Every look-ahead skips spaces first.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  int column() {
    skip_spaces();
    return column_;
  }
  bool done() {
    skip_spaces();
    return at_ == text_.size();
  }
  char peek() { return done() ? '\0' : text_[at_]; }
  bool sees(std::string_view token) {
    skip_spaces();
    return text_.substr(at_, token.size()) == token;
  }
  bool take(std::string_view token) {
    if (!sees(token)) return false;
    advance(token.size());
    return true;
  }
  template <std::size_t N>
  bool take_any(const std::string_view (&tokens)[N]) {
    return std::any_of(std::begin(tokens), std::end(tokens),
                       [&](std::string_view token) { return take(token); });
  }
  // The longest run of accepted characters from here, without a space inside; may be empty.
  template <typename Accept>
  EinsumName take_run(Accept accept) {
    skip_spaces();
    EinsumName run{"", column_};
    while (at_ < text_.size() && accept(text_[at_])) {
      run.text += text_[at_];
      advance(1);
    }
    if (run.text.size() > kMaxEinsumNameBytes) {
      throw einsum_error(run.column, fmt::format("a name of {} characters, expected at most {}",
                                                 run.text.size(), kMaxEinsumNameBytes));
    }
    return run;
  }
  // True when the very next character, spaces not skipped, continues a name.
  bool name_goes_on() const { return at_ < text_.size() && is_name_char(text_[at_]); }

  [[noreturn]] void fail(std::string_view expected) {
    throw einsum_error(column(), fmt::format("expected {}, got {}", expected, shown()));
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) advance(1);
  }
  void advance(std::size_t bytes) {
    for (const char c : text_.substr(at_, bytes)) {
      if (!is_utf8_continuation(c)) ++column_;
    }
    at_ += bytes;
  }
  // What stands here, printable in one line whatever the bytes are.
  std::string shown() {
    if (done()) return "the end";
    const char c = text_[at_];
    if (c > ' ' && c <= '~') return fmt::format("'{}'", c);
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int column_ = 1;
};

void refuse_ellipsis(Cursor& cursor) {
  const int column = cursor.column();
  if (cursor.take_any(kEllipses)) {
    throw einsum_error(column, "an ellipsis is not read: name every axis");
  }
}

void add_dim(EinsumArray& array, EinsumDim dim) {
  array.dims.push_back(std::move(dim));
  const EinsumName& axis = array.dims.back().axis;
  const auto same = [&](const EinsumDim& other) { return other.axis.text == axis.text; };
  if (std::count_if(array.dims.begin(), array.dims.end(), same) > 1) {
    throw einsum_error(axis.column,
                       fmt::format("axis '{}' occurs twice in {}", axis.text, shown(array)));
  }
  if (array.dims.size() > kMaxEinsumAxes) {
    throw einsum_error(axis.column, fmt::format("more than {} axes", kMaxEinsumAxes));
  }
}

void add_operand(EinsumText& text, EinsumArray operand, int column) {
  if (text.operands.size() == kMaxEinsumOperands) {
    throw einsum_error(column, fmt::format("more than {} operands", kMaxEinsumOperands));
  }
  text.operands.push_back(std::move(operand));
}

void refuse_repeated_mesh_axes(const EinsumArray& array) {
  std::set<std::string_view> seen;
  const auto check = [&](const std::vector<EinsumName>& names) {
    for (const EinsumName& name : names) {
      if (seen.insert(name.text).second) continue;
      throw einsum_error(name.column,
                         fmt::format("mesh axis '{}' occurs twice in {}", name.text, shown(array)));
    }
  };
  for (const EinsumDim& dim : array.dims) check(dim.mesh_axes);
  check(array.unreduced);
}

// A[B_X, D_Y] *_D W[D_Y, F] -> C[B_X, F] {U_Y}
class BracketReader {
 public:
  explicit BracketReader(std::string_view text) : cursor_(text) {}

  EinsumText read() {
    operand();
    while (!cursor_.done()) {
      if (cursor_.take_any(kArrows)) {
        text_.output = array();
        if (!cursor_.done()) cursor_.fail("the end of the expression");
        break;
      }
      product();
      operand();
    }
    return std::move(text_);
  }

 private:
  void operand() {
    const int column = cursor_.column();
    add_operand(text_, array(), column);
  }

  void product() {
    if (!cursor_.take_any(kProducts)) cursor_.fail("'*', '->' or the end of the expression");
    if (!cursor_.take("_")) return;
    std::set<std::string> seen;
    for (EinsumName& name : subscript()) {
      if (!seen.insert(name.text).second) {
        throw einsum_error(name.column,
                           fmt::format("axis '{}' occurs twice after one '*'", name.text));
      }
      text_.contracted.push_back(std::move(name));
    }
  }

  EinsumArray array() {
    EinsumArray array;
    refuse_ellipsis(cursor_);
    if (!is_letter(cursor_.peek())) cursor_.fail("an array such as A[B,D]");
    array.name = cursor_.take_run([](char c) { return is_name_char(c) || c == '_'; });
    if (!cursor_.take("[")) cursor_.fail(fmt::format("'[' after the name '{}'", array.name.text));
    if (!cursor_.take("]")) dims(array);
    if (cursor_.sees("{")) partial_sum(array);
    refuse_repeated_mesh_axes(array);
    return array;
  }

  void dims(EinsumArray& array) {
    do {
      refuse_ellipsis(cursor_);
      if (!is_letter(cursor_.peek())) cursor_.fail("an axis name");
      EinsumDim dim;
      dim.axis = cursor_.take_run(is_name_char);
      if (cursor_.take("_")) dim.mesh_axes = subscript();
      add_dim(array, std::move(dim));
    } while (cursor_.take(","));
    if (!cursor_.take("]")) cursor_.fail("',' or ']' after an axis");
  }

  // {U_Y}, {U_{dp,fsdp}}
  void partial_sum(EinsumArray& array) {
    constexpr std::string_view kExpected = "a partial sum such as {U_Y}";
    if (!cursor_.take("{") || !cursor_.take("U") || !cursor_.take("_")) cursor_.fail(kExpected);
    array.unreduced = subscript();
    if (!cursor_.take("}")) cursor_.fail("'}'");
  }

  std::vector<EinsumName> subscript() {
    return cursor_.take("{") ? braced_names() : single_capitals();
  }

  std::vector<EinsumName> braced_names() {
    std::vector<EinsumName> names;
    do {
      if (!is_letter(cursor_.peek())) cursor_.fail("a name");
      names.push_back(cursor_.take_run(is_name_char));
    } while (cursor_.take(","));
    if (!cursor_.take("}")) cursor_.fail("',' or '}' after a name");
    return names;
  }

  std::vector<EinsumName> single_capitals() {
    const EinsumName run = cursor_.take_run(is_capital);
    if (run.text.empty() || cursor_.name_goes_on()) {
      throw einsum_error(run.column,
                         "expected single capitals such as _XY, or names in braces such as "
                         "_{dp,fsdp}, after '_'");
    }
    std::vector<EinsumName> names;
    for (const char c : run.text) {
      names.push_back({std::string(1, c), run.column + static_cast<int>(names.size())});
    }
    return names;
  }

  Cursor cursor_;
  EinsumText text_;
};

// bd,df->bf. Operands are called A, B, C, ... for reports.
class LetterReader {
 public:
  explicit LetterReader(std::string_view text) : cursor_(text) {}

  EinsumText read() {
    text_.in_brackets = false;
    if (cursor_.done()) cursor_.fail("an array such as A[B,D] or letters such as bd,df->bf");
    do {
      const int column = cursor_.column();
      const std::string name(1, static_cast<char>('A' + text_.operands.size()));
      add_operand(text_, letters(name), column);
    } while (cursor_.take(","));
    if (cursor_.take_any(kArrows)) {
      text_.output = letters("output");
      text_.output->name.text.clear();  // which letter is free is known later
    }
    if (!cursor_.done())
      cursor_.fail(text_.output ? "an axis letter or the end" : "an axis letter, ',' or '->'");
    return std::move(text_);
  }

 private:
  EinsumArray letters(const std::string& name) {
    EinsumArray array;
    array.name.text = name;
    refuse_ellipsis(cursor_);
    while (is_letter(cursor_.peek())) {
      add_dim(array, {
                         {std::string(1,     cursor_.peek()), cursor_.column()},
                         {                }
      });
      cursor_.take(array.dims.back().axis.text);
      refuse_ellipsis(cursor_);
    }
    if (cursor_.sees("_") || cursor_.sees("{")) {
      throw einsum_error(cursor_.column(),
                         "letters take no sharding: write the arrays as A[B_X,D]");
    }
    return array;
  }

  Cursor cursor_;
  EinsumText text_;
};

}  // namespace

EinsumText read_einsum_text(std::string_view text) {
  if (text.size() > kMaxEinsumBytes) {
    throw UserError(fmt::format("einsum: an expression of {} bytes, expected at most {}",
                                text.size(), kMaxEinsumBytes));
  }
  const bool in_brackets = text.find('[') != std::string_view::npos;
  return in_brackets ? BracketReader(text).read() : LetterReader(text).read();
}

}  // namespace flopwise
