// One model of each family, from a short config.json to its total. What stands beside a total is
// where it is published; "layer formula" is an independent count of docs/models.md, no published
// one.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/model_params.h"

namespace flopwise {
namespace {

constexpr const char* kHub = "safetensors total of the Hugging Face hub, by llmfit hf_models.json";
constexpr const char* kHubHeadTwice = "the same, less a second copy of the tied head";
constexpr const char* kFormula = "layer formula";

constexpr std::int64_t kAll = 0;  // active: all of the total

// The model, where its total is from, total and active parameters.
void expect(const char* model, const char* source, std::int64_t total, std::int64_t active,
            const char* config) {
  SCOPED_TRACE(std::string(model) + ": " + source);
  const Model read = model_from_config(parse_json(config, "config.json"), "config.json");
  const Params params = params_of_model(read);
  EXPECT_EQ(params.total, Count(total));
  EXPECT_EQ(params.active, Count(active == kAll ? total : active));
}

TEST(FamilyTotals, GptLineage) {
  expect("falcon-40b",
         "*.index.json of Decentralised-AI/falcon-40b less its second copy of the head",
         41'303'293'952, kAll,
         R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"],
         "alibi": false, "bias": false, "hidden_size": 8192, "multi_query": true,
         "n_head": 128, "n_layer": 60, "new_decoder_architecture": true,
         "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8,
         "parallel_attn": true, "vocab_size": 65024})");
  expect("falcon-40b-RefinedWeb", "the same", 41'303'293'952, kAll,
         R"({"model_type": "RefinedWeb", "architectures": ["RWForCausalLM"],
         "alibi": false, "bias": false, "hidden_size": 8192, "n_head": 128,
         "n_head_kv": 8, "n_layer": 60, "parallel_attn": true, "vocab_size": 65024})");
  expect("falcon-7b", kHubHeadTwice, 6'921'720'704, kAll,
         R"({"model_type": "falcon", "architectures": ["FalconForCausalLM"],
         "alibi": false, "bias": false, "hidden_size": 4544, "multi_query": true,
         "new_decoder_architecture": false, "num_attention_heads": 71,
         "num_hidden_layers": 32, "parallel_attn": true, "vocab_size": 65024})");
  expect("bloom-560m", "Keras Hub presets", 559'214'592, kAll,
         R"({"model_type": "bloom", "architectures": ["BloomForCausalLM"],
         "n_embed": 1024, "n_layer": 24, "num_attention_heads": 16,
         "vocab_size": 250880})");
  expect("mpt-7b-instruct", "*.index.json of mikeybellissimo/LoRA-MPT", 6'649'286'656, kAll,
         R"({"model_type": "mpt", "architectures": ["MPTForCausalLM"],
         "attn_config": {"alibi": true, "attn_type": "multihead_attention",
         "qk_ln": false}, "d_model": 4096, "expansion_ratio": 4,
         "learned_pos_emb": true, "max_seq_len": 2048, "n_heads": 32, "n_layers": 32,
         "no_bias": true, "vocab_size": 50432})");
  expect("gpt-j-6B", kFormula, 6'050'882'784, kAll,
         R"({"model_type": "gptj", "architectures": ["GPTJForCausalLM"],
         "activation_function": "gelu_new", "n_embd": 4096, "n_head": 16,
         "n_layer": 28, "n_positions": 2048, "rotary": true, "rotary_dim": 64,
         "tie_word_embeddings": false, "vocab_size": 50400})");
  expect("WizardCoder-15B-V1.0", kFormula, 15'517'462'528, kAll,
         R"({"model_type": "gpt_bigcode", "architectures": ["GPTBigCodeForCausalLM"],
         "activation_function": "gelu", "multi_query": true, "n_embd": 6144,
         "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192,
         "vocab_size": 49153})");
  expect("starcoder2-3b", kHub, 3'030'371'328, kAll,
         R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"],
         "hidden_act": "gelu_pytorch_tanh", "hidden_size": 3072,
         "intermediate_size": 12288, "max_position_embeddings": 16384,
         "num_attention_heads": 24, "num_hidden_layers": 30, "num_key_value_heads": 2,
         "sliding_window": 4096, "use_bias": true, "vocab_size": 49152})");
  expect("starcoder2-7b", kHub, 7'173'923'840, kAll,
         R"({"model_type": "starcoder2", "architectures": ["Starcoder2ForCausalLM"],
         "hidden_act": "gelu_pytorch_tanh", "hidden_size": 4608,
         "intermediate_size": 18432, "max_position_embeddings": 16384,
         "num_attention_heads": 36, "num_hidden_layers": 32, "num_key_value_heads": 4,
         "sliding_window": 4096, "use_bias": true, "vocab_size": 49152})");
  expect("phi-2", kHub, 2'779'683'840, kAll,
         R"({"model_type": "phi", "architectures": ["PhiForCausalLM"],
         "hidden_act": "gelu_new", "hidden_size": 2560, "intermediate_size": 10240,
         "max_position_embeddings": 2048, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32,
         "partial_rotary_factor": 0.4, "qk_layernorm": false,
         "tie_word_embeddings": false, "vocab_size": 51200})");
  expect("phi-1", kFormula, 1'414'562'935, kAll,
         R"({"model_type": "phi", "architectures": ["PhiForCausalLM"],
         "attention_bias": false, "hidden_act": "gelu_new", "hidden_size": 2048,
         "intermediate_size": 8192, "max_position_embeddings": 2048,
         "num_attention_heads": 32, "num_hidden_layers": 24, "num_key_value_heads": 32,
         "partial_rotary_factor": 0.5, "qk_layernorm": false, "rotary_dim": 32,
         "tie_word_embeddings": false, "vocab_size": 50295})");
  expect("phi-1_5-mixformer", kHub, 1'418'270'720, kAll,
         R"({"model_type": "mixformer-sequential",
         "architectures": ["MixFormerSequentialForCausalLM"],
         "activation_function": "gelu_new", "n_embd": 2048, "n_head": 32,
         "n_layer": 24, "n_positions": 2048, "rotary_dim": 32,
         "tie_word_embeddings": false, "vocab_size": 51200})");
  expect("Nemotron-4-4B", kFormula, 4'190'509'056, kAll,
         R"({"model_type": "nemotron", "architectures": ["NemotronForCausalLM"],
         "hidden_act": "relu2", "hidden_size": 3072, "intermediate_size": 9216,
         "max_position_embeddings": 4096, "num_attention_heads": 24,
         "num_hidden_layers": 32, "num_key_value_heads": 8,
         "partial_rotary_factor": 0.5, "tie_word_embeddings": false,
         "vocab_size": 256000, "kv_channels": 128})");
  expect("oasst-rm-2.1-pythia-1.4b", "*.index.json of junqi-jiang/oasstpythia1.5brm", 1'311'594'497,
         kAll,
         R"({"model_type": "gpt_neox_reward_model",
         "architectures": ["GPTNeoXRewardModel"], "attention_bias": true,
         "hidden_act": "gelu", "hidden_size": 2048, "intermediate_size": 8192,
         "max_position_embeddings": 2048, "num_attention_heads": 16,
         "num_hidden_layers": 24, "pooling": "last", "rotary_pct": 0.25,
         "tie_word_embeddings": false, "vocab_size": 50288})");
  expect("bloom-176b", kFormula, 176'247'271'424, kAll,
         R"({"model_type": "bloom", "architectures": ["BloomForCausalLM"],
         "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
         "vocab_size": 250880})");
  expect("falcon-180B", kFormula, 178'557'088'768, kAll,
         R"({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80,
         "num_attention_heads": 232, "num_kv_heads": 8,
         "new_decoder_architecture": true, "vocab_size": 65024})");
  expect("falcon-rw-1b", kFormula, 1'311'625'216, kAll,
         R"({"model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24,
         "num_attention_heads": 32, "alibi": true, "bias": true, "multi_query": false,
         "parallel_attn": false, "vocab_size": 50304})");
  expect("gpt-neo-125m", kFormula, 125'198'592, kAll,
         R"({"model_type": "gpt_neo", "hidden_size": 768, "num_layers": 12,
         "num_heads": 12, "attention_types": [[["global", "local"], 6]],
         "window_size": 256, "vocab_size": 50257})");
  expect("xglm-564M", kFormula, 564'463'616, kAll,
         R"({"model_type": "xglm", "d_model": 1024, "num_layers": 24,
         "attention_heads": 16, "ffn_dim": 4096, "vocab_size": 256008})");
  expect("codegen-350M", kFormula, 356'712'448, kAll,
         R"({"model_type": "codegen", "n_embd": 1024, "n_layer": 20, "n_head": 16,
         "rotary_dim": 32, "vocab_size": 51200})");
}

