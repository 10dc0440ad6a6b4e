// Fields that say one thing twice must agree; what a class takes for absent fields is said; fields
// of layers that a model could have, but has not, are no harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using nlohmann::json;

const json kLlama = json::parse(R"({"model_type": "llama", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 7})");
const json kGemma3 = json::parse(R"({"model_type": "gemma3_text", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 7, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 7})");
const json kMamba = json::parse(R"({"model_type": "mamba", "hidden_size": 16,
    "num_hidden_layers": 3, "vocab_size": 7})");
const json kNext = json::parse(R"({"model_type": "qwen3_5_text", "hidden_size": 32,
    "intermediate_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "linear_num_key_heads": 2,
    "linear_num_value_heads": 4, "vocab_size": 50})");
const json kLfm2 = json::parse(R"({"model_type": "lfm2", "hidden_size": 32, "block_ff_dim": 96,
    "num_hidden_layers": 3, "num_attention_heads": 4, "num_heads": 4, "num_key_value_heads": 2,
    "full_attn_idxs": [], "vocab_size": 50})");
const json kWhisper = json::parse(R"({"model_type": "whisper", "d_model": 16,
    "decoder_attention_heads": 4, "decoder_ffn_dim": 24, "decoder_layers": 3,
    "encoder_attention_heads": 4, "encoder_ffn_dim": 24, "encoder_layers": 2, "vocab_size": 7})");
const json kT5 = json::parse(R"({"model_type": "t5", "d_model": 16, "d_ff": 24, "d_kv": 4,
    "num_heads": 4, "num_layers": 3, "vocab_size": 7})");

json with(json config, const std::string& fields) {
  config.update(json::parse(fields));
  return config;
}

Model read(const json& config, const std::string& as = "") {
  return model_from_config(config, "config.json", as);
}

std::string error_of(const json& config) {
  try {
    read(config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

bool assumes(const Model& model, const std::string& line) {
  return std::count(model.assumptions.begin(), model.assumptions.end(), line) == 1;
}

TEST(Contradictions, AreRefusedByBothNames) {
  struct Row {
    json config;
    const char* message;
  };
  const Row rows[] = {
      {with(kMamba,   R"({"expand": 3, "intermediate_size": 32})"),
       "config.json: intermediate_size: expected 48, as expand = 3 times hidden_size = 16 says, "
       "got 32"                                                               },
      {with(kNext,    R"({"full_attention_interval": 4, "layer_types": ["linear_attention",
            "full_attention", "linear_attention", "linear_attention"]})"),
       "config.json: layer_types[1]: expected linear_attention, as full_attention_interval = 4 "
       "says, got 'full_attention'"                                           },
      {with(kWhisper, R"({"num_hidden_layers": 5})"),
       "config.json: num_hidden_layers: expected 2, as model_type 'whisper' and the other fields "
       "say, got 5"                                                           },
      {with(kLlama,   R"({"layer_types": []})"),
       "config.json: layer_types: expected 3 entries, one a layer, got 0"     },
      {with(kNext,    R"({"layer_types": []})"),
       "config.json: layer_types: expected 4 entries, one a layer, got 0"     },
      {with(kT5,      R"({"is_encoder_decoder": false,
                     "architectures": ["T5ForConditionalGeneration"]})"),
       "config.json: is_encoder_decoder: expected true, as architectures with "
       "T5ForConditionalGeneration says, got false"                           },
      {with(kLlama,   R"({"model_type": "minimax_m3"})"),
       "config.json: model_type: queries that see only the blocks of keys that an index of "
       "sparse_attention_config chooses are not counted yet, got 'minimax_m3'"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.config), row.message);
  EXPECT_EQ(error_of(with(kMamba, R"({"expand": 2, "intermediate_size": 32})")), "no error");
  EXPECT_EQ(error_of(with(kWhisper, R"({"num_hidden_layers": 2})")), "no error");
}

TEST(Contradictions, DefaultsOfTheClassAreSaid) {
  const Model gemma = read(kGemma3);
  EXPECT_TRUE(assumes(gemma, "head_dim is absent: 256"));
  EXPECT_TRUE(assumes(gemma, "sliding_window is absent: 4096"));
  EXPECT_TRUE(assumes(read(kNext), "full_attention_interval is absent: 4"));
  const Model clip = read(json::parse(R"({"model_type": "clip", "projection_dim": 8,
      "text_config": {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 4},
      "vision_config": {"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 4}})"));
  EXPECT_TRUE(assumes(clip, "vision tower: patch_size is absent: 32"));
  EXPECT_TRUE(assumes(clip, "vision tower: image_size is absent: 224"));
}

TEST(Contradictions, ModelsWithoutAttentionReadFieldsOfIt) {
  EXPECT_FALSE(read(kLfm2).decoder->groups.at(0).layer.attention.has_value());
  const Model linear = read(with(kNext, R"({"mtp_num_hidden_layers": 1, "layer_types": [
      "linear_attention", "linear_attention", "linear_attention", "linear_attention"]})"));
  ASSERT_TRUE(linear.mtp.has_value());
  EXPECT_EQ(linear.mtp->layer.attention->head_dim, 16);
  EXPECT_FALSE(linear.mtp->layer.recurrence.has_value());
  const Model nemotron = read(json::parse(R"({"model_type": "nemotron_h", "hidden_size": 32,
      "intermediate_size": 48, "hybrid_override_pattern": "-*", "conv_kernel": 4, "n_groups": 2,
      "use_conv_bias": true, "ssm_state_size": 8, "mamba_num_heads": 4, "mamba_head_dim": 8,
      "num_attention_heads": 4, "vocab_size": 50})"));
  EXPECT_EQ(nemotron.decoder->groups.size(), 2u);
}

