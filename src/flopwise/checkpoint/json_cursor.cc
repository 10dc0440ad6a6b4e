#include "flopwise/checkpoint/json_cursor.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

constexpr std::size_t kMaxWordBytes = 100;
constexpr std::uint64_t kMaxSkippedBytes = std::uint64_t{16} << 20;
constexpr int kMaxDepth = 64;

bool is_space(int c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// How many bytes `text` begins with that stand for themselves inside a text: ASCII, no quote, no
// backslash, no control character. Eight at a time, by Mycroft's test for a zero byte.
std::size_t plain_length(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  const auto has_zero = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  std::size_t length = 0;
  for (; text.size() - length >= sizeof(std::uint64_t); length += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + length, sizeof word);
    const std::uint64_t control = (word - kOnes * 0x20) & ~word & kHigh;
    if ((has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\')) | control |
         (word & kHigh)) != 0) {
      break;
    }
  }
  const auto is_plain = [](char c) {
    return static_cast<signed char>(c) >= 0x20 && c != '"' && c != '\\';
  };
  while (length < text.size() && is_plain(text[length])) ++length;
  return length;
}

// RFC 8259, section 6.
bool is_number(std::string_view word) {
  const auto digits = [&] {
    const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
    word.remove_prefix(count);
    return count;
  };
  if (word.starts_with('-')) word.remove_prefix(1);
  const bool leading_zero = word.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return word.empty();
}

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace

JsonCursor::JsonCursor(const ByteSource& source, std::uint64_t begin, std::uint64_t end)
    : cursor_(source, begin, end) {}

void JsonCursor::fail(const std::string& what) const {
  throw UserError(fmt::format("offset {}: {}", offset(), what));
}

void JsonCursor::fail_expecting(const char* expected) {
  const int c = cursor_.peek();
  fail(fmt::format("expected {}, got {}", expected,
                   c < 0 ? "the end" : quoted(std::string(1, static_cast<char>(c)))));
}

void JsonCursor::skip_space() {
  while (is_space(cursor_.peek())) cursor_.step();
}

bool JsonCursor::next_is(char c) {
  skip_space();
  return cursor_.peek() == c;
}

void JsonCursor::expect(char c) {
  if (!next_is(c)) fail_expecting(std::string{'\'', c, '\''}.c_str());
  cursor_.step();
}

bool JsonCursor::opens(char open, char close, const char* expected) {
  if (!next_is(open)) fail_expecting(expected);
  cursor_.step();
  if (!next_is(close)) return true;
  cursor_.step();
  return false;
}

bool JsonCursor::continues(char close) {
  if (next_is(',')) {
    cursor_.step();
    return true;
  }
  if (!next_is(close))
    fail_expecting(std::string{'\'', ',', '\'', ' ', 'o', 'r', ' ', '\'', close, '\''}.c_str());
  cursor_.step();
  return false;
}

std::string JsonCursor::text(const char* expected, std::size_t limit) {
  if (!next_is('"')) fail_expecting(expected);
  const std::uint64_t begin = offset();
  cursor_.step();
  std::string text;
  for (int c = cursor_.peek(); c != '"'; c = cursor_.peek()) {
    if (c < 0) fail(fmt::format("the text that begins at offset {} has no end", begin));
    if (c < 0x20) fail_expecting("no control character inside a text");
    cursor_.step();
    if (c == '\\') {
      escape(text);
    } else {
      text += static_cast<char>(c);
    }
    if (text.size() > limit) {
      fail(fmt::format("the text that begins at offset {} is longer than {} bytes", begin, limit));
    }
  }
  cursor_.step();
  if (!is_utf8(text)) {
    throw UserError(fmt::format("offset {}: text {} is not UTF-8", begin, quoted(text)));
  }
  return text;
}

std::string_view JsonCursor::text_view(const char* expected, std::size_t limit) {
  if (!next_is('"')) fail_expecting(expected);
  const std::string_view ahead = cursor_.ahead().substr(1);
  const std::size_t length = plain_length(ahead);
  if (length < ahead.size() && ahead[length] == '"' && length <= limit) {
    cursor_.skip(length + 2);
    return ahead.substr(0, length);
  }
  scratch_ = text(expected, limit);
  return scratch_;
}

std::string_view JsonCursor::key_view() {
  const std::string_view key = text_view("a key in quotes", kMaxKeyBytes);
  // The colon that follows at once cannot move what the key is seen in.
  if (cursor_.ahead().starts_with(':')) {
    cursor_.step();
    return key;
  }
  if (key.data() != scratch_.data()) scratch_ = key;
  expect(':');
  return scratch_;
}