TEST(FamilyTotals, RelativesOfLlama) {
  expect("Phi-tiny-MoE-instruct", kHub, 3'755'220'288, 1'288'969'536,
         R"({"model_type": "phimoe", "architectures": ["PhiMoEForCausalLM"],
         "attention_bias": true, "head_dim": 128, "hidden_act": "silu",
         "hidden_size": 4096, "intermediate_size": 448, "lm_head_bias": true,
         "max_position_embeddings": 4096, "num_attention_heads": 16,
         "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 4,
         "num_local_experts": 16, "sliding_window": 2047, "tie_word_embeddings": false,
         "vocab_size": 32064})");
  expect("Qwen-1_8B-Chat", kHub, 1'836'828'672, kAll,
         R"({"model_type": "qwen", "architectures": ["QWenLMHeadModel"],
         "hidden_size": 2048, "intermediate_size": 11008, "kv_channels": 128,
         "max_position_embeddings": 512, "no_bias": true, "num_attention_heads": 16,
         "num_hidden_layers": 24, "rotary_pct": 1.0, "tie_word_embeddings": false,
         "vocab_size": 151936})");
  expect("Qwen-7B-Chat", "*.index.json of zhangningboo/Qwen-7B", 7'721'324'544, kAll,
         R"({"model_type": "qwen", "architectures": ["QWenLMHeadModel"],
         "hidden_size": 4096, "intermediate_size": 22016, "kv_channels": 128,
         "max_position_embeddings": 512, "no_bias": true, "num_attention_heads": 32,
         "num_hidden_layers": 32, "rotary_pct": 1.0, "tie_word_embeddings": false,
         "vocab_size": 151936})");
  expect("Baichuan-7B", "MrYxJ/calculate-flops.pytorch README", 7'000'559'616, kAll,
         R"({"model_type": "baichuan", "architectures": ["BaiChuanForCausalLM"],
         "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 11008,
         "max_position_embeddings": 4096, "num_attention_heads": 32,
         "num_hidden_layers": 32, "tie_word_embeddings": false, "vocab_size": 64000})");
  expect("Baichuan2-7B", kFormula, 7'505'973'248, kAll,
         R"({"model_type": "baichuan", "architectures": ["BaichuanForCausalLM"],
         "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 11008,
         "max_position_embeddings": 4096, "num_attention_heads": 32,
         "num_hidden_layers": 32, "tie_word_embeddings": false, "vocab_size": 125696})");
  expect("internlm-chat-7b", "*.index.json of wangyantong2000/MLLM less inv_freq", 7'321'948'160,
         kAll,
         R"({"model_type": "internlm", "architectures": ["InternLMForCausalLM"],
         "bias": true, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 11008, "max_position_embeddings": 2048,
         "num_attention_heads": 32, "num_hidden_layers": 32,
         "tie_word_embeddings": false, "vocab_size": 103168})");
  expect("internlm2-chat-7b", "*.index.json of NanSang2000/S1mpleAgent", 7'737'708'544, kAll,
         R"({"model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"],
         "bias": false, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 14336, "max_position_embeddings": 32768,
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
         "tie_word_embeddings": false, "vocab_size": 92544})");
  expect("openPangu-Embedded-7B",
         "*.index.json of IDLEOAK/openpangu-lightweight-methods less inv_freq", 8'030'887'936, kAll,
         R"({"model_type": "PanguEmbedded", "architectures": ["PanguEmbeddedForCausalLM"],
         "bias": true, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 12800, "max_position_embeddings": 32768,
         "num_attention_heads": 32, "num_hidden_layers": 34, "num_key_value_heads": 8,
         "tie_word_embeddings": false, "vocab_size": 153376})");
  expect("chatglm-6b", "MrYxJ/calculate-flops.pytorch README", 6'173'286'400, kAll,
         R"({"model_type": "chatglm", "architectures": ["ChatGLMModel"],
         "hidden_size": 4096, "inner_hidden_size": 16384, "num_attention_heads": 32,
         "num_layers": 28, "position_encoding_2d": true, "vocab_size": 130528,
         "max_sequence_length": 2048})");
  expect("chatglm3-6b", kFormula, 6'243'584'000, kAll,
         R"({"model_type": "chatglm", "architectures": ["ChatGLMModel"],
         "add_bias_linear": false, "add_qkv_bias": true, "ffn_hidden_size": 13696,
         "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true,
         "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 28,
         "padded_vocab_size": 65024, "post_layer_norm": true, "rmsnorm": true,
         "tie_word_embeddings": false})");
  expect("codegeex2-6b", "*.index.json of Lionelpang/codegeex2-6b less inv_freq", 6'243'584'000,
         kAll,
         R"({"model_type": "chatglm", "architectures": ["ChatGLMModel"],
         "add_bias_linear": false, "add_qkv_bias": true, "ffn_hidden_size": 13696,
         "hidden_size": 4096, "kv_channels": 128, "multi_query_attention": true,
         "multi_query_group_num": 2, "num_attention_heads": 32, "num_layers": 28,
         "padded_vocab_size": 65024, "post_layer_norm": true, "rmsnorm": true,
         "rotary_percent": 0.5, "tie_word_embeddings": false})");
  expect("c4ai-command-r-v01", kFormula, 34'980'831'232, kAll,
         R"({"model_type": "cohere", "architectures": ["CohereForCausalLM"],
         "attention_bias": false, "hidden_act": "silu", "hidden_size": 8192,
         "intermediate_size": 22528, "logit_scale": 0.0625,
         "max_position_embeddings": 8192, "num_attention_heads": 64,
         "num_hidden_layers": 40, "num_key_value_heads": 64, "use_qk_norm": false,
         "vocab_size": 256000})");
  expect("c4ai-command-r7b-12-2024", kHub, 8'028'033'024, kAll,
         R"({"model_type": "cohere2", "architectures": ["Cohere2ForCausalLM"],
         "attention_bias": false, "head_dim": 128, "hidden_act": "silu",
         "hidden_size": 4096, "intermediate_size": 14336, "logit_scale": 0.25,
         "max_position_embeddings": 132096, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096,
         "sliding_window_pattern": 4, "vocab_size": 256000})");
  expect("dbrx-base", kFormula, 131'596'523'520, 36'469'708'800,
         R"({"model_type": "dbrx", "architectures": ["DbrxForCausalLM"],
         "attn_config": {"clip_qkv": 8, "kv_n_heads": 8}, "d_model": 6144,
         "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16,
         "moe_top_k": 4}, "max_seq_len": 32768, "n_heads": 48, "n_layers": 40,
         "tie_word_embeddings": false, "vocab_size": 100352})");
  expect("OLMo-1B-hf", kHub, 1'176'764'416, kAll,
         R"({"model_type": "olmo", "architectures": ["OlmoForCausalLM"],
         "attention_bias": false, "hidden_act": "silu", "hidden_size": 2048,
         "intermediate_size": 8192, "max_position_embeddings": 2048,
         "num_attention_heads": 16, "num_hidden_layers": 16, "num_key_value_heads": 16,
         "tie_word_embeddings": true, "vocab_size": 50304})");
  expect("OLMo-2-1124-7B", kHub, 7'298'617'344, kAll,
         R"({"model_type": "olmo2", "architectures": ["Olmo2ForCausalLM"],
         "attention_bias": false, "hidden_act": "silu", "hidden_size": 4096,
         "intermediate_size": 11008, "max_position_embeddings": 4096,
         "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32,
         "tie_word_embeddings": false, "vocab_size": 100352})");
  expect("Olmo-3.1-32B-Instruct", kHub, 32'233'522'176, kAll,
         R"({"model_type": "olmo3", "architectures": ["Olmo3ForCausalLM"],
         "attention_bias": false, "hidden_act": "silu", "hidden_size": 5120,
         "intermediate_size": 27648, "max_position_embeddings": 65536,
         "num_attention_heads": 40, "num_hidden_layers": 64, "num_key_value_heads": 8,
         "sliding_window": 4096, "tie_word_embeddings": false, "vocab_size": 100278})");
  expect("OLMoE-1B-7B-0924", kHub, 6'919'161'856, 1'282'017'280,
         R"({"model_type": "olmoe", "architectures": ["OlmoeForCausalLM"],
         "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 1024,
         "num_hidden_layers": 16, "num_experts": 64, "num_experts_per_tok": 8,
         "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 50304,
         "tie_word_embeddings": false})");
  expect("EXAONE-4.0-32B", kHub, 32'003'216'384, kAll,
         R"({"model_type": "exaone4", "architectures": ["Exaone4ForCausalLM"],
         "head_dim": 128, "hidden_act": "silu", "hidden_size": 5120,
         "intermediate_size": 27392, "max_position_embeddings": 131072,
         "num_attention_heads": 40, "num_hidden_layers": 64, "num_key_value_heads": 8,
         "sliding_window": 4096, "sliding_window_pattern": "LLLG",
         "tie_word_embeddings": false, "vocab_size": 102400})");
  expect("stablelm-2-1_6b", kHub, 1'644'515'328, kAll,
         R"({"model_type": "stablelm", "architectures": ["StableLmForCausalLM"],
         "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 5632,
         "max_position_embeddings": 4096, "num_attention_heads": 32,
         "num_hidden_layers": 24, "num_key_value_heads": 32,
         "partial_rotary_factor": 0.25, "tie_word_embeddings": false,
         "use_qkv_bias": true, "vocab_size": 100352})");
  expect("stablelm-3b-4e1t", kHub, 2'795'443'200, kAll,
         R"({"model_type": "stablelm", "architectures": ["StableLmForCausalLM"],
         "hidden_act": "silu", "hidden_size": 2560, "intermediate_size": 6912,
         "max_position_embeddings": 4096, "num_attention_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32,
         "partial_rotary_factor": 0.25, "tie_word_embeddings": false,
         "use_qkv_bias": false, "vocab_size": 50304})");
  expect("stable-code-3b", "*.index.json of Zumwaltboi68/stable-code-3b", 2'795'443'200, kAll,
         R"({"model_type": "stablelm_epoch",
         "architectures": ["StableLMEpochForCausalLM"], "hidden_act": "silu",
         "hidden_size": 2560, "intermediate_size": 6912,
         "max_position_embeddings": 16384, "num_attention_heads": 32, "num_heads": 32,
         "num_hidden_layers": 32, "num_key_value_heads": 32, "rope_pct": 0.25,
         "tie_word_embeddings": false, "use_qkv_bias": false, "vocab_size": 50304})");
  expect("granite-3.1-1b-a400m-instruct", kHub, 1'334'628'352, 428'658'688,
         R"({"model_type": "granitemoe", "architectures": ["GraniteMoeForCausalLM"],
         "attention_bias": false, "attention_multiplier": 0.015625,
         "embedding_multiplier": 12.0, "hidden_act": "silu", "hidden_size": 1024,
         "intermediate_size": 512, "logits_scaling": 6.0,
         "max_position_embeddings": 131072, "num_attention_heads": 16,
         "num_experts_per_tok": 8, "num_hidden_layers": 24, "num_key_value_heads": 8,
         "num_local_experts": 32, "tie_word_embeddings": true, "vocab_size": 49155})");
  expect("grok-1", "huggingface.js packages/gguf", 316'490'127'360, 84'561'893'376,
         R"({"model_type": "grok-1", "architectures": ["Grok1ModelForCausalLM"],
         "embedding_multiplier_scale": 78.38367176906169, "hidden_size": 6144,
         "intermediate_size": 32768, "max_attn_value": 30.0,
         "max_position_embeddings": 8192, "num_attention_heads": 48, "num_experts": 8,
         "num_experts_per_tok": 2, "num_hidden_layers": 64, "num_key_value_heads": 8,
         "tie_word_embeddings": false, "vocab_size": 131072})");
  expect("SmolLM3-3B", "*.index.json of HuggingFaceTB/SmolLM3-3B", 3'075'098'624, kAll,
         R"({"model_type": "smollm3", "architectures": ["SmolLM3ForCausalLM"],
         "attention_bias": false, "hidden_act": "silu", "hidden_size": 2048,
         "intermediate_size": 11008, "max_position_embeddings": 65536,
         "max_window_layers": 28, "mlp_bias": false, "no_rope_layer_interval": 4,
         "num_attention_heads": 16, "num_hidden_layers": 36, "num_key_value_heads": 4,
         "use_sliding_window": false, "vocab_size": 128256})");
  expect("Qwen-72B", kFormula, 72'287'920'128, kAll,
         R"({"model_type": "qwen", "hidden_size": 8192, "num_hidden_layers": 80,
         "num_attention_heads": 64, "kv_channels": 128, "intermediate_size": 49152,
         "vocab_size": 152064})");
  expect("glm-4-9b", kFormula, 9'399'951'360, kAll,
         R"({"model_type": "chatglm", "hidden_size": 4096, "num_layers": 40,
         "num_attention_heads": 32, "kv_channels": 128, "ffn_hidden_size": 13696,
         "multi_query_attention": true, "multi_query_group_num": 2,
         "add_qkv_bias": true, "padded_vocab_size": 151552})");
  expect("glm-4-9b-hf", kFormula, 9'399'951'360, kAll,
         R"({"model_type": "glm", "hidden_size": 4096, "num_hidden_layers": 40,
         "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
         "intermediate_size": 13696, "attention_bias": true, "vocab_size": 151552})");
  expect("GLM-4-9B-0414", kFormula, 9'400'094'720, kAll,
         R"({"model_type": "glm4", "hidden_size": 4096, "num_hidden_layers": 40,
         "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
         "intermediate_size": 13696, "vocab_size": 151552})");
  expect("c4ai-command-r-plus", kFormula, 103'810'674'688, kAll,
         R"({"model_type": "cohere", "hidden_size": 12288, "num_hidden_layers": 64,
         "num_attention_heads": 96, "num_key_value_heads": 8,
         "intermediate_size": 33792, "use_qk_norm": true,
         "logit_scale": 0.8333333333333334, "vocab_size": 256000})");
}

