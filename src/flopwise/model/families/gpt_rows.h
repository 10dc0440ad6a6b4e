// Rows of the GPT lineage: layer norms, feed-forwards of two matrices, mostly with biases.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

inline constexpr FieldNames kGptNames = {.d_model = "n_embd",
                                         .layers = "n_layer",
                                         .heads = "n_head",
                                         .kv_heads = "",
                                         .head_dim = "",
                                         .d_ff = "n_inner",
                                         .activation = "activation_function",
                                         .positions = "n_positions"};

inline constexpr Family kGptj = {
    .model_type = "gptj",
    .class_name = "GPTJ",
    .read = read_decoder,
    .names = kGptNames,
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .parallel = true,
    .shared_norm = true,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .head_bias = true,
    .rotary_dim = 64,
    .adjust = adjust_gptj,
    .ignored = {"summary_*"},
};

inline constexpr Family kCodegen = renamed(kGptj, "codegen", "CodeGen");

inline constexpr Family kGptBigcode = {
    .model_type = "gpt_bigcode",
    .class_name = "GPTBigCode",
    .read = read_decoder,
    .names = kGptNames,
    .absent = {.positions = 1024  },
    .norm = NormKind::kLayer,
    .activation = "gelu_pytorch_tanh",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .position = PositionKind::kNone,
    .learned_positions = true,
    .tied = true,
    .adjust = adjust_gpt_bigcode,
    .ignored = { "summary_*", "*softmax_in_fp32", "pre_allocate_kv_cache", "inference_runner"},
};

inline constexpr FieldNames kGptNeoNames = {.layers = "num_layers",
                                            .heads = "num_heads",
                                            .kv_heads = "",
                                            .head_dim = "",
                                            .activation = "activation_function"};
inline constexpr Family kGptNeo = {
    .model_type = "gpt_neo",
    .class_name = "GPTNeo",
    .read = read_decoder,
    .names = kGptNeoNames,
    .absent = {.positions = 2048  },
    .norm = NormKind::kLayer,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .position = PositionKind::kNone,
    .learned_positions = true,
    .tied = true,
    .window_rule = WindowRule::kLocal,
    .adjust = adjust_gpt_neo,
    .ignored = { "summary_*", "attention_layers"},
};

inline constexpr Family kGptNeoxReward = {
    .model_type = "gpt_neox_reward_model",
    .class_name = "GPTNeoXRewardModel",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = ""},
    .heads = reward_heads,
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .gated = false,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kFieldOrTrue,
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .adjust = adjust_reward_model,
};

inline constexpr FieldNames kBloomNames = {.d_model = "hidden_size|n_embed",
                                           .layers = "n_layer|num_hidden_layers",
                                           .heads = "n_head|num_attention_heads",
                                           .kv_heads = "",
                                           .head_dim = "",
                                           .d_ff = "",
                                           .activation = "",
                                           .positions = "seq_length"};
inline constexpr Family kBloom = {
    .model_type = "bloom",
    .class_name = "Bloom",
    .read = read_decoder,
    .names = kBloomNames,
    .norm = NormKind::kLayer,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .position = PositionKind::kAlibi,
    .tied = true,
    .adjust = adjust_bloom,
    .ignored = {"offset_alibi", "*softmax_in_fp32", "skip_bias_add*"},
};

inline constexpr FieldNames kFalconNames = {.layers = "num_hidden_layers|n_layer",
                                            .heads = "num_attention_heads|n_head",
                                            .kv_heads = "",
                                            .head_dim = "",
                                            .d_ff = "ffn_hidden_size",
                                            .activation = "activation"};
inline constexpr Family kFalcon = {
    .model_type = "falcon",
    .class_name = "Falcon",
    .read = read_decoder,
    .names = kFalconNames,
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .mlp_bias_field = "bias",
    .attention_bias_field = "bias",
    .tied = true,
    .adjust = adjust_falcon,
};

// Falcon 40B before transformers had it: the block that is new in FalconConfig, and no field says.
constexpr Family refined_web() {
  Family family = renamed(kFalcon, "RefinedWeb", "RW");
  family.adjust = adjust_refined_web;
  return family;
}
inline constexpr Family kRefinedWeb = refined_web();

// Falcon 7B and RW before that.
inline constexpr Family kRefinedWebModel = renamed(kFalcon, "RefinedWebModel", "RW");

