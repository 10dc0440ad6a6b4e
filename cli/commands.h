// The subcommands. Each adds itself, with its options, to the program; its work is done when the
// options are read, writes the whole answer to `out`, and ends in an exception when there is none.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

#include "flopwise/flopwise.h"

namespace flopwise::cli {

// What a subcommand sees of the world.
struct Context {
  std::istream& in;
  std::ostream& out;    // collected, and printed only when the subcommand succeeds
  std::ostream& err;    // progress
  int exit_status = 0;  // 1: a question with the answer no
};

// For every option with a value: an empty one, such as an unset shell variable leaves, is no value.
inline std::string not_empty(const std::string& text) {
  return text.empty() ? "expected a value, got ''" : "";
}

void add_count_command(CLI::App& app, Context& context);
void add_einsum_command(CLI::App& app, Context& context);
void add_roofline_command(CLI::App& app, Context& context);
void add_mfu_command(CLI::App& app, Context& context);
void add_train_command(CLI::App& app, Context& context);
void add_serve_command(CLI::App& app, Context& context);
void add_plot_command(CLI::App& app, Context& context);
void add_prove_command(CLI::App& app, Context& context);
void add_models_command(CLI::App& app, Context& context);
void add_hardware_command(CLI::App& app, Context& context);

}  // namespace flopwise::cli
