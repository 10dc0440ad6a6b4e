// Facts for family_names_test.cc: families whose layers differ from those of Llama and BERT, or
// from each other.
#pragma once

#include "flopwise/weights/family_row.h"

namespace flopwise::made {

// Embeddings of the layers' own, which lie side by side; the last layers have no keys and values.
inline constexpr FamilyRow kGemma4Small = {
    "gemma4_text, embeddings of the layers' own",
    R"({"model_type": "gemma4_text", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "global_head_dim": 16, "num_kv_shared_layers": 2, "use_double_wide_mlp": true,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    "hidden_size_per_layer_input": 3, "vocab_size_per_layer_input": 9, "vocab_size": 11})",
    R"(
model.embed_tokens.weight 11 8
model.embed_tokens_per_layer.weight 9 12
model.per_layer_model_projection.weight 12 8
model.per_layer_projection_norm.weight 3
model.layers.{0-3}.input_layernorm.weight 8
model.layers.{0-3}.post_attention_layernorm.weight 8
model.layers.{0-3}.pre_feedforward_layernorm.weight 8
model.layers.{0-3}.post_feedforward_layernorm.weight 8
model.layers.{0-3}.post_per_layer_input_norm.weight 8
model.layers.{0-3}.per_layer_input_gate.weight 3 8
model.layers.{0-3}.per_layer_projection.weight 8 3
model.layers.0.self_attn.q_proj.weight 32 8
model.layers.0.self_attn.k_proj.weight 16 8
model.layers.0.self_attn.v_proj.weight 16 8
model.layers.0.self_attn.o_proj.weight 8 32
model.layers.0.self_attn.q_norm.weight 8
model.layers.0.self_attn.k_norm.weight 8
model.layers.1.self_attn.q_proj.weight 64 8
model.layers.1.self_attn.k_proj.weight 32 8
model.layers.1.self_attn.v_proj.weight 32 8
model.layers.1.self_attn.o_proj.weight 8 64
model.layers.1.self_attn.q_norm.weight 16
model.layers.1.self_attn.k_norm.weight 16
model.layers.2.self_attn.q_proj.weight 32 8
model.layers.2.self_attn.o_proj.weight 8 32
model.layers.2.self_attn.q_norm.weight 8
model.layers.3.self_attn.q_proj.weight 64 8
model.layers.3.self_attn.o_proj.weight 8 64
model.layers.3.self_attn.q_norm.weight 16
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.layers.{2-3}.mlp.gate_proj.weight 26 8
model.layers.{2-3}.mlp.up_proj.weight 26 8
model.layers.{2-3}.mlp.down_proj.weight 8 26
model.norm.weight 8
)"};

// Experts beside the dense feed-forward; global layers whose values are their keys; each layer's
// factor, a buffer.
inline constexpr FamilyRow kGemma4Experts = {
    "gemma4_text, experts",
    R"({"model_type": "gemma4_text", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "global_head_dim": 16, "attention_k_eq_v": true, "num_global_key_value_heads": 1,
    "layer_types": ["sliding_attention", "full_attention"], "enable_moe_block": true,
    "num_experts": 3, "top_k_experts": 2, "moe_intermediate_size": 7, "vocab_size": 11})",
    R"(
model.language_model.embed_tokens.weight 11 8
model.language_model.layers.{0-1}.layer_scalar 1
model.language_model.layers.{0-1}.input_layernorm.weight 8
model.language_model.layers.{0-1}.post_attention_layernorm.weight 8
model.language_model.layers.{0-1}.pre_feedforward_layernorm.weight 8
model.language_model.layers.{0-1}.pre_feedforward_layernorm_2.weight 8
model.language_model.layers.{0-1}.post_feedforward_layernorm.weight 8
model.language_model.layers.{0-1}.post_feedforward_layernorm_1.weight 8
model.language_model.layers.{0-1}.post_feedforward_layernorm_2.weight 8
model.language_model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.up_proj.weight 13 8
model.language_model.layers.{0-1}.mlp.down_proj.weight 8 13
model.language_model.layers.{0-1}.router.proj.weight 3 8
model.language_model.layers.{0-1}.router.scale 8
model.language_model.layers.{0-1}.router.per_expert_scale 3
model.language_model.layers.{0-1}.experts.gate_up_proj 3 14 8
model.language_model.layers.{0-1}.experts.down_proj 3 8 7
model.language_model.layers.0.self_attn.q_proj.weight 32 8
model.language_model.layers.0.self_attn.k_proj.weight 16 8
model.language_model.layers.0.self_attn.v_proj.weight 16 8
model.language_model.layers.0.self_attn.o_proj.weight 8 32
model.language_model.layers.0.self_attn.q_norm.weight 8
model.language_model.layers.0.self_attn.k_norm.weight 8
model.language_model.layers.1.self_attn.q_proj.weight 64 8
model.language_model.layers.1.self_attn.k_proj.weight 16 8
model.language_model.layers.1.self_attn.o_proj.weight 8 64
model.language_model.layers.1.self_attn.q_norm.weight 16
model.language_model.layers.1.self_attn.k_norm.weight 16
model.language_model.norm.weight 8
)",
    2};

