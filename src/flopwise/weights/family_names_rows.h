// Facts for family_names_test.cc: of each family a small configuration, and the tensors that its
// checkpoint has.
#pragma once

#include "flopwise/weights/family_row.h"

namespace flopwise::made {

inline constexpr FamilyRow kFamilyRows[] = {
    {"mamba",
     R"({"model_type": "mamba", "hidden_size": 8, "state_size": 3, "num_hidden_layers": 2,
    "conv_kernel": 4, "time_step_rank": 5, "expand": 2, "vocab_size": 11,
    "tie_word_embeddings": false})",                                         R"(
backbone.embeddings.weight 11 8
backbone.layers.{0-1}.norm.weight 8
backbone.layers.{0-1}.mixer.A_log 16 3
backbone.layers.{0-1}.mixer.D 16
backbone.layers.{0-1}.mixer.conv1d.weight 16 1 4
backbone.layers.{0-1}.mixer.conv1d.bias 16
backbone.layers.{0-1}.mixer.in_proj.weight 32 8
backbone.layers.{0-1}.mixer.x_proj.weight 11 16
backbone.layers.{0-1}.mixer.dt_proj.weight 16 5
backbone.layers.{0-1}.mixer.dt_proj.bias 16
backbone.layers.{0-1}.mixer.out_proj.weight 8 16
backbone.norm_f.weight 8
lm_head.weight 11 8
)"                                                                    },
    {"jamba",
     R"({"model_type": "jamba", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_experts": 3, "num_experts_per_tok": 2,
    "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
    "expert_layer_offset": 1, "mamba_d_state": 3, "mamba_d_conv": 4, "mamba_dt_rank": 5,
    "vocab_size": 11, "tie_word_embeddings": false})",                                 R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.pre_ff_layernorm.weight 8
model.layers.0.mamba.A_log 16 3
model.layers.0.mamba.D 16
model.layers.0.mamba.conv1d.weight 16 1 4
model.layers.0.mamba.conv1d.bias 16
model.layers.0.mamba.in_proj.weight 32 8
model.layers.0.mamba.x_proj.weight 11 16
model.layers.0.mamba.dt_proj.weight 16 5
model.layers.0.mamba.dt_proj.bias 16
model.layers.0.mamba.dt_layernorm.weight 5
model.layers.0.mamba.b_layernorm.weight 3
model.layers.0.mamba.c_layernorm.weight 3
model.layers.0.mamba.out_proj.weight 8 16
model.layers.0.feed_forward.gate_proj.weight 12 8
model.layers.0.feed_forward.up_proj.weight 12 8
model.layers.0.feed_forward.down_proj.weight 8 12
model.layers.1.self_attn.q_proj.weight 8 8
model.layers.1.self_attn.k_proj.weight 4 8
model.layers.1.self_attn.v_proj.weight 4 8
model.layers.1.self_attn.o_proj.weight 8 8
model.layers.1.feed_forward.router.weight 3 8
model.layers.1.feed_forward.experts.{0-2}.gate_proj.weight 12 8
model.layers.1.feed_forward.experts.{0-2}.up_proj.weight 12 8
model.layers.1.feed_forward.experts.{0-2}.down_proj.weight 8 12
model.final_layernorm.weight 8
lm_head.weight 11 8
)"                                                                    },
    {"qwen3_next",
     R"({"model_type": "qwen3_next", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 8, "full_attention_interval": 2, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 3, "linear_value_head_dim": 5, "linear_conv_kernel_dim": 4,
    "vocab_size": 11, "intermediate_size": 13,
    "moe_intermediate_size": 7, "shared_expert_intermediate_size": 9, "num_experts": 3,
    "num_experts_per_tok": 2, "tie_word_embeddings": false})",
     R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.mlp.gate.weight 3 8
