// Facts for family_names_test.cc: models with towers of images or sound, and what leads from them.
#pragma once

#include "flopwise/weights/family_row.h"

namespace flopwise::made {

// The last layer and the final norm are stored and do not run.
inline constexpr FamilyRow kLlava = {"llava",
                                     R"({"model_type": "llava", "vision_feature_layer": -2,
    "text_config": {"model_type": "llama", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 3,
    "num_attention_heads": 2, "image_size": 8, "patch_size": 4}})",
                                     R"(
vision_tower.vision_model.embeddings.class_embedding 10
vision_tower.vision_model.embeddings.patch_embedding.weight 10 3 4 4
vision_tower.vision_model.embeddings.position_embedding.weight 5 10
vision_tower.vision_model.pre_layrnorm.weight 10
vision_tower.vision_model.pre_layrnorm.bias 10
vision_tower.vision_model.post_layernorm.weight 10
vision_tower.vision_model.post_layernorm.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.q_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.q_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.k_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.k_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.v_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.v_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.out_proj.weight 10 10
vision_tower.vision_model.encoder.layers.{0-2}.self_attn.out_proj.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.layer_norm1.weight 10
vision_tower.vision_model.encoder.layers.{0-2}.layer_norm1.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.layer_norm2.weight 10
vision_tower.vision_model.encoder.layers.{0-2}.layer_norm2.bias 10
vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc1.weight 14 10
vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc1.bias 14
vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc2.weight 10 14
vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc2.bias 10
multi_modal_projector.linear_1.weight 8 10
multi_modal_projector.linear_1.bias 8
multi_modal_projector.linear_2.weight 8 8
multi_modal_projector.linear_2.bias 8
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_proj.weight 8 8
language_model.model.layers.{0-1}.self_attn.k_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.v_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 8
language_model.model.layers.{0-1}.mlp.gate_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.up_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.down_proj.weight 8 13
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kLlavaSince = {"llava, as saved since",
                                          R"({"model_type": "llava", "vision_feature_layer": -2,
    "text_config": {"model_type": "llama", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 3,
    "num_attention_heads": 2, "image_size": 8, "patch_size": 4}})",
                                          R"(
model.vision_tower.vision_model.embeddings.class_embedding 10
model.vision_tower.vision_model.embeddings.patch_embedding.weight 10 3 4 4
model.vision_tower.vision_model.embeddings.position_embedding.weight 5 10
model.vision_tower.vision_model.pre_layrnorm.weight 10
model.vision_tower.vision_model.pre_layrnorm.bias 10
model.vision_tower.vision_model.post_layernorm.weight 10
model.vision_tower.vision_model.post_layernorm.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.q_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.q_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.k_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.k_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.v_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.v_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.out_proj.weight 10 10
model.vision_tower.vision_model.encoder.layers.{0-2}.self_attn.out_proj.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.layer_norm1.weight 10
model.vision_tower.vision_model.encoder.layers.{0-2}.layer_norm1.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.layer_norm2.weight 10
model.vision_tower.vision_model.encoder.layers.{0-2}.layer_norm2.bias 10
model.vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc1.weight 14 10
model.vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc1.bias 14
model.vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc2.weight 10 14
model.vision_tower.vision_model.encoder.layers.{0-2}.mlp.fc2.bias 10
model.multi_modal_projector.linear_1.weight 8 10
model.multi_modal_projector.linear_1.bias 8
model.multi_modal_projector.linear_2.weight 8 8
model.multi_modal_projector.linear_2.bias 8
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.language_model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.language_model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.language_model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.language_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kLlama4 = {"llama4 with its tower",
                                      R"({"model_type": "llama4",
    "text_config": {"model_type": "llama4_text", "hidden_size": 8, "intermediate_size": 7,
    "intermediate_size_mlp": 13, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 4, "num_local_experts": 3, "num_experts_per_tok": 1,
    "interleave_moe_layer_step": 2, "attention_chunk_size": 5, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 10,
    "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 5, "image_size": 8,
    "patch_size": 2, "pixel_shuffle_ratio": 0.5, "projector_input_dim": 9,
    "projector_output_dim": 12, "vision_output_dim": 12}})",
                                      R"(
vision_model.class_embedding 10
vision_model.positional_embedding_vlm 17 10
vision_model.patch_embedding.linear.weight 10 12
vision_model.layernorm_pre.weight 10
vision_model.layernorm_pre.bias 10
vision_model.layernorm_post.weight 10
vision_model.layernorm_post.bias 10
vision_model.model.layers.{0-1}.input_layernorm.weight 10
vision_model.model.layers.{0-1}.input_layernorm.bias 10
vision_model.model.layers.{0-1}.post_attention_layernorm.weight 10
vision_model.model.layers.{0-1}.post_attention_layernorm.bias 10
vision_model.model.layers.{0-1}.self_attn.q_proj.weight 10 10
vision_model.model.layers.{0-1}.self_attn.q_proj.bias 10
vision_model.model.layers.{0-1}.self_attn.k_proj.weight 10 10
vision_model.model.layers.{0-1}.self_attn.k_proj.bias 10
vision_model.model.layers.{0-1}.self_attn.v_proj.weight 10 10
vision_model.model.layers.{0-1}.self_attn.v_proj.bias 10
vision_model.model.layers.{0-1}.self_attn.o_proj.weight 10 10
vision_model.model.layers.{0-1}.self_attn.o_proj.bias 10
vision_model.model.layers.{0-1}.mlp.fc1.weight 40 10
vision_model.model.layers.{0-1}.mlp.fc1.bias 40
vision_model.model.layers.{0-1}.mlp.fc2.weight 10 40
vision_model.model.layers.{0-1}.mlp.fc2.bias 10
vision_model.vision_adapter.mlp.fc1.weight 9 40
vision_model.vision_adapter.mlp.fc2.weight 12 9
multi_modal_projector.linear_1.weight 8 12
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_proj.weight 16 8
language_model.model.layers.{0-1}.self_attn.k_proj.weight 8 8
language_model.model.layers.{0-1}.self_attn.v_proj.weight 8 8
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 16
language_model.model.layers.0.feed_forward.gate_proj.weight 13 8
language_model.model.layers.0.feed_forward.up_proj.weight 13 8
language_model.model.layers.0.feed_forward.down_proj.weight 8 13
language_model.model.layers.1.feed_forward.router.weight 3 8
language_model.model.layers.1.feed_forward.experts.gate_up_proj 3 8 14
language_model.model.layers.1.feed_forward.experts.down_proj 3 7 8
language_model.model.layers.1.feed_forward.shared_expert.gate_proj.weight 7 8
language_model.model.layers.1.feed_forward.shared_expert.up_proj.weight 7 8
language_model.model.layers.1.feed_forward.shared_expert.down_proj.weight 8 7
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