inline constexpr FamilyRow kMinicpm3 = {
    "minicpm3",
    R"({"model_type": "minicpm3", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 5,
    "kv_lora_rank": 3, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "vocab_size": 11,
    "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_a_proj.weight 5 8
model.layers.{0-1}.self_attn.q_a_layernorm.weight 5
model.layers.{0-1}.self_attn.q_b_proj.weight 40 5
model.layers.{0-1}.self_attn.kv_a_proj_with_mqa.weight 7 8
model.layers.{0-1}.self_attn.kv_a_layernorm.weight 3
model.layers.{0-1}.self_attn.kv_b_proj.weight 32 3
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

// An indexer in each layer that does not share the choice of an earlier one.
inline constexpr FamilyRow kGlmMoeDsa = {
    "glm_moe_dsa",
    R"({"model_type": "glm_moe_dsa", "hidden_size": 8, "intermediate_size": 13,
    "moe_intermediate_size": 7, "num_hidden_layers": 3, "first_k_dense_replace": 1,
    "num_attention_heads": 4, "num_key_value_heads": 4, "q_lora_rank": 5, "kv_lora_rank": 3,
    "qk_nope_head_dim": 6, "qk_rope_head_dim": 4, "v_head_dim": 2, "n_routed_experts": 3,
    "num_experts_per_tok": 2, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
    "index_n_heads": 2, "index_head_dim": 6, "index_topk": 4,
    "indexer_types": ["full", "full", "shared"], "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-2}.input_layernorm.weight 8
model.layers.{0-2}.post_attention_layernorm.weight 8
model.layers.{0-2}.self_attn.q_a_proj.weight 5 8
model.layers.{0-2}.self_attn.q_a_layernorm.weight 5
model.layers.{0-2}.self_attn.q_b_proj.weight 40 5
model.layers.{0-2}.self_attn.kv_a_proj_with_mqa.weight 7 8
model.layers.{0-2}.self_attn.kv_a_layernorm.weight 3
model.layers.{0-2}.self_attn.kv_b_proj.weight 32 3
model.layers.{0-2}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.indexer.wq_b.weight 12 5
model.layers.{0-1}.self_attn.indexer.wk.weight 6 8
model.layers.{0-1}.self_attn.indexer.k_norm.weight 6
model.layers.{0-1}.self_attn.indexer.k_norm.bias 6
model.layers.{0-1}.self_attn.indexer.weights_proj.weight 2 8
model.layers.0.mlp.gate_proj.weight 13 8
model.layers.0.mlp.up_proj.weight 13 8
model.layers.0.mlp.down_proj.weight 8 13
model.layers.{1-2}.mlp.gate.weight 3 8
model.layers.{1-2}.mlp.gate.e_score_correction_bias 3
model.layers.{1-2}.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.{1-2}.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.{1-2}.mlp.experts.{0-2}.down_proj.weight 8 7
model.layers.{1-2}.mlp.shared_experts.gate_proj.weight 7 8
model.layers.{1-2}.mlp.shared_experts.up_proj.weight 7 8
model.layers.{1-2}.mlp.shared_experts.down_proj.weight 8 7
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kMimoV2 = {
    "mimo_v2_flash",
    R"({"model_type": "mimo_v2_flash", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "v_head_dim": 5, "swa_num_attention_heads": 6, "swa_num_key_value_heads": 3,
    "swa_head_dim": 4, "swa_v_head_dim": 3, "sliding_window": 5, "hybrid_layer_pattern": [0, 1],
    "moe_layer_freq": [0, 1], "n_routed_experts": 3, "num_experts_per_tok": 2,
    "moe_intermediate_size": 7, "partial_rotary_factor": 0.5, "add_swa_attention_sink_bias": true,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.0.self_attn.q_proj.weight 32 8
model.layers.0.self_attn.k_proj.weight 16 8
model.layers.0.self_attn.v_proj.weight 10 8
model.layers.0.self_attn.o_proj.weight 8 20
model.layers.0.mlp.gate_proj.weight 13 8
model.layers.0.mlp.up_proj.weight 13 8
model.layers.0.mlp.down_proj.weight 8 13
model.layers.1.self_attn.q_proj.weight 24 8
model.layers.1.self_attn.k_proj.weight 12 8
model.layers.1.self_attn.v_proj.weight 9 8
model.layers.1.self_attn.o_proj.weight 8 18
model.layers.1.self_attn.attention_sink_bias 6
model.layers.1.mlp.gate.weight 3 8
model.layers.1.mlp.gate.e_score_correction_bias 3
model.layers.1.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.1.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.1.mlp.experts.{0-2}.down_proj.weight 8 7
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kStep3 = {
    "step3p5",
    R"({"model_type": "step3p5", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_attention_groups": 2, "head_dim": 6,
    "layer_types": ["full_attention", "sliding_attention"], "sliding_window": 5,
    "attention_other_setting": {"attention_type": "sliding_attention", "num_attention_heads": 6,
      "num_attention_groups": 2, "head_dim": 6}, "use_head_wise_attn_gate": true,
    "moe_num_experts": 3, "moe_top_k": 2, "moe_intermediate_size": 7, "share_expert_dim": 9,
    "moe_layers_enum": "1", "moe_router_activation": "sigmoid", "use_moe_router_bias": true,
    "norm_expert_weight": true, "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.k_proj.weight 12 8
model.layers.{0-1}.self_attn.v_proj.weight 12 8
model.layers.{0-1}.self_attn.q_norm.weight 6
model.layers.{0-1}.self_attn.k_norm.weight 6
model.layers.0.self_attn.q_proj.weight 24 8
model.layers.0.self_attn.o_proj.weight 8 24
model.layers.0.self_attn.g_proj.weight 4 8
model.layers.0.mlp.gate_proj.weight 13 8
model.layers.0.mlp.up_proj.weight 13 8
model.layers.0.mlp.down_proj.weight 8 13
model.layers.1.self_attn.q_proj.weight 36 8
model.layers.1.self_attn.o_proj.weight 8 36
model.layers.1.self_attn.g_proj.weight 6 8
model.layers.1.moe.gate.weight 3 8
model.layers.1.moe.router_bias 3
model.layers.1.moe.gate_proj.weight 3 7 8
model.layers.1.moe.up_proj.weight 3 7 8
model.layers.1.moe.down_proj.weight 3 8 7
model.layers.1.share_expert.gate_proj.weight 9 8
model.layers.1.share_expert.up_proj.weight 9 8
model.layers.1.share_expert.down_proj.weight 8 9
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kHunyuan = {
    "hunyuan_v1_moe",
    R"({"model_type": "hunyuan_v1_moe", "hidden_size": 8, "intermediate_size": 13,
    "moe_intermediate_size": [7, 7], "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 6, "num_experts": 3, "moe_topk": [2, 2],
    "num_shared_expert": [1, 1], "use_mixed_mlp_moe": true, "use_qk_norm": true,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 24 8
model.layers.{0-1}.self_attn.k_proj.weight 12 8
model.layers.{0-1}.self_attn.v_proj.weight 12 8
model.layers.{0-1}.self_attn.o_proj.weight 8 24
model.layers.{0-1}.self_attn.query_layernorm.weight 6
model.layers.{0-1}.self_attn.key_layernorm.weight 6
model.layers.{0-1}.mlp.gate.wg.weight 3 8
model.layers.{0-1}.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.down_proj.weight 8 7
model.layers.{0-1}.mlp.shared_mlp.gate_proj.weight 7 8
model.layers.{0-1}.mlp.shared_mlp.up_proj.weight 7 8
model.layers.{0-1}.mlp.shared_mlp.down_proj.weight 8 7
model.norm.weight 8
lm_head.weight 11 8
)"};

// A layer with groups of its own, one with a matrix in place of each block, one without attention,
// one that does nothing.
inline constexpr FamilyRow kNemotronNas = {
    "nemotron-nas",
    R"({"model_type": "nemotron-nas", "hidden_size": 8, "num_hidden_layers": 4,
    "num_attention_heads": 4, "vocab_size": 11, "tie_word_embeddings": false, "block_configs": [
    {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 1.0}},
    {"attention": {"replace_with_linear": true}, "ffn": {"replace_with_linear": true}},
    {"attention": {"no_op": true}, "ffn": {"ffn_mult": 1.0}},
    {"attention": {"no_op": true}, "ffn": {"no_op": true}}]})",
    R"(
model.embed_tokens.weight 11 8
model.layers.0.input_layernorm.weight 8
model.layers.0.self_attn.q_proj.weight 8 8
model.layers.0.self_attn.k_proj.weight 4 8
model.layers.0.self_attn.v_proj.weight 4 8
model.layers.0.self_attn.o_proj.weight 8 8
model.layers.0.post_attention_layernorm.weight 8
model.layers.0.mlp.gate_proj.weight 256 8
model.layers.0.mlp.up_proj.weight 256 8
model.layers.0.mlp.down_proj.weight 8 256
model.layers.1.input_layernorm.weight 8
model.layers.1.self_attn.linear_attn.weight 8 8
model.layers.1.post_attention_layernorm.weight 8
model.layers.1.mlp.linear_mlp.weight 8 8
model.layers.2.post_attention_layernorm.weight 8
model.layers.2.mlp.gate_proj.weight 256 8
model.layers.2.mlp.up_proj.weight 256 8
model.layers.2.mlp.down_proj.weight 8 256
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kPersimmon = {
    "persimmon",
    R"({"model_type": "persimmon", "hidden_size": 8, "intermediate_size": 13,
    "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 11,
    "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.bias 8
model.layers.{0-1}.self_attn.query_key_value.weight 24 8
model.layers.{0-1}.self_attn.query_key_value.bias 24
model.layers.{0-1}.self_attn.dense.weight 8 8
model.layers.{0-1}.self_attn.dense.bias 8
model.layers.{0-1}.self_attn.q_layernorm.weight 4
model.layers.{0-1}.self_attn.q_layernorm.bias 4
model.layers.{0-1}.self_attn.k_layernorm.weight 4
model.layers.{0-1}.self_attn.k_layernorm.bias 4
model.layers.{0-1}.mlp.dense_h_to_4h.weight 13 8
model.layers.{0-1}.mlp.dense_h_to_4h.bias 13
model.layers.{0-1}.mlp.dense_4h_to_h.weight 8 13
model.layers.{0-1}.mlp.dense_4h_to_h.bias 8
model.final_layernorm.weight 8
model.final_layernorm.bias 8
lm_head.weight 11 8
)"};

// One set of weights for all layers.
inline constexpr FamilyRow kAlbert = {
    "albert",
    R"({"model_type": "albert", "architectures": ["AlbertForMaskedLM"], "hidden_size": 8,
    "intermediate_size": 13, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 11,
    "embedding_size": 6, "max_position_embeddings": 7, "type_vocab_size": 2})",
    R"(
albert.embeddings.word_embeddings.weight 11 6
albert.embeddings.position_embeddings.weight 7 6
albert.embeddings.token_type_embeddings.weight 2 6
albert.embeddings.LayerNorm.weight 6
albert.embeddings.LayerNorm.bias 6
albert.encoder.embedding_hidden_mapping_in.weight 8 6
albert.encoder.embedding_hidden_mapping_in.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight 8 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.query.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.key.weight 8 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.key.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.value.weight 8 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.value.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.dense.weight 8 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.dense.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.weight 8
albert.encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight 13 8
albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.bias 13
albert.encoder.albert_layer_groups.0.albert_layers.0.ffn_output.weight 8 13
albert.encoder.albert_layer_groups.0.albert_layers.0.ffn_output.bias 8
albert.encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.weight 8
albert.encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.bias 8
predictions.dense.weight 6 8
predictions.dense.bias 6
predictions.LayerNorm.weight 6
predictions.LayerNorm.bias 6
predictions.bias 11
)"};

