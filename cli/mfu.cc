// flopwise mfu MODEL: utilisation of a measured run, or the hours of a planned one.
#include <memory>
#include <ostream>
#include <string>

#include "cli/commands.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string model;
  std::string tokens, hours, step_time, target_mfu, hardware, convention, seq;
  std::string dtype = "bf16";
  std::string remat = "none";
  bool as_json = false;
  Explain explain = Explain::kNo;
};

std::optional<Rational> quantity(const std::string& text, const char* option) {
  if (text.empty()) return std::nullopt;
  return parse_quantity(text, option);
}

MfuRequest request_of(const Options& options, std::istream& in) {
  MfuRequest request;
  request.name = options.model;
  request.counts = read_bare_counts(options.model);
  if (!request.counts) request.model = read_any_model(options.model, in);
  request.tokens = parse_quantity(options.tokens, "--tokens");
  request.hours = quantity(options.hours, "--hours");
  request.step_time_s = quantity(options.step_time, "--step-time");
  request.target_mfu = quantity(options.target_mfu, "--target-mfu");
  if (!options.hardware.empty()) request.hardware = read_hardware(options.hardware);
  request.dtype = options.dtype;
  request.convention = options.convention;
  if (!options.seq.empty()) request.seq_len = parse_axis_size(options.seq, "--seq");
  request.remat = parse_remat(options.remat);
  return request;
}

void run(const Options& options, Context& context) {
  const MfuResult result = answer_mfu(request_of(options, context.in));
  if (options.as_json) {
    context.out << mfu_json(result).str() << "\n";
  } else {
    context.out << mfu_text(result, options.explain);
  }
}

}  // namespace

void add_mfu_command(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("mfu", "Utilisation of a training run, or its hours at a utilisation");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("MODEL", options->model,
                   "As for count, or bare counts: params=671e9,active=37e9")
      ->required()
      ->check(not_empty);
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    return command->add_option(name, value, help)
        ->type_name(type)
        ->capture_default_str()
        ->check(not_empty);
  };
  option("--tokens", options->tokens, "Tokens of the hours; of one step with --step-time", "N")
      ->required();
  option("--hours", options->hours, "Hours by the clock; with --on HW and no count, device-hours",
         "H");
  option("--step-time", options->step_time, "Seconds of one step", "S");
  option("--target-mfu", options->target_mfu, "A share such as 0.4: answers the hours", "U");
  option("--on", options->hardware,
         "Chip and how many, such as h100:64; flops=1.5e15 for a bare peak", "HW[:N]");
  option("--dtype", options->dtype, "Element type whose peak counts", "TYPE");
  option("--convention", options->convention,
         "How FLOPs are counted; default exact, 6nd for bare counts", "NAME");
  option("--seq", options->seq, "Sequence length, T; default min(2048, the model's context)", "T");
  option("--remat", options->remat, "Rematerialisation policy, for HFU", "POLICY");
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show how each number came about");
  command->footer(
      "Examples:\n"
      "  flopwise mfu params=671e9,active=37e9 --tokens 14.8T --hours 2.79M --on h800 --dtype fp8\n"
      "  flopwise mfu llama-3-8b --tokens 4M --step-time 11.2 --on h100:64 --seq 8192\n"
      "  flopwise mfu llama-3-70b --tokens 15T --target-mfu 0.4 --on h100:2048");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
