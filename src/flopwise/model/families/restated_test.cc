// What a config.json says twice: agreeing it is harmless, else it is refused, and never is one of
// the two taken in silence.
#include "flopwise/model/families/restated.h"

#include <gtest/gtest.h>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

Model read(const std::string& config) {
  return model_from_config(parse_json(config, "config.json"), "config.json");
}

// A small model of the family; `fields` are added or replace those of the same name.
std::string config(const std::string& model_type, const std::string& fields) {
  const bool is_gpt2 = model_type == "gpt2";
  const bool is_t5 = model_type == "t5" || model_type == "mt5";
  nlohmann::json json = nlohmann::json::parse(
      is_gpt2 ? R"({"n_embd": 16, "n_head": 4, "n_layer": 3, "n_positions": 32, "vocab_size": 7})"
      : is_t5 ? R"({"d_model": 16, "d_kv": 4, "d_ff": 24, "num_heads": 4, "num_layers": 3,
                    "vocab_size": 7})"
              : R"({"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 3,
                    "num_attention_heads": 4, "max_position_embeddings": 32, "vocab_size": 7})");
  if (model_type == "opt") json["ffn_dim"] = 24, json.erase("intermediate_size");
  if (model_type == "qwen3") json["head_dim"] = 4;
  if (model_type == "gemma2" || model_type == "gemma3_text") json["head_dim"] = 4;
  if (model_type == "mixtral")
    json.update({
        {"num_local_experts",   8},
        {"num_experts_per_tok", 2}
    });
  if (model_type == "qwen2_moe" || model_type == "qwen3_moe") {
    json.update({
        {"num_experts",           8 },
        {"num_experts_per_tok",   2 },
        {"moe_intermediate_size", 12}
    });
  }
  if (model_type == "qwen2_moe") json["shared_expert_intermediate_size"] = 40;
  json["model_type"] = model_type;
  json.update(nlohmann::json::parse(fields));
  return json.dump();
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

struct Row {
  const char* model_type;
  const char* fields;
  const char* message;
};

template <std::size_t kRows>
void expect_refused(const Row (&rows)[kRows]) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model_type);
    SCOPED_TRACE(row.fields);
    EXPECT_EQ(error_of(config(row.model_type, row.fields)),
              std::string("config.json: ") + row.message);
  }
}

struct Harmless {
  const char* model_type;
  const char* fields;
};

TEST(Restated, AgreeingIsHarmless) {
  constexpr Harmless kRows[] = {
      {"gpt2",
       R"({"hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 3, "n_ctx": 32})"          },
      {"gpt2",        R"({"intermediate_size": 64, "num_key_value_heads": 4, "head_dim": 4.0})"         },
      {"gpt2",        R"({"attention_bias": true, "mlp_bias": true, "bias": true, "is_decoder": true})" },
      {"gpt2",        R"({"hidden_act": "gelu_fast", "activation_function": "gelu_new"})"               },
      {"opt",         R"({"use_bias": true, "hidden_act": "relu", "num_key_value_heads": 4})"           },
      {"llama",       R"({"layer_types": ["full_attention", "full_attention", "full_attention"]})"      },
      {"llama",       R"({"partial_rotary_factor": 1.0, "rotary_pct": 1,
                          "rope_parameters": {"partial_rotary_factor": 1}})"                                },
      {"llama",       R"({"bias": false, "qkv_bias": false, "qk_norm": false, "use_moe": false})"       },
      {"llama",       R"({"use_sliding_window": false, "sliding_window": 4096, "max_window_layers": 2})"},
      {"llama",       R"({"hidden_act": "silu", "hidden_activation": "swish", "is_causal": true})"      },
      {"llama",       R"({"use_rope": true, "rms_norm": true, "tie_embeddings": false})"                },
      {"llama",       R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}})"                     },
      {"qwen2",       R"({"qkv_bias": true, "mlp_bias": false})"                                        },
      {"qwen3",       R"({"qk_norm": true, "use_qk_norm": true})"                                       },
      {"llama",       R"({"is_llama_config": true, "transformers.js_config": {"dtype": "q4"}})"         },
      {"qwen3",       R"({"rope_scaling": null, "rope_parameters": {"rope_theta": 1e6}})"               },
      {"mixtral",     R"({"num_experts": 8, "num_local_experts": 8, "norm_topk_prob": true})"           },
      {"mixtral",     R"({"num_experts": 8, "num_local_experts": null})"                                },
      {"qwen3_moe",   R"({"num_local_experts": 8, "intermediate_size": null})"                          },
      {"qwen2_moe",   R"({"num_local_experts": 8, "intermediate_size": 0})"                             },
      {"gemma3_text", R"({"sliding_window_pattern": 3, "_sliding_window_pattern": 3})"                  },
      {"gemma3_text", R"({"sliding_window_pattern": 2, "layer_types":
                          ["sliding_attention", "full_attention", "sliding_attention"]})"                                   },
      {"gpt_neox",    R"({"rotary_pct": 0.5, "rope_parameters": {"partial_rotary_factor": 0.5}})"       },
      {"t5",          R"({"feed_forward_proj": "gated-gelu", "is_gated_act": true,
                          "dense_act_fn": "gelu_new"})"                      },
      {"t5",          R"({"feed_forward_proj": "gated-swish", "dense_act_fn": "silu"})"                 },
      {"t5",          R"({"hidden_size": 16, "num_hidden_layers": 3, "head_dim": 4})"                   },
      {"bert",        R"({"add_pooling_layer": true, "is_causal": false})"                              },
      {"bert",        R"({"architectures": ["BertForSequenceClassification"], "num_labels": 2,
                          "id2label": {"0": "a", "1": "b"}, "label2id": {"a": 1}})"          },
      {"bert",        R"({"id2label": 3})"                                                              },
      {"llama",       R"({"architectures": ["LlamaModel", "LlamaModel"]})"                              },
  };
  for (const Harmless& row : kRows) {
    SCOPED_TRACE(row.fields);
    EXPECT_EQ(error_of(config(row.model_type, row.fields)), "no error");
  }
}