model.layers.{0-1}.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.down_proj.weight 8 7
model.layers.{0-1}.mlp.shared_expert.gate_proj.weight 9 8
model.layers.{0-1}.mlp.shared_expert.up_proj.weight 9 8
model.layers.{0-1}.mlp.shared_expert.down_proj.weight 8 9
model.layers.{0-1}.mlp.shared_expert_gate.weight 1 8
model.layers.0.linear_attn.in_proj_qkvz.weight 52 8
model.layers.0.linear_attn.in_proj_ba.weight 8 8
model.layers.0.linear_attn.conv1d.weight 32 1 4
model.layers.0.linear_attn.dt_bias 4
model.layers.0.linear_attn.A_log 4
model.layers.0.linear_attn.norm.weight 5
model.layers.0.linear_attn.out_proj.weight 8 20
model.layers.1.self_attn.q_proj.weight 64 8
model.layers.1.self_attn.k_proj.weight 16 8
model.layers.1.self_attn.v_proj.weight 16 8
model.layers.1.self_attn.o_proj.weight 8 32
model.layers.1.self_attn.q_norm.weight 8
model.layers.1.self_attn.k_norm.weight 8
model.norm.weight 8
lm_head.weight 11 8
mtp.fc.weight 8 16
mtp.layers.0.mlp.up_proj.weight 7 8
)",                                                                                                                                                                                                    184},
    {"qwen3_5",
     R"({"model_type": "qwen3_5", "tie_word_embeddings": false, "text_config": {"model_type": "qwen3_5_text", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 8, "full_attention_interval": 2, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
    "linear_key_head_dim": 3, "linear_value_head_dim": 5, "linear_conv_kernel_dim": 4,
    "vocab_size": 11, "intermediate_size": 13},
    "vision_config": {"depth": 2, "hidden_size": 10, "intermediate_size": 14, "num_heads": 5, "in_channels": 3,
    "patch_size": 2, "temporal_patch_size": 2, "spatial_merge_size": 2, "num_position_embeddings": 9,
    "out_hidden_size": 8, "deepstack_visual_indexes": []}})",
     R"(
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.layers.0.linear_attn.in_proj_qkv.weight 32 8
model.language_model.layers.0.linear_attn.in_proj_z.weight 20 8
model.language_model.layers.0.linear_attn.in_proj_b.weight 4 8
model.language_model.layers.0.linear_attn.in_proj_a.weight 4 8
model.language_model.layers.0.linear_attn.conv1d.weight 32 1 4
model.language_model.layers.0.linear_attn.dt_bias 4
model.language_model.layers.0.linear_attn.A_log 4
model.language_model.layers.0.linear_attn.norm.weight 5
model.language_model.layers.0.linear_attn.out_proj.weight 8 20
model.language_model.layers.1.self_attn.q_proj.weight 64 8
model.language_model.layers.1.self_attn.k_proj.weight 16 8
model.language_model.layers.1.self_attn.v_proj.weight 16 8
model.language_model.layers.1.self_attn.o_proj.weight 8 32
model.language_model.layers.1.self_attn.q_norm.weight 8
model.language_model.layers.1.self_attn.k_norm.weight 8
model.language_model.norm.weight 8
lm_head.weight 11 8
model.visual.patch_embed.proj.weight 10 3 2 2 2
model.visual.patch_embed.proj.bias 10
model.visual.pos_embed.weight 9 10
model.visual.blocks.{0-1}.norm1.weight 10
model.visual.blocks.{0-1}.norm1.bias 10
model.visual.blocks.{0-1}.norm2.weight 10
model.visual.blocks.{0-1}.norm2.bias 10
model.visual.blocks.{0-1}.attn.qkv.weight 30 10
model.visual.blocks.{0-1}.attn.qkv.bias 30
model.visual.blocks.{0-1}.attn.proj.weight 10 10
model.visual.blocks.{0-1}.attn.proj.bias 10
model.visual.blocks.{0-1}.mlp.linear_fc1.weight 14 10
model.visual.blocks.{0-1}.mlp.linear_fc1.bias 14
model.visual.blocks.{0-1}.mlp.linear_fc2.weight 10 14
model.visual.blocks.{0-1}.mlp.linear_fc2.bias 10
model.visual.merger.norm.weight 10
model.visual.merger.norm.bias 10
model.visual.merger.linear_fc1.weight 40 40
model.visual.merger.linear_fc1.bias 40
model.visual.merger.linear_fc2.weight 8 40
model.visual.merger.linear_fc2.bias 8
)"},
    {"lfm2",
     R"({"model_type": "lfm2", "hidden_size": 8, "intermediate_size": 12, "block_auto_adjust_ff_dim": false,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "full_attn_idxs": [1], "conv_L_cache": 3, "vocab_size": 11, "tie_word_embeddings": true})",
     R"(
model.embed_tokens.weight 11 8
model.embedding_norm.weight 8
model.layers.{0-1}.operator_norm.weight 8
model.layers.{0-1}.ffn_norm.weight 8
model.layers.{0-1}.feed_forward.w1.weight 12 8
model.layers.{0-1}.feed_forward.w3.weight 12 8
model.layers.{0-1}.feed_forward.w2.weight 8 12
model.layers.0.conv.conv.weight 8 1 3
model.layers.0.conv.in_proj.weight 24 8
model.layers.0.conv.out_proj.weight 8 8
model.layers.1.self_attn.q_proj.weight 8 8
model.layers.1.self_attn.k_proj.weight 4 8
model.layers.1.self_attn.v_proj.weight 4 8
model.layers.1.self_attn.out_proj.weight 8 8
model.layers.1.self_attn.q_layernorm.weight 2
model.layers.1.self_attn.k_layernorm.weight 2
)"                                                                                               },
    {"nemotron_h",
     R"({"model_type": "nemotron_h", "hidden_size": 8, "intermediate_size": 9,
    "hybrid_override_pattern": "M-*E", "num_hidden_layers": 4, "mamba_num_heads": 4,
    "mamba_head_dim": 3, "n_groups": 2, "ssm_state_size": 5, "conv_kernel": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6, "n_routed_experts": 3,
    "num_experts_per_tok": 2, "moe_intermediate_size": 7, "n_shared_experts": 1,
    "moe_shared_expert_intermediate_size": 6, "moe_latent_size": 5, "vocab_size": 11,
    "tie_word_embeddings": false})",                                                                                                                R"(
backbone.embeddings.weight 11 8
backbone.layers.{0-3}.norm.weight 8
backbone.layers.0.mixer.A_log 4
backbone.layers.0.mixer.D 4
backbone.layers.0.mixer.dt_bias 4
backbone.layers.0.mixer.conv1d.weight 32 1 4
backbone.layers.0.mixer.conv1d.bias 32
backbone.layers.0.mixer.in_proj.weight 48 8
backbone.layers.0.mixer.norm.weight 12
backbone.layers.0.mixer.out_proj.weight 8 12
backbone.layers.1.mixer.up_proj.weight 9 8
backbone.layers.1.mixer.down_proj.weight 8 9
backbone.layers.2.mixer.q_proj.weight 24 8
backbone.layers.2.mixer.k_proj.weight 12 8
backbone.layers.2.mixer.v_proj.weight 12 8
backbone.layers.2.mixer.o_proj.weight 8 24
backbone.layers.3.mixer.gate.weight 3 8
backbone.layers.3.mixer.gate.e_score_correction_bias 3
backbone.layers.3.mixer.experts.{0-2}.up_proj.weight 7 5
backbone.layers.3.mixer.experts.{0-2}.down_proj.weight 5 7
backbone.layers.3.mixer.shared_experts.up_proj.weight 6 8
backbone.layers.3.mixer.shared_experts.down_proj.weight 8 6
backbone.layers.3.mixer.fc1_latent_proj.weight 5 8
backbone.layers.3.mixer.fc2_latent_proj.weight 8 5
backbone.norm_f.weight 8
lm_head.weight 11 8
)"                                                                                                                             },
    {"mimo",
     R"({"model_type": "mimo", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_nextn_predict_layers": 1,
    "attention_bias": true, "vocab_size": 11, "tie_word_embeddings": false})",                                                                                                                      R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.layers.{0-1}.self_attn.k_proj.bias 4
