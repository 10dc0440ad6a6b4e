// Families whose layers differ one by one, or share their weights: short config.json, total and
// active parameters. Where no total is published, it is put together here, part by part.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "flopwise/base/json.h"
#include "flopwise/cost/cost.h"
#include "flopwise/cost/params.h"
#include "flopwise/graph/remat.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/model_params.h"

namespace flopwise {
namespace {

using nlohmann::json;

void expect(const json& config, std::int64_t total, std::int64_t active) {
  SCOPED_TRACE(config.value("architectures", json("no class")).dump());
  const Params params = params_of_model(model_from_config(config, "config.json"));
  EXPECT_EQ(params.total, Count(total));
  EXPECT_EQ(params.active, Count(active));
}

// `count` entries of a list that starts with `first` and repeats `period`.
json rhythm(const json& first, const json& period, std::size_t count) {
  json list = first;
  for (std::size_t i = 0; list.size() < count; ++i) list.push_back(period[i % period.size()]);
  return list;
}

// openbmb/MiniCPM3-4B, which names no model_type: tied; queries and keys behind latents of 768 and
// 256, heads of 64 + 32, values of D/N = 64.
TEST(ListedTotals, MiniCpm3) {
  constexpr std::int64_t kLayer = 2560 * 768 + 768 + 768 * 40 * 96  // queries
                                  + 2560 * (256 + 32) + 256         // latent, shared key
                                  + 256 * 40 * (64 + 64)            // keys and values
                                  + 40 * 64 * 2560                  // output
                                  + 3 * 2560 * 6400 + 2 * 2560;
  constexpr std::int64_t kTotal = 62 * kLayer + 73448 * 2560 + 2560;
  static_assert(kTotal == 4'073'875'968);
  expect(json::parse(R"({"architectures": ["MiniCPM3ForCausalLM"], "hidden_act": "silu",
         "hidden_size": 2560, "num_hidden_layers": 62, "intermediate_size": 6400,
         "max_position_embeddings": 32768, "num_attention_heads": 40,
         "num_key_value_heads": 40, "qk_nope_head_dim": 64, "qk_rope_head_dim": 32,
         "q_lora_rank": 768, "kv_lora_rank": 256, "vocab_size": 73448, "scale_emb": 12,
         "dim_model_base": 256, "scale_depth": 1.4})"),
         kTotal, kTotal);
}

// XiaomiMiMo/MiMo-V2-Flash ("309B total, 15B active"): 9 global layers with 4 key/value heads, 39
// local ones with 8 and a sink a head; the first layer dense.
TEST(ListedTotals, MimoV2Flash) {
  constexpr std::int64_t kD = 4096;
  constexpr auto kAttention = [](std::int64_t kv_heads, std::int64_t sinks) {
    return kD * 64 * 192 + kD * kv_heads * (192 + 128) + 64 * 128 * kD + sinks + 2 * kD;
  };
  constexpr std::int64_t kExpert = 3 * kD * 2048;
  constexpr std::int64_t kRouter = kD * 256 + 256;
  constexpr std::int64_t kBesides = 9 * kAttention(4, 0) + 39 * kAttention(8, 64) + 3 * kD * 16384 +
                                    47 * kRouter + 2 * 152576 * kD + kD;
  json config = json::parse(R"({"model_type": "mimo_v2_flash",
         "architectures": ["MiMoV2FlashForCausalLM"], "num_hidden_layers": 48,
         "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 4,
         "head_dim": 192, "v_head_dim": 128, "intermediate_size": 16384, "vocab_size": 152576,
         "max_position_embeddings": 262144, "partial_rotary_factor": 0.334,
         "sliding_window": 128, "sliding_window_size": 128, "attention_chunk_size": 128,
         "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192,
         "swa_v_head_dim": 128, "moe_intermediate_size": 2048, "n_routed_experts": 256,
         "num_experts_per_tok": 8, "norm_topk_prob": true, "scoring_func": "sigmoid",
         "topk_method": "noaux_tc", "attention_value_scale": 0.707,
         "add_swa_attention_sink_bias": true, "add_full_attention_sink_bias": false,
         "tie_word_embeddings": false})");
  config["hybrid_layer_pattern"] = rhythm({0, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1}, 47);
  config["hybrid_layer_pattern"].push_back(0);
  config["moe_layer_freq"] = rhythm({0}, {1}, 48);
  expect(config, kBesides + 47 * 256 * kExpert, kBesides + 47 * 8 * kExpert);
}

// stepfun-ai/Step-3.5-Flash: 12 global layers of 64 heads, 33 local ones of 96, each head behind a
// gate; 3 dense layers. Step-3.7-Flash says neither gates nor other heads.
TEST(ListedTotals, Step3) {
  constexpr std::int64_t kD = 4096;
  constexpr auto kAttention = [](std::int64_t heads, bool gates) {
    return 2 * kD * heads * 128 + 2 * kD * 8 * 128 + 2 * 128 + 2 * kD + (gates ? kD * heads : 0);
  };
  constexpr std::int64_t kExpert = 3 * kD * 1280;
  constexpr std::int64_t kMoe = 42 * (kD * 288 + 288 + kExpert);  // router, bias, shared expert
  constexpr std::int64_t kRest = kMoe + 3 * 3 * kD * 11264 + 2 * 128896 * kD + kD;
  json config = json::parse(R"({"model_type": "step3p7",
         "architectures": ["Step3p7FlashForCausalLM"], "num_hidden_layers": 45,
         "hidden_size": 4096, "num_attention_heads": 64, "num_key_value_heads": 8,
         "head_dim": 128, "vocab_size": 128896, "max_position_embeddings": 65536,
         "intermediate_size": 11264, "sliding_window": 512, "first_k_dense_replace": 3,
         "num_experts": 288, "num_experts_per_tok": 8, "moe_intermediate_size": 1280,
         "share_expert_dim": 1280, "n_shared_experts": 1, "scoring_func": "sigmoid",
         "num_nextn_predict_layers": 3, "use_moe_router_bias": true,
         "moe_router_scaling_factor": 3.0})");
  config["layer_types"] =
      rhythm(json::array(),
             {"full_attention", "sliding_attention", "sliding_attention", "sliding_attention"}, 45);
  constexpr std::int64_t kPlain = kRest + 45 * kAttention(64, false);
  expect(config, kPlain + 42 * 288 * kExpert, kPlain + 42 * 8 * kExpert);

