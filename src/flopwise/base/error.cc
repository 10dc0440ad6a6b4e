#include "flopwise/base/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

// Of a well-formed sequence.
char32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t code = byte(0) & (0xFFu >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) code = (code << 6) | (byte(i) & 0x3F);
  return code;
}

// What changes more than its own place on the screen: control characters (up to U+009F), the ends
// of a line or paragraph, and what turns the direction of the text around it (Bidi_Control in
// Unicode Standard Annex 9).
bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029 ||
         code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const char lead = text[0];
    const char32_t code = length > 0 ? code_point(text.substr(0, length)) : 0;
    if (length > 0 && !is_control(code)) {
      result += text.substr(0, length);
    } else if (lead == '\n') {
      result += "\\n";
    } else if (lead == '\r') {
      result += "\\r";
    } else if (lead == '\t') {
      result += "\\t";
    } else if (length > 1) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      for (const char c : text.substr(0, std::max<std::size_t>(length, 1))) {
        result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string Quoted::operator()(std::string_view text) const {
  constexpr std::size_t kLongest = 60;
  std::size_t end = 0;
  for (std::size_t characters = 0; characters < kLongest && end < text.size(); ++characters) {
    end += std::max<std::size_t>(utf8_sequence_length(text.substr(end)), 1);
  }
  return "'" + one_line(text.substr(0, end)) + (end < text.size() ? "...'" : "'");
}

namespace detail {

void check_failed(std::string_view condition, std::string_view file, int line,
                  const std::string& message) {
  throw InternalError(
      fmt::format("internal error: {} ({}:{}: {} does not hold)", message, file, line, condition));
}

}  // namespace detail
}  // namespace flopwise