unsigned JsonCursor::hex4() {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = cursor_.peek();
    const char digit = static_cast<char>(c);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(&digit, &digit + 1, value, 16);
    if (c < 0 || error != std::errc()) fail_expecting("four hexadecimal digits after \\u");
    code = code << 4 | value;
    cursor_.step();
  }
  return code;
}

void JsonCursor::escape(std::string& text) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const int c = cursor_.peek();
  if (c == 'u') {
    cursor_.step();
    unsigned code = hex4();
    if (code >= 0xD800 && code < 0xDC00 && cursor_.peek() == '\\') {
      cursor_.step();
      if (cursor_.peek() != 'u') fail_expecting("the second half of a surrogate pair");
      cursor_.step();
      const unsigned low = hex4();
      if (low < 0xDC00 || low >= 0xE000) fail("expected the second half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(text, code);  // half a pair alone makes the text no UTF-8, which text() reports
    return;
  }
  const std::size_t letter = c < 0 ? std::string_view::npos : kLetters.find(static_cast<char>(c));
  if (letter == std::string_view::npos) fail_expecting("one of \"\\/bfnrtu after a backslash");
  text += kMeanings[letter];
  cursor_.step();
}

std::string JsonCursor::word() {
  skip_space();
  std::string word;
  for (int c = cursor_.peek(); c >= 0; c = cursor_.peek()) {
    const bool is_letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.';
    if (!is_letter || word.size() == kMaxWordBytes) break;
    word += static_cast<char>(c);
    cursor_.step();
  }
  if (word.empty()) fail_expecting("a value");
  return word;
}

// At most 18 digits that lie in memory with what ends them.
std::optional<std::uint64_t> JsonCursor::small_number() {
  constexpr std::size_t kMostDigits = 18;
  const std::string_view ahead = cursor_.ahead();
  std::uint64_t value = 0;
  std::size_t length = 0;
  while (length < ahead.size() && length <= kMostDigits && ahead[length] >= '0' &&
         ahead[length] <= '9') {
    value = 10 * value + static_cast<std::uint64_t>(ahead[length++] - '0');
  }
  if (length == 0 || length > kMostDigits || length == ahead.size()) return std::nullopt;
  if (length > 1 && ahead[0] == '0') return std::nullopt;
  if (constexpr std::string_view kEnds = ",]} \t\r\n";
      kEnds.find(ahead[length]) == std::string_view::npos) {
    return std::nullopt;
  }
  cursor_.skip(length);
  return value;
}

std::uint64_t JsonCursor::whole_number() {
  skip_space();
  const std::uint64_t begin = offset();
  const int c = cursor_.peek();
  if (c != '-' && (c < '0' || c > '9')) fail_expecting("a whole number");
  if (const auto small = small_number()) return *small;
  const std::string number = word();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !is_number(number)) {
    throw UserError(fmt::format("offset {}: expected a whole number of 0 to 2^64 - 1, got {}",
                                begin, quoted(number)));
  }
  return value;
}

JsonCursor::Scalar JsonCursor::scalar() {
  if (next_is('"')) return text();
  if (next_is('{') || next_is('[')) {
    skip();
    return {};
  }
  const std::uint64_t begin = offset();
  const std::string value = word();
  if (value == "true" || value == "false" || value == "null") return {};
  if (!is_number(value)) {
    throw UserError(fmt::format("offset {}: expected a value, got {}", begin, quoted(value)));
  }
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), whole);
  if (error == std::errc() && end == value.data() + value.size()) return Count(whole);
  const double number = std::strtod(value.c_str(), nullptr);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (number == std::trunc(number) && std::abs(number) < kExact) {
    return Count(static_cast<std::int64_t>(number));
  }
  return number;
}

// A loop with the open brackets in a text, not a recursion.
void JsonCursor::skip() {
  std::string open;
  // Of all fields together: real headers have hardly any, and numbers take long to walk over.
  const std::uint64_t begin = offset() - skipped_;
  do {
    skipped_ = offset() - begin;
    if (skipped_ > kMaxSkippedBytes) fail("unknown fields longer than 16 MiB together");
    if (next_is('{') || next_is('[')) {
      const bool is_object = next_is('{');
      if (open.size() == kMaxDepth) fail(fmt::format("nested deeper than {}", kMaxDepth));
      if (opens(is_object ? '{' : '[', is_object ? '}' : ']', "a value")) {
        open += is_object ? '}' : ']';
        if (is_object) key_view();
        continue;
      }
    } else {
      scalar();
    }
    while (!open.empty() && !continues(open.back())) open.pop_back();
    if (!open.empty() && open.back() == '}') key_view();
  } while (!open.empty());
  skipped_ = offset() - begin;
}

void JsonCursor::end() {
  skip_space();
  if (cursor_.peek() >= 0) fail_expecting("the end");
}

}  // namespace flopwise
