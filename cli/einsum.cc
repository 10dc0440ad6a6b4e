// flopwise einsum EXPR: what one contraction costs.
#include <memory>
#include <ostream>

#include "cli/commands.h"

namespace flopwise::cli {
namespace {

struct Options {
  EinsumQuery query;
  bool as_json = false;
  Explain explain = Explain::kNo;
};

constexpr const char* kFooter =
    "Examples:\n"
    "  flopwise einsum 'ij,jk->ik' --on tpu-v5e\n"
    "  flopwise einsum 'A[B_X,D_Y] *_D W[D_Y,F] -> C[B_X,F]' --mesh X=4,Y=8 --size "
    "B=1024,D=4k,F=16k\n"
    "  flopwise einsum 'A[I,J] * B[J,K] * C[K,L]' --size I=10,J=30,K=5,L=60 --explain";

void run(const Options& options, Context& context) {
  const EinsumAnswer answer = answer_einsum(options.query);
  if (options.as_json) {
    context.out << einsum_json(answer).str() << "\n";
  } else {
    context.out << einsum_text(answer, options.explain);
  }
}

}  // namespace

void add_einsum_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "einsum", "FLOPs, bytes and sharding of a contraction such as 'A[B_X,D_Y] *_D W[D_Y,F]'");
  const auto options = std::make_shared<Options>();
  EinsumQuery& query = options->query;
  command
      ->add_option("EXPR", query.expression,
                   "Named axes, A[B,D] * W[D,F] -> C[B,F], or letters, bd,df->bf")
      ->required();
  command
      ->add_option("--size", query.sizes, "Size of an axis, AXIS=N; may be repeated, or B=1k,D=4Ki")
      ->type_name("AXIS=N")
      ->allow_extra_args(false);
  command->add_option("--mesh", query.mesh, "Devices along each mesh axis, such as X=4,Y=8")
      ->type_name("AXIS=N,...");
  command->add_option("--dtype", query.dtype, "Element type of every array")
      ->type_name("TYPE")
      ->capture_default_str();
  command
      ->add_option("--on", query.hardware,
                   "A chip, such as h100, or flops=197e12,memory_bandwidth=819e9")
      ->type_name("HW");
  command->add_flag("--json", options->as_json, "The answer as JSON");
  command->add_flag_callback(
      "--explain", [options] { options->explain = Explain::kYes; },
      "Show formula = sizes put in = value for each number");
  command->footer(kFooter);
  command->callback([options, &context] { run(*options, context); });
}

}  // namespace flopwise::cli
