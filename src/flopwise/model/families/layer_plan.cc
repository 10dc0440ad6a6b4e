#include "flopwise/model/families/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/deepseek.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// layer_types, where it is given: whether each layer slides.
std::vector<bool> read_layer_types(Config& config, std::int64_t layers, std::int64_t window) {
  const std::vector<std::string> types = config.fields.texts_or("layer_types", {});
  if (types.empty() && !config.fields.has("layer_types")) return {};
  const std::string where = config.fields.where("layer_types");
  require_one_a_layer(config, "layer_types", layers, types.size());
  std::vector<bool> listed;
  for (const std::string& type : types) {
    const std::string place = fmt::format("{}[{}]", where, listed.size());
    if (type != "sliding_attention" && type != "full_attention") {
      throw UserError(fmt::format("{}: expected full_attention or sliding_attention, got {}", place,
                                  quoted(type)));
    }
    if (type == "sliding_attention" && window == 0) {
      throw UserError(
          fmt::format("{}: expected full_attention, since there is no sliding_window, "
                      "got 'sliding_attention'",
                      place));
    }
    listed.push_back(type == "sliding_attention");
  }
  return listed;
}

// sliding_window: absent says what the row says, null or 0 that there is none.
std::int64_t read_window(Config& config) {
  const std::int64_t absent = config.mentions("sliding_window") ? 0 : config.family.window;
  const std::int64_t window = config.fields.integer_or("sliding_window", absent, 0, kMaxAxisSize);
  // Qwen's switch is off unless said otherwise; where it is said elsewhere it holds too.
  const bool on_unless_said = config.family.window_rule != WindowRule::kLate;
  const bool is_on = config.fields.boolean_or("use_sliding_window", on_unless_said);
  if (is_on && absent > 0 && !config.mentions("sliding_window")) {
    config.model.assumptions.push_back(fmt::format("sliding_window is absent: {}", window));
  }
  return is_on ? window : 0;
}

// A family without windows: what its file says about them must amount to none.
void refuse_windows(Config& config, std::int64_t layers) {
  JsonFields& fields = config.fields;
  const bool is_on = fields.boolean_or("use_sliding_window", fields.has("sliding_window"));
  if (is_on && fields.has("use_sliding_window")) {
    throw UserError(fmt::format("{}: expected false, since model_type '{}' has no window, got true",
                                fields.where("use_sliding_window"), config.family.model_type));
  }
  if (!is_on) {  // a window switched off, and what would say where it slides
    fields.mark_read("sliding_window");
    fields.mark_read("max_window_layers");
  }
  if (fields.has("layer_types")) read_layer_types(config, layers, 0);
}

// layer_types lists what the class would derive from `field`; a file that gives both gives one
// twice.
void refuse_other_pattern(const Config& config, const WindowPlan& plan, std::string_view field) {
  if (!config.fields.has(field)) return;
  WindowPlan derived = plan;
  derived.listed.clear();
  for (std::size_t i = 0; i < plan.listed.size(); ++i) {
    if (derived.has_window(static_cast<std::int64_t>(i)) == plan.listed[i]) continue;
    const auto name = [](bool slides) { return slides ? "sliding_attention" : "full_attention"; };
    throw UserError(fmt::format("{}[{}]: expected {}, as {} = {} says, got '{}'",
                                config.fields.where("layer_types"), i, name(!plan.listed[i]), field,
                                shown(*config.object.find(field)), name(plan.listed[i])));
  }
}

// Every how many layers one is global: a number, or "LLLG", which says 4.
std::int64_t read_window_period(Config& config, std::string_view pattern, std::int64_t layers) {
  JsonFields& fields = config.fields;
  const std::int64_t usual = config.family.window_pattern;
  if (!fields.raw(pattern).is_string()) {
    return fields.integer_or(pattern, usual, 1, kMaxAxisSize);
  }
  const std::string letters = fields.text(pattern);
  const std::size_t global = letters.find('G');
  const bool is_period =
      !letters.empty() && global == letters.size() - 1 && letters.find_first_not_of("LG") > global;
  const auto period = static_cast<std::int64_t>(letters.size());
  if (is_period && (layers % period == 0 || fields.has("layer_types"))) return period;
  throw UserError(
      fmt::format("{}: expected local layers and one global, such as LLLG, of a length that "
                  "divides the {} layers, got {}",
                  fields.where(pattern), layers, quoted(letters)));
}

[[noreturn]] void refuse_attention_types(const Config& config, const nlohmann::json& value) {
  throw UserError(
      fmt::format("{}: expected such as [[[\"global\", \"local\"], 12]], which names every "
                  "layer, got {}",
                  config.fields.where("attention_types"), shown(value)));
}

