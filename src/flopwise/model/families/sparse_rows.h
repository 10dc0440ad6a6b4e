// Rows of models of many small experts: latent attention, indexers, sinks, chunks.
#pragma once

#include "flopwise/model/families/family.h"
#include "flopwise/model/families/tower_rows.h"

namespace flopwise {

// The files beside DeepSeek's own code for inference have names of their own.
inline constexpr FieldNames kDeepseekNames = {
    .d_model = "hidden_size|dim",
    .layers = "num_hidden_layers|n_layers",
    .heads = "num_attention_heads|n_heads",
    .d_ff = "intermediate_size|inter_dim",
    .active_experts = "num_experts_per_tok|n_activated_experts"};

inline constexpr Family kDeepseekV2 = {
    .model_type = "deepseek_v2",
    .class_name = "DeepseekV2",
    .read = read_decoder,
    .names = kDeepseekNames,
    .moe = MoeRule::kFirstDense,
    .latent = true,
    .ignored = {"ep_size", "aux_loss_alpha", "seq_aux", "head_dim"},
};

inline constexpr Family kDeepseekV3 = {
    .model_type = "deepseek_v3",
    .class_name = "DeepseekV3",
    .read = read_decoder,
    .names = kDeepseekNames,
    .moe = MoeRule::kFirstDense,
    .router = RouterScore::kSigmoidThenTopK,
    .routed_scaling = 2.5,
    .first_dense = 3,
    .latent = true,
    .ignored = {"ep_size", "aux_loss_alpha", "seq_aux", "head_dim"},
};

// The class of DeepSeek-V3 with other sizes.
inline constexpr Family kKimiK2 = renamed(kDeepseekV3, "kimi_k2", "DeepseekV3");

inline constexpr Family with_indexer(Family row) {
  row.indexer = true;
  return row;
}
inline constexpr Family kDeepseekV32 =
    with_indexer(renamed(kDeepseekV3, "deepseek_v32", "DeepseekV32"));

inline constexpr Family kGlmMoeDsa = {
    .model_type = "glm_moe_dsa",
    .class_name = "GlmMoeDsa",
    .read = read_decoder,
    .moe = MoeRule::kFirstDense,
    .router = RouterScore::kSigmoidThenTopK,
    .routed_scaling = 2.5,
    .first_dense = 3,
    .latent = true,
    .indexer = true,
    .absent_latent = {.query_rank = 2048, .value_dim = 256},
    .ignored = {"ep_size", "head_dim", "qk_head_dim", "rope_interleave", "moe_router_dtype",
                "index_topk_freq", "index_topk_pattern", "index_skip_topk_offset",
                "index_share_for_mtp_iteration", "indexer_rope_interleave"},
};

inline constexpr Family kGlm4MoeLite = {
    .model_type = "glm4_moe_lite",
    .class_name = "Glm4MoeLite",
    .read = read_decoder,
    .moe = MoeRule::kFirstDense,
    .router = RouterScore::kSigmoidThenTopK,
    .routed_scaling = 1.8,
    .first_dense = 1,
    .latent = true,
    .absent_latent = {.query_rank = 768, .value_dim = 256},
    .ignored = {"head_dim"},
};

inline constexpr Family kGlm4Moe = {
    .model_type = "glm4_moe",
    .class_name = "Glm4Moe",
    .read = read_decoder,
    .reads_rotary_share = true,
    .rotary_share = 0.5,
    .moe = MoeRule::kFirstDense,
    .router = RouterScore::kSigmoidThenTopK,
    .first_dense = 1,
    .adjust = adjust_glm4_moe,
};

inline constexpr Family kGptOss = {
    .model_type = "gpt_oss",
    .class_name = "GptOss",
    .read = read_decoder,
    .names = {.experts = "num_local_experts|num_experts",
              .active_experts = "num_experts_per_tok|experts_per_token"},
    .absent = {.head_dim = 64},
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kFieldOrTrue,
    .window_rule = WindowRule::kAlternating,
    .window = 128,
    .window_pattern = 2,
    .moe = MoeRule::kAll,
    .adjust = adjust_gpt_oss,
    .adjust_moe = adjust_gpt_oss_moe,
    .ignored = {"swiglu_limit", "initial_context_length", "rope_ntk_*", "rope_scaling_factor"},
};

inline constexpr Family kMinimaxM2 = {
    .model_type = "minimax_m2",
    .class_name = "MiniMaxM2",
    .read = read_decoder,
    .names = {.experts = "num_local_experts"},
    .reads_rotary_share = true,
    .moe = MoeRule::kAll,
    .adjust = adjust_minimax_m2,
    .adjust_moe = adjust_minimax_m2_moe,
    .ignored = {"use_mtp", "mtp_transformer_layers", "num_mtp_modules", "shared_intermediate_size"},
};

inline constexpr Family kLlama4 = {
    .model_type = "llama4",
    .class_name = "Llama4",
    .read = read_llama4,
    .tower = &kLlama4Tower,
};

inline constexpr Family kLlama4Text = {
    .model_type = "llama4_text",
    .class_name = "Llama4",
    .read = read_llama4,
    .names = {.experts = "num_local_experts"},
    .attention_bias = Bias::kFieldOrFalse,
    .ignored = {"attn_scale", "attn_temperature_tuning", "floor_scale", "for_llm_compressor"},
};

}  // namespace flopwise
