// Families whose layers differ one by one: MiMo-V2, Step-3.5 and 3.7, Hunyuan.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/decoder.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

[[noreturn]] void refuse_missing(const Config& config, std::string_view field,
                                 std::string_view expected) {
  throw UserError(fmt::format("{}: missing, expected {}", config.fields.where(field), expected));
}

// A list with 0 or 1 for every layer.
std::vector<bool> read_flags(Config& config, std::string_view field, std::int64_t layers) {
  if (!config.fields.has(field)) refuse_missing(config, field, "a list of 0 and 1, one a layer");
  const std::vector<std::int64_t> entries = config.fields.integers_or(field, {});
  require_one_a_layer(config, field, layers, entries.size());
  std::vector<bool> flags;
  for (const std::int64_t entry : entries) {
    if (entry != 0 && entry != 1) {
      throw UserError(fmt::format("{}[{}]: expected 0 or 1, got {}", config.fields.where(field),
                                  flags.size(), entry));
    }
    flags.push_back(entry == 1);
  }
  return flags;
}

// A size for every layer, or one for all.
std::vector<std::int64_t> read_sizes(Config& config, std::string_view field, std::int64_t layers,
                                     std::int64_t absent = 0) {
  const nlohmann::json& value = config.fields.raw(field);
  if (!value.is_array()) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(layers),
                                     read_size(config, field, absent));
  }
  const std::vector<std::int64_t> sizes = config.fields.integers_or(field, {});
  require_one_a_layer(config, field, layers, sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 1 && sizes[i] <= kMaxAxisSize) continue;
    throw UserError(fmt::format("{}[{}]: expected a whole number of 1 ... 2^40, got {}",
                                config.fields.where(field), i, sizes[i]));
  }
  return sizes;
}

// A switch whose absence is worth a line.
bool read_flag(Config& config, std::string_view field, bool absent) {
  if (!config.fields.has(field)) {
    config.model.assumptions.push_back(fmt::format("{} is absent: {}", field, absent));
  }
  return config.fields.boolean_or(field, absent);
}

std::int64_t read_divisor(Config& config, std::string_view field, std::string_view of_field,
                          std::int64_t whole, std::int64_t absent) {
  const std::int64_t part = read_size(config, field, absent);
  if (whole % part == 0) return part;
  throw UserError(fmt::format("{}: expected a divisor of {} = {}, got {}",
                              config.fields.where(field), of_field, whole, part));
}

Mlp dense_mlp(Config& config, const Layer& base) {
  Mlp mlp = std::get<Mlp>(base.feed_forward);
  mlp.d_ff = read_d_ff(config);
  return mlp;
}

// Layers that slide or see everything, with experts or without, in the order of two lists.
struct TwoKinds {
  Attention local;
  Attention global;
  Mlp dense;
  Moe experts;
};
void list_two_kinds(const Layer& base, const TwoKinds& kinds, const std::vector<bool>& slides,
                    const std::vector<bool>& has_experts, LayerList& list) {
  for (std::size_t i = 0; i < slides.size(); ++i) {
    Layer layer = base;
    layer.attention = slides[i] ? kinds.local : kinds.global;
    if (has_experts[i]) {
      layer.feed_forward = kinds.experts;
    } else {
      layer.feed_forward = kinds.dense;
    }
    list.add(fmt::format("{}_{}", slides[i] ? "local" : "global", has_experts[i] ? "moe" : "dense"),
             layer);
  }
}

}  // namespace

// ---- MiMo-V2 -----------------------------------------------------------------------------------

namespace {

// The layers whose fields start with swa_.
Attention read_mimo_local(Config& config, const Attention& global) {
  Attention local = global;
  local.heads = read_size(config, "swa_num_attention_heads", 64);
  local.kv_heads =
      read_divisor(config, "swa_num_key_value_heads", "swa_num_attention_heads", local.heads, 8);
  local.head_dim = read_size(config, "swa_head_dim", 192);
  local.value_dim = read_size(config, "swa_v_head_dim", 128);
  const double share = config.fields.number_or("partial_rotary_factor", config.family.rotary_share);
  local.rotary_dim = static_cast<std::int64_t>(static_cast<double>(local.head_dim) * share);
  local.sinks = read_flag(config, "add_swa_attention_sink_bias", true);
  const std::string_view window = spelling_of(config, {"sliding_window", "sliding_window_size"});
  local.mask = {MaskKind::kWindow, read_size(config, window, 128)};
  config.fields.mark_read("sliding_window_size");
  return local;
}

}  // namespace

