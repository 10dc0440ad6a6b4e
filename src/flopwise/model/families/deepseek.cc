#include "flopwise/model/families/deepseek.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// Files say head_dim and num_key_value_heads in ways that mean nothing here: the width of the
// rotated part, or of the whole; as many as heads.
void read_meaningless_sizes(Config& config, const Attention& attention) {
  const LatentAttention& latent = *attention.latent;
  const std::int64_t head_dim =
      config.fields.integer_or("head_dim", attention.head_dim, 0, kMaxAxisSize);
  const bool is_known = head_dim == 0 || head_dim == attention.head_dim ||
                        head_dim == latent.rope_dim || head_dim == latent.nope_dim ||
                        head_dim == attention.value_dim;
  if (!is_known) {
    throw UserError(fmt::format(
        "{}: expected qk_rope_head_dim = {} or the sum with "
        "qk_nope_head_dim, {}, got {}",
        config.fields.where("head_dim"), latent.rope_dim, attention.head_dim, head_dim));
  }
  const std::int64_t kv_heads =
      config.fields.integer_or("num_key_value_heads", attention.heads, 1, kMaxAxisSize);
  if (kv_heads == attention.heads) return;
  throw UserError(
      fmt::format("{}: expected num_attention_heads = {}, since every head has its own "
                  "keys, got {}",
                  config.fields.where("num_key_value_heads"), attention.heads, kv_heads));
}

RouterScore read_scoring(Config& config) {
  const bool is_sigmoid = config.family.router == RouterScore::kSigmoidThenTopK;
  const std::string_view field = spelling_of(config, {"scoring_func", "score_func"});
  const std::string scoring = config.fields.text_or(field, is_sigmoid ? "sigmoid" : "softmax");
  if (scoring == "sigmoid") return RouterScore::kSigmoidThenTopK;
  if (scoring == "softmax") return RouterScore::kSoftmaxThenTopK;
  throw UserError(fmt::format("{}: expected sigmoid or softmax, got {}", config.fields.where(field),
                              quoted(scoring)));
}

// The bias of noaux_tc is a parameter; groups only restrict the choice, and cost a few compares
// that are not counted.
bool read_choice(Config& config, RouterScore score) {
  const std::string usual = score == RouterScore::kSigmoidThenTopK ? "noaux_tc" : "greedy";
  const std::string method = config.fields.text_or("topk_method", usual);
  if (method != "noaux_tc" && method != "greedy" && method != "group_limited_greedy") {
    throw UserError(fmt::format("{}: expected noaux_tc, greedy or group_limited_greedy, got {}",
                                config.fields.where("topk_method"), quoted(method)));
  }
  const std::string_view field = spelling_of(config, {"n_group", "n_expert_groups"});
  const std::int64_t groups = config.fields.integer_or(field, 1, 0, kMaxAxisSize);
  config.fields.integer_or(spelling_of(config, {"topk_group", "n_limited_groups"}), 1, 0,
                           kMaxAxisSize);
  if (groups > 1) {
    config.model.assumptions.push_back(
        fmt::format("{} = {}: choosing the groups of experts is not counted", field, groups));
  }
  return method == "noaux_tc";
}

void read_indexer(Config& config, Attention& attention) {
  Indexer indexer;
  indexer.heads = read_size(config, "index_n_heads", 64);
  indexer.head_dim = read_size(config, "index_head_dim", 128);
  attention.latent->indexer = indexer;
  attention.mask = {MaskKind::kTopK, read_size(config, "index_topk", 2048)};
  if (indexer.head_dim < attention.latent->rope_dim) {
    throw UserError(fmt::format("{}: expected at least qk_rope_head_dim = {}, got {}",
                                config.fields.where("index_head_dim"), attention.latent->rope_dim,
                                indexer.head_dim));
  }
  config.model.assumptions.emplace_back(
      "the indexer's choice is counted as the latest keys, its Hadamard transform and its own loss "
      "are not counted");
}

}  // namespace

