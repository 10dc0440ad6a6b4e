// Decoder-only families: GPT-2 to Qwen 3, from the facts of their rows.
#include "flopwise/model/families/decoder.h"

#include <fmt/format.h>

#include <optional>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/deepseek.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/layer_plan.h"

namespace flopwise {
namespace {

// ---- attention -------------------------------------------------------------------------------

std::int64_t read_kv_heads(Config& config, std::int64_t heads) {
  const Family& family = config.family;
  const std::string_view field = family.names.kv_heads;
  if (field.empty()) return heads;
  // An explicit null says N without being an assumption.
  const bool is_null = config.mentions(field) && !config.fields.has(field);
  config.fields.mark_read(field);
  if (is_null) return heads;
  const std::int64_t absent = family.absent.kv_heads == 0 ? heads : family.absent.kv_heads;
  const std::int64_t kv_heads = read_size(config, field, absent);
  if (heads % kv_heads == 0) return kv_heads;
  throw UserError(fmt::format("{}: expected a divisor of {} = {}, got {}",
                              config.fields.where(field), family.names.heads, heads, kv_heads));
}

// Absent: what the family says. Null, 0, or a family that says nothing: D/N.
std::int64_t read_head_dim(Config& config, std::int64_t heads) {
  const FieldNames& names = config.family.names;
  if (!names.head_dim.empty()) {
    const std::int64_t absent = config.mentions(names.head_dim) ? 0 : config.family.absent.head_dim;
    const std::int64_t head_dim = config.fields.integer_or(names.head_dim, absent, 0, kMaxAxisSize);
    if (head_dim > 0 && !config.mentions(names.head_dim)) {
      config.model.assumptions.push_back(fmt::format("{} is absent: {}", names.head_dim, head_dim));
    }
    if (head_dim > 0) return head_dim;
  }
  if (config.model.d_model % heads == 0) return config.model.d_model / heads;
  throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                              config.fields.where(names.d_model), names.heads, heads,
                              config.model.d_model));
}

struct QkvoBias {
  bool qkv = false;
  bool o = false;
};

QkvoBias read_attention_bias(Config& config) {
  const Bias rule = config.family.attention_bias;
  switch (rule) {
    case Bias::kNever:
      return {};
    case Bias::kAlways:
      return {.qkv = true, .o = true};
    case Bias::kQkv:
      return {.qkv = config.fields.boolean_or("qkv_bias", true), .o = false};
    case Bias::kFieldOrFalse:
    case Bias::kFieldOrTrue:
    case Bias::kQkvFieldOrFalse:
      break;
  }
  const bool bias =
      config.fields.boolean_or(config.family.attention_bias_field, rule == Bias::kFieldOrTrue);
  return {.qkv = bias, .o = bias && rule != Bias::kQkvFieldOrFalse};
}

// The share of each head that is rotated, and the field that says so; "" where none does.
struct RotaryShare {
  double share = 1;
  std::string where;
};

void add_share(JsonFields& fields, std::string_view field, std::vector<RotaryShare>& said) {
  if (!fields.has(field)) return;
  said.push_back({fields.number_or(field, 1), fields.where(field)});
  if (said.back().share >= 0 && said.back().share <= 1) return;
  throw UserError(
      fmt::format("{}: expected a share of 0 ... 1, got {}", said.back().where, said.back().share));
}

