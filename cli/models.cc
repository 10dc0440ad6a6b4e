// flopwise models [NAME]: the models that are compiled in. flopwise models --check FILE: a model's
// derived parameters against the tensors of a checkpoint.
#include <filesystem>
#include <memory>
#include <ostream>

#include "cli/commands.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string name;
  std::string checkpoint;
  std::string config;
  bool as_json = false;
  Explain explain = Explain::kNo;
};

// As --config says; else as a GGUF file does itself; else the config.json beside the checkpoint, or
// in it where it is a folder.
Model model_of(const Options& options, const Checkpoint& checkpoint, std::istream& in) {
  if (!options.config.empty()) return read_any_model(options.config, in);
  if (checkpoint.format == CheckpointFormat::kGguf) {
    return model_of_gguf(checkpoint, options.checkpoint);
  }
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path(options.checkpoint);
  const fs::path config =
      (fs::is_directory(path, error) ? path : path.parent_path()) / "config.json";
  if (fs::exists(config, error)) return read_model(config.string(), in);
  throw UserError(
      one_line(options.checkpoint) +
      ": no config.json beside it, expected --config with a config.json or a model's name");
}

void check(const Options& options, Context& context) {
  const Checkpoint checkpoint = read_checkpoint_names(options.checkpoint);
  const WeightCheck result = check_weights(model_of(options, checkpoint, context.in), checkpoint);
  if (!result.agrees()) context.exit_status = 1;
  context.out << (options.as_json ? check_json(result, checkpoint).str() + "\n"
                                  : check_text(result, checkpoint));
}

void run(const Options& options, Context& context) {
  if (!options.checkpoint.empty()) return check(options, context);
  std::ostream& out = context.out;
  if (options.name.empty()) {
    out << (options.as_json ? models_json().str() + "\n" : models_text());
    return;
  }
  const Model model = find_model(options.name);
  out << (options.as_json ? model_json(model).str() + "\n" : model_text(model, options.explain));
}

}  // namespace

void add_models_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("models", "The catalog of models, or one of them in full");
  const auto options = std::make_shared<Options>();
  CLI::Option* name =
      command
          ->add_option("NAME", options->name, "A model of the catalog; all of them when left out")
          ->check(not_empty);
  CLI::Option* checkpoint =
      command
          ->add_option(
              "--check", options->checkpoint,
              "Compare a model with a checkpoint: safetensors, an index, GGUF, or a folder")
          ->type_name("FILE")
          ->excludes(name)
          ->check(not_empty);
  command
      ->add_option("--config", options->config,
                   "The model to compare: a config.json, a catalog name, ... (default: config.json "
                   "beside FILE)")
      ->type_name("MODEL")
      ->needs(checkpoint)
      ->check(not_empty);
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show how each number came about");
  command->footer(
      "Exit status 1 where checkpoint and model differ.\n"
      "Examples:\n"
      "  flopwise models llama-3-8b\n"
      "  flopwise models --check path/to/checkpoint\n"
      "  flopwise models --check model.safetensors.index.json --config llama-2-7b");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