// Two lists of layers in the tower, each numbered from 0; layers that attend to the image.
inline constexpr FamilyRow kMllama = {"mllama",
                                      R"({"model_type": "mllama",
    "text_config": {"model_type": "mllama_text_model", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "cross_attention_layers": [1], "tie_word_embeddings": false},
    "vision_config": {"model_type": "mllama_vision_model", "hidden_size": 10,
    "intermediate_size": 14, "num_hidden_layers": 2, "num_global_layers": 2, "attention_heads": 2,
    "image_size": 8, "patch_size": 4, "max_num_tiles": 2,
    "supported_aspect_ratios": [[1, 1], [1, 2]], "intermediate_layers_indices": [0, 1],
    "vision_output_dim": 30}})",
                                      R"(
vision_model.class_embedding 10
vision_model.patch_embedding.weight 10 3 4 4
vision_model.gated_positional_embedding.gate 1
vision_model.gated_positional_embedding.embedding 5 10
vision_model.gated_positional_embedding.tile_embedding.weight 3 100
vision_model.pre_tile_positional_embedding.embedding.weight 3 20
vision_model.pre_tile_positional_embedding.gate 1
vision_model.post_tile_positional_embedding.embedding.weight 3 20
vision_model.post_tile_positional_embedding.gate 1
vision_model.layernorm_pre.weight 10
vision_model.layernorm_pre.bias 10
vision_model.layernorm_post.weight 10
vision_model.layernorm_post.bias 10
vision_model.transformer.layers.{0-1}.input_layernorm.weight 10
vision_model.transformer.layers.{0-1}.input_layernorm.bias 10
vision_model.transformer.layers.{0-1}.post_attention_layernorm.weight 10
vision_model.transformer.layers.{0-1}.post_attention_layernorm.bias 10
vision_model.transformer.layers.{0-1}.self_attn.q_proj.weight 10 10
vision_model.transformer.layers.{0-1}.self_attn.k_proj.weight 10 10
vision_model.transformer.layers.{0-1}.self_attn.v_proj.weight 10 10
vision_model.transformer.layers.{0-1}.self_attn.o_proj.weight 10 10
vision_model.transformer.layers.{0-1}.mlp.fc1.weight 14 10
vision_model.transformer.layers.{0-1}.mlp.fc1.bias 14
vision_model.transformer.layers.{0-1}.mlp.fc2.weight 10 14
vision_model.transformer.layers.{0-1}.mlp.fc2.bias 10
vision_model.global_transformer.layers.{0-1}.input_layernorm.weight 10
vision_model.global_transformer.layers.{0-1}.input_layernorm.bias 10
vision_model.global_transformer.layers.{0-1}.post_attention_layernorm.weight 10
vision_model.global_transformer.layers.{0-1}.post_attention_layernorm.bias 10
vision_model.global_transformer.layers.{0-1}.self_attn.q_proj.weight 10 10
vision_model.global_transformer.layers.{0-1}.self_attn.k_proj.weight 10 10
vision_model.global_transformer.layers.{0-1}.self_attn.v_proj.weight 10 10
vision_model.global_transformer.layers.{0-1}.self_attn.o_proj.weight 10 10
vision_model.global_transformer.layers.{0-1}.mlp.fc1.weight 14 10
vision_model.global_transformer.layers.{0-1}.mlp.fc1.bias 14
vision_model.global_transformer.layers.{0-1}.mlp.fc2.weight 10 14
vision_model.global_transformer.layers.{0-1}.mlp.fc2.bias 10
vision_model.global_transformer.layers.{0-1}.gate_attn 1
vision_model.global_transformer.layers.{0-1}.gate_ffn 1
multi_modal_projector.weight 8 30
multi_modal_projector.bias 8
language_model.model.embed_tokens.weight 19 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.mlp.gate_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.up_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.down_proj.weight 8 13
language_model.model.layers.0.self_attn.q_proj.weight 8 8
language_model.model.layers.0.self_attn.k_proj.weight 4 8
language_model.model.layers.0.self_attn.v_proj.weight 4 8
language_model.model.layers.0.self_attn.o_proj.weight 8 8
language_model.model.layers.1.cross_attn.q_proj.weight 8 8
language_model.model.layers.1.cross_attn.k_proj.weight 4 8
language_model.model.layers.1.cross_attn.v_proj.weight 4 8
language_model.model.layers.1.cross_attn.o_proj.weight 8 8
language_model.model.layers.1.cross_attn.q_norm.weight 2
language_model.model.layers.1.cross_attn.k_norm.weight 2
language_model.model.layers.1.cross_attn_attn_gate 1
language_model.model.layers.1.cross_attn_mlp_gate 1
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kInternVl = {"internvl_chat beside internlm2",
                                        R"({"model_type": "internvl_chat", "downsample_ratio": 0.5,
    "llm_config": {"model_type": "internlm2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "bias": false, "tie_word_embeddings": false},
    "vision_config": {"model_type": "intern_vit_6b", "image_size": 8, "patch_size": 2, "hidden_size": 10, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2,
    "norm_type": "layer_norm", "qk_normalization": false, "qkv_bias": true}})",
                                        R"(
vision_model.embeddings.class_embedding 1 1 10
vision_model.embeddings.patch_embedding.weight 10 3 2 2
vision_model.embeddings.patch_embedding.bias 10
vision_model.embeddings.position_embedding 1 17 10
vision_model.encoder.layers.{0-1}.ls1 10
vision_model.encoder.layers.{0-1}.ls2 10
vision_model.encoder.layers.{0-1}.norm1.weight 10
vision_model.encoder.layers.{0-1}.norm1.bias 10
vision_model.encoder.layers.{0-1}.norm2.weight 10
vision_model.encoder.layers.{0-1}.norm2.bias 10
vision_model.encoder.layers.{0-1}.attn.qkv.weight 30 10
vision_model.encoder.layers.{0-1}.attn.qkv.bias 30
vision_model.encoder.layers.{0-1}.attn.proj.weight 10 10
vision_model.encoder.layers.{0-1}.attn.proj.bias 10
vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
mlp1.0.weight 40
mlp1.0.bias 40
mlp1.1.weight 8 40
mlp1.1.bias 8
mlp1.3.weight 8 8
mlp1.3.bias 8
language_model.model.tok_embeddings.weight 11 8
language_model.model.layers.{0-1}.attention_norm.weight 8
language_model.model.layers.{0-1}.ffn_norm.weight 8
language_model.model.layers.{0-1}.attention.wqkv.weight 16 8
language_model.model.layers.{0-1}.attention.wo.weight 8 8
language_model.model.layers.{0-1}.feed_forward.w1.weight 13 8
language_model.model.layers.{0-1}.feed_forward.w3.weight 13 8
language_model.model.layers.{0-1}.feed_forward.w2.weight 8 13
language_model.model.norm.weight 8
language_model.output.weight 11 8
)"};

inline constexpr FamilyRow kInternVlNorms = {
    "internvl_chat beside qwen2, norms of queries and keys",
    R"({"model_type": "internvl_chat", "downsample_ratio": 0.5,
    "llm_config": {"model_type": "qwen2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "intern_vit_6b", "image_size": 8, "patch_size": 2, "hidden_size": 10, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2,
    "norm_type": "rms_norm", "qk_normalization": true, "qkv_bias": false}})",
    R"(
