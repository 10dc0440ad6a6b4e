#include "flopwise/model/families/restated.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

using nlohmann::json;

const Stack& stack_of(const Model& model) {
  return model.encoder ? *model.encoder : *model.decoder;
}

// Layers of one kind of a model differ in masks and in feed-forward widths, and in nothing asked
// for here.
const Layer& layer_of(const Model& model) {
  return stack_of(model).groups.front().layer;
}

const Attention* find_attention(const Model& model) {
  for (const LayerGroup& group : stack_of(model).groups) {
    if (group.layer.attention) return &*group.layer.attention;
  }
  return nullptr;
}

// One without heads where no layer has attention.
const Attention& attention_of(const Model& model) {
  static const Attention kAbsent = [] {
    Attention absent;
    absent.position = PositionKind::kNone;
    return absent;
  }();
  const Attention* attention = find_attention(model);
  return attention != nullptr ? *attention : kAbsent;
}

const Moe* moe_of(const Model& model) {
  for (const LayerGroup& group : stack_of(model).groups) {
    if (const Moe* moe = std::get_if<Moe>(&group.layer.feed_forward)) return moe;
  }
  return nullptr;
}

// One of no width where no layer has a feed-forward.
const Mlp& mlp_of(const Model& model) {
  static const Mlp kAbsent;
  if (const Moe* moe = moe_of(model)) return moe->expert;
  for (const LayerGroup& group : stack_of(model).groups) {
    if (const Mlp* mlp = std::get_if<Mlp>(&group.layer.feed_forward)) return *mlp;
  }
  return kAbsent;
}

bool all_layers_are_moe(const Model& model) {
  const std::vector<LayerGroup>& groups = stack_of(model).groups;
  return std::all_of(groups.begin(), groups.end(), [](const LayerGroup& group) {
    return std::holds_alternative<Moe>(group.layer.feed_forward);
  });
}

bool has_vocab_head(const Model& model) {
  const HeadKind kind = model.head.kind;
  return kind == HeadKind::kLanguageModel || kind == HeadKind::kMaskedLm ||
         kind == HeadKind::kPretraining;
}

// ---- what a field of some name must say: a size, true, false; null where it says nothing -----

json layers(const Model& model) {
  std::int64_t count = 0;
  for (const LayerGroup& group : stack_of(model).groups) count += group.repeat;
  return count;
}

json d_ff(const Model& model) {
  std::optional<std::int64_t> width;
  for (const LayerGroup& group : stack_of(model).groups) {
    const Mlp* mlp = std::get_if<Mlp>(&group.layer.feed_forward);
    const std::int64_t d_ff = (mlp != nullptr ? *mlp : mlp_of(model)).d_ff;
    if (width && *width != d_ff) return nullptr;
    width = d_ff;
  }
  return *width;
}

json rotary_dim(const Model& model) {
  const Attention& attention = attention_of(model);
  return attention.position == PositionKind::kRotary ? json(attention.rotary_dim) : json();
}

json context(const Model& model) {
  return model.context > 0 ? json(model.context) : json();
}

json experts(const Model& model) {
  const Moe* moe = moe_of(model);
  return moe != nullptr ? json(moe->experts) : json();
}

json active_experts(const Model& model) {
  const Moe* moe = moe_of(model);
  return moe != nullptr ? json(moe->active_experts) : json();
}

json moe_step(const Model& model) {
  return all_layers_are_moe(model) ? json(1) : json();
}

json normalises_top_k(const Model& model) {
  const Moe* moe = moe_of(model);
  if (moe == nullptr) return nullptr;
  return moe->renormalise || moe->score == RouterScore::kTopKThenSoftmax ||
         moe->score == RouterScore::kTopKThenSigmoid;
}

json activation(const Model& model) {
  return name_of(mlp_of(model).activation);
}

// A text stands for what neither true nor false describes.
json biases(bool q, bool k, bool v, bool o, bool feed_forward) {
  if (q == k && k == v && v == o && o == feed_forward) return q;
  return fmt::format("no such field (biases: q {}, k {}, v {}, o {}, feed-forward {})", q, k, v, o,
                     feed_forward);
}

