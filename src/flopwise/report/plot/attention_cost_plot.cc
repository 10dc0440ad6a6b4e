#include "flopwise/report/plot/attention_cost_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/cost/cost.h"
#include "flopwise/model/build.h"
#include "flopwise/report/plot/contexts.h"

namespace flopwise {
namespace {

struct Rates {
  double matrix_flops_per_s = 0;
  double memory_bytes_per_s = 0;
  std::optional<double> vector_flops_per_s;
};

std::optional<Rates> rates_of(const AttentionCostRequest& request) {
  if (!request.hardware) return std::nullopt;
  const Hardware& chip = *request.hardware;
  Rates rates;
  rates.matrix_flops_per_s = peak_flops_per_s(chip, request.dtype).to_double();
  rates.memory_bytes_per_s =
      rates.matrix_flops_per_s / intensity_of(chip, request.dtype).to_double();
  if (chip.vector_flops_per_s) rates.vector_flops_per_s = chip.vector_flops_per_s->to_double();
  return rates;
}

// What one layer's attention kernel comes to.
struct CoreKernel {
  Count matrix_flops;
  Count vector_flops;
  Count bytes;

  double least_s(const Rates& rates) const {
    const double vector =
        rates.vector_flops_per_s ? vector_flops.to_double() / *rates.vector_flops_per_s : 0;
    return std::max({matrix_flops.to_double() / rates.matrix_flops_per_s,
                     bytes.to_double() / rates.memory_bytes_per_s, vector});
  }
};

bool touches_scores(const Graph& graph, const Op& op) {
  const auto are_scores = [&](TensorId id) { return graph.tensor(id).masking.has_value(); };
  return std::any_of(op.inputs.begin(), op.inputs.end(), are_scores) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), are_scores);
}

// The kernels that hold or pass on scores, by the operation that leads them.
std::map<std::string, CoreKernel> core_kernels(const Graph& graph, const BlockCost& cost,
                                               Pairs pairs) {
  std::map<std::string, CoreKernel> kernels;
  for (std::size_t i = 0; i < cost.ops.size(); ++i) {
    if (touches_scores(graph, graph.ops()[i])) kernels[cost.ops[i].kernel];
  }
  for (const OpCost& op : cost.ops) {
    const auto kernel = kernels.find(op.kernel);
    if (kernel == kernels.end()) continue;
    if (op.op_class == OpClass::kAttention) {
      kernel->second.matrix_flops += pairs == Pairs::kDense ? op.flops_dense.value : op.flops.value;
    } else {
      kernel->second.vector_flops += op.flops.value;
    }
    kernel->second.bytes += op.bytes.value;
  }
  return kernels;
}

// Sums over all layers of a forward pass.
struct Sums {
  Count attention_flops;
  Count feed_forward_flops;
  double attention_s = 0;
};

Sums sums_of(const Model& model, const AttentionCostRequest& request, std::int64_t context,
             AttentionKernel kernel) {
  WorkloadRequest workload;
  workload.mode = Mode::kForward;
  workload.batch = request.batch;
  workload.seq_len = context;
  workload.kernel = kernel;
  const DType& dtype = find_dtype(request.dtype);
  const Program program = build_program(model, resolve(workload, model));
  const Cost cost = cost_of(program, {
                                         Fusion::kFused, {dtype, dtype, dtype}
  });
  const std::optional<Rates> rates = rates_of(request);
  Sums sums;
  for (std::size_t i = 0; i < cost.blocks.size(); ++i) {
    const BlockCost& block = cost.blocks[i];
    if (!block.is_layer) continue;
    for (const auto& [name, core] : core_kernels(program.blocks[i].graph, block, request.pairs)) {
      sums.attention_flops += core.matrix_flops * block.layers;
      if (rates) sums.attention_s += core.least_s(*rates) * block.layers.to_double();
    }
    for (const OpCost& op : block.ops) {
      if (op.component != Component::kMlp || op.op_class != OpClass::kMatmul) continue;
      sums.feed_forward_flops += op.flops.value * block.layers;
    }
  }
  return sums;
}

void check(const Model& model, const Sums& sums) {
  const auto fail = [&](const char* what) {
    throw UserError("plot attention-cost: " + model.name + " has no " + what);
  };
  if (sums.attention_flops == Count(0)) fail("attention, expected a model that has");
  if (sums.feed_forward_flops == Count(0)) fail("feed-forward block, expected a model that has");
}

struct Curve {
  const char* name;
  double AttentionCost::*ratio;
};

