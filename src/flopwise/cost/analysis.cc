#include "flopwise/cost/analysis.h"

#include <algorithm>
#include <set>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

Rational ratio(Count part, Count whole) {
  return whole == Count(0) ? Rational(0) : Rational(part) / Rational(whole);
}

// What grows with the context: of attention, not of a recurrence.
bool is_attention_op(const OpCost& op) {
  return op.op_class == OpClass::kAttention && op.component == Component::kAttention;
}
bool is_layer_matmul(const OpCost& op) {
  return op.op_class == OpClass::kMatmul;
}
bool is_projection(const OpCost& op) {
  return op.op_class == OpClass::kMatmul && op.component == Component::kAttention;
}

// A sum of formulas over the layers as a function of one length n = T = S = R, for one sequence.
class CostOfLength {
 public:
  template <typename Pick>
  CostOfLength(const Cost& cost, Pick pick, bool dense) {
    for (const BlockCost& block : cost.blocks) {
      if (!block.is_layer) continue;
      Part part{0, block.layers, block.sizes};
      for (const OpCost& op : block.ops) {
        if (pick(op)) part.formula += dense ? op.flops_dense.formula : op.flops.formula;
      }
      part.sizes["B"] = 1;
      parts_.push_back(std::move(part));
    }
  }

  Rational at(Count n) const {
    Rational sum = 0;
    for (const Part& part : parts_) {
      Sizes sizes = part.sizes;
      for (const char* axis : {"T", "S", "R"}) sizes[axis] = n;
      sum = sum + part.formula.eval(sizes) * Rational(part.layers);
    }
    return sum;
  }

 private:
  struct Part {
    Expr formula;
    Count layers;
    Sizes sizes;
  };
  std::vector<Part> parts_;
};

// The largest chunk of a chunked mask; 1 without one.
Count largest_chunk(const Cost& cost) {
  Count largest = 1;
  for (const BlockCost& block : cost.blocks) {
    const auto chunk = block.sizes.find("C");
    if (block.is_layer && chunk != block.sizes.end()) largest = std::max(largest, chunk->second);
  }
  return largest;
}

// The smallest n in (low, high] for which `reached` holds, if it holds from there on up to high.
template <typename Reached>
Count first_reached(Count low, Count high, Reached reached) {
  while (high - low > Count(1)) {
    const Count middle = Count::of((low + high).value() / 2);
    (reached(middle) ? high : low) = middle;
  }
  return high;
}

// Where `growing` first meets `linear`: between whole lengths by straight line. Absent beyond the
// largest axis. Under a chunked mask the pairs per query fall behind every multiple of the chunk C
// and grow to the next, and grow from multiple to multiple, so these are searched first.
std::optional<Rational> crossing(const CostOfLength& growing, const CostOfLength& linear,
                                 Count chunk) {
  const auto reached = [&](Count n) { return growing.at(n) >= linear.at(n); };
  const auto reached_at_multiple = [&](Count m) { return reached(m * chunk); };
  Count multiple = 1;
  while (!reached_at_multiple(multiple)) {
    multiple *= 2;
    if (multiple * chunk > Count(kMaxAxisSize)) return std::nullopt;
  }
  multiple = first_reached(Count::of(multiple.value() / 2), multiple, reached_at_multiple);
  const Count high = first_reached((multiple - 1) * chunk, multiple * chunk, reached);
  const Rational gap_high = growing.at(high) - linear.at(high);
  const Count low = high - 1;
  if (gap_high == Rational(0) || low == Count(0)) return Rational(high);
  const Rational gap_low = linear.at(low) - growing.at(low);
  return Rational(low) + gap_low / (gap_low + gap_high);
}

Crossover crossover(const Cost& cost, bool (*linear)(const OpCost&)) {
  const CostOfLength base(cost, linear, false);
  Crossover result;
  try {
    result.masked = crossing(CostOfLength(cost, is_attention_op, false), base, largest_chunk(cost));
  } catch (const OverflowError&) {
    // A length whose costs leave 128 bits lies beyond every real one.
  }
  // Dense attention is quadratic and matmuls are linear, so the lengths' ratio at 1 is the answer.
  result.linear_per_token = base.at(1);
  result.attention_per_pair = CostOfLength(cost, is_attention_op, true).at(1);
  if (result.attention_per_pair != Rational(0)) {
    result.dense = result.linear_per_token / result.attention_per_pair;
  }
  return result;
}

// The layer kind with attention that is listed last: the decoder's, and where windows and full
// attention alternate the full one. Null where no layer has attention.
const Block* reported_layer(const Program& program) {
  const auto found =
      std::find_if(program.blocks.rbegin(), program.blocks.rend(), [](const Block& block) {
        return block.is_layer && block.graph.find("attention.qk") != kNoTensor;
      });
  return found == program.blocks.rend() ? nullptr : &*found;
}

