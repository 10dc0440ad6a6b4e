// Figures as users write them: on the command line (`h100,memory=96GiB`) and in a JSON file.
#pragma once

#include <string>
#include <string_view>

#include "flopwise/base/rational.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {

struct FigureKey {
  std::string_view key;
  void (*set)(Hardware& hardware, const std::string& text);
};

// nullptr when there is none of that name.
const FigureKey* find_figure(std::string_view key);
std::string known_figures();  // "flops, vector_flops, ..."

// A quantity above 0, with its unit or without: "3.35T", "3.35TB/s", "3.35 TB/s" for B/s.
Rational positive(const std::string& text, std::string_view what, std::string_view unit = "");
// A whole number of bytes, at least 1.
Count positive_bytes(const std::string& text, std::string_view what);

// "bfloat16" is bf16, "float16_acc16" fp16_acc16: the name of a peak, for any of its names.
std::string peak_name(std::string_view dtype);

Link& link_of(Hardware& hardware);  // adds one where there is none

}  // namespace flopwise
