// The program: reads the command line, runs one subcommand, prints its answer or one line that says
// what was wrong.
//
// Exit status: 0 success, 1 a question with the answer no, 2 bad usage or input, 3 a bug in
// flopwise.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace flopwise::cli {
namespace {

constexpr int kSuccess = 0;
constexpr int kBadInput = 2;
constexpr int kBug = 3;

constexpr const char* kVersion =
    "flopwise 0.1.0\n"
    "optional parts: kernels off, mpi off, python off, page off";

constexpr const char* kFooter =
    "Examples:\n"
    "  flopwise count llama-3-8b\n"
    "  flopwise count D=4096,F=16384,L=64,V=32000,N=32 --seq 8192 --explain\n"
    "  flopwise einsum 'ij,jk->ik' --on tpu-v5e\n"
    "  flopwise mfu params=671e9,active=37e9 --tokens 14.8T --hours 2.79M --on flops=1.513e15\n"
    "`flopwise COMMAND --help` says what a command takes.";

// Prints `text` as one line whatever is in it.
int fail(int exit_status, const std::string& text) {
  std::cerr << "flopwise: " << one_line(text) << "\n";
  return exit_status;
}

// ---- usage errors ------------------------------------------------------------------------------

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// " memory pareto".
std::string names_of_subcommands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += " " + command->get_name();
  }
  return names;
}

// "--sise" is probably "--size": ", did you mean --size?", or nothing when no name is near.
std::string suggestion(const CLI::App& app, std::string_view word) {
  constexpr std::size_t kFarthest = 3;
  word = word.substr(0, word.find('='));
  const std::vector<std::string> nearest = nearest_names(word, names_of(app), 1);
  if (nearest.empty()) return "";
  const std::size_t distance = edit_distance(word, nearest[0]);
  const bool is_near =
      distance <= kFarthest && distance < word.size() - std::min<std::size_t>(word.size(), 2);
  return is_near ? fmt::format(", did you mean {}?", nearest[0]) : "";
}

// CLI11's message; for what nobody understood, one with the nearest name.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<const CLI::App*> chosen;
  std::string place;
  for (const CLI::App* next = &app; !next->get_subcommands().empty();) {
    next = next->get_subcommands().back();
    place += (chosen.empty() ? "" : " ") + next->get_name();
    chosen.push_back(next);
  }
  if (!chosen.empty()) place += ": ";
  const CLI::App& command = chosen.empty() ? app : *chosen.back();
  const std::vector<std::string> extras = app.remaining(true);
  if (!extras.empty() && chosen.empty() && !extras[0].starts_with('-')) {
    return fmt::format(
        "unknown command {}, known: count einsum roofline mfu train serve plot prove models "
        "hardware",
        quoted(extras[0]));
  }
  if (!extras.empty() && command.get_require_subcommand_min() > 0) {
    return fmt::format("unknown {} {}, known:{}", command.get_name(), quoted(extras[0]),
                       names_of_subcommands(command));
  }
  if (!extras.empty()) {
    return fmt::format("{}unexpected argument {}{}", place, quoted(extras[0]),
                       suggestion(command, extras[0]));
  }
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (lacks && chosen.empty()) return "no command: `flopwise --help` lists them";
  if (lacks && command.get_require_subcommand_min() > 0 && command.get_subcommands().empty()) {
    return place + "which one? known:" + names_of_subcommands(command);
  }
  return place + error.what();
}

// ---- running -----------------------------------------------------------------------------------

// The whole answer at once. A reader that has gone away (`| head`) is no error; a full disk is.
int print(const std::string& text) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (is_written || errno == EPIPE) return kSuccess;
  return fail(kBadInput, fmt::format("standard output: {}", std::strerror(errno)));
}

void add_commands(CLI::App& app, Context& context) {
  add_count_command(app, context);
  add_einsum_command(app, context);
  add_roofline_command(app, context);
  add_mfu_command(app, context);
  add_train_command(app, context);
  add_serve_command(app, context);
  add_plot_command(app, context);
  add_prove_command(app, context);
  add_models_command(app, context);
  add_hardware_command(app, context);
}

// Parses and runs; the answer is in context.out. Throws what the subcommand throws.
int parse_and_run(CLI::App& app, int argc, const char* const* argv, Context& context) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    context.out << kVersion << "\n";
  } catch (const CLI::Success&) {  // --help
    context.out << app.help();
  } catch (const CLI::ParseError& error) {
    throw UserError(usage_message(app, error));
  }
  return context.exit_status;
}

int run(int argc, const char* const* argv) {
  std::ostringstream out;
  Context context{std::cin, out, std::cerr};
  try {
    CLI::App app("Exact parameters, FLOPs and bytes of transformers, each with its formula.",
                 "flopwise");
    app.set_version_flag("--version", kVersion,
                         "Print the version and which optional parts are built in");
    app.set_help_flag("-h,--help", "Print this help");
    app.require_subcommand(1);
    app.footer(kFooter);
    add_commands(app, context);
    const int exit_status = parse_and_run(app, argc, argv, context);
    const int print_status = print(out.str());
    return print_status == kSuccess ? exit_status : print_status;
  } catch (const UserError& error) {
    return fail(kBadInput, error.what());
  } catch (const InternalError& error) {
    return fail(kBug, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kBadInput, "out of memory");
  } catch (const std::exception& error) {
    return fail(kBug, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace
}  // namespace flopwise::cli

int main(int argc, char** argv) {
  std::signal(
      SIGPIPE,
      SIG_IGN);  // writing to a closed pipe then fails with EPIPE instead of ending the process
  return flopwise::cli::run(argc, argv);
}
