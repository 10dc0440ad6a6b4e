// flopwise count MODEL...: parameters, FLOPs, bytes and memory of one model or several side by
// side; flopwise roofline MODEL: the kernels of the same step on a chip.
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/plot_output.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string as;
  std::string mode = "train";
  std::string batch = "1";
  std::string seq, context, source, logits, weights, kv, hardware, intensity, lora;
  std::string remat = "none";
  std::string kernel = "flash";
  std::string mla = "absorbed";
  std::string fusion = "fused";
  std::string dtype = "bf16";
  std::string convention = "exact";
  std::string mesh;  // of roofline
  bool as_json = false;
  Explain explain = Explain::kNo;
};

std::int64_t size_or(const std::string& text, const char* option, std::int64_t fallback) {
  return text.empty() ? fallback : parse_axis_size(text, option);
}

Rational positive_quantity(const std::string& text, const char* option) {
  const Rational value = parse_quantity(text, option);
  if (value > Rational(0)) return value;
  throw UserError(std::string(option) + ": expected more than 0, got " + quoted(text));
}

CountRequest request_of(const Options& options) {
  CountRequest request;
  WorkloadRequest& workload = request.workload;
  workload.mode = parse_mode(options.mode);
  workload.batch = parse_axis_size(options.batch, "--batch");
  workload.seq_len = size_or(options.seq, "--seq", 0);
  workload.context = size_or(options.context, "--context", 0);
  workload.source = size_or(options.source, "--source", 0);
  workload.kernel = parse_attention_kernel(options.kernel);
  workload.logits = options.logits;
  workload.latent = parse_latent_mode(options.mla);
  if (!options.lora.empty()) workload.lora = parse_lora(options.lora);
  request.remat = parse_remat(options.remat);
  request.fusion = parse_fusion(options.fusion);
  request.dtype = options.dtype;
  request.weights = options.weights;
  request.kv = options.kv;
  request.convention = options.convention;
  if (!options.hardware.empty() && !options.intensity.empty()) {
    throw UserError("--intensity: expected --on HW or --intensity I, got both");
  }
  if (!options.hardware.empty()) {
    const HardwareChoice choice = read_hardware(options.hardware);
    if (choice.count_given) {
      throw UserError("--on: count looks at one device, expected no number of them, got " +
                      quoted(options.hardware));
    }
    request.hardware = choice.hardware;
  }
  if (!options.intensity.empty()) {
    request.intensity = positive_quantity(options.intensity, "--intensity");
  }
  return request;
}

void run(const Options& options, Context& context) {
  const CountRequest request = request_of(options);
  std::vector<Model> models;
  for (const std::string& model : options.models) {
    models.push_back(read_any_model(model, context.in, options.as));
  }
  const std::vector<CountResult> results = count_models(models, request);
  if (options.as_json) {
    context.out << count_json(results).str() << "\n";
  } else {
    context.out << count_text(results, options.explain);
  }
}

// `plot`: a file, or empty for the terminal.
void run_roofline(const Options& options, const std::optional<std::string>& plot,
                  Context& context) {
  const bool to_file = plot && !plot->empty();
  if (to_file) check_plot_file(*plot, "--plot");
  if (plot && !to_file && options.as_json) {
    throw UserError("roofline: expected --plot FILE with --json, got no file");
  }
  const CountRequest request = request_of(options);
  std::optional<Parallelism> mesh;
  if (!options.mesh.empty()) mesh = parse_parallelism(options.mesh);
  const RooflineAnswer answer =
      answer_roofline(read_any_model(options.models[0], context.in, options.as), request, mesh);
  if (plot && !to_file) {
    print_plot(roofline_plot(answer), false, context);
    return;
  }
  if (to_file) write_plot(roofline_plot(answer), *plot, "--plot");
  context.out << (options.as_json ? roofline_json(answer).str() + "\n" : roofline_text(answer));
}