struct CoreCost {
  Expr flops;  // dense contractions
  Expr bytes;  // of Q, K, V and O
};

// Queries and keys may have parts, and of a latent keys and values are one: each memory once.
CoreCost attention_core(const Graph& graph, const ElementTypes& types) {
  CoreCost core{0, 0};
  std::set<TensorId> counted;
  for (const Op& op : graph.ops()) {
    const auto* kind = std::get_if<Contraction>(&op.kind);
    const bool is_part = kind != nullptr && kind->op_class == OpClass::kAttention &&
                         op.pass == Pass::kForward && op.name.starts_with("attention.");
    if (!is_part) continue;
    core.flops += work_of(graph, op).dense;
    for (const TensorId id : {op.inputs[0], op.inputs[1], op.outputs[0]}) {
      const Tensor& tensor = graph.tensor(id);
      if (tensor.masking || !counted.insert(graph.storage_of(id)).second) continue;
      core.bytes += elements(tensor) * bytes_per_element(tensor.element, types);
    }
  }
  FLOPWISE_CHECK(!counted.empty(), "a layer has attention");
  return core;
}

// N of the formula as K*G, which is how the literature writes intensity.
Expr in_groups(const Expr& expr) {
  return expr.substitute({
      {"N", Expr::symbol("K") * Expr::symbol("G")}
  });
}

Count ceil_count(const Rational& value) {
  return Count::of(ceil(value).num());
}

void analyse_intensity(const AnalysisInput& input, Analysis& analysis) {
  const Block* layer = reported_layer(*input.forward);
  if (layer == nullptr) return;
  Sizes sizes = input.forward->sizes_of(*layer);
  const CoreCost core = attention_core(layer->graph, input.types);
  analysis.attention_intensity_formula = in_groups(core.flops / core.bytes);
  const Count length = sizes.at("T");
  sizes["S"] = length;
  analysis.attention_intensity_prefill = analysis.attention_intensity_formula.eval(sizes);
  if (input.decode != nullptr) {
    const Block* decoding = reported_layer(*input.decode);
    const CoreCost cached = attention_core(decoding->graph, input.types);
    Sizes one_token = input.decode->sizes_of(*decoding);
    one_token["T"] = 1;
    analysis.attention_generation_formula = in_groups(cached.flops / cached.bytes);
    analysis.attention_intensity_generation = analysis.attention_generation_formula.eval(one_token);
  }
  if (!input.intensity) return;
  // With T = S intensity grows as T, so the length is the quotient at 1.
  sizes["T"] = sizes["S"] = 1;
  const Rational at_one = analysis.attention_intensity_formula.eval(sizes);
  analysis.attention_compute_bound_length = ceil_count(*input.intensity / at_one);
}

void analyse_relative_cost(const AnalysisInput& input, const Cost& cost, Analysis& analysis) {
  if (!input.intensity) return;
  const Block* layer = reported_layer(*input.forward);
  if (layer == nullptr) return;
  Sizes sizes = input.forward->sizes_of(*layer);
  sizes["S"] = sizes.at("T");
  const CoreCost core = attention_core(layer->graph, input.types);
  const auto block = std::find_if(cost.blocks.rbegin(), cost.blocks.rend(),
                                  [&](const BlockCost& b) { return b.name == layer->name; });
  Rational feed_forward = 0;
  for (const OpCost& op : block->ops) {
    const bool is_feed_forward = op.component == Component::kMlp && is_layer_matmul(op);
    if (is_feed_forward) feed_forward = feed_forward + op.flops.formula.eval(sizes);
  }
  if (feed_forward == Rational(0)) return;
  const Rational math = core.flops.eval(sizes);
  const Rational memory = core.bytes.eval(sizes) * *input.intensity;
  analysis.attention_relative_cost = std::max(math, memory) / feed_forward;
}