vision_model.embeddings.class_embedding 1 1 10
vision_model.embeddings.patch_embedding.weight 10 3 2 2
vision_model.embeddings.patch_embedding.bias 10
vision_model.embeddings.position_embedding 1 17 10
vision_model.encoder.layers.{0-1}.ls1 10
vision_model.encoder.layers.{0-1}.ls2 10
vision_model.encoder.layers.{0-1}.norm1.weight 10
vision_model.encoder.layers.{0-1}.norm2.weight 10
vision_model.encoder.layers.{0-1}.attn.qkv.weight 30 10
vision_model.encoder.layers.{0-1}.attn.proj.weight 10 10
vision_model.encoder.layers.{0-1}.attn.proj.bias 10
vision_model.encoder.layers.{0-1}.attn.q_norm.weight 10
vision_model.encoder.layers.{0-1}.attn.k_norm.weight 10
vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
mlp1.0.weight 40
mlp1.0.bias 40
mlp1.1.weight 8 40
mlp1.1.bias 8
mlp1.3.weight 8 8
mlp1.3.bias 8
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_proj.weight 8 8
language_model.model.layers.{0-1}.self_attn.q_proj.bias 8
language_model.model.layers.{0-1}.self_attn.k_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.k_proj.bias 4
language_model.model.layers.{0-1}.self_attn.v_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.v_proj.bias 4
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 8
language_model.model.layers.{0-1}.mlp.gate_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.up_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.down_proj.weight 8 13
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kIdefics3 = {
    "idefics3",
    R"({"model_type": "idefics3", "scale_factor": 2, "tie_word_embeddings": false,
    "text_config": {"model_type": "llama", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "idefics3_vision", "image_size": 8, "patch_size": 2, "hidden_size": 10, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2}})",
    R"(
model.vision_model.embeddings.patch_embedding.weight 10 3 2 2
model.vision_model.embeddings.patch_embedding.bias 10
model.vision_model.embeddings.position_embedding.weight 16 10
model.vision_model.post_layernorm.weight 10
model.vision_model.post_layernorm.bias 10
model.vision_model.encoder.layers.{0-1}.self_attn.q_proj.weight 10 10
model.vision_model.encoder.layers.{0-1}.self_attn.q_proj.bias 10
model.vision_model.encoder.layers.{0-1}.self_attn.k_proj.weight 10 10
model.vision_model.encoder.layers.{0-1}.self_attn.k_proj.bias 10
model.vision_model.encoder.layers.{0-1}.self_attn.v_proj.weight 10 10
model.vision_model.encoder.layers.{0-1}.self_attn.v_proj.bias 10
model.vision_model.encoder.layers.{0-1}.self_attn.out_proj.weight 10 10
model.vision_model.encoder.layers.{0-1}.self_attn.out_proj.bias 10
model.vision_model.encoder.layers.{0-1}.layer_norm1.weight 10
model.vision_model.encoder.layers.{0-1}.layer_norm1.bias 10
model.vision_model.encoder.layers.{0-1}.layer_norm2.weight 10
model.vision_model.encoder.layers.{0-1}.layer_norm2.bias 10
model.vision_model.encoder.layers.{0-1}.mlp.fc1.weight 14 10
model.vision_model.encoder.layers.{0-1}.mlp.fc1.bias 14
model.vision_model.encoder.layers.{0-1}.mlp.fc2.weight 10 14
model.vision_model.encoder.layers.{0-1}.mlp.fc2.bias 10
model.connector.modality_projection.proj.weight 8 40
model.text_model.embed_tokens.weight 11 8
model.text_model.layers.{0-1}.input_layernorm.weight 8
model.text_model.layers.{0-1}.post_attention_layernorm.weight 8
model.text_model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.text_model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.text_model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.text_model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.text_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.text_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.text_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.text_model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kGlm4v = {
    "glm4v",
    R"({"model_type": "glm4v", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "head_dim": 2, "attention_bias": true, "partial_rotary_factor": 1.0, "tie_word_embeddings": false,
    "vision_config": {"depth": 2, "hidden_size": 10, "num_heads": 5, "intermediate_size": 14,
    "out_hidden_size": 8, "image_size": 8, "patch_size": 2, "temporal_patch_size": 2,
    "spatial_merge_size": 2, "attention_bias": false}})",
    R"(
model.visual.patch_embed.proj.weight 10 3 2 2 2
model.visual.patch_embed.proj.bias 10
model.visual.embeddings.position_embedding.weight 16 10
model.visual.post_conv_layernorm.weight 10
model.visual.post_layernorm.weight 10
model.visual.blocks.{0-1}.norm1.weight 10
model.visual.blocks.{0-1}.norm2.weight 10
model.visual.blocks.{0-1}.attn.qkv.weight 30 10
model.visual.blocks.{0-1}.attn.proj.weight 10 10
model.visual.blocks.{0-1}.mlp.gate_proj.weight 8 10
model.visual.blocks.{0-1}.mlp.up_proj.weight 8 10
model.visual.blocks.{0-1}.mlp.down_proj.weight 10 8
model.visual.downsample.weight 8 10 2 2
model.visual.downsample.bias 8
model.visual.merger.proj.weight 8 8
model.visual.merger.post_projection_norm.weight 8
model.visual.merger.post_projection_norm.bias 8
model.visual.merger.gate_proj.weight 14 8
model.visual.merger.up_proj.weight 14 8
model.visual.merger.down_proj.weight 8 14
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_self_attn_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.post_mlp_layernorm.weight 8
model.language_model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.language_model.layers.{0-1}.self_attn.q_proj.bias 8
model.language_model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.language_model.layers.{0-1}.self_attn.k_proj.bias 4
model.language_model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.language_model.layers.{0-1}.self_attn.v_proj.bias 4
model.language_model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.language_model.layers.{0-1}.mlp.gate_up_proj.weight 26 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.norm.weight 8
lm_head.weight 11 8
)"};

// Blocks with norm0 and norm1, fc0 and fc1.
inline constexpr FamilyRow kKimiK25 = {"kimi_k25",
                                       R"({"model_type": "kimi_k25",
    "text_config": {"model_type": "kimi_k2", "hidden_size": 8, "intermediate_size": 13,
    "moe_intermediate_size": 7, "num_hidden_layers": 2, "first_k_dense_replace": 1,
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 5, "kv_lora_rank": 3,
    "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 2, "n_routed_experts": 3,
    "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
    "topk_method": "noaux_tc", "scoring_func": "sigmoid", "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"vt_hidden_size": 10, "vt_intermediate_size": 14,
    "vt_num_attention_heads": 5, "vt_num_hidden_layers": 2, "patch_size": 2,
    "init_pos_emb_height": 4, "init_pos_emb_width": 4, "merge_kernel_size": [2, 2],
    "mm_hidden_size": 10, "text_hidden_size": 8}})",
                                       R"(