void add_text_options(CLI::App& command, Options& options) {
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    command.add_option(name, value, help)->type_name(type)->capture_default_str()->check(not_empty);
  };
  option("--as", options.as,
         "Read a config.json as one of this model_type, and leave out what it does not know",
         "MODEL_TYPE");
  option("--mode", options.mode, "train, forward, prefill or decode", "MODE");
  option("--batch", options.batch, "Sequences, B", "B");
  option("--seq", options.seq,
         "Query positions, T; default min(2048, the model's context), 1 in decode", "T");
  option("--context", options.context, "Positions attended, S, new ones included (prefill, decode)",
         "S");
  option("--source", options.source,
         "Source positions of an encoder-decoder, R; default T, of Whisper 1500", "R");
  option("--logits", options.logits, "all or last; default all, last in prefill", "WHICH");
  option("--remat", options.remat, "none, attention, matmuls, block, full or save:NAME,NAME",
         "POLICY");
  option("--lora", options.lora,
         "Adapters in every layer, all else frozen: r=16,targets=q+v[,alpha=32]; targets=all",
         "LORA");
  option("--attention-kernel", options.kernel, "flash or plain", "KERNEL");
  option("--mla", options.mla,
         "absorbed or expanded: how decoding runs latent attention, and what its cache holds",
         "MODE");
  option("--fusion", options.fusion, "fused, eager or unfused: what goes through memory", "FUSION");
  option("--dtype", options.dtype, "Element type of activations and gradients", "TYPE");
  option("--weights", options.weights, "Element type of parameters; default as --dtype", "TYPE");
  option("--kv", options.kv, "Element type of the KV cache; default as --dtype", "TYPE");
  option("--on", options.hardware,
         "A chip such as h100 (`flopwise hardware` lists them) or flops=...,memory_bandwidth=...: "
         "says what is compute-bound there",
         "HW");
  option("--intensity", options.intensity, "FLOPs per byte, in place of a chip", "I");
  option("--convention", options.convention,
         "Also count the step as others do: 6nd, palm, megatron21, ...", "NAME");
}

}  // namespace

void add_count_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "count", "Every parameter, FLOP and byte of a transformer, forward and backward");
  const auto options = std::make_shared<Options>();
  command
      ->add_option(
          "MODEL", options->models,
          "A catalog name, a config.json, a directory with one, a GGUF file, - (standard input) or "
          "letters such as D=4096,F=16384,L=64,V=32000,N=32")
      ->required()
      ->check(not_empty);
  add_text_options(*command, *options);
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show formula = sizes put in = value for each operation");
  command->footer(
      "Letters: D, L, V and N (or H); defaults H = D/N, K = N, F = 4D, gated=1, tied=0, bias=0,\n"
      "norm=rms, final_norm=1, positions=0 (rotary; n learned rows), E=0, k=1, shared=0, W=0, "
      "C=0,\n"
      "causal=1. Numbers take k M G T P (decimal) and Ki Mi Gi Ti (binary).\n"
      "Examples:\n"
      "  flopwise count llama-3-8b --mode decode --context 8Ki --batch 16 --on h100\n"
      "  flopwise count D=4096,F=16384,L=64,V=32000,N=32 --seq 8192 --remat block --explain");
  command->callback([options, &context] { run(*options, context); });
}

void add_roofline_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "roofline", "Every kernel of a step on one chip: FLOPs, bytes, least time, what bounds it");
  const auto options = std::make_shared<Options>();
  options->models.resize(1);
  command->add_option("MODEL", options->models[0], "As for count")->required()->check(not_empty);
  add_text_options(*command, *options);
  command
      ->add_option("--mesh", options->mesh,
                   "fsdp=8,tp=4: tokens per device from which a layer is compute-bound on it; "
                   "without, what each parallelism needs")
      ->type_name("MESH")
      ->check(not_empty);
  command->add_flag("--json", options->as_json, "The answer as JSON");
  const auto plot = std::make_shared<std::string>();
  CLI::Option* plot_option =
      command
          ->add_option("--plot", *plot,
                       "Draws the kernels under the chip's roof, into FILE (.svg, .png, .csv or "
                       ".json), else on the terminal in place of the table")
          ->type_name("[FILE]")
          ->expected(0, 1);
  command->footer(
      "Options are those of count; --on is required.\n"
      "Examples:\n"
      "  flopwise roofline llama-3-8b --on h100 --batch 4\n"
      "  flopwise roofline llama-3-8b --on h100 --plot roofline.svg\n"
      "  flopwise roofline llama-3-70b --on tpu-v5p --mesh fsdp=512,tp=4\n"
      "  flopwise roofline llama-3-70b --on h200 --mode decode --context 32Ki --batch 64 --kv fp8");
  command->callback([options, plot, plot_option, &context] {
    run_roofline(*options, plot_option->count() > 0 ? std::optional(*plot) : std::nullopt, context);
  });
}

}  // namespace flopwise::cli