  json step35 = json::parse(R"({"model_type": "step3p5", "architectures": ["Step3p5ForCausalLM"],
         "num_hidden_layers": 45, "hidden_size": 4096, "num_attention_heads": 64,
         "num_attention_groups": 8, "head_dim": 128, "vocab_size": 128896,
         "intermediate_size": 11264, "sliding_window": 512, "moe_num_experts": 288,
         "moe_top_k": 8, "moe_intermediate_size": 1280, "share_expert_dim": 1280,
         "moe_router_activation": "sigmoid", "use_moe_router_bias": true,
         "norm_expert_weight": true, "use_head_wise_attn_gate": true,
         "moe_router_scaling_factor": 3.0, "attention_other_setting": {
         "attention_type": "sliding_attention", "num_attention_heads": 96,
         "num_attention_groups": 8, "head_dim": 128}})");
  step35["layer_types"] = config["layer_types"];
  std::string listed;
  for (int i = 3; i < 45; ++i) listed += (listed.empty() ? "" : ",") + std::to_string(i);
  step35["moe_layers_enum"] = listed;
  constexpr std::int64_t kGated = kRest + 12 * kAttention(64, true) + 33 * kAttention(96, true);
  expect(step35, kGated + 42 * 288 * kExpert, kGated + 42 * 8 * kExpert);
}