vision_tower.patch_embed.proj.weight 10 3 2 2
vision_tower.patch_embed.proj.bias 10
vision_tower.patch_embed.pos_emb.weight 4 4 10
vision_tower.encoder.final_layernorm.weight 10
vision_tower.encoder.final_layernorm.bias 10
vision_tower.encoder.blocks.{0-1}.norm0.weight 10
vision_tower.encoder.blocks.{0-1}.norm0.bias 10
vision_tower.encoder.blocks.{0-1}.norm1.weight 10
vision_tower.encoder.blocks.{0-1}.norm1.bias 10
vision_tower.encoder.blocks.{0-1}.wqkv.weight 30 10
vision_tower.encoder.blocks.{0-1}.wqkv.bias 30
vision_tower.encoder.blocks.{0-1}.wo.weight 10 10
vision_tower.encoder.blocks.{0-1}.wo.bias 10
vision_tower.encoder.blocks.{0-1}.mlp.fc0.weight 14 10
vision_tower.encoder.blocks.{0-1}.mlp.fc0.bias 14
vision_tower.encoder.blocks.{0-1}.mlp.fc1.weight 10 14
vision_tower.encoder.blocks.{0-1}.mlp.fc1.bias 10
mm_projector.pre_norm.weight 10
mm_projector.pre_norm.bias 10
mm_projector.proj.0.weight 40 40
mm_projector.proj.0.bias 40
mm_projector.proj.2.weight 8 40
mm_projector.proj.2.bias 8
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_a_proj.weight 5 8
language_model.model.layers.{0-1}.self_attn.q_a_layernorm.weight 5
language_model.model.layers.{0-1}.self_attn.q_b_proj.weight 40 5
language_model.model.layers.{0-1}.self_attn.kv_a_proj_with_mqa.weight 7 8
language_model.model.layers.{0-1}.self_attn.kv_a_layernorm.weight 3
language_model.model.layers.{0-1}.self_attn.kv_b_proj.weight 32 3
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 8
language_model.model.layers.0.mlp.gate_proj.weight 13 8
language_model.model.layers.0.mlp.up_proj.weight 13 8
language_model.model.layers.0.mlp.down_proj.weight 8 13
language_model.model.layers.1.mlp.gate.weight 3 8
language_model.model.layers.1.mlp.gate.e_score_correction_bias 3
language_model.model.layers.1.mlp.experts.{0-2}.gate_proj.weight 7 8
language_model.model.layers.1.mlp.experts.{0-2}.up_proj.weight 7 8
language_model.model.layers.1.mlp.experts.{0-2}.down_proj.weight 8 7
language_model.model.layers.1.mlp.shared_experts.gate_proj.weight 7 8
language_model.model.layers.1.mlp.shared_experts.up_proj.weight 7 8
language_model.model.layers.1.mlp.shared_experts.down_proj.weight 8 7
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kMinicpmV = {
    "minicpmv 2.6",
    R"({"model_type": "minicpmv", "version": 2.6, "hidden_size": 128,
    "intermediate_size": 13, "num_hidden_layers": 1, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 11, "tie_word_embeddings": false, "query_num": 4,
    "image_size": 4, "patch_size": 2, "drop_vision_last_layer": false,
    "vision_config": {"model_type": "siglip", "image_size": 8, "patch_size": 2,
    "hidden_size": 10, "intermediate_size": 14, "num_hidden_layers": 2, "num_attention_heads": 2}})",
    R"(
vpm.embeddings.patch_embedding.weight 10 3 2 2
vpm.embeddings.patch_embedding.bias 10
vpm.embeddings.position_embedding.weight 16 10
vpm.post_layernorm.weight 10
vpm.post_layernorm.bias 10
vpm.encoder.layers.{0-1}.self_attn.q_proj.weight 10 10
vpm.encoder.layers.{0-1}.self_attn.q_proj.bias 10
vpm.encoder.layers.{0-1}.self_attn.k_proj.weight 10 10
vpm.encoder.layers.{0-1}.self_attn.k_proj.bias 10
vpm.encoder.layers.{0-1}.self_attn.v_proj.weight 10 10
vpm.encoder.layers.{0-1}.self_attn.v_proj.bias 10
vpm.encoder.layers.{0-1}.self_attn.out_proj.weight 10 10
vpm.encoder.layers.{0-1}.self_attn.out_proj.bias 10
vpm.encoder.layers.{0-1}.layer_norm1.weight 10
vpm.encoder.layers.{0-1}.layer_norm1.bias 10
vpm.encoder.layers.{0-1}.layer_norm2.weight 10
vpm.encoder.layers.{0-1}.layer_norm2.bias 10
vpm.encoder.layers.{0-1}.mlp.fc1.weight 14 10
vpm.encoder.layers.{0-1}.mlp.fc1.bias 14
vpm.encoder.layers.{0-1}.mlp.fc2.weight 10 14
vpm.encoder.layers.{0-1}.mlp.fc2.bias 10
resampler.query 4 128
resampler.kv_proj.weight 128 10
resampler.attn.in_proj_weight 384 128
resampler.attn.in_proj_bias 384
resampler.attn.out_proj.weight 128 128
resampler.attn.out_proj.bias 128
resampler.ln_q.weight 128
resampler.ln_q.bias 128
resampler.ln_kv.weight 128
resampler.ln_kv.bias 128
resampler.ln_post.weight 128
resampler.ln_post.bias 128
resampler.proj 128 128
llm.model.embed_tokens.weight 11 128
llm.model.layers.0.input_layernorm.weight 128
llm.model.layers.0.post_attention_layernorm.weight 128
llm.model.layers.0.self_attn.q_proj.weight 128 128
llm.model.layers.0.self_attn.q_proj.bias 128
llm.model.layers.0.self_attn.k_proj.weight 64 128
llm.model.layers.0.self_attn.k_proj.bias 64
llm.model.layers.0.self_attn.v_proj.weight 64 128
llm.model.layers.0.self_attn.v_proj.bias 64
llm.model.layers.0.self_attn.o_proj.weight 128 128
llm.model.layers.0.mlp.gate_proj.weight 13 128
llm.model.layers.0.mlp.up_proj.weight 13 128
llm.model.layers.0.mlp.down_proj.weight 128 13
llm.model.norm.weight 128
llm.lm_head.weight 11 128
)"};

inline constexpr FamilyRow kQwen2Audio = {"qwen2_audio",
                                          R"({"model_type": "qwen2_audio",
    "text_config": {"model_type": "qwen2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "audio_config": {"model_type": "qwen2_audio_encoder", "d_model": 10, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 14,
    "num_mel_bins": 5, "max_source_positions": 6}})",
                                          R"(
