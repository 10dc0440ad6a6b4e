#include "flopwise/model/families/layer_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

std::vector<bool> read_layer_types(Config& config, std::int64_t layers, std::int64_t window) {
  const std::vector<std::string> types = config.fields.texts_or("layer_types", {});
  if (types.empty() && !config.fields.has("layer_types")) return {};
  const std::string where = config.fields.where("layer_types");
  if (static_cast<std::int64_t>(types.size()) != layers) {
    throw UserError(
        fmt::format("{}: expected {} entries, one a layer, got {}", where, layers, types.size()));
  }
  std::vector<bool> listed;
  for (const std::string& type : types) {
    const std::string place = fmt::format("{}[{}]", where, listed.size());
    if (type != "sliding_attention" && type != "full_attention") {
      throw UserError(fmt::format("{}: expected full_attention or sliding_attention, got {}", place,
                                  quoted(type)));
    }
    if (type == "sliding_attention" && window == 0) {
      throw UserError(fmt::format("{}: sliding_attention, but there is no sliding_window", place));
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
  return config.fields.boolean_or("use_sliding_window", on_unless_said) ? window : 0;
}

WindowPlan read_window_plan(Config& config, std::int64_t layers) {
  WindowPlan plan;
  const WindowRule rule = config.family.window_rule;
  if (rule == WindowRule::kNone) return plan;
  plan.size = read_window(config);
  if (rule == WindowRule::kLate) {
    plan.first = config.fields.integer_or("max_window_layers", 28, 0, kMaxAxisSize);
  }
  if (rule == WindowRule::kAlternating) {
    const std::string_view name =
        spelling_of(config, {"sliding_window_pattern", "_sliding_window_pattern"});
    plan.full_period =
        config.fields.integer_or(name, config.family.window_pattern, 1, kMaxAxisSize);
  }
  plan.listed = read_layer_types(config, layers, plan.size);
  return plan;
}

MoePlan read_moe_plan(Config& config) {
  MoePlan plan;
  plan.any = config.family.moe != MoeRule::kNone;
  if (!plan.any || config.family.moe == MoeRule::kAll) return plan;
  plan.step = config.fields.integer_or("decoder_sparse_step", 1, 1, kMaxAxisSize);
  const auto dense = config.fields.integers_or("mlp_only_layers", {});
  plan.dense = {dense.begin(), dense.end()};
  return plan;
}

}  // namespace

bool WindowPlan::has_window(std::int64_t i) const {
  if (!listed.empty()) return listed[static_cast<std::size_t>(i)];
  return size > 0 && i >= first && (full_period == 0 || (i + 1) % full_period != 0);
}

bool MoePlan::is_moe(std::int64_t i) const {
  return any && (i + 1) % step == 0 && dense.count(i) == 0;
}

LayerPattern LayerPlan::pattern() const {
  LayerPattern pattern;
  pattern.layers = layers;
  // No family has both rhythms.
  pattern.period = std::max(experts.step, windows.full_period);
  pattern.breaks = {windows.first};
  for (std::size_t i = 1; i < windows.listed.size(); ++i) {
    if (windows.listed[i] != windows.listed[i - 1]) {
      pattern.breaks.push_back(static_cast<std::int64_t>(i));
    }
  }
  for (const std::int64_t i : experts.dense) {
    if (i < 0 || i >= layers) continue;  // names no layer
    pattern.breaks.push_back(i);
    pattern.breaks.push_back(i + 1);
  }
  return pattern;
}

std::string LayerPlan::kind_of(std::int64_t i) const {
  const std::string window = windows.has_window(i) ? "local" : "global";
  const std::string feed_forward = experts.is_moe(i) ? "moe" : "dense";
  if (!experts.any) return window;
  return windows.size > 0 ? window + "_" + feed_forward : feed_forward;
}

LayerPlan read_layer_plan(Config& config) {
  LayerPlan plan;
  plan.layers = read_size(config, config.family.names.layers, config.family.absent.layers);
  plan.windows = read_window_plan(config, plan.layers);
  plan.experts = read_moe_plan(config);
  return plan;
}

}  // namespace flopwise