// A share by either of its names; a number of elements inside a rope object is nobody's.
void add_shares(JsonFields& fields, std::vector<RotaryShare>& said) {
  for (const std::string_view name :
       {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_percent"}) {
    add_share(fields, name, said);
  }
}

void add_rope_shares(JsonFields& rope, std::vector<RotaryShare>& said) {
  add_shares(rope, said);
  if (!rope.has("rotary_dim")) return;
  throw UserError(
      fmt::format("{}: expected partial_rotary_factor, the rotated share of a head, got {}",
                  rope.where("rotary_dim"), shown(rope.raw("rotary_dim"))));
}

// Newer files say it inside rope_parameters, there perhaps for each kind of layer.
std::vector<RotaryShare> said_rotary_shares(Config& config) {
  std::vector<RotaryShare> said;
  add_shares(config.fields, said);
  for (const std::string_view field : {"rope_parameters", "rope_scaling"}) {
    if (!config.fields.has(field)) continue;
    JsonFields rope = config.fields.object(field);
    add_rope_shares(rope, said);
    for (const std::string& kind : rope.unread()) {
      if (!rope.raw(kind).is_object()) continue;
      JsonFields inner = rope.object(kind);
      add_rope_shares(inner, said);
    }
  }
  return said;
}

RotaryShare read_rotary_share(Config& config) {
  const Family& family = config.family;
  const std::vector<RotaryShare> said = said_rotary_shares(config);
  if (said.empty()) return {family.rotary_share, ""};
  const RotaryShare& first = said.front();
  for (const RotaryShare& other : said) {
    if (other.share == first.share) continue;
    const std::string_view name = std::string_view(first.where).substr(config.fields.file().size());
    throw UserError(fmt::format("{}: expected {}, as{} says, got {}", other.where, first.share,
                                name.substr(1), other.share));
  }
  if (family.reads_rotary_share || first.share == family.rotary_share) return first;
  throw UserError(fmt::format("{}: expected {}, the share of every {}, got {}", first.where,
                              family.rotary_share, family.model_type, first.share));
}

void refuse_odd_rotary_dim(const Config& config, const Attention& attention,
                           const RotaryShare& rotary) {
  if (attention.rotary_dim % 2 == 0) return;
  const FieldNames& names = config.family.names;
  if (!rotary.where.empty() && rotary.share < 1) {
    throw UserError(
        fmt::format("{}: expected a share that rotates an even number of the {} "
                    "elements of a head, got {}, which rotates {}",
                    rotary.where, attention.head_dim, rotary.share, attention.rotary_dim));
  }
  const bool says_head_dim = !names.head_dim.empty() && config.fields.has(names.head_dim);
  throw UserError(
      fmt::format("{}: expected heads that rotate an even number of elements, got {} "
                  "of head_dim = {}",
                  config.fields.where(says_head_dim ? names.head_dim : names.d_model),
                  attention.rotary_dim, attention.head_dim));
}

void set_position(Config& config, Attention& attention) {
  attention.position = config.family.position;
  if (attention.position != PositionKind::kRotary) return;
  const double head_dim = static_cast<double>(attention.head_dim);
  const RotaryShare rotary = read_rotary_share(config);
  attention.rotary_dim = static_cast<std::int64_t>(head_dim * rotary.share);
  refuse_odd_rotary_dim(config, attention, rotary);
  if (attention.rotary_dim == 0) attention.position = PositionKind::kNone;
}

// The cap of cap*tanh(x/cap); 0 when there is none, which null says. `usual` is the class default.
double read_softcap(Config& config, std::string_view field, double usual) {
  if (config.family.softcap == Softcap::kNoField) return 0;
  if (!config.mentions(field)) return config.family.softcap == Softcap::kOnWhenAbsent ? usual : 0;
  if (!config.fields.has(field)) return 0;
  const double cap = config.fields.number_or(field, 0);
  if (cap > 0) return cap;
  throw UserError(fmt::format("{}: expected a number above 0, or null for no cap, got {}",
                              config.fields.where(field), cap));
}

Attention read_attention(Config& config) {
  if (config.family.latent) return read_latent_attention(config);
  Attention attention;
  attention.heads = read_size(config, config.family.names.heads, config.family.absent.heads);
  attention.kv_heads = read_kv_heads(config, attention.heads);
  attention.head_dim = attention.value_dim = read_head_dim(config, attention.heads);
  const QkvoBias bias = read_attention_bias(config);
  attention.q_bias = attention.k_bias = attention.v_bias = bias.qkv;
  attention.o_bias = bias.o;
  attention.qk_norm = config.family.qk_norm;
  attention.softcap = read_softcap(config, "attn_logit_softcapping", 50);
  set_position(config, attention);
  return attention;
}

// ---- feed-forward ----------------------------------------------------------------------------

// All but the width, which differs between dense layers and experts.
Mlp read_mlp(Config& config) {
  const Family& family = config.family;
  Mlp mlp;
  mlp.gated = family.gated;
  mlp.activation = read_activation(config, family.names.activation, family.activation);
  const bool has_field =
      family.mlp_bias == Bias::kFieldOrFalse || family.mlp_bias == Bias::kFieldOrTrue;
  const bool bias = has_field ? config.fields.boolean_or(family.mlp_bias_field,
                                                         family.mlp_bias == Bias::kFieldOrTrue)
                              : family.mlp_bias == Bias::kAlways;
  mlp.up_bias = mlp.down_bias = bias;
  return mlp;
}

}  // namespace

std::int64_t read_d_ff(Config& config) {
  const Family& family = config.family;
  const std::string_view field = family.names.d_ff;
  if (family.d_ff_per_d_model > 0) {
    const std::int64_t ratio =
        config.fields.integer_or(family.d_ff_ratio_field, family.d_ff_per_d_model, 1, 1024);
    return config.fields.integer_or(field, ratio * config.model.d_model, 1, kMaxAxisSize);
  }
  std::int64_t d_ff = read_size(config, field, family.absent.d_ff);
  if (family.adjust_d_ff != nullptr) d_ff = family.adjust_d_ff(config, d_ff);
  if (d_ff % family.d_ff_parts == 0) return d_ff / family.d_ff_parts;
  throw UserError(fmt::format("{}: expected a multiple of {}, got {}", config.fields.where(field),
                              family.d_ff_parts, d_ff));
}

