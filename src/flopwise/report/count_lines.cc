#include "flopwise/report/count_lines.h"

#include <fmt/format.h>

#include <utility>

#include "flopwise/base/units.h"
#include "flopwise/report/numbers.h"

namespace flopwise {
namespace {

using Lines = std::vector<CountLine>;

Count tokens(const CountResult& r) {
  return Count(r.workload.batch) * Count(r.workload.seq_len);
}

// ---- totals ------------------------------------------------------------------------------------

void add_totals(Lines& lines, const CountResult& r) {
  const Cost& cost = r.cost;
  const Flops& f = cost.forward;
  const Flops& b = cost.backward;
  lines.push_back(
      {"model FLOPs",
       fmt::format("{} ({})", cost.model_total().grouped(), si(cost.model_total(), "FLOP")),
       r.workload.mode == Mode::kTrain
           ? "matmul + attention of forward and backward, masked pairs only"
           : "matmul + attention, masked pairs only",
       fmt::format("{} + {} forward, {} + {} backward = {}", f.matmul.grouped(),
                   f.attention.grouped(), b.matmul.grouped(), b.attention.grouped(),
                   cost.model_total().grouped())});
  lines.push_back({"model FLOPs, dense", cost.model_total_dense().grouped(),
                   "all T*S pairs counted, as most published tables do",
                   fmt::format("{} + {} forward, {} + {} backward = {}", f.matmul.grouped(),
                               f.attention_dense.grouped(), b.matmul.grouped(),
                               b.attention_dense.grouped(), cost.model_total_dense().grouped())});
  if (r.workload.mode == Mode::kTrain) {
    const Flops& again = cost.recompute;
    lines.push_back({"hardware FLOPs", cost.hardware_total().grouped(),
                     "model FLOPs and recomputation (a flash kernel computes QK again)",
                     fmt::format("{} + {} matmul and {} attention recomputed = {}",
                                 cost.model_total().grouped(), again.matmul.grouped(),
                                 again.attention.grouped(), cost.hardware_total().grouped())});
    lines.push_back({"hardware FLOPs, dense", cost.hardware_total_dense().grouped(),
                     "the same with all T*S pairs",
                     fmt::format("{} + {} + {} = {}", cost.model_total_dense().grouped(),
                                 again.matmul.grouped(), again.attention_dense.grouped(),
                                 cost.hardware_total_dense().grouped())});
  }
  const std::string per_token = decimal(Rational(cost.model_total()) / Rational(tokens(r)));
  lines.push_back({"per token", per_token, "model FLOPs over B*T",
                   fmt::format("{} / ({}*{}) = {}", cost.model_total().grouped(), r.workload.batch,
                               r.workload.seq_len, per_token)});
  const int factor = r.workload.mode == Mode::kTrain ? 6 : 2;
  lines.push_back(
      {fmt::format("{}*N*D", factor), r.six_n_d.grouped(),
       fmt::format("the rule of thumb on active parameters; model FLOPs are {:.4f} of it",
                   r.six_n_d_ratio.to_double()),
       fmt::format("{} * {} active parameters * {} tokens = {}; {} / {} = {:.4f}", factor,
                   r.text.active.grouped(), tokens(r).grouped(), r.six_n_d.grouped(),
                   cost.model_total().grouped(), r.six_n_d.grouped(),
                   r.six_n_d_ratio.to_double())});
  for (const TowerCost& tower : r.towers) {
    const bool sees = tower.name == "vision";
    lines.push_back(
        {sees ? "one image" : "one sound", tower.flops.matrix().grouped(),
         fmt::format("forward FLOPs of its {} {} in the {} tower, in none of the counts "
                     "above",
                     tower.positions, sees ? "patches" : "positions", tower.name),
         ""});
  }
  if (r.convention->name != "exact") {
    lines.push_back({fmt::format("convention {}", r.convention->name),
                     decimal(r.by_convention.model), std::string(r.convention->source), ""});
  }
}

// ---- memory ------------------------------------------------------------------------------------

void add_cache(Lines& lines, const CountResult& r) {
  const KvCache& cache = *r.kv_cache;
  const std::string source =
      cache.source_bytes == Count(0)
          ? ""
          : fmt::format(", {} of it of the source", si(cache.source_bytes, "B"));
  const std::string state =
      cache.state_bytes == Count(0)
          ? ""
          : fmt::format(", {} of it state of recurrences", si(cache.state_bytes, "B"));
  lines.push_back({"KV cache per token", bytes(cache.bytes_per_token),
                   "what one token writes over all layers",
                   fmt::format("{} = {}", cache.bytes_per_token_formula.str(),
                               cache.bytes_per_token.grouped())});
  lines.push_back(
      {"KV cache", bytes(cache.bytes_total),
       fmt::format("held for the batch at S = {}{}{}", r.workload.context, source, state),
       fmt::format("{} = {}", cache.bytes_total_formula.str(), cache.bytes_total.grouped())});
}

void add_memory(Lines& lines, const CountResult& r) {
  const TrafficTotals& b = r.cost.bytes;
  lines.push_back(
      {"bytes moved", bytes(b.total()),
       fmt::format(
           "one step, {}: weights {}, activations {}, KV cache {}",
           r.fusion == Fusion::kFused ? "elementwise work fused" : "every operation through memory",
           si(b.weights, "B"), si(b.activations, "B"), si(b.kv_cache, "B")),
       fmt::format("{} weights + {} activations + {} cache = {}, operation by operation "
                   "below",
                   b.weights.grouped(), b.activations.grouped(), b.kv_cache.grouped(),
                   b.total().grouped())});
  if (b.total() > Count(0)) {
    const Rational intensity = Rational(r.cost.hardware_total()) / Rational(b.total());
    std::string meaning = "hardware FLOPs over bytes moved";
    if (r.intensity) {
      meaning += fmt::format("; as a whole {}-bound: {} does {:.4g}",
                             intensity >= *r.intensity ? "compute" : "memory", r.intensity_source,
                             r.intensity->to_double());
    }
    lines.push_back({"arithmetic intensity", decimal(intensity) + " FLOP/B", meaning,
                     fmt::format("{} / {} = {}", r.cost.hardware_total().grouped(),
                                 b.total().grouped(), decimal(intensity))});
  }
  if (r.workload.mode == Mode::kTrain) {
    lines.push_back({"saved activations", bytes(r.cost.activations.saved_bytes),
                     fmt::format("kept for backward under remat {}", describe(r.remat)),
                     "the sum of the tensors listed below"});
  }
  lines.push_back({"peak activations", bytes(r.cost.activations.peak_bytes),
                   "highest live bytes, parameters and their gradients apart",
                   "each tensor from the operation that makes it to the last that reads it"});
  if (r.kv_cache) add_cache(lines, r);
}

// ---- analysis ----------------------------------------------------------------------------------

std::string quotient(const Crossover& crossover, const char* what) {
  return fmt::format(
      "dense: {} FLOPs a token of {} / {} FLOPs a query and key of attention = {}; "
      "masked: where the pairs that are left make up for it",
      decimal(crossover.linear_per_token), what, decimal(crossover.attention_per_pair),
      length(crossover.dense));
}

bool has_states(const CountResult& r) {
  return r.kv_cache && r.kv_cache->state_bytes != Count(0);
}

void add_shares(Lines& lines, const CountResult& r) {
  const Analysis& a = r.analysis;
  const Params& params = r.text;
  const Flops& f = r.cost.forward;
  lines.push_back(
      {"attention parameters", percent(a.attention_share_of_params),
       fmt::format("of all; {} of attention + feed-forward", percent(a.attention_share_of_blocks)),
       fmt::format("{} / {}", params.of(Component::kAttention).grouped(), params.total.grouped())});
  lines.push_back({"attention FLOPs", percent(a.attention_share_of_flops),
                   fmt::format("QK and AV{} of the forward FLOPs of this workload",
                               has_states(r) ? ", and updates of states," : ""),
                   fmt::format("{} / {}", f.attention.grouped(), f.matrix().grouped())});
}

void add_contexts(Lines& lines, const CountResult& r) {
  if (!attends(r.analysis)) return;
  const auto add = [&](const char* label, const Crossover& crossover, const char* meaning,
                       const char* what) {
    lines.push_back(
        {label,
         fmt::format("{} dense, {} masked", length(crossover.dense), length(crossover.masked)),
         meaning, quotient(crossover, what)});
  };
  add("attention = all matmuls at T", r.analysis.context_equals_matmul,
      "context where attention FLOPs equal the layers' matmul FLOPs", "all layers' matmuls");
  add("attention = projections at T", r.analysis.context_equals_projections,
      "context where attention FLOPs equal those of Q, K, V and O", "Q, K, V and O");
}

void add_intensity(Lines& lines, const CountResult& r) {
  const Analysis& a = r.analysis;
  if (!attends(a)) return;
  const std::string formula = a.attention_intensity_formula.str();
  const std::string cached = a.attention_generation_formula.str();
  std::string value = decimal(a.attention_intensity_prefill) + " prefill";
  std::string where = fmt::format("at T = S = {}", r.workload.context);
  if (r.kv_cache) {
    value += fmt::format(", {} generation", decimal(a.attention_intensity_generation));
    where += fmt::format("; {}one token against S = {}", cached == formula ? "" : cached + ", ",
                         r.workload.context);
  }
  lines.push_back(
      {"attention FLOP/B", value, fmt::format("dense {} {}", formula, where),
       fmt::format("dense FLOPs of QK and AV over the bytes of Q, K, V and O = {}", formula)});
  if (!r.intensity) {
    lines.push_back({"attention compute-bound", "-",
                     "give --on HW or --intensity I for the length from which it is", ""});
    return;
  }
  lines.push_back({"attention compute-bound", length(a.attention_compute_bound_length),
                   fmt::format("T = S from which it is, dense, at {:.4g} FLOP/B ({})",
                               r.intensity->to_double(), r.intensity_source),
                   fmt::format("the first whole T with {} >= {:.6g} at T = S", formula,
                               r.intensity->to_double())});
  if (a.attention_relative_cost) {
    lines.push_back(
        {"attention / feed-forward", fmt::format("{:.4g}", a.attention_relative_cost->to_double()),
         fmt::format("time of the dense attention core over a compute-bound feed-forward, "
                     "at "
                     "T = S = {}",
                     r.workload.context),
         "max(dense FLOPs, bytes of Q, K, V and O * FLOP/B) / feed-forward matmul FLOPs "
         "of a layer"});
  }
}

void add_moe(Lines& lines, const CountResult& r) {
  const MoeBatch& moe = *r.analysis.moe;
  lines.push_back({"tokens per expert", decimal(moe.tokens_per_expert), "B*T*k/E on average",
                   fmt::format("{}*{}/{} = {}", tokens(r).grouped(), r.sizes.at("k").str(),
                               r.sizes.at("E").str(), decimal(moe.tokens_per_expert))});
  lines.push_back(
      {"experts reached", fmt::format("{:.4g}", moe.expected_experts),
       fmt::format("distinct ones of a layer, expected; at most {}", moe.most_experts.grouped()),
       fmt::format("E*(1 - (1 - k/E)^(B*T)) = {:.6g}; min(E, k*B*T) = {}", moe.expected_experts,
                   moe.most_experts.grouped())});
  if (!r.intensity) return;
  lines.push_back(
      {"MoE critical batch",
       fmt::format("{} tokens ({} with activations)", length(moe.weights_only),
                   length(moe.with_activations)),
       "from which the experts are compute-bound: weights only; with their inputs and outputs",
       fmt::format("{:.6g} FLOP/B * {} B of weights / {} FLOPs a token; with activations that less "
                   "{:.6g} FLOP/B * {} B a token",
                   r.intensity->to_double(), decimal(moe.weight_bytes),
                   decimal(moe.flops_per_token), r.intensity->to_double(),
                   decimal(moe.activation_bytes_per_token))});
}

void add_analysis(Lines& lines, const CountResult& r) {
  add_shares(lines, r);
  add_contexts(lines, r);
  add_intensity(lines, r);
  if (r.analysis.moe) add_moe(lines, r);
  lines.push_back(
      {"unembedding", percent(r.analysis.unembedding_share),
       fmt::format("of the forward FLOPs; for one token as much as the matmuls of {:.2f} layers",
                   r.analysis.unembedding_layers.to_double()),
       fmt::format("{} / {}",
                   decimal(r.analysis.unembedding_share * Rational(r.cost.forward.matrix())),
                   r.cost.forward.matrix().grouped())});
}

}  // namespace

std::vector<CountLine> count_lines(const CountResult& result) {
  Lines lines;
  add_totals(lines, result);
  lines.emplace_back();
  add_memory(lines, result);
  lines.emplace_back();
  add_analysis(lines, result);
  return lines;
}

}  // namespace flopwise
