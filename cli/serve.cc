// flopwise serve MODEL --on HW:N: latency, throughput, memory and price of serving.
#include <memory>
#include <ostream>
#include <string>

#include "cli/commands.h"
#include "cli/plan_options.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string model;
  ServeOptions serve;
  bool as_json = false;
  Explain explain = Explain::kNo;
};

// "500ms", "30us", "0.5s", "0.5": seconds.
double time_of(const std::string& text, const char* option) {
  std::string number = text;
  Rational unit = 1;
  for (const auto& [suffix, per_second] : {std::pair("ms", 1000), std::pair("us", 1000000)}) {
    if (!number.ends_with(suffix)) continue;
    number.resize(number.size() - 2);
    unit = Rational(1) / Rational(per_second);
  }
  if (unit == Rational(1) && number.ends_with("s")) number.pop_back();
  try {
    const Rational value = parse_quantity(number, option) * unit;
    if (value > Rational(0)) return value.to_double();
  } catch (const UserError&) {  // says nothing of units of time
  }
  throw UserError(std::string(option) + ": expected a time above 0 such as 30ms, got " +
                  quoted(text));
}

}  // namespace

ServeRequest serve_request(const ServeOptions& options) {
  ServeRequest request;
  const HardwareChoice choice = devices_of(options.hardware, options.mesh);
  request.hardware = choice.hardware;
  request.devices = choice.count;
  request.prompt = parse_axis_size(options.prompt, "--prompt");
  request.output = parse_axis_size(options.output, "--output");
  if (request.prompt > kMaxAxisSize - request.output) {
    throw UserError("--prompt, --output: expected at most 2^40 tokens together, got " +
                    options.prompt + " and " + options.output);
  }
  request.dtype = options.dtype;
  if (weights_to_choose_from(options.weights).empty()) request.weights = options.weights;
  request.kv = options.kv;
  request.latent = parse_latent_mode(options.mla);
  if (!options.ttft.empty()) request.ttft_s = time_of(options.ttft, "--ttft");
  if (!options.tpot.empty()) request.tpot_s = time_of(options.tpot, "--tpot");
  request.price_usd_per_hour = price_of(options.price);
  return request;
}

ServePlanRequest serve_plan_request(const ServeOptions& options) {
  ServePlanRequest plan;
  if (!options.mesh.empty()) plan.mesh = parse_parallelism(options.mesh);
  plan.weights = weights_to_choose_from(options.weights);
  if (options.batch != "auto") plan.batch = parse_axis_size(options.batch, "--batch");
  if (!options.top.empty()) {
    plan.top = static_cast<std::size_t>(parse_axis_size(options.top, "--top"));
  }
  return plan;
}

namespace {

void run(const Options& options, Context& context) {
  const Model model = read_any_model(options.model, context.in);
  const ServeAnswer answer =
      answer_serve(model, serve_request(options.serve), serve_plan_request(options.serve));
  if (options.as_json) {
    context.out << serve_json(answer).str() << "\n";
  } else {
    context.out << serve_text(answer, options.explain);
  }
  if (!answer.is_yes()) context.exit_status = 1;
}

}  // namespace

void add_serving_options(CLI::App& command, ServeOptions& options) {
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    command.add_option(name, value, help)->type_name(type)->capture_default_str()->check(not_empty);
  };
  option("--prompt", options.prompt, "Tokens read", "N");
  option("--output", options.output, "Tokens written", "N");
  option(
      "--weights", options.weights,
      "Element type of parameters, or several (bf16,fp8,int4) to choose from; default as --dtype",
      "TYPE");
  option("--kv", options.kv, "Element type of the KV cache; default as --dtype", "TYPE");
  option("--mla", options.mla, "absorbed or expanded: how decoding runs latent attention", "MODE");
  option("--ttft", options.ttft, "Time to the first token, at most: 500ms", "T");
  option("--tpot", options.tpot, "Time per output token, at most: 30ms", "T");
}

void add_serve_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "serve", "Latency, throughput, memory and price of serving, and the best mesh");
  const auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "As for count")->required()->check(not_empty);
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    return command->add_option(name, value, help)
        ->type_name(type)
        ->capture_default_str()
        ->check(not_empty);
  };
  option("--on", options->serve.hardware, "Chip and how many, such as h100:8", "HW[:N]")
      ->required();
  option("--batch", options->serve.batch,
         "Sequences decoded together, of the whole deployment; auto: the most that fit in time",
         "B");
  option("--mesh", options->serve.mesh, "dp=2,tp=4,ep=1; without it the best is searched", "MESH");
  option("--dtype", options->serve.dtype, "Element type of the computation", "TYPE");
  add_serving_options(*command, options->serve);
  option("--price", options->serve.price, "Dollars per device and hour", "USD");
  option("--top", options->serve.top, "List so many meshes (JSON)", "N");
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Say at which lengths the numbers stand");
  command->footer(
      "Exit status 1 where the model does not fit, or is slower than asked.\n"
      "Examples:\n"
      "  flopwise serve llama-3-70b --on h100:8 --prompt 2048 --output 512 --tpot 30ms\n"
      "  flopwise serve deepseek-v3 --on h200:16 --mesh tp=8,dp=2 --weights fp8 --batch 256");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
