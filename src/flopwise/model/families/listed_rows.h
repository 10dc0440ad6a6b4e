// Rows of families whose layers differ one by one, by lists in their files.
#pragma once

#include "flopwise/model/families/family.h"

namespace flopwise {

// Local and global layers with heads of their own.
inline constexpr Family kMimoV2Flash = {
    .model_type = "mimo_v2_flash",
    .class_name = "MiMoV2Flash",
    .read = read_decoder,
    .absent = {.kv_heads = 4,     .head_dim = 192    },
    .attention_bias = Bias::kQkvFieldOrFalse,
    .reads_rotary_share = true,
    .rotary_share = 0.334,
    .moe = MoeRule::kFirstDense,
    .router = RouterScore::kSigmoidThenTopK,
    .list_layers = list_mimo_v2,
    .ignored = { "attention_chunk_size", "swa_rope_theta", "hybrid_block_size"},
};

inline constexpr FieldNames kStep3Names = {.kv_heads = "num_attention_groups|num_key_value_heads",
                                           .experts = "moe_num_experts|num_experts",
                                           .active_experts = "moe_top_k|num_experts_per_tok"};
inline constexpr Family kStep3p5 = {
    .model_type = "step3p5",
    .class_name = "Step3p5",
    .read = read_decoder,
    .names = kStep3Names,
    .absent = {.head_dim = 128   },
    .heads = step3_heads,
    .qk_norm = QkNorm::kPerHead,
    .list_layers = list_step3,
    .adjust = adjust_step3,
    .ignored = { "need_fp32_gate", "zero_centered", "use_rope_layers", "yarn_only_types"},
};
inline constexpr Family kStep3p7 = renamed(kStep3p5, "step3p7", "Step3p7");

inline constexpr FieldNames kHunyuanNames = {.head_dim = "head_dim|attention_head_dim",
                                             .active_experts = "moe_topk"};
inline constexpr IgnoredFields kHunyuanIgnored = {
    "vit_*",     "anyres_*",     "cla_share_factor", "dense_list",     "num_media_embeds",
    "pool_type", "mask_init_id", "skip_cls_token",   "org_vocab_size", "xdrope_section"};
inline constexpr Family kHunyuanV1Moe = {
    .model_type = "hunyuan_v1_moe",
    .class_name = "HunYuanMoEV1",
    .read = read_decoder,
    .names = kHunyuanNames,
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .list_layers = list_hunyuan,
    .adjust = adjust_hunyuan,
    .ignored = kHunyuanIgnored,
};

inline constexpr Family kNemotronNas = {
    .model_type = "nemotron-nas",
    .class_name = "DeciLM",
    .read = read_decoder,
    .names = {.kv_heads = "", .head_dim = ""},
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
    .list_layers = list_nemotron_nas,
};

}  // namespace flopwise
