// The vocabulary of GGUF's metadata: architectures, keys and the fields of a config.json that they
// become. For gguf_model.cc.
#pragma once

#include <string_view>

#include "flopwise/model/families/family.h"

namespace flopwise {

// The architectures of llama.cpp (llama-arch.cpp) whose families are known, by their names there.
// `of_experts`: the model_type where expert_count says that there are some.
struct GgufArchitecture {
  std::string_view name;
  std::string_view model_type;
  std::string_view of_experts = "";
};
inline constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", "mixtral"},
    {"gpt2",       "gpt2"        },
    {"gptneox",       "gpt_neox"},
    {"opt",       "opt"            },
    {"qwen2",       "qwen2"},
    {"qwen2moe",       "qwen2_moe"         },
    {"qwen3",       "qwen3"},
    {"qwen3moe",       "qwen3_moe"      },
    {"gemma",       "gemma" },
    {"gemma2",       "gemma2"     },
    {"gemma3",       "gemma3_text" },
    {"phi3",       "phi3"       },
    {"bert",       "bert" },
    {"phi2",       "phi"       },
    {"falcon",       "falcon"},
    {"bloom",       "bloom"        },
    {"mpt",       "mpt" },
    {"gptj",       "gptj"       },
    {"starcoder",       "gpt_bigcode"},
    {"starcoder2",       "starcoder2"      },
    {"stablelm",       "stablelm"},
    {"internlm2",       "internlm2"     },
    {"command-r",       "cohere"},
    {"cohere2",       "cohere2"       },
    {"olmo",       "olmo" },
    {"olmo2",       "olmo2"      },
    {"olmoe",       "olmoe" },
    {"granite",       "granite"    },
    {"granitemoe",       "granitemoe"},
    {"smollm3",       "smollm3"       },
    {"nemotron",       "nemotron"},
    {"deepseek2",       "deepseek_v2"      },
    {"gpt-oss",       "gpt_oss"},
    {"mamba",       "mamba"        },
};

// A key behind "llama." and the field it becomes, which the family may spell in its own way.
struct GgufField {
  std::string_view key;
  std::string_view field;                            // "" where `spelling` says it
  std::string_view FieldNames::*spelling = nullptr;  // "" in a family that has no such field
  bool is_required = false;
};
inline constexpr GgufField kFields[] = {
    {"block_count",             "",                         &FieldNames::layers, true},
    {"embedding_length",                     "",                                               &FieldNames::d_model, true},
    {"attention.head_count",   "",&FieldNames::heads, true},
    {"attention.head_count_kv",                         "",                              &FieldNames::kv_heads, false},
    {"attention.key_length",       "",                                                                   &FieldNames::head_dim, false},
    {"feed_forward_length", "", &FieldNames::d_ff, true},
    {"context_length",                    "",                                              &FieldNames::positions, false},
    {"expert_count",                 "",&FieldNames::experts, false},
    {"expert_used_count",                         "num_experts_per_tok"                              },
    {"expert_feed_forward_length",        "moe_intermediate_size"                             },
    {"expert_shared_feed_forward_length",          "shared_expert_intermediate_size"              },
    {"attention.sliding_window",                    "sliding_window"                                             },
};
// Of layers that carry a state and do not attend.
inline constexpr GgufField kMambaFields[] = {
    {"block_count",        "",                  &FieldNames::layers,  true},
    {"embedding_length",   "",                  &FieldNames::d_model, true},
    {"ssm.conv_kernel",    "conv_kernel",       nullptr,              true},
    {"ssm.inner_size",     "intermediate_size", nullptr,              true},
    {"ssm.state_size",     "state_size",        nullptr,              true},
    {"ssm.time_step_rank", "time_step_rank",    nullptr,              true},
};

// Keys of one architecture: flags, factors, and sizes that no other has.
struct GgufOwnField {
  std::string_view architecture;
  std::string_view key;
  std::string_view field;
};
inline constexpr GgufOwnField kOwnFields[] = {
    {"gptneox",    "use_parallel_residual",     "use_parallel_residual"  },
    {"stablelm",   "use_parallel_residual",     "use_parallel_residual"  },
    {"gemma2",     "attn_logit_softcapping",    "attn_logit_softcapping" },
    {"gemma2",     "final_logit_softcapping",   "final_logit_softcapping"},
    {"granite",    "attention.scale",           "attention_multiplier"   },
    {"granite",    "embedding_scale",           "embedding_multiplier"   },
    {"granite",    "residual_scale",            "residual_multiplier"    },
    {"granite",    "logit_scale",               "logits_scaling"         },
    {"granitemoe", "attention.scale",           "attention_multiplier"   },
    {"granitemoe", "embedding_scale",           "embedding_multiplier"   },
    {"granitemoe", "residual_scale",            "residual_multiplier"    },
    {"granitemoe", "logit_scale",               "logits_scaling"         },
    {"command-r",  "logit_scale",               "logit_scale"            },
    {"cohere2",    "logit_scale",               "logit_scale"            },
    {"olmo",       "attention.clamp_kqv",       "clip_qkv"               },
    {"mpt",        "attention.clamp_kqv",       "attn_config.clip_qkv"   },
    {"deepseek2",  "leading_dense_block_count", "first_k_dense_replace"  },
    {"deepseek2",  "attention.q_lora_rank",     "q_lora_rank"            },
    {"deepseek2",  "attention.kv_lora_rank",    "kv_lora_rank"           },
    {"deepseek2",  "expert_shared_count",       "n_shared_experts"       },
    {"deepseek2",  "expert_weights_scale",      "routed_scaling_factor"  },
    {"deepseek2",  "expert_weights_norm",       "norm_topk_prob"         },
};

// What a family may say by a flag, and a file by a tensor of its first layer.
struct GgufFlagOfTensor {
  std::string_view architecture;
  std::string_view tensor;
  std::string_view field;
};
inline constexpr GgufFlagOfTensor kFlagsOfTensors[] = {
    {"stablelm",  "blk.0.attn_q_norm.weight", "qk_layernorm"            },
    {"command-r", "blk.0.attn_q_norm.weight", "use_qk_norm"             },
    {"falcon",    "blk.0.attn_norm_2.weight", "new_decoder_architecture"},
};

}  // namespace flopwise
