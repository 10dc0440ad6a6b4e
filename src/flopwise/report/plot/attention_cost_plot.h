// `flopwise plot attention-cost`: what attention costs beside the feed-forward block as the context
// grows (Austin et al. 2025, "How to Scale Your Model", Transformer Math, question 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flopwise/hardware/hardware.h"
#include "flopwise/model/model.h"
#include "flopwise/report/plot/plot_data.h"

namespace flopwise {

// What a causal mask leaves out counts nothing, or as much as the rest.
enum class Pairs { kMasked, kDense };
Pairs parse_pairs(std::string_view text);  // "masked", "dense"; UserError otherwise

struct AttentionCostRequest {
  std::int64_t batch = 1;
  std::int64_t from = 128;  // contexts, T = S
  std::int64_t to = std::int64_t{1} << 20;
  Pairs pairs = Pairs::kMasked;
  std::string dtype = "bf16";
  std::optional<Hardware> hardware;
};

// Of one forward pass over all layers. Attention: scores, softmax and weighted values, without the
// projections. Feed-forward: its matrix products, on a chip at peak, since a batch shares its
// weights. FLOPs: matrix work of both. Time (with a chip): each kernel its least time at peak;
// flash is one kernel, naive writes the scores to memory and reads them again.
struct AttentionCost {
  double flops_ratio = 0;
  double flash_time_ratio = 0;  // 0 without a chip
  double naive_time_ratio = 0;
};
// UserError where the model has no attention or no feed-forward block.
AttentionCost attention_cost(const Model& model, const AttentionCostRequest& request,
                             std::int64_t context);

// Against the context the ratios, and a mark where each first reaches 1.
PlotData attention_cost_plot(const Model& model, const AttentionCostRequest& request);

}  // namespace flopwise