model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.layers.{0-1}.self_attn.v_proj.bias 4
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
model.mtp_layers.0.input_proj.weight 8 16
model.mtp_layers.0.token_layernorm.weight 8
)",
     136},
    {"whisper",
     R"({"model_type": "whisper", "d_model": 8, "encoder_layers": 2, "decoder_layers": 1,
    "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 12,
    "decoder_ffn_dim": 14, "num_mel_bins": 5, "max_source_positions": 6, "max_target_positions": 7,
    "vocab_size": 11})",                                                                                                                         R"(
model.encoder.conv1.weight 8 5 3
model.encoder.conv1.bias 8
model.encoder.conv2.weight 8 8 3
model.encoder.conv2.bias 8
model.encoder.embed_positions.weight 6 8
model.encoder.layer_norm.weight 8
model.encoder.layer_norm.bias 8
model.encoder.layers.{0-1}.self_attn.q_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.q_proj.bias 8
model.encoder.layers.{0-1}.self_attn.k_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.v_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.v_proj.bias 8
model.encoder.layers.{0-1}.self_attn.out_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.out_proj.bias 8
model.encoder.layers.{0-1}.self_attn_layer_norm.weight 8
model.encoder.layers.{0-1}.self_attn_layer_norm.bias 8
model.encoder.layers.{0-1}.final_layer_norm.weight 8
model.encoder.layers.{0-1}.final_layer_norm.bias 8
model.encoder.layers.{0-1}.fc1.weight 12 8
model.encoder.layers.{0-1}.fc1.bias 12
model.encoder.layers.{0-1}.fc2.weight 8 12
model.encoder.layers.{0-1}.fc2.bias 8
model.decoder.embed_tokens.weight 11 8
model.decoder.embed_positions.weight 7 8
model.decoder.layer_norm.weight 8
model.decoder.layer_norm.bias 8
model.decoder.layers.0.self_attn.q_proj.weight 8 8
model.decoder.layers.0.self_attn.q_proj.bias 8
model.decoder.layers.0.self_attn.k_proj.weight 8 8
model.decoder.layers.0.self_attn.v_proj.weight 8 8
model.decoder.layers.0.self_attn.v_proj.bias 8
model.decoder.layers.0.self_attn.out_proj.weight 8 8
model.decoder.layers.0.self_attn.out_proj.bias 8
model.decoder.layers.0.self_attn_layer_norm.weight 8
model.decoder.layers.0.self_attn_layer_norm.bias 8
model.decoder.layers.0.final_layer_norm.weight 8
model.decoder.layers.0.final_layer_norm.bias 8
model.decoder.layers.0.encoder_attn.q_proj.weight 8 8
model.decoder.layers.0.encoder_attn.q_proj.bias 8
model.decoder.layers.0.encoder_attn.k_proj.weight 8 8
model.decoder.layers.0.encoder_attn.v_proj.weight 8 8
model.decoder.layers.0.encoder_attn.v_proj.bias 8
model.decoder.layers.0.encoder_attn.out_proj.weight 8 8
model.decoder.layers.0.encoder_attn.out_proj.bias 8
model.decoder.layers.0.encoder_attn_layer_norm.weight 8
model.decoder.layers.0.encoder_attn_layer_norm.bias 8
model.decoder.layers.0.fc1.weight 14 8
model.decoder.layers.0.fc1.bias 14
model.decoder.layers.0.fc2.weight 8 14
model.decoder.layers.0.fc2.bias 8
)"                                                                                                                                                                                       },
    {"clip",
     R"({"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 6,
    "text_config": {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
      "num_attention_heads": 2, "max_position_embeddings": 7, "vocab_size": 11},
    "vision_config": {"hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 2,
      "num_attention_heads": 2, "image_size": 8, "patch_size": 4, "projection_dim": 6}})",R"(
logit_scale
text_projection.weight 6 8
visual_projection.weight 6 10
text_model.embeddings.token_embedding.weight 11 8
text_model.embeddings.position_embedding.weight 7 8
text_model.final_layer_norm.weight 8
text_model.final_layer_norm.bias 8
text_model.encoder.layers.{0-1}.self_attn.q_proj.weight 8 8
text_model.encoder.layers.{0-1}.self_attn.q_proj.bias 8
text_model.encoder.layers.{0-1}.self_attn.k_proj.weight 8 8
text_model.encoder.layers.{0-1}.self_attn.k_proj.bias 8
text_model.encoder.layers.{0-1}.self_attn.v_proj.weight 8 8
text_model.encoder.layers.{0-1}.self_attn.v_proj.bias 8
text_model.encoder.layers.{0-1}.self_attn.out_proj.weight 8 8
text_model.encoder.layers.{0-1}.self_attn.out_proj.bias 8
text_model.encoder.layers.{0-1}.layer_norm1.weight 8
text_model.encoder.layers.{0-1}.layer_norm1.bias 8
text_model.encoder.layers.{0-1}.layer_norm2.weight 8
text_model.encoder.layers.{0-1}.layer_norm2.bias 8
text_model.encoder.layers.{0-1}.mlp.fc1.weight 12 8
text_model.encoder.layers.{0-1}.mlp.fc1.bias 12
text_model.encoder.layers.{0-1}.mlp.fc2.weight 8 12
text_model.encoder.layers.{0-1}.mlp.fc2.bias 8
vision_model.embeddings.class_embedding 10
vision_model.embeddings.patch_embedding.weight 10 3 4 4
vision_model.embeddings.position_embedding.weight 5 10
vision_model.pre_layrnorm.weight 10
vision_model.pre_layrnorm.bias 10
vision_model.post_layernorm.weight 10
vision_model.post_layernorm.bias 10
vision_model.encoder.layers.{0-1}.self_attn.q_proj.weight 10 10
vision_model.encoder.layers.{0-1}.self_attn.q_proj.bias 10
vision_model.encoder.layers.{0-1}.self_attn.k_proj.weight 10 10
vision_model.encoder.layers.{0-1}.self_attn.k_proj.bias 10
vision_model.encoder.layers.{0-1}.self_attn.v_proj.weight 10 10
vision_model.encoder.layers.{0-1}.self_attn.v_proj.bias 10
vision_model.encoder.layers.{0-1}.self_attn.out_proj.weight 10 10
vision_model.encoder.layers.{0-1}.self_attn.out_proj.bias 10
vision_model.encoder.layers.{0-1}.layer_norm1.weight 10
vision_model.encoder.layers.{0-1}.layer_norm1.bias 10
vision_model.encoder.layers.{0-1}.layer_norm2.weight 10
vision_model.encoder.layers.{0-1}.layer_norm2.bias 10
vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
)"},
    {"vit",
     R"({"model_type": "vit", "architectures": ["ViTModel"], "hidden_size": 10, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8, "patch_size": 4})",
     R"(
embeddings.cls_token 1 1 10
embeddings.position_embeddings 1 5 10
embeddings.patch_embeddings.projection.weight 10 3 4 4
embeddings.patch_embeddings.projection.bias 10
layernorm.weight 10
layernorm.bias 10
encoder.layer.{0-1}.attention.attention.query.weight 10 10
encoder.layer.{0-1}.attention.attention.query.bias 10
encoder.layer.{0-1}.attention.attention.key.weight 10 10
encoder.layer.{0-1}.attention.attention.key.bias 10
encoder.layer.{0-1}.attention.attention.value.weight 10 10
encoder.layer.{0-1}.attention.attention.value.bias 10
encoder.layer.{0-1}.attention.output.dense.weight 10 10
encoder.layer.{0-1}.attention.output.dense.bias 10
encoder.layer.{0-1}.intermediate.dense.weight 14 10
encoder.layer.{0-1}.intermediate.dense.bias 14
encoder.layer.{0-1}.output.dense.weight 10 14
encoder.layer.{0-1}.output.dense.bias 10
encoder.layer.{0-1}.layernorm_before.weight 10
encoder.layer.{0-1}.layernorm_before.bias 10
encoder.layer.{0-1}.layernorm_after.weight 10
encoder.layer.{0-1}.layernorm_after.bias 10
pooler.dense.weight 10 10
pooler.dense.bias 10
)"                                                                                                                                                                                                                                                                                                                 },
    {"vit classifier",
     R"({"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 10, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8, "patch_size": 4, "num_labels": 3})",
     R"(
