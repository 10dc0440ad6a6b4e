// Models whose layers carry a state: which of them, and what kind. Mamba, Jamba, Qwen3-Next, LFM2,
// Nemotron-H.
#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/layer_plan.h"

namespace flopwise {
namespace {

constexpr std::int64_t kMostListed = 65536;  // layers that are walked through one by one
constexpr std::int64_t kMostTaps = 1024;

void refuse_too_many(const Config& config, std::int64_t layers) {
  if (layers <= kMostListed) return;
  throw UserError(fmt::format("{}: expected at most {} layers of several kinds, got {}",
                              config.fields.where(config.family.names.layers), kMostListed,
                              layers));
}

std::int64_t read_taps(Config& config, std::string_view field) {
  return config.fields.integer_or(field, 4, 1, kMostTaps);
}

// What i % period == offset says of each layer.
std::vector<bool> read_rhythm(Config& config, std::int64_t layers, std::string_view period_field,
                              std::int64_t usual_period, std::string_view offset_field,
                              std::int64_t usual_offset) {
  const std::int64_t period = config.fields.integer_or(period_field, usual_period, 1, kMaxAxisSize);
  const std::int64_t offset =
      config.fields.integer_or(offset_field, std::min(usual_offset, period - 1), 0, period - 1);
  std::vector<bool> listed;
  for (std::int64_t i = 0; i < layers; ++i) listed.push_back(i % period == offset);
  return listed;
}

// layer_types: which layers are of `recurrent` type; none when it is absent.
std::vector<bool> read_recurrent_types(Config& config, std::int64_t layers,
                                       std::string_view recurrent) {
  const std::vector<std::string> types = config.fields.texts_or("layer_types", {});
  if (!config.fields.has("layer_types")) return {};
  const std::string where = config.fields.where("layer_types");
  require_one_a_layer(config, "layer_types", layers, types.size());
  std::vector<bool> listed;
  for (const std::string& type : types) {
    if (type != recurrent && type != "full_attention") {
      throw UserError(fmt::format("{}[{}]: expected full_attention or {}, got {}", where,
                                  listed.size(), recurrent, quoted(type)));
    }
    listed.push_back(type == recurrent);
  }
  return listed;
}

// layer_types lists what the class would derive from full_attention_interval; a file that gives
// both must say one thing.
void refuse_other_interval(const Config& config, const std::vector<bool>& listed,
                           const std::vector<bool>& derived, std::int64_t period) {
  const auto name = [](bool linear) { return linear ? "linear_attention" : "full_attention"; };
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] == derived[i]) continue;
    throw UserError(fmt::format(
        "{}[{}]: expected {}, as full_attention_interval = {} says, got '{}'",
        config.fields.where("layer_types"), i, name(derived[i]), period, name(listed[i])));
  }
}

// A list of layers that have attention, of which all others are recurrent.
std::vector<bool> read_attention_indices(Config& config, std::int64_t layers,
                                         std::string_view field) {
  std::vector<bool> recurrent(static_cast<std::size_t>(layers), true);
  std::size_t index = 0;
  for (const std::int64_t layer : config.fields.integers_or(field, {})) {
    const std::string place = fmt::format("{}[{}]", config.fields.where(field), index++);
    if (layer < 0 || layer >= layers) {
      throw UserError(
          fmt::format("{}: expected a layer of 0 ... {}, got {}", place, layers - 1, layer));
    }
    if (!recurrent[static_cast<std::size_t>(layer)]) {
      throw UserError(fmt::format("{}: expected each layer once, got {} again", place, layer));
    }
    recurrent[static_cast<std::size_t>(layer)] = false;
  }
  return recurrent;
}

std::int64_t read_multiple(Config& config, std::string_view field, std::string_view of_field,
                           std::int64_t parts, std::int64_t usual) {
  const std::int64_t whole = read_size(config, field, usual);
  if (whole % parts == 0) return whole;
  throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                              config.fields.where(field), of_field, parts, whole));
}

std::int64_t scaled_width(const Config& config, std::string_view field, std::int64_t factor) {
  if (factor <= kMaxAxisSize / config.model.d_model) return factor * config.model.d_model;
  throw UserError(fmt::format("{}: expected an inner width of at most 2^40, got {} times {}",
                              config.fields.where(field), factor, config.model.d_model));
}

Mamba2 read_mamba2(Config& config) {
  JsonFields& fields = config.fields;
  Mamba2 mamba;
  mamba.heads = read_size(config, "mamba_num_heads", 128);
  mamba.head_dim = read_size(config, "mamba_head_dim", 64);
  mamba.groups = fields.integer_or("n_groups", 8, 1, kMaxAxisSize);
  mamba.state = read_size(config, "ssm_state_size", 128);
  mamba.taps = read_taps(config, "conv_kernel");
  mamba.conv_bias = fields.boolean_or("use_conv_bias", true);
  if (mamba.heads % mamba.groups != 0) {
    throw UserError(fmt::format("{}: expected a divisor of the {} heads, got {}",
                                fields.where("n_groups"), mamba.heads, mamba.groups));
  }
  return mamba;
}