// attention_types of GPT-Neo: names of layers, and how often these follow each other.
WindowPlan read_local_plan(Config& config, std::int64_t layers) {
  const std::string_view field = "attention_types";
  WindowPlan plan;
  plan.size = config.fields.integer_or("window_size", 256, 1, kMaxAxisSize);
  const nlohmann::json& types = config.fields.raw(field);
  if (types.is_null()) {
    throw UserError(fmt::format("{}: missing, expected such as [[[\"global\", \"local\"], 12]]",
                                config.fields.where(field)));
  }
  if (!types.is_array()) refuse_attention_types(config, types);
  constexpr std::int64_t kMostLayers = 65536;  // which are walked through one by one
  if (layers > kMostLayers) {
    throw UserError(fmt::format("{}: expected at most {} layers, got {}",
                                config.fields.where(config.family.names.layers), kMostLayers,
                                layers));
  }
  for (const nlohmann::json& part : types) {
    const bool is_part =
        part.is_array() && part.size() == 2 && part[0].is_array() && part[1].is_number_unsigned();
    if (!is_part) refuse_attention_types(config, part);
    const auto repeat = part[1].get<std::uint64_t>();
    const auto most = static_cast<std::uint64_t>(layers);
    const bool fits = repeat <= most && plan.listed.size() + repeat * part[0].size() <= most;
    if (!fits) refuse_attention_types(config, part[1]);
    for (std::uint64_t i = 0; i < repeat; ++i) {
      for (const nlohmann::json& type : part[0]) {
        if (type != "global" && type != "local") refuse_attention_types(config, type);
        plan.listed.push_back(type == "local");
      }
    }
  }
  if (static_cast<std::int64_t>(plan.listed.size()) != layers) {
    refuse_attention_types(config, static_cast<std::int64_t>(plan.listed.size()));
  }
  return plan;
}

NopePlan read_nope_plan(Config& config, std::int64_t layers) {
  NopePlan plan;
  const NopeRule rule = config.family.nope;
  plan.global = rule == NopeRule::kGlobal;
  if (rule != NopeRule::kListed) return plan;
  JsonFields& fields = config.fields;
  const std::string_view field = "no_rope_layers";
  plan.period = fields.integer_or("no_rope_layer_interval", 4, 1, kMaxAxisSize);
  const std::vector<std::int64_t> listed = fields.integers_or(field, {});
  if (listed.empty()) return plan;
  require_one_a_layer(config, field, layers, listed.size());
  for (const std::int64_t with : listed) {
    if (with != 0 && with != 1) {
      throw UserError(fmt::format("{}[{}]: expected 1 for rotary positions or 0 for none, got {}",
                                  fields.where(field), plan.without.size(), with));
    }
    plan.without.push_back(with == 0);
  }
  plan.period = 0;
  return plan;
}

WindowPlan read_window_plan(Config& config, std::int64_t layers) {
  WindowPlan plan;
  const WindowRule rule = config.family.window_rule;
  if (rule == WindowRule::kNone) {
    refuse_windows(config, layers);
    return plan;
  }
  if (rule == WindowRule::kLocal) return read_local_plan(config, layers);
  plan.size = read_window(config);
  std::string_view pattern;
  if (rule == WindowRule::kLate) {
    pattern = "max_window_layers";
    plan.first = config.fields.integer_or(pattern, 28, 0, kMaxAxisSize);
  }
  if (rule == WindowRule::kAlternating) {
    pattern =
        spelling_of(config, {"sliding_window_pattern", "_sliding_window_pattern", "layer_switch"});
    plan.full_period = read_window_period(config, pattern, layers);
  }
  plan.listed = read_layer_types(config, layers, plan.size);
  refuse_other_pattern(config, plan, pattern);
  return plan;
}

std::set<std::int64_t> read_dense_layers(Config& config, std::int64_t layers) {
  const std::string_view field = "mlp_only_layers";
  std::set<std::int64_t> dense;
  std::size_t index = 0;
  for (const std::int64_t layer : config.fields.integers_or(field, {})) {
    const std::string place = fmt::format("{}[{}]", config.fields.where(field), index++);
    if (layer < 0 || layer >= layers) {
      throw UserError(
          fmt::format("{}: expected a layer of 0 ... {}, got {}", place, layers - 1, layer));
    }
    if (!dense.insert(layer).second) {
      throw UserError(fmt::format("{}: expected each layer once, got {} again", place, layer));
    }
  }
  return dense;
}

