#include "flopwise/proof/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "flopwise/base/dtype.h"
#include "flopwise/base/error.h"
#include "flopwise/cost/cost.h"
#include "flopwise/exec/program_run.h"
#include "flopwise/model/build.h"
#include "flopwise/proof/flash_check.h"
#include "flopwise/proof/shrink.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::Dual;
using exec::ElementBytes;
using exec::ModelState;
using exec::ProgramRun;
using Gradients = std::map<std::string, Array<CountedDouble>>;

// Sums in another order differ in the last bits of a double; nothing else may.
constexpr double kSameNumbers = 1e-12;
// Dual numbers carry the exact derivative; both sides round.
constexpr double kSameDerivatives = 1e-10;
// A gradient that is 0 but for rounding, such as that of a key bias (softmax does not see what all
// keys have in common), is compared at this share of the model's largest.
constexpr double kNegligible = 1e-3;

const char* name_of(AttentionKernel kernel) {
  return kernel == AttentionKernel::kFlash ? "flash" : "plain";
}

// Element types of three sizes, so that none can stand for another.
ElementTypes element_types() {
  return {find_dtype("bf16"), find_dtype("fp32"), find_dtype("int8")};
}
constexpr ElementBytes kElementBytes = {
    {2, 4, 1, 4, 1, 4}
};

class JobRun {
 public:
  JobRun(const Model& model, const ProveOptions& options, Job job)
      : options_(options),
        job_(std::move(job)),
        model_(shrink(model, job_.draw)),
        seed_(exec::derived_seed(0, job_.draw.str())) {}

  void run() {
    train();
    if (model_.architecture == Architecture::kEncoder || !decodes()) {
      counted_forward();
    } else if (job_.counts_only) {
      count_generation();
    } else {
      generate();
    }
  }

  const Ledger& ledger() const { return ledger_; }

 private:
  std::string where(const std::string& what) const {
    return fmt::format("{} kernel, {}, {}", name_of(job_.kernel), what, job_.draw.str());
  }

  Workload workload(Mode mode, std::int64_t queries, std::int64_t keys) const {
    WorkloadRequest request;
    request.mode = mode;
    request.batch = job_.draw.sizes().at("B");
    request.seq_len = queries;
    if (mode == Mode::kPrefill || mode == Mode::kDecode) request.context = keys;
    if (model_.architecture == Architecture::kEncoderDecoder) {
      request.source = job_.draw.sizes().at("R");
    }
    request.kernel = job_.kernel;
    return resolve(request, model_);
  }

  // Some masks want T = S: such a model runs whole sequences only.
  bool decodes() {
    const std::int64_t queries = job_.draw.of("T");
    return std::all_of(model_.decoder->groups.begin(), model_.decoder->groups.end(),
                       [&](const LayerGroup& group) {
                         const AttentionMask& mask = group.layer.attention.mask;
                         return mask_problem({mask.kind, mask.size}, 1, queries).empty();
                       });
  }

  // ---- training --------------------------------------------------------------------------------

  void train() {
    const Workload step = workload(Mode::kTrain, job_.draw.of("T"), job_.draw.of("T"));
    const Gradients kept_all = job_.counts_only ? Gradients() : train_without_remat(step);
    for (const RematPolicy& policy : job_.policies) {
      const Program program = build_training_program(model_, step, policy);
      ModelState<CountedDouble> state(seed_);
      ProgramRun<CountedDouble> run(program, state, kElementBytes);
      run.forward();
      run.backward();
      ledger_.add_run();
      const std::string place = where("remat " + describe(policy));
      compare_counts(Mode::kTrain, program, run, place);
      if (job_.counts_only) continue;
      compare_memory(program, run, state, place);
      compare_bits(kept_all, run.gradients(), place);
    }
  }

  // Gradients that nothing was recomputed for: right by themselves, and what every policy must
  // give.
  Gradients train_without_remat(Workload step) {
    const Program program = build_training_program(model_, step, {RematKind::kNone, {}});
    ModelState<CountedDouble> state(seed_);
    ProgramRun<CountedDouble> run(program, state, kElementBytes);
    run.forward();
    run.backward();
    compare_with_duals(program, run.gradients(), state, where("training"));
    if (step.kernel == AttentionKernel::kFlash) {
      check_flash(program, seed_, ledger_, where("training"));
      compare_with_plain(run.gradients(), step);
    }
    return run.gradients();
  }

