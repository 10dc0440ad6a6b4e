// The lines of a count below its tables: each number with what it means and how it came about.
#pragma once

#include <string>
#include <vector>

#include "flopwise/report/count.h"

namespace flopwise {

struct CountLine {
  std::string label;
  std::string value;
  std::string meaning;     // in one line
  std::string derivation;  // formula, sizes put in, value: for --explain
};

// Totals, memory and analysis, a blank line between them.
std::vector<CountLine> count_lines(const CountResult& result);

}  // namespace flopwise