// The smallest context at which the curve reaches 1, between a sample below and one at or above.
std::int64_t first_equal(const Model& model, const AttentionCostRequest& request,
                         const Curve& curve, std::int64_t low, std::int64_t high) {
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool reached = attention_cost(model, request, middle).*curve.ratio >= 1;
    (reached ? high : low) = middle;
  }
  return high;
}

void add_mark(const Model& model, const AttentionCostRequest& request, const Curve& curve,
              const std::vector<PlotPoint>& points, PlotData& data) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].y < 1) continue;
    if (i == 0) {
      data.notes.push_back(fmt::format("More than the feed-forward block from T = {} on: {}",
                                       Count(static_cast<std::int64_t>(points[0].x)).grouped(),
                                       curve.name));
      return;
    }
    const auto at = [](const PlotPoint& point) { return static_cast<std::int64_t>(point.x); };
    const std::int64_t context =
        first_equal(model, request, curve, at(points[i - 1]), at(points[i]));
    const auto x = static_cast<double>(context);
    const auto same = std::find_if(data.marks.begin(), data.marks.end(), [&](const PlotMark& m) {
      return m.of == MarkOf::kX && m.at == x;
    });
    if (same != data.marks.end()) {
      same->label += std::string("; ") + curve.name;
    } else {
      data.marks.push_back(
          {MarkOf::kX, x, fmt::format("T = {}: {}", Count(context).grouped(), curve.name)});
    }
    return;
  }
  data.notes.push_back(fmt::format("Less than the feed-forward block up to T = {}: {}",
                                   Count(static_cast<std::int64_t>(points.back().x)).grouped(),
                                   curve.name));
}

}  // namespace

Pairs parse_pairs(std::string_view text) {
  if (text == "masked") return Pairs::kMasked;
  if (text == "dense") return Pairs::kDense;
  throw UserError("--pairs: expected masked or dense, got " + quoted(text));
}

AttentionCost attention_cost(const Model& model, const AttentionCostRequest& request,
                             std::int64_t context) {
  const Sums flash = sums_of(model, request, context, AttentionKernel::kFlash);
  check(model, flash);
  AttentionCost cost;
  cost.flops_ratio =
      (Rational(flash.attention_flops) / Rational(flash.feed_forward_flops)).to_double();
  if (!request.hardware) return cost;
  const Sums naive = sums_of(model, request, context, AttentionKernel::kPlain);
  const double feed_forward_s =
      flash.feed_forward_flops.to_double() / rates_of(request)->matrix_flops_per_s;
  cost.flash_time_ratio = flash.attention_s / feed_forward_s;
  cost.naive_time_ratio = naive.attention_s / feed_forward_s;
  return cost;
}

PlotData attention_cost_plot(const Model& model, const AttentionCostRequest& request) {
  PlotData data;
  data.name = "attention-cost";
  data.title = "Attention beside the feed-forward block";
  data.subtitle = fmt::format(
      "{}, forward, {} pairs, {}{}", model.name,
      request.pairs == Pairs::kMasked ? "masked" : "all T*S", request.dtype,
      request.hardware ? ", times at the peaks of " + request.hardware->name : std::string());
  data.x = {"context_tokens", "context, T = S", "tokens", AxisScale::kLog2, AxisPrefix::kBinary};
  data.y = {"attention_over_feed_forward", "attention / feed-forward", "", AxisScale::kLog10,
            AxisPrefix::kNone};
  std::vector<Curve> curves;
  if (request.hardware) {
    curves.push_back({"time, naive", &AttentionCost::naive_time_ratio});
    curves.push_back({"time, flash", &AttentionCost::flash_time_ratio});
  }
  curves.push_back({"FLOPs of either", &AttentionCost::flops_ratio});
  for (const Curve& curve : curves) data.series.push_back({curve.name, SeriesStyle::kLine, {}});
  data.series.back().style = SeriesStyle::kDashes;  // seen over the times, where they coincide
  for (const std::int64_t context : contexts_between(request.from, request.to)) {
    const AttentionCost cost = in_context([&] { return fmt::format("T = {}", context); },
                                          [&] { return attention_cost(model, request, context); });
    for (std::size_t i = 0; i < curves.size(); ++i) {
      data.series[i].points.push_back(
          {static_cast<double>(context), cost.*curves[i].ratio, "", ""});
    }
  }
  data.marks.push_back({MarkOf::kY, 1, "attention = feed-forward"});
  for (std::size_t i = 0; i < curves.size(); ++i) {
    add_mark(model, request, curves[i], data.series[i].points, data);
  }
  if (request.hardware) {
    data.notes.push_back("The feed-forward block is taken at peak: a batch shares its weights.");
  }
  return data;
}

}  // namespace flopwise