  void compare_counts(Mode mode, const Program& program, const ProgramRun<CountedDouble>& run,
                      const std::string& place) {
    for (std::size_t b = 0; b < program.blocks.size(); ++b) {
      const Block& block = program.blocks[b];
      const Sizes sizes = program.sizes_of(block);
      for (std::size_t i = 0; i < block.graph.ops().size(); ++i) {
        const Op& op = block.graph.ops()[i];
        const Work work = options_.work(block.graph, op);
        const Count predicted =
            work.flops.is_zero() ? Count(0) : work.flops.eval_count(sizes, op.name);
        for (const auto& layer : run.layers()) {
          if (layer.block != b) continue;
          ledger_.count(mode, block, op, work, predicted, layer.run->tallies()[i].total(), place);
        }
      }
    }
  }

  void compare_memory(const Program& program, const ProgramRun<CountedDouble>& run,
                      ModelState<CountedDouble>& state, const std::string& place) {
    std::int64_t elements = 0;
    for (const auto& [key, array] : state.parameters()) elements += array.size();
    ledger_.equal("params.total", params_of(program).total, elements, place);
    const ActivationMemory memory = activation_memory(program, Fusion::kUnfused, element_types());
    ledger_.equal("activations.saved_bytes", memory.saved_bytes, run.saved_bytes(), place);
    ledger_.equal("activations.peak_bytes", memory.peak_bytes, run.peak_bytes(), place);
  }