inline constexpr FieldNames kMptNames = {.d_model = "d_model",
                                         .layers = "n_layers",
                                         .heads = "n_heads",
                                         .kv_heads = "",
                                         .head_dim = "",
                                         .d_ff = "",
                                         .activation = "",
                                         .positions = "max_seq_len"};
inline constexpr IgnoredFields kMptIgnored = {
    "attn_config.attn_impl",     "attn_config.alibi_bias_max",
    "attn_config.softmax_scale", "attn_config.attn_pdrop",
    "attn_config.model_type",    "attn_config.attn_uses_sequence_id",
    "embedding_fraction",        "init_*"};
inline constexpr Family kMpt = {
    .model_type = "mpt",
    .class_name = "MPT",
    .read = read_decoder,
    .names = kMptNames,
    .nested = {"attn_config", "ffn_config"},
    .norm = NormKind::kLayerNoBias,
    .activation = "gelu",
    .gated = false,
    .d_ff_per_d_model = 4,
    .d_ff_ratio_field = "expansion_ratio",
    .position = PositionKind::kNone,
    .tied = true,
    .adjust = adjust_mpt,
    .ignored = kMptIgnored,
};

inline constexpr Family kPhi = {
    .model_type = "phi",
    .class_name = "Phi",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .parallel = true,
    .shared_norm = true,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .head_bias = true,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
    .adjust = adjust_phi,
    .ignored = {"attention_bias"},
};

// Phi 1 and 1.5 as they first came out.
inline constexpr Family kMixformer = {
    .model_type = "mixformer-sequential",
    .class_name = "MixFormerSequential",
    .read = read_decoder,
    .names = kGptNames,
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .parallel = true,
    .shared_norm = true,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .head_bias = true,
    .rotary_dim = 32,
    .adjust = adjust_gptj,
};

inline constexpr Family kStarcoder2 = {
    .model_type = "starcoder2",
    .class_name = "Starcoder2",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .absent = {.kv_heads = 2},
    .norm = NormKind::kLayer,
    .activation = "gelu_pytorch_tanh",
    .gated = false,
    .mlp_bias = Bias::kFieldOrTrue,
    .attention_bias = Bias::kFieldOrTrue,
    .mlp_bias_field = "use_bias",
    .attention_bias_field = "use_bias",
    .tied = true,
    .window_rule = WindowRule::kAll,
    .adjust = adjust_starcoder2,
};

// Its layer norms add one to their weights, which is not counted.
inline constexpr Family kNemotron = {
    .model_type = "nemotron",
    .class_name = "Nemotron",
    .read = read_decoder,
    .norm = NormKind::kLayer,
    .activation = "relu2",
    .gated = false,
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
};

inline constexpr FieldNames kXglmNames = {.d_model = "d_model",
                                          .layers = "num_layers",
                                          .heads = "attention_heads",
                                          .kv_heads = "",
                                          .head_dim = "",
                                          .d_ff = "ffn_dim",
                                          .activation = "activation_function"};
inline constexpr Family kXglm = {
    .model_type = "xglm",
    .class_name = "XGLM",
    .read = read_decoder,
    .names = kXglmNames,
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .gated = false,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .position = PositionKind::kNone,
    .tied = true,
    .adjust = adjust_xglm,
};

inline constexpr FieldNames kChatGlm1Names = {.layers = "num_layers",
                                              .kv_heads = "",
                                              .head_dim = "",
                                              .d_ff = "inner_hidden_size",
                                              .activation = "",
                                              .positions = "max_sequence_length"};
inline constexpr Family kChatGlm1 = {
    .model_type = "chatglm",
    .class_name = "ChatGLM",
    .read = read_decoder,
    .names = kChatGlm1Names,
    .heads = chatglm_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kNormed,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .tied = true,
    .adjust = adjust_chatglm1,
    .ignored = {"position_encoding_2d"},
};

inline constexpr Family kPersimmon = {
    .model_type = "persimmon",
    .class_name = "Persimmon",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = ""},
    .norm = NormKind::kLayer,
    .activation = "relu2",
    .gated = false,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
    .adjust = adjust_persimmon,
};

constexpr Family fuyu() {
  Family family = renamed(kPersimmon, "fuyu", "Fuyu");
  family.adjust = adjust_fuyu;
  return family;
}
inline constexpr Family kFuyu = fuyu();

}  // namespace flopwise