audio_tower.conv1.weight 10 5 3
audio_tower.conv1.bias 10
audio_tower.conv2.weight 10 10 3
audio_tower.conv2.bias 10
audio_tower.embed_positions.weight 6 10
audio_tower.layer_norm.weight 10
audio_tower.layer_norm.bias 10
audio_tower.layers.{0-1}.self_attn.q_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.q_proj.bias 10
audio_tower.layers.{0-1}.self_attn.k_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.v_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.v_proj.bias 10
audio_tower.layers.{0-1}.self_attn.out_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.out_proj.bias 10
audio_tower.layers.{0-1}.self_attn_layer_norm.weight 10
audio_tower.layers.{0-1}.self_attn_layer_norm.bias 10
audio_tower.layers.{0-1}.final_layer_norm.weight 10
audio_tower.layers.{0-1}.final_layer_norm.bias 10
audio_tower.layers.{0-1}.fc1.weight 14 10
audio_tower.layers.{0-1}.fc1.bias 14
audio_tower.layers.{0-1}.fc2.weight 10 14
audio_tower.layers.{0-1}.fc2.bias 10
multi_modal_projector.linear.weight 8 10
multi_modal_projector.linear.bias 8
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.self_attn.q_proj.weight 8 8
language_model.model.layers.{0-1}.self_attn.q_proj.bias 8
language_model.model.layers.{0-1}.self_attn.k_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.k_proj.bias 4
language_model.model.layers.{0-1}.self_attn.v_proj.weight 4 8
language_model.model.layers.{0-1}.self_attn.v_proj.bias 4
language_model.model.layers.{0-1}.self_attn.o_proj.weight 8 8
language_model.model.layers.{0-1}.mlp.gate_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.up_proj.weight 13 8
language_model.model.layers.{0-1}.mlp.down_proj.weight 8 13
language_model.model.norm.weight 8
language_model.lm_head.weight 11 8
)"};

// Two towers; rows that mark a sound, in no step.
inline constexpr FamilyRow kOmni = {
    "qwen2_5_omni",
    R"({"model_type": "qwen2_5_omni", "thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "qwen2_5_omni_vision_encoder", "depth": 2, "hidden_size": 10,
    "intermediate_size": 14, "num_heads": 5, "in_chans": 3, "patch_size": 2,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 8},
    "audio_config": {"model_type": "qwen2_5_omni_audio_encoder", "d_model": 10, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 14,
    "num_mel_bins": 5, "max_source_positions": 6,
    "output_dim": 8}}})",
    R"(
thinker.audio_tower.conv1.weight 10 5 3
thinker.audio_tower.conv1.bias 10
thinker.audio_tower.conv2.weight 10 10 3
thinker.audio_tower.conv2.bias 10
thinker.audio_tower.audio_bos_eos_token.weight 2 8
thinker.audio_tower.ln_post.weight 10
thinker.audio_tower.ln_post.bias 10
thinker.audio_tower.proj.weight 8 10
thinker.audio_tower.proj.bias 8
thinker.audio_tower.layers.{0-1}.self_attn.q_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.q_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn.k_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.v_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.v_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn.out_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.out_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn_layer_norm.weight 10
thinker.audio_tower.layers.{0-1}.self_attn_layer_norm.bias 10
thinker.audio_tower.layers.{0-1}.final_layer_norm.weight 10
thinker.audio_tower.layers.{0-1}.final_layer_norm.bias 10
thinker.audio_tower.layers.{0-1}.fc1.weight 14 10
thinker.audio_tower.layers.{0-1}.fc1.bias 14
thinker.audio_tower.layers.{0-1}.fc2.weight 10 14
thinker.audio_tower.layers.{0-1}.fc2.bias 10
thinker.visual.patch_embed.proj.weight 10 3 2 2 2
thinker.visual.merger.ln_q.weight 10
thinker.visual.merger.mlp.0.weight 40 40
thinker.visual.merger.mlp.0.bias 40
thinker.visual.merger.mlp.2.weight 8 40
thinker.visual.merger.mlp.2.bias 8
thinker.visual.blocks.{0-1}.norm1.weight 10
thinker.visual.blocks.{0-1}.norm2.weight 10
thinker.visual.blocks.{0-1}.attn.q.weight 10 10
thinker.visual.blocks.{0-1}.attn.q.bias 10
thinker.visual.blocks.{0-1}.attn.k.weight 10 10
thinker.visual.blocks.{0-1}.attn.k.bias 10
thinker.visual.blocks.{0-1}.attn.v.weight 10 10
thinker.visual.blocks.{0-1}.attn.v.bias 10
thinker.visual.blocks.{0-1}.attn.proj.weight 10 10
thinker.visual.blocks.{0-1}.attn.proj.bias 10
thinker.visual.blocks.{0-1}.mlp.gate_proj.weight 14 10
thinker.visual.blocks.{0-1}.mlp.gate_proj.bias 14
thinker.visual.blocks.{0-1}.mlp.up_proj.weight 14 10
thinker.visual.blocks.{0-1}.mlp.up_proj.bias 14
thinker.visual.blocks.{0-1}.mlp.down_proj.weight 10 14
thinker.visual.blocks.{0-1}.mlp.down_proj.bias 10
thinker.model.embed_tokens.weight 11 8
thinker.model.layers.{0-1}.input_layernorm.weight 8
thinker.model.layers.{0-1}.post_attention_layernorm.weight 8
thinker.model.layers.{0-1}.self_attn.q_proj.weight 8 8
thinker.model.layers.{0-1}.self_attn.q_proj.bias 8
thinker.model.layers.{0-1}.self_attn.k_proj.weight 4 8
thinker.model.layers.{0-1}.self_attn.k_proj.bias 4
thinker.model.layers.{0-1}.self_attn.v_proj.weight 4 8
thinker.model.layers.{0-1}.self_attn.v_proj.bias 4
thinker.model.layers.{0-1}.self_attn.o_proj.weight 8 8
thinker.model.layers.{0-1}.mlp.gate_proj.weight 13 8
thinker.model.layers.{0-1}.mlp.up_proj.weight 13 8
thinker.model.layers.{0-1}.mlp.down_proj.weight 8 13
thinker.model.norm.weight 8
thinker.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kOmniThinker = {
    "qwen2_5_omni_thinker, by itself",
    R"({"model_type": "qwen2_5_omni_thinker", "text_config": {"model_type": "qwen2_5_omni_text", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "qwen2_5_omni_vision_encoder", "depth": 2, "hidden_size": 10,
    "intermediate_size": 14, "num_heads": 5, "in_chans": 3, "patch_size": 2,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 8},
    "audio_config": {"model_type": "qwen2_5_omni_audio_encoder", "d_model": 10, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 14,
    "num_mel_bins": 5, "max_source_positions": 6,
    "output_dim": 8}})",
    R"(