void require_activation(Config& config, std::string_view field) {
  const Activation activation = read_activation(config, field, "silu");
  if (activation == Activation::kSilu) return;
  throw UserError(
      fmt::format("{}: expected silu, got {}", config.fields.where(field), name_of(activation)));
}

// The layers of hybrid_override_pattern: M a state-space layer, * attention, - a feed-forward, E
// experts, each alone behind one norm.
class NemotronLayers {
 public:
  explicit NemotronLayers(Config& config) : config_(config), fields_(config.fields) {}

  std::vector<LayerGroup> read() {
    const std::string_view field = "hybrid_override_pattern";
    const std::string pattern = fields_.text(field);
    const std::int64_t layers = fields_.integer_or(
        "num_hidden_layers", static_cast<std::int64_t>(pattern.size()), 1, kMaxAxisSize);
    if (static_cast<std::int64_t>(pattern.size()) != layers || pattern.empty()) {
      throw UserError(fmt::format("{}: expected {} letters, one a layer, got {}",
                                  fields_.where(field), layers, pattern.size()));
    }
    LayerList list;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const NamedLayer layer = layer_of(pattern[i]);
      if (layer.name.empty()) {
        throw UserError(fmt::format("{}[{}]: expected M, *, - or E, got {}", fields_.where(field),
                                    i, quoted(std::string(1, pattern[i]))));
      }
      list.add(layer.name, layer.layer);
    }
    mark_unused();
    return list.groups();
  }

 private:
  NamedLayer layer_of(char letter) {
    switch (letter) {
      case 'M':
        if (!mamba_) {
          mamba_ = base();
          Mamba2 mamba = read_mamba2(config_);
          mamba.proj_bias = fields_.boolean_or("mamba_proj_bias", false);
          require_activation(config_, "mamba_hidden_act");
          mamba_->recurrence = mamba;
        }
        return {"mamba2", *mamba_};
      case '*':
        if (!attention_) {
          attention_ = base();
          attention_->attention = read_attention();
        }
        return {"attention", *attention_};
      case '-':
        if (!mlp_) {
          mlp_ = base();
          Mlp mlp = read_mlp();
          mlp.d_ff = read_size(config_, "intermediate_size");
          mlp_->feed_forward = mlp;
        }
        return {"mlp", *mlp_};
      case 'E':
        if (!moe_) {
          moe_ = base();
          moe_->feed_forward = read_moe();
        }
        return {"moe", *moe_};
      default:
        return {};
    }
  }

  static Layer base() {
    Layer layer;
    layer.attention.reset();
    layer.feed_forward = NoFeedForward{};
    return layer;
  }

  Attention read_attention() {
    Attention attention;
    attention.heads = read_size(config_, "num_attention_heads");
    attention.kv_heads = read_multiple_of_heads(attention.heads);
    const std::string_view field = spelling_of(config_, {"head_dim", "attention_head_dim"});
    attention.head_dim = attention.value_dim = read_size(config_, field, 128);
    attention.position = PositionKind::kNone;
    attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias =
        fields_.boolean_or("attention_bias", false);
    return attention;
  }

  std::int64_t read_multiple_of_heads(std::int64_t heads) {
    const std::int64_t kv_heads = read_size(config_, "num_key_value_heads", heads);
    if (heads % kv_heads == 0) return kv_heads;
    throw UserError(fmt::format("{}: expected a divisor of num_attention_heads = {}, got {}",
                                fields_.where("num_key_value_heads"), heads, kv_heads));
  }

  Mlp read_mlp() {
    Mlp mlp;
    mlp.gated = false;
    mlp.activation = read_activation(config_, "mlp_hidden_act", "relu2");
    mlp.up_bias = mlp.down_bias = fields_.boolean_or("mlp_bias", false);
    return mlp;
  }

  Moe read_moe() {
    Moe moe;
    moe.experts = read_size(config_, "n_routed_experts");
    moe.active_experts = fields_.integer("num_experts_per_tok", 1, moe.experts);
    moe.expert = read_mlp();
    moe.expert.d_ff = read_size(config_, "moe_intermediate_size");
    if (fields_.integer_or("n_shared_experts", 1, 0, kMaxAxisSize) > 0) {
      moe.shared_d_ff = read_size(config_, "moe_shared_expert_intermediate_size");
    }
    moe.latent_dim = fields_.integer_or("moe_latent_size", 0, 0, kMaxAxisSize);
    moe.score = RouterScore::kSigmoidThenTopK;
    moe.renormalise = fields_.boolean_or("norm_topk_prob", true);
    moe.correction_bias = true;
    moe.scaling = fields_.number_or("routed_scaling_factor", 1);
    for (const std::string_view field : {"n_group", "topk_group"}) {
      if (fields_.integer_or(field, 1, 0, kMaxAxisSize) <= 1) continue;
      config_.model.assumptions.push_back(
          fmt::format("{} above 1: choosing the groups of experts is not counted", field));
    }
    return moe;
  }

  // Sizes of kinds of layers that the pattern does not have.
  void mark_unused() {
    for (const std::string_view field :
         {"conv_kernel",           "use_conv_bias",    "mamba_num_heads",
          "mamba_head_dim",        "n_groups",         "ssm_state_size",
          "intermediate_size",     "mlp_hidden_act",   "mlp_bias",
          "mamba_proj_bias",       "mamba_hidden_act", "num_key_value_heads",
          "num_attention_heads",   "head_dim",         "attention_head_dim",
          "attention_bias",        "n_routed_experts", "num_experts_per_tok",
          "moe_intermediate_size", "moe_latent_size",  "moe_shared_expert_intermediate_size",
          "n_shared_experts"}) {
      fields_.mark_read(field);
    }
  }

  Config& config_;
  JsonFields& fields_;
  std::optional<Layer> mamba_;
  std::optional<Layer> attention_;
  std::optional<Layer> mlp_;
  std::optional<Layer> moe_;
};

}  // namespace

