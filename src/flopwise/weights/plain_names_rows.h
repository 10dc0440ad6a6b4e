// Facts for family_names_test.cc: decoders and encoders of one kind of layer each.
#pragma once

#include "flopwise/weights/family_row.h"

namespace flopwise::made {

inline constexpr FamilyRow kGptJ = {
    "gptj",
    R"({"model_type": "gptj", "n_embd": 8, "n_head": 2, "n_layer": 2, "n_positions": 7, "rotary_dim": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
transformer.wte.weight 11 8
transformer.h.{0-1}.ln_1.weight 8
transformer.h.{0-1}.ln_1.bias 8
transformer.h.{0-1}.attn.q_proj.weight 8 8
transformer.h.{0-1}.attn.k_proj.weight 8 8
transformer.h.{0-1}.attn.v_proj.weight 8 8
transformer.h.{0-1}.attn.out_proj.weight 8 8
transformer.h.{0-1}.mlp.fc_in.weight 32 8
transformer.h.{0-1}.mlp.fc_in.bias 32
transformer.h.{0-1}.mlp.fc_out.weight 8 32
transformer.h.{0-1}.mlp.fc_out.bias 8
transformer.ln_f.weight 8
transformer.ln_f.bias 8
lm_head.weight 11 8
lm_head.bias 11
)"};

inline constexpr FamilyRow kCodegen = {
    "codegen",
    R"({"model_type": "codegen", "n_embd": 8, "n_head": 2, "n_layer": 2, "n_positions": 7, "rotary_dim": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
transformer.wte.weight 11 8
transformer.h.{0-1}.ln_1.weight 8
transformer.h.{0-1}.ln_1.bias 8
transformer.h.{0-1}.mlp.fc_in.weight 32 8
transformer.h.{0-1}.mlp.fc_in.bias 32
transformer.h.{0-1}.mlp.fc_out.weight 8 32
transformer.h.{0-1}.mlp.fc_out.bias 8
transformer.ln_f.weight 8
transformer.ln_f.bias 8
lm_head.weight 11 8
lm_head.bias 11
transformer.h.{0-1}.attn.qkv_proj.weight 24 8
transformer.h.{0-1}.attn.out_proj.weight 8 8
)"};

inline constexpr FamilyRow kGptNeo = {
    "gpt_neo",
    R"({"model_type": "gpt_neo", "hidden_size": 8, "num_heads": 2, "num_layers": 2,
    "attention_types": [[["global", "local"], 1]], "window_size": 5,
    "max_position_embeddings": 7, "vocab_size": 11})",
    R"(
transformer.wte.weight 11 8
transformer.wpe.weight 7 8
transformer.h.{0-1}.ln_1.weight 8
transformer.h.{0-1}.ln_1.bias 8
transformer.h.{0-1}.ln_2.weight 8
transformer.h.{0-1}.ln_2.bias 8
transformer.h.{0-1}.attn.attention.q_proj.weight 8 8
transformer.h.{0-1}.attn.attention.k_proj.weight 8 8
transformer.h.{0-1}.attn.attention.v_proj.weight 8 8
transformer.h.{0-1}.attn.attention.out_proj.weight 8 8
transformer.h.{0-1}.attn.attention.out_proj.bias 8
transformer.h.{0-1}.mlp.c_fc.weight 32 8
transformer.h.{0-1}.mlp.c_fc.bias 32
transformer.h.{0-1}.mlp.c_proj.weight 8 32
transformer.h.{0-1}.mlp.c_proj.bias 8
transformer.ln_f.weight 8
transformer.ln_f.bias 8
)"};

inline constexpr FamilyRow kGptBigcode = {
    "gpt_bigcode",
    R"({"model_type": "gpt_bigcode", "n_embd": 8, "n_head": 2, "n_layer": 2, "n_positions": 7,
    "multi_query": true, "vocab_size": 11})",
    R"(
transformer.wte.weight 11 8
transformer.wpe.weight 7 8
transformer.h.{0-1}.ln_1.weight 8
transformer.h.{0-1}.ln_1.bias 8
transformer.h.{0-1}.ln_2.weight 8
transformer.h.{0-1}.ln_2.bias 8
transformer.h.{0-1}.attn.c_attn.weight 16 8
transformer.h.{0-1}.attn.c_attn.bias 16
transformer.h.{0-1}.attn.c_proj.weight 8 8
transformer.h.{0-1}.attn.c_proj.bias 8
transformer.h.{0-1}.mlp.c_fc.weight 32 8
transformer.h.{0-1}.mlp.c_fc.bias 32
transformer.h.{0-1}.mlp.c_proj.weight 8 32
transformer.h.{0-1}.mlp.c_proj.bias 8
transformer.ln_f.weight 8
transformer.ln_f.bias 8
)"};

