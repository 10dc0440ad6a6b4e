// Rows of Llama's relatives: gates, no learned positions, hardly a bias.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

inline constexpr Family kBaichuan = {
    .model_type = "baichuan",
    .class_name = "Baichuan",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = ""},
    .adjust = adjust_baichuan,
};

inline constexpr Family kInternlm = {
    .model_type = "internlm",
    .class_name = "InternLM",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = ""},
    .attention_bias = Bias::kFieldOrTrue,
    .attention_bias_field = "bias",
    .ignored = {"rotary"             },
};

inline constexpr Family kInternlm2 = {
    .model_type = "internlm2",
    .class_name = "InternLM2",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .attention_bias = Bias::kFieldOrTrue,
    .attention_bias_field = "bias",
};

inline constexpr Family kPanguEmbedded = {
    .model_type = "PanguEmbedded",
    .class_name = "PanguEmbedded",
    .read = read_decoder,
    .attention_bias = Bias::kFieldOrTrue,
    .attention_bias_field = "bias",
};

// intermediate_size counts gate and up together.
inline constexpr Family kQwen = {
    .model_type = "qwen",
    .class_name = "QWen",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = "kv_channels", .activation = ""},
    .d_ff_parts = 2,
    .attention_bias = Bias::kQkv,
    .adjust = adjust_qwen1,
    .ignored = {"use_logn_attn",              "use_dynamic_ntk"                        },
};

inline constexpr FieldNames kChatGlm2Names = {.layers = "num_layers",
                                              .kv_heads = "",
                                              .head_dim = "kv_channels",
                                              .d_ff = "ffn_hidden_size",
                                              .activation = "",
                                              .positions = "seq_length",
                                              .vocab = "padded_vocab_size|vocab_size"};
inline constexpr Family kChatGlm2 = {
    .model_type = "chatglm",
    .class_name = "ChatGLM",
    .read = read_decoder,
    .names = kChatGlm2Names,
    .absent = {.head_dim = 128},
    .heads = chatglm_heads,
    .rotary_share = 0.5,
    .adjust = adjust_chatglm,
    .ignored = { "apply_query_key_layer_scaling", "*softmax_in_fp32", "original_rope", "rope_ratio"},
};

inline constexpr Family kGlm = {
    .model_type = "glm",
    .class_name = "Glm",
    .read = read_decoder,
    .absent = {.kv_heads = 2, .head_dim = 128},
    .attention_bias = Bias::kQkvFieldOrFalse,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
};

inline constexpr Family kGlm4 = {
    .model_type = "glm4",
    .class_name = "Glm4",
    .read = read_decoder,
    .absent = {.kv_heads = 2, .head_dim = 128},
    .placement = NormPlacement::kSandwich,
    .attention_bias = Bias::kQkvFieldOrFalse,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
};

inline constexpr Family kCohere = {
    .model_type = "cohere",
    .class_name = "Cohere",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .norm = NormKind::kLayerNoBias,
    .parallel = true,
    .shared_norm = true,
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .adjust = adjust_cohere,
};

inline constexpr Family kCohere2 = {
    .model_type = "cohere2",
    .class_name = "Cohere2",
    .read = read_decoder,
    .norm = NormKind::kLayerNoBias,
    .parallel = true,
    .shared_norm = true,
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .window_rule = WindowRule::kAlternating,
    .window = 4096,
    .window_pattern = 4,
    .nope = NopeRule::kGlobal,
    .adjust = adjust_cohere2,
    .ignored = {"order_of_interleaved_layers", "position_embedding_type"},
};

inline constexpr Family kStablelm = {
    .model_type = "stablelm",
    .class_name = "StableLm",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .norm = NormKind::kLayer,
    .attention_bias = Bias::kQkvFieldOrFalse,
    .attention_bias_field = "use_qkv_bias",
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .adjust = adjust_stablelm,
};

inline constexpr Family kStablelmEpoch = {
    .model_type = "stablelm_epoch",
    .class_name = "StableLMEpoch",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .norm = NormKind::kLayer,
    .attention_bias = Bias::kQkvFieldOrFalse,
    .attention_bias_field = "use_qkv_bias",
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .ignored = {"rotary_scaling_factor"},
};

inline constexpr Family kOlmo = {
    .model_type = "olmo",
    .class_name = "Olmo",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .norm = NormKind::kNoParams,
    .attention_bias = Bias::kFieldOrFalse,
    .adjust = adjust_olmo,
};

inline constexpr Family kOlmo2 = {
    .model_type = "olmo2",
    .class_name = "Olmo2",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .placement = NormPlacement::kPostOnly,
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kFullWidth,
};

