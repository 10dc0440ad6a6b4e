// Layers that share: keys and values of an earlier layer (Gemma 4), the choice of an indexer
// (DeepSeek-V3.2, GLM-5).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/count.h"
#include "flopwise/report/model_params.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

Model model_of(const std::string& config) {
  return model_from_config(parse_json(config, "config.json"), "config.json");
}

std::string types(int layers, int period) {
  std::string list;
  for (int i = 0; i < layers; ++i) {
    list += i == 0 ? "" : ", ";
    list += (i + 1) % period == 0 ? "\"full_attention\"" : "\"sliding_attention\"";
  }
  return "[" + list + "]";
}

std::string gemma4(const std::string& sizes, int layers, int period) {
  return R"({"model_type": "gemma4_text", "architectures": ["Gemma4ForCausalLM"],
      "vocab_size": 262144, "num_hidden_layers": )" +
         std::to_string(layers) + R"(, "head_dim": 256, "global_head_dim": 512,
      "final_logit_softcapping": 30.0, "tie_word_embeddings": true, "layer_types": )" +
         types(layers, period) + ", " + sizes + "}";
}

// google/gemma-4-31B, text_config.
const std::string kGemma31B = R"("hidden_size": 5376, "intermediate_size": 21504,
    "num_attention_heads": 32, "num_key_value_heads": 16, "num_global_key_value_heads": 4,
    "attention_k_eq_v": true, "sliding_window": 1024)";
// google/gemma-4-26B-A4B, text_config.
const std::string kGemma26B = R"("hidden_size": 2816, "intermediate_size": 2112,
    "num_attention_heads": 16, "num_key_value_heads": 8, "num_global_key_value_heads": 2,
    "attention_k_eq_v": true, "sliding_window": 1024, "enable_moe_block": true, "num_experts": 128,
    "top_k_experts": 8, "moe_intermediate_size": 704)";
// google/gemma-4-E2B, text_config.
const std::string kGemmaE2B = R"("hidden_size": 1536, "intermediate_size": 6144,
    "num_attention_heads": 8, "num_key_value_heads": 1, "sliding_window": 512,
    "num_kv_shared_layers": 20, "use_double_wide_mlp": true, "hidden_size_per_layer_input": 256,
    "vocab_size_per_layer_input": 262144)";

constexpr std::int64_t kVocab = 262144;

