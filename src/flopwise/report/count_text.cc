#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/count.h"

namespace flopwise {
namespace {

using Results = std::vector<CountResult>;

// A line of the report: what it is, its value for one model, and in one line what that means.
struct Line {
  std::string label;
  std::string value;
  std::string meaning;
};

std::string decimal(const Rational& value) {
  if (value.is_integer()) return Count::of(value.num()).grouped();
  return fmt::format("{:.4g}", value.to_double());
}

std::string length(const std::optional<Rational>& value) {
  if (!value) return "never";
  return value->is_integer() ? Count::of(value->num()).grouped()
                             : fmt::format("{:.1f}", value->to_double());
}

std::string length(const std::optional<Count>& value) {
  return value ? value->grouped() : "never";
}

std::string percent(const Rational& share) {
  return format_percent(share.to_double());
}

std::string si(Count value, const char* unit) {
  return format_si(value.to_double(), unit);
}

// "8,589,934,592 B (8.000 GiB)".
std::string bytes(Count value) {
  const std::string exact = value.grouped() + " B";
  if (value < Count(1024)) return exact;
  return fmt::format("{} ({})", exact, format_binary(value.to_double()));
}

Count tokens(const CountResult& r) {
  return Count(r.workload.batch) * Count(r.workload.seq_len);
}

// ---- header --------------------------------------------------------------------------------

// "flash attention, remat none, bf16": what is the same for all models of a report.
std::string options_line(const CountResult& r) {
  const Workload& w = r.workload;
  std::string line = w.kernel == AttentionKernel::kFlash ? "flash attention" : "plain attention";
  if (w.mode == Mode::kTrain) line += ", remat " + describe(r.remat);
  line += fmt::format(", {}", r.types.compute.name);
  if (r.types.weight.name != r.types.compute.name) {
    line += fmt::format(", weights {}", r.types.weight.name);
  }
  if (r.types.cache.name != r.types.compute.name) {
    line += fmt::format(", KV {}", r.types.cache.name);
  }
  if (w.mode != Mode::kTrain && w.logits == Logits::kLast) line += ", logits of the last position";
  return line;
}

std::string workload_line(const CountResult& r) {
  const Workload& w = r.workload;
  std::string line = fmt::format("{}, B = {}, T = {}", name_of(w.mode), w.batch, w.seq_len);
  if (w.context != w.seq_len) line += fmt::format(", S = {}", w.context);
  if (w.source != 0) line += fmt::format(", R = {}", w.source);
  return line + ", " + options_line(r);
}

std::string sizes_line(const CountResult& r) {
  std::string line;
  for (const char* name : {"D", "F", "N", "K", "H", "L", "V", "E", "k", "W", "C", "P"}) {
    const auto found = r.sizes.find(name);
    if (found != r.sizes.end())
      line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, found->second.str());
  }
  return line;
}

// "1 x dense (F=10944), 26 x moe (F=1408)": with the sizes that are a kind's own.
std::string layers_line(const CountResult& r) {
  std::string line;
  for (const BlockCost& block : r.cost.blocks) {
    if (!block.is_layer) continue;
    line += fmt::format("{}{} x {}", line.empty() ? "" : ", ", block.layers.str(), block.name);
    std::string own;
    for (const auto& [name, size] : block.sizes) {
      const auto common = r.sizes.find(name);
      if (common != r.sizes.end() && common->second == size) continue;
      own += fmt::format("{}{}={}", own.empty() ? "" : " ", name, size.str());
    }
    if (!own.empty()) line += fmt::format(" ({})", own);
  }
  return line;
}

std::string header(const CountResult& r) {
  std::string text =
      fmt::format("{}: {}, {}\n  {}\n  layers: {}\n  {}\n", r.model.name, r.model.family,
                  name_of(r.model.architecture), sizes_line(r), layers_line(r), workload_line(r));
  for (const std::string& line : r.model.assumptions) text += "  assumed: " + line + "\n";
  return text;
}

// ---- parameters and FLOPs --------------------------------------------------------------------

std::string params_table(const CountResult& r) {
  TextTable table({
      {"parameters", Align::kLeft },
      {"",           Align::kRight},
      {"share",      Align::kRight}
  });
  const Params& params = r.cost.params;
  for (int i = 0; i < kComponentCount; ++i) {
    const Component component = static_cast<Component>(i);
    const Count count = params.of(component);
    if (count == Count(0)) continue;
    table.add_row(
        {name_of(component), count.grouped(), percent(Rational(count) / Rational(params.total))});
  }
  table.add_rule();
  table.add_row({"total", params.total.grouped(), ""});
  if (params.active != params.total)
    table.add_row({"active per token", params.active.grouped(),
                   percent(Rational(params.active) / Rational(params.total))});
  table.add_row({"without embedding and head", (params.total - params.embedding()).grouped(),
                 percent(Rational(params.total - params.embedding()) / Rational(params.total))});
  return table.str();
}

std::string flops_table(const CountResult& r) {
  TextTable table({
      {"FLOPs",           Align::kLeft },
      {"matmul",          Align::kRight},
      {"attention",       Align::kRight},
      {"attention dense", Align::kRight},
      {"vector",          Align::kRight}
  });
  const auto row = [&](const char* name, const Flops& f) {
    table.add_row({name, f.matmul.grouped(), f.attention.grouped(), f.attention_dense.grouped(),
                   f.vector.grouped()});
  };
  row("forward", r.cost.forward);
  if (r.workload.mode == Mode::kTrain) {
    row("backward", r.cost.backward);
    row("recompute", r.cost.recompute);
  }
  return table.str();
}

// ---- lines with a meaning --------------------------------------------------------------------

void add_totals(std::vector<Line>& lines, const CountResult& r) {
  const Cost& cost = r.cost;
  lines.push_back(
      {"model FLOPs",
       fmt::format("{} ({})", cost.model_total().grouped(), si(cost.model_total(), "FLOP")),
       "matmul + attention of forward and backward, masked pairs only"});
  lines.push_back({"model FLOPs, dense", cost.model_total_dense().grouped(),
                   "all T*S pairs counted, as most published tables do"});
  if (r.workload.mode == Mode::kTrain) {
    lines.push_back({"hardware FLOPs", cost.hardware_total().grouped(),
                     "model FLOPs and recomputation (a flash kernel computes QK again)"});
    lines.push_back({"hardware FLOPs, dense", cost.hardware_total_dense().grouped(),
                     "the same with all T*S pairs"});
  }
  lines.push_back({"per token", decimal(Rational(cost.model_total()) / Rational(tokens(r))),
                   "model FLOPs over B*T"});
  const char* rule = r.workload.mode == Mode::kTrain ? "6*N*D" : "2*N*D";
  lines.push_back(
      {rule, r.six_n_d.grouped(),
       fmt::format("the rule of thumb on active parameters; model FLOPs are {:.4f} of it",
                   r.six_n_d_ratio.to_double())});
  if (r.convention->name != "exact") {
    lines.push_back({fmt::format("convention {}", r.convention->name),
                     decimal(r.by_convention.model), std::string(r.convention->source)});
  }
}

void add_memory(std::vector<Line>& lines, const CountResult& r) {
  const TrafficTotals& b = r.cost.bytes;
  lines.push_back({"bytes moved", bytes(b.total()),
                   fmt::format("one step, {}: weights {}, activations {}, KV cache {}",
                               r.fusion == Fusion::kFused ? "elementwise work fused"
                                                          : "every operation through memory",
                               si(b.weights, "B"), si(b.activations, "B"), si(b.kv_cache, "B"))});
  if (b.total() > Count(0)) {
    lines.push_back(
        {"arithmetic intensity",
         fmt::format("{:.4g} FLOP/B", r.cost.hardware_total().to_double() / b.total().to_double()),
         "hardware FLOPs over bytes moved"});
  }
  if (r.workload.mode == Mode::kTrain) {
    lines.push_back({"saved activations", bytes(r.cost.activations.saved_bytes),
                     fmt::format("kept for backward under remat {}", describe(r.remat))});
  }
  lines.push_back({"peak activations", bytes(r.cost.activations.peak_bytes),
                   "highest live bytes, parameters and their gradients apart"});
  if (r.kv_cache) {
    lines.push_back({"KV cache per token", bytes(r.kv_cache->bytes_per_token),
                     "what one token writes over all layers"});
    lines.push_back({"KV cache", bytes(r.kv_cache->bytes_total),
                     fmt::format("held for the batch at S = {}{}", r.workload.context,
                                 r.kv_cache->source_bytes == Count(0)
                                     ? ""
                                     : fmt::format(", {} of it of the source",
                                                   si(r.kv_cache->source_bytes, "B")))});
  }
}

void add_analysis(std::vector<Line>& lines, const CountResult& r) {
  const Analysis& a = r.analysis;
  lines.push_back({"attention parameters", percent(a.attention_share_of_params),
                   fmt::format("of all; {} of attention + feed-forward",
                               percent(a.attention_share_of_blocks))});
  lines.push_back({"attention FLOPs", percent(a.attention_share_of_flops),
                   "QK and AV of the forward FLOPs of this workload"});
  lines.push_back({"attention = all matmuls at T",
                   fmt::format("{} dense, {} masked", length(a.context_equals_matmul.dense),
                               length(a.context_equals_matmul.masked)),
                   "context where attention FLOPs equal the layers' matmul FLOPs"});
  lines.push_back({"attention = projections at T",
                   fmt::format("{} dense, {} masked", length(a.context_equals_projections.dense),
                               length(a.context_equals_projections.masked)),
                   "context where attention FLOPs equal those of Q, K, V and O"});
  std::string intensity = fmt::format("{:.4g} prefill", a.attention_intensity_prefill.to_double());
  if (r.kv_cache)
    intensity += fmt::format(", {:.4g} generation", a.attention_intensity_generation.to_double());
  lines.push_back(
      {"attention FLOP/B", intensity,
       fmt::format("dense {} at T = S = {}; one token against S = {}",
                   a.attention_intensity_formula.str(), r.workload.context, r.workload.context)});
  if (r.intensity) {
    lines.push_back({"attention compute-bound", length(a.attention_compute_bound_length),
                     fmt::format("T = S from which it is, at {:.4g} FLOP/B ({})",
                                 r.intensity->to_double(), r.intensity_source)});
  } else {
    lines.push_back({"attention compute-bound", "-",
                     "give --on HW or --intensity I for the length from which it is"});
  }
  if (a.attention_relative_cost) {
    lines.push_back({"attention / feed-forward",
                     fmt::format("{:.4g}", a.attention_relative_cost->to_double()),
                     "time of the attention core over a compute-bound feed-forward, at T = S"});
  }
  if (a.moe) {
    lines.push_back({"tokens per expert", decimal(a.moe->tokens_per_expert), "B*T*k/E on average"});
    lines.push_back({"experts reached", fmt::format("{:.4g}", a.moe->expected_experts),
                     fmt::format("distinct ones of a layer, expected; at most {}",
                                 a.moe->most_experts.grouped())});
    if (r.intensity) {
      lines.push_back({"MoE critical batch",
                       fmt::format("{} tokens ({} with activations)", length(a.moe->weights_only),
                                   length(a.moe->with_activations)),
                       "from which the experts are compute-bound: weights only; with their inputs "
                       "and outputs"});
    }
  }
  lines.push_back(
      {"unembedding", percent(a.unembedding_share),
       fmt::format("of the forward FLOPs; for one token as much as the matmuls of {:.2f} layers",
                   a.unembedding_layers.to_double())});
}

std::string lines_table(const std::vector<Line>& lines) {
  TextTable table({
      {"", Align::kLeft },
      {"", Align::kRight},
      {"", Align::kLeft }
  });
  for (const Line& line : lines) table.add_row({line.label, line.value, line.meaning});
  return table.str();
}

std::string naive_attention(const CountResult& r) {
  TextTable table({
      {"naive attention, one layer", Align::kLeft },
      {"bytes",                      Align::kRight},
      {"formula",                    Align::kLeft }
  });
  for (const NaiveStep& step : r.analysis.naive_attention) {
    table.add_row({step.op, step.bytes.value.grouped(), step.bytes.formula.str()});
  }
  return table.str();
}

// ---- explanations ------------------------------------------------------------------------------

std::string derivation(const Expr& formula, const Sizes& sizes, Count value) {
  if (formula.is_zero()) return "0";
  const std::string with_sizes = formula.str_with(sizes);
  const std::string result = value.grouped();
  if (formula.constant()) return result;
  return fmt::format("{} = {} = {}", formula.str(), with_sizes, result);
}

std::string explain_block(const BlockCost& block) {
  std::string text = fmt::format("\n{} (x {})\n", block.name, block.layers.str());
  for (const OpCost& op : block.ops) {
    text += fmt::format("  {} {} [{}]\n    {}\n", name_of(op.pass), op.name, name_of(op.op_class),
                        op.expression);
    if (!op.flops.formula.is_zero()) {
      text +=
          fmt::format("    FLOPs  {}\n", derivation(op.flops.formula, block.sizes, op.flops.value));
    }
    if (!(op.flops_dense.formula == op.flops.formula)) {
      text += fmt::format("    dense  {}\n",
                          derivation(op.flops_dense.formula, block.sizes, op.flops_dense.value));
    }
    if (!op.params.formula.is_zero()) {
      text += fmt::format("    params {}\n",
                          derivation(op.params.formula, block.sizes, op.params.value));
    }
    if (!op.bytes.formula.is_zero()) {
      text +=
          fmt::format("    bytes  {}\n", derivation(op.bytes.formula, block.sizes, op.bytes.value));
    } else if (op.kernel != op.name) {
      text += fmt::format("    bytes  0, part of the kernel of {}\n", op.kernel);
    }
  }
  return text;
}

std::string explain_saved(const CountResult& r) {
  std::string text = "\nsaved activations\n";
  for (const SavedTensor& saved : r.cost.activations.saved) {
    text += fmt::format("  {} {}: {} bytes x {} = {}\n", saved.block, saved.name, saved.bytes.str(),
                        saved.repeat.str(), saved.value.grouped());
  }
  return text;
}

std::string explain_totals(const CountResult& r) {
  std::string text = "\ntotals\n";
  for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kRecompute}) {
    for (const OpClass op_class : {OpClass::kMatmul, OpClass::kAttention, OpClass::kVector}) {
      const std::optional<Expr> formula = total_formula(r.cost, op_class, pass);
      if (formula && formula->is_zero()) continue;
      text +=
          fmt::format("  {} {}: {}\n", name_of(pass), name_of(op_class),
                      formula ? derivation(*formula, r.sizes, formula->eval_count(r.sizes, "total"))
                              : std::string("layers differ in size: the sum of the blocks above"));
    }
  }
  return text;
}

