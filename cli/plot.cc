// flopwise plot NAME MODEL: pictures of what the other commands say in numbers.
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/plan_options.h"
#include "cli/plot_output.h"

namespace flopwise::cli {
namespace {

// What every plot takes.
struct Target {
  std::string model;
  std::string out;
  bool as_json = false;
};

// Says so before the work if the plot has nowhere to go.
void check(const Target& target) {
  if (target.out.empty()) return;
  check_plot_file(target.out, "--out");
  if (target.as_json) throw UserError("plot: expected --out FILE or --json, got both");
}

void put(const PlotData& data, const Target& target, Context& context) {
  if (target.out.empty()) {
    print_plot(data, target.as_json, context);
  } else {
    write_plot(data, target.out, "--out");
  }
}

void add_text(CLI::App& command, const char* name, std::string& value, const char* help,
              const char* type) {
  command.add_option(name, value, help)->type_name(type)->capture_default_str()->check(not_empty);
}

CLI::App* add_plot(CLI::App& plot, const char* name, const char* what, Target& target) {
  CLI::App* command = plot.add_subcommand(name, what);
  command->add_option("MODEL", target.model, "As for count")->required()->check(not_empty);
  add_text(*command, "--out", target.out,
           "Where the plot goes: .svg, .png, .csv or .json; without it, the terminal", "FILE");
  command->add_flag("--json", target.as_json, "The data as JSON");
  return command;
}

// ---- attention-cost
// ------------------------------------------------------------------------------

struct AttentionOptions {
  Target target;
  std::string hardware;
  std::string batch = "1";
  std::string from = "128";
  std::string to = "1Mi";
  std::string pairs = "masked";
  std::string dtype = "bf16";
};

void run_attention(const AttentionOptions& options, Context& context) {
  check(options.target);
  AttentionCostRequest request;
  request.batch = parse_axis_size(options.batch, "--batch");
  request.from = parse_axis_size(options.from, "--from");
  request.to = parse_axis_size(options.to, "--to");
  request.pairs = parse_pairs(options.pairs);
  request.dtype = options.dtype;
  if (!options.hardware.empty()) {
    const HardwareChoice choice = read_hardware(options.hardware);
    if (choice.count_given) {
      throw UserError("--on: attention-cost looks at one device, expected no number of them, got " +
                      quoted(options.hardware));
    }
    request.hardware = choice.hardware;
  }
  const Model model = read_any_model(options.target.model, context.in);
  put(attention_cost_plot(model, request), options.target, context);
}

void add_attention(CLI::App& plot, Context& context) {
  const auto options = std::make_shared<AttentionOptions>();
  CLI::App& command = *add_plot(plot, "attention-cost",
                                "Attention over feed-forward, FLOPs and time, as the context grows",
                                options->target);
  add_text(command, "--on", options->hardware, "A chip such as h100: adds the times there", "HW");
  add_text(command, "--from", options->from, "Shortest context", "T");
  add_text(command, "--to", options->to, "Longest context", "T");
  add_text(command, "--pairs", options->pairs,
           "masked or dense: whether what the mask leaves out counts", "WHICH");
  add_text(command, "--batch", options->batch, "Sequences", "B");
  add_text(command, "--dtype", options->dtype, "Element type", "TYPE");
  command.callback([options, &context] { run_attention(*options, context); });
}

// ---- plans of training or serving
// ------------------------------------------------------------------

enum class PlanKind { kTrain, kServe };

struct PlanOptions {
  Target target;
  std::string mode;
  std::string over = "context";
  std::string from, to;
  TrainOptions train;
  ServeOptions serve;
};

PlanKind kind_of(const PlanOptions& options) {
  if (options.mode == "train") return PlanKind::kTrain;
  if (options.mode == "serve") return PlanKind::kServe;
  throw UserError("--mode: expected train or serve, got " + quoted(options.mode));
}

// An option of the other mode would change nothing.
void refuse_other_mode(const CLI::App& command, PlanKind kind) {
  constexpr const char* kTrain[] = {"--batch-tokens",
                                    "--seq",
                                    "--micro-batch",
                                    "--remat",
                                    "--zero",
                                    "--recipe",
                                    "--interleave",
                                    "--fusion",
                                    "--sequence-parallel",
                                    "--attention-kernel",
                                    "--matmul-dtype",
                                    "--flash",
                                    "--schedule"};
  constexpr const char* kServe[] = {"--prompt", "--output", "--weights", "--kv",
                                    "--mla",    "--ttft",   "--tpot"};
  const auto refuse = [&](const auto& names, const char* mode) {
    for (const char* name : names) {
      if (command.count(name) == 0) continue;
      throw UserError(std::string(name) + ": expected it with --mode " + mode + " only");
    }
  };
  kind == PlanKind::kTrain ? refuse(kServe, "serve") : refuse(kTrain, "train");
}

// What both modes read stands with the options of training.
ServeOptions serving_of(const PlanOptions& options) {
  ServeOptions serve = options.serve;
  serve.hardware = options.train.hardware;
  serve.mesh = options.train.mesh;
  serve.dtype = options.train.dtype;
  if (!options.train.batch.empty()) serve.batch = options.train.batch;
  if (serve.weights.find(',') != std::string::npos) {
    throw UserError("--weights: a plot shows one element type, got " + quoted(serve.weights));
  }
  return serve;
}

CLI::App& add_plan_plot(CLI::App& plot, const char* name, const char* what, const char* mode,
                        PlanOptions& options) {
  CLI::App& command = *add_plot(plot, name, what, options.target);
  options.mode = mode;
  add_text(command, "--mode", options.mode, "train or serve; options of the other are refused",
           "MODE");
  add_train_options(command, options.train);
  add_serving_options(command, options.serve);
  return command;
}

// ---- memory
// --------------------------------------------------------------------------------------

PlotData memory_by_devices(const Model& model, const PlanOptions& options) {
  if (!options.to.empty()) {
    throw UserError("plot memory: --to is the number of devices of --on, expected none");
  }
  const std::int64_t from = parse_axis_size(options.from.empty() ? "1" : options.from, "--from");
  if (kind_of(options) == PlanKind::kTrain) {
    return train_memory_by_devices(model, train_request(options.train, model),
                                   plan_request(options.train), from);
  }
  const ServeOptions serve = serving_of(options);
  return serve_memory_by_devices(model, serve_request(serve), serve_plan_request(serve), from);
}

PlotData memory_by_context(const Model& model, const PlanOptions& options) {
  const std::int64_t from = parse_axis_size(options.from.empty() ? "1Ki" : options.from, "--from");
  const std::int64_t to = parse_axis_size(options.to.empty() ? "128Ki" : options.to, "--to");
  if (kind_of(options) == PlanKind::kTrain) {
    return train_memory_by_context(model, train_request(options.train, model),
                                   plan_request(options.train), from, to);
  }
  const ServeOptions serve = serving_of(options);
  return serve_memory_by_context(model, serve_request(serve), serve_plan_request(serve), from, to);
}

void run_memory(const CLI::App& command, const PlanOptions& options, Context& context) {
  check(options.target);
  refuse_other_mode(command, kind_of(options));
  if (options.over != "context" && options.over != "devices") {
    throw UserError("--over: expected context or devices, got " + quoted(options.over));
  }
  const Model model = read_any_model(options.target.model, context.in);
  put(options.over == "context" ? memory_by_context(model, options)
                                : memory_by_devices(model, options),
      options.target, context);
}

void add_memory(CLI::App& plot, Context& context) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App& command = add_plan_plot(
      plot, "memory", "What a device holds, by kind, as the context or the devices grow", "train",
      *options);
  add_text(command, "--over", options->over, "context or devices", "WHAT");
  add_text(command, "--from", options->from, "Shortest context, default 1Ki; or fewest devices, 1",
           "N");
  add_text(command, "--to", options->to, "Longest context; default 128Ki", "N");
  command.footer(
      "Over context the plan is --mesh with its options, or the best at --seq; over devices, 1 2 4 "
      "... N,\nthe best of each. Serving over context holds --batch sequences; auto: one a "
      "replica.");
  command.callback([options, &command, &context] { run_memory(command, *options, context); });
}

// ---- pareto
// --------------------------------------------------------------------------------------

void run_pareto(const CLI::App& command, const PlanOptions& options, Context& context) {
  check(options.target);
  refuse_other_mode(command, kind_of(options));
  const Model model = read_any_model(options.target.model, context.in);
  if (kind_of(options) == PlanKind::kTrain) {
    put(train_pareto_plot(model, train_request(options.train, model), plan_request(options.train)),
        options.target, context);
    return;
  }
  const ServeOptions serve = serving_of(options);
  put(serve_pareto_plot(model, serve_request(serve), serve_plan_request(serve)), options.target,
      context);
}

void add_pareto(CLI::App& plot, Context& context) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App& command = add_plan_plot(
      plot, "pareto", "Plans that no other beats: latency and throughput, or step time and memory",
      "serve", *options);
  command.callback([options, &command, &context] { run_pareto(command, *options, context); });
}