TEST(Restated, TwoNamesOfOneSize) {
  constexpr Row kRows[] = {
      {"gpt2",      R"({"hidden_size": 32})",
       "hidden_size: expected 16, as model_type 'gpt2' and the other fields say, got 32"         },
      {"gpt2",      R"({"n_ctx": 64})",
       "n_ctx: expected 32, as model_type 'gpt2' and the other fields say, got 64"               },
      {"gpt2",      R"({"intermediate_size": 48})",
       "intermediate_size: expected 64, as model_type 'gpt2' and the other fields say, got 48"   },
      {"gpt2",      R"({"num_key_value_heads": 2})",
       "num_key_value_heads: expected 4, as model_type 'gpt2' and the other fields say, got 2"   },
      {"gpt2",      R"({"num_hidden_layers": "3"})",
       "num_hidden_layers: expected 3, as model_type 'gpt2' and the other fields say, got '3'"   },
      {"t5",        R"({"head_dim": 8})",
       "head_dim: expected 4, as model_type 't5' and the other fields say, got 8"                },
      {"llama",     R"({"hidden_activation": "gelu"})",
       "hidden_activation: expected silu, as model_type 'llama' and the other fields say, got "
       "'gelu'"                                                                                  },
      {"mixtral",   R"({"num_experts": 4})",
       "num_experts: expected num_local_experts = 8, another name of the same, got 4"            },
      {"qwen3_moe", R"({"num_local_experts": 0})",
       "num_local_experts: expected num_experts = 8, another name of the same, got 0"            },
      {"gemma2",    R"({"sliding_window_pattern": 2, "_sliding_window_pattern": 3})",
       "_sliding_window_pattern: expected sliding_window_pattern = 2, another name of the same, "
       "got 3"                                                                                   },
      {"mixtral",   R"({"decoder_sparse_step": 2})",
       "decoder_sparse_step: expected 1, as model_type 'mixtral' and the other fields say, got 2"},
  };
  expect_refused(kRows);
}

