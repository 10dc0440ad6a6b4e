// Where a plot goes: the terminal, or a file of the format that its name ends in.
#pragma once

#include <string>

#include "cli/commands.h"

namespace flopwise::cli {

// UserError where the name ends in none of .svg, .png, .csv and .json. `option` is its place.
void check_plot_file(const std::string& file, const char* option);

// As text or JSON on context.out; with a file there, and nothing on context.out. Pictures are drawn
// by gnuplot. UserError where it is missing, or the file cannot be written.
void print_plot(const PlotData& data, bool as_json, Context& context);
void write_plot(const PlotData& data, const std::string& file, const char* option);

}  // namespace flopwise::cli