void list_mimo_v2(Config& config, const Layer& base, std::int64_t layers, LayerList& list) {
  const std::vector<bool> slides = read_flags(config, "hybrid_layer_pattern", layers);
  const std::vector<bool> has_experts = read_flags(config, "moe_layer_freq", layers);
  TwoKinds kinds;
  kinds.global = *base.attention;
  kinds.global.value_dim = read_size(config, "v_head_dim", 128);
  kinds.global.sinks = read_flag(config, "add_full_attention_sink_bias", false);
  constexpr double kUsualScale = 0.707;
  const std::string_view scale = "attention_value_scale";
  const double absent = config.mentions(scale) ? 1 : kUsualScale;
  kinds.global.scaled_values = config.fields.number_or(scale, absent) != 1;
  kinds.local = read_mimo_local(config, kinds.global);
  kinds.dense = dense_mlp(config, base);
  kinds.experts = read_moe(config, std::get<Mlp>(base.feed_forward));
  list_two_kinds(base, kinds, slides, has_experts, list);
  const std::string_view mtp = "num_nextn_predict_layers";
  if (config.fields.integer_or(mtp, 0, 0, kMaxAxisSize) == 0) return;
  throw UserError(fmt::format(
      "{}: expected 0, layers of model_type '{}' that predict further "
      "tokens are not counted yet, got {}",
      config.fields.where(mtp), config.family.model_type, shown(config.fields.raw(mtp))));
}

// ---- Step-3.5 and 3.7 --------------------------------------------------------------------------

namespace {

// layer_types, of which the further entries are of layers that predict further tokens.
std::vector<bool> read_step3_types(Config& config, std::int64_t layers) {
  const std::string_view field = "layer_types";
  if (!config.fields.has(field)) {
    refuse_missing(config, field, "full_attention or sliding_attention for every layer");
  }
  std::vector<std::string> types = config.fields.texts_or(field, {});
  const std::int64_t further =
      config.fields.integer_or("num_nextn_predict_layers", 0, 0, kMaxAxisSize);
  const auto entries = static_cast<std::int64_t>(types.size());
  if (entries != layers + further) require_one_a_layer(config, field, layers, types.size());
  types.resize(static_cast<std::size_t>(layers));
  std::vector<bool> slides;
  for (const std::string& type : types) {
    if (type != "sliding_attention" && type != "full_attention") {
      throw UserError(fmt::format("{}[{}]: expected full_attention or sliding_attention, got {}",
                                  config.fields.where(field), slides.size(), quoted(type)));
    }
    slides.push_back(type == "sliding_attention");
  }
  if (further > 0) {
    config.model.assumptions.push_back(fmt::format(
        "num_nextn_predict_layers = {}: layers that predict further tokens are not counted",
        further));
  }
  return slides;
}

// "3,4,5": the layers with experts; or all from first_k_dense_replace on, by default the first.
std::vector<bool> read_step3_experts(Config& config, std::int64_t layers) {
  const std::string_view field = "moe_layers_enum";
  const std::string listed = config.fields.text_or(field, "");
  const std::int64_t first = config.fields.integer_or("first_k_dense_replace", 1, 0, kMaxAxisSize);
  std::vector<bool> flags(static_cast<std::size_t>(layers), false);
  if (listed.empty()) {
    for (std::int64_t i = first; i < layers; ++i) flags[static_cast<std::size_t>(i)] = true;
    return flags;
  }
  const auto refuse = [&] {
    throw UserError(
        fmt::format("{}: expected layers of 0 ... {} in ascending order, such as "
                    "'3,4,5', got {}",
                    config.fields.where(field), layers - 1, quoted(listed)));
  };
  std::int64_t last = -1;
  for (std::size_t at = 0; at <= listed.size();) {
    const std::size_t comma = std::min(listed.find(',', at), listed.size());
    const std::string entry = listed.substr(at, comma - at);
    constexpr std::size_t kMostDigits = 6;
    if (entry.empty() || entry.size() > kMostDigits ||
        entry.find_first_not_of("0123456789") != std::string::npos) {
      refuse();
    }
    const std::int64_t layer = std::stoll(entry);
    if (layer <= last || layer >= layers) refuse();
    flags[static_cast<std::size_t>(layer)] = true;
    last = layer;
    at = comma + 1;
  }
  if (!config.fields.has("first_k_dense_replace")) return flags;
  const auto begin = static_cast<std::size_t>(std::min(first, layers));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == (i >= begin)) continue;
    throw UserError(fmt::format("{}: expected layers from first_k_dense_replace = {} on, got {}",
                                config.fields.where(field), first, quoted(listed)));
  }
  return flags;
}