TEST(FamilyTotals, EncodersAndEncoderDecoders) {
  expect("roberta-base-squad2", "Keras Hub presets plus position rows, type row and head",
         124'056'578, kAll,
         R"({"model_type": "roberta", "architectures": ["RobertaForQuestionAnswering"],
         "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
         "max_position_embeddings": 514, "num_attention_heads": 12,
         "num_hidden_layers": 12, "type_vocab_size": 1, "vocab_size": 50265})");
  expect("roberta-large", kFormula, 355'412'057, kAll,
         R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
         "hidden_act": "gelu", "hidden_size": 1024, "intermediate_size": 4096,
         "max_position_embeddings": 514, "num_attention_heads": 16,
         "num_hidden_layers": 24, "type_vocab_size": 1, "vocab_size": 50265})");
  expect("distilroberta-base", kFormula, 82'170'201, kAll,
         R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
         "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
         "max_position_embeddings": 514, "num_attention_heads": 12,
         "num_hidden_layers": 6, "type_vocab_size": 1, "vocab_size": 50265})");
  expect("distilbert-base-uncased", "Keras Hub presets plus the classifier", 66'955'010, kAll,
         R"({"model_type": "distilbert",
         "architectures": ["DistilBertForSequenceClassification"],
         "activation": "gelu", "dim": 768, "hidden_dim": 3072,
         "max_position_embeddings": 512, "n_heads": 12, "n_layers": 6,
         "sinusoidal_pos_embds": false, "vocab_size": 30522})");
  expect("ModernBERT-base", kFormula, 149'655'232, kAll,
         R"({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"],
         "attention_bias": false, "decoder_bias": true,
         "global_attn_every_n_layers": 3, "hidden_activation": "gelu",
         "hidden_size": 768, "intermediate_size": 1152, "local_attention": 128,
         "max_position_embeddings": 8192, "mlp_bias": false, "norm_bias": false,
         "num_attention_heads": 12, "num_hidden_layers": 22,
         "tie_word_embeddings": true, "vocab_size": 50368})");
  expect("nomic-embed-text-v1.5", kHub, 136'731'648, kAll,
         R"({"model_type": "nomic_bert", "architectures": ["NomicBertModel"],
         "activation_function": "swiglu", "causal": false, "mlp_fc1_bias": false,
         "mlp_fc2_bias": false, "n_embd": 768, "n_head": 12, "n_inner": 3072,
         "n_layer": 12, "n_positions": 8192, "prenorm": false, "qkv_proj_bias": false,
         "rotary_emb_fraction": 1.0, "type_vocab_size": 2, "use_rms_norm": false,
         "vocab_size": 30528})");
  expect("bart-base", "Keras Hub presets plus 2 position rows a stack", 139'420'416, kAll,
         R"({"model_type": "bart", "architectures": ["BartModel"],
         "activation_function": "gelu", "add_bias_logits": false,
         "add_final_layer_norm": false, "d_model": 768, "decoder_attention_heads": 12,
         "decoder_ffn_dim": 3072, "decoder_layers": 6, "encoder_attention_heads": 12,
         "encoder_ffn_dim": 3072, "encoder_layers": 6, "id2label": {"0": "LABEL_0",
         "1": "LABEL_1", "2": "LABEL_2"}, "is_encoder_decoder": true,
         "max_position_embeddings": 1024, "normalize_before": false,
         "normalize_embedding": true, "num_hidden_layers": 6, "scale_embedding": false,
         "vocab_size": 50265})");
  expect("bart-large-cnn", kFormula, 406'290'432, kAll,
         R"({"model_type": "bart", "architectures": ["BartForConditionalGeneration"],
         "activation_function": "gelu", "add_final_layer_norm": false, "d_model": 1024,
         "decoder_attention_heads": 16, "decoder_ffn_dim": 4096, "decoder_layers": 12,
         "encoder_attention_heads": 16, "encoder_ffn_dim": 4096, "encoder_layers": 12,
         "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
         "is_encoder_decoder": true, "max_position_embeddings": 1024,
         "normalize_before": false, "num_hidden_layers": 12, "scale_embedding": false,
         "vocab_size": 50264})");
  expect("opus-mt-zh-en", kFormula, 77'419'008, kAll,
         R"({"model_type": "marian", "architectures": ["MarianMTModel"],
         "activation_function": "swish", "add_bias_logits": false,
         "add_final_layer_norm": false, "d_model": 512, "decoder_attention_heads": 8,
         "decoder_ffn_dim": 2048, "decoder_layers": 6, "encoder_attention_heads": 8,
         "encoder_ffn_dim": 2048, "encoder_layers": 6, "id2label": {"0": "LABEL_0",
         "1": "LABEL_1", "2": "LABEL_2"}, "is_encoder_decoder": true,
         "max_position_embeddings": 512, "normalize_before": false,
         "normalize_embedding": false, "num_hidden_layers": 6, "scale_embedding": true,
         "static_position_embeddings": true, "vocab_size": 65001})");
  expect("mbart-large-cc25", kFormula, 610'851'840, kAll,
         R"({"model_type": "mbart", "d_model": 1024, "encoder_layers": 12,
         "decoder_layers": 12, "encoder_attention_heads": 16,
         "decoder_attention_heads": 16, "encoder_ffn_dim": 4096,
         "decoder_ffn_dim": 4096, "vocab_size": 250027, "scale_embedding": true,
         "normalize_before": true, "add_final_layer_norm": true,
         "normalize_embedding": true})");
  expect("xlm-roberta-base", kFormula, 278'043'648, kAll,
         R"({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"],
         "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
         "intermediate_size": 3072, "max_position_embeddings": 514,
         "type_vocab_size": 1, "vocab_size": 250002})");
}

