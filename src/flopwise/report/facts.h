// What reports about one thing share: rows of "what, value, meaning", and lists of lines.
#pragma once

#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/base/text_table.h"

namespace flopwise {

class Facts {
 public:
  Facts();
  void add(const std::string& what, const std::string& value, const std::string& meaning = "");
  std::string str() const { return table_.str(); }

 private:
  TextTable table_;
};

// "\nTITLE:\n  line\n..."; empty without lines.
std::string lines_of(const std::string& title, const std::vector<std::string>& texts);
Json text_list(const std::vector<std::string>& texts);

}  // namespace flopwise