TEST(SharedKeys, Gemma4Dense) {
  constexpr std::int64_t d = 5376;
  constexpr std::int64_t rest = 4 * d + 3 * d * 21504;  // four norms, a gated feed-forward
  constexpr std::int64_t local = 2 * d * 32 * 256 + 2 * d * 16 * 256 + 2 * 256 + rest;
  // Values are keys: one matrix for both.
  constexpr std::int64_t global = 2 * d * 32 * 512 + d * 4 * 512 + 2 * 512 + rest;
  const Params params = params_of_model(model_of(gemma4(kGemma31B, 60, 6)));
  EXPECT_EQ(params.total, Count(kVocab * d + 50 * local + 10 * global + d));
  EXPECT_EQ(params.total, Count(30'697'345'280));  // "31B"
}

TEST(SharedKeys, Gemma4Experts) {
  constexpr std::int64_t d = 2816;
  constexpr std::int64_t expert = 3 * d * 704;
  // Seven norms; a router of a matrix, a vector and a number an expert; a dense feed-forward.
  constexpr std::int64_t rest = 7 * d + d * 128 + d + 128 + 3 * d * 2112;
  constexpr std::int64_t local = 2 * d * 16 * 256 + 2 * d * 8 * 256 + 2 * 256 + rest;
  constexpr std::int64_t global = 2 * d * 16 * 512 + d * 2 * 512 + 2 * 512 + rest;
  constexpr std::int64_t shared = kVocab * d + 25 * local + 5 * global + d;
  const Params params = params_of_model(model_of(gemma4(kGemma26B, 30, 6)));
  EXPECT_EQ(params.total, Count(shared + 30 * 128 * expert));
  EXPECT_EQ(params.active, Count(shared + 30 * 8 * expert));
  EXPECT_EQ(params.active, Count(3'822'530'560));  // "A4B"
}

TEST(SharedKeys, Gemma4SharedKeysAndOwnEmbeddings) {
  constexpr std::int64_t d = 1536;
  // The layer's table, its share of the projection, two matrices and a norm.
  constexpr std::int64_t own = kVocab * 256 + 3 * d * 256 + d;
  const auto layer = [](std::int64_t h, bool has_keys, std::int64_t f) {
    const std::int64_t keys = has_keys ? 2 * d * h + h : 0;
    return 2 * d * 8 * h + h + keys + 4 * d + 3 * d * f + own;
  };
  const std::int64_t total = kVocab * d + d + 256 + 12 * layer(256, true, 6144) +
                             3 * layer(512, true, 6144) + 16 * layer(256, false, 12288) +
                             4 * layer(512, false, 12288);
  EXPECT_EQ(params_of_model(model_of(gemma4(kGemmaE2B, 35, 5))).total, Count(total));
}

// Only the first 15 layers hold keys and values; the others read theirs.
TEST(SharedKeys, Gemma4Cache) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = 4096;
  const CountResult result = count_model(model_of(gemma4(kGemmaE2B, 35, 5)), request);
  EXPECT_EQ(result.kv_cache->bytes_total, Count(2 * 2 * (12 * 512 * 256 + 3 * 4096 * 512)));
  constexpr std::int64_t kWritten = 2 * 2 * (12 * 256 + 3 * 512);
  EXPECT_EQ(result.cost.bytes.kv_cache,
            Count(2 * 2 * (28 * 512 * 256 + 7 * 4096 * 512) + kWritten));
}

TEST(SharedKeys, Gemma4Refuses) {
  const auto error = [](const std::string& sizes) {
    return user_error_of([&] { model_of(gemma4(sizes, 35, 5)); });
  };
  std::string shares_all = kGemmaE2B;
  shares_all.replace(shares_all.find("20,"), 2, "32");
  EXPECT_EQ(error(shares_all),
            "config.json: num_kv_shared_layers: expected a layer of each kind among the first 3, "
            "whose keys and values the others share, got 31 layers");
  EXPECT_EQ(error(kGemmaE2B + R"(, "num_experts": 8)"),
            "config.json: num_experts: expected null where enable_moe_block is false, got 8");
}

// deepseek-ai/DeepSeek-V3.2.
const char* const kV32 = R"({"model_type": "deepseek_v32", "hidden_size": 7168,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_hidden_layers": 61,
    "first_k_dense_replace": 3, "num_attention_heads": 128, "num_key_value_heads": 128,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1,
    "topk_method": "noaux_tc", "scoring_func": "sigmoid", "norm_topk_prob": true,
    "routed_scaling_factor": 2.5, "tie_word_embeddings": false, "vocab_size": 129280,
    "max_position_embeddings": 163840, "index_n_heads": 64, "index_head_dim": 128,
    "index_topk": 2048})";

TEST(Indexer, DeepSeekV32) {
  const Params params = params_of_model(model_of(kV32));
  // Of DeepSeek-V3, and in each layer the matrices of the indexer's queries, keys and weights and
  // the norm of its key.
  constexpr std::int64_t indexer = 1536 * 64 * 128 + 7168 * 128 + 2 * 128 + 7168 * 64;
  EXPECT_EQ(params.total, Count(671'026'419'200 + 61 * indexer));
  // 685,396,921,376 elements of the checkpoint less its MTP layer and block scales.
  EXPECT_EQ(params.total, Count(671'877'944'064));
  EXPECT_EQ(params.active, Count(38'403'822'336));
}

TEST(Indexer, AttentionSeesWhatIsChosen) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = 65536;
  const CountResult result = count_model(model_of(kV32), request);
  // A decoded token: 128 heads over latent and rotated key of 2,048 positions; 64 small heads over
  // all 65,536, and their weighted sum.
  constexpr std::int64_t attention = 2 * 128 * (512 + 64 + 512) * 2048;
  constexpr std::int64_t index = (2 * 64 * 128 + 2 * 64) * std::int64_t{65536};
  EXPECT_EQ(result.cost.forward.attention, Count(61 * (attention + index)));
  // The cache holds every position, and the indexer's key beside latent and rotated key.
  EXPECT_EQ(result.kv_cache->bytes_total, Count(61 * 2 * (512 + 64 + 128) * std::int64_t{65536}));
  // Below 2,048 positions all keys are chosen.
  request.workload.context = 1000;
  EXPECT_EQ(count_model(model_of(kV32), request).cost.forward.attention,
            Count(61 * (std::int64_t{2} * 128 * (512 + 64 + 512) + 2 * 64 * 128 + 2 * 64) * 1000));
}

std::string glm(const std::string& indexer_types) {
  return R"({"model_type": "glm_moe_dsa", "hidden_size": 64, "intermediate_size": 96,
      "moe_intermediate_size": 32, "num_hidden_layers": 4, "first_k_dense_replace": 1,
      "num_attention_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 12,
      "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 8, "num_experts_per_tok": 2,
      "n_shared_experts": 1, "vocab_size": 100, "index_n_heads": 2, "index_head_dim": 10,
      "index_topk": 16, "num_nextn_predict_layers": 1, "indexer_types": )" +
         indexer_types + "}";
}

TEST(Indexer, LayersThatShareAChoiceHaveNone) {
  constexpr std::int64_t indexer = 24 * 2 * 10 + 64 * 10 + 2 * 10 + 64 * 2;
  const auto total = [](const std::string& listed) {
    return params_of_model(model_of(glm(listed))).total;
  };
  EXPECT_EQ(total(R"(["full", "full", "full", "full"])") -
                total(R"(["full", "full", "shared", "shared"])"),
            Count(2 * indexer));
  EXPECT_EQ(total("null"), total(R"(["full", "full", "full", "full"])"));
  // An MTP layer chooses for itself.
  const Model model = model_of(glm(R"(["full", "full", "shared", "shared"])"));
  EXPECT_TRUE(model.mtp->layer.attention->latent->indexer.has_value());
  const auto error = [](const std::string& listed) {
    return user_error_of([&] { model_of(glm(listed)); });
  };
  EXPECT_EQ(error(R"(["shared", "full", "full", "full"])"),
            "config.json: indexer_types[0]: expected full, got 'shared'");
  EXPECT_EQ(error(R"(["full", "half", "full", "full"])"),
            "config.json: indexer_types[1]: expected full or shared, got 'half'");
  EXPECT_EQ(error(R"(["full"])"),
            "config.json: indexer_types: expected 4 entries, one a layer, got 1");
}

}  // namespace
}  // namespace flopwise