TEST(FamilyTotals, LatentAttentionAndManyExperts) {
  expect("deepseek-v3",
         "layer formula; the hub's 684,531,386,000 has 11,610,068,224 of multi-token prediction, "
         "copies and scales besides",
         671'026'419'200, 37'552'297'472,
         R"({"architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false,
         "first_k_dense_replace": 3, "hidden_act": "silu", "hidden_size": 7168,
         "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840,
         "model_type": "deepseek_v3", "moe_intermediate_size": 2048, "moe_layer_freq": 1,
         "n_group": 8, "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": true,
         "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
         "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "routed_scaling_factor": 2.5,
         "scoring_func": "sigmoid", "tie_word_embeddings": false, "topk_group": 4,
         "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 129280})");
  expect("deepseek-v2-lite", kHub, 15'706'484'224, 2'661'150'208,
         R"({"architectures": ["DeepseekV2ForCausalLM"], "attention_bias": false,
         "first_k_dense_replace": 1, "hidden_act": "silu", "hidden_size": 2048,
         "intermediate_size": 10944, "kv_lora_rank": 512, "max_position_embeddings": 163840,
         "model_type": "deepseek_v2", "moe_intermediate_size": 1408, "moe_layer_freq": 1,
         "n_group": 1, "n_routed_experts": 64, "n_shared_experts": 2, "norm_topk_prob": false,
         "num_attention_heads": 16, "num_experts_per_tok": 6, "num_hidden_layers": 27,
         "num_key_value_heads": 16, "q_lora_rank": null, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "routed_scaling_factor": 1.0, "scoring_func": "softmax",
         "tie_word_embeddings": false, "topk_group": 1, "topk_method": "greedy", "v_head_dim":
         128, "vocab_size": 102400})");
  expect("kimi-k2", kFormula, 1'026'408'232'448, 32'861'500'928,
         R"({"architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false,
         "first_k_dense_replace": 1, "hidden_act": "silu", "hidden_size": 7168,
         "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 131072,
         "model_type": "kimi_k2", "moe_intermediate_size": 2048, "moe_layer_freq": 1,
         "n_group": 1, "n_routed_experts": 384, "n_shared_experts": 1, "norm_topk_prob": true,
         "num_attention_heads": 64, "num_experts_per_tok": 8, "num_hidden_layers": 61,
         "num_key_value_heads": 64, "num_nextn_predict_layers": 0, "q_lora_rank": 1536,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "routed_scaling_factor": 2.827,
         "scoring_func": "sigmoid", "tie_word_embeddings": false, "topk_group": 1,
         "topk_method": "noaux_tc", "v_head_dim": 128, "vocab_size": 163840})");
  expect("glm-4.5", kHub, 352'797'829'024, 33'632'266'144,
         R"({"architectures": ["Glm4MoeForCausalLM"], "attention_bias": true, "head_dim": 128,
         "hidden_act": "silu", "hidden_size": 5120, "partial_rotary_factor": 0.5,
         "intermediate_size": 12288, "max_position_embeddings": 131072, "model_type":
         "glm4_moe", "moe_intermediate_size": 1536, "norm_topk_prob": true,
         "num_attention_heads": 96, "n_group": 1, "topk_group": 1, "n_routed_experts": 160,
         "n_shared_experts": 1, "routed_scaling_factor": 2.5, "num_experts_per_tok": 8,
         "first_k_dense_replace": 3, "num_hidden_layers": 92, "num_key_value_heads": 8,
         "num_nextn_predict_layers": 1, "tie_word_embeddings": false, "use_qk_norm": true,
         "vocab_size": 151552})");
  expect("gpt-oss-20b", kHub, 20'914'757'184, 4'187'440'704,
         R"({"architectures": ["GptOssForCausalLM"], "attention_bias": true, "experts_per_token":
         4, "head_dim": 64, "hidden_act": "silu", "hidden_size": 2880,
         "initial_context_length": 4096, "intermediate_size": 2880, "max_position_embeddings":
         131072, "model_type": "gpt_oss", "num_attention_heads": 64, "num_experts_per_tok": 4,
         "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
         "sliding_window": 128, "swiglu_limit": 7.0, "tie_word_embeddings": false,
         "vocab_size": 201088})");
  expect("minimax-m2.5", kHub, 228'689'764'864, 11'030'553'088,
         R"({"architectures": ["MiniMaxM2ForCausalLM"], "model_type": "minimax_m2",
         "num_hidden_layers": 62, "hidden_size": 3072, "num_attention_heads": 48,
         "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 1536, "vocab_size":
         200064, "num_experts_per_tok": 8, "num_local_experts": 256, "max_position_embeddings":
         196608, "rotary_dim": 64, "hidden_act": "silu", "tie_word_embeddings": false,
         "use_qk_norm": true, "qk_norm_type": "per_layer", "use_routing_bias": true, "use_mtp":
         true, "mtp_transformer_layers": 1, "num_mtp_modules": 3, "shared_intermediate_size":
         0, "scoring_func": "sigmoid"})");
  expect("llama-4-maverick", "safetensors total of the hub less the vision tower", 400'711'848'960,
         17'184'691'200,
         R"({"architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4",
         "text_config": {"attention_bias": false, "attention_chunk_size": 8192, "head_dim":
         128, "hidden_act": "silu", "hidden_size": 5120, "interleave_moe_layer_step": 2,
         "intermediate_size": 8192, "intermediate_size_mlp": 16384, "max_position_embeddings":
         1048576, "model_type": "llama4_text", "num_attention_heads": 40,
         "num_experts_per_tok": 1, "num_hidden_layers": 48, "num_key_value_heads": 8,
         "num_local_experts": 128, "use_qk_norm": false, "vocab_size": 202048}})");
}