json every_bias(const Model& model) {
  const Attention& a = attention_of(model);
  return biases(a.q_bias, a.k_bias, a.v_bias, a.o_bias, mlp_of(model).up_bias);
}

json attention_bias(const Model& model) {
  const Attention& a = attention_of(model);
  if (a.q_bias == a.o_bias) return a.q_bias;
  return every_bias(model);
}

json tied(const Model& model) {
  return has_vocab_head(model) ? json(model.head.tied) : json();
}

json head_bias(const Model& model) {
  return has_vocab_head(model) ? json(model.head.bias) : json();
}

json is_causal(const Model& model) {
  if (model.architecture == Architecture::kEncoderDecoder) return nullptr;
  return attention_of(model).mask.kind != MaskKind::kFull;
}

json has_pooler(const Model& model) {
  const HeadKind kind = model.head.kind;
  return kind == HeadKind::kPooler || kind == HeadKind::kPooledLabels ||
         kind == HeadKind::kPretraining;
}

struct Fact {
  std::array<std::string_view, 6> names;
  json (*value)(const Model& model);
};

// Facts about heads, which say nothing of a model without attention.
constexpr std::string_view kAboutAttention[] = {"num_attention_heads",
                                                "num_key_value_heads",
                                                "head_dim",
                                                "v_head_dim",
                                                "rotary_dim",
                                                "attention_bias",
                                                "qkv_bias",
                                                "o_bias",
                                                "qk_norm",
                                                "use_rope",
                                                "alibi",
                                                "scale_attn_weights"};

