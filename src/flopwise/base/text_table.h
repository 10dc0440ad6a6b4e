// Rows as aligned text, Markdown or CSV.
#pragma once

#include <string>
#include <vector>

namespace flopwise {

enum class Align { kLeft, kRight };
enum class TableStyle { kText, kMarkdown, kCsv };

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::kRight;
  };
  explicit TextTable(std::vector<Column> columns);
  void add_row(std::vector<std::string> cells);  // as many cells as columns
  void add_rule();                               // a line of dashes (text only)
  // Every line ends with a newline; no trailing spaces. Width is counted in UTF-8 code points.
  std::string str(TableStyle style = TableStyle::kText) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

}  // namespace flopwise
