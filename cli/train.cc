// flopwise train MODEL --on HW:N: time, memory, wire bytes and price of training on a mesh.
#include <memory>
#include <ostream>
#include <string>

#include "cli/commands.h"
#include "cli/plan_options.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string model;
  TrainOptions train;
  bool as_json = false;
  Explain explain = Explain::kNo;
};

// --batch sequences, or --batch-tokens of them.
std::int64_t batch_of(const TrainOptions& options, const Model& model, std::int64_t seq_len) {
  if (options.batch.empty() == options.batch_tokens.empty()) {
    throw UserError("train: expected --batch SEQUENCES or --batch-tokens TOKENS, got " +
                    std::string(options.batch.empty() ? "neither" : "both"));
  }
  if (!options.batch.empty()) return parse_axis_size(options.batch, "--batch");
  WorkloadRequest workload;
  workload.seq_len = seq_len;
  const std::int64_t length = resolve(workload, model).seq_len;
  const std::int64_t tokens = parse_axis_size(options.batch_tokens, "--batch-tokens");
  if (tokens % length == 0) return tokens / length;
  throw UserError("--batch-tokens: expected a multiple of T = " + std::to_string(length) +
                  ", got " + options.batch_tokens);
}

Count tokens_of(const std::string& text) {
  const Rational tokens = parse_quantity(text, "--tokens");
  if (tokens > Rational(0) && tokens.is_integer()) return Count::of(tokens.num());
  throw UserError("--tokens: expected a whole number above 0, got " + quoted(text));
}

}  // namespace

TrainRequest train_request(const TrainOptions& options, const Model& model) {
  TrainRequest request;
  const HardwareChoice choice = devices_of(options.hardware, options.mesh);
  request.hardware = choice.hardware;
  request.devices = choice.count;
  if (!options.seq.empty()) request.seq_len = parse_axis_size(options.seq, "--seq");
  request.batch = batch_of(options, model, request.seq_len);
  if (!options.tokens.empty()) request.tokens = tokens_of(options.tokens);
  request.recipe = parse_recipe(options.recipe);
  request.dtype = options.dtype;
  request.matmul_dtype = options.matmul_dtype;
  request.kernel = parse_attention_kernel(options.kernel);
  request.flash = parse_flash_generation(options.flash);
  request.fusion = parse_fusion(options.fusion);
  request.convention = options.convention;
  request.price_usd_per_hour = price_of(options.price);
  return request;
}

PlanRequest plan_request(const TrainOptions& options) {
  PlanRequest plan;
  if (!options.mesh.empty()) plan.mesh = parse_parallelism(options.mesh);
  if (!options.micro_batch.empty()) {
    plan.micro_batch = parse_axis_size(options.micro_batch, "--micro-batch");
  }
  if (!options.remat.empty()) plan.remat = parse_remat(options.remat);
  if (!options.interleave.empty()) {
    plan.interleave = parse_axis_size(options.interleave, "--interleave");
  }
  if (options.sequence_parallel) plan.sequence_parallel = true;
  plan.schedule = in_context("--schedule", [&] { return parse_schedule(options.schedule); });
  if (!options.zero.empty()) {
    if (options.zero == "3") {
      throw UserError("--zero: expected 0, 1 or 2; stage 3 is the mesh axis fsdp, got '3'");
    }
    if (options.zero != "0" && options.zero != "1" && options.zero != "2") {
      throw UserError("--zero: expected 0, 1 or 2, got " + quoted(options.zero));
    }
    plan.zero = options.zero[0] - '0';
  }
  if (!options.sort.empty()) {
    if (options.sort != "time" && options.sort != "memory") {
      throw UserError("--sort: expected time or memory, got " + quoted(options.sort));
    }
    plan.goal = options.sort == "time" ? PlanGoal::kTime : PlanGoal::kMemory;
  }
  if (!options.top.empty()) {
    plan.top = static_cast<std::size_t>(parse_axis_size(options.top, "--top"));
  }
  if (!options.why.empty()) {
    plan.why = in_context("--why", [&] { return parse_train_plan(options.why); });
  }
  return plan;
}