constexpr Fact kFacts[] = {
    {{"hidden_size", "n_embd", "d_model", "dim"},                                        [](const Model& m) { return json(m.d_model); }                },
    {{"num_hidden_layers", "n_layer", "n_layers", "num_layers"},                         layers                                                        },
    {{"num_attention_heads", "n_head", "n_heads", "num_heads"},
     [](const Model& m) { return json(attention_of(m).heads); }                                                                                        },
    {{"num_key_value_heads", "num_kv_heads", "n_kv_heads", "n_head_kv"},
     [](const Model& m) { return json(attention_of(m).kv_heads); }                                                                                     },
    {{"head_dim", "d_kv", "kv_channels", "head_size"},
     [](const Model& m) { return json(attention_of(m).head_dim); }                                                                                     },
    {{"v_head_dim"},                                                                     [](const Model& m) { return json(attention_of(m).value_dim); }},
    {{"rotary_dim", "rotary_ndims"},                                                     rotary_dim                                                    },
    {{"intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size"},             d_ff                                                          },
    {{"max_position_embeddings", "n_positions", "n_ctx"},                                context                                                       },
    {{"vocab_size", "n_vocab"},                                                          [](const Model& m) { return json(m.vocab); }                  },
    {{"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"},        experts                                                       },
    {{"num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_topk"},          active_experts                                                },
    {{"decoder_sparse_step", "moe_layer_freq"},                                          moe_step                                                      },
    {{"use_moe", "moe", "is_moe"},                                                       [](const Model& m) { return json(moe_of(m) != nullptr); }     },
    {{"norm_topk_prob"},                                                                 normalises_top_k                                              },
    {{"hidden_act", "hidden_activation", "activation_function", "activation"},           activation                                                    },
    {{"is_gated_act", "gated_mlp", "use_gated_mlp", "use_glu", "glu_mlp"},
     [](const Model& m) { return json(mlp_of(m).gated); }                                                                                              },
    {{"bias", "use_bias", "use_biases", "add_bias_linear", "enable_bias"},               every_bias                                                    },
    {{"attention_bias", "attn_bias", "use_attention_bias"},                              attention_bias                                                },
    {{"qkv_bias", "use_qkv_bias", "add_qkv_bias"},
     [](const Model& m) { return json(attention_of(m).q_bias); }                                                                                       },
    {{"o_bias", "attention_out_bias", "attention_output_bias"},
     [](const Model& m) { return json(attention_of(m).o_bias); }                                                                                       },
    {{"mlp_bias", "use_mlp_bias"},                                                       [](const Model& m) { return json(mlp_of(m).up_bias); }        },
    {{"lm_head_bias"},                                                                   head_bias                                                     },
    {{"norm_bias", "layer_norm_bias", "use_norm_bias"},
     [](const Model& m) { return json(layer_of(m).norm == NormKind::kLayer); }                                                                         },
    {{"layer_norm_elementwise_affine", "norm_elementwise_affine", "elementwise_affine"},
     [](const Model& m) { return json(layer_of(m).norm != NormKind::kNoParams); }                                                                      },
    {{"rms_norm", "use_rms_norm", "use_rmsnorm", "rmsnorm"},
     [](const Model& m) { return json(layer_of(m).norm == NormKind::kRms); }                                                                           },
    {{"qk_norm", "use_qk_norm", "qk_layernorm", "use_qk_layernorm", "qk_layer_norm"},
     [](const Model& m) { return json(attention_of(m).qk_norm != QkNorm::kNone); }                                                                     },
    {{"do_layer_norm_before", "pre_norm", "use_pre_norm", "normalize_before"},
     [](const Model& m) { return json(layer_of(m).placement != NormPlacement::kPost); }                                                                },
    {{"final_norm", "use_final_norm", "add_final_layer_norm"},
     [](const Model& m) { return json(stack_of(m).final_norm); }                                                                                       },
    {{"use_parallel_residual", "parallel_residual", "parallel_attn"},
     [](const Model& m) { return json(layer_of(m).parallel); }                                                                                         },
    {{"use_rope", "use_rotary", "rotary", "use_rotary_embeddings"},
     [](const Model& m) { return json(attention_of(m).position == PositionKind::kRotary); }                                                            },
    {{"alibi", "use_alibi"},
     [](const Model& m) { return json(attention_of(m).position == PositionKind::kAlibi); }                                                             },
    {{"scale_attn_weights"},                                                             [](const Model& m) { return json(attention_of(m).scaled); }   },
    {{"scale_embedding", "scale_embeddings"},
     [](const Model& m) { return json(m.embedding.scaled); }                                                                                           },
    {{"normalize_embedding"},                                                            [](const Model& m) { return json(m.embedding.norm); }         },
    {{"static_position_embeddings"},                                                     [](const Model& m) { return json(m.embedding.sinusoidal); }   },
    {{"use_parallel_block", "parallel_block"},
     [](const Model& m) { return json(layer_of(m).parallel); }                                                                                         },
    {{"use_embedding_sharing"},                                                          tied                                                          },
    {{"use_gated_activation"},                                                           [](const Model& m) { return json(mlp_of(m).gated); }          },
    {{"is_causal", "causal", "use_causal_mask"},                                         is_causal                                                     },
    {{"add_pooling_layer", "use_pooler", "with_pooler"},                                 has_pooler                                                    },
    {{"tie_embeddings", "tied_embeddings", "tie_weights", "share_input_output_embed"},   tied                                                          },
};

// Of activations not the text but what it names: "silu" and "swish" are one.
bool is_same(const json& expected, const json& value) {
  if (expected == value) return true;
  if (!expected.is_string() || !value.is_string()) return false;
  const std::optional<Activation> named = find_activation(value.get_ref<const std::string&>());
  return named && name_of(*named) == expected.get_ref<const std::string&>();
}

}  // namespace

bool restates_the_model(const Config& config, std::string_view field, const json& value) {
  for (const Fact& fact : kFacts) {
    if (!contains(fact.names, field)) continue;
    // Sizes of layers that this model could have, but has not; of others they are unknown fields.
    if (find_attention(config.model) == nullptr && contains(kAboutAttention, fact.names.front())) {
      return config.family.hybrid != nullptr;
    }
    const json expected = fact.value(config.model);
    if (expected.is_null()) return false;
    if (is_same(expected, value)) return true;
    const std::string text = expected.is_string() ? expected.get<std::string>() : expected.dump();
    throw UserError(
        fmt::format("{}: expected {}, as model_type '{}' and the other fields say, got "
                    "{}",
                    config.fields.where(field), text, config.family.model_type, shown(value)));
  }
  return false;
}

}  // namespace flopwise
