// What the rows of gpt-oss, GLM-4.5, MiniMax-M2 and Llama 4 cannot say.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/layer_pattern.h"
#include "flopwise/model/families/unread.h"

namespace flopwise {
namespace {

constexpr std::int64_t kLongestStep = 1024;
constexpr std::int64_t kFullPeriod = 4;  // Llama 4: every fourth layer sees everything

// A list with an entry a layer, 0 where the layer is not rotated; none for the usual rhythm.
std::vector<std::int64_t> read_rotated(Config& config, std::int64_t layers) {
  const std::string_view field = "no_rope_layers";
  std::vector<std::int64_t> rotated = config.fields.integers_or(field, {});
  if (!rotated.empty()) require_one_a_layer(config, field, layers, rotated.size());
  for (const std::int64_t entry : rotated) {
    if (entry == 0 || entry == 1) continue;
    throw UserError(fmt::format("{}: expected 0 or 1, got {}", config.fields.where(field), entry));
  }
  return rotated;
}

// moe_layers may list what interleave_moe_layer_step says.
void check_moe_layers(Config& config, std::int64_t layers, std::int64_t step) {
  const std::vector<std::int64_t> listed = config.fields.integers_or("moe_layers", {});
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::int64_t expected = static_cast<std::int64_t>(i + 1) * step - 1;
    if (listed[i] == expected && expected < layers) continue;
    throw UserError(
        fmt::format("{}[{}]: expected {}, as interleave_moe_layer_step = {} says, got {}",
                    config.fields.where("moe_layers"), i, expected, step, listed[i]));
  }
  if (listed.empty() || static_cast<std::int64_t>(listed.size()) == layers / step) return;
  throw UserError(
      fmt::format("{}: expected {} layers, as interleave_moe_layer_step = {} says, got {}",
                  config.fields.where("moe_layers"), layers / step, step, listed.size()));
}

// From a stack of equal dense layers of intermediate_size: experts of that width beside a shared
// one every step-th layer, dense layers of intermediate_size_mlp between them, chunks where keys
// rotate.
void make_llama4_layers(Config& config) {
  JsonFields& fields = config.fields;
  Stack& stack = *config.model.decoder;
  const Layer base = stack.groups.at(0).layer;
  const std::int64_t layers = stack.groups.at(0).repeat;
  const std::int64_t step = fields.integer_or("interleave_moe_layer_step", 1, 1, kLongestStep);
  check_moe_layers(config, layers, step);
  const std::vector<std::int64_t> rotated = read_rotated(config, layers);
  const std::int64_t chunk = fields.integer_or("attention_chunk_size", 8192, 0, kMaxAxisSize);
  const bool normalises = fields.boolean_or("use_qk_norm", true);

  Moe moe;
  moe.experts = read_size(config, "num_local_experts", 16);
  moe.active_experts = fields.integer_or("num_experts_per_tok", 1, 1, moe.experts);
  moe.expert = std::get<Mlp>(base.feed_forward);
  moe.shared_d_ff = moe.expert.d_ff;
  moe.score = RouterScore::kTopKThenSigmoid;
  Mlp dense = moe.expert;
  dense.d_ff = fields.integer_or("intermediate_size_mlp", 16384, 1, kMaxAxisSize);

  LayerList list;
  const auto layer_at = [&](std::int64_t i) {
    Layer layer = base;
    const bool is_local =
        rotated.empty() ? (i + 1) % kFullPeriod != 0 : rotated[static_cast<std::size_t>(i)] == 1;
    const bool is_moe = (i + 1) % step == 0;
    if (is_local && chunk > 0) layer.attention->mask = {MaskKind::kChunk, chunk};
    if (is_local && normalises) {
      layer.attention->qk_norm = QkNorm::kPerHead;
      layer.attention->qk_norm_kind = NormKind::kNoParams;
    }
    if (!is_local) {
      layer.attention->position = PositionKind::kNone;
      layer.attention->rotary_dim = 0;
    }
    if (is_moe) {
      layer.feed_forward = moe;
    } else {
      layer.feed_forward = dense;
    }
    return NamedLayer{std::string(is_local ? "local" : "global") + (is_moe ? "_moe" : "_dense"),
                      layer};
  };
  // Whole periods are alike; a listed rhythm goes layer by layer.
  const std::int64_t period = rotated.empty() ? std::lcm(kFullPeriod, step) : layers;
  const std::int64_t whole = layers / period;
  for (std::int64_t i = 0; i < std::min(period, layers); ++i) {
    const NamedLayer layer = layer_at(i);
    list.add(layer.name, layer.layer, whole + (i < layers % period ? 1 : 0));
  }
  stack.groups = list.groups();
}

Family llama4_text_row() {
  Family family = *find_family("llama4_text");
  family.read = read_decoder;
  return family;
}

}  // namespace

void read_llama4(Config& config) {
  const Family family = llama4_text_row();
  if (config.family.model_type == family.model_type) {
    Config text{config.object, config.fields, family, config.model};
    read_decoder(text);
    make_llama4_layers(text);
    config.fields = text.fields;
    config.model = text.model;
    return;
  }
  read_text_config(config, family, make_llama4_layers);
  add_vision_tower(config);
}

void adjust_gpt_oss(Config& config, Layer& layer, Stack& /*stack*/) {
  layer.attention->sinks = true;
  config.model.assumptions.emplace_back(
      "experts are counted with a silu gate, without the clamps and the + 1 of swiglu_limit");
}

void adjust_gpt_oss_moe(Config& config, Moe& moe) {
  config.fields.integer_or("experts_per_token", moe.active_experts, moe.active_experts,
                           moe.active_experts);
  moe.router_bias = true;
}

void adjust_glm4_moe(Config& config, Layer& layer, Stack& /*stack*/) {
  Attention& attention = *layer.attention;
  attention.q_bias = attention.k_bias = attention.v_bias =
      config.fields.boolean_or("attention_bias", false);
  if (config.fields.boolean_or("use_qk_norm", false)) attention.qk_norm = QkNorm::kPerHead;
}

void adjust_minimax_m2(Config& config, Layer& layer, Stack& /*stack*/) {
  JsonFields& fields = config.fields;
  Attention& attention = *layer.attention;
  if (fields.boolean_or("use_qk_norm", true)) attention.qk_norm = QkNorm::kFullWidth;
  const std::string type = fields.text_or("qk_norm_type", "per_layer");
  if (type != "per_layer") {
    throw UserError(
        fmt::format("{}: expected per_layer, got {}", fields.where("qk_norm_type"), quoted(type)));
  }
  attention.rotary_dim =
      fields.integer_or("rotary_dim", attention.rotary_dim, 2, attention.head_dim);
}

void adjust_minimax_m2_moe(Config& config, Moe& moe) {
  const std::string scoring = config.fields.text_or("scoring_func", "sigmoid");
  if (scoring != "sigmoid") {
    throw UserError(fmt::format("{}: expected sigmoid, got {}", config.fields.where("scoring_func"),
                                quoted(scoring)));
  }
  moe.score = RouterScore::kSigmoidThenTopK;
  moe.renormalise = true;
  moe.correction_bias = config.fields.boolean_or("use_routing_bias", true);
}

}  // namespace flopwise