inline constexpr FamilyRow kBloom = {
    "bloom",
    R"({"model_type": "bloom", "hidden_size": 8, "n_head": 2, "n_layer": 2, "vocab_size": 11})",
    R"(
word_embeddings.weight 11 8
word_embeddings_layernorm.weight 8
word_embeddings_layernorm.bias 8
h.{0-1}.input_layernorm.weight 8
h.{0-1}.input_layernorm.bias 8
h.{0-1}.post_attention_layernorm.weight 8
h.{0-1}.post_attention_layernorm.bias 8
h.{0-1}.self_attention.query_key_value.weight 24 8
h.{0-1}.self_attention.query_key_value.bias 24
h.{0-1}.self_attention.dense.weight 8 8
h.{0-1}.self_attention.dense.bias 8
h.{0-1}.mlp.dense_h_to_4h.weight 32 8
h.{0-1}.mlp.dense_h_to_4h.bias 32
h.{0-1}.mlp.dense_4h_to_h.weight 8 32
h.{0-1}.mlp.dense_4h_to_h.bias 8
ln_f.weight 8
ln_f.bias 8
)"};

inline constexpr FamilyRow kFalcon = {
    "falcon",
    R"({"model_type": "falcon", "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 2,
    "vocab_size": 11, "multi_query": true, "parallel_attn": true, "bias": false, "alibi": false,
    "new_decoder_architecture": false})",
    R"(
transformer.word_embeddings.weight 11 8
transformer.h.{0-1}.input_layernorm.weight 8
transformer.h.{0-1}.input_layernorm.bias 8
transformer.h.{0-1}.self_attention.query_key_value.weight 16 8
transformer.h.{0-1}.self_attention.dense.weight 8 8
transformer.h.{0-1}.mlp.dense_h_to_4h.weight 32 8
transformer.h.{0-1}.mlp.dense_4h_to_h.weight 8 32
transformer.ln_f.weight 8
transformer.ln_f.bias 8
)"};

inline constexpr FamilyRow kXglm = {
    "xglm",
    R"({"model_type": "xglm", "d_model": 8, "ffn_dim": 13, "num_layers": 2, "attention_heads": 2,
    "vocab_size": 11})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.out_proj.weight 8 8
model.layers.{0-1}.self_attn.out_proj.bias 8
model.layers.{0-1}.self_attn_layer_norm.weight 8
model.layers.{0-1}.self_attn_layer_norm.bias 8
model.layers.{0-1}.final_layer_norm.weight 8
model.layers.{0-1}.final_layer_norm.bias 8
model.layers.{0-1}.fc1.weight 13 8
model.layers.{0-1}.fc1.bias 13
model.layers.{0-1}.fc2.weight 8 13
model.layers.{0-1}.fc2.bias 8
model.layer_norm.weight 8
model.layer_norm.bias 8
)"};

inline constexpr FamilyRow kStarcoder2 = {
    "starcoder2",
    R"({"model_type": "starcoder2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 11, "use_bias": true})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.bias 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.layers.{0-1}.self_attn.k_proj.bias 4
model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.layers.{0-1}.self_attn.v_proj.bias 4
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.bias 8
model.layers.{0-1}.mlp.c_fc.weight 13 8
model.layers.{0-1}.mlp.c_fc.bias 13
model.layers.{0-1}.mlp.c_proj.weight 8 13
model.layers.{0-1}.mlp.c_proj.bias 8
model.norm.weight 8
model.norm.bias 8
)"};

inline constexpr FamilyRow kPhi = {
    "phi",
    R"({"model_type": "phi", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.dense.weight 8 8
model.layers.{0-1}.self_attn.dense.bias 8
model.layers.{0-1}.mlp.fc1.weight 13 8
model.layers.{0-1}.mlp.fc1.bias 13
model.layers.{0-1}.mlp.fc2.weight 8 13
model.layers.{0-1}.mlp.fc2.bias 8
model.final_layernorm.weight 8
model.final_layernorm.bias 8
lm_head.weight 11 8
lm_head.bias 11
)"};

inline constexpr FamilyRow kNemotron = {
    "nemotron",
    R"({"model_type": "nemotron", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 11, "head_dim": 4, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.bias 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 4 8
model.layers.{0-1}.self_attn.v_proj.weight 4 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
model.norm.bias 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kQwen = {
    "qwen",
    R"({"model_type": "qwen", "hidden_size": 8, "intermediate_size": 26, "num_hidden_layers": 2,
    "num_attention_heads": 2, "vocab_size": 11, "no_bias": true, "tie_word_embeddings": false})",
    R"(
transformer.wte.weight 11 8
lm_head.weight 11 8
transformer.h.{0-1}.ln_1.weight 8
transformer.h.{0-1}.ln_2.weight 8
transformer.h.{0-1}.attn.c_attn.weight 24 8
transformer.h.{0-1}.attn.c_attn.bias 24
transformer.h.{0-1}.attn.c_proj.weight 8 8
transformer.h.{0-1}.mlp.w1.weight 13 8
transformer.h.{0-1}.mlp.w2.weight 13 8
transformer.h.{0-1}.mlp.c_proj.weight 8 13
transformer.ln_f.weight 8
)"};