namespace {

Moe read_row_moe(Config& config, const Mlp& mlp) {
  const Family& family = config.family;
  if (family.moe == MoeRule::kFirstDense) return read_deepseek_moe(config, mlp);
  Moe moe;
  moe.experts = read_size(
      config, spelling_of(config, {family.names.experts, "num_experts", "num_local_experts"}));
  moe.active_experts = config.fields.integer(family.names.active_experts, 1, moe.experts);
  moe.expert = mlp;
  if (family.moe == MoeRule::kAll) {
    moe.expert.d_ff = read_d_ff(config);
    moe.score = family.router;
    if (moe.score == RouterScore::kSoftmaxThenTopK) {
      moe.renormalise = config.fields.boolean_or("norm_topk_prob", family.renormalises);
    }
    return moe;
  }
  moe.expert.d_ff = read_size(config, "moe_intermediate_size");
  moe.renormalise = config.fields.boolean_or("norm_topk_prob", family.renormalises);
  if (family.moe == MoeRule::kSparseWithShared) {
    moe.shared_d_ff = read_size(config, "shared_expert_intermediate_size");
    moe.shared_gate = true;
  }
  return moe;
}

}  // namespace

Moe read_moe(Config& config, const Mlp& mlp) {
  Moe moe = read_row_moe(config, mlp);
  if (config.family.adjust_moe != nullptr) config.family.adjust_moe(config, moe);
  return moe;
}

// ---- layers ----------------------------------------------------------------------------------

namespace {

std::vector<LayerGroup> read_listed_layers(Config& config, const Layer& base) {
  const Family& family = config.family;
  const std::int64_t layers = read_size(config, family.names.layers, family.absent.layers);
  constexpr std::int64_t kMostListed = 65536;  // which are walked through one by one
  if (layers > kMostListed) {
    throw UserError(fmt::format("{}: expected at most {} layers that differ one by one, got {}",
                                config.fields.where(family.names.layers), kMostListed, layers));
  }
  LayerList list;
  family.list_layers(config, base, layers, list);
  std::vector<LayerGroup> groups = list.groups();
  if (groups.size() == 1) groups.front().name = "layer";
  return groups;
}

// Completes `base`, whose feed-forward is an Mlp without a width, for every kind of layer.
std::vector<LayerGroup> read_layers(Config& config, const Layer& base) {
  const LayerPlan plan = read_layer_plan(config);
  const Mlp mlp = std::get<Mlp>(base.feed_forward);
  std::optional<Moe> moe;
  if (plan.experts.any) moe = read_moe(config, mlp);
  std::optional<Mlp> dense;  // made when asked for: the width is not needed where all have experts
  const auto dense_mlp = [&] {
    if (!dense) {
      dense = mlp;
      dense->d_ff = read_d_ff(config);
    }
    return *dense;
  };
  const auto layer_at = [&](std::int64_t i) {
    Layer layer = base;
    if (plan.windows.has_window(i)) {
      layer.attention->mask = {MaskKind::kWindow, plan.windows.size};
    }
    if (layer.attention && !plan.has_positions(i)) {
      layer.attention->position = PositionKind::kNone;
      layer.attention->rotary_dim = 0;
    }
    if (plan.shares_choice(i)) layer.attention->latent->indexer.reset();
    if (plan.is_recurrent(i)) {
      layer.attention.reset();
      layer.recurrence = plan.hybrid.recurrence;
    }
    if (plan.is_moe(i)) {
      layer.feed_forward = *moe;
    } else {
      layer.feed_forward = dense_mlp();
    }
    return NamedLayer{plan.kind_of(i), layer};
  };
  std::vector<LayerGroup> groups = group_layers(plan.pattern(), layer_at);
  // Files carry the width of dense layers also where every layer has experts: unused, but read.
  config.fields.integer_or(config.family.names.d_ff, 0, 0, kMaxAxisSize);
  return groups;
}

}  // namespace

void read_decoder(Config& config) {
  const Family& family = config.family;
  Model& model = config.model;
  config.fields.boolean_or("is_decoder", true);  // false, which old files say of all, says nothing
  model.d_model = read_size(config, family.names.d_model, family.absent.d_model);
  model.vocab = read_size(config, family.names.vocab, family.absent.vocab);
  model.context =
      config.fields.integer_or(family.names.positions, family.absent.positions, 1, kMaxAxisSize);
  if (family.learned_positions) {
    model.context = read_size(config, family.names.positions, family.absent.positions);
    model.embedding.positions = model.context + family.extra_position_rows;
  }
  model.embedding.scaled = family.scaled_embedding;
  model.head = read_head(config, family.heads());
  const double logit_cap = read_softcap(config, "final_logit_softcapping", 30);
  if (model.head.kind == HeadKind::kLanguageModel) {
    model.head.softcap = logit_cap;
    model.head.bias = family.head_bias;
  }

  Layer layer;
  layer.norm = family.norm;
  layer.placement = family.placement;
  layer.parallel = family.parallel;
  layer.shared_norm = family.shared_norm;
  layer.attention = read_attention(config);
  layer.feed_forward = read_mlp(config);
  Stack stack;
  stack.final_norm_kind = family.norm;
  if (family.adjust != nullptr) family.adjust(config, layer, stack);
  stack.groups = family.list_layers != nullptr ? read_listed_layers(config, layer)
                                               : read_layers(config, layer);
  if (family.moe == MoeRule::kFirstDense || !family.mtp_field.empty()) {
    read_mtp_layers(config, stack, layer);
  }
  model.decoder = stack;
}

}  // namespace flopwise
