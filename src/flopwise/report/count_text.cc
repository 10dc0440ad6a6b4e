#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/count.h"
#include "flopwise/report/count_lines.h"
#include "flopwise/report/numbers.h"

namespace flopwise {
namespace {

using Results = std::vector<CountResult>;

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

const char* head_words(const Head& head) {
  switch (head.kind) {
    case HeadKind::kLanguageModel:
    case HeadKind::kMaskedLm:
    case HeadKind::kPretraining:
      return head.tied ? "tied head" : "untied head";
    case HeadKind::kNone:
      return "no head";
    case HeadKind::kPooler:
      return "pooler";
    case HeadKind::kProjector:
      return "projector";
    case HeadKind::kPooledLabels:
    case HeadKind::kTokenLabels:
    case HeadKind::kSequenceLabels:
    case HeadKind::kLastLabels:
    case HeadKind::kFirstLabels:
      return "classifier";
  }
  return "";
}

// "pre-norm rms, gated silu feed-forward, rotary positions, causal, untied": what the layers are
// made of.
std::string build_line(const CountResult& r) {
  const Model& model = r.model;
  const Stack& stack = model.decoder ? *model.decoder : *model.encoder;
  const Layer& layer = stack.groups.at(0).layer;
  std::vector<std::string> parts = {
      fmt::format("{}-norm {}", name_of(layer.placement), name_of(layer.norm))};
  bool biased = false;
  // The first of each kind stands for all.
  const Attention* attention = nullptr;
  const Mlp* mlp = nullptr;
  for (const LayerGroup& group : stack.groups) {
    if (attention == nullptr && group.layer.attention) attention = &*group.layer.attention;
    if (mlp != nullptr) continue;
    const Moe* moe = std::get_if<Moe>(&group.layer.feed_forward);
    mlp = moe != nullptr ? &moe->expert : std::get_if<Mlp>(&group.layer.feed_forward);
    if (mlp == nullptr) continue;
    parts.push_back(fmt::format("{}{} {}", mlp->gated ? "gated " : "", name_of(mlp->activation),
                                moe != nullptr ? "experts" : "feed-forward"));
    biased = biased || mlp->down_bias;
  }
  if (attention != nullptr) {
    const std::string positions = model.embedding.positions > 0
                                      ? fmt::format("{} learned", model.embedding.positions)
                                      : name_of(attention->position);
    parts.push_back(positions + " positions");
    parts.push_back(fmt::format("{} mask", name_of(attention->mask.kind)));
    biased = biased || attention->o_bias;
  }
  parts.emplace_back(head_words(model.head));
  if (biased) parts.emplace_back("biased");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string header(const CountResult& r) {
  std::string text = fmt::format("{}: {}, {}\n  {}\n  layers: {}; {}\n  {}\n", r.model.name,
                                 r.model.family, name_of(r.model.architecture), sizes_line(r),
                                 layers_line(r), build_line(r), workload_line(r));
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
  if (params.active != params.total) {
    table.add_row({"active per token", params.active.grouped(),
                   percent(Rational(params.active) / Rational(params.total))});
  }
  for (const TowerCost& tower : r.towers) {
    table.add_row({tower.name + " tower, of the total", tower.params.grouped(), ""});
  }
  if (r.unused != Count(0)) {
    table.add_row({"stored, in no step, of the total", r.unused.grouped(), ""});
  }
  if (r.mtp != Count(0)) table.add_row({"multi-token prediction, apart", r.mtp.grouped(), ""});
  if (r.workload.lora) {
    table.add_row({"trainable", params.trainable.grouped(),
                   percent(Rational(params.trainable) / Rational(params.total))});
  }
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

std::string lines_table(const std::vector<CountLine>& lines) {
  TextTable table({
      {"", Align::kLeft },
      {"", Align::kRight},
      {"", Align::kLeft }
  });
  for (const CountLine& line : lines) table.add_row({line.label, line.value, line.meaning});
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
  std::string result = value.grouped();
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

std::string explain_lines(const std::vector<CountLine>& lines) {
  std::string text = "\nhow each line comes about\n";
  for (const CountLine& line : lines) {
    if (!line.derivation.empty()) text += fmt::format("  {}: {}\n", line.label, line.derivation);
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
  const std::vector<CountLine> lines = count_lines(r);
  std::string text =
      header(r) + "\n" + params_table(r) + "\n" + flops_table(r) + "\n" + lines_table(lines);
  if (r.fusion == Fusion::kUnfused) text += "\n" + naive_attention(r);
  if (explain == Explain::kYes) {
    text += explain_lines(lines);
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
  row("arithmetic intensity", [](R r) {
    return fmt::format("{:.4g}",
                       r.cost.hardware_total().to_double() / r.cost.bytes.total().to_double());
  });
  row("KV cache",
      [](R r) { return r.kv_cache ? si(r.kv_cache->bytes_total, "B") : std::string("none"); });
  row("KV cache per token, B",
      [](R r) { return r.kv_cache ? r.kv_cache->bytes_per_token.grouped() : std::string("none"); });
  row("attention = matmuls at T",
      [](R r) { return length(r.analysis.context_equals_matmul.dense); });
  row("  masked", [](R r) { return length(r.analysis.context_equals_matmul.masked); });
  if (results[0].intensity) {
    row("attention compute-bound at T",
        [](R r) { return length(r.analysis.attention_compute_bound_length); });
    row("MoE critical batch, tokens", [](R r) {
      return r.analysis.moe ? length(r.analysis.moe->weights_only) : std::string("no experts");
    });
  }
  return table.str();
}

}  // namespace

std::string count_text(const Results& results, Explain explain) {
  if (results.size() == 1) return full_report(results[0], explain);
  const CountResult& first = results[0];
  const std::string chip = first.intensity
                               ? fmt::format(", {} at {:.4g} FLOP/B", first.intensity_source,
                                             first.intensity->to_double())
                               : "";
  std::string text = fmt::format("{}, {}{}\n\n{}", name_of(first.workload.mode),
                                 options_line(first), chip, side_by_side(results));
  if (explain == Explain::kNo) return text;
  for (const CountResult& result : results) text += "\n" + full_report(result, Explain::kYes);
  return text;
}

}  // namespace flopwise
