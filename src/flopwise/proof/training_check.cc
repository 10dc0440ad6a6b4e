#include "flopwise/proof/training_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "flopwise/cost/memory.h"
#include "flopwise/cost/params.h"
#include "flopwise/model/build.h"
#include "flopwise/proof/flash_check.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::Dual;
using exec::ModelState;
using exec::ProgramRun;

// Dual numbers carry the exact derivative; both sides round.
constexpr double kSameDerivatives = 1e-10;
// A gradient that is 0 but for rounding, such as that of a key bias (softmax does not see what all
// keys have in common), is compared at this share of the model's largest.
constexpr double kNegligible = 1e-3;

class TrainingCheck {
 public:
  explicit TrainingCheck(JobContext& context)
      : context_(context),
        ledger_(context.ledger),
        step_(context.workload(Mode::kTrain, context.job.draw.of("T"), context.job.draw.of("T"))) {}

  void run() {
    Values kept_all;
    if (!context_.job.counts_only) kept_all = without_remat();
    for (const RematPolicy& policy : context_.job.policies) {
      const Program program = build_training_program(context_.model, step_, policy);
      Program executed = program;
      context_.options.plant(executed);
      ModelState<CountedDouble> state(context_.seed);
      ProgramRun<CountedDouble> run(executed, state, kProofElementBytes);
      run.forward();
      run.backward();
      ledger_.add_run();
      const std::string place = context_.where("remat " + describe(policy));
      context_.compare_counts(Mode::kTrain, program, run, place);
      if (context_.job.counts_only) continue;
      compare_params(program, state, place);
      compare_memory(program, run, place);
      compare_bits(kept_all, run.gradients(), place);
    }
  }

 private:
  // Gradients that nothing was recomputed for: right by themselves, and what every policy must
  // give.
  Values without_remat() {
    Program program = build_training_program(context_.model, step_, {RematKind::kNone, {}});
    const Program planned = program;
    context_.options.plant(program);
    ModelState<CountedDouble> state(context_.seed);
    ProgramRun<CountedDouble> run(program, state, kProofElementBytes);
    run.forward();
    run.backward();
    const std::string place = context_.where("training");
    compare_with_duals(planned, run.gradients(), state, place);
    for (const auto& [key, gradient] : run.gradients()) {
      ledger_.hold("gradients.alive", largest(gradient) > 0, key + ", " + place);
    }
    if (step_.kernel == AttentionKernel::kFlash) {
      check_flash(planned, context_.options.work, context_.seed, ledger_, place);
      compare_with_plain(run.gradients());
    }
    return run.gradients();
  }

  void compare_params(const Program& program, ModelState<CountedDouble>& state,
                      const std::string& place) {
    const Params predicted = params_of(program);
    Params given;
    std::set<std::string> seen;
    for (const Block& block : program.blocks) {
      const std::int64_t repeat = exec::size_at(block.repeat, program.sizes_of(block));
      for (const Tensor& tensor : block.graph.tensors()) {
        if (tensor.role != Role::kParameter) continue;
        for (std::int64_t layer = 0; layer < repeat; ++layer) {
          const std::string key = exec::parameter_key(block, layer, tensor);
          if (!seen.insert(key).second) continue;
          given.by_component[static_cast<std::size_t>(tensor.component)] +=
              Count(state.parameters().at(key).size());
        }
      }
    }
    for (const auto& [key, array] : state.parameters()) given.total += Count(array.size());
    ledger_.equal("params.total", predicted.total, given.total, place);
    for (std::size_t i = 0; i < given.by_component.size(); ++i) {
      ledger_.equal("params.by_component", predicted.by_component[i], given.by_component[i], place);
    }
  }

  void compare_memory(const Program& program, const ProgramRun<CountedDouble>& run,
                      const std::string& place) {
    const ActivationMemory memory =
        activation_memory(program, Fusion::kUnfused, proof_element_types());
    ledger_.equal("activations.saved_bytes", memory.saved_bytes, run.saved_bytes(), place);
    ledger_.equal("activations.peak_bytes", memory.peak_bytes, run.peak_bytes(), place);
  }

