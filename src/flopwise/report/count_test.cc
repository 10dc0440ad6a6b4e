#include "flopwise/report/count.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "flopwise/model/read_model.h"
#include "flopwise/report/mfu.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CountResult count(const char* model, CountRequest request = {}) {
  return count_model(find_model(model), request);
}

nlohmann::json json_of(const CountResult& result) {
  return nlohmann::json::parse(count_json({result}).str());
}

std::vector<std::string> keys(const nlohmann::json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

// Softmax is 5 operations an element forward and 4 backward, in a router as anywhere.
TEST(Count, ARoutersSoftmax) {
  CountRequest request;
  request.workload.mode = Mode::kTrain;
  for (const auto& [model, elements] : {
           std::pair{"mixtral-8x7b",  "k"},
           std::pair{"qwen3-30b-a3b", "E"}
  }) {
    const nlohmann::json json = json_of(count(model, request));
    std::vector<std::string> formulas;
    for (const nlohmann::json& op : json["ops"]) {
      if (op["name"].get<std::string>().starts_with("router.softmax")) {
        formulas.push_back(op["flops"]["formula"]);
      }
    }
    const std::string size = std::string("*B*T*") + elements;
    EXPECT_THAT(formulas, ElementsAre("5" + size, "4" + size)) << model;
  }
}

// docs/json.md: the blocks of a count, always all of them.
TEST(CountJson, Schema) {
  const nlohmann::json json = json_of(count("llama-3-8b"));
  EXPECT_THAT(keys(json),
              ElementsAre("activations", "analysis", "arithmetic_intensity", "assumptions",
                          "blocks", "bytes", "flops", "image", "kv_cache", "model", "ops", "params",
                          "schema", "sizes", "sound", "workload"));
  EXPECT_THAT(keys(json["params"]),
              ElementsAre("active", "audio", "by_component", "embedding", "mtp", "non_embedding",
                          "total", "trainable", "unused", "vision"));
  EXPECT_THAT(keys(json["params"]["by_component"]),
              ElementsAre("attention", "embedding", "mlp", "norm", "other", "recurrence", "router",
                          "unembedding"));
  for (const char* pass : {"forward", "backward", "recompute"}) {
    EXPECT_THAT(keys(json["flops"][pass]),
                ElementsAre("attention", "attention_dense", "matmul", "total", "vector"));
  }
  for (const char* key :
       {"model_total", "hardware_total", "model_total_dense", "hardware_total_dense", "per_token",
        "six_n_d", "six_n_d_ratio", "convention"}) {
    EXPECT_TRUE(json["flops"].contains(key)) << key;
  }
  for (const char* key : {"attention_share", "context_equals_matmul", "context_equals_projections",
                          "attention_intensity", "attention_compute_bound_length",
                          "moe_critical_batch_tokens", "tokens_per_expert", "unembedding_share"}) {
    EXPECT_TRUE(json["analysis"].contains(key)) << key;
  }
  for (const nlohmann::json& op : json["ops"]) {
    EXPECT_THAT(keys(op), ElementsAre("block", "bytes", "class", "component", "expression", "flops",
                                      "flops_dense", "kernel", "layers", "name", "params", "pass"));
    EXPECT_THAT(keys(op["flops"]), ElementsAre("formula", "value"));
  }
  EXPECT_EQ(json["sizes"]["D"], 4096);
  EXPECT_TRUE(json["sizes"]["R"].is_null());
  EXPECT_EQ(json["params"]["total"], 8030261248);
  EXPECT_EQ(json["params"]["embedding"], 2 * 128256 * 4096);
}

// What a mode lacks is 0 or null, and present.
TEST(CountJson, WhatAModeLacks) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = 100;
  const nlohmann::json decode = json_of(count("gpt2", request));
  EXPECT_EQ(decode["flops"]["backward"]["total"], 0);
  EXPECT_EQ(decode["flops"]["recompute"]["total"], 0);
  EXPECT_EQ(decode["kv_cache"]["bytes_total"], 36864 * 100);
  EXPECT_TRUE(decode["analysis"]["moe_critical_batch_tokens"]["weights_only"].is_null());
  EXPECT_TRUE(decode["analysis"]["attention_compute_bound_length"].is_null());
  const nlohmann::json encoder = json_of(count("bert-base"));
  EXPECT_TRUE(encoder["kv_cache"].is_null());
  EXPECT_TRUE(encoder["analysis"]["attention_intensity"]["generation"].is_null());
}