audio_tower.conv1.weight 10 5 3
audio_tower.conv1.bias 10
audio_tower.conv2.weight 10 10 3
audio_tower.conv2.bias 10
audio_tower.audio_bos_eos_token.weight 2 8
audio_tower.ln_post.weight 10
audio_tower.ln_post.bias 10
audio_tower.proj.weight 8 10
audio_tower.proj.bias 8
audio_tower.layers.{0-1}.self_attn.q_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.q_proj.bias 10
audio_tower.layers.{0-1}.self_attn.k_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.v_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.v_proj.bias 10
audio_tower.layers.{0-1}.self_attn.out_proj.weight 10 10
audio_tower.layers.{0-1}.self_attn.out_proj.bias 10
audio_tower.layers.{0-1}.self_attn_layer_norm.weight 10
audio_tower.layers.{0-1}.self_attn_layer_norm.bias 10
audio_tower.layers.{0-1}.final_layer_norm.weight 10
audio_tower.layers.{0-1}.final_layer_norm.bias 10
audio_tower.layers.{0-1}.fc1.weight 14 10
audio_tower.layers.{0-1}.fc1.bias 14
audio_tower.layers.{0-1}.fc2.weight 10 14
audio_tower.layers.{0-1}.fc2.bias 10
visual.patch_embed.proj.weight 10 3 2 2 2
visual.merger.ln_q.weight 10
visual.merger.mlp.0.weight 40 40
visual.merger.mlp.0.bias 40
visual.merger.mlp.2.weight 8 40
visual.merger.mlp.2.bias 8
visual.blocks.{0-1}.norm1.weight 10
visual.blocks.{0-1}.norm2.weight 10
visual.blocks.{0-1}.attn.q.weight 10 10
visual.blocks.{0-1}.attn.q.bias 10
visual.blocks.{0-1}.attn.k.weight 10 10
visual.blocks.{0-1}.attn.k.bias 10
visual.blocks.{0-1}.attn.v.weight 10 10
visual.blocks.{0-1}.attn.v.bias 10
visual.blocks.{0-1}.attn.proj.weight 10 10
visual.blocks.{0-1}.attn.proj.bias 10
visual.blocks.{0-1}.mlp.gate_proj.weight 14 10
visual.blocks.{0-1}.mlp.gate_proj.bias 14
visual.blocks.{0-1}.mlp.up_proj.weight 14 10
visual.blocks.{0-1}.mlp.up_proj.bias 14
visual.blocks.{0-1}.mlp.down_proj.weight 10 14
visual.blocks.{0-1}.mlp.down_proj.bias 10
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
)"};

inline constexpr FamilyRow kOmniWhole = {
    "qwen2_5_omni, with the models that speak",
    R"({"model_type": "qwen2_5_omni", "talker_config": {}, "thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false},
    "vision_config": {"model_type": "qwen2_5_omni_vision_encoder", "depth": 2, "hidden_size": 10,
    "intermediate_size": 14, "num_heads": 5, "in_chans": 3, "patch_size": 2,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 8},
    "audio_config": {"model_type": "qwen2_5_omni_audio_encoder", "d_model": 10, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 14,
    "num_mel_bins": 5, "max_source_positions": 6,
    "output_dim": 8}}})",
    R"(
thinker.audio_tower.conv1.weight 10 5 3
thinker.audio_tower.conv1.bias 10
thinker.audio_tower.conv2.weight 10 10 3
thinker.audio_tower.conv2.bias 10
thinker.audio_tower.audio_bos_eos_token.weight 2 8
thinker.audio_tower.ln_post.weight 10
thinker.audio_tower.ln_post.bias 10
thinker.audio_tower.proj.weight 8 10
thinker.audio_tower.proj.bias 8
thinker.audio_tower.layers.{0-1}.self_attn.q_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.q_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn.k_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.v_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.v_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn.out_proj.weight 10 10
thinker.audio_tower.layers.{0-1}.self_attn.out_proj.bias 10
thinker.audio_tower.layers.{0-1}.self_attn_layer_norm.weight 10
thinker.audio_tower.layers.{0-1}.self_attn_layer_norm.bias 10
thinker.audio_tower.layers.{0-1}.final_layer_norm.weight 10
thinker.audio_tower.layers.{0-1}.final_layer_norm.bias 10
thinker.audio_tower.layers.{0-1}.fc1.weight 14 10
thinker.audio_tower.layers.{0-1}.fc1.bias 14
thinker.audio_tower.layers.{0-1}.fc2.weight 10 14
thinker.audio_tower.layers.{0-1}.fc2.bias 10
thinker.visual.patch_embed.proj.weight 10 3 2 2 2
thinker.visual.merger.ln_q.weight 10
thinker.visual.merger.mlp.0.weight 40 40
thinker.visual.merger.mlp.0.bias 40
thinker.visual.merger.mlp.2.weight 8 40
thinker.visual.merger.mlp.2.bias 8
thinker.visual.blocks.{0-1}.norm1.weight 10
thinker.visual.blocks.{0-1}.norm2.weight 10
thinker.visual.blocks.{0-1}.attn.q.weight 10 10
thinker.visual.blocks.{0-1}.attn.q.bias 10
thinker.visual.blocks.{0-1}.attn.k.weight 10 10
thinker.visual.blocks.{0-1}.attn.k.bias 10
thinker.visual.blocks.{0-1}.attn.v.weight 10 10
thinker.visual.blocks.{0-1}.attn.v.bias 10
thinker.visual.blocks.{0-1}.attn.proj.weight 10 10
thinker.visual.blocks.{0-1}.attn.proj.bias 10
thinker.visual.blocks.{0-1}.mlp.gate_proj.weight 14 10
thinker.visual.blocks.{0-1}.mlp.gate_proj.bias 14
thinker.visual.blocks.{0-1}.mlp.up_proj.weight 14 10
thinker.visual.blocks.{0-1}.mlp.up_proj.bias 14
thinker.visual.blocks.{0-1}.mlp.down_proj.weight 10 14
thinker.visual.blocks.{0-1}.mlp.down_proj.bias 10
thinker.model.embed_tokens.weight 11 8
thinker.model.layers.{0-1}.input_layernorm.weight 8
thinker.model.layers.{0-1}.post_attention_layernorm.weight 8
thinker.model.layers.{0-1}.self_attn.q_proj.weight 8 8
thinker.model.layers.{0-1}.self_attn.q_proj.bias 8
thinker.model.layers.{0-1}.self_attn.k_proj.weight 4 8
thinker.model.layers.{0-1}.self_attn.k_proj.bias 4
thinker.model.layers.{0-1}.self_attn.v_proj.weight 4 8
thinker.model.layers.{0-1}.self_attn.v_proj.bias 4
thinker.model.layers.{0-1}.self_attn.o_proj.weight 8 8
thinker.model.layers.{0-1}.mlp.gate_proj.weight 13 8
thinker.model.layers.{0-1}.mlp.up_proj.weight 13 8
thinker.model.layers.{0-1}.mlp.down_proj.weight 8 13
thinker.model.norm.weight 8
thinker.lm_head.weight 11 8
talker.thinker_to_talker_proj.weight 3 8
talker.model.layers.0.self_attn.q_proj.weight 5 3
token2wav.code2wav_dit_model.proj_out.bias 4
)",
    43};

// The encoder's pooler is stored and does not run.
inline constexpr FamilyRow kVisionEncoderDecoder = {"vision-encoder-decoder",
                                                    R"({"model_type": "vision-encoder-decoder",
    "encoder": {"model_type": "vit", "hidden_size": 8, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8, "patch_size": 4},
    "decoder": {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 2, "n_positions": 7,
    "vocab_size": 11, "add_cross_attention": true}})",
                                                    R"(
