#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/base/contains.h"
#include "flopwise/report/count.h"

namespace flopwise {
namespace {

Json number(const Rational& value) {
  return value.is_integer() ? Json(Count::of(value.num())) : Json(value.to_double());
}

Json number(const std::optional<Rational>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json quantity(const Quantity& quantity) {
  return Json::object().add("formula", quantity.formula.str()).add("value", quantity.value);
}

Json flops(const Flops& flops) {
  return Json::object()
      .add("matmul", flops.matmul)
      .add("attention", flops.attention)
      .add("attention_dense", flops.attention_dense)
      .add("vector", flops.vector)
      .add("total", flops.total());
}

Json sizes(const CountResult& result) {
  // The letters of every report first, null where the model has none; then what else its formulas
  // use.
  Json object = Json::object();
  static const std::vector<std::string> kAlways = {"B", "T", "S", "R", "D", "F", "N",
                                                   "K", "G", "H", "L", "V", "E", "k"};
  for (const std::string& name : kAlways) {
    const auto found = result.sizes.find(name);
    object.add(name, found == result.sizes.end() ? Json(nullptr) : Json(found->second));
  }
  for (const auto& [name, size] : result.sizes) {
    if (!contains(kAlways, name)) object.add(name, size);
  }
  return object;
}

// Each distinct block, how often it is there, and the sizes its formulas are evaluated with.
Json blocks(const CountResult& result) {
  Json list = Json::array();
  for (const BlockCost& block : result.cost.blocks) {
    Json own = Json::object();
    for (const auto& [name, size] : block.sizes) own.add(name, size);
    list.push(Json::object()
                  .add("name", block.name)
                  .add("layers", block.layers)
                  .add("sizes", std::move(own)));
  }
  return list;
}

const TowerCost* tower_of(const CountResult& result, std::string_view name) {
  for (const TowerCost& tower : result.towers) {
    if (tower.name == name) return &tower;
  }
  return nullptr;
}

Count params_of_tower(const CountResult& result, std::string_view name) {
  const TowerCost* tower = tower_of(result, name);
  return tower == nullptr ? Count(0) : tower->params;
}

Json params(const CountResult& result) {
  const Params& params = result.cost.params;
  Json by_component = Json::object();
  for (int i = 0; i < kComponentCount; ++i) {
    const Component component = static_cast<Component>(i);
    by_component.add(name_of(component), params.of(component));
  }
  return Json::object()
      .add("total", params.total)
      .add("active", params.active)
      .add("trainable", params.trainable)
      .add("embedding", params.embedding())
      .add("non_embedding", params.total - params.embedding())
      .add("mtp", result.mtp)
      .add("vision", params_of_tower(result, "vision"))
      .add("audio", params_of_tower(result, "audio"))
      .add("unused", result.unused)
      .add("by_component", std::move(by_component));
}

Json flops_block(const CountResult& result) {
  const Cost& cost = result.cost;
  const Count tokens = Count(result.workload.batch) * Count(result.workload.seq_len);
  return Json::object()
      .add("forward", flops(cost.forward))
      .add("backward", flops(cost.backward))
      .add("recompute", flops(cost.recompute))
      .add("model_total", cost.model_total())
      .add("hardware_total", cost.hardware_total())
      .add("model_total_dense", cost.model_total_dense())
      .add("hardware_total_dense", cost.hardware_total_dense())
      .add("per_token", number(Rational(cost.model_total()) / Rational(tokens)))
      .add("six_n_d", result.six_n_d)
      .add("six_n_d_ratio", result.six_n_d_ratio.to_double())
      .add("convention", result.convention->name)
      .add("by_convention", number(result.by_convention.model));
}

Json kv_cache(const CountResult& result) {
  if (!result.kv_cache) return nullptr;
  return Json::object()
      .add("bytes_per_token", result.kv_cache->bytes_per_token)
      .add("bytes_total", result.kv_cache->bytes_total)
      .add("source_bytes", result.kv_cache->source_bytes)
      .add("state_bytes", result.kv_cache->state_bytes);
}

// One image or sound, null without its tower; `unit` is what its positions are.
Json through_tower(const CountResult& result, std::string_view name, const char* unit) {
  const TowerCost* tower = tower_of(result, name);
  if (tower == nullptr) return nullptr;
  return Json::object()
      .add(unit, tower->positions)
      .add("matmul", tower->flops.matmul)
      .add("attention", tower->flops.attention)
      .add("vector", tower->flops.vector);
}

Json activations(const CountResult& result) {
  std::set<std::string> seen;
  Json::Array names;
  for (const SavedTensor& saved : result.cost.activations.saved) {
    if (seen.insert(saved.name).second) names.emplace_back(saved.name);
  }
  return Json::object()
      .add("saved_bytes", result.cost.activations.saved_bytes)
      .add("peak_bytes", result.cost.activations.peak_bytes)
      .add("saved", Json::array(std::move(names)));
}

Json crossover(const Crossover& crossover) {
  return Json::object()
      .add("dense", number(crossover.dense))
      .add("masked", number(crossover.masked));
}

Json analysis(const CountResult& result) {
  const Analysis& a = result.analysis;
  const bool generates = result.kv_cache.has_value();
  Json moe = Json::object()
                 .add("weights_only", a.moe ? Json(a.moe->weights_only) : Json(nullptr))
                 .add("with_activations", a.moe ? Json(a.moe->with_activations) : Json(nullptr));
  Json reached = Json::object()
                     .add("expected", a.moe ? Json(a.moe->expected_experts) : Json(nullptr))
                     .add("at_most", a.moe ? Json(a.moe->most_experts) : Json(nullptr));
  Json steps = nullptr;
  if (result.fusion == Fusion::kUnfused) {
    steps = Json::array();
    for (const NaiveStep& step : a.naive_attention) {
      steps.push(Json::object().add("op", step.op).add("bytes", quantity(step.bytes)));
    }
  }
  Json intensity;
  if (attends(a)) {
    intensity = Json::object()
                    .add("formula", a.attention_intensity_formula.str())
                    .add("prefill", number(a.attention_intensity_prefill))
                    .add("generation_formula",
                         generates ? Json(a.attention_generation_formula.str()) : Json(nullptr))
                    .add("generation",
                         generates ? number(a.attention_intensity_generation) : Json(nullptr));
  }
  return Json::object()
      .add("attention_share", Json::object()
                                  .add("params", a.attention_share_of_params.to_double())
                                  .add("params_of_layers", a.attention_share_of_blocks.to_double())
                                  .add("flops", a.attention_share_of_flops.to_double()))
      .add("context_equals_matmul", crossover(a.context_equals_matmul))
      .add("context_equals_projections", crossover(a.context_equals_projections))
      .add("attention_intensity", std::move(intensity))
      .add("hardware_intensity", number(result.intensity))
      .add("attention_compute_bound_length", a.attention_compute_bound_length)
      .add("attention_relative_cost",
           a.attention_relative_cost ? Json(a.attention_relative_cost->to_double()) : Json(nullptr))
      .add("moe_critical_batch_tokens", std::move(moe))
      .add("experts_reached", std::move(reached))
      .add("tokens_per_expert", a.moe ? number(a.moe->tokens_per_expert) : Json(nullptr))
      .add("unembedding_share", a.unembedding_share.to_double())
      .add("unembedding_layers", a.unembedding_layers.to_double())
      .add("naive_attention", std::move(steps));
}

Json ops(const CountResult& result) {
  Json::Array list;
  for (const BlockCost& block : result.cost.blocks) {
    for (const OpCost& op : block.ops) {
      list.push_back(Json::object()
                         .add("name", op.name)
                         .add("block", block.name)
                         .add("pass", name_of(op.pass))
                         .add("component", name_of(op.component))
                         .add("class", name_of(op.op_class))
                         .add("layers", block.layers)
                         .add("expression", op.expression)
                         .add("kernel", op.kernel)
                         .add("flops", quantity(op.flops))
                         .add("flops_dense", quantity(op.flops_dense))
                         .add("params", quantity(op.params))
                         .add("bytes", quantity(op.bytes)));
    }
  }
  return Json::array(std::move(list));
}

// Adds the fields of one model to `json`.
Json one(const CountResult& result, Json json) {
  const Workload& workload = result.workload;
  const TrafficTotals& bytes = result.cost.bytes;
  Json intensity = nullptr;
  if (bytes.total() > Count(0)) {
    intensity = (Rational(result.cost.hardware_total()) / Rational(bytes.total())).to_double();
  }
  Json::Array assumptions;
  for (const std::string& line : result.model.assumptions) assumptions.emplace_back(line);
  json.add("model", Json::object()
                        .add("name", result.model.name)
                        .add("family", result.model.family)
                        .add("source", result.model.source))
      .add("workload", Json::object()
                           .add("mode", name_of(workload.mode))
                           .add("attention_kernel",
                                workload.kernel == AttentionKernel::kFlash ? "flash" : "plain")
                           .add("fusion", result.fusion == Fusion::kFused ? "fused" : "unfused")
                           .add("remat", describe(result.remat))
                           .add("logits", workload.logits == Logits::kAll ? "all" : "last")
                           .add("dtype", result.types.compute.name)
                           .add("weights", result.types.weight.name)
                           .add("kv", result.types.cache.name))
      .add("sizes", sizes(result))
      .add("blocks", blocks(result))
      .add("params", params(result))
      .add("flops", flops_block(result))
      .add("kv_cache", kv_cache(result))
      .add("activations", activations(result))
      .add("bytes", Json::object()
                        .add("weights", bytes.weights)
                        .add("activations", bytes.activations)
                        .add("kv_cache", bytes.kv_cache)
                        .add("total", bytes.total()))
      .add("arithmetic_intensity", std::move(intensity))
      .add("image", through_tower(result, "vision", "patches"))
      .add("sound", through_tower(result, "audio", "positions"))
      .add("analysis", analysis(result))
      .add("assumptions", Json::array(std::move(assumptions)))
      .add("ops", ops(result));
  return json;
}

}  // namespace

Json count_json(const std::vector<CountResult>& results) {
  if (results.size() == 1) return one(results[0], Json::object().add("schema", 1));
  Json::Array models;
  for (const CountResult& result : results) models.push_back(one(result, Json::object()));
  return Json::object().add("schema", 1).add("models", Json::array(std::move(models)));
}

}  // namespace flopwise