inline constexpr FamilyRow kOlmo = {
    "olmo",
    R"({"model_type": "olmo", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kOlmo2 = {
    "olmo2",
    R"({"model_type": "olmo2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_feedforward_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.q_norm.weight 8
model.layers.{0-1}.self_attn.k_norm.weight 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kExaone4 = {
    "exaone4",
    R"({"model_type": "exaone4", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "head_dim": 4, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_feedforward_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.q_norm.weight 4
model.layers.{0-1}.self_attn.k_norm.weight 4
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kCohere = {
    "cohere",
    R"({"model_type": "cohere", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "use_qk_norm": true})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.q_norm.weight 2 4
model.layers.{0-1}.self_attn.k_norm.weight 2 4
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
)"};

inline constexpr FamilyRow kStablelm = {
    "stablelm",
    R"({"model_type": "stablelm", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "use_qkv_bias": true, "partial_rotary_factor": 0.5, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.bias 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
model.norm.bias 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kGemma2 = {
    "gemma2",
    R"({"model_type": "gemma2", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "head_dim": 4, "sliding_window": 5})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.pre_feedforward_layernorm.weight 8
model.layers.{0-1}.post_feedforward_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
)"};

inline constexpr FamilyRow kGranite = {
    "granite",
    R"({"model_type": "granite", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kMinicpm = {
    "minicpm",
    R"({"model_type": "minicpm", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "scale_emb": 12, "dim_model_base": 4, "scale_depth": 1.4, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kGlm = {
    "glm",
    R"({"model_type": "glm", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 11, "head_dim": 4,
    "attention_bias": true, "tie_word_embeddings": false})",
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
model.layers.{0-1}.mlp.gate_up_proj.weight 26 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
lm_head.weight 11 8
)"};

inline constexpr FamilyRow kChatglm2 = {
    "chatglm, version 2",
    R"({"model_type": "chatglm", "hidden_size": 8, "ffn_hidden_size": 13, "num_layers": 2, "num_attention_heads": 2,
    "padded_vocab_size": 11, "kv_channels": 4, "multi_query_attention": true,
    "multi_query_group_num": 1, "add_qkv_bias": true, "add_bias_linear": false, "rmsnorm": true,
    "post_layer_norm": true, "tie_word_embeddings": false})",
    R"(
transformer.embedding.word_embeddings.weight 11 8
transformer.encoder.layers.{0-1}.input_layernorm.weight 8
transformer.encoder.layers.{0-1}.post_attention_layernorm.weight 8
transformer.encoder.layers.{0-1}.self_attention.query_key_value.weight 16 8
transformer.encoder.layers.{0-1}.self_attention.query_key_value.bias 16
transformer.encoder.layers.{0-1}.self_attention.dense.weight 8 8
transformer.encoder.layers.{0-1}.mlp.dense_h_to_4h.weight 26 8
transformer.encoder.layers.{0-1}.mlp.dense_4h_to_h.weight 8 13
transformer.encoder.final_layernorm.weight 8
transformer.output_layer.weight 11 8
)"};

inline constexpr FamilyRow kOlmoe = {
    "olmoe",
    R"({"model_type": "olmoe", "hidden_size": 8, "intermediate_size": 7, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "num_experts": 3, "num_experts_per_tok": 2, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.q_norm.weight 8
model.layers.{0-1}.self_attn.k_norm.weight 8
model.layers.{0-1}.mlp.gate.weight 3 8
model.layers.{0-1}.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.{0-1}.mlp.experts.{0-2}.down_proj.weight 8 7
model.norm.weight 8
)"};

inline constexpr FamilyRow kGraniteMoe = {
    "granitemoe",
    R"({"model_type": "granitemoe", "hidden_size": 8, "intermediate_size": 7, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "num_local_experts": 3, "num_experts_per_tok": 2, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.block_sparse_moe.router.layer.weight 3 8
model.layers.{0-1}.block_sparse_moe.input_linear.weight 3 14 8
model.layers.{0-1}.block_sparse_moe.output_linear.weight 3 8 7
model.norm.weight 8
)"};

inline constexpr FamilyRow kPhimoe = {
    "phimoe",
    R"({"model_type": "phimoe", "hidden_size": 8, "intermediate_size": 7, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "num_local_experts": 3, "num_experts_per_tok": 2, "attention_bias": true,
    "lm_head_bias": true, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.input_layernorm.bias 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.bias 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.bias 8
model.layers.{0-1}.block_sparse_moe.gate.weight 3 8
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w1.weight 7 8
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w3.weight 7 8
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w2.weight 8 7
model.norm.weight 8
model.norm.bias 8
lm_head.bias 11
)"};