Attention read_latent_attention(Config& config) {
  JsonFields& fields = config.fields;
  LatentAttention latent;
  const AbsentLatent& absent = config.family.absent_latent;
  latent.query_rank = fields.integer_or("q_lora_rank", 0, 0, kMaxAxisSize);
  if (!config.mentions("q_lora_rank")) {
    latent.query_rank = read_size(config, "q_lora_rank", absent.query_rank);
  }
  latent.kv_rank = read_size(config, "kv_lora_rank", absent.kv_rank);
  latent.nope_dim = read_size(config, "qk_nope_head_dim", absent.nope_dim);
  latent.rope_dim = read_size(config, "qk_rope_head_dim", absent.rope_dim);
  Attention attention;
  attention.heads = attention.kv_heads = read_size(config, config.family.names.heads);
  attention.head_dim = latent.nope_dim + latent.rope_dim;
  const std::int64_t value_dim =
      absent.value_dim > 0 ? absent.value_dim : config.model.d_model / attention.heads;
  attention.value_dim = read_size(config, "v_head_dim", value_dim);
  attention.rotary_dim = latent.rope_dim;
  attention.latent = latent;
  if (latent.rope_dim % 2 != 0) {
    throw UserError(fmt::format("{}: expected an even number, got {}",
                                fields.where("qk_rope_head_dim"), latent.rope_dim));
  }
  if (fields.boolean_or("attention_bias", false)) {
    throw UserError(
        fmt::format("{}: expected false, latent attention with biases is not known, "
                    "got true",
                    fields.where("attention_bias")));
  }
  read_meaningless_sizes(config, attention);
  if (config.family.indexer) read_indexer(config, attention);
  return attention;
}

std::vector<bool> read_shared_choices(Config& config, std::int64_t layers) {
  const std::string_view field = "indexer_types";
  const std::vector<std::string> types = config.fields.texts_or(field, {});
  if (types.empty()) return {};
  require_one_a_layer(config, field, layers, types.size());
  std::vector<bool> shared;
  for (const std::string& type : types) {
    const bool is_known = type == "full" || (type == "shared" && !shared.empty());
    if (!is_known) {
      throw UserError(fmt::format("{}[{}]: expected {}, got {}", config.fields.where(field),
                                  shared.size(), shared.empty() ? "full" : "full or shared",
                                  quoted(type)));
    }
    shared.push_back(type == "shared");
  }
  return shared;
}

Moe read_deepseek_moe(Config& config, const Mlp& mlp) {
  JsonFields& fields = config.fields;
  Moe moe;
  moe.experts = read_size(config, spelling_of(config, {"n_routed_experts", "num_experts"}));
  moe.active_experts = fields.integer(config.family.names.active_experts, 1, moe.experts);
  moe.expert = mlp;
  moe.expert.d_ff =
      read_size(config, spelling_of(config, {"moe_intermediate_size", "moe_inter_dim"}));
  const std::int64_t shared = fields.integer_or("n_shared_experts", 0, 0, kMaxAxisSize);
  if (shared > kMaxAxisSize / moe.expert.d_ff) {
    throw UserError(
        fmt::format("{}: expected shared experts of at most 2^40 elements together, got "
                    "{}",
                    fields.where("n_shared_experts"), shared));
  }
  moe.shared_d_ff = shared * moe.expert.d_ff;
  moe.score = read_scoring(config);
  const bool is_sigmoid = moe.score == RouterScore::kSigmoidThenTopK;
  moe.renormalise = fields.boolean_or("norm_topk_prob", is_sigmoid);
  moe.correction_bias = read_choice(config, moe.score);
  moe.scaling = fields.number_or(spelling_of(config, {"routed_scaling_factor", "route_scale"}),
                                 config.family.routed_scaling);
  return moe;
}

void read_mtp_layers(Config& config, const Stack& stack, const Layer& base) {
  const std::string_view named = config.family.mtp_field;
  const std::string_view field = named.empty() ? "num_nextn_predict_layers" : named;
  const std::int64_t count = config.fields.integer_or(field, 0, 0, kMaxAxisSize);
  if (count == 0) return;
  const auto attends = [](const LayerGroup& group) { return group.layer.attention.has_value(); };
  const auto last = std::find_if(stack.groups.rbegin(), stack.groups.rend(), attends);
  config.model.mtp = last == stack.groups.rend() ? stack.groups.back() : *last;
  Layer& layer = config.model.mtp->layer;
  if (!layer.attention) {
    layer.recurrence.reset();
    layer.attention = base.attention;
  }
  config.model.mtp->name = "mtp";
  config.model.mtp->repeat = count;
  if (config.family.indexer) {
    // An MTP layer chooses for itself.
    for (const LayerGroup& group : stack.groups) {
      const std::optional<Attention>& attention = group.layer.attention;
      if (attention && attention->latent->indexer) {
        config.model.mtp->layer.attention->latent->indexer = attention->latent->indexer;
      }
    }
  }
}

}  // namespace flopwise