inline constexpr FamilyRow kAlbertWithPooler = {
    "albert, without a head",
    R"({"model_type": "albert", "architectures": ["AlbertModel"], "hidden_size": 8,
    "intermediate_size": 13, "num_hidden_layers": 3, "num_attention_heads": 2, "vocab_size": 11,
    "embedding_size": 6, "max_position_embeddings": 7, "type_vocab_size": 2})",
    R"(
embeddings.word_embeddings.weight 11 6
embeddings.position_embeddings.weight 7 6
embeddings.token_type_embeddings.weight 2 6
embeddings.LayerNorm.weight 6
embeddings.LayerNorm.bias 6
encoder.embedding_hidden_mapping_in.weight 8 6
encoder.embedding_hidden_mapping_in.bias 8
encoder.albert_layer_groups.0.albert_layers.0.attention.query.weight 8 8
encoder.albert_layer_groups.0.albert_layers.0.attention.query.bias 8
encoder.albert_layer_groups.0.albert_layers.0.attention.key.weight 8 8
encoder.albert_layer_groups.0.albert_layers.0.attention.key.bias 8
encoder.albert_layer_groups.0.albert_layers.0.attention.value.weight 8 8
encoder.albert_layer_groups.0.albert_layers.0.attention.value.bias 8
encoder.albert_layer_groups.0.albert_layers.0.attention.dense.weight 8 8
encoder.albert_layer_groups.0.albert_layers.0.attention.dense.bias 8
encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.weight 8
encoder.albert_layer_groups.0.albert_layers.0.attention.LayerNorm.bias 8
encoder.albert_layer_groups.0.albert_layers.0.ffn.weight 13 8
encoder.albert_layer_groups.0.albert_layers.0.ffn.bias 13
encoder.albert_layer_groups.0.albert_layers.0.ffn_output.weight 8 13
encoder.albert_layer_groups.0.albert_layers.0.ffn_output.bias 8
encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.weight 8
encoder.albert_layer_groups.0.albert_layers.0.full_layer_layer_norm.bias 8
pooler.weight 8 8
pooler.bias 8
)"};