inline constexpr FamilyRow kMinimaxM2 = {
    "minimax_m2",
    R"({"model_type": "minimax_m2", "hidden_size": 8, "intermediate_size": 7, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "head_dim": 4, "rotary_dim": 2, "num_local_experts": 3,
    "num_experts_per_tok": 2, "use_routing_bias": true, "use_qk_norm": true, "scoring_func": "sigmoid", "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.q_norm.weight 8
model.layers.{0-1}.self_attn.k_norm.weight 8
model.layers.{0-1}.block_sparse_moe.gate.weight 3 8
model.layers.{0-1}.block_sparse_moe.e_score_correction_bias 3
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w1.weight 7 8
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w3.weight 7 8
model.layers.{0-1}.block_sparse_moe.experts.{0-2}.w2.weight 8 7
model.norm.weight 8
)"};

inline constexpr FamilyRow kDbrx = {
    "dbrx",
    R"({"model_type": "dbrx", "d_model": 8, "n_heads": 2, "n_layers": 2, "max_seq_len": 7, "vocab_size": 11,
    "attn_config": {"kv_n_heads": 1}, "ffn_config": {"ffn_hidden_size": 7, "moe_num_experts": 3,
    "moe_top_k": 2, "ffn_act_fn": {"name": "silu"}}, "tie_word_embeddings": false})",
    R"(
transformer.wte.weight 11 8
lm_head.weight 11 8
transformer.blocks.{0-1}.norm_attn_norm.norm_1.weight 8
transformer.blocks.{0-1}.norm_attn_norm.norm_2.weight 8
transformer.blocks.{0-1}.norm_attn_norm.attn.Wqkv.weight 16 8
transformer.blocks.{0-1}.norm_attn_norm.attn.out_proj.weight 8 8
transformer.blocks.{0-1}.ffn.router.layer.weight 3 8
transformer.blocks.{0-1}.ffn.experts.mlp.w1 21 8
transformer.blocks.{0-1}.ffn.experts.mlp.v1 21 8
transformer.blocks.{0-1}.ffn.experts.mlp.w2 21 8
transformer.norm_f.weight 8
)"};

inline constexpr FamilyRow kGlm4Moe = {
    "glm4_moe",
    R"({"model_type": "glm4_moe", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 11, "head_dim": 8,
    "moe_intermediate_size": 7, "first_k_dense_replace": 1, "n_routed_experts": 3,
    "n_shared_experts": 1, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
    "attention_bias": true, "use_qk_norm": true, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 16 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.weight 8 16
model.layers.{0-1}.self_attn.q_norm.weight 8
model.layers.{0-1}.self_attn.k_norm.weight 8
model.layers.{0-1}.self_attn.q_proj.bias 16
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.0.mlp.gate_proj.weight 13 8
model.layers.0.mlp.up_proj.weight 13 8
model.layers.0.mlp.down_proj.weight 8 13
model.layers.1.mlp.gate.weight 3 8
model.layers.1.mlp.gate.e_score_correction_bias 3
model.layers.1.mlp.experts.{0-2}.gate_proj.weight 7 8
model.layers.1.mlp.experts.{0-2}.up_proj.weight 7 8
model.layers.1.mlp.experts.{0-2}.down_proj.weight 8 7
model.layers.1.mlp.shared_experts.gate_proj.weight 7 8
model.layers.1.mlp.shared_experts.up_proj.weight 7 8
model.layers.1.mlp.shared_experts.down_proj.weight 8 7
model.norm.weight 8
)"};

inline constexpr FamilyRow kRobertaMlm = {
    "roberta, masked language model",
    R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11,
    "max_position_embeddings": 7, "type_vocab_size": 1})",
    R"(
roberta.embeddings.word_embeddings.weight 11 8
roberta.embeddings.position_embeddings.weight 7 8
roberta.embeddings.token_type_embeddings.weight 1 8
roberta.embeddings.LayerNorm.weight 8
roberta.embeddings.LayerNorm.bias 8
roberta.encoder.layer.{0-1}.attention.self.query.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.query.bias 8
roberta.encoder.layer.{0-1}.attention.self.key.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.key.bias 8
roberta.encoder.layer.{0-1}.attention.self.value.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.value.bias 8
roberta.encoder.layer.{0-1}.attention.output.dense.weight 8 8
roberta.encoder.layer.{0-1}.attention.output.dense.bias 8
roberta.encoder.layer.{0-1}.attention.output.LayerNorm.weight 8
roberta.encoder.layer.{0-1}.attention.output.LayerNorm.bias 8
roberta.encoder.layer.{0-1}.intermediate.dense.weight 13 8
roberta.encoder.layer.{0-1}.intermediate.dense.bias 13
roberta.encoder.layer.{0-1}.output.dense.weight 8 13
roberta.encoder.layer.{0-1}.output.dense.bias 8
roberta.encoder.layer.{0-1}.output.LayerNorm.weight 8
roberta.encoder.layer.{0-1}.output.LayerNorm.bias 8
lm_head.dense.weight 8 8
lm_head.dense.bias 8
lm_head.layer_norm.weight 8
lm_head.layer_norm.bias 8
lm_head.bias 11
)"};

