// Facts for gguf_families_test.cc: of each architecture the keys and the tensors that llama.cpp's
// converter writes, at small sizes.
#pragma once

namespace flopwise::made {

struct GgufRow {
  const char* name;
  const char* architecture;
  const char* model_type;
  // A key a line: what follows the architecture, and a whole number, a factor with a point, or a
  // flag.
  const char* keys;
  // A tensor a line: name, axes, innermost last.
  const char* tensors;
  int copies = 0;  // elements of a tied head that is stored again
};

inline constexpr GgufRow kGgufRows[] = {
    {"llama",             "llama", "llama",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
rope.dimension_count 8
)",                                                                              R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output.weight 11 16
)"                                                            },
    {"mistral: a window", "llama", "mistral",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.sliding_window 5
)",                                                                              R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output.weight 11 16
)"                                                            },
    {"gpt2",              "gpt2",  "gpt2",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
)",                                                                              R"(
token_embd.weight 11 16
position_embd.weight 7 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.ffn_norm.weight 16
blk.0.ffn_norm.bias 16
blk.0.attn_qkv.weight 48 16
blk.0.attn_qkv.bias 48
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_up.bias 24
blk.0.ffn_down.weight 16 24
blk.0.ffn_down.bias 16
output_norm.weight 16
output_norm.bias 16
output.weight 11 16
)",
     176},
    {"gptneox",                   "gptneox",                  "gpt_neox",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
use_parallel_residual true
rope.dimension_count 4
)",            R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.ffn_norm.weight 16
blk.0.ffn_norm.bias 16
blk.0.attn_qkv.weight 48 16
blk.0.attn_qkv.bias 48
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_up.bias 24
blk.0.ffn_down.weight 16 24
blk.0.ffn_down.bias 16
output_norm.weight 16
output_norm.bias 16
output.weight 11 16
)"                                                                                                                                              },
    {"falcon with one key head",                   "falcon", "falcon",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
)",               R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.attn_qkv.weight 32 16
blk.0.attn_output.weight 16 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output_norm.bias 16
output.weight 11 16
)",
     176},
    {"falcon with groups",                 "falcon",                        "falcon",
     R"(
block_count 1
embedding_length 16
attention.head_count 4
feed_forward_length 24
context_length 7
attention.head_count_kv 2
)",                             R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.attn_norm_2.weight 16
blk.0.attn_norm_2.bias 16
blk.0.attn_qkv.weight 32 16
blk.0.attn_output.weight 16 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output_norm.bias 16
)"                                                            },
    {"bloom",                "bloom",                       "bloom",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 64
context_length 7
attention.head_count_kv 2
)",               R"(
token_embd.weight 11 16
token_embd_norm.weight 16
token_embd_norm.bias 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.ffn_norm.weight 16
blk.0.ffn_norm.bias 16
blk.0.attn_qkv.weight 48 16
blk.0.attn_qkv.bias 48
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.ffn_up.weight 64 16
blk.0.ffn_up.bias 64
blk.0.ffn_down.weight 16 64
blk.0.ffn_down.bias 16
output_norm.weight 16
output_norm.bias 16
)"},
    {"mpt",                "mpt",                       "mpt",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 48
context_length 7
attention.max_alibi_bias 8.0
)",                                 R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_qkv.weight 48 16
blk.0.attn_output.weight 16 16
blk.0.ffn_up.weight 48 16
blk.0.ffn_down.weight 16 48
output_norm.weight 16
)"                                                                                },
    {"phi2",                "phi2",                       "phi",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
rope.dimension_count 4
)",             R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.attn_qkv.weight 48 16
blk.0.attn_qkv.bias 48
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_up.bias 24
blk.0.ffn_down.weight 16 24
blk.0.ffn_down.bias 16
output_norm.weight 16
output_norm.bias 16
output.weight 11 16
output.bias 11
)"},
    {"phi3",                "phi3",                       "phi3",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
rope.dimension_count 8
)",                                 R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_qkv.weight 32 16
blk.0.attn_output.weight 16 16
blk.0.ffn_up.weight 48 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output.weight 11 16
)"                                                                                                   },
    {"qwen2",                "qwen2",                       "qwen2",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
)",           R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"},
    {"qwen2moe",                "qwen2moe",                       "qwen2_moe",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
expert_count 3
expert_used_count 2
expert_feed_forward_length 10
expert_shared_feed_forward_length 9
)",                           R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate_inp.weight 3 16
blk.0.ffn_gate_exps.weight 3 10 16
blk.0.ffn_up_exps.weight 3 10 16
blk.0.ffn_down_exps.weight 3 16 10
blk.0.ffn_gate_shexp.weight 9 16
blk.0.ffn_up_shexp.weight 9 16
blk.0.ffn_down_shexp.weight 16 9
blk.0.ffn_gate_inp_shexp.weight 16
output_norm.weight 16
output.weight 11 16
)"                                                                                                               },
    {"qwen2moe without widths",                "qwen2moe",                       "qwen2_moe",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
expert_count 3
expert_used_count 2
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate_inp.weight 3 16
blk.0.ffn_gate_exps.weight 3 10 16
blk.0.ffn_up_exps.weight 3 10 16
blk.0.ffn_down_exps.weight 3 16 10
blk.0.ffn_gate_shexp.weight 9 16
blk.0.ffn_up_shexp.weight 9 16
blk.0.ffn_down_shexp.weight 16 9
blk.0.ffn_gate_inp_shexp.weight 16
output_norm.weight 16
output.weight 11 16
)"},
    {"qwen3",                "qwen3",                       "qwen3",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 8
attention.value_length 8
)",                                                R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_q_norm.weight 8
blk.0.attn_k_norm.weight 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output.weight 11 16
)"                                                                                                                                                                       },
    {"qwen3moe",                "qwen3moe",                       "qwen3_moe",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 8
expert_count 3
expert_used_count 2
expert_feed_forward_length 10
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_q_norm.weight 8
blk.0.attn_k_norm.weight 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate_inp.weight 3 16
blk.0.ffn_gate_exps.weight 3 10 16
blk.0.ffn_up_exps.weight 3 10 16
blk.0.ffn_down_exps.weight 3 16 10
output_norm.weight 16
output.weight 11 16
)"},
    {"gemma",                "gemma",                       "gemma",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 6
)",                                                      R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 12 16
blk.0.attn_k.weight 6 16
blk.0.attn_v.weight 6 16
blk.0.attn_output.weight 16 12
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"                                                                                                                                                                                                                                           },
    {"gemma2",                "gemma2",                       "gemma2",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 6
attention.sliding_window 5
attn_logit_softcapping 50.0
final_logit_softcapping 30.0
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.post_attention_norm.weight 16
blk.0.post_ffw_norm.weight 16
blk.0.attn_q.weight 12 16
blk.0.attn_k.weight 6 16
blk.0.attn_v.weight 6 16
blk.0.attn_output.weight 16 12
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"},
    {"gemma3",                "gemma3",                       "gemma3_text",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 6
attention.sliding_window 5
)",                                                      R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.post_attention_norm.weight 16
blk.0.post_ffw_norm.weight 16
blk.0.attn_q.weight 12 16
blk.0.attn_k.weight 6 16
blk.0.attn_v.weight 6 16
blk.0.attn_q_norm.weight 6
blk.0.attn_k_norm.weight 6
blk.0.attn_output.weight 16 12
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"                                                                                                                                                                                                                                                                                                        },
    {"starcoder2",                "starcoder2",                       "starcoder2",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.ffn_norm.weight 16
blk.0.ffn_norm.bias 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_up.bias 24
blk.0.ffn_down.weight 16 24
blk.0.ffn_down.bias 16
output_norm.weight 16
output_norm.bias 16
)"},
    {"stablelm",                "stablelm",                       "stablelm",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
use_parallel_residual false
rope.dimension_count 2
)",                                                          R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_norm.bias 16
blk.0.ffn_norm.weight 16
blk.0.ffn_norm.bias 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
output_norm.bias 16
output.weight 11 16
)"                                                                                                                                                                                                                                                                                                                                                                                        },
    {"command-r",                "command-r",                       "cohere",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
logit_scale 0.0625
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"},
    {"olmo",                "olmo",                       "olmo",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
)",                                                                    R"(
token_embd.weight 11 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output.weight 11 16
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    },
    {"olmoe",                "olmoe",                       "olmoe",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 10
context_length 7
attention.head_count_kv 2
expert_count 3
expert_used_count 2
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 16 16
blk.0.attn_v.weight 16 16
blk.0.attn_q_norm.weight 16
blk.0.attn_k_norm.weight 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate_inp.weight 3 16
blk.0.ffn_gate_exps.weight 3 10 16
blk.0.ffn_up_exps.weight 3 10 16
blk.0.ffn_down_exps.weight 3 16 10
output_norm.weight 16
output.weight 11 16
)"},
    {"granite",                "granite",                       "granite",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.scale 0.5
embedding_scale 12.0
residual_scale 0.2
logit_scale 8.0
)",                                                                R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_k.weight 8 16
blk.0.attn_v.weight 8 16
blk.0.attn_output.weight 16 16
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
output_norm.weight 16
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          },
    {"gpt-oss",                "gpt-oss",                       "gpt_oss",
     R"(
block_count 1
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.key_length 8
attention.sliding_window 5
expert_count 3
expert_used_count 2
expert_feed_forward_length 24
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.post_attention_norm.weight 16
blk.0.attn_q.weight 16 16
blk.0.attn_q.bias 16
blk.0.attn_k.weight 8 16
blk.0.attn_k.bias 8
blk.0.attn_v.weight 8 16
blk.0.attn_v.bias 8
blk.0.attn_output.weight 16 16
blk.0.attn_output.bias 16
blk.0.attn_sinks.weight 2
blk.0.ffn_gate_inp.weight 3 16
blk.0.ffn_gate_exps.weight 3 24 16
blk.0.ffn_up_exps.weight 3 24 16
blk.0.ffn_down_exps.weight 3 16 24
blk.0.ffn_gate_inp.bias 3
blk.0.ffn_gate_exps.bias 3 24
blk.0.ffn_up_exps.bias 3 24
blk.0.ffn_down_exps.bias 3 16
output_norm.weight 16
output.weight 11 16
)"},
    {"deepseek2, queries from the hidden state",                "deepseek2",                       "deepseek_v2",
     R"(
block_count 2
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 2
attention.key_length 10
attention.value_length 5
expert_weights_scale 1.0
leading_dense_block_count 1
attention.kv_lora_rank 7
rope.dimension_count 4
expert_count 3
expert_used_count 2
expert_shared_count 2
expert_feed_forward_length 10
)",                             R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q.weight 20 16
blk.0.attn_kv_a_mqa.weight 11 16
blk.0.attn_kv_a_norm.weight 7
blk.0.attn_output.weight 16 10
blk.0.attn_kv_b.weight 22 7
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
blk.1.attn_norm.weight 16
blk.1.ffn_norm.weight 16
blk.1.attn_q.weight 20 16
blk.1.attn_kv_a_mqa.weight 11 16
blk.1.attn_kv_a_norm.weight 7
blk.1.attn_output.weight 16 10
blk.1.attn_kv_b.weight 22 7
blk.1.ffn_gate_inp.weight 3 16
blk.1.ffn_gate_exps.weight 3 10 16
blk.1.ffn_up_exps.weight 3 10 16
blk.1.ffn_down_exps.weight 3 16 10
blk.1.ffn_gate_shexp.weight 20 16
blk.1.ffn_up_shexp.weight 20 16
blk.1.ffn_down_shexp.weight 16 20
output_norm.weight 16
output.weight 11 16
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           },
    {"deepseek2, absorbed, with a correction bias",                "deepseek2",                       "deepseek_v3",
     R"(
block_count 2
embedding_length 16
attention.head_count 2
feed_forward_length 24
context_length 7
attention.head_count_kv 1
attention.q_lora_rank 9
attention.key_length 11
attention.value_length 7
attention.key_length_mla 10
attention.value_length_mla 5
expert_weights_scale 2.5
expert_gating_func 2
expert_weights_norm true
leading_dense_block_count 1
attention.kv_lora_rank 7
rope.dimension_count 4
expert_count 3
expert_used_count 2
expert_shared_count 2
expert_feed_forward_length 10
)",R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ffn_norm.weight 16
blk.0.attn_q_a.weight 9 16
blk.0.attn_q_a_norm.weight 9
blk.0.attn_q_b.weight 20 9
blk.0.attn_kv_a_mqa.weight 11 16
blk.0.attn_kv_a_norm.weight 7
blk.0.attn_output.weight 16 10
blk.0.attn_k_b.weight 2 7 6
blk.0.attn_v_b.weight 2 5 7
blk.1.attn_norm.weight 16
blk.1.ffn_norm.weight 16
blk.1.attn_q_a.weight 9 16
blk.1.attn_q_a_norm.weight 9
blk.1.attn_q_b.weight 20 9
blk.1.attn_kv_a_mqa.weight 11 16
blk.1.attn_kv_a_norm.weight 7
blk.1.attn_output.weight 16 10
blk.1.attn_k_b.weight 2 7 6
blk.1.attn_v_b.weight 2 5 7
blk.0.ffn_gate.weight 24 16
blk.0.ffn_up.weight 24 16
blk.0.ffn_down.weight 16 24
blk.1.ffn_gate_inp.weight 3 16
blk.1.ffn_gate_exps.weight 3 10 16
blk.1.ffn_up_exps.weight 3 10 16
blk.1.ffn_down_exps.weight 3 16 10
blk.1.ffn_gate_shexp.weight 20 16
blk.1.ffn_up_shexp.weight 20 16
blk.1.ffn_down_shexp.weight 16 20
blk.1.exp_probs_b.bias 3
output_norm.weight 16
output.weight 11 16
)"},
    {"mamba",                "mamba",                       "mamba",
     R"(
block_count 1
embedding_length 16
feed_forward_length 0
attention.head_count 0
context_length 7
ssm.conv_kernel 4
ssm.inner_size 32
ssm.state_size 3
ssm.time_step_rank 5
)",                                                                       R"(
token_embd.weight 11 16
blk.0.attn_norm.weight 16
blk.0.ssm_in.weight 64 16
blk.0.ssm_conv1d.weight 32 4
blk.0.ssm_conv1d.bias 32
blk.0.ssm_x.weight 11 32
blk.0.ssm_dt.weight 32 5
blk.0.ssm_dt.bias 32
blk.0.ssm_a 32 3
blk.0.ssm_d 32
blk.0.ssm_out.weight 16 32
output_norm.weight 16
)"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   },
};

}  // namespace flopwise::made