  void compare_bits(const Gradients& ours, const Gradients& theirs, const std::string& place) {
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

  // The derivative along a random direction of all parameters, as dual numbers carry it forward,
  // against the gradients' component; where they differ, parameter by parameter, for its name. A
  // step is in proportion to 1 over the parameter's gradient, so that each has the same say.
  void compare_with_duals(const Program& program, const Gradients& gradients,
                          ModelState<CountedDouble>& drawn, const std::string& place) {
    const double least = kNegligible * largest(gradients);
    const auto compare = [&](const std::string& only) {
      ModelState<Dual> state(seed_);
      double component = 0;
      double scale = 0;
      for (const auto& [key, values] : drawn.parameters()) {
        Array<Dual>& parameter = state.parameters()[key] = Array<Dual>(values.shape());
        const auto gradient = gradients.find(key);
        const bool has_gradient = gradient != gradients.end();
        const bool moves = only.empty() || only == key;
        const double step =
            has_gradient ? 1 / std::max(largest(gradient->second), least) : 1 / least;
        for (std::int64_t i = 0; i < parameter.size(); ++i) {
          const double draw =
              exec::uniform(exec::derived_seed(seed_, key), static_cast<std::uint64_t>(i));
          parameter[i] = Dual(values[i].value(), moves ? step * (2 * draw - 1) : 0);
          const double share = has_gradient ? gradient->second[i].value() * parameter[i].slope : 0;
          component += share;
          scale += std::abs(share);
        }
      }
      ProgramRun<Dual> along(program, state, kElementBytes);
      along.forward();
      const double difference = std::abs(along.objective().slope - component);
      ledger_.close("gradients", difference, scale, kSameDerivatives,
                    (only.empty() ? "" : only + ", ") + place);
      return difference <= kSameDerivatives * scale;
    };
    if (compare("")) return;
    for (const auto& [key, values] : drawn.parameters()) compare(key);
  }

  void compare_with_plain(const Gradients& flash, Workload step) {
    step.kernel = AttentionKernel::kPlain;
    const Program program = build_training_program(model_, step, {RematKind::kNone, {}});
    ModelState<CountedDouble> state(seed_);
    ProgramRun<CountedDouble> run(program, state, kElementBytes);
    run.forward();
    run.backward();
    const double least = kNegligible * largest(flash);
    for (const auto& [key, gradient] : flash) {
      compare_arrays("gradients.kernels", gradient, run.gradients().at(key), 0, where(key), least);
    }
  }

  static double largest(const Gradients& gradients) {
    double most = 0;
    for (const auto& [key, gradient] : gradients) most = std::max(most, largest(gradient));
    return most;
  }
  static double largest(const Array<CountedDouble>& array) {
    double most = 0;
    for (const CountedDouble& number : array.data())
      most = std::max(most, std::abs(number.value()));
    return most;
  }

  // ---- forward, prompts and tokens -------------------------------------------------------------

  void counted_forward() {
    const std::int64_t length = job_.draw.of("T");
    const Program program = build_program(model_, workload(Mode::kForward, length, length));
    ModelState<CountedDouble> state(seed_);
    ProgramRun<CountedDouble> run(program, state, kElementBytes);
    run.forward();
    ledger_.add_run();
    compare_counts(Mode::kForward, program, run, where("forward"));
  }

  // T positions of prompt, then X tokens one by one; and the X tokens as a second piece of the
  // prompt. All against one forward pass over T + X positions.
  void generate() {
    const std::int64_t prompt = job_.draw.of("T");
    const std::int64_t length = job_.draw.positions();
    const Program whole = build_program(model_, workload(Mode::kForward, length, length));
    ModelState<CountedDouble> state(seed_);
    ProgramRun<CountedDouble> forward(whole, state, kElementBytes);
    forward.forward();
    ledger_.add_run();
    compare_counts(Mode::kForward, whole, forward, where("forward"));

    const Array<CountedDouble> expected = forward.output();
    step(Mode::kPrefill, prompt, prompt, state, &expected);
    for (std::int64_t keys = prompt + 1; keys <= length; ++keys) {
      step(Mode::kDecode, 1, keys, state, &expected);
    }
    for (const Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      ModelState<CountedDouble> pieces(seed_);
      step(Mode::kPrefill, prompt, prompt, pieces, &expected);
      step(mode, length - prompt, length, pieces, &expected);
    }
  }

  // A prompt and several tokens at once.
  void count_generation() {
    ModelState<CountedDouble> state(seed_);
    const std::int64_t prompt = job_.draw.of("T");
    step(Mode::kPrefill, prompt, prompt, state, nullptr);
    step(Mode::kDecode, job_.draw.of("X"), job_.draw.positions(), state, nullptr);
  }

  // `expected`: the outputs of all positions, or null where only counts are compared.
  void step(Mode mode, std::int64_t queries, std::int64_t keys, ModelState<CountedDouble>& state,
            const Array<CountedDouble>* expected) {
    const Program program = build_program(model_, workload(mode, queries, keys));
    ProgramRun<CountedDouble> run(program, state, kElementBytes);
    run.forward();
    ledger_.add_run();
    const std::string place =
        where(fmt::format("{} of {} after {}", flopwise::name_of(mode), queries, keys - queries));
    compare_counts(mode, program, run, place);
    // A score of the last position alone has no others to be compared with.
    if (expected == nullptr || model_.head.kind == HeadKind::kLastLabels) return;
    const bool is_prefill = mode == Mode::kPrefill;
    const std::int64_t compared = is_prefill ? 1 : queries;
    compare_arrays(is_prefill ? "prefill" : "decode", *expected, run.output(), keys - compared,
                   place);
    compare_caches(program, run, state, place);
    if (job_.kernel == AttentionKernel::kFlash) check_flash(program, seed_, ledger_, place);
  }

  void compare_caches(const Program& program, const ProgramRun<CountedDouble>& run,
                      const ModelState<CountedDouble>& state, const std::string& place) {
    const std::optional<KvCache> cache = kv_cache_of(program, element_types());
    FLOPWISE_CHECK(cache.has_value(), "a decoder keeps a cache");
    const std::int64_t bytes = state.cached_elements() * kElementBytes.of(Element::kCache);
    ledger_.equal("kv_cache.bytes_total", cache->bytes_total, bytes, place);
    for (const auto& layer : run.layers()) {
      const Block& block = program.blocks[layer.block];
      const Sizes sizes = program.sizes_of(block);
      for (TensorId id = 0; id < static_cast<TensorId>(block.graph.tensors().size()); ++id) {
        const Tensor& tensor = block.graph.tensor(id);
        if (tensor.role != Role::kState) continue;
        ledger_.equal("kv_cache.keys_read", tensor.keys_read.eval_count(sizes, tensor.name),
                      layer.run->keys_read(id), place);
      }
    }
  }

  // `part` against the positions of `all` from `first` on; both [B,positions,..], or `part`
  // [B,..] where it is one position, or the two of the same shape.
  void compare_arrays(const char* name, const Array<CountedDouble>& all,
                      const Array<CountedDouble>& part, std::int64_t first,
                      const std::string& place, double least_scale = 0) {
    const double scale = std::max(largest(all), least_scale);
    const std::int64_t outer = all.shape().empty() ? 1 : all.shape()[0].size;
    const std::int64_t all_stride = all.size() / outer;
    const std::int64_t part_stride = part.size() / outer;
    const std::int64_t skipped = first == 0 ? 0 : first * (all_stride / all.shape().at(1).size);
    double worst = 0;
    for (std::int64_t b = 0; b < outer; ++b) {
      for (std::int64_t i = 0; i < part_stride; ++i) {
        const double difference =
            std::abs(all[b * all_stride + skipped + i].value() - part[b * part_stride + i].value());
        worst = worse_of(worst, difference);
      }
    }
    ledger_.close(name, worst, scale, kSameNumbers, place);
  }

  const ProveOptions& options_;
  Job job_;
  Model model_;
  std::uint64_t seed_;
  Ledger ledger_;
};

}  // namespace

Ledger run_job(const Model& model, const ProveOptions& options, const Job& job) {
  JobRun run(model, options, job);
  run.run();
  return run.ledger();
}

}  // namespace flopwise
