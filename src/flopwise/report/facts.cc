#include "flopwise/report/facts.h"

#include <fmt/format.h>

namespace flopwise {

Facts::Facts()
    : table_({
          {"", Align::kLeft},
          {"", Align::kLeft},
          {"", Align::kLeft}
}) {}

void Facts::add(const std::string& what, const std::string& value, const std::string& meaning) {
  table_.add_row({what, value, meaning});
}

std::string lines_of(const std::string& title, const std::vector<std::string>& texts) {
  std::string lines = texts.empty() ? "" : fmt::format("\n{}:\n", title);
  for (const std::string& text : texts) lines += fmt::format("  {}\n", text);
  return lines;
}

Json text_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

}  // namespace flopwise