HybridPlan plan_jamba(Config& config, std::int64_t layers) {
  refuse_too_many(config, layers);
  JsonFields& fields = config.fields;
  Mamba mamba;
  mamba.inner =
      scaled_width(config, "mamba_expand", fields.integer_or("mamba_expand", 2, 1, kMaxAxisSize));
  mamba.state = read_size(config, "mamba_d_state", 16);
  mamba.taps = read_taps(config, "mamba_d_conv");
  constexpr std::int64_t kWidthPerRank = 16;
  const std::int64_t usual = (config.model.d_model + kWidthPerRank - 1) / kWidthPerRank;
  const bool is_auto = fields.raw("mamba_dt_rank").is_string();
  if (is_auto) read_choice(config, "mamba_dt_rank", "auto", {"auto"});
  mamba.rank = is_auto ? usual : fields.integer_or("mamba_dt_rank", usual, 1, kMaxAxisSize);
  mamba.conv_bias = fields.boolean_or("mamba_conv_bias", true);
  mamba.proj_bias = fields.boolean_or("mamba_proj_bias", false);
  mamba.inner_norms = true;
  HybridPlan plan;
  plan.recurrence = mamba;
  plan.recurrent = read_rhythm(config, layers, "attn_layer_period", 8, "attn_layer_offset", 4);
  plan.recurrent.flip();
  plan.experts = read_rhythm(config, layers, "expert_layer_period", 2, "expert_layer_offset", 1);
  return plan;
}

HybridPlan plan_qwen3_next(Config& config, std::int64_t layers) {
  refuse_too_many(config, layers);
  DeltaNet delta;
  delta.key_heads = read_size(config, "linear_num_key_heads", 16);
  delta.value_heads =
      read_multiple(config, "linear_num_value_heads", "linear_num_key_heads", delta.key_heads, 32);
  delta.key_dim = read_size(config, "linear_key_head_dim", 128);
  delta.value_dim = read_size(config, "linear_value_head_dim", 128);
  delta.taps = read_taps(config, "linear_conv_kernel_dim");
  HybridPlan plan;
  plan.recurrence = delta;
  const std::int64_t period =
      config.fields.integer_or("full_attention_interval", 4, 1, kMaxAxisSize);
  plan.recurrent = read_recurrent_types(config, layers, "linear_attention");
  std::vector<bool> derived;
  for (std::int64_t i = 0; i < layers; ++i) derived.push_back((i + 1) % period != 0);
  if (plan.recurrent.empty()) {
    if (!config.fields.has("full_attention_interval")) {
      config.model.assumptions.push_back(
          fmt::format("full_attention_interval is absent: {}", period));
    }
    plan.recurrent = std::move(derived);
  } else if (config.fields.has("full_attention_interval")) {
    refuse_other_interval(config, plan.recurrent, derived, period);
  }
  return plan;
}

HybridPlan plan_lfm2(Config& config, std::int64_t layers) {
  refuse_too_many(config, layers);
  ShortConvolution conv;
  conv.taps = config.fields.integer_or("conv_L_cache", 3, 1, kMostTaps);
  conv.bias = config.fields.boolean_or("conv_bias", false);
  for (const std::string_view field : {"conv_dim", "conv_dim_out", "block_dim"}) {
    config.fields.integer_or(field, config.model.d_model, config.model.d_model,
                             config.model.d_model);
  }
  HybridPlan plan;
  plan.recurrence = conv;
  plan.recurrent = read_recurrent_types(config, layers, "conv");
  if (plan.recurrent.empty()) {
    if (!config.fields.has("full_attn_idxs")) {
      throw UserError(fmt::format("{}: missing, expected layer_types or full_attn_idxs",
                                  config.fields.where("layer_types")));
    }
    plan.recurrent = read_attention_indices(config, layers, "full_attn_idxs");
  } else {
    config.fields.mark_read("full_attn_idxs");
  }
  return plan;
}