inline constexpr FamilyRow kRobertaClassifier = {
    "roberta, classifier",
    R"({"model_type": "roberta", "architectures": ["RobertaForSequenceClassification"],
    "num_labels": 3, "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11,
    "max_position_embeddings": 7, "type_vocab_size": 1})",
    R"(
roberta.embeddings.word_embeddings.weight 11 8
roberta.embeddings.position_embeddings.weight 7 8
roberta.embeddings.token_type_embeddings.weight 1 8
roberta.embeddings.LayerNorm.weight 8
roberta.embeddings.LayerNorm.bias 8
roberta.encoder.layer.{0-1}.attention.self.query.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.query.bias 8
roberta.encoder.layer.{0-1}.attention.self.key.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.key.bias 8
roberta.encoder.layer.{0-1}.attention.self.value.weight 8 8
roberta.encoder.layer.{0-1}.attention.self.value.bias 8
roberta.encoder.layer.{0-1}.attention.output.dense.weight 8 8
roberta.encoder.layer.{0-1}.attention.output.dense.bias 8
roberta.encoder.layer.{0-1}.attention.output.LayerNorm.weight 8
roberta.encoder.layer.{0-1}.attention.output.LayerNorm.bias 8
roberta.encoder.layer.{0-1}.intermediate.dense.weight 13 8
roberta.encoder.layer.{0-1}.intermediate.dense.bias 13
roberta.encoder.layer.{0-1}.output.dense.weight 8 13
roberta.encoder.layer.{0-1}.output.dense.bias 8
roberta.encoder.layer.{0-1}.output.LayerNorm.weight 8
roberta.encoder.layer.{0-1}.output.LayerNorm.bias 8
classifier.dense.weight 8 8
classifier.dense.bias 8
classifier.out_proj.weight 3 8
classifier.out_proj.bias 3
)"};

inline constexpr FamilyRow kDistilbertMlm = {
    "distilbert, masked language model",
    R"({"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "dim": 8, "hidden_dim": 13, "n_layers": 2, "n_heads": 2,
    "max_position_embeddings": 7, "vocab_size": 11})",
    R"(
distilbert.embeddings.word_embeddings.weight 11 8
distilbert.embeddings.position_embeddings.weight 7 8
distilbert.embeddings.LayerNorm.weight 8
distilbert.embeddings.LayerNorm.bias 8
distilbert.transformer.layer.{0-1}.attention.q_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.q_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.k_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.k_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.v_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.v_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.out_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.out_lin.bias 8
distilbert.transformer.layer.{0-1}.sa_layer_norm.weight 8
distilbert.transformer.layer.{0-1}.sa_layer_norm.bias 8
distilbert.transformer.layer.{0-1}.output_layer_norm.weight 8
distilbert.transformer.layer.{0-1}.output_layer_norm.bias 8
distilbert.transformer.layer.{0-1}.ffn.lin1.weight 13 8
distilbert.transformer.layer.{0-1}.ffn.lin1.bias 13
distilbert.transformer.layer.{0-1}.ffn.lin2.weight 8 13
distilbert.transformer.layer.{0-1}.ffn.lin2.bias 8
vocab_transform.weight 8 8
vocab_transform.bias 8
vocab_layer_norm.weight 8
vocab_layer_norm.bias 8
vocab_projector.bias 11
)"};

inline constexpr FamilyRow kDistilbertClassifier = {
    "distilbert, classifier",
    R"({"model_type": "distilbert", "architectures": ["DistilBertForSequenceClassification"],
    "num_labels": 3, "dim": 8, "hidden_dim": 13, "n_layers": 2, "n_heads": 2,
    "max_position_embeddings": 7, "vocab_size": 11})",
    R"(
distilbert.embeddings.word_embeddings.weight 11 8
distilbert.embeddings.position_embeddings.weight 7 8
distilbert.embeddings.LayerNorm.weight 8
distilbert.embeddings.LayerNorm.bias 8
distilbert.transformer.layer.{0-1}.attention.q_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.q_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.k_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.k_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.v_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.v_lin.bias 8
distilbert.transformer.layer.{0-1}.attention.out_lin.weight 8 8
distilbert.transformer.layer.{0-1}.attention.out_lin.bias 8
distilbert.transformer.layer.{0-1}.sa_layer_norm.weight 8
distilbert.transformer.layer.{0-1}.sa_layer_norm.bias 8
distilbert.transformer.layer.{0-1}.output_layer_norm.weight 8
distilbert.transformer.layer.{0-1}.output_layer_norm.bias 8
distilbert.transformer.layer.{0-1}.ffn.lin1.weight 13 8
distilbert.transformer.layer.{0-1}.ffn.lin1.bias 13
distilbert.transformer.layer.{0-1}.ffn.lin2.weight 8 13
distilbert.transformer.layer.{0-1}.ffn.lin2.bias 8
pre_classifier.weight 8 8
pre_classifier.bias 8
classifier.weight 3 8
classifier.bias 3
)"};