// Layers that carry a state from position to position.
TEST(FamilyTotals, Recurrences) {
  expect("mamba-130m-hf", kHub, 129'135'360, kAll,
         R"({"model_type": "mamba", "architectures": ["MambaForCausalLM"], "conv_kernel": 4,
         "expand": 2, "hidden_size": 768, "intermediate_size": 1536, "num_hidden_layers": 24,
         "state_size": 16, "time_step_rank": 48, "use_bias": false, "use_conv_bias": true,
         "vocab_size": 50280})");
  expect("Jamba-v0.1", kFormula, 51'570'323'328, 12'110'311'296,
         R"({"model_type": "jamba", "architectures": ["JambaForCausalLM"],
         "attn_layer_offset": 4, "attn_layer_period": 8, "expert_layer_offset": 1,
         "expert_layer_period": 2, "hidden_size": 4096, "intermediate_size": 14336,
         "mamba_conv_bias": true, "mamba_d_conv": 4, "mamba_d_state": 16,
         "mamba_dt_rank": 256, "mamba_expand": 2, "mamba_proj_bias": false,
         "num_attention_heads": 32, "num_experts": 16, "num_experts_per_tok": 2,
         "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false,
         "vocab_size": 65536})");
  expect("LFM2-1.2B", kHub, 1'170'340'608, kAll,
         R"({"model_type": "lfm2", "architectures": ["Lfm2ForCausalLM"],
         "block_auto_adjust_ff_dim": true, "block_dim": 2048, "block_ff_dim": 12288,
         "block_ffn_dim_multiplier": 1.0, "block_multiple_of": 256, "conv_L_cache": 3,
         "conv_bias": false, "conv_dim": 2048, "conv_dim_out": 2048,
         "full_attn_idxs": [2, 5, 8, 10, 12, 14], "hidden_size": 2048,
         "max_position_embeddings": 128000, "num_attention_heads": 32, "num_heads": 32,
         "num_hidden_layers": 16, "num_key_value_heads": 8, "vocab_size": 65536})");
  expect("Qwen3-Next-80B-A3B", "the same (of Qwen3-Coder-Next, without multi-token prediction)",
         79'674'391'296, 3'874'929'408,
         R"({"model_type": "qwen3_next", "architectures": ["Qwen3NextForCausalLM"],
         "decoder_sparse_step": 1, "full_attention_interval": 4, "head_dim": 256,
         "hidden_size": 2048, "intermediate_size": 5120, "linear_conv_kernel_dim": 4,
         "linear_key_head_dim": 128, "linear_num_key_heads": 16,
         "linear_num_value_heads": 32, "linear_value_head_dim": 128, "mlp_only_layers": [],
         "moe_intermediate_size": 512, "num_attention_heads": 16, "num_experts": 512,
         "num_experts_per_tok": 10, "num_hidden_layers": 48, "num_key_value_heads": 2,
         "partial_rotary_factor": 0.25, "shared_expert_intermediate_size": 512,
         "tie_word_embeddings": false, "vocab_size": 151936})");
  expect("Nemotron-3-Super-120B-A12B", "the same, less its layers of multi-token prediction",
         120'668'707'840, 12'770'237'440,
         R"({"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"],
         "conv_kernel": 4, "head_dim": 128, "hidden_size": 4096,
         "hybrid_override_pattern": "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME",
         "intermediate_size": 2688, "mamba_head_dim": 64, "mamba_num_heads": 128,
         "mlp_hidden_act": "relu2", "moe_intermediate_size": 2688, "moe_latent_size": 1024,
         "moe_shared_expert_intermediate_size": 5376, "n_groups": 8,
         "n_routed_experts": 512, "n_shared_experts": 1, "num_attention_heads": 32,
         "num_experts_per_tok": 22, "num_hidden_layers": 88, "num_key_value_heads": 2,
         "ssm_state_size": 128, "tie_word_embeddings": false, "use_conv_bias": true,
         "vocab_size": 131072})");
  expect("Nemotron-H-56B", kFormula, 56'324'350'464, kAll,
         R"({"model_type": "nemotron_h", "architectures": ["NemotronHForCausalLM"],
         "attention_head_dim": 128, "conv_kernel": 4, "hidden_size": 8192,
         "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-",
         "intermediate_size": 32768, "mamba_head_dim": 64, "mamba_num_heads": 256,
         "mlp_hidden_act": "relu2", "n_groups": 8, "num_attention_heads": 64,
         "num_hidden_layers": 118, "num_key_value_heads": 8, "ssm_state_size": 256,
         "tie_word_embeddings": false, "use_conv_bias": true, "vocab_size": 131072})");
}

