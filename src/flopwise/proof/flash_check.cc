#include "flopwise/proof/flash_check.h"

#include <algorithm>
#include <array>

#include "flopwise/base/error.h"
#include "flopwise/cost/flops.h"
#include "flopwise/exec/block_run.h"
#include "flopwise/exec/flash.h"
#include "flopwise/exec/ops.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::CountedDouble;
using exec::Shape;

bool is_contraction(const Op& op) {
  const auto* contraction = std::get_if<Contraction>(&op.kind);
  return contraction != nullptr && contraction->op_class == OpClass::kAttention;
}

// q k^T of a fused attention, of one part of the queries. (An indexer has no softmax, and so no row
// statistics.)
bool is_scores(const Graph& graph, const Op& op) {
  return op.region != kNoRegion && op.pass == Pass::kForward && is_contraction(op) &&
         graph.tensor(op.outputs[0]).masking.has_value() &&
         graph.region(op.region).row_stats != kNoTensor;
}

class FlashCheck {
 public:
  FlashCheck(const Block& block, const CostRule& work, Sizes sizes, std::uint64_t seed)
      : graph_(block.graph), work_(work), sizes_(std::move(sizes)), seed_(seed) {}

  // q k^T of a fused attention; its name is that of the region's first operation.
  void check(const Op& scores, Ledger& ledger, const std::string& where) {
    const FusedKernel& fused = graph_.region(scores.region);
    const Tensor& pairs = graph_.tensor(scores.outputs[0]);
    const Masking& masking = *pairs.masking;
    const TensorId values = values_of(scores.region);
    const std::int64_t heads = size(pairs, "K") * size(pairs, "G");
    const std::int64_t batch = size(pairs, "B");
    const std::int64_t queries = size(pairs, masking.query_axis);
    const std::int64_t keys = size(pairs, masking.key_axis);
    const std::int64_t width = query_width(scores.region);
    const std::int64_t value_width = last_size(values);
    const auto q = random(
        {
            {"B", batch  },
            {"T", queries},
            {"N", heads  },
            {"H", width  }
    },
        1);
    const auto k = random(
        {
            {"B", batch     },
            {"S", keys      },
            {"K", size(pairs, "K")},
            {"H",   width          }
    },
        2);
    const auto v = random(
        {
            {"B", batch     },
            {"S", keys      },
            {"K", size(pairs, "K")},
            {"Hv",   value_width         }
    },
        3);
    exec::FlashOptions options;
    options.mask = {masking.mask.kind, exec::size_at(masking.mask.size, sizes_)};
    options.query_block = 3;
    options.key_block = 4;
    exec::FlashWork work;
    const auto forward = exec::flash_forward(q, k, v, options, work);
    ledger.equal("flash.contractions", predicted(fused.name, Pass::kForward), work.forward.total(),
                 where);
    const auto is_forward = [](const Op& op) { return op.pass == Pass::kForward; };
    if (std::all_of(graph_.ops().begin(), graph_.ops().end(), is_forward)) return;
    exec::flash_backward(q, k, v, forward, forward.output, options, work);
    ledger.equal("flash.contractions", predicted(fused.name, Pass::kBackward),
                 work.backward.total(), where);
    ledger.equal("flash.contractions", predicted(fused.name, Pass::kRecompute),
                 work.recompute.total(), where);
  }

 private:
  std::int64_t size(const Tensor& tensor, const std::string& axis) const {
    return exec::size_at(axis_of(tensor, axis).size, sizes_);
  }
  std::int64_t last_size(TensorId tensor) const {
    return exec::size_at(graph_.tensor(tensor).axes.back().size, sizes_);
  }

  Array<CountedDouble> random(const Shape& shape, std::uint64_t which) const {
    Array<CountedDouble> array(shape);
    for (std::int64_t i = 0; i < array.size(); ++i) {
      array[i] = exec::uniform(seed_ + which, static_cast<std::uint64_t>(i)) - 0.5;
    }
    return array;
  }

  // Of all parts of the queries together.
  std::int64_t query_width(RegionId region) const {
    std::int64_t width = 0;
    for (const Op& op : graph_.ops()) {
      if (op.region == region && is_scores(graph_, op)) width += last_size(op.inputs[0]);
    }
    return width;
  }

  // The second operand of the region's last contraction.
  TensorId values_of(RegionId region) const {
    TensorId values = kNoTensor;
    for (const Op& op : graph_.ops()) {
      const bool is_it = op.region == region && op.pass == Pass::kForward && is_contraction(op);
      if (is_it) values = op.inputs[1];
    }
    return values;
  }

  // The attention FLOPs of the kernel's operations in a pass; the scores that a backward kernel
  // makes again for itself, not a rematerialised forward kernel.
  Count predicted(const std::string& kernel, Pass pass) const {
    Count sum;
    for (const Op& op : graph_.ops()) {
      if (op.region == kNoRegion || op.pass != pass || !is_contraction(op)) continue;
      const FusedKernel& region = graph_.region(op.region);
      const Pass kernel_pass = pass == Pass::kForward ? Pass::kForward : Pass::kBackward;
      if (region.name != kernel || region.pass != kernel_pass) continue;
      sum += work_(graph_, op).flops.eval_count(sizes_, op.name);
    }
    return sum;
  }

  const Graph& graph_;
  const CostRule& work_;
  Sizes sizes_;
  std::uint64_t seed_;
};

}  // namespace

void check_flash(const Program& program, const CostRule& work, std::uint64_t seed, Ledger& ledger,
                 const std::string& where) {
  for (const Block& block : program.blocks) {
    for (const Op& op : block.graph.ops()) {
      if (!is_scores(block.graph, op) || starts_from_input(op)) continue;
      FlashCheck(block, work, program.sizes_of(block), seed)
          .check(op, ledger, block.name + " " + op.name + ", " + where);
    }
  }
}

}  // namespace flopwise