namespace {

void run(const Options& options, Context& context) {
  const Model model = read_any_model(options.model, context.in);
  PlanRequest plan = plan_request(options.train);
  plan.progress = progress_on(context.err, "plans");
  const TrainAnswer answer = answer_train(model, train_request(options.train, model), plan);
  if (options.as_json) {
    context.out << train_json(answer).str() << "\n";
  } else {
    context.out << train_text(answer, options.explain);
  }
  if (!answer.fits()) context.exit_status = 1;
}

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& options) {
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    return command.add_option(name, value, help)
        ->type_name(type)
        ->capture_default_str()
        ->check(not_empty);
  };
  option("--on", options.hardware, "Chip and how many, such as h100:64", "HW[:N]")->required();
  option("--batch", options.batch, "Sequences of a step, over all devices", "B");
  option("--batch-tokens", options.batch_tokens, "The same in tokens", "N");
  option("--seq", options.seq, "Sequence length, T; default min(2048, the model's context)", "T");
  option("--mesh", options.mesh,
         "dp=8,fsdp=1,tp=8,cp=1,pp=1,ep=1; those left out are 1. Without it the best is searched",
         "MESH");
  option("--micro-batch", options.micro_batch, "Sequences per replica and pass", "B");
  option("--remat", options.remat, "none, attention, matmuls, block, full or save:NAME,NAME",
         "POLICY");
  option("--zero", options.zero, "0, 1 or 2: what dp shards besides; 3 is fsdp", "STAGE");
  option("--interleave", options.interleave, "Pipeline stages a device holds", "V");
  option("--schedule", options.schedule,
         "Of a pipeline: 1f1b, or with the gradients of weights put off zb-h1, zb-h2", "NAME");
  command.add_flag("--sequence-parallel", options.sequence_parallel,
                   "Residual stream and norms split over tp");
  option("--recipe", options.recipe,
         "Bytes a parameter: megatron (2+4+12), zero, book, maxtext, fp32, or such as 2+4+12",
         "NAME");
  option("--dtype", options.dtype, "Element type of the computation", "TYPE");
  option("--matmul-dtype", options.matmul_dtype,
         "Element type of matrix products where they have their own, such as fp8", "TYPE");
  option("--attention-kernel", options.kernel, "flash or plain", "KERNEL");
  option("--flash", options.flash,
         "1, 2 or 3: the generation of FlashAttention whose speed is expected", "GENERATION");
  option("--fusion", options.fusion, "fused, eager or unfused: what goes through memory", "FUSION");
}

void add_train_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "train", "Time, memory, traffic and price of training on a mesh, and the best plan");
  const auto options = std::make_shared<Options>();
  command->add_option("MODEL", options->model, "As for count")->required()->check(not_empty);
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    return command->add_option(name, value, help)
        ->type_name(type)
        ->capture_default_str()
        ->check(not_empty);
  };
  add_train_options(*command, options->train);
  option("--tokens", options->train.tokens, "Of the whole run: its time, device-hours and price",
         "N");
  option("--convention", options->train.convention, "How the FLOPs of MFU are counted", "NAME");
  option("--price", options->train.price, "Dollars per device and hour", "USD");
  option("--sort", options->train.sort, "What the search minimises: time (default) or memory",
         "GOAL");
  option("--top", options->train.top, "List so many plans", "N");
  option("--why", options->train.why,
         "Compare the answer with this plan: dp=8,tp=8,micro-batch=2,remat=block,zero=1,...",
         "PLAN");
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show what the times are made of");
  command->footer(
      "Exit status 1 where no plan, or not the given one, fits into memory.\n"
      "Examples:\n"
      "  flopwise train llama-3-70b --on h100:1024 --batch-tokens 4Mi --seq 8192 --tokens 15T\n"
      "  flopwise train llama-3-70b --on h100:64 --batch 512 --seq 8192 --mesh dp=8,tp=8 "
      "--zero 1 --remat block");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