inline constexpr Family kOlmo3 = {
    .model_type = "olmo3",
    .class_name = "Olmo3",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .placement = NormPlacement::kPostOnly,
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kFullWidth,
    .window_rule = WindowRule::kAlternating,
    .window = 4096,
    .window_pattern = 4,
};

inline constexpr Family kOlmoe = {
    .model_type = "olmoe",
    .class_name = "Olmoe",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kFullWidth,
    .moe = MoeRule::kAll,
    .router = RouterScore::kSoftmaxThenTopK,
    .adjust = adjust_olmo,
};

inline constexpr Family kExaone4 = {
    .model_type = "exaone4",
    .class_name = "Exaone4",
    .read = read_decoder,
    .placement = NormPlacement::kPostOnly,
    .qk_norm = QkNorm::kPerHead,
    .window_rule = WindowRule::kAlternating,
    .window = 4096,
    .window_pattern = 4,
    .nope = NopeRule::kGlobal,
};

inline constexpr Family kSmollm3 = {
    .model_type = "smollm3",
    .class_name = "SmolLM3",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .absent = {.kv_heads = 4},
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .nope = NopeRule::kListed,
};

inline constexpr Family kGranite = {
    .model_type = "granite",
    .class_name = "Granite",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .adjust = adjust_granite,
};

inline constexpr Family kGraniteMoe = {
    .model_type = "granitemoe",
    .class_name = "GraniteMoe",
    .read = read_decoder,
    .names = {.head_dim = "", .experts = "num_local_experts"},
    .attention_bias = Bias::kFieldOrFalse,
    .moe = MoeRule::kAll,
    .adjust = adjust_granite,
};

inline constexpr Family kMinicpm = {
    .model_type = "minicpm",
    .class_name = "MiniCPM",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .adjust = adjust_minicpm,
    .ignored = {"mup_denominator"},
};

// Latent attention in a MiniCPM.
inline constexpr Family kMinicpm3 = {
    .model_type = "minicpm3",
    .class_name = "MiniCPM3",
    .read = read_decoder,
    .tied = true,
    .latent = true,
    .absent_latent =
        {.query_rank = 768, .kv_rank = 256, .nope_dim = 64, .rope_dim = 32, .value_dim = 0},
    .adjust = adjust_minicpm,
    .ignored = {"mup_denominator"  },
};

inline constexpr Family kPhimoe = {
    .model_type = "phimoe",
    .class_name = "PhiMoE",
    .read = read_decoder,
    .names = {.experts = "num_local_experts"},
    .norm = NormKind::kLayer,
    .attention_bias = Bias::kFieldOrFalse,
    .window_rule = WindowRule::kAll,
    .moe = MoeRule::kAll,
    .router = RouterScore::kSoftmaxThenTopK,
    .adjust = adjust_phimoe,
};

inline constexpr FieldNames kDbrxNames = {.d_model = "d_model",
                                          .layers = "n_layers",
                                          .heads = "n_heads",
                                          .kv_heads = "attn_config.kv_n_heads",
                                          .head_dim = "",
                                          .d_ff = "ffn_config.ffn_hidden_size",
                                          .activation = "ffn_config.ffn_act_fn.name",
                                          .positions = "max_seq_len",
                                          .experts = "ffn_config.moe_num_experts",
                                          .active_experts = "ffn_config.moe_top_k"};
inline constexpr IgnoredFields kDbrxIgnored = {
    "attn_config.rope_theta", "attn_config.model_type",    "attn_config.attn_pdrop",
    "ffn_config.model_type",  "ffn_config.moe_jitter_eps", "ffn_config.moe_loss_weight"};
inline constexpr Family kDbrx = {
    .model_type = "dbrx",
    .class_name = "Dbrx",
    .read = read_decoder,
    .names = kDbrxNames,
    .absent = {.kv_heads = 1},
    .nested = { "attn_config", "ffn_config"},
    .norm = NormKind::kLayerNoBias,
    .moe = MoeRule::kAll,
    .router = RouterScore::kSoftmaxThenTopK,
    .renormalises = true,
    .adjust = adjust_dbrx,
    .ignored = kDbrxIgnored,
};

inline constexpr Family kGrok1 = {
    .model_type = "grok-1",
    .class_name = "Grok1Model",
    .read = read_decoder,
    .names = {.head_dim = "", .activation = ""},
    .placement = NormPlacement::kSandwich,
    .activation = "gelu",
    .tied = true,
    .moe = MoeRule::kAll,
    .router = RouterScore::kSoftmaxThenTopK,
    .adjust = adjust_grok1,
};

}  // namespace flopwise