MoePlan read_moe_plan(Config& config, std::int64_t layers) {
  MoePlan plan;
  plan.any = config.family.moe != MoeRule::kNone;
  if (!plan.any || config.family.moe == MoeRule::kAll) return plan;
  if (config.family.moe == MoeRule::kFirstDense) {
    plan.first =
        config.fields.integer_or(spelling_of(config, {"first_k_dense_replace", "n_dense_layers"}),
                                 config.family.first_dense, 0, kMaxAxisSize);
    const std::int64_t step = config.fields.integer_or("moe_layer_freq", 1, 1, kMaxAxisSize);
    if (step != 1) {
      throw UserError(fmt::format("{}: expected 1, experts in every layer, got {}",
                                  config.fields.where("moe_layer_freq"), step));
    }
    return plan;
  }
  plan.step = config.fields.integer_or("decoder_sparse_step", 1, 1, kMaxAxisSize);
  plan.dense = read_dense_layers(config, layers);
  return plan;
}

// mlp_layer_types lists what first_k_dense_replace says.
void check_listed_experts(Config& config, const LayerPlan& plan) {
  const std::string_view field = "mlp_layer_types";
  const std::vector<std::string> types = config.fields.texts_or(field, {});
  if (!types.empty()) require_one_a_layer(config, field, plan.layers, types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const char* expected = plan.is_moe(static_cast<std::int64_t>(i)) ? "sparse" : "dense";
    if (types[i] == expected) continue;
    throw UserError(fmt::format("{}[{}]: expected {}, as first_k_dense_replace says, got {}",
                                config.fields.where(field), i, expected, quoted(types[i])));
  }
}

}  // namespace

bool WindowPlan::has_window(std::int64_t i) const {
  if (!listed.empty()) return listed[static_cast<std::size_t>(i)];
  return size > 0 && i >= first && (full_period == 0 || (i + 1) % full_period != 0);
}

bool MoePlan::is_moe(std::int64_t i) const {
  return any && i >= first && (i + 1) % step == 0 && dense.count(i) == 0;
}

bool LayerPlan::shares_choice(std::int64_t i) const {
  return !shared_choices.empty() && shared_choices[static_cast<std::size_t>(i)];
}

bool LayerPlan::is_recurrent(std::int64_t i) const {
  return hybrid.recurrence && hybrid.recurrent[static_cast<std::size_t>(i)];
}

bool LayerPlan::is_moe(std::int64_t i) const {
  if (hybrid.experts.empty()) return experts.is_moe(i);
  return experts.any && hybrid.experts[static_cast<std::size_t>(i)];
}

bool LayerPlan::has_positions(std::int64_t i) const {
  if (nope.global && windows.size > 0) return windows.has_window(i);
  if (!nope.without.empty()) return !nope.without[static_cast<std::size_t>(i)];
  return nope.period == 0 || (i + 1) % nope.period != 0;
}

LayerPattern LayerPlan::pattern() const {
  LayerPattern pattern;
  pattern.layers = layers;
  // No family has two rhythms.
  pattern.period = std::max({experts.step, windows.full_period, nope.period});
  pattern.breaks = {windows.first, experts.first};
  for (const std::vector<bool>* listed :
       {&windows.listed, &nope.without, &hybrid.recurrent, &hybrid.experts, &shared_choices}) {
    for (std::size_t i = 1; i < listed->size(); ++i) {
      if ((*listed)[i] == (*listed)[i - 1]) continue;
      pattern.breaks.push_back(static_cast<std::int64_t>(i));
    }
  }
  for (const std::int64_t i : experts.dense) {
    pattern.breaks.push_back(i);
    pattern.breaks.push_back(i + 1);
  }
  return pattern;
}

std::string LayerPlan::kind_of(std::int64_t i) const {
  std::string window = windows.has_window(i) ? "local" : "global";
  const bool is_listed = nope.period > 0 || !nope.without.empty();
  if (is_listed) return has_positions(i) ? "rotary" : "nope";
  const std::string feed_forward = is_moe(i) ? "moe" : "dense";
  if (hybrid.recurrence) {
    const std::string mixer = is_recurrent(i) ? name_of(*hybrid.recurrence) : "attention";
    return experts.any ? mixer + "_" + feed_forward : mixer;
  }
  if (!shared_choices.empty()) return feed_forward + (shares_choice(i) ? "_sharing" : "_choosing");
  if (!experts.any) return window;
  return windows.size > 0 ? window + "_" + feed_forward : feed_forward;
}

LayerPlan read_layer_plan(Config& config) {
  LayerPlan plan;
  plan.layers = read_size(config, config.family.names.layers, config.family.absent.layers);
  if (config.family.hybrid != nullptr) {
    plan.hybrid = config.family.hybrid(config, plan.layers);
    config.fields.boolean_or("use_sliding_window", false);
  } else {
    plan.windows = read_window_plan(config, plan.layers);
  }
  plan.experts = read_moe_plan(config, plan.layers);
  plan.nope = read_nope_plan(config, plan.layers);
  if (config.family.indexer) {
    plan.shared_choices = read_shared_choices(config, plan.layers);
    check_listed_experts(config, plan);
  }
  return plan;
}

}  // namespace flopwise