// The contractions with routed weights of one MoE layer, for n tokens: FLOPs a*n, weight bytes w,
// activation bytes c*n.
void analyse_moe(const AnalysisInput& input, Analysis& analysis) {
  for (const Block& block : input.forward->blocks) {
    const Graph& graph = block.graph;
    Sizes sizes = input.forward->sizes_of(block);
    if (!block.is_layer || sizes.count("E") == 0) continue;
    Expr flops = 0;
    Expr weights = 0;
    Expr moved = 0;
    for (const Op& op : graph.ops()) {
      const auto* contraction = std::get_if<Contraction>(&op.kind);
      if (contraction == nullptr || contraction->routed_axis.empty()) continue;
      flops += work_of(graph, op).flops;
      for (const TensorId id : {op.inputs[0], op.inputs[1], op.outputs[0]}) {
        const Tensor& tensor = graph.tensor(id);
        const Expr bytes = elements(tensor) * bytes_per_element(tensor.element, input.types);
        (tensor.role == Role::kParameter ? weights : moved) += bytes;
      }
    }
    if (flops.is_zero()) continue;
    MoeBatch moe;
    moe.expected_experts =
        expected_experts(Expr::symbol("E"), Expr::symbol("k"), input.tokens).eval_double(sizes);
    moe.most_experts = std::min(sizes.at("E"), sizes.at("k") * input.tokens);
    moe.tokens_per_expert =
        Rational(input.tokens) * Rational(sizes.at("k")) / Rational(sizes.at("E"));
    sizes["B"] = sizes["T"] = 1;
    moe.flops_per_token = flops.eval(sizes);
    moe.activation_bytes_per_token = moved.eval(sizes);
    moe.weight_bytes = weights.eval(sizes);
    if (input.intensity) {
      const Rational need = *input.intensity * moe.weight_bytes;
      const Rational left = moe.flops_per_token - *input.intensity * moe.activation_bytes_per_token;
      moe.weights_only = ceil_count(need / moe.flops_per_token);
      if (left > Rational(0)) moe.with_activations = ceil_count(need / left);
    }
    analysis.moe = moe;
    return;
  }
}

Count unembedding_flops(const Cost& cost) {
  Count sum = 0;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      const bool counted = op.pass == Pass::kForward && op.op_class == OpClass::kMatmul &&
                           op.component == Component::kUnembedding;
      if (counted) sum += op.flops.value;
    }
  }
  return sum;
}

// The unembedding of all positions as a number of average layers' matmuls.
Rational unembedding_layers(const Cost& forward) {
  Count layers = 0;
  Count matmuls = 0;
  for (const BlockCost& block : forward.blocks) {
    if (!block.is_layer) continue;
    layers += block.layers;
    for (const OpCost& op : block.ops) {
      if (op.op_class == OpClass::kMatmul) matmuls += op.flops.value * block.layers;
    }
  }
  return ratio(unembedding_flops(forward) * layers, matmuls);
}

void analyse_shares(const Cost& cost, Analysis& analysis) {
  const Params& params = cost.params;
  const Count attention = params.of(Component::kAttention);
  const Count feed_forward = params.of(Component::kMlp) + params.of(Component::kRouter);
  analysis.attention_share_of_params = ratio(attention, params.total);
  analysis.attention_share_of_blocks = ratio(attention, attention + feed_forward);
  analysis.attention_share_of_flops = ratio(cost.forward.attention, cost.forward.matrix());
  analysis.unembedding_share = ratio(unembedding_flops(cost), cost.forward.matrix());
}

void analyse_naive_attention(const AnalysisInput& input, Analysis& analysis) {
  const Block* layer = reported_layer(*input.plain);
  if (layer == nullptr) return;
  const Sizes sizes = input.plain->sizes_of(*layer);
  const Graph& graph = layer->graph;
  const std::vector<Traffic> traffic = traffic_of(graph, Fusion::kUnfused, input.types);
  bool inside = false;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    inside = inside || op.name == "attention.qk";
    if (!inside) continue;
    const Expr bytes = traffic[i].total();
    analysis.naive_attention.push_back({
        op.name, {bytes, bytes.eval_count(sizes, "bytes of " + op.name)}
    });
    if (op.name == "attention.av") break;
  }
}

}  // namespace

Analysis analyse(const AnalysisInput& input) {
  Analysis analysis;
  const Cost cost = cost_of(*input.forward, {Fusion::kFused, input.types});
  // What does not fit is said to be of the quantity, by its name in the report.
  in_context("shares", [&] { analyse_shares(*input.cost, analysis); });
  analysis.unembedding_layers =
      in_context("unembedding in layers", [&] { return unembedding_layers(cost); });
  analysis.context_equals_matmul =
      in_context("context_equals_matmul", [&] { return crossover(cost, is_layer_matmul); });
  analysis.context_equals_projections =
      in_context("context_equals_projections", [&] { return crossover(cost, is_projection); });
  in_context("attention_intensity", [&] { analyse_intensity(input, analysis); });
  in_context("attention relative to feed-forward",
             [&] { analyse_relative_cost(input, cost, analysis); });
  in_context("moe_critical_batch_tokens", [&] { analyse_moe(input, analysis); });
  if (input.plain != nullptr) analyse_naive_attention(input, analysis);
  return analysis;
}

}  // namespace flopwise