inline constexpr FamilyRow kModernbert = {
    "modernbert",
    R"({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"], "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11,
    "max_position_embeddings": 7, "local_attention": 4, "global_attn_every_n_layers": 3})",
    R"(
model.embeddings.tok_embeddings.weight 11 8
model.embeddings.norm.weight 8
model.layers.1.attn_norm.weight 8
model.layers.{0-1}.attn.Wqkv.weight 24 8
model.layers.{0-1}.attn.Wo.weight 8 8
model.layers.{0-1}.mlp_norm.weight 8
model.layers.{0-1}.mlp.Wi.weight 26 8
model.layers.{0-1}.mlp.Wo.weight 8 13
model.final_norm.weight 8
head.dense.weight 8 8
head.norm.weight 8
decoder.bias 11
)"};

inline constexpr FamilyRow kNomicBert = {
    "nomic_bert",
    R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "n_embd": 8,
    "n_inner": 13, "n_layer": 2, "n_head": 2, "vocab_size": 11, "type_vocab_size": 2,
    "n_positions": 7, "activation_function": "swiglu", "qkv_proj_bias": false,
    "mlp_fc1_bias": false, "mlp_fc2_bias": false, "prenorm": false, "rotary_emb_fraction": 1.0})",
    R"(
embeddings.word_embeddings.weight 11 8
embeddings.token_type_embeddings.weight 2 8
emb_ln.weight 8
emb_ln.bias 8
encoder.layers.{0-1}.attn.Wqkv.weight 24 8
encoder.layers.{0-1}.attn.out_proj.weight 8 8
encoder.layers.{0-1}.norm1.weight 8
encoder.layers.{0-1}.norm1.bias 8
encoder.layers.{0-1}.norm2.weight 8
encoder.layers.{0-1}.norm2.bias 8
encoder.layers.{0-1}.mlp.fc11.weight 13 8
encoder.layers.{0-1}.mlp.fc12.weight 13 8
encoder.layers.{0-1}.mlp.fc2.weight 8 13
)"};

inline constexpr FamilyRow kBart = {
    "bart",
    R"({"model_type": "bart", "d_model": 8, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 13, "decoder_ffn_dim": 12,
    "max_position_embeddings": 7, "vocab_size": 11})",
    R"(
model.shared.weight 11 8
model.encoder.embed_positions.weight 9 8
model.decoder.embed_positions.weight 9 8
model.encoder.layernorm_embedding.weight 8
model.encoder.layernorm_embedding.bias 8
model.decoder.layernorm_embedding.weight 8
model.decoder.layernorm_embedding.bias 8
model.encoder.layers.{0-1}.self_attn.q_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.q_proj.bias 8
model.encoder.layers.{0-1}.self_attn.k_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.k_proj.bias 8
model.encoder.layers.{0-1}.self_attn.v_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.v_proj.bias 8
model.encoder.layers.{0-1}.self_attn.out_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.out_proj.bias 8
model.encoder.layers.{0-1}.self_attn_layer_norm.weight 8
model.encoder.layers.{0-1}.self_attn_layer_norm.bias 8
model.encoder.layers.{0-1}.fc1.weight 13 8
model.encoder.layers.{0-1}.fc1.bias 13
model.encoder.layers.{0-1}.fc2.weight 8 13
model.encoder.layers.{0-1}.fc2.bias 8
model.encoder.layers.{0-1}.final_layer_norm.weight 8
model.encoder.layers.{0-1}.final_layer_norm.bias 8
model.decoder.layers.{0-1}.self_attn.q_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.q_proj.bias 8
model.decoder.layers.{0-1}.self_attn.k_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.k_proj.bias 8
model.decoder.layers.{0-1}.self_attn.v_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.v_proj.bias 8
model.decoder.layers.{0-1}.self_attn.out_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.out_proj.bias 8
model.decoder.layers.{0-1}.self_attn_layer_norm.weight 8
model.decoder.layers.{0-1}.self_attn_layer_norm.bias 8
model.decoder.layers.{0-1}.encoder_attn.q_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.q_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.k_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.k_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.v_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.v_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.out_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.out_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn_layer_norm.weight 8
model.decoder.layers.{0-1}.encoder_attn_layer_norm.bias 8
model.decoder.layers.{0-1}.fc1.weight 12 8
model.decoder.layers.{0-1}.fc1.bias 12
model.decoder.layers.{0-1}.fc2.weight 8 12
model.decoder.layers.{0-1}.fc2.bias 8
model.decoder.layers.{0-1}.final_layer_norm.weight 8
model.decoder.layers.{0-1}.final_layer_norm.bias 8
)"};

