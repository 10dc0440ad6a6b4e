// flopwise models [NAME]: the models that are compiled in.
#include <memory>
#include <ostream>

#include "cli/commands.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string name;
  bool as_json = false;
  Explain explain = Explain::kNo;
};

void run(const Options& options, std::ostream& out) {
  if (options.name.empty()) {
    out << (options.as_json ? models_json().str() + "\n" : models_text(options.explain));
    return;
  }
  const Model model = find_model(options.name);
  out << (options.as_json ? model_json(model).str() + "\n" : model_text(model, options.explain));
}

}  // namespace

void add_models_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("models", "The catalog of models, or one of them in full");
  const auto options = std::make_shared<Options>();
  command->add_option("NAME", options->name, "A model of the catalog; all of them when left out")
      ->check(not_empty);
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show how each number came about");
  command->callback([options, &context] { run(*options, context.out); });
}

}  // namespace flopwise::cli