TEST(Contradictions, AsReadsTheTextModelAndLeavesOutTheRest) {
  const Model mamba = read(with(kLlama, R"({"head_dim": 4})"), "mamba");
  EXPECT_TRUE(assumes(mamba, "left out, since model_type 'mamba' has no such field: head_dim = 4"));
  json both = {
      {"model_type",          "qwen3_5"},
      {"text_config",         kNext    },
      {"tie_word_embeddings", true     }
  };
  const Model text = read(both, "qwen3_5_text");
  EXPECT_EQ(text.d_model, 32);
  EXPECT_TRUE(text.head.tied);
  EXPECT_TRUE(assumes(text, "--as qwen3_5_text: text_config is read, the text model alone"));
  both["text_config"]["hidden_size"] = 0;
  try {
    read(both, "qwen3_5_text");
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              "config.json: text_config.hidden_size: expected a whole number of 1 ... "
              "1099511627776, got 0");
  }
}

TEST(Contradictions, MoreClasses) {
  EXPECT_EQ(read(with(kGemma3, R"({"architectures": ["Gemma3TextModel"]})")).head.kind,
            HeadKind::kNone);
  const Model answers = read(with(kLlama, R"({"architectures": ["LlamaForQuestionAnswering"]})"));
  EXPECT_EQ(answers.head.kind, HeadKind::kTokenLabels);
  EXPECT_EQ(answers.head.labels, 2);
  const Model bert = read(json::parse(R"({"model_type": "bert", "hidden_size": 16,
      "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 7,
      "architectures": ["BertLMHeadModel"]})"));
  EXPECT_EQ(bert.head.kind, HeadKind::kMaskedLm);
  EXPECT_TRUE(bert.head.tied);
  const Model encoder = read(with(kT5, R"({"is_encoder_decoder": false})"));
  EXPECT_EQ(encoder.architecture, Architecture::kEncoder);
  EXPECT_TRUE(assumes(
      encoder, "architectures is absent: T5EncoderModel, since is_encoder_decoder is false"));
}

// The files beside the code that DeepSeek and OpenAI published.
TEST(Contradictions, PublishedNames) {
  const Model v2 = read(json::parse(R"({"vocab_size": 100, "dim": 16, "inter_dim": 24,
      "moe_inter_dim": 8, "n_layers": 4, "n_dense_layers": 1, "n_heads": 4, "n_routed_experts": 6,
      "n_shared_experts": 2, "n_activated_experts": 3, "n_expert_groups": 2,
      "n_limited_groups": 1, "route_scale": 16.0, "q_lora_rank": 8, "kv_lora_rank": 4,
      "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 4})"));
  EXPECT_EQ(v2.family, "deepseek_v2");
  EXPECT_EQ(v2.decoder->groups.at(1).repeat, 3);
  const Moe& moe = std::get<Moe>(v2.decoder->groups.at(1).layer.feed_forward);
  EXPECT_EQ(moe.active_experts, 3);
  EXPECT_EQ(moe.shared_d_ff, 16);
  EXPECT_FALSE(moe.correction_bias);
  EXPECT_TRUE(assumes(v2, "model_type is absent: deepseek_v2, by the names of the fields"));
  const Model oss = read(json::parse(R"({"num_hidden_layers": 2, "num_experts": 4,
      "experts_per_token": 2, "vocab_size": 50, "hidden_size": 16, "intermediate_size": 12,
      "swiglu_limit": 7.0, "head_dim": 8, "num_attention_heads": 4, "num_key_value_heads": 2,
      "sliding_window": 8, "initial_context_length": 64, "rope_theta": 150000,
      "rope_scaling_factor": 32.0, "rope_ntk_alpha": 1, "rope_ntk_beta": 32})"));
  EXPECT_EQ(oss.family, "gpt_oss");
  EXPECT_TRUE(oss.decoder->groups.at(0).layer.attention->sinks);
}

}  // namespace
}  // namespace flopwise
