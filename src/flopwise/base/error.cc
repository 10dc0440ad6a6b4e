#include "flopwise/base/error.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/utf8.h"

namespace flopwise {

std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    const unsigned lead = static_cast<unsigned char>(text[0]);
    // U+0080 ... U+009F are control characters too.
    const bool control =
        lead < 0x20 || lead == 0x7F || (lead == 0xC2 && length == 2 && text[1] < '\xA0');
    if (length > 0 && !control) {
      result += text.substr(0, length);
    } else if (lead == '\n') {
      result += "\\n";
    } else if (lead == '\r') {
      result += "\\r";
    } else if (lead == '\t') {
      result += "\\t";
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