inline constexpr FamilyRow kMbart = {
    "mbart",
    R"({"model_type": "mbart", "d_model": 8, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 13, "decoder_ffn_dim": 12,
    "max_position_embeddings": 7, "vocab_size": 11})",
    R"(
model.shared.weight 11 8
model.encoder.embed_positions.weight 9 8
model.decoder.embed_positions.weight 9 8
model.encoder.layernorm_embedding.weight 8
model.encoder.layernorm_embedding.bias 8
model.decoder.layernorm_embedding.weight 8
model.decoder.layernorm_embedding.bias 8
model.encoder.layers.{0-1}.self_attn.q_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.q_proj.bias 8
model.encoder.layers.{0-1}.self_attn.k_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.k_proj.bias 8
model.encoder.layers.{0-1}.self_attn.v_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.v_proj.bias 8
model.encoder.layers.{0-1}.self_attn.out_proj.weight 8 8
model.encoder.layers.{0-1}.self_attn.out_proj.bias 8
model.encoder.layers.{0-1}.self_attn_layer_norm.weight 8
model.encoder.layers.{0-1}.self_attn_layer_norm.bias 8
model.encoder.layers.{0-1}.fc1.weight 13 8
model.encoder.layers.{0-1}.fc1.bias 13
model.encoder.layers.{0-1}.fc2.weight 8 13
model.encoder.layers.{0-1}.fc2.bias 8
model.encoder.layers.{0-1}.final_layer_norm.weight 8
model.encoder.layers.{0-1}.final_layer_norm.bias 8
model.decoder.layers.{0-1}.self_attn.q_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.q_proj.bias 8
model.decoder.layers.{0-1}.self_attn.k_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.k_proj.bias 8
model.decoder.layers.{0-1}.self_attn.v_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.v_proj.bias 8
model.decoder.layers.{0-1}.self_attn.out_proj.weight 8 8
model.decoder.layers.{0-1}.self_attn.out_proj.bias 8
model.decoder.layers.{0-1}.self_attn_layer_norm.weight 8
model.decoder.layers.{0-1}.self_attn_layer_norm.bias 8
model.decoder.layers.{0-1}.encoder_attn.q_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.q_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.k_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.k_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.v_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.v_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn.out_proj.weight 8 8
model.decoder.layers.{0-1}.encoder_attn.out_proj.bias 8
model.decoder.layers.{0-1}.encoder_attn_layer_norm.weight 8
model.decoder.layers.{0-1}.encoder_attn_layer_norm.bias 8
model.decoder.layers.{0-1}.fc1.weight 12 8
model.decoder.layers.{0-1}.fc1.bias 12
model.decoder.layers.{0-1}.fc2.weight 8 12
model.decoder.layers.{0-1}.fc2.bias 8
model.decoder.layers.{0-1}.final_layer_norm.weight 8
model.decoder.layers.{0-1}.final_layer_norm.bias 8
model.encoder.layer_norm.weight 8
model.encoder.layer_norm.bias 8
model.decoder.layer_norm.weight 8
model.decoder.layer_norm.bias 8
)"};

inline constexpr FamilyRow kGrok = {
    "grok-1",
    R"({"model_type": "grok-1", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "vocab_size": 11, "num_experts": 3,
    "num_experts_per_tok": 2, "max_attn_value": 30.0, "attn_output_multiplier": 0.5,
    "embedding_multiplier_scale": 2.0, "output_multiplier_scale": 0.5,
    "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.pre_attn_norm.scale 8
model.layers.{0-1}.post_attn_norm.scale 8
model.layers.{0-1}.pre_moe_norm.scale 8
model.layers.{0-1}.post_moe_norm.scale 8
model.layers.{0-1}.attn.q_proj.weight 8 8
model.layers.{0-1}.attn.k_proj.weight 4 8
model.layers.{0-1}.attn.v_proj.weight 4 8
model.layers.{0-1}.attn.o_proj.weight 8 8
model.layers.{0-1}.moe_block.gate.weight 3 8
model.layers.{0-1}.moe_block.experts.{0-2}.linear.weight 13 8
model.layers.{0-1}.moe_block.experts.{0-2}.linear_v.weight 13 8
model.layers.{0-1}.moe_block.experts.{0-2}.linear_1.weight 8 13
model.norm.scale 8
)"};