// Attention's output times a gate; layers that predict further tokens are attention layers.
void adjust_qwen3_next(Config& config, Layer& layer, Stack& /*stack*/) {
  if (config.fields.boolean_or("attn_output_gate", true)) {
    layer.attention->gate = OutputGate::kPerElement;
  }
}

// block_ff_dim is what a plain feed-forward would have; a gated one gets two thirds of it.
std::int64_t lfm2_d_ff(Config& config, std::int64_t d_ff) {
  JsonFields& fields = config.fields;
  if (!fields.boolean_or("block_auto_adjust_ff_dim", true)) {
    for (const std::string_view field : {"block_ffn_dim_multiplier", "block_multiple_of"}) {
      fields.mark_read(field);
    }
    return d_ff;
  }
  const double multiplier = fields.number_or("block_ffn_dim_multiplier", 1);
  if (!(multiplier > 0 && multiplier <= 16)) {
    throw UserError(fmt::format("{}: expected a number above 0 and at most 16, got {}",
                                fields.where("block_ffn_dim_multiplier"), multiplier));
  }
  const std::int64_t multiple = fields.integer_or("block_multiple_of", 256, 1, kMaxAxisSize);
  const auto scaled = static_cast<std::int64_t>(multiplier * static_cast<double>(2 * d_ff / 3));
  return std::max<std::int64_t>((scaled + multiple - 1) / multiple, 1) * multiple;
}

void read_mamba(Config& config) {
  JsonFields& fields = config.fields;
  Model& model = config.model;
  model.d_model = read_size(config, "hidden_size");
  model.vocab = read_size(config, "vocab_size");
  model.head = read_head(config, decoder_heads());
  Mamba mamba;
  const std::int64_t expand = fields.integer_or("expand", 2, 1, kMaxAxisSize);
  const std::int64_t expanded = scaled_width(config, "expand", expand);
  mamba.inner = fields.integer_or("intermediate_size", expanded, 1, kMaxAxisSize);
  if (fields.has("expand") && mamba.inner != expanded) {
    throw UserError(fmt::format(
        "{}: expected {}, as expand = {} times hidden_size = {} says, got {}",
        fields.where("intermediate_size"), expanded, expand, model.d_model, mamba.inner));
  }
  mamba.state = read_size(config, "state_size", 16);
  mamba.taps = read_taps(config, "conv_kernel");
  constexpr std::int64_t kWidthPerRank = 16;
  const std::int64_t usual = (model.d_model + kWidthPerRank - 1) / kWidthPerRank;
  const bool is_auto = fields.raw("time_step_rank").is_string();
  if (is_auto) read_choice(config, "time_step_rank", "auto", {"auto"});
  mamba.rank = is_auto ? usual : fields.integer_or("time_step_rank", usual, 1, kMaxAxisSize);
  mamba.conv_bias = fields.boolean_or("use_conv_bias", true);
  mamba.proj_bias = fields.boolean_or("use_bias", false);
  require_activation(config, "hidden_act");
  Layer layer;
  layer.attention.reset();
  layer.recurrence = mamba;
  layer.feed_forward = NoFeedForward{};
  Stack stack;
  stack.groups = {
      {"layer", layer, read_size(config, "num_hidden_layers")}
  };
  model.decoder = stack;
}

void read_nemotron_h(Config& config) {
  Model& model = config.model;
  model.d_model = read_size(config, "hidden_size");
  model.vocab = read_size(config, "vocab_size");
  model.context = config.fields.integer_or("max_position_embeddings", 0, 0, kMaxAxisSize);
  model.head = read_head(config, decoder_heads());
  if (config.fields.boolean_or("use_bias", false)) {
    throw UserError(fmt::format("{}: expected false, got true", config.fields.where("use_bias")));
  }
  Stack stack;
  stack.groups = NemotronLayers(config).read();
  model.decoder = stack;
  const std::int64_t mtp = config.fields.integer_or("num_nextn_predict_layers", 0, 0, kMaxAxisSize);
  const std::string pattern = config.fields.text_or("mtp_hybrid_override_pattern", "");
  if (mtp > 0) {
    model.assumptions.push_back(
        fmt::format("num_nextn_predict_layers = {}: layers {} that predict further tokens are not "
                    "counted",
                    mtp, quoted(pattern)));
  }
}

}  // namespace flopwise