// Maps of their own for the relative positions.
inline constexpr FamilyRow kDeberta = {
    "deberta-v2",
    R"({"model_type": "deberta-v2", "architectures": ["DebertaV2ForQuestionAnswering"],
    "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "max_position_embeddings": 9, "relative_attention": true,
    "pos_att_type": ["c2p", "p2c"], "norm_rel_ebd": "layer_norm", "position_buckets": 3,
    "share_att_key": false, "position_biased_input": false, "type_vocab_size": 0})",
    R"(
deberta.embeddings.word_embeddings.weight 11 8
deberta.embeddings.LayerNorm.weight 8
deberta.embeddings.LayerNorm.bias 8
deberta.encoder.rel_embeddings.weight 6 8
deberta.encoder.LayerNorm.weight 8
deberta.encoder.LayerNorm.bias 8
deberta.encoder.layer.{0-1}.attention.self.query_proj.weight 8 8
deberta.encoder.layer.{0-1}.attention.self.query_proj.bias 8
deberta.encoder.layer.{0-1}.attention.self.key_proj.weight 8 8
deberta.encoder.layer.{0-1}.attention.self.key_proj.bias 8
deberta.encoder.layer.{0-1}.attention.self.value_proj.weight 8 8
deberta.encoder.layer.{0-1}.attention.self.value_proj.bias 8
deberta.encoder.layer.{0-1}.attention.self.pos_key_proj.weight 8 8
deberta.encoder.layer.{0-1}.attention.self.pos_key_proj.bias 8
deberta.encoder.layer.{0-1}.attention.self.pos_query_proj.weight 8 8
deberta.encoder.layer.{0-1}.attention.self.pos_query_proj.bias 8
deberta.encoder.layer.{0-1}.attention.output.dense.weight 8 8
deberta.encoder.layer.{0-1}.attention.output.dense.bias 8
deberta.encoder.layer.{0-1}.attention.output.LayerNorm.weight 8
deberta.encoder.layer.{0-1}.attention.output.LayerNorm.bias 8
deberta.encoder.layer.{0-1}.intermediate.dense.weight 13 8
deberta.encoder.layer.{0-1}.intermediate.dense.bias 13
deberta.encoder.layer.{0-1}.output.dense.weight 8 13
deberta.encoder.layer.{0-1}.output.dense.bias 8
deberta.encoder.layer.{0-1}.output.LayerNorm.weight 8
deberta.encoder.layer.{0-1}.output.LayerNorm.bias 8
qa_outputs.weight 2 8
qa_outputs.bias 2
)"};

inline constexpr FamilyRow kGlm4 = {
    "glm4",
    R"({"model_type": "glm4", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "attention_bias": true,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_self_attn_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_mlp_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 16 8
model.layers.{0-1}.self_attn.q_proj.bias 16
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.o_proj.weight 8 16
model.layers.{0-1}.mlp.gate_up_proj.weight 26 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kLayerRows[] = {
    kGemma4Small, kGemma4Experts, kMinicpm3, kGlmMoeDsa,        kMimoV2,  kStep3, kHunyuan,
    kNemotronNas, kPersimmon,     kAlbert,   kAlbertWithPooler, kDeberta, kGlm4,
};

}  // namespace flopwise::made
