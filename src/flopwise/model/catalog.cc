// The released models that flopwise knows by name: published fields as facts, with their source.
// A row is letters, or the cost fields of its config.json, and goes through the same readers as a
// user's file; nothing is parsed until a model is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/names.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

std::vector<CatalogModel> make_catalog() {
  return {
      {"gpt2",
       {"gpt2-small", "openai-community/gpt2"},
       R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 768, "n_layer": 12,
           "n_head": 12, "n_positions": 1024, "vocab_size": 50257})",
       "Hugging Face openai-community/gpt2, config.json"                                                                                                                                        },
      {"gpt2-medium",
       {"openai-community/gpt2-medium"},
       R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 1024,
           "n_layer": 24, "n_head": 16, "n_positions": 1024, "vocab_size": 50257})",               "Hugging Face openai-community/gpt2-medium, config.json"                                  },
      {"gpt2-xl",
       {"openai-community/gpt2-xl"},
       R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 1600,
           "n_layer": 48, "n_head": 25, "n_positions": 1024, "vocab_size": 50257})",               "Hugging Face openai-community/gpt2-xl, config.json"                                      },
      {"gpt-3-175b",
       {"gpt-3", "davinci"},
       "D=12288,F=49152,L=96,V=50257,N=96,gated=0,tied=1,bias=1,norm=layer,positions=2048",           "Brown et al. 2020, arXiv:2005.14165, table 2.1 (vocabulary of GPT-2)"                    },
      {"llama-2-7b",
       {"meta-llama/Llama-2-7b-hf"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
           "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 32, "hidden_act": "silu", "max_position_embeddings": 4096,
           "tie_word_embeddings": false, "vocab_size": 32000})",        "Hugging Face meta-llama/Llama-2-7b-hf, config.json"                                      },
      {"llama-2-13b",
       {"meta-llama/Llama-2-13b-hf"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 5120,
           "intermediate_size": 13824, "num_hidden_layers": 40, "num_attention_heads": 40,
           "num_key_value_heads": 40, "hidden_act": "silu", "max_position_embeddings": 4096,
           "tie_word_embeddings": false, "vocab_size": 32000})",        "Hugging Face meta-llama/Llama-2-13b-hf, config.json"                                     },
      {"llama-2-70b",
       {"meta-llama/Llama-2-70b-hf"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8192,
           "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
           "num_key_value_heads": 8, "hidden_act": "silu", "max_position_embeddings": 4096,
           "tie_word_embeddings": false, "vocab_size": 32000})",        "Hugging Face meta-llama/Llama-2-70b-hf, config.json"                                     },
      {"llama-3-8b",
       {"meta-llama/Meta-Llama-3-8B"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
           "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "hidden_act": "silu", "max_position_embeddings": 8192,
           "tie_word_embeddings": false, "vocab_size": 128256})",        "Hugging Face meta-llama/Meta-Llama-3-8B, config.json"                                    },
      {"llama-3-70b",
       {"meta-llama/Meta-Llama-3-70B"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 8192,
           "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
           "num_key_value_heads": 8, "hidden_act": "silu", "max_position_embeddings": 8192,
           "tie_word_embeddings": false, "vocab_size": 128256})",        "Hugging Face meta-llama/Meta-Llama-3-70B, config.json"                                   },
      {"llama-3.1-405b",
       {"llama-3-405b", "meta-llama/Llama-3.1-405B", "meta-llama/Meta-Llama-3.1-405B"},
       R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16384,
           "intermediate_size": 53248, "num_hidden_layers": 126, "num_attention_heads": 128,
           "num_key_value_heads": 8, "hidden_act": "silu", "max_position_embeddings": 131072,
           "tie_word_embeddings": false, "vocab_size": 128256})",       "Hugging Face meta-llama/Llama-3.1-405B, config.json"                                     },
      {"mistral-7b",
       {"mistral-7b-v0.1", "mistralai/Mistral-7B-v0.1"},
       R"({"model_type": "mistral", "architectures": ["MistralForCausalLM"], "hidden_size": 4096,
           "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "hidden_act": "silu", "max_position_embeddings": 32768,
           "sliding_window": 4096, "tie_word_embeddings": false, "vocab_size": 32000})",    "Hugging Face mistralai/Mistral-7B-v0.1, config.json"                                     },
      {"mixtral-8x7b",
       {"mixtral-8x7b-v0.1", "mistralai/Mixtral-8x7B-v0.1"},
       R"({"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 4096,
           "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
           "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
           "hidden_act": "silu", "max_position_embeddings": 32768, "sliding_window": null,
           "tie_word_embeddings": false, "vocab_size": 32000})",    "Hugging Face mistralai/Mixtral-8x7B-v0.1, config.json"                                   },
      {"gemma-2-27b",
       {"google/gemma-2-27b"},
       R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "hidden_size": 4608,
           "intermediate_size": 36864, "num_hidden_layers": 46, "num_attention_heads": 32,
           "num_key_value_heads": 16, "head_dim": 128, "hidden_activation": "gelu_pytorch_tanh",
           "query_pre_attn_scalar": 144, "attn_logit_softcapping": 50.0,
           "final_logit_softcapping": 30.0, "sliding_window": 4096,
           "max_position_embeddings": 8192, "vocab_size": 256000})",      "Hugging Face google/gemma-2-27b, config.json"                                            },
      {"qwen3-0.6b",
       {"Qwen/Qwen3-0.6B"},
       R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024,
           "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
           "num_key_value_heads": 8, "head_dim": 128, "attention_bias": false,
           "hidden_act": "silu", "max_position_embeddings": 40960, "use_sliding_window": false,
           "tie_word_embeddings": true, "vocab_size": 151936})",        "Hugging Face Qwen/Qwen3-0.6B, config.json"                                               },
      {"qwen3-8b",
       {"Qwen/Qwen3-8B"},
       R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 4096,
           "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
           "num_key_value_heads": 8, "head_dim": 128, "attention_bias": false,
           "hidden_act": "silu", "max_position_embeddings": 40960, "use_sliding_window": false,
           "tie_word_embeddings": false, "vocab_size": 151936})",        "Hugging Face Qwen/Qwen3-8B, config.json"                                                 },
      {"qwen3-30b-a3b",
       {"Qwen/Qwen3-30B-A3B"},
       R"({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"],
           "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
           "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4,
           "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
           "decoder_sparse_step": 1, "mlp_only_layers": [], "norm_topk_prob": true,
           "attention_bias": false, "hidden_act": "silu", "max_position_embeddings": 40960,
           "use_sliding_window": false, "tie_word_embeddings": false, "vocab_size": 151936})",                      "Hugging Face Qwen/Qwen3-30B-A3B, config.json"                                            },
      {"t5-11b",
       {"google-t5/t5-11b"},
       R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 1024,
           "d_kv": 128, "d_ff": 65536, "num_layers": 24, "num_heads": 128,
           "relative_attention_num_buckets": 32, "n_positions": 512, "vocab_size": 32128})",     "Hugging Face google-t5/t5-11b, config.json"                                              },
      {"bert-base",
       {"bert-base-uncased", "google-bert/bert-base-uncased"},
       R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768,
           "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
           "hidden_act": "gelu", "max_position_embeddings": 512, "type_vocab_size": 2,
           "vocab_size": 30522})",                 "Hugging Face google-bert/bert-base-uncased, config.json (the bare model with its pooler)"},
  };
}

bool is_called(const CatalogModel& row, const std::string& key) {
  return normalised_name(row.name) == key ||
         std::any_of(row.aliases.begin(), row.aliases.end(),
                     [&](const std::string& alias) { return normalised_name(alias) == key; });
}

Model read_row(const CatalogModel& row) {
  Model model = row.description.starts_with('{')
                    ? model_from_config(parse_json(row.description, row.name), row.name)
                    : model_from_letters(row.description);
  model.name = row.name;
  model.source = row.source;
  return model;
}

}  // namespace

const std::vector<CatalogModel>& model_catalog() {
  static const std::vector<CatalogModel> kCatalog = make_catalog();
  return kCatalog;
}

Model find_model(std::string_view name) {
  const std::string key = normalised_name(name);
  std::vector<std::string> names;
  for (const CatalogModel& row : model_catalog()) {
    if (is_called(row, key)) return read_row(row);
    names.push_back(row.name);
  }
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  throw UserError(fmt::format("unknown model {}, nearest: {}", quoted(name),
                              fmt::join(nearest_names(lower, names), ", ")));
}

}  // namespace flopwise