vit.embeddings.cls_token 1 1 10
vit.embeddings.position_embeddings 1 5 10
vit.embeddings.patch_embeddings.projection.weight 10 3 4 4
vit.embeddings.patch_embeddings.projection.bias 10
vit.layernorm.weight 10
vit.layernorm.bias 10
vit.encoder.layer.{0-1}.attention.attention.query.weight 10 10
vit.encoder.layer.{0-1}.attention.attention.query.bias 10
vit.encoder.layer.{0-1}.attention.attention.key.weight 10 10
vit.encoder.layer.{0-1}.attention.attention.key.bias 10
vit.encoder.layer.{0-1}.attention.attention.value.weight 10 10
vit.encoder.layer.{0-1}.attention.attention.value.bias 10
vit.encoder.layer.{0-1}.attention.output.dense.weight 10 10
vit.encoder.layer.{0-1}.attention.output.dense.bias 10
vit.encoder.layer.{0-1}.intermediate.dense.weight 14 10
vit.encoder.layer.{0-1}.intermediate.dense.bias 14
vit.encoder.layer.{0-1}.output.dense.weight 10 14
vit.encoder.layer.{0-1}.output.dense.bias 10
vit.encoder.layer.{0-1}.layernorm_before.weight 10
vit.encoder.layer.{0-1}.layernorm_before.bias 10
vit.encoder.layer.{0-1}.layernorm_after.weight 10
vit.encoder.layer.{0-1}.layernorm_after.bias 10
classifier.weight 3 10
classifier.bias 3
)"},
    {"gemma3",
     R"({"model_type": "gemma3", "mm_tokens_per_image": 4,
    "text_config": {"model_type": "gemma3_text", "hidden_size": 8, "intermediate_size": 13,
      "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
      "vocab_size": 11},
    "vision_config": {"hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 2,
      "num_attention_heads": 2, "image_size": 8, "patch_size": 2}})",                                                                                                                         R"(
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.pre_feedforward_layernorm.weight 8
language_model.model.layers.{0-1}.post_feedforward_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_proj.weight 24 8
language_model.model.layers.{0-1}.self_attn.k_proj.weight 12 8
language_model.model.layers.{0-1}.self_attn.v_proj.weight 12 8
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 24
language_model.model.layers.{0-1}.self_attn.q_norm.weight 6
language_model.model.layers.{0-1}.self_attn.k_norm.weight 6
language_model.model.layers.{0-1}.mlp.gate_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.up_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.down_proj.weight 8 13
language_model.model.norm.weight 8
vision_tower.vision_model.embeddings.patch_embedding.weight 10 3 2 2
vision_tower.vision_model.embeddings.patch_embedding.bias 10
vision_tower.vision_model.embeddings.position_embedding.weight 16 10
vision_tower.vision_model.post_layernorm.weight 10
vision_tower.vision_model.post_layernorm.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.q_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.q_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.k_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.k_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.v_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.v_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.out_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-1}.self_attn.out_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.layer_norm1.weight 10
vision_tower.vision_model.encoder.layers.{0-1}.layer_norm1.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.layer_norm2.weight 10
vision_tower.vision_model.encoder.layers.{0-1}.layer_norm2.bias 10
vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
multi_modal_projector.mm_input_projection_weight 10 8
multi_modal_projector.mm_soft_emb_norm.weight 10
)"                                                                                                                                                                                                                                                                                                                         },
    {"gemma3, as saved since",
     R"({"model_type": "gemma3", "mm_tokens_per_image": 4,
    "text_config": {"model_type": "gemma3_text", "hidden_size": 8, "intermediate_size": 13,
      "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
      "vocab_size": 11},
    "vision_config": {"hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 2,
      "num_attention_heads": 2, "image_size": 8, "patch_size": 2}})",R"(
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.pre_feedforward_layernorm.weight 8
model.language_model.layers.{0-1}.post_feedforward_layernorm.weight 8
model.language_model.layers.{0-1}.self_attn.q_proj.weight 24 8
model.language_model.layers.{0-1}.self_attn.k_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.v_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.o_proj.weight 8 24
model.language_model.layers.{0-1}.self_attn.q_norm.weight 6
model.language_model.layers.{0-1}.self_attn.k_norm.weight 6
model.language_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.norm.weight 8
model.vision_tower.vision_model.embeddings.patch_embedding.weight 10 3 2 2
model.vision_tower.vision_model.embeddings.patch_embedding.bias 10
model.vision_tower.vision_model.embeddings.position_embedding.weight 16 10
model.vision_tower.vision_model.post_layernorm.weight 10
model.vision_tower.vision_model.post_layernorm.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.q_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.q_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.k_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.k_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.v_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.v_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.out_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-1}.self_attn.out_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.layer_norm1.weight 10
model.vision_tower.vision_model.encoder.layers.{0-1}.layer_norm1.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.layer_norm2.weight 10
model.vision_tower.vision_model.encoder.layers.{0-1}.layer_norm2.bias 10
model.vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
model.vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
model.vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
model.vision_tower.vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
model.multi_modal_projector.mm_input_projection_weight 10 8
model.multi_modal_projector.mm_soft_emb_norm.weight 10
)"},
    {"qwen2_vl",
     R"({"model_type": "qwen2_vl", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 11, "tie_word_embeddings": false,
    "vision_config": {"depth": 2, "embed_dim": 10, "hidden_size": 8, "num_heads": 5, "mlp_ratio": 3,
      "in_chans": 3, "patch_size": 2, "temporal_patch_size": 2, "spatial_merge_size": 2}})",
     R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.layers.{0-1}.self_attn.k_proj.bias 4