// ---- scaling
// -------------------------------------------------------------------------------------

struct ScalingOptions {
  Target target;
  std::string from = "1";
  TrainOptions train;
};

void run_scaling(const ScalingOptions& options, Context& context) {
  check(options.target);
  const Model model = read_any_model(options.target.model, context.in);
  put(scaling_plot(model, train_request(options.train, model), plan_request(options.train),
                   parse_axis_size(options.from, "--from")),
      options.target, context);
}

void add_scaling(CLI::App& plot, Context& context) {
  const auto options = std::make_shared<ScalingOptions>();
  CLI::App& command = *add_plot(
      plot, "scaling", "Time of a training step on 1, 2, 4, ... N devices", options->target);
  add_text(command, "--from", options->from, "Fewest devices", "N");
  add_train_options(command, options->train);
  command.callback([options, &context] { run_scaling(*options, context); });
}

}  // namespace

void add_plot_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "plot", "Pictures: SVG, PNG, on the terminal, or their data as CSV and JSON");
  command->require_subcommand(1);
  add_attention(*command, context);
  add_memory(*command, context);
  add_pareto(*command, context);
  add_scaling(*command, context);
  command->footer(
      "`flopwise roofline MODEL --on HW --plot [FILE]` draws kernels under a chip's roof.\n"
      "Examples:\n"
      "  flopwise plot attention-cost llama-3-8b --on h100\n"
      "  flopwise plot memory llama-3-8b --on h100:8 --batch 8 --mesh fsdp=8 --out memory.svg\n"
      "  flopwise plot pareto llama-3-70b --on h100:8 --prompt 2048 --output 512 --out pareto.png\n"
      "  flopwise plot scaling llama-3-70b --on h100:1024 --batch 1024 --seq 8192");
}

}  // namespace flopwise::cli