encoder.embeddings.cls_token 1 1 8
encoder.embeddings.position_embeddings 1 5 8
encoder.embeddings.patch_embeddings.projection.weight 8 3 4 4
encoder.embeddings.patch_embeddings.projection.bias 8
encoder.layernorm.weight 8
encoder.layernorm.bias 8
encoder.pooler.dense.weight 8 8
encoder.pooler.dense.bias 8
encoder.encoder.layer.{0-1}.attention.attention.query.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.query.bias 8
encoder.encoder.layer.{0-1}.attention.attention.key.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.key.bias 8
encoder.encoder.layer.{0-1}.attention.attention.value.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.value.bias 8
encoder.encoder.layer.{0-1}.attention.output.dense.weight 8 8
encoder.encoder.layer.{0-1}.attention.output.dense.bias 8
encoder.encoder.layer.{0-1}.intermediate.dense.weight 14 8
encoder.encoder.layer.{0-1}.intermediate.dense.bias 14
encoder.encoder.layer.{0-1}.output.dense.weight 8 14
encoder.encoder.layer.{0-1}.output.dense.bias 8
encoder.encoder.layer.{0-1}.layernorm_before.weight 8
encoder.encoder.layer.{0-1}.layernorm_before.bias 8
encoder.encoder.layer.{0-1}.layernorm_after.weight 8
encoder.encoder.layer.{0-1}.layernorm_after.bias 8
decoder.transformer.wte.weight 11 8
decoder.transformer.wpe.weight 7 8
decoder.transformer.ln_f.weight 8
decoder.transformer.ln_f.bias 8
decoder.transformer.h.{0-1}.ln_1.weight 8
decoder.transformer.h.{0-1}.ln_1.bias 8
decoder.transformer.h.{0-1}.ln_cross_attn.weight 8
decoder.transformer.h.{0-1}.ln_cross_attn.bias 8
decoder.transformer.h.{0-1}.ln_2.weight 8
decoder.transformer.h.{0-1}.ln_2.bias 8
decoder.transformer.h.{0-1}.attn.c_attn.weight 8 24
decoder.transformer.h.{0-1}.attn.c_attn.bias 24
decoder.transformer.h.{0-1}.attn.c_proj.weight 8 8
decoder.transformer.h.{0-1}.attn.c_proj.bias 8
decoder.transformer.h.{0-1}.crossattention.c_attn.weight 8 16
decoder.transformer.h.{0-1}.crossattention.c_attn.bias 16
decoder.transformer.h.{0-1}.crossattention.q_attn.weight 8 8
decoder.transformer.h.{0-1}.crossattention.q_attn.bias 8
decoder.transformer.h.{0-1}.crossattention.c_proj.weight 8 8
decoder.transformer.h.{0-1}.crossattention.c_proj.bias 8
decoder.transformer.h.{0-1}.mlp.c_fc.weight 8 32
decoder.transformer.h.{0-1}.mlp.c_fc.bias 32
decoder.transformer.h.{0-1}.mlp.c_proj.weight 32 8
decoder.transformer.h.{0-1}.mlp.c_proj.bias 8
)"};

inline constexpr FamilyRow kVisionEncoderDecoderBuffers = {
    "vision-encoder-decoder, with its masks",
    R"({"model_type": "vision-encoder-decoder",
    "encoder": {"model_type": "vit", "hidden_size": 8, "intermediate_size": 14,
    "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 8, "patch_size": 4},
    "decoder": {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 2, "n_positions": 7,
    "vocab_size": 11, "add_cross_attention": true}})",
    R"(
encoder.embeddings.cls_token 1 1 8
encoder.embeddings.position_embeddings 1 5 8
encoder.embeddings.patch_embeddings.projection.weight 8 3 4 4
encoder.embeddings.patch_embeddings.projection.bias 8
encoder.layernorm.weight 8
encoder.layernorm.bias 8
encoder.pooler.dense.weight 8 8
encoder.pooler.dense.bias 8
encoder.encoder.layer.{0-1}.attention.attention.query.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.query.bias 8
encoder.encoder.layer.{0-1}.attention.attention.key.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.key.bias 8
encoder.encoder.layer.{0-1}.attention.attention.value.weight 8 8
encoder.encoder.layer.{0-1}.attention.attention.value.bias 8
encoder.encoder.layer.{0-1}.attention.output.dense.weight 8 8
encoder.encoder.layer.{0-1}.attention.output.dense.bias 8
encoder.encoder.layer.{0-1}.intermediate.dense.weight 14 8
encoder.encoder.layer.{0-1}.intermediate.dense.bias 14
encoder.encoder.layer.{0-1}.output.dense.weight 8 14
encoder.encoder.layer.{0-1}.output.dense.bias 8
encoder.encoder.layer.{0-1}.layernorm_before.weight 8
encoder.encoder.layer.{0-1}.layernorm_before.bias 8
encoder.encoder.layer.{0-1}.layernorm_after.weight 8
encoder.encoder.layer.{0-1}.layernorm_after.bias 8
decoder.transformer.wte.weight 11 8
decoder.transformer.wpe.weight 7 8
decoder.transformer.ln_f.weight 8
decoder.transformer.ln_f.bias 8
decoder.transformer.h.{0-1}.ln_1.weight 8
decoder.transformer.h.{0-1}.ln_1.bias 8
decoder.transformer.h.{0-1}.ln_cross_attn.weight 8
decoder.transformer.h.{0-1}.ln_cross_attn.bias 8
decoder.transformer.h.{0-1}.ln_2.weight 8
decoder.transformer.h.{0-1}.ln_2.bias 8
decoder.transformer.h.{0-1}.attn.c_attn.weight 8 24
decoder.transformer.h.{0-1}.attn.c_attn.bias 24
decoder.transformer.h.{0-1}.attn.c_proj.weight 8 8
decoder.transformer.h.{0-1}.attn.c_proj.bias 8
decoder.transformer.h.{0-1}.crossattention.c_attn.weight 8 16
decoder.transformer.h.{0-1}.crossattention.c_attn.bias 16
decoder.transformer.h.{0-1}.crossattention.q_attn.weight 8 8
decoder.transformer.h.{0-1}.crossattention.q_attn.bias 8
decoder.transformer.h.{0-1}.crossattention.c_proj.weight 8 8
decoder.transformer.h.{0-1}.crossattention.c_proj.bias 8
decoder.transformer.h.{0-1}.mlp.c_fc.weight 8 32
decoder.transformer.h.{0-1}.mlp.c_fc.bias 32
decoder.transformer.h.{0-1}.mlp.c_proj.weight 32 8
decoder.transformer.h.{0-1}.mlp.c_proj.bias 8
decoder.transformer.h.{0-1}.attn.bias 1 1 7 7
decoder.transformer.h.{0-1}.attn.masked_bias
decoder.transformer.h.{0-1}.crossattention.bias 1 1 7 7
decoder.transformer.h.{0-1}.crossattention.masked_bias
decoder.lm_head.weight 11 8
)",
    288};

inline constexpr FamilyRow kFuyu = {
    "fuyu",
    R"({"model_type": "fuyu", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 11, "image_size": 8,
    "patch_size": 2, "num_channels": 3, "tie_word_embeddings": false})",
    R"(