inline constexpr FamilyRow kGptNeox = {
    "gpt_neox",
    R"({"model_type": "gpt_neox", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "rotary_pct": 0.5, "tie_word_embeddings": false})",
    R"(
gpt_neox.embed_in.weight 11 8
gpt_neox.layers.{0-1}.input_layernorm.weight 8
gpt_neox.layers.{0-1}.input_layernorm.bias 8
gpt_neox.layers.{0-1}.post_attention_layernorm.weight 8
gpt_neox.layers.{0-1}.post_attention_layernorm.bias 8
gpt_neox.layers.{0-1}.attention.query_key_value.weight 24 8
gpt_neox.layers.{0-1}.attention.query_key_value.bias 24
gpt_neox.layers.{0-1}.attention.dense.weight 8 8
gpt_neox.layers.{0-1}.attention.dense.bias 8
gpt_neox.layers.{0-1}.mlp.dense_h_to_4h.weight 13 8
gpt_neox.layers.{0-1}.mlp.dense_h_to_4h.bias 13
gpt_neox.layers.{0-1}.mlp.dense_4h_to_h.weight 8 13
gpt_neox.layers.{0-1}.mlp.dense_4h_to_h.bias 8
gpt_neox.final_layer_norm.weight 8
gpt_neox.final_layer_norm.bias 8
embed_out.weight 11 8
)"};

inline constexpr FamilyRow kGptNeoxReward = {
    "gpt_neox_reward_model",
    R"({"model_type": "gpt_neox_reward_model", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "rotary_pct": 0.5, "tie_word_embeddings": false})",
    R"(
gpt_neox.embed_in.weight 11 8
gpt_neox.layers.{0-1}.input_layernorm.weight 8
gpt_neox.layers.{0-1}.input_layernorm.bias 8
gpt_neox.layers.{0-1}.post_attention_layernorm.weight 8
gpt_neox.layers.{0-1}.post_attention_layernorm.bias 8
gpt_neox.layers.{0-1}.attention.query_key_value.weight 24 8
gpt_neox.layers.{0-1}.attention.query_key_value.bias 24
gpt_neox.layers.{0-1}.attention.dense.weight 8 8
gpt_neox.layers.{0-1}.attention.dense.bias 8
gpt_neox.layers.{0-1}.mlp.dense_h_to_4h.weight 13 8
gpt_neox.layers.{0-1}.mlp.dense_h_to_4h.bias 13
gpt_neox.layers.{0-1}.mlp.dense_4h_to_h.weight 8 13
gpt_neox.layers.{0-1}.mlp.dense_4h_to_h.bias 8
gpt_neox.final_layer_norm.weight 8
gpt_neox.final_layer_norm.bias 8
out_proj.weight 1 8
out_proj.bias 1
)"};

inline constexpr FamilyRow kInternlm = {
    "internlm",
    R"({"model_type": "internlm", "hidden_size": 8, "intermediate_size": 13, "num_hidden_layers": 2, "num_attention_heads": 2,
    "vocab_size": 11, "bias": true, "tie_word_embeddings": false})",
    R"(
model.embed_tokens.weight 11 8
lm_head.weight 11 8
model.layers.{0-1}.input_layernorm.weight 8
model.layers.{0-1}.post_attention_layernorm.weight 8
model.layers.{0-1}.self_attn.q_proj.weight 8 8
model.layers.{0-1}.self_attn.q_proj.bias 8
model.layers.{0-1}.self_attn.k_proj.weight 8 8
model.layers.{0-1}.self_attn.k_proj.bias 8
model.layers.{0-1}.self_attn.v_proj.weight 8 8
model.layers.{0-1}.self_attn.v_proj.bias 8
model.layers.{0-1}.self_attn.o_proj.weight 8 8
model.layers.{0-1}.self_attn.o_proj.bias 8
model.layers.{0-1}.mlp.gate_proj.weight 13 8
model.layers.{0-1}.mlp.up_proj.weight 13 8
model.layers.{0-1}.mlp.down_proj.weight 8 13
model.norm.weight 8
)"};

inline constexpr FamilyRow kPlainRows[] = {
    kGptJ,
    kCodegen,
    kGptNeo,
    kGptBigcode,
    kBloom,
    kFalcon,
    kXglm,
    kStarcoder2,
    kPhi,
    kNemotron,
    kQwen,
    kOlmo,
    kOlmo2,
    kExaone4,
    kCohere,
    kStablelm,
    kGemma2,
    kGranite,
    kMinicpm,
    kGlm,
    kChatglm2,
    kOlmoe,
    kGraniteMoe,
    kPhimoe,
    kMinimaxM2,
    kDbrx,
    kGlm4Moe,
    kRobertaMlm,
    kRobertaClassifier,
    kDistilbertMlm,
    kDistilbertClassifier,
    kModernbert,
    kNomicBert,
    kBart,
    kMbart,
    kGrok,
    kGptNeox,
    kGptNeoxReward,
    kInternlm,
};

}  // namespace flopwise::made
