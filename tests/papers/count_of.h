// A count with the options that a test names, the rest at the command line's defaults.
#pragma once

#include <sstream>
#include <string>

#include "flopwise/flopwise.h"

namespace flopwise {

struct Ask {
  std::string model;
  std::string mode = "train";
  std::int64_t batch = 1;
  std::int64_t seq = 0;
  std::int64_t context = 0;
  std::int64_t source = 0;
  std::string remat = "none";
  std::string kernel = "flash";
  std::string fusion = "fused";
  std::string dtype = "bf16";
  std::string weights = "";
  std::string kv = "";
  std::int64_t intensity = 0;
  std::string convention = "exact";
};

inline CountResult count_of(const Ask& ask) {
  CountRequest request;
  request.workload = {parse_mode(ask.mode),
                      ask.batch,
                      ask.seq,
                      ask.context,
                      ask.source,
                      parse_attention_kernel(ask.kernel),
                      "",
                      LatentMode::kAbsorbed,
                      std::nullopt};
  request.remat = parse_remat(ask.remat);
  request.fusion = parse_fusion(ask.fusion);
  request.dtype = ask.dtype;
  request.weights = ask.weights;
  request.kv = ask.kv;
  request.convention = ask.convention;
  if (ask.intensity > 0) request.intensity = Rational(ask.intensity);
  std::istringstream no_input;
  return count_model(read_model(ask.model, no_input), request);
}

// Sum of the formulas of one layer's operations that `pick` chooses, the masked count or the dense
// one.
template <typename Pick>
Expr layer_formula(const CountResult& result, Pick pick, bool dense = false) {
  Expr sum = 0;
  for (const BlockCost& block : result.cost.blocks) {
    if (!block.is_layer) continue;
    for (const OpCost& op : block.ops) {
      if (pick(op)) sum += dense ? op.flops_dense.formula : op.flops.formula;
    }
  }
  return sum;
}

}  // namespace flopwise