model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.layers.{0-1}.self_attn.v_proj.bias 4
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
visual.patch_embed.proj.weight 10 3 2 2 2
visual.merger.ln_q.weight 10
visual.merger.ln_q.bias 10
visual.merger.mlp.0.weight 40 40
visual.merger.mlp.0.bias 40
visual.merger.mlp.2.weight 8 40
visual.merger.mlp.2.bias 8
visual.blocks.{0-1}.norm1.weight 10
visual.blocks.{0-1}.norm1.bias 10
visual.blocks.{0-1}.norm2.weight 10
visual.blocks.{0-1}.norm2.bias 10
visual.blocks.{0-1}.attn.qkv.weight 30 10
visual.blocks.{0-1}.attn.qkv.bias 30
visual.blocks.{0-1}.attn.proj.weight 10 10
visual.blocks.{0-1}.attn.proj.bias 10
visual.blocks.{0-1}.mlp.fc1.weight 30 10
visual.blocks.{0-1}.mlp.fc1.bias 30
visual.blocks.{0-1}.mlp.fc2.weight 10 30
visual.blocks.{0-1}.mlp.fc2.bias 10
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                },
    {"qwen2_5_vl",
     R"({"model_type": "qwen2_5_vl", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 11, "tie_word_embeddings": false,
    "vision_config": {"depth": 2, "hidden_size": 10, "intermediate_size": 14, "num_heads": 5,
      "out_hidden_size": 8, "in_chans": 3, "patch_size": 2, "temporal_patch_size": 2,
      "spatial_merge_size": 2}})",
     R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.layers.{0-1}.self_attn.k_proj.bias 4