TEST(Restated, WhatTheFamilyFixes) {
  constexpr Row kRows[] = {
      {"gpt2",     R"({"attention_bias": false})",
       "attention_bias: expected true, as model_type 'gpt2' and the other fields say, got false"},
      {"gpt2",     R"({"use_bias": false})",
       "use_bias: expected true, as model_type 'gpt2' and the other fields say, got false"      },
      {"gpt2",     R"({"mlp_bias": false})",
       "mlp_bias: expected true, as model_type 'gpt2' and the other fields say, got false"      },
      {"gpt2",     R"({"attention_bias": "no"})",
       "attention_bias: expected true, as model_type 'gpt2' and the other fields say, got 'no'" },
      {"bert",     R"({"bias": false})",
       "bias: expected true, as model_type 'bert' and the other fields say, got false"          },
      {"gpt_neox", R"({"mlp_bias": false, "rotary_pct": 0.5})",
       "mlp_bias: expected true, as model_type 'gpt_neox' and the other fields say, got false"  },
      {"opt",      R"({"bias": false})",
       "bias: expected true, as model_type 'opt' and the other fields say, got false"           },
      {"qwen2",    R"({"attention_bias": false})",
       "attention_bias: expected no such field (biases: q true, k true, v true, o false, "
       "feed-forward false), as model_type 'qwen2' and the other fields say, got false"         },
      {"qwen3",    R"({"qk_norm": false})",
       "qk_norm: expected true, as model_type 'qwen3' and the other fields say, got false"      },
      {"qwen3",    R"({"use_qk_norm": false})",
       "use_qk_norm: expected true, as model_type 'qwen3' and the other fields say, got false"  },
      {"llama",    R"({"qk_norm": true})",
       "qk_norm: expected false, as model_type 'llama' and the other fields say, got true"      },
      {"llama",    R"({"is_causal": false})",
       "is_causal: expected true, as model_type 'llama' and the other fields say, got false"    },
      {"llama",    R"({"use_rope": false})",
       "use_rope: expected true, as model_type 'llama' and the other fields say, got false"     },
      {"llama",    R"({"scale_attn_weights": false})",
       "scale_attn_weights: expected true, as model_type 'llama' and the other fields say, got "
       "false"                                                                                  },
      {"gemma2",   R"({"scale_embeddings": false})",
       "scale_embeddings: expected true, as model_type 'gemma2' and the other fields say, got "
       "false"                                                                                  },
      {"llama",    R"({"is_gated_act": false})",
       "is_gated_act: expected true, as model_type 'llama' and the other fields say, got false" },
      {"mixtral",  R"({"use_moe": false})",
       "use_moe: expected true, as model_type 'mixtral' and the other fields say, got false"    },
      {"mixtral",  R"({"norm_topk_prob": false})",
       "norm_topk_prob: expected true, as model_type 'mixtral' and the other fields say, got "
       "false"                                                                                  },
      {"bert",     R"({"architectures": ["BertForSequenceClassification"],
                       "add_pooling_layer": false})",
       "add_pooling_layer: expected true, as model_type 'bert' and the other fields say, got "
       "false"                                                                                  },
      {"llama",    R"({"use_sliding_window": true})",
       "use_sliding_window: expected false, since model_type 'llama' has no window, got true"   },
      {"llama",    R"({"layer_types": ["full_attention", "sliding_attention", "full_attention"]})",
       "layer_types[1]: expected full_attention, since there is no sliding_window, got "
       "'sliding_attention'"                                                                    },
  };
  expect_refused(kRows);
}

TEST(Restated, FieldsOfOneReaderThatContradictEachOther) {
  constexpr Row kRows[] = {
      {"t5",          R"({"feed_forward_proj": "gated-gelu", "is_gated_act": false})",
       "is_gated_act: expected true, as feed_forward_proj = 'gated-gelu' says, got false"                                                             },
      {"t5",          R"({"feed_forward_proj": "relu", "is_gated_act": true})",
       "is_gated_act: expected false, as feed_forward_proj = 'relu' says, got true"                                                                   },
      {"t5",          R"({"feed_forward_proj": "gated-gelu", "dense_act_fn": "relu"})",
       "dense_act_fn: expected gelu_new, as feed_forward_proj = 'gated-gelu' says, got 'relu'"                                                        },
      {"gpt_neox",    R"({"rotary_pct": 0.5, "rope_parameters": {"partial_rotary_factor": 0.25}})",
       "rope_parameters.partial_rotary_factor: expected 0.5, as rotary_pct says, got 0.25"                                                            },
      {"gpt_neox",    R"({"rotary_pct": 0.25, "rope_parameters": {"rotary_pct": 0.5}})",
       "rope_parameters.rotary_pct: expected 0.25, as rotary_pct says, got 0.5"                                                                       },
      {"llama",       R"({"rope_scaling": {"rotary_pct": 0.5}})",
       "rope_scaling.rotary_pct: expected 1, the share of every llama, got 0.5"                                                                       },
      {"llama",       R"({"rope_parameters": {"rotary_dim": 16, "rope_type": "default"}})",
       "rope_parameters.rotary_dim: expected partial_rotary_factor, the rotated share of a head, "
       "got 16"                                                                                                                                       },
      {"gpt_neox",    R"({"rotary_pct": 0.5, "partial_rotary_factor": 1.0})",
       "rotary_pct: expected 1, as partial_rotary_factor says, got 0.5"                                                                               },
      {"phi3",        R"({"rope_parameters": {"full_attention": {"partial_rotary_factor": 0.5},
                                             "partial_rotary_factor": 1}})",
       "rope_parameters.full_attention.partial_rotary_factor: expected 1, as "
       "rope_parameters.partial_rotary_factor says, got 0.5"                                                                                          },
      {"llama",       R"({"partial_rotary_factor": 0.5})",
       "partial_rotary_factor: expected 1, the share of every llama, got 0.5"                                                                         },
      {"qwen3",       R"({"rope_parameters": {"partial_rotary_factor": 0.5}})",
       "rope_parameters.partial_rotary_factor: expected 1, the share of every qwen3, got 0.5"                                                         },
      {"llama",       R"({"rope_parameters": 3})",                                                    "rope_parameters: expected a JSON object, got 3"},
      {"bert",        R"({"architectures": ["BertForTokenClassification"], "num_labels": 9,
                          "id2label": {"0": "a"}})",
       "num_labels: expected 1, the entries of id2label, got 9"                                                                                       },
      {"bert",        R"({"architectures": ["BertForTokenClassification"], "id2label": ["a", "b"]})",
       "id2label: expected an object with an entry for each label, got an array"                                                                      },
      {"llama",       R"({"architectures": ["LlamaForTokenClassification"],
                          "label2id": {"a": 0, "b": 1, "c": 2}})",
       "label2id: expected at most 2 entries, one a label, got 3"                                                                                     },
      {"gemma3_text", R"({"sliding_window_pattern": 3, "layer_types":
                          ["sliding_attention", "full_attention", "sliding_attention"]})",
       "layer_types[1]: expected sliding_attention, as sliding_window_pattern = 3 says, got "
       "'full_attention'"                                                                                                                             },
      {"qwen2",       R"({"use_sliding_window": true, "sliding_window": 4, "max_window_layers": 3,
                          "layer_types": ["sliding_attention", "full_attention", "full_attention"]})",
       "layer_types[0]: expected full_attention, as max_window_layers = 3 says, got "
       "'sliding_attention'"                                                                                                                          },
      {"llama",       R"({"architectures": ["LlamaForCausalLM", "LlamaModel"]})",
       "architectures[1]: expected one class, 'LlamaForCausalLM', got 'LlamaModel'"                                                                   },
      {"gemma3",      R"({"tie_word_embeddings": true, "text_config": {"num_hidden_layers": 2,
                          "tie_word_embeddings": false}})",
       "text_config.tie_word_embeddings: expected true, as tie_word_embeddings beside text_config "
       "says, got false"                                                                                                                              },
      {"gemma3",      R"({"text_config": {"model_type": "llama"}})",
       "text_config.model_type: expected gemma3_text, got 'llama'"                                                                                    },
  };
  expect_refused(kRows);
}