// Images and sound: the tower is a part of the total.
TEST(FamilyTotals, TowersAndEars) {
  expect("Qwen2-VL-7B", kHub, 8'291'375'616, kAll,
         R"({"model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"],
         "hidden_size": 3584, "intermediate_size": 18944, "max_window_layers": 28,
         "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
         "sliding_window": 32768, "tie_word_embeddings": false, "use_sliding_window": false,
         "vision_config": {"in_chans": 3, "model_type": "qwen2_vl", "spatial_patch_size": 14},
         "vocab_size": 152064})");
  expect("Qwen2.5-VL-7B", kHub, 8'292'166'656, kAll,
         R"({"model_type": "qwen2_5_vl", "architectures": ["Qwen2_5_VLForConditionalGeneration"],
         "hidden_size": 3584, "intermediate_size": 18944, "max_window_layers": 28,
         "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
         "sliding_window": 32768, "tie_word_embeddings": false, "use_sliding_window": false,
         "vision_config": {"depth": 32, "fullatt_block_indexes": [7, 15, 23, 31],
         "hidden_act": "silu", "hidden_size": 1280, "intermediate_size": 3420,
         "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584, "patch_size": 14,
         "spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112},
         "vocab_size": 152064})");
  expect("Qwen3-VL-8B", kHub, 8'767'123'696, kAll,
         R"({"model_type": "qwen3_vl", "architectures": ["Qwen3VLForConditionalGeneration"],
         "text_config": {"head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
         "model_type": "qwen3_vl_text", "num_attention_heads": 32, "num_hidden_layers": 36,
         "num_key_value_heads": 8, "vocab_size": 151936}, "tie_word_embeddings": false,
         "vision_config": {"deepstack_visual_indexes": [8, 16, 24], "depth": 27,
         "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16,
         "num_position_embeddings": 2304, "out_hidden_size": 4096, "patch_size": 16}})");
  expect("Qwen3.5-27B", "the same, less its layer of multi-token prediction",
         27'781'427'952 - 424'699'392, kAll,
         R"({"model_type": "qwen3_5", "architectures": ["Qwen3_5ForConditionalGeneration"],
         "text_config": {"full_attention_interval": 4, "head_dim": 256, "hidden_size": 5120,
         "intermediate_size": 17408, "linear_conv_kernel_dim": 4,
         "linear_key_head_dim": 128, "linear_num_key_heads": 16,
         "linear_num_value_heads": 48, "linear_value_head_dim": 128,
         "model_type": "qwen3_5_text", "mtp_num_hidden_layers": 1,
         "num_attention_heads": 24, "num_hidden_layers": 64, "num_key_value_heads": 4,
         "vocab_size": 248320}, "tie_word_embeddings": false,
         "vision_config": {"deepstack_visual_indexes": [], "depth": 27, "hidden_size": 1152,
         "intermediate_size": 4304, "num_heads": 16, "num_position_embeddings": 2304,
         "out_hidden_size": 5120, "patch_size": 16}})");
  expect("medgemma-27b-it", kHub, 27'432'406'640, kAll,
         R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
         "mm_tokens_per_image": 256, "text_config": {"head_dim": 128, "hidden_size": 5376,
         "intermediate_size": 21504, "model_type": "gemma3_text", "num_attention_heads": 32,
         "num_hidden_layers": 62, "num_key_value_heads": 16, "vocab_size": 262208},
         "vision_config": {"hidden_size": 1152, "image_size": 896,
         "intermediate_size": 4304, "model_type": "siglip_vision_model",
         "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
         "vision_use_head": false}})");
  expect("clip-vit-large-patch14", kHub, 427'616'513, kAll,
         R"({"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 768,
         "text_config": {"hidden_size": 768, "intermediate_size": 3072,
         "num_attention_heads": 12, "num_hidden_layers": 12},
         "vision_config": {"hidden_size": 1024, "intermediate_size": 4096,
         "num_attention_heads": 16, "num_hidden_layers": 24, "patch_size": 14,
         "projection_dim": 768}})");
  expect("vit-base-patch16-224-in21k", kHub, 86'389'248, kAll,
         R"({"model_type": "vit", "architectures": ["ViTModel"], "hidden_size": 768,
         "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12,
         "num_channels": 3, "num_hidden_layers": 12, "patch_size": 16, "qkv_bias": true})");
  expect("whisper-medium", kHub, 763'857'920, kAll,
         R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"],
         "d_model": 1024, "decoder_attention_heads": 16, "decoder_ffn_dim": 4096,
         "decoder_layers": 24, "encoder_attention_heads": 16, "encoder_ffn_dim": 4096,
         "encoder_layers": 24, "max_source_positions": 1500, "max_target_positions": 448,
         "num_mel_bins": 80, "vocab_size": 51865})");
  expect("MiMo-7B", "the same, less its layer of multi-token prediction",
         7'833'409'536 - 210'790'400, kAll,
         R"({"model_type": "mimo", "architectures": ["MiMoForCausalLM"], "attention_bias": true,
         "head_dim": 128, "hidden_size": 4096, "intermediate_size": 11008,
         "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8,
         "num_nextn_predict_layers": 1, "tie_word_embeddings": false,
         "use_sliding_window": false, "vocab_size": 151680})");
}

}  // namespace
}  // namespace flopwise