TEST(CountJson, SeveralModels) {
  const nlohmann::json json =
      nlohmann::json::parse(count_json({count("gpt2"), count("llama-3-8b")}).str());
  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["models"].size(), 2);
  EXPECT_EQ(json["models"][1]["model"]["name"], "llama-3-8b");
}

// Integers beyond 64 bits are numbers with all their digits.
TEST(CountJson, DigitsBeyond64Bits) {
  CountRequest request;
  request.workload.batch = 1 << 20;
  request.workload.seq_len = 1 << 17;
  const CountResult result = count("llama-3.1-405b", request);
  EXPECT_GT(result.cost.model_total(), Count(INT64_MAX));
  EXPECT_THAT(count_json({result}).str(),
              HasSubstr("\"model_total\": " + result.cost.model_total().str() + ","));
}

// Shares are those of the workload asked for: in decoding attention weighs far more than in
// training at T = 1.
TEST(CountAnalysis, SharesAreOfTheWorkload) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = 8192;
  const CountResult result = count("llama-3-8b", request);
  EXPECT_EQ(result.analysis.attention_share_of_flops,
            Rational(result.cost.forward.attention) / Rational(result.cost.forward.matrix()));
  EXPECT_GT(result.analysis.attention_share_of_flops, Rational::of(1, 5));
}

TEST(CountText, SaysEverythingThatTheAnalysisHolds) {
  CountRequest request;
  request.intensity = Rational(240);
  request.fusion = Fusion::kUnfused;
  const std::string text = count_text({count("mixtral-8x7b", request)}, Explain::kNo);
  for (const char* label :
       {"6*N*D", "attention parameters", "attention FLOPs", "attention = all matmuls at T",
        "attention = projections at T", "attention FLOP/B", "attention compute-bound",
        "tokens per expert", "MoE critical batch", "experts reached", "unembedding",
        "KV cache per token", "naive attention", "saved activations"}) {
    EXPECT_THAT(text, HasSubstr(label));
  }
}

TEST(CountText, ExplainsFormulaSizesAndValue) {
  CountRequest request;
  request.workload.seq_len = 8;
  const std::string text = count_text({count("gpt2", request)}, Explain::kYes);
  EXPECT_THAT(text, HasSubstr("2*B*T*D*F = 2*1*8*768*3072 = 37,748,736"));
}

// Conventions against formulas of their papers, for a GPT of l layers, width h, vocabulary V.
// N of 2*N*D and of the shares is the text model's, in the numbers and in their explanation.
TEST(CountText, RulesOfThumbLeaveOutTheTower) {
  CountRequest request;
  request.workload.mode = Mode::kForward;
  request.workload.seq_len = 8;
  const CountResult r = count("qwen3-vl-8b", request);
  ASSERT_EQ(r.towers.size(), 1);
  EXPECT_EQ(r.towers[0].params + r.text.total, r.cost.params.total);
  EXPECT_EQ(r.six_n_d, Count(2 * 8) * (r.cost.params.active - r.towers[0].params));
  const std::string text = count_text({r}, Explain::kYes);
  EXPECT_THAT(text, HasSubstr("2 * 8,190,735,360 active parameters * 8 tokens = 131,051,765,760"));
  EXPECT_THAT(text, HasSubstr("/ 8,190,735,360"));
}

// What follows the last layer, where it is no vocabulary.
TEST(CountText, NamesTheHead) {
  CountRequest request;
  request.workload.mode = Mode::kForward;
  request.workload.seq_len = 8;
  const auto text = [&](const char* model) {
    return count_text({count(model, request)}, Explain::kNo);
  };
  EXPECT_THAT(text("vit-base"), HasSubstr("full mask, pooler"));
  EXPECT_THAT(text("clip-vit-large"), HasSubstr("causal mask, projector"));
  EXPECT_THAT(text("llama-3-8b"), HasSubstr("causal mask, untied head"));
}

// Labels and single numbers are no multiple of a block of 32.
TEST(Count, QuantisedWeightsOfEncoders) {
  CountRequest request;
  request.weights = "q8_0";
  request.workload.mode = Mode::kForward;
  EXPECT_GT(count("clip-vit-large", request).cost.bytes.weights, Count(0));
}

