#include "flopwise/base/split.h"

namespace flopwise {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string last_part(std::string_view name) {
  return std::string(name.substr(name.rfind('.') + 1));  // npos + 1 is 0
}

}  // namespace flopwise