vision_embed_tokens.weight 8 12
vision_embed_tokens.bias 8
language_model.model.embed_tokens.weight 11 8
language_model.model.layers.{0-1}.input_layernorm.weight 8
language_model.model.layers.{0-1}.input_layernorm.bias 8
language_model.model.layers.{0-1}.post_attention_layernorm.weight 8
language_model.model.layers.{0-1}.post_attention_layernorm.bias 8
language_model.model.layers.{0-1}.self_attn.query_key_value.weight 24 8
language_model.model.layers.{0-1}.self_attn.query_key_value.bias 24
language_model.model.layers.{0-1}.self_attn.dense.weight 8 8
language_model.model.layers.{0-1}.self_attn.dense.bias 8
language_model.model.layers.{0-1}.self_attn.q_layernorm.weight 4
language_model.model.layers.{0-1}.self_attn.q_layernorm.bias 4
language_model.model.layers.{0-1}.self_attn.k_layernorm.weight 4
language_model.model.layers.{0-1}.self_attn.k_layernorm.bias 4
language_model.model.layers.{0-1}.mlp.dense_h_to_4h.weight 13 8
language_model.model.layers.{0-1}.mlp.dense_h_to_4h.bias 13
language_model.model.layers.{0-1}.mlp.dense_4h_to_h.weight 8 13
language_model.model.layers.{0-1}.mlp.dense_4h_to_h.bias 8
language_model.model.final_layernorm.weight 8
language_model.model.final_layernorm.bias 8
language_model.lm_head.weight 11 8
)"};

inline constexpr FamilyRow kTowerRows[] = {
    kLlava,
    kLlavaSince,
    kLlama4,
    kMllama,
    kInternVl,
    kInternVlNorms,
    kIdefics3,
    kGlm4v,
    kKimiK25,
    kMinicpmV,
    kQwen2Audio,
    kOmni,
    kOmniThinker,
    kOmniWhole,
    kVisionEncoderDecoder,
    kVisionEncoderDecoderBuffers,
    kFuyu,
};

// Too large for a made file, with sizes that no field changes: names without shapes.

// LLaVA's own files.
inline constexpr FamilyRow kOwnLlava = {
    "llava_llama",
    R"({"model_type": "llava_llama", "architectures": ["LlavaLlamaForCausalLM"],
    "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false, "mm_hidden_size": 1024, "mm_projector_type": "mlp2x_gelu",
    "mm_vision_select_layer": -2, "mm_vision_select_feature": "patch",
    "mm_vision_tower": "openai/clip-vit-large-patch14-336"})",
    R"(
model.vision_tower.vision_tower.vision_model.embeddings.class_embedding
model.vision_tower.vision_tower.vision_model.embeddings.patch_embedding.weight
model.vision_tower.vision_tower.vision_model.embeddings.position_embedding.weight
model.vision_tower.vision_tower.vision_model.pre_layrnorm.weight
model.vision_tower.vision_tower.vision_model.pre_layrnorm.bias
model.vision_tower.vision_tower.vision_model.post_layernorm.weight
model.vision_tower.vision_tower.vision_model.post_layernorm.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.q_proj.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.q_proj.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.k_proj.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.k_proj.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.v_proj.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.v_proj.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.out_proj.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.self_attn.out_proj.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.layer_norm1.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.layer_norm1.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.layer_norm2.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.layer_norm2.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.mlp.fc1.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.mlp.fc1.bias
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.mlp.fc2.weight
model.vision_tower.vision_tower.vision_model.encoder.layers.{0-23}.mlp.fc2.bias
model.mm_projector.0.weight
model.mm_projector.0.bias
model.mm_projector.2.weight
model.mm_projector.2.bias
model.embed_tokens.weight
model.layers.{0-1}.input_layernorm.weight
model.layers.{0-1}.post_attention_layernorm.weight
model.layers.{0-1}.self_attn.q_proj.weight
model.layers.{0-1}.self_attn.k_proj.weight
model.layers.{0-1}.self_attn.v_proj.weight
model.layers.{0-1}.self_attn.o_proj.weight
model.layers.{0-1}.mlp.gate_proj.weight
model.layers.{0-1}.mlp.up_proj.weight
model.layers.{0-1}.mlp.down_proj.weight
model.norm.weight
lm_head.weight
)"};

// A tower of timm, without its last block.
inline constexpr FamilyRow kMinicpmV2 = {
    "minicpmv 2",
    R"({"model_type": "minicpmv", "hidden_size": 128, "intermediate_size": 13,
    "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 11,
    "tie_word_embeddings": false, "scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 64,
    "query_num": 4, "image_size": 448, "patch_size": 14, "drop_vision_last_layer": true,
    "vision_encoder": "vit_so400m_patch14_siglip_384.webli"})",
    R"(
vpm.pos_embed
vpm.patch_embed.proj.weight
vpm.patch_embed.proj.bias
vpm.norm.weight
vpm.norm.bias
vpm.blocks.{0-25}.norm1.weight
vpm.blocks.{0-25}.norm1.bias
vpm.blocks.{0-25}.norm2.weight
vpm.blocks.{0-25}.norm2.bias
vpm.blocks.{0-25}.attn.qkv.weight
vpm.blocks.{0-25}.attn.qkv.bias
vpm.blocks.{0-25}.attn.proj.weight
vpm.blocks.{0-25}.attn.proj.bias
vpm.blocks.{0-25}.mlp.fc1.weight
vpm.blocks.{0-25}.mlp.fc1.bias
vpm.blocks.{0-25}.mlp.fc2.weight
vpm.blocks.{0-25}.mlp.fc2.bias
resampler.pos_embed
resampler.query
resampler.kv_proj.weight
resampler.attn.in_proj_weight
resampler.attn.in_proj_bias
resampler.attn.out_proj.weight
resampler.attn.out_proj.bias
resampler.ln_q.weight
resampler.ln_q.bias
resampler.ln_kv.weight
resampler.ln_kv.bias
resampler.ln_post.weight
resampler.ln_post.bias
resampler.proj
llm.model.embed_tokens.weight
llm.model.layers.0.input_layernorm.weight
llm.model.layers.0.post_attention_layernorm.weight
llm.model.layers.0.self_attn.q_proj.weight
llm.model.layers.0.self_attn.k_proj.weight
llm.model.layers.0.self_attn.v_proj.weight
llm.model.layers.0.self_attn.o_proj.weight
llm.model.layers.0.mlp.gate_proj.weight
llm.model.layers.0.mlp.up_proj.weight
llm.model.layers.0.mlp.down_proj.weight
llm.model.norm.weight
llm.lm_head.weight
)"};

// Read by its width alone.
inline constexpr FamilyRow kBaichuan = {
    "baichuan",
    R"({"model_type": "baichuan", "hidden_size": 4096, "intermediate_size": 13,
    "num_hidden_layers": 1, "num_attention_heads": 32, "vocab_size": 11,
    "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight
model.layers.0.input_layernorm.weight
model.layers.0.post_attention_layernorm.weight
model.layers.0.self_attn.W_pack.weight
model.layers.0.self_attn.o_proj.weight
model.layers.0.mlp.gate_proj.weight
model.layers.0.mlp.up_proj.weight
model.layers.0.mlp.down_proj.weight
model.norm.weight
lm_head.weight
)"};

inline constexpr FamilyRow kNameRows[] = {kOwnLlava, kMinicpmV2, kBaichuan};

}  // namespace flopwise::made