std::string full_report(const CountResult& r, Explain explain) {
  const Line blank;
  std::vector<Line> lines;
  add_totals(lines, r);
  lines.push_back(blank);
  add_memory(lines, r);
  lines.push_back(blank);
  add_analysis(lines, r);
  std::string text =
      header(r) + "\n" + params_table(r) + "\n" + flops_table(r) + "\n" + lines_table(lines);
  if (r.fusion == Fusion::kUnfused) text += "\n" + naive_attention(r);
  if (explain == Explain::kYes) {
    text += explain_totals(r);
    if (r.workload.mode == Mode::kTrain) text += explain_saved(r);
    for (const BlockCost& block : r.cost.blocks) text += explain_block(block);
  }
  return text;
}

// ---- several models ----------------------------------------------------------------------------

std::string side_by_side(const Results& results) {
  std::vector<TextTable::Column> columns = {
      {"", Align::kLeft}
  };
  for (const CountResult& r : results) columns.push_back({r.model.name, Align::kRight});
  TextTable table(columns);
  const auto row = [&](const char* label, auto value) {
    std::vector<std::string> cells = {label};
    for (const CountResult& r : results) cells.push_back(value(r));
    table.add_row(std::move(cells));
  };
  using R = const CountResult&;
  row("parameters", [](R r) { return r.cost.params.total.grouped(); });
  row("  active per token", [](R r) { return r.cost.params.active.grouped(); });
  for (int i = 0; i < kComponentCount; ++i) {
    const Component component = static_cast<Component>(i);
    const std::string label = std::string("  ") + name_of(component);
    row(label.c_str(), [&](R r) { return r.cost.params.of(component).grouped(); });
  }
  table.add_rule();
  row("B x T x S", [](R r) {
    return fmt::format("{} x {} x {}", r.workload.batch, r.workload.seq_len, r.workload.context);
  });
  row("model FLOPs", [](R r) { return r.cost.model_total().grouped(); });
  row("  dense", [](R r) { return r.cost.model_total_dense().grouped(); });
  row("hardware FLOPs", [](R r) { return r.cost.hardware_total().grouped(); });
  row("per token",
      [](R r) { return decimal(Rational(r.cost.model_total()) / Rational(tokens(r))); });
  row("of the 6ND / 2ND rule",
      [](R r) { return fmt::format("{:.4f}", r.six_n_d_ratio.to_double()); });
  row("attention share of FLOPs", [](R r) { return percent(r.analysis.attention_share_of_flops); });
  row("unembedding share", [](R r) { return percent(r.analysis.unembedding_share); });
  table.add_rule();
  row("bytes moved", [](R r) { return si(r.cost.bytes.total(), "B"); });
  row("saved activations", [](R r) { return si(r.cost.activations.saved_bytes, "B"); });
  row("KV cache per token, B",
      [](R r) { return r.kv_cache ? r.kv_cache->bytes_per_token.grouped() : std::string("none"); });
  row("attention = matmuls at T",
      [](R r) { return length(r.analysis.context_equals_matmul.dense); });
  row("  masked", [](R r) { return length(r.analysis.context_equals_matmul.masked); });
  return table.str();
}

}  // namespace

std::string count_text(const Results& results, Explain explain) {
  if (results.size() == 1) return full_report(results[0], explain);
  std::string text = fmt::format("{}, {}\n\n{}", name_of(results[0].workload.mode),
                                 options_line(results[0]), side_by_side(results));
  if (explain == Explain::kNo) return text;
  for (const CountResult& result : results) text += "\n" + full_report(result, Explain::kYes);
  return text;
}

}  // namespace flopwise