TEST(Restated, ValuesThatNoModelHas) {
  constexpr Row kRows[] = {
      {"qwen3_moe", R"({"intermediate_size": "wide"})",
       "intermediate_size: expected a whole number of 0 ... 1099511627776, got 'wide'"            },
      {"qwen2_moe", R"({"intermediate_size": -8})",
       "intermediate_size: expected a whole number of 0 ... 1099511627776, got -8"                },
      {"gemma2",    R"({"attn_logit_softcapping": -50})",
       "attn_logit_softcapping: expected a number above 0, or null for no cap, got -50"           },
      {"gemma2",    R"({"final_logit_softcapping": 0.0})",
       "final_logit_softcapping: expected a number above 0, or null for no cap, got 0"            },
      {"qwen3_moe", R"({"mlp_only_layers": [0, 3]})",
       "mlp_only_layers[1]: expected a layer of 0 ... 2, got 3"                                   },
      {"qwen3_moe", R"({"mlp_only_layers": [-1]})",
       "mlp_only_layers[0]: expected a layer of 0 ... 2, got -1"                                  },
      {"qwen2_moe", R"({"mlp_only_layers": [1, 2, 1]})",
       "mlp_only_layers[2]: expected each layer once, got 1 again"                                },
      {"llama",     R"({"head_dim": 5})",
       "head_dim: expected heads that rotate an even number of elements, got 5 of head_dim = 5"   },
      {"llama",     R"({"hidden_size": 12})",
       "hidden_size: expected heads that rotate an even number of elements, got 3 of head_dim = 3"},
      {"phi3",      R"({"rope_parameters": {"partial_rotary_factor": 0.25}})",
       "rope_parameters.partial_rotary_factor: expected a share that rotates an even number of "
       "the 4 elements of a head, got 0.25, which rotates 1"                                      },
  };
  expect_refused(kRows);
}

TEST(Restated, SwitchesThatAreHonoured) {
  const Model bare = read(config("bert", R"({"add_pooling_layer": false})"));
  EXPECT_EQ(bare.head.kind, HeadKind::kNone);
  EXPECT_EQ(bare.assumptions,
            (std::vector<std::string>{"type_vocab_size is absent: 2",
                                      "architectures is absent: BertModel, without a pooler"}));
  const auto mlp = [](const Model& model) {
    return std::get<Mlp>(model.encoder->groups.front().layer.feed_forward);
  };
  // Where feed_forward_proj is absent its two halves count.
  EXPECT_TRUE(mlp(read(config("t5", R"({"is_gated_act": true})"))).gated);
  EXPECT_EQ(mlp(read(config("t5", R"({"dense_act_fn": "silu"})"))).activation, Activation::kSilu);
  EXPECT_FALSE(mlp(read(config("mt5", R"({"is_gated_act": false})"))).gated);
}

}  // namespace
}  // namespace flopwise
