#include "flopwise/proof/generation_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flopwise/base/error.h"
#include "flopwise/cost/cost.h"
#include "flopwise/model/build.h"
#include "flopwise/proof/flash_check.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::ModelState;
using exec::ProgramRun;

class GenerationCheck {
 public:
  explicit GenerationCheck(JobContext& context)
      : context_(context),
        prompt_(context.job.draw.of("T")),
        length_(context.job.draw.positions()) {}

  void run() {
    if (!generates()) {
      forward(prompt_);
    } else if (context_.job.counts_only) {
      count_only();
    } else {
      compare_outputs();
    }
  }

 private:
  // Some masks want T = S: such a model runs whole sequences only.
  bool generates() const {
    if (context_.model.architecture == Architecture::kEncoder) return false;
    const auto& groups = context_.model.decoder->groups;
    return std::all_of(groups.begin(), groups.end(), [&](const LayerGroup& group) {
      if (!group.layer.attention) return true;
      const AttentionMask& mask = group.layer.attention->mask;
      return mask_problem({mask.kind, mask.size}, 1, prompt_).empty();
    });
  }

  Array<CountedDouble> forward(std::int64_t length) {
    const Program program =
        build_program(context_.model, context_.workload(Mode::kForward, length, length));
    Program executed = program;
    context_.options.plant(executed);
    ModelState<CountedDouble> state(context_.seed);
    ProgramRun<CountedDouble> run(executed, state, kProofElementBytes);
    run.forward();
    context_.ledger.add_run();
    context_.compare_counts(Mode::kForward, program, run, context_.where("forward"));
    return run.output();
  }

  // T positions of prompt, then X tokens one by one; and the X tokens as a second piece of the
  // prompt. All against one forward pass over T + X positions.
  void compare_outputs() {
    const Array<CountedDouble> expected = forward(length_);
    ModelState<CountedDouble> state(context_.seed);
    step(Mode::kPrefill, prompt_, prompt_, state, &expected);
    for (std::int64_t keys = prompt_ + 1; keys <= length_; ++keys) {
      step(Mode::kDecode, 1, keys, state, &expected);
    }
    for (const Mode mode : {Mode::kPrefill, Mode::kDecode}) {
      ModelState<CountedDouble> pieces(context_.seed);
      step(Mode::kPrefill, prompt_, prompt_, pieces, &expected);
      step(mode, length_ - prompt_, length_, pieces, &expected);
    }
  }

  // A prompt and several tokens at once.
  void count_only() {
    ModelState<CountedDouble> state(context_.seed);
    step(Mode::kPrefill, prompt_, prompt_, state, nullptr);
    step(Mode::kDecode, length_ - prompt_, length_, state, nullptr);
  }

  // `expected`: the outputs of all positions, or null where only counts are compared.
  void step(Mode mode, std::int64_t queries, std::int64_t keys, ModelState<CountedDouble>& state,
            const Array<CountedDouble>* expected) {
    const Program program = build_program(context_.model, context_.workload(mode, queries, keys));
    Program executed = program;
    context_.options.plant(executed);
    ProgramRun<CountedDouble> run(executed, state, kProofElementBytes);
    run.forward();
    context_.ledger.add_run();
    const std::string place = context_.where(
        fmt::format("{} of {} after {}", flopwise::name_of(mode), queries, keys - queries));
    context_.compare_counts(mode, program, run, place);
    // A score of the last position alone has no others to be compared with.
    if (expected == nullptr || context_.model.head.kind == HeadKind::kLastLabels) return;
    const bool is_prefill = mode == Mode::kPrefill;
    const std::int64_t compared = is_prefill ? 1 : queries;
    context_.compare_positions(is_prefill ? "prefill" : "decode", *expected, keys - compared,
                               compared, run.output(), place);
    compare_caches(program, run, state, place);
    if (context_.job.kernel == AttentionKernel::kFlash) {
      check_flash(program, context_.options.work, context_.seed, context_.ledger, place);
    }
  }

  void compare_caches(const Program& program, const ProgramRun<CountedDouble>& run,
                      const ModelState<CountedDouble>& state, const std::string& place) {
    const std::optional<KvCache> cache = kv_cache_of(program, proof_element_types());
    FLOPWISE_CHECK(cache.has_value(), "a decoder keeps a cache");
    const std::int64_t bytes = state.cached_elements() * kProofElementBytes.of(Element::kCache);
    std::int64_t recurrent = 0;
    for (const auto& layer : run.layers()) {
      const Block& block = program.blocks[layer.block];
      const Sizes sizes = program.sizes_of(block);
      for (TensorId id = 0; id < static_cast<TensorId>(block.graph.tensors().size()); ++id) {
        const Tensor& tensor = block.graph.tensor(id);
        if (tensor.role != Role::kState) continue;
        if (tensor.is_recurrent) {
          recurrent += layer.run->get(id).size() * kProofElementBytes.of(tensor.element);
          continue;
        }
        context_.ledger.equal("kv_cache.keys_read", tensor.keys_read.eval_count(sizes, tensor.name),
                              layer.run->keys_read(id), place);
      }
    }
    context_.ledger.equal("kv_cache.bytes_total", cache->bytes_total, bytes + recurrent, place);
    context_.ledger.equal("kv_cache.state_bytes", cache->state_bytes, recurrent, place);
  }

  JobContext& context_;
  std::int64_t prompt_;
  std::int64_t length_;
};

}  // namespace

void check_generation(JobContext& context) {
  GenerationCheck(context).run();
}

}  // namespace flopwise
