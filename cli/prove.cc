// flopwise prove MODEL: counted execution against every formula.
#include "flopwise/proof/prove.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "flopwise/proof/proof_report.h"
#include "flopwise/proof/prove_einsum.h"

namespace flopwise::cli {
namespace {

struct Options {
  std::string model;
  std::string einsum;
  bool all = false;
  std::string remat = "all";
  std::string kernel = "both";
  bool as_json = false;
};

ProveOptions request_of(const Options& options) {
  ProveOptions request;
  if (options.remat != "all") request.policies = {parse_remat(options.remat)};
  if (options.kernel == "both") return request;
  if (options.kernel != "flash" && options.kernel != "plain") {
    throw UserError("--attention-kernel: expected flash, plain or both, got " +
                    quoted(options.kernel));
  }
  request.kernels = {parse_attention_kernel(options.kernel)};
  return request;
}

std::vector<Proof> prove_catalog(ProveOptions request, std::ostream& progress) {
  // Values are compared at the first draws; along the letters the counts alone.
  request.letters_in_full = false;
  std::vector<Model> models;
  for (const CatalogModel& row : model_catalog()) models.push_back(read_catalog_row(row));
  return prove_models(
      models, request, [&](const std::string& model, std::size_t proof, std::size_t proofs) {
        progress << fmt::format("proving {} ({} of {})\n", model, proof, proofs) << std::flush;
      });
}

// A line for each second that it takes.
Proof prove_one(const Model& model, ProveOptions request, std::ostream& progress) {
  using Clock = std::chrono::steady_clock;
  using std::chrono_literals::operator""s;
  Clock::time_point due = Clock::now() + 1s;
  request.progress = [&](std::size_t done, std::size_t parts) {
    if (done == parts || Clock::now() < due) return;
    due = Clock::now() + 1s;
    progress << fmt::format("proving {}: {} of {} draws\n", model.name, done, parts) << std::flush;
  };
  return prove_model(model, request);
}

void run(const Options& options, Context& context) {
  const int asked =
      (options.model.empty() ? 0 : 1) + (options.einsum.empty() ? 0 : 1) + (options.all ? 1 : 0);
  if (asked != 1) {
    throw UserError(fmt::format("prove: expected one of MODEL, --einsum EXPR and --all, got {}",
                                asked == 0 ? "none" : "several"));
  }
  if (!options.einsum.empty() && (options.remat != "all" || options.kernel != "both")) {
    throw UserError(
        "prove --einsum: expected no --remat and no --attention-kernel, an einsum has neither");
  }
  const ProveOptions request = request_of(options);
  std::vector<Proof> proofs;
  if (options.all) {
    proofs = prove_catalog(request, context.err);
  } else if (!options.einsum.empty()) {
    proofs = {prove_einsum(options.einsum, request)};
  } else {
    proofs = {prove_one(read_any_model(options.model, context.in), request, context.err)};
  }
  for (const Proof& proof : proofs) {
    if (!proof.holds()) context.exit_status = 1;
  }
  if (options.as_json) {
    context.out << proofs_json(proofs).str() << "\n";
  } else {
    context.out << (options.all ? proofs_text(proofs) : proof_text(proofs[0]));
  }
}

}  // namespace

void add_prove_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "prove", "Executes a shrunk model with counting arithmetic and compares every formula");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("MODEL", options->model,
                   "A catalog name, a config.json, a GGUF file, letters, ...")
      ->check(not_empty);
  command->add_option("--einsum", options->einsum, "One contraction instead of a model")
      ->type_name("EXPR")
      ->check(not_empty);
  command->add_flag("--all", options->all,
                    "Every model of the catalog, a proof for each structure");
  command
      ->add_option("--remat", options->remat,
                   "all, none, attention, matmuls, block, full or save:NAME,NAME")
      ->type_name("POLICY")
      ->capture_default_str()
      ->check(not_empty);
  command->add_option("--attention-kernel", options->kernel, "flash, plain or both")
      ->type_name("KERNEL")
      ->capture_default_str()
      ->check(not_empty);
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->footer(
      "Exit status 1 where a count differs from its formula.\n"
      "Examples:\n"
      "  flopwise prove llama-3-8b\n"
      "  flopwise prove D=4096,F=16384,L=64,V=32000,N=32,E=8,k=2 --remat block\n"
      "  flopwise prove --einsum 'A[I,J] * B[J,K] * C[K,L]'");
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