// attention_other_setting: the heads of layers that slide.
Attention read_step3_local(Config& config, const Attention& global) {
  Attention local = global;
  const std::string_view field = "attention_other_setting";
  if (!config.fields.has(field)) {
    config.model.assumptions.push_back(
        fmt::format("{} is absent: sliding layers have the heads of the others", field));
    return local;
  }
  JsonFields other = config.fields.object(field);
  local.heads = other.integer_or("num_attention_heads", global.heads, 1, kMaxAxisSize);
  local.kv_heads = other.integer_or("num_attention_groups", global.kv_heads, 1, local.heads);
  local.head_dim = local.value_dim = other.integer_or("head_dim", global.head_dim, 1, kMaxAxisSize);
  if (other.text_or("attention_type", "sliding_attention") != "sliding_attention") {
    throw UserError(fmt::format("{}: expected sliding_attention, got {}",
                                other.where("attention_type"), shown(other.raw("attention_type"))));
  }
  if (local.heads % local.kv_heads != 0) {
    throw UserError(fmt::format("{}: expected a divisor of num_attention_heads = {}, got {}",
                                other.where("num_attention_groups"), local.heads, local.kv_heads));
  }
  other.mark_read("true_head_dim");
  for (const std::string& name : other.unread()) {
    throw UserError(
        fmt::format("{}: not understood, got {}", other.where(name), shown(other.raw(name))));
  }
  return local;
}

// partial_rotary_factors has a share for every layer; those that slide and the others each have
// one.
void set_step3_rotary(Config& config, const std::vector<bool>& slides, TwoKinds& kinds) {
  const std::string_view field = "partial_rotary_factors";
  if (!config.fields.has(field)) {
    kinds.local.rotary_dim = kinds.local.head_dim;
    return;
  }
  const nlohmann::json& shares = config.fields.raw(field);
  if (!shares.is_array() || shares.size() < slides.size()) {
    throw UserError(fmt::format("{}: expected a list of {} shares, one a layer, got {}",
                                config.fields.where(field), slides.size(), shown(shares)));
  }
  const nlohmann::json* said[2] = {nullptr, nullptr};
  for (std::size_t i = 0; i < slides.size(); ++i) {
    const nlohmann::json*& share = said[slides[i] ? 1 : 0];
    if (share == nullptr) share = &shares[i];
    const bool is_share = shares[i].is_number() && shares[i].get<double>() > 0 &&
                          shares[i].get<double>() <= 1 && shares[i] == *share;
    if (is_share) continue;
    throw UserError(
        fmt::format("{}[{}]: expected a share above 0 and at most 1, one for the "
                    "layers that slide and one for the others, got {}",
                    config.fields.where(field), i, shown(shares[i])));
  }
  for (int sliding = 0; sliding < 2; ++sliding) {
    Attention& attention = sliding == 1 ? kinds.local : kinds.global;
    if (said[sliding] == nullptr) continue;
    attention.rotary_dim = static_cast<std::int64_t>(static_cast<double>(attention.head_dim) *
                                                     said[sliding]->get<double>());
  }
}

void note_step3_clamps(Config& config) {
  bool clamps = false;
  for (const std::string_view field : {"swiglu_limits", "swiglu_limits_shared"}) {
    const nlohmann::json& limits = config.fields.raw(field);
    clamps = clamps || std::any_of(limits.begin(), limits.end(), [](const nlohmann::json& limit) {
               return limit.is_number() && limit.get<double>() > 0;
             });
  }
  if (clamps) config.model.assumptions.emplace_back("the clamps of swiglu_limits are not counted");
}

Moe read_step3_moe(Config& config, const Mlp& mlp) {
  JsonFields& fields = config.fields;
  Moe moe;
  moe.expert = mlp;
  moe.experts = read_size(config, config.family.names.experts);
  moe.active_experts = fields.integer(config.family.names.active_experts, 1, moe.experts);
  moe.expert.d_ff = read_size(config, "moe_intermediate_size");
  moe.shared_d_ff = read_size(config, "share_expert_dim", 1280);
  fields.integer_or("n_shared_experts", 1, 1, 1);  // share_expert_dim is the whole width
  const std::string_view scoring = spelling_of(config, {"moe_router_activation", "scoring_func"});
  moe.score = read_choice(config, scoring, "sigmoid", {"sigmoid", "softmax"}) == "sigmoid"
                  ? RouterScore::kSigmoidThenTopK
                  : RouterScore::kSoftmaxThenTopK;
  const std::string_view norm = spelling_of(config, {"norm_expert_weight", "norm_topk_prob"});
  moe.renormalise = fields.boolean_or(norm, true);
  moe.correction_bias = fields.boolean_or("use_moe_router_bias", false);
  moe.scaling = fields.number_or("moe_router_scaling_factor", 1);
  return moe;
}

}  // namespace