// tencent/Hunyuan-A13B-Instruct ("80B, 13B active"): sizes of experts in lists, one number for all.
TEST(ListedTotals, Hunyuan) {
  constexpr std::int64_t kD = 4096;
  constexpr std::int64_t kExpert = 3 * kD * 3072;
  constexpr std::int64_t kBesides =
      32 * (2 * kD * 32 * 128 + 2 * kD * 8 * 128 + 2 * 128 + 2 * kD + kExpert + kD * 64) +
      128167 * kD + kD;
  static_assert(kBesides + 32 * 64 * kExpert == 80'393'183'232);
  json config = json::parse(R"({"model_type": "hunyuan_v1_moe",
         "architectures": ["HunYuanMoEV1ForCausalLM"], "attention_head_dim": 128,
         "head_dim": 128, "hidden_size": 4096, "intermediate_size": 3072,
         "num_attention_heads": 32, "num_experts": 64, "num_hidden_layers": 32,
         "num_key_value_heads": 8, "norm_topk_prob": true, "tie_word_embeddings": true,
         "use_cla": false, "cla_share_factor": 2, "use_mixed_mlp_moe": true,
         "use_qk_norm": true, "vocab_size": 128167})");
  config["moe_intermediate_size"] = rhythm({3072}, {3072}, 32);
  config["moe_topk"] = rhythm({8}, {8}, 32);
  config["num_shared_expert"] = rhythm({1}, {1}, 32);
  expect(config, kBesides + 32 * 64 * kExpert, kBesides + 32 * 8 * kExpert);

  // Two layers of which the second chooses among fewer and narrower experts.
  config["num_hidden_layers"] = 2;
  config["num_experts"] = {4, 2};
  config["moe_topk"] = {2, 1};
  config["moe_intermediate_size"] = {10, 6};
  config["num_shared_expert"] = {2, 1};
  constexpr std::int64_t kOne = 2 * kD * 32 * 128 + 2 * kD * 8 * 128 + 2 * 128 + 2 * kD;
  constexpr std::int64_t kCommon = 2 * kOne + 128167 * kD + kD + kD * (4 + 2);
  constexpr std::int64_t kShared = 3 * kD * (2 * 10 + 6);
  expect(config, kCommon + kShared + 3 * kD * (4 * 10 + 2 * 6),
         kCommon + kShared + 3 * kD * (2 * 10 + 1 * 6));
}

// nvidia/Llama-3_3-Nemotron-Super-49B-v1, safetensors total of the Hugging Face hub.
TEST(ListedTotals, NemotronNas) {
  struct Run {
    bool attends;
    double ffn_mult;
    int layers;
  };
  constexpr Run kRuns[] = {
      {true,  2.625,   1 },
      {true,  5.25,    5 },
      {false, 2.625,   2 },
      {true,  5.25,    3 },
      {false, 3.28125, 1 },
      {true,  5.25,    30},
      {false, 1.3125,  1 },
      {false, 2.625,   2 },
      {false, 1.3125,  1 },
      {false, 5.25,    1 },
      {false, 1.3125,  1 },
      {false, 2.625,   1 },
      {false, 1.3125,  3 },
      {true,  5.25,    1 },
      {false, 1.3125,  1 },
      {false, 1.0,     2 },
      {false, 1.3125,  1 },
      {false, 1.0,     3 },
      {false, 1.3125,  2 },
      {false, 0.5,     2 },
      {false, 1.0,     2 },
      {false, 0.5,     2 },
      {false, 1.0,     1 },
      {false, 0.5,     2 },
      {true,  5.25,    9 }
  };
  json blocks = json::array();
  for (const Run& run : kRuns) {
    const json attention = run.attends ? json{{"n_heads_in_group", 8}, {"no_op", false}}
                                       : json{{"n_heads_in_group", nullptr}, {"no_op", true}};
    for (int i = 0; i < run.layers; ++i) {
      blocks.push_back({
          {"attention", attention                   },
          {"ffn",       {{"ffn_mult", run.ffn_mult}}}
      });
    }
  }
  json config = json::parse(R"({"model_type": "nemotron-nas",
         "architectures": ["DeciLMForCausalLM"], "attention_bias": false, "hidden_size": 8192,
         "intermediate_size": null, "max_position_embeddings": 131072, "mlp_bias": false,
         "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": null,
         "tie_word_embeddings": false, "vocab_size": 128256})");
  config["block_configs"] = blocks;
  expect(config, 49'867'145'216, 49'867'145'216);

  // One matrix in place of attention, one in place of a feed-forward, and a layer of nothing.
  const json linear = {
      {"replace_with_linear", true}
  };
  const json nothing = {
      {"no_op", true}
  };
  config["num_hidden_layers"] = 3;
  config["block_configs"] = {
      {{"attention", linear},  {"ffn", nothing}},
      {{"attention", nothing}, {"ffn", linear} },
      {{"attention", nothing}, {"ffn", nothing}}
  };
  constexpr std::int64_t kTotal = 2 * (8192LL * 8192 + 8192) + 2LL * 128256 * 8192 + 8192;
  expect(config, kTotal, kTotal);
}

