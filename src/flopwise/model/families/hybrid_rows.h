// Rows of models whose layers carry a state.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

inline constexpr Family kMamba = {
    .model_type = "mamba",
    .class_name = "Mamba",
    .read = read_mamba,
    .tied = true,
    .ignored = {"time_step_*", "residual_in_fp32", "rescale_prenorm_residual", "use_mambapy"},
};

inline constexpr Family kJamba = {
    .model_type = "jamba",
    .class_name = "Jamba",
    .read = read_decoder,
    .names = {.head_dim = ""},
    .absent = {                   .kv_heads = 8             },
    .position = PositionKind::kNone,
    .moe = MoeRule::kAll,
    .router = RouterScore::kSoftmaxThenTopK,
    .hybrid = plan_jamba,
    .ignored = { "use_mamba_kernels",              "num_logits_to_keep"},
};

inline constexpr Family kQwen3Next = {
    .model_type = "qwen3_next",
    .class_name = "Qwen3Next",
    .read = read_decoder,
    .absent = {.head_dim = 256},
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kPerHead,
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .moe = MoeRule::kSparseWithShared,
    .renormalises = true,
    .hybrid = plan_qwen3_next,
    .adjust = adjust_qwen3_next,
    .ignored = {"mamba_ssm_dtype"},
};

// The same layers with a dense feed-forward.
constexpr Family qwen35_text() {
  Family family = with_mtp(renamed(kQwen3Next, "qwen3_5_text", "Qwen3_5"), "mtp_num_hidden_layers");
  family.moe = MoeRule::kNone;
  return family;
}
inline constexpr Family kQwen35Text = qwen35_text();
inline constexpr Family kQwen35MoeText =
    with_mtp(renamed(kQwen3Next, "qwen3_5_moe_text", "Qwen3_5Moe"), "mtp_num_hidden_layers");

inline constexpr Family kLfm2 = {
    .model_type = "lfm2",
    .class_name = "Lfm2",
    .read = read_decoder,
    .names = {.head_dim = "",         .d_ff = "block_ff_dim|intermediate_size", .activation = ""},
    .qk_norm = QkNorm::kPerHead,
    .tied = true,
    .hybrid = plan_lfm2,
    .adjust_d_ff = lfm2_d_ff,
    .ignored = { "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init",
              "conv_use_xavier_init", "use_pos_enc", "block_use_swiglu"},
};

inline constexpr Family kNemotronH = {
    .model_type = "nemotron_h",
    .class_name = "NemotronH",
    .read = read_nemotron_h,
    .ignored = {"expand", "time_step_*", "residual_in_fp32", "rescale_prenorm_residual",
                "use_mamba_kernels", "num_logits_to_keep", "chunk_size",
                "moe_shared_expert_overlap", "mamba_ssm_cache_dtype", "partial_rotary_factor",
                "rope_theta"},
};

}  // namespace flopwise
