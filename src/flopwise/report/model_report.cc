#include "flopwise/report/model_report.h"

#include <fmt/format.h>

#include <utility>

#include "flopwise/base/dtype.h"
#include "flopwise/cost/cost.h"
#include "flopwise/model/build.h"
#include "flopwise/report/facts.h"
#include "flopwise/report/model_diagram.h"
#include "flopwise/report/model_params.h"

namespace flopwise {
namespace {

// A stack with the name it goes by in reports.
struct NamedStack {
  const char* name;
  const Stack* stack;
};

std::vector<NamedStack> stacks_of(const Model& model) {
  std::vector<NamedStack> stacks;
  if (model.encoder) stacks.push_back({"encoder", &*model.encoder});
  if (model.decoder) stacks.push_back({"decoder", &*model.decoder});
  return stacks;
}

Count layers_of(const Model& model) {
  Count layers = 0;
  for (const NamedStack& named : stacks_of(model)) {
    for (const LayerGroup& group : named.stack->groups) layers += group.repeat;
  }
  return layers;
}

std::string mask_text(const AttentionMask& mask) {
  return mask.size > 0 ? fmt::format("{} {}", name_of(mask.kind), mask.size) : name_of(mask.kind);
}

std::string feed_forward_text(const Layer& layer) {
  if (const Mlp* mlp = std::get_if<Mlp>(&layer.feed_forward)) {
    return fmt::format("F={} {}{}", mlp->d_ff, mlp->gated ? "gated " : "",
                       name_of(mlp->activation));
  }
  if (std::holds_alternative<NoFeedForward>(layer.feed_forward)) return "none";
  if (std::holds_alternative<LinearMap>(layer.feed_forward)) return "linear";
  const Moe& moe = std::get<Moe>(layer.feed_forward);
  std::string text =
      fmt::format("F={} E={} k={}", moe.expert.d_ff, moe.experts, moe.active_experts);
  if (moe.shared_d_ff > 0) text += fmt::format(" shared F={}", moe.shared_d_ff);
  return text;
}

std::string layers_table(const Model& model) {
  TextTable table({{"stack", Align::kLeft},
                   {"layer", Align::kLeft},
                   {"repeat", Align::kRight},
                   {"N", Align::kRight},
                   {"K", Align::kRight},
                   {"H", Align::kRight},
                   {"attention", Align::kLeft},
                   {"feed-forward", Align::kLeft},
                   {"norm", Align::kLeft}});
  for (const NamedStack& named : stacks_of(model)) {
    for (const LayerGroup& group : named.stack->groups) {
      std::vector<std::string> row = {named.name, group.name, std::to_string(group.repeat)};
      if (group.layer.attention) {
        const Attention& attention = *group.layer.attention;
        for (const std::int64_t size : {attention.heads, attention.kv_heads, attention.head_dim}) {
          row.push_back(std::to_string(size));
        }
        row.push_back(mask_text(attention.mask));
      } else {
        row.insert(row.end(), 3, "");
        row.emplace_back(group.layer.recurrence ? name_of(*group.layer.recurrence)
                         : group.layer.linear   ? "linear"
                                                : "none");
      }
      row.push_back(feed_forward_text(group.layer));
      row.push_back(
          fmt::format("{} {}", name_of(group.layer.placement), name_of(group.layer.norm)));
      table.add_row(row);
    }
  }
  return table.str();
}

Json layer_json(const NamedStack& named, const LayerGroup& group) {
  const std::optional<Attention>& a = group.layer.attention;
  const std::optional<Recurrence>& recurrence = group.layer.recurrence;
  const auto of_attention = [&](auto value) { return a ? Json(value(*a)) : Json(); };
  Json json =
      Json::object()
          .add("stack", named.name)
          .add("name", group.name)
          .add("repeat", group.repeat)
          .add("heads", of_attention([](const Attention& x) { return x.heads; }))
          .add("kv_heads", of_attention([](const Attention& x) { return x.kv_heads; }))
          .add("head_dim", of_attention([](const Attention& x) { return x.head_dim; }))
          .add("mask", of_attention([](const Attention& x) { return name_of(x.mask.kind); }))
          .add("mask_size", a && a->mask.size > 0 ? Json(a->mask.size) : Json())
          .add("recurrence", recurrence ? Json(name_of(*recurrence)) : Json());
  const Moe* moe = std::get_if<Moe>(&group.layer.feed_forward);
  const Mlp* mlp = moe != nullptr ? &moe->expert : std::get_if<Mlp>(&group.layer.feed_forward);
  json.add("d_ff", mlp != nullptr ? Json(mlp->d_ff) : Json())
      .add("gated", mlp != nullptr ? Json(mlp->gated) : Json())
      .add("activation", mlp != nullptr ? Json(name_of(mlp->activation)) : Json());
  json.add("experts", moe != nullptr ? Json(moe->experts) : Json());
  json.add("active_experts", moe != nullptr ? Json(moe->active_experts) : Json());
  return json.add("norm", name_of(group.layer.norm))
      .add("norm_placement", name_of(group.layer.placement));
}

Json model_summary(const CatalogModel& entry, const std::vector<ModelColumn>& columns) {
  const Model model = read_catalog_row(entry);
  const ModelFacts facts = facts_of(model);
  Json json = Json::object()
                  .add("name", entry.name)
                  .add("publisher", entry.publisher)
                  .add("aliases", text_list({entry.aliases.begin(), entry.aliases.end()}))
                  .add("family", model.family);
  for (const ModelColumn& column : columns) json.add(column.key, column.value(facts));
  return json.add("source", entry.source);
}

KvCache cache_at(Program& decode, Count positions) {
  const DType& bf16 = find_dtype("bf16");
  decode.sizes["S"] = positions;
  return kv_cache_of(decode, {bf16, bf16, bf16}).value_or(KvCache{});
}

bool has_vocabulary_matrix(const Head& head) {
  return head.kind == HeadKind::kLanguageModel || head.kind == HeadKind::kMaskedLm ||
         head.kind == HeadKind::kPretraining;
}

std::string unembedding_of(const Model& model) {
  if (!has_vocabulary_matrix(model.head)) return "none: ends without logits over the vocabulary";
  return model.head.tied ? "tied: the embedding's matrix" : "untied: a matrix of its own";
}

// Every parameter tensor: its axes, the formula with the sizes put in, and how often it is there.
std::string explain_params(const Model& model) {
  struct Part {
    std::string prefix;
    Program program;
  };
  std::vector<Part> parts = {{"", build_one_token(model, Mode::kForward)},
                             {"", build_unused_program(model)}};
  for (const auto& [name, tower] : model.towers) {
    parts.push_back({name + ".", build_tower_program(*tower, positions_of_tower(*tower))});
    parts.push_back({name + ".", build_unused_program(*tower)});
  }
  TextTable table({{"parameters", Align::kLeft},
                   {"one", Align::kLeft},
                   {"", Align::kRight},
                   {"repeat", Align::kRight},
                   {"in all", Align::kRight}});
  for (const Part& part : parts) {
    for (const ParameterTensor& parameter : parameter_tensors(part.program)) {
      table.add_row(
          {fmt::format("{}{} {}", part.prefix, parameter.block, describe(parameter.tensor)),
           fmt::format("{} = {}", parameter.elements.str(),
                       parameter.elements.str_with(parameter.sizes)),
           parameter.value.grouped(), parameter.repeat.grouped(),
           (parameter.value * parameter.repeat).grouped()});
    }
  }
  table.add_rule();
  table.add_row({"total", "", "", "", params_of_model(model).total.grouped()});
  return table.str();
}

}  // namespace

ModelFacts facts_of(const Model& model) {
  ModelFacts facts{model, params_of_model(model), 0, 0};
  if (model.architecture == Architecture::kEncoder) return facts;
  Program decode = build_one_token(model, Mode::kDecode);
  const Count beyond_all_windows = std::int64_t{1} << 41;
  const KvCache before = cache_at(decode, beyond_all_windows);
  const KvCache after = cache_at(decode, beyond_all_windows + Count(1));
  facts.cache_bytes = after.bytes_per_token;
  facts.long_run_cache_bytes = after.bytes_total - before.bytes_total;
  return facts;
}

const std::vector<ModelColumn>& model_columns() {
  using F = const ModelFacts&;
  static const std::vector<ModelColumn> kColumns = {
      {"params", "parameters", "trainable, a tied matrix once", [](F f) { return f.params.total; }},
      {"active_params", "active", "what one token uses: k of E routed experts",
       [](F f) { return f.params.active; }},
      {"context", "context", "longest context it is made for; 0: not said",
       [](F f) { return Count(f.model.context); }},
      {"kv_cache_bytes_per_token", "KV B/token",
       "16-bit KV cache that a token writes; 0: keeps none", [](F f) { return f.cache_bytes; }},
      {"kv_cache_long_run_bytes_per_token", "KV long run",
       "by which a token makes the cache grow once all windows and chunks are full",
       [](F f) { return f.long_run_cache_bytes; }},
      {"layers", "layers", "layers, encoder and decoder together",
       [](F f) { return layers_of(f.model); }, false},
      {"d_model", "D", "model dimension", [](F f) { return Count(f.model.d_model); }, false},
      {"vocab", "V", "vocabulary", [](F f) { return Count(f.model.vocab); }, false},
  };
  return kColumns;
}

std::string models_text(const std::vector<ModelColumn>& columns) {
  std::vector<TextTable::Column> titles = {{"model", Align::kLeft}};
  for (const ModelColumn& column : columns) {
    if (column.in_table) titles.push_back({column.title, Align::kRight});
  }
  TextTable table(titles);
  std::string_view publisher;
  for (const CatalogModel& entry : model_catalog()) {
    if (entry.publisher != publisher) {
      std::vector<std::string> heading(titles.size());
      heading[0] = entry.publisher;
      table.add_row(std::move(heading));
    }
    publisher = entry.publisher;
    const Model model = read_catalog_row(entry);
    const ModelFacts facts = facts_of(model);
    std::vector<std::string> cells = {"  " + model.name};
    for (const ModelColumn& column : columns) {
      if (column.in_table) cells.push_back(column.value(facts).grouped());
    }
    table.add_row(std::move(cells));
  }
  Facts meanings;
  for (const ModelColumn& column : columns) {
    if (column.in_table) meanings.add(column.title, "", column.meaning);
  }
  return table.str() + "\n" + meanings.str() +
         "\nflopwise models NAME draws one of them; names take any case, spaces and dashes.\n";
}

Json models_json(const std::vector<ModelColumn>& columns) {
  Json models = Json::array();
  for (const CatalogModel& entry : model_catalog()) models.push(model_summary(entry, columns));
  return Json::object().add("schema", 1).add("models", models);
}

std::string model_text(const Model& model, Explain explain,
                       const std::vector<ModelColumn>& columns) {
  const ModelFacts derived = facts_of(model);
  Facts facts;
  facts.add("model", model.name);
  facts.add("family", model.family);
  facts.add("kind", name_of(model.architecture));
  for (const ModelColumn& column : columns) {
    facts.add(column.title, column.value(derived).grouped(), column.meaning);
  }
  facts.add("unembedding", unembedding_of(model));
  const std::string derivation = explain == Explain::kYes ? "\n" + explain_params(model) : "";
  return facts.str() + "\n" + layers_table(model) + "\n" + diagram_text(diagram_of(model)) +
         derivation + lines_of("Taken for granted", model.assumptions) +
         fmt::format("\nSource: {}\n", model.source);
}

Json model_json(const Model& model, const std::vector<ModelColumn>& columns) {
  const ModelFacts facts = facts_of(model);
  const Diagram diagram = diagram_of(model);
  Json json = Json::object()
                  .add("schema", 1)
                  .add("name", model.name)
                  .add("family", model.family)
                  .add("architecture", name_of(model.architecture));
  for (const ModelColumn& column : columns) json.add(column.key, column.value(facts));
  Json layers = Json::array();
  for (const NamedStack& named : stacks_of(model)) {
    for (const LayerGroup& group : named.stack->groups) layers.push(layer_json(named, group));
  }
  return json
      .add("tied_embeddings", has_vocabulary_matrix(model.head) ? Json(model.head.tied) : Json())
      .add("layer_groups", layers)
      .add("diagram_tokens", diagram.workload.seq_len)
      .add("blocks", diagram_json(diagram))
      .add("assumptions", text_list(model.assumptions))
      .add("source", model.source);
}

}  // namespace flopwise