// adept/fuyu-8b: total_size of *.index.json of ypkang/adept-fuyu-8b over 2 bytes. Without its
// matrix of patches it is Persimmon-8B.
TEST(ListedTotals, Fuyu) {
  json config = json::parse(R"({"model_type": "fuyu", "architectures": ["FuyuForCausalLM"],
         "hidden_act": "relu2", "hidden_size": 4096, "image_size": 300,
         "intermediate_size": 16384, "max_position_embeddings": 16384,
         "num_attention_heads": 64, "num_channels": 3, "num_hidden_layers": 36,
         "partial_rotary_factor": 0.5, "patch_size": 30, "qk_layernorm": true,
         "text_config": {"model_type": "persimmon"}, "tie_word_embeddings": false,
         "vocab_size": 262144})");
  constexpr std::int64_t kFuyu = 9'408'238'592;
  constexpr std::int64_t kPatches = 30 * 30 * 3 * 4096 + 4096;
  expect(config, kFuyu, kFuyu);
  for (const char* field : {"image_size", "num_channels", "patch_size", "text_config"}) {
    config.erase(field);
  }
  config["model_type"] = "persimmon";
  config["architectures"] = {"PersimmonForCausalLM"};
  expect(config, kFuyu - kPatches, kFuyu - kPatches);
}

// albert-base-v1: one layer's weights for all 12; tokens, positions and types 128 wide. With its
// pooler the published 11,683,584.
TEST(ListedTotals, Albert) {
  constexpr std::int64_t kD = 768;
  constexpr std::int64_t kE = 128;
  constexpr std::int64_t kEmbedding = (30000 + 512 + 2) * kE + 2 * kE + kE * kD + kD;
  constexpr std::int64_t kLayer = 4 * (kD * kD + kD) + 2 * kD * 3072 + 3072 + kD + 4 * kD;
  constexpr std::int64_t kHead = kD * kE + kE + 2 * kE + 30000;  // its matrix is the embedding's
  static_assert(kEmbedding + kLayer + kHead == 11'221'680);
  static_assert(kEmbedding + kLayer + kD * kD + kD == 11'683'584);
  json config = json::parse(R"({"model_type": "albert", "architectures": ["AlbertForMaskedLM"],
         "down_scale_factor": 1, "embedding_size": 128, "gap_size": 0, "hidden_act": "gelu",
         "hidden_size": 768, "inner_group_num": 1, "intermediate_size": 3072,
         "max_position_embeddings": 512, "net_structure_type": 0, "num_attention_heads": 12,
         "num_hidden_groups": 1, "num_hidden_layers": 12, "num_memory_blocks": 0,
         "type_vocab_size": 2, "vocab_size": 30000})");
  expect(config, 11'221'680, 11'221'680);
  config["architectures"] = {"AlbertModel"};
  expect(config, 11'683'584, 11'683'584);
  config["num_hidden_layers"] = 24;  // the same weights
  expect(config, 11'683'584, 11'683'584);
}

// One set of weights runs L times: parameters do not grow with L, FLOPs do, and each layer adds its
// gradient to what the others gave, one addition a parameter.
TEST(ListedTotals, AlbertRunsEveryLayer) {
  const auto training = [](int layers, const char* type) {
    json config = json::parse(R"({"hidden_size": 16, "intermediate_size": 24,
        "num_attention_heads": 4, "vocab_size": 7, "max_position_embeddings": 32, "hidden_act": "gelu"})");
    config["model_type"] = type;
    config["num_hidden_layers"] = layers;
    Workload workload;
    workload.mode = Mode::kTrain;
    workload.seq_len = workload.context = 8;
    return build_training_program(model_from_config(config, "config.json"), workload,
                                  {RematKind::kNone, {}});
  };
  const auto backward_of_a_layer = [&](const char* type) {
    const DType& bf16 = find_dtype("bf16");
    const CostOptions options = {
        Fusion::kFused, {bf16, bf16, bf16}
    };
    const Cost few = cost_of(training(2, type), options);
    const Cost more = cost_of(training(3, type), options);
    EXPECT_EQ(more.params.total == few.params.total, std::string(type) == "albert");
    EXPECT_GT(more.forward.matmul, few.forward.matmul);
    return more.backward.vector - few.backward.vector;
  };
  constexpr std::int64_t kLayer = 4 * (16 * 16 + 16) + 2 * 16 * 24 + 24 + 16 + 4 * 16;
  const Count bert = backward_of_a_layer("bert");
  const Count albert = backward_of_a_layer("albert");
  EXPECT_EQ(albert - bert, Count(kLayer));
}