model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.layers.{0-1}.self_attn.v_proj.bias 4
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
visual.patch_embed.proj.weight 10 3 2 2 2
visual.merger.ln_q.weight 10
visual.merger.mlp.0.weight 40 40
visual.merger.mlp.0.bias 40
visual.merger.mlp.2.weight 8 40
visual.merger.mlp.2.bias 8
visual.blocks.{0-1}.norm1.weight 10
visual.blocks.{0-1}.norm2.weight 10
visual.blocks.{0-1}.attn.qkv.weight 30 10
visual.blocks.{0-1}.attn.qkv.bias 30
visual.blocks.{0-1}.attn.proj.weight 10 10
visual.blocks.{0-1}.attn.proj.bias 10
visual.blocks.{0-1}.mlp.gate_proj.weight 14 10
visual.blocks.{0-1}.mlp.gate_proj.bias 14
visual.blocks.{0-1}.mlp.up_proj.weight 14 10
visual.blocks.{0-1}.mlp.up_proj.bias 14
visual.blocks.{0-1}.mlp.down_proj.weight 10 14
visual.blocks.{0-1}.mlp.down_proj.bias 10
)"},
    {"qwen3_vl",
     R"({"model_type": "qwen3_vl", "tie_word_embeddings": false,
    "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 8, "intermediate_size": 13,
      "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
      "vocab_size": 11},
    "vision_config": {"depth": 2, "hidden_size": 10, "intermediate_size": 14, "num_heads": 5, "in_channels": 3,
    "patch_size": 2, "temporal_patch_size": 2, "spatial_merge_size": 2, "num_position_embeddings": 9,
    "out_hidden_size": 8, "deepstack_visual_indexes": [0, 1]}})",                                                                                                                         R"(
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.self_attn.q_proj.weight 24 8
model.language_model.layers.{0-1}.self_attn.k_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.v_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.o_proj.weight 8 24
model.language_model.layers.{0-1}.self_attn.q_norm.weight 6
model.language_model.layers.{0-1}.self_attn.k_norm.weight 6
model.language_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.norm.weight 8
lm_head.weight 11 8
model.visual.patch_embed.proj.weight 10 3 2 2 2
model.visual.patch_embed.proj.bias 10
model.visual.pos_embed.weight 9 10
model.visual.blocks.{0-1}.norm1.weight 10
model.visual.blocks.{0-1}.norm1.bias 10
model.visual.blocks.{0-1}.norm2.weight 10
model.visual.blocks.{0-1}.norm2.bias 10
model.visual.blocks.{0-1}.attn.qkv.weight 30 10
model.visual.blocks.{0-1}.attn.qkv.bias 30
model.visual.blocks.{0-1}.attn.proj.weight 10 10
model.visual.blocks.{0-1}.attn.proj.bias 10
model.visual.blocks.{0-1}.mlp.linear_fc1.weight 14 10
model.visual.blocks.{0-1}.mlp.linear_fc1.bias 14
model.visual.blocks.{0-1}.mlp.linear_fc2.weight 10 14
model.visual.blocks.{0-1}.mlp.linear_fc2.bias 10
model.visual.merger.norm.weight 10
model.visual.merger.norm.bias 10
model.visual.merger.linear_fc1.weight 40 40
model.visual.merger.linear_fc1.bias 40
model.visual.merger.linear_fc2.weight 8 40
model.visual.merger.linear_fc2.bias 8
model.visual.deepstack_merger_list.{0-1}.norm.weight 40
model.visual.deepstack_merger_list.{0-1}.norm.bias 40
model.visual.deepstack_merger_list.{0-1}.linear_fc1.weight 40 40
model.visual.deepstack_merger_list.{0-1}.linear_fc1.bias 40
model.visual.deepstack_merger_list.{0-1}.linear_fc2.weight 8 40
model.visual.deepstack_merger_list.{0-1}.linear_fc2.bias 8
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                  },
    {"qwen3_vl_moe",
     R"({"model_type": "qwen3_vl_moe", "tie_word_embeddings": false,
    "text_config": {"model_type": "qwen3_vl_moe_text", "hidden_size": 8, "intermediate_size": 13,
      "moe_intermediate_size": 7, "num_experts": 3, "num_experts_per_tok": 2,
      "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
      "vocab_size": 11},
    "vision_config": {"depth": 2, "hidden_size": 10, "intermediate_size": 14, "num_heads": 5, "in_channels": 3,
    "patch_size": 2, "temporal_patch_size": 2, "spatial_merge_size": 2, "num_position_embeddings": 9,
    "out_hidden_size": 8, "deepstack_visual_indexes": [0, 1]}})",R"(
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.self_attn.q_proj.weight 24 8
model.language_model.layers.{0-1}.self_attn.k_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.v_proj.weight 12 8
model.language_model.layers.{0-1}.self_attn.o_proj.weight 8 24
model.language_model.layers.{0-1}.self_attn.q_norm.weight 6
model.language_model.layers.{0-1}.self_attn.k_norm.weight 6
model.language_model.layers.{0-1}.mlp.gate.weight 3 8
model.language_model.layers.{0-1}.mlp.experts.gate_up_proj 3 8 14
model.language_model.layers.{0-1}.mlp.experts.down_proj 3 7 8
model.language_model.norm.weight 8
lm_head.weight 11 8
model.visual.patch_embed.proj.weight 10 3 2 2 2
model.visual.patch_embed.proj.bias 10
model.visual.pos_embed.weight 9 10
model.visual.blocks.{0-1}.norm1.weight 10
model.visual.blocks.{0-1}.norm1.bias 10
model.visual.blocks.{0-1}.norm2.weight 10
model.visual.blocks.{0-1}.norm2.bias 10
model.visual.blocks.{0-1}.attn.qkv.weight 30 10
model.visual.blocks.{0-1}.attn.qkv.bias 30
model.visual.blocks.{0-1}.attn.proj.weight 10 10
model.visual.blocks.{0-1}.attn.proj.bias 10
model.visual.blocks.{0-1}.mlp.linear_fc1.weight 14 10
model.visual.blocks.{0-1}.mlp.linear_fc1.bias 14
model.visual.blocks.{0-1}.mlp.linear_fc2.weight 10 14
model.visual.blocks.{0-1}.mlp.linear_fc2.bias 10
model.visual.merger.norm.weight 10
model.visual.merger.norm.bias 10
model.visual.merger.linear_fc1.weight 40 40
model.visual.merger.linear_fc1.bias 40
model.visual.merger.linear_fc2.weight 8 40
model.visual.merger.linear_fc2.bias 8
model.visual.deepstack_merger_list.{0-1}.norm.weight 40
model.visual.deepstack_merger_list.{0-1}.norm.bias 40
model.visual.deepstack_merger_list.{0-1}.linear_fc1.weight 40 40
model.visual.deepstack_merger_list.{0-1}.linear_fc1.bias 40
model.visual.deepstack_merger_list.{0-1}.linear_fc2.weight 8 40
model.visual.deepstack_merger_list.{0-1}.linear_fc2.bias 8
)"},
};

}  // namespace flopwise::made