  void compare_bits(const Values& ours, const Values& theirs, const std::string& place) {
    ledger_.hold("gradients.remat", ours.size() == theirs.size(), place);
    for (const auto& [key, gradient] : ours) {
      const auto other = theirs.find(key);
      bool same = other != theirs.end() && other->second.size() == gradient.size();
      for (std::int64_t i = 0; same && i < gradient.size(); ++i) {
        same = gradient[i].value() == other->second[i].value();
      }
      ledger_.hold("gradients.remat", same, fmt::format("{}, {}", key, place));
    }
  }

  struct Comparison {
    double difference = 0;
    double scale = 0;
  };

  // The derivative along a random direction of all parameters, or of one, as dual numbers carry it
  // forward, against the gradients' component. A step is in proportion to 1 over the parameter's
  // gradient, so that each has the same say.
  Comparison along_random(const Program& program, const Values& gradients, const Values& drawn,
                          double least, const std::string& only) {
    ModelState<Dual> state(context_.seed);
    double component = 0;
    Comparison result;
    for (const auto& [key, values] : drawn) {
      Array<Dual>& parameter = state.parameters()[key] = Array<Dual>(values.shape());
      const auto gradient = gradients.find(key);
      const bool has_gradient = gradient != gradients.end();
      const bool moves = only.empty() || only == key;
      const double step = has_gradient ? 1 / std::max(largest(gradient->second), least) : 1 / least;
      for (std::int64_t i = 0; i < parameter.size(); ++i) {
        const double draw =
            exec::uniform(exec::derived_seed(context_.seed, key), static_cast<std::uint64_t>(i));
        parameter[i] = Dual(values[i].value(), moves ? step * (2 * draw - 1) : 0);
        const double share = has_gradient ? gradient->second[i].value() * parameter[i].slope : 0;
        component += share;
        result.scale += std::abs(share);
      }
    }
    ProgramRun<Dual> along(program, state, kProofElementBytes);
    along.forward();
    result.difference = std::abs(along.objective().slope - component);
    return result;
  }

  // All parameters at once; where that fails, one by one, for the name of the wrong one.
  void compare_with_duals(const Program& program, const Values& gradients,
                          ModelState<CountedDouble>& drawn, const std::string& place) {
    const double least = kNegligible * largest(gradients);
    const auto compare = [&](const std::string& only) {
      return along_random(program, gradients, drawn.parameters(), least, only);
    };
    const Comparison all = compare("");
    if (!(all.difference <= kSameDerivatives * all.scale)) {
      for (const auto& [key, values] : drawn.parameters()) {
        const Comparison one = compare(key);
        ledger_.close("gradients", one.difference, one.scale, kSameDerivatives, key + ", " + place);
      }
    }
    ledger_.close("gradients", all.difference, all.scale, kSameDerivatives, place);
  }

  void compare_with_plain(const Values& flash) {
    Workload step = step_;
    step.kernel = AttentionKernel::kPlain;
    const Program program = build_training_program(context_.model, step, {RematKind::kNone, {}});
    ModelState<CountedDouble> state(context_.seed);
    ProgramRun<CountedDouble> run(program, state, kProofElementBytes);
    run.forward();
    run.backward();
    ledger_.hold("gradients.kernels", flash.size() == run.gradients().size(),
                 context_.where("training"));
    const double least = kNegligible * largest(flash);
    for (const auto& [key, gradient] : flash) {
      const auto plain = run.gradients().find(key);
      if (plain == run.gradients().end()) {
        ledger_.hold("gradients.kernels", false, context_.where(key));
        continue;
      }
      context_.compare_arrays("gradients.kernels", gradient, plain->second, least,
                              context_.where(key));
    }
  }

  JobContext& context_;
  Ledger& ledger_;
  Workload step_;
};

}  // namespace

void check_training(JobContext& context) {
  TrainingCheck(context).run();
}

}  // namespace flopwise
