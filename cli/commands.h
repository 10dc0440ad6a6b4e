// The subcommands. Each adds itself, with its options, to the program; its work is done when the
// options are read, writes the whole answer to `out`, and ends in an exception when there is none.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>

#include "flopwise/flopwise.h"

namespace flopwise::cli {

// What a subcommand sees of the world.
struct Context {
  std::istream& in;
  std::ostream& out;    // collected, and printed only when the subcommand succeeds
  std::ostream& err;    // progress
  int exit_status = 0;  // 1: a question with the answer no
};

void add_count_command(CLI::App& app, Context& context);
void add_einsum_command(CLI::App& app, Context& context);
void add_mfu_command(CLI::App& app, Context& context);
void add_models_command(CLI::App& app, Context& context);
void add_hardware_command(CLI::App& app, Context& context);

}  // namespace flopwise::cli
