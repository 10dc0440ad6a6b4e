// Gemma 4: global layers with heads of their own, the last layers on the keys and values of earlier
// ones, experts beside the dense feed-forward, an embedding of its own for each layer.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"

namespace flopwise {
namespace {

constexpr std::int64_t kMostListedLayers = 65536;
constexpr std::int64_t kGlobalPeriod = 6;  // when layer_types is absent; the last layer is global

// Whether each layer slides.
std::vector<bool> read_local(Config& config, std::int64_t layers) {
  std::vector<bool> local;
  for (const std::string& type : config.fields.texts_or("layer_types", {})) {
    local.push_back(type == "sliding_attention");
  }
  if (!local.empty()) return local;
  if (layers > kMostListedLayers) {
    throw UserError(
        fmt::format("{}: expected at most {} layers where layer_types is absent, got {}",
                    config.fields.where("num_hidden_layers"), kMostListedLayers, layers));
  }
  config.model.assumptions.push_back(fmt::format(
      "layer_types is absent: every {}th layer and the last are global", kGlobalPeriod));
  for (std::int64_t i = 0; i < layers; ++i) {
    local.push_back((i + 1) % kGlobalPeriod != 0 && i + 1 < layers);
  }
  return local;
}

Attention local_attention(Config& config, Attention attention) {
  attention.rotary_dim = attention.head_dim;
  attention.mask = {MaskKind::kWindow,
                    config.fields.integer_or("sliding_window", 512, 1, kMaxAxisSize)};
  return attention;
}

Attention global_attention(Config& config, Attention attention) {
  JsonFields& fields = config.fields;
  const double share =
      static_cast<double>(attention.rotary_dim) / static_cast<double>(attention.head_dim);
  attention.mask = {};
  attention.head_dim = attention.value_dim = read_size(config, "global_head_dim", 512);
  attention.rotary_dim = static_cast<std::int64_t>(share * static_cast<double>(attention.head_dim));
  attention.keys_as_values = fields.boolean_or("attention_k_eq_v", false);
  const std::int64_t kv_heads =
      fields.integer_or("num_global_key_value_heads", attention.kv_heads, 1, attention.heads);
  if (attention.keys_as_values) attention.kv_heads = kv_heads;
  if (attention.heads % attention.kv_heads != 0) {
    throw UserError(fmt::format("{}: expected a divisor of num_attention_heads = {}, got {}",
                                fields.where("num_global_key_value_heads"), attention.heads,
                                kv_heads));
  }
  if (attention.rotary_dim % 2 != 0) {
    throw UserError(fmt::format("{}: expected heads that rotate an even number of elements, got {}",
                                fields.where("global_head_dim"), attention.rotary_dim));
  }
  return attention;
}

// Experts beside the dense feed-forward, which is their shared one.
Moe read_experts(Config& config, const Mlp& dense) {
  JsonFields& fields = config.fields;
  Moe moe;
  moe.experts = read_size(config, "num_experts");
  moe.active_experts = fields.integer("top_k_experts", 1, moe.experts);
  moe.expert = dense;
  moe.expert.d_ff =
      read_size(config, spelling_of(config, {"moe_intermediate_size", "expert_intermediate_size"}));
  moe.shared_d_ff = dense.d_ff;
  moe.renormalise = true;
  moe.own_norms = true;
  return moe;
}

// Which layer gives its keys and values to those from `first` on, by whether they slide.
std::map<bool, std::int64_t> find_givers(const Config& config, const std::vector<bool>& local,
                                         std::int64_t first) {
  std::map<bool, std::int64_t> givers;
  for (std::int64_t i = 0; i < first; ++i) givers[local[static_cast<std::size_t>(i)]] = i;
  for (std::size_t i = static_cast<std::size_t>(first); i < local.size(); ++i) {
    if (givers.count(local[i]) > 0) continue;
    throw UserError(
        fmt::format("{}: expected a layer of each kind among the first {}, whose keys and values "
                    "the others share, got {} layers",
                    config.fields.where("num_kv_shared_layers"), first, local.size() - i));
  }
  return givers;
}

void refuse_experts_without_switch(Config& config) {
  for (const std::string_view field :
       {"num_experts", "top_k_experts", "moe_intermediate_size", "expert_intermediate_size"}) {
    if (!config.fields.has(field)) {
      config.fields.mark_read(field);
      continue;
    }
    throw UserError(fmt::format("{}: expected null where enable_moe_block is false, got {}",
                                config.fields.where(field), shown(config.fields.raw(field))));
  }
}

// From a stack of layers that are alike but for their windows.
void make_gemma4_layers(Config& config) {
  JsonFields& fields = config.fields;
  Model& model = config.model;
  Stack& stack = *model.decoder;
  std::int64_t layers = 0;
  for (const LayerGroup& group : stack.groups) layers += group.repeat;
  Layer base = stack.groups.at(0).layer;
  base.scaled_output = true;
  base.per_layer_dim = fields.integer_or("hidden_size_per_layer_input", 0, 0, kMaxAxisSize);
  model.embedding.per_layer_dim = base.per_layer_dim;
  const std::int64_t rows =
      fields.integer_or("vocab_size_per_layer_input", model.vocab, 1, kMaxAxisSize);
  if (base.per_layer_dim > 0) base.per_layer_rows = rows;
  base.attention->scaled = false;
  base.attention->v_norm = true;
  const Attention sliding = local_attention(config, *base.attention);
  const Attention full = global_attention(config, *base.attention);
  Mlp mlp = std::get<Mlp>(base.feed_forward);
  if (fields.boolean_or("enable_moe_block", false)) {
    base.feed_forward = read_experts(config, mlp);
  } else {
    refuse_experts_without_switch(config);
  }
  const std::vector<bool> local = read_local(config, layers);
  const std::int64_t sharing = fields.integer_or("num_kv_shared_layers", 0, 0, layers - 1);
  const std::int64_t first = layers - sharing;
  const std::map<bool, std::int64_t> givers = find_givers(config, local, first);
  const bool is_double = fields.boolean_or("use_double_wide_mlp", false);

  LayerList list;
  for (std::int64_t i = 0; i < layers; ++i) {
    const bool slides = local[static_cast<std::size_t>(i)];
    std::string name = slides ? "local" : "global";
    Layer layer = base;
    layer.attention = slides ? sliding : full;
    if (sharing > 0 && i >= first) {
      layer.attention->kv_sharing = KvSharing::kTakes;
      layer.attention->keys_as_values = false;
      layer.attention->v_norm = false;
    } else if (sharing > 0 && givers.at(slides) == i) {
      layer.attention->kv_sharing = KvSharing::kGives;
    }
    if (layer.attention->kv_sharing != KvSharing::kNone) {
      layer.attention->shared_kv = "kv." + name;
      name += i < first ? "_giving" : "_taking";
    }
    if (is_double && i >= first) std::get<Mlp>(layer.feed_forward).d_ff = 2 * mlp.d_ff;
    list.add(name, layer);
  }
  stack.groups = list.groups();
  if (fields.text_or("use_bidirectional_attention", "vision") == "all") {
    throw UserError(fmt::format("{}: expected vision, a text model of causal attention, got 'all'",
                                fields.where("use_bidirectional_attention")));
  }
}

}  // namespace

void read_gemma4(Config& config) {
  Family family = *find_family("gemma4_text");
  family.read = read_decoder;
  if (config.family.model_type == family.model_type) {
    Config text{config.object, config.fields, family, config.model, config.leaves_out};
    read_decoder(text);
    make_gemma4_layers(text);
    config.fields = text.fields;
    config.model = text.model;
    return;
  }
  if (config.fields.has("audio_config")) {
    throw UserError(
        fmt::format("{}: the audio tower of model_type '{}' is not counted yet, expected null",
                    config.fields.where("audio_config"), config.family.model_type));
  }
  read_text_config(config, family, make_gemma4_layers);
}

}  // namespace flopwise
