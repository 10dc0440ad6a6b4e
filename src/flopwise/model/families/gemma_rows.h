// Rows of the Gemma models: embeddings times sqrt(D), norms before and after each block.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

inline constexpr FieldNames kGemmaNames = {.activation = "hidden_activation"};
inline constexpr AbsentSizes kGemmaAbsent = {.head_dim = 256};
// A text_config is saved without the sizes that equal the class's.
inline constexpr AbsentSizes kGemma3Absent = {.d_model = 2304,
                                              .layers = 26,
                                              .heads = 8,
                                              .kv_heads = 4,
                                              .head_dim = 256,
                                              .d_ff = 9216,
                                              .positions = 131072,
                                              .vocab = 262208};

// hidden_act is in the files, but Gemma's code reads hidden_activation.
inline constexpr Family kGemma = {
    .model_type = "gemma",
    .class_name = "Gemma",
    .read = read_decoder,
    .names = kGemmaNames,
    .absent = kGemmaAbsent,
    .activation = "gelu_pytorch_tanh",
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .scaled_embedding = true,
    .ignored = {"hidden_act"},
};

inline constexpr Family kGemma2 = {
    .model_type = "gemma2",
    .class_name = "Gemma2",
    .read = read_decoder,
    .names = kGemmaNames,
    .absent = kGemmaAbsent,
    .placement = NormPlacement::kSandwich,
    .activation = "gelu_pytorch_tanh",
    .attention_bias = Bias::kFieldOrFalse,
    .tied = true,
    .scaled_embedding = true,
    .window_rule = WindowRule::kAlternating,
    .window = 4096,
    .window_pattern = 2,
    .softcap = Softcap::kOnWhenAbsent,
    .ignored = {"hidden_act", "query_pre_attn_scalar"},
};

inline constexpr Family kGemma3Text = {
    .model_type = "gemma3_text",
    .class_name = "Gemma3",
    .read = read_decoder,
    .names = kGemmaNames,
    .absent = kGemma3Absent,
    .placement = NormPlacement::kSandwich,
    .activation = "gelu_pytorch_tanh",
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kPerHead,
    .tied = true,
    .scaled_embedding = true,
    .window_rule = WindowRule::kAlternating,
    .window = 4096,
    .window_pattern = 6,
    .softcap = Softcap::kOffWhenAbsent,
    .ignored = {"hidden_act", "query_pre_attn_scalar"},
};

// Every layer type has its own share of rotated elements, said in rope_parameters.
inline constexpr Family kGemma4Text = {
    .model_type = "gemma4_text",
    .class_name = "Gemma4",
    .read = read_gemma4,
    .names = kGemmaNames,
    .absent = {.head_dim = 256},
    .placement = NormPlacement::kSandwich,
    .activation = "gelu_pytorch_tanh",
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kPerHead,
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .tied = true,
    .scaled_embedding = true,
    .window_rule = WindowRule::kAlternating,
    .window = 512,
    .window_pattern = 6,
    .softcap = Softcap::kOffWhenAbsent,
    .ignored = {"hidden_act"},
};
inline constexpr Family kGemma4 = renamed(kGemma4Text, "gemma4", "Gemma4");

}  // namespace flopwise