// microsoft/deberta-v3-base, of which Keras Hub publishes 183,831,552, with a head of two scores.
TEST(ListedTotals, Deberta) {
  constexpr std::int64_t kD = 768;
  json config = json::parse(R"({"model_type": "deberta-v2",
         "architectures": ["DebertaV2ForQuestionAnswering"], "hidden_act": "gelu",
         "hidden_size": 768, "intermediate_size": 3072, "max_position_embeddings": 512,
         "max_relative_positions": -1, "norm_rel_ebd": "layer_norm",
         "num_attention_heads": 12, "num_hidden_layers": 12, "pooler_dropout": 0,
         "pooler_hidden_act": "gelu", "pooler_hidden_size": 768,
         "pos_att_type": ["p2c", "c2p"], "position_biased_input": false,
         "position_buckets": 256, "relative_attention": true, "share_att_key": true,
         "type_vocab_size": 0, "vocab_size": 128100})");
  expect(config, 183'833'090, 183'833'090);
  config["architectures"] = {"DebertaV2Model"};
  expect(config, 183'831'552, 183'831'552);
  // Distances without buckets; a matrix and a bias of their own for both further terms.
  config["position_buckets"] = -1;
  config["share_att_key"] = false;
  config["pos_att_type"] = "p2c|c2p";
  constexpr std::int64_t kMore = 512 * kD + 12 * 2 * (kD * kD + kD);
  expect(config, 183'831'552 + kMore, 183'831'552 + kMore);
  config["relative_attention"] = false;
  config["position_biased_input"] = true;
  constexpr std::int64_t kLearned = 183'831'552 - 512 * kD - 2 * kD + 512 * kD;
  expect(config, kLearned, kLearned);
}

// The files beside DeepSeek's own code for inference: V2 by the layer formula, 236B; V3 as
// published.
TEST(ListedTotals, DeepseekInference) {
  constexpr std::int64_t kD = 5120;
  constexpr std::int64_t kAttention = kD * 1536 + 1536 + 1536 * 128 * 192 + kD * (512 + 64) + 512 +
                                      512 * 128 * 256 + 128 * 128 * kD + 2 * kD;
  constexpr std::int64_t kExpert = 3 * kD * 1536;
  constexpr std::int64_t kBesides =
      60 * kAttention + 3 * kD * 12288 + 59 * (2 * kExpert + kD * 160) + 2 * 102400 * kD + kD;
  expect(json::parse(R"({"vocab_size": 102400, "dim": 5120, "inter_dim": 12288,
         "moe_inter_dim": 1536, "n_layers": 60, "n_dense_layers": 1, "n_heads": 128,
         "n_routed_experts": 160, "n_shared_experts": 2, "n_activated_experts": 6,
         "n_expert_groups": 8, "n_limited_groups": 3, "route_scale": 16.0,
         "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
         "qk_rope_head_dim": 64, "v_head_dim": 128})"),
         kBesides + 59 * 160 * kExpert, kBesides + 59 * 6 * kExpert);
  expect(json::parse(R"({"vocab_size": 129280, "dim": 7168, "inter_dim": 18432,
         "moe_inter_dim": 2048, "n_layers": 61, "n_dense_layers": 3, "n_heads": 128,
         "n_routed_experts": 256, "n_shared_experts": 1, "n_activated_experts": 8,
         "n_expert_groups": 8, "n_limited_groups": 4, "route_scale": 2.5,
         "score_func": "sigmoid", "q_lora_rank": 1536, "kv_lora_rank": 512,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
         "dtype": "fp8"})"),
         671'026'419'200, 37'552'297'472);
}

}  // namespace
}  // namespace flopwise
