#include "flopwise/base/text_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/utf8.h"

namespace flopwise {
namespace {

constexpr std::string_view kGap = "  ";

std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

// RFC 4180, with "\n" as the end of a line.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  FLOPWISE_CHECK(!columns_.empty(), "a table has columns");
}

void TextTable::add_row(std::vector<std::string> cells) {
  FLOPWISE_CHECK(cells.size() == columns_.size(), "a row has a cell for every column");
  rows_.push_back(std::move(cells));
}

void TextTable::add_rule() {
  rows_.emplace_back();
}

std::string TextTable::str(TableStyle style) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool has_titles =
      std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });

  std::string result;
  if (style == TableStyle::kCsv) {
    const auto add_line = [&](const std::vector<std::string>& cells) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        result += (i > 0 ? "," : "") + csv_cell(cells[i]);
      }
      result += '\n';
    };
    if (has_titles) add_line(titles);
    for (const auto& row : rows_) {
      if (!row.empty()) add_line(row);
    }
    return result;
  }

  const bool markdown = style == TableStyle::kMarkdown;
  const auto cell_text = [&](const std::string& text) {
    return markdown ? markdown_cell(text) : text;
  };
  std::vector<std::size_t> widths(columns_.size(), markdown ? 3 : 0);  // Markdown: room for "--:"
  const auto widen = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], utf8_length(cell_text(cells[i])));
    }
  };
  widen(titles);
  for (const auto& row : rows_) widen(row);

  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = markdown ? "| " : "";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = cell_text(cells[i]);
      const std::string padding(widths[i] - utf8_length(cell), ' ');
      if (i > 0) line += markdown ? " | " : kGap;
      line += columns_[i].align == Align::kRight ? padding + cell : cell + padding;
    }
    if (markdown) line += " |";
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  };

  if (markdown) {
    add_line(titles);
    result += '|';
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool right = columns_[i].align == Align::kRight;
      result += ' ' + std::string(widths[i] - (right ? 1 : 0), '-') + (right ? ": |" : " |");
    }
    result += '\n';
  } else if (has_titles) {
    add_line(titles);
  }
  std::size_t table_width = kGap.size() * (columns_.size() - 1);
  for (const std::size_t width : widths) table_width += width;
  for (const auto& row : rows_) {
    if (!row.empty()) {
      add_line(row);
    } else if (!markdown) {
      result += std::string(table_width, '-') + '\n';
    }
  }
  return result;
}

}  // namespace flopwise