const std::vector<HeadClass>& step3_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"ForCausalLM",      HeadKind::kLanguageModel},
      {"FlashForCausalLM", HeadKind::kLanguageModel},
      {"Model",            HeadKind::kNone         },
  };
  return kHeads;
}

void adjust_step3(Config& config, Layer& layer, Stack& /*stack*/) {
  if (read_flag(config, "use_head_wise_attn_gate", false)) {
    layer.attention->gate = OutputGate::kPerHead;
  }
}

void list_step3(Config& config, const Layer& base, std::int64_t layers, LayerList& list) {
  const std::vector<bool> slides = read_step3_types(config, layers);
  const std::vector<bool> has_experts = read_step3_experts(config, layers);
  TwoKinds kinds;
  kinds.global = *base.attention;
  kinds.local = read_step3_local(config, kinds.global);
  kinds.local.mask = {MaskKind::kWindow, read_size(config, "sliding_window", 512)};
  set_step3_rotary(config, slides, kinds);
  kinds.dense = dense_mlp(config, base);
  kinds.experts = read_step3_moe(config, std::get<Mlp>(base.feed_forward));
  note_step3_clamps(config);
  list_two_kinds(base, kinds, slides, has_experts, list);
}

// ---- Hunyuan -----------------------------------------------------------------------------------

void adjust_hunyuan(Config& config, Layer& layer, Stack& /*stack*/) {
  if (config.fields.boolean_or("use_cla", false)) {
    throw UserError(
        fmt::format("{}: expected false, keys and values shared between layers are not counted "
                    "yet, got true",
                    config.fields.where("use_cla")));
  }
  read_choice(config, "norm_type", "rms", {"rms"});
  if (!config.fields.boolean_or("use_rotary_pos_emb", true)) {
    throw UserError(
        fmt::format("{}: expected true, got false", config.fields.where("use_rotary_pos_emb")));
  }
  if (config.fields.boolean_or("use_qk_norm", true)) layer.attention->qk_norm = QkNorm::kPerHead;
}

// Experts, choices and widths may each be a list with an entry a layer.
void list_hunyuan(Config& config, const Layer& base, std::int64_t layers, LayerList& list) {
  JsonFields& fields = config.fields;
  const Mlp mlp = std::get<Mlp>(base.feed_forward);
  const std::vector<std::int64_t> experts = read_sizes(config, "num_experts", layers);
  const std::vector<std::int64_t> active = read_sizes(config, "moe_topk", layers, 1);
  const Mlp dense = dense_mlp(config, base);
  const std::vector<std::int64_t> widths =
      fields.has("moe_intermediate_size")
          ? read_sizes(config, "moe_intermediate_size", layers)
          : std::vector<std::int64_t>(static_cast<std::size_t>(layers), dense.d_ff);
  const bool has_shared = read_flag(config, "use_mixed_mlp_moe", true);
  const std::vector<std::int64_t> shared = read_sizes(config, "num_shared_expert", layers, 1);
  const std::int64_t first = fields.integer_or("moe_layer_num_skipped", 0, 0, kMaxAxisSize);
  Moe moe;
  moe.expert = mlp;
  moe.score = RouterScore::kSoftmaxThenTopK;
  moe.renormalise = fields.boolean_or("norm_topk_prob", true);
  moe.scaling = fields.number_or("routed_scaling_factor", 1);
  for (std::size_t i = 0; i < experts.size(); ++i) {
    Layer layer = base;
    if (static_cast<std::int64_t>(i) < first) {
      layer.feed_forward = dense;
      list.add("dense", layer);
      continue;
    }
    moe.experts = experts[i];
    moe.active_experts = active[i];
    moe.expert.d_ff = widths[i];
    if (active[i] > experts[i]) {
      throw UserError(fmt::format("{}: expected at most num_experts = {}, got {} in layer {}",
                                  fields.where("moe_topk"), experts[i], active[i], i));
    }
    if (shared[i] > kMaxAxisSize / widths[i]) {
      throw UserError(
          fmt::format("{}: expected shared experts of at most 2^40 elements together, "
                      "got {} in layer {}",
                      fields.where("num_shared_expert"), shared[i], i));
    }
    moe.shared_d_ff = has_shared ? shared[i] * widths[i] : 0;
    layer.feed_forward = moe;
    const std::size_t kinds = list.groups().size();
    list.add(kinds == 0 ? "moe" : fmt::format("moe{}", kinds + 1), layer);
  }
}

}  // namespace flopwise