TEST(Conventions, MegatronAndPalm) {
  const std::int64_t l = 4;
  const std::int64_t h = 64;
  const std::int64_t v = 1000;
  const std::int64_t s = 32;
  const std::int64_t b = 3;
  CountRequest request;
  request.workload.batch = b;
  request.workload.seq_len = s;
  const auto by = [&](const char* name) {
    request.convention = name;
    return count_model(model_from_letters("D=64,F=256,L=4,V=1000,N=4,gated=0,tied=1"), request);
  };
  // 96*B*s*l*h^2*(1 + s/(6h) + V/(16*l*h))
  EXPECT_EQ(by("megatron21").by_convention.model,
            Rational(96 * b * s * l * h * h) *
                (Rational(1) + Rational::of(s, 6 * h) + Rational::of(v, 16 * l * h)));
  // 72*B*s*l*h^2*(1 + s/(6h) + V/(12*l*h))
  EXPECT_EQ(by("korthikanti").by_convention.model,
            Rational(72 * b * s * l * h * h) *
                (Rational(1) + Rational::of(s, 6 * h) + Rational::of(v, 12 * l * h)));
  // 6N + 12LHQT a token
  const CountResult palm = by("palm");
  EXPECT_EQ(palm.by_convention.model,
            Rational(Count(b * s) * (Count(6) * palm.cost.params.total + Count(12 * l * h * s))));
  // forward 4*s^2*h a layer and sequence, causal half, backward 2.5 times it
  EXPECT_EQ(by("flash").by_convention.model, Rational::of(7 * 4 * b * l * s * s * h, 2 * 2));
}

// Published figures of whole rows: Megatron's 530B-sized example (96 layers of 12288, V = 51200, B
// = 1536, T = 2048), a MosaicML 70B shape, and the HFU of each: 1 + s/6h of selective recomputation
// without logits, 4/3 with checkpointing.
TEST(Conventions, PublishedRows) {
  const auto by = [](const char* letters, std::int64_t batch, const char* name, const char* remat) {
    CountRequest request;
    request.workload.batch = batch;
    request.workload.seq_len = 2048;
    request.convention = name;
    request.remat = parse_remat(remat);
    return count_model(model_from_letters(letters), request).by_convention;
  };
  constexpr const char* kGpt = "D=12288,F=49152,L=96,V=51200,N=96,gated=0,tied=1";
  EXPECT_EQ(by(kGpt, 1536, "megatron21", "full").model, Rational(4510970753323106304));
  EXPECT_EQ(by(kGpt, 1536, "megatron21", "full").hardware, Rational(4510970753323106304));
  const ConventionFlops selective = by(kGpt, 1536, "korthikanti", "attention");
  EXPECT_EQ(selective.model, Rational(3386196746387324928));
  // 72*B*s*l*h^2*(1 + s/(3h) + V/(12*l*h))
  EXPECT_EQ(
      *selective.hardware,
      Rational(Count(72) * Count(1536) * Count(2048) * Count(96) * Count(12288) * Count(12288)) *
          (Rational(1) + Rational::of(2048, 3 * 12288) + Rational::of(51200, 12 * 96 * 12288)));
  const ConventionFlops mosaic =
      by("D=8192,F=32768,L=80,V=50368,N=64,gated=0,tied=1,bias=1,norm=layer,positions=2048", 1,
         "mosaic", "full");
  EXPECT_EQ(mosaic.model, Rational(830014979309568));
  EXPECT_EQ(*mosaic.hardware, mosaic.model * Rational::of(4, 3));
  EXPECT_FALSE(by(kGpt, 1, "palm", "full").hardware.has_value());
}

// Hoffmann et al. 2022, Table A4: FLOPs over 6ND of the 73M model, N with a relative-position
// projection; appendix F's layer terms with 3 softmax FLOPs a score.
TEST(Conventions, Chinchilla) {
  CountRequest request;
  request.workload.seq_len = 2048;
  request.convention = "chinchilla";
  const CountResult r =
      count_model(model_from_letters("D=640,F=2560,L=10,V=32000,N=10,gated=0,tied=1"), request);
  const double params = 10.0 * (5 * 640 * 640 + 8 * 640 * 640) + 32000.0 * 640;
  EXPECT_NEAR(r.by_convention.model.to_double() / (6 * params * 2048), 1.03, 0.006);
}

}  // namespace
}  // namespace flopwise
