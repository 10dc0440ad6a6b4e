#include "flopwise/proof/job_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "flopwise/base/dtype.h"
#include "flopwise/cost/cost.h"
#include "flopwise/proof/shrink.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::ProgramRun;

// Sums in another order differ in the last bits of a double; nothing else may.
constexpr double kSameNumbers = 1e-12;

const char* name_of(AttentionKernel kernel) {
  return kernel == AttentionKernel::kFlash ? "flash" : "plain";
}

void add(Flops& flops, OpClass op_class, const Count& counted) {
  switch (op_class) {
    case OpClass::kMatmul:
      flops.matmul += counted;
      return;
    case OpClass::kAttention:
      flops.attention += counted;
      return;
    case OpClass::kVector:
      flops.vector += counted;
      return;
    case OpClass::kNone:
      return;
  }
}

}  // namespace

ElementTypes proof_element_types() {
  return {find_dtype("bf16"), find_dtype("fp32"), find_dtype("int8")};
}

double largest(const Array<CountedDouble>& array) {
  double most = 0;
  for (const CountedDouble& number : array.data()) most = std::max(most, std::abs(number.value()));
  return most;
}

double largest(const Values& values) {
  double most = 0;
  for (const auto& [key, array] : values) most = std::max(most, largest(array));
  return most;
}

JobContext::JobContext(const Model& original, const ProveOptions& how, Job what)
    : options(how),
      job(std::move(what)),
      model(shrink(original, job.draw)),
      seed(exec::derived_seed(0, job.draw.str())) {}

std::string JobContext::where(const std::string& what) const {
  return fmt::format("{} kernel, {}, {}", name_of(job.kernel), what, job.draw.str());
}

Workload JobContext::workload(Mode mode, std::int64_t queries, std::int64_t keys) const {
  WorkloadRequest request;
  request.mode = mode;
  request.batch = job.draw.sizes().at("B");
  request.seq_len = queries;
  if (mode == Mode::kPrefill || mode == Mode::kDecode) request.context = keys;
  if (has_source(model)) {
    request.source = job.draw.sizes().at("R");
  }
  request.kernel = job.kernel;
  // One way of running latent attention with each kernel.
  request.latent =
      job.kernel == AttentionKernel::kFlash ? LatentMode::kAbsorbed : LatentMode::kExpanded;
  return resolve(request, model);
}

void JobContext::compare_counts(Mode mode, const Program& program,
                                const ProgramRun<CountedDouble>& run, const std::string& place) {
  std::array<Flops, 3> counted;  // forward, backward, recompute
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    const Sizes sizes = program.sizes_of(block);
    for (std::size_t i = 0; i < block.graph.ops().size(); ++i) {
      const Op& op = block.graph.ops()[i];
      const Work work = options.work(block.graph, op);
      const Count predicted =
          work.flops.is_zero() ? Count(0) : work.flops.eval_count(sizes, op.name);
      for (const auto& layer : run.layers()) {
        if (layer.block != b) continue;
        const Count performed = layer.run->tallies()[i].total();
        ledger.count(mode, block, op, work, predicted, performed, place);
        add(counted[static_cast<std::size_t>(op.pass)], work.op_class, performed);
      }
    }
  }
  if (job.counts_only) return;
  const Cost cost = cost_of(program, {Fusion::kUnfused, proof_element_types()});
  const std::array<const Flops*, 3> totals = {&cost.forward, &cost.backward, &cost.recompute};
  for (std::size_t pass = 0; pass < totals.size(); ++pass) {
    ledger.equal("flops", totals[pass]->matmul, counted[pass].matmul, "matmul, " + place);
    ledger.equal("flops", totals[pass]->attention, counted[pass].attention, "attention, " + place);
    ledger.equal("flops", totals[pass]->vector, counted[pass].vector, "vector, " + place);
  }
}

void JobContext::compare_arrays(const char* name, const Array<CountedDouble>& ours,
                                const Array<CountedDouble>& theirs, double least_scale,
                                const std::string& place) {
  ledger.hold(name, ours.shape() == theirs.shape(), "other axes, " + place);
  if (ours.shape() != theirs.shape()) return;
  double worst = 0;
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    worst = worse_of(worst, std::abs(ours[i].value() - theirs[i].value()));
  }
  ledger.close(name, worst, std::max(largest(ours), least_scale), kSameNumbers, place);
}

void JobContext::compare_positions(const char* name, const Array<CountedDouble>& all,
                                   std::int64_t first, std::int64_t count,
                                   const Array<CountedDouble>& part, const std::string& place) {
  const std::int64_t batch = all.shape().at(0).size;
  const std::int64_t positions = all.shape().at(1).size;
  const std::int64_t row = all.size() / batch / positions;
  const bool fits = first + count <= positions && part.size() == batch * count * row;
  ledger.hold(name, fits, "other axes, " + place);
  if (!fits) return;
  double worst = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < count * row; ++i) {
      const double expected = all[(b * positions + first) * row + i].value();
      worst = worse_of(worst, std::abs(expected - part[b * count * row + i].value()));
    }
  }
  ledger.close(name, worst, largest(all), kSameNumbers, place);
}

}  // namespace flopwise
