// Every family once, with the dimensions of a real model, and every trap that its files set.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

Model read(const std::string& config) {
  return model_from_config(parse_json(config, "config.json"), "config.json");
}

// The small Llama that most rows vary: `fields` replace those of the same name.
std::string llama(const std::string& fields = "{}") {
  nlohmann::json config = nlohmann::json::parse(
      R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 16,
          "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
          "num_key_value_heads": 2, "hidden_act": "silu", "max_position_embeddings": 32,
          "vocab_size": 7})");
  config.update(nlohmann::json::parse(fields));
  return config.dump();
}

std::string error_of(const std::string& config) {
  try {
    read(config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

const std::vector<LayerGroup>& groups(const Model& model) {
  return (model.decoder ? model.decoder : model.encoder)->groups;
}
const Layer& only_layer(const Model& model) {
  EXPECT_EQ(groups(model).size(), 1u);
  return groups(model).front().layer;
}
const Mlp& mlp_of(const Layer& layer) {
  return std::get<Mlp>(layer.feed_forward);
}
const Moe& moe_of(const Layer& layer) {
  return std::get<Moe>(layer.feed_forward);
}

// "local:3 global:1": the kinds of layers with their numbers.
std::string kinds(const Model& model) {
  std::string text;
  for (const LayerGroup& group : groups(model)) {
    text += (text.empty() ? "" : " ") + group.name + ":" + std::to_string(group.repeat);
  }
  return text;
}

// "qkvo": which projections have a bias.
std::string biases(const Attention& attention) {
  return std::string(attention.q_bias ? "q" : "") + (attention.k_bias ? "k" : "") +
         (attention.v_bias ? "v" : "") + (attention.o_bias ? "o" : "");
}

void expect_heads(const Attention& attention, std::int64_t heads, std::int64_t kv_heads,
                  std::int64_t head_dim) {
  EXPECT_EQ(attention.heads, heads);
  EXPECT_EQ(attention.kv_heads, kv_heads);
  EXPECT_EQ(attention.head_dim, head_dim);
  EXPECT_EQ(attention.value_dim, head_dim);
}

constexpr AttentionMask kCausalMask = {MaskKind::kCausal, 0};
constexpr AttentionMask kFullMask = {MaskKind::kFull, 0};
AttentionMask window(std::int64_t size) {
  return {MaskKind::kWindow, size};
}

// ---- one of each family ----------------------------------------------------------------------

TEST(Families, Gpt2) {
  const Model model = read(
      R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 1280, "n_head": 20,
          "n_layer": 36, "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257,
          "attn_pdrop": 0.1, "summary_use_proj": true, "summary_proj_to_labels": true})");
  EXPECT_EQ(model.family, "gpt2");
  EXPECT_EQ(model.d_model, 1280);
  EXPECT_EQ(model.vocab, 50257);
  EXPECT_EQ(model.embedding.positions, 1024);
  EXPECT_TRUE(model.head.tied);
  EXPECT_EQ(kinds(model), "layer:36");
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.norm, NormKind::kLayer);
  EXPECT_EQ(layer.placement, NormPlacement::kPre);
  expect_heads(layer.attention.value(), 20, 20, 64);
  EXPECT_EQ(biases(layer.attention.value()), "qkvo");
  EXPECT_EQ(layer.attention->position, PositionKind::kNone);
  EXPECT_TRUE(layer.attention->scaled);
  EXPECT_EQ(mlp_of(layer), (Mlp{5120, false, Activation::kGeluTanh, true, true}));
  EXPECT_TRUE(model.decoder->final_norm);
}

TEST(Families, GptNeox) {
  const Model model = read(
      R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 6144,
          "intermediate_size": 24576, "num_hidden_layers": 44, "num_attention_heads": 64,
          "hidden_act": "gelu_fast", "rotary_pct": 0.25, "max_position_embeddings": 2048,
          "vocab_size": 50432})");
  EXPECT_FALSE(model.head.tied);
  EXPECT_FALSE(model.head.bias);
  const Layer& layer = only_layer(model);
  EXPECT_TRUE(layer.parallel);
  EXPECT_FALSE(layer.shared_norm);
  expect_heads(layer.attention.value(), 64, 64, 96);
  EXPECT_EQ(layer.attention->rotary_dim, 24);
  EXPECT_EQ(biases(layer.attention.value()), "qkvo");
  EXPECT_EQ(mlp_of(layer), (Mlp{24576, false, Activation::kGeluTanh, true, true}));
}

TEST(Families, GptNeoxForClassification) {
  const Model model = read(
      R"({"model_type": "gpt_neox", "architectures": ["GPTNeoXForSequenceClassification"],
          "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
          "num_attention_heads": 16, "partial_rotary_factor": 0.5, "rotary_pct": 0.5,
          "use_parallel_residual": false, "attention_bias": false, "vocab_size": 50304,
          "id2label": {"0": "a", "1": "b", "2": "c"}})");
  EXPECT_EQ(model.head.kind, HeadKind::kSequenceLabels);
  EXPECT_EQ(model.head.labels, 3);
  EXPECT_FALSE(only_layer(model).parallel);
  EXPECT_EQ(only_layer(model).attention->rotary_dim, 32);
  EXPECT_EQ(biases(only_layer(model).attention.value()), "");
}

TEST(Families, Opt) {
  const Model model = read(
      R"({"model_type": "opt", "architectures": ["OPTForCausalLM"], "hidden_size": 768,
          "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
          "activation_function": "relu", "do_layer_norm_before": true, "layerdrop": 0.1,
          "max_position_embeddings": 2048, "vocab_size": 50272, "word_embed_proj_dim": 768})");
  EXPECT_EQ(model.embedding.positions, 2050);
  EXPECT_EQ(model.context, 2048);
  EXPECT_EQ(model.embedding.width, 0);
  EXPECT_TRUE(model.head.tied);
  EXPECT_TRUE(model.decoder->final_norm);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.placement, NormPlacement::kPre);
  EXPECT_EQ(biases(layer.attention.value()), "qkvo");
  EXPECT_EQ(mlp_of(layer), (Mlp{3072, false, Activation::kRelu, true, true}));
}

TEST(Families, Opt350mNormsAfterAndProjects) {
  const Model model = read(
      R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096, "num_hidden_layers": 24,
          "num_attention_heads": 16, "do_layer_norm_before": false, "enable_bias": false,
          "layer_norm_elementwise_affine": false, "max_position_embeddings": 2048,
          "vocab_size": 50272, "word_embed_proj_dim": 512})");
  EXPECT_EQ(model.embedding.width, 512);
  EXPECT_FALSE(model.decoder->final_norm);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.placement, NormPlacement::kPost);
  EXPECT_EQ(layer.norm, NormKind::kNoParams);
  EXPECT_EQ(biases(layer.attention.value()), "");
  EXPECT_FALSE(mlp_of(layer).up_bias || mlp_of(layer).down_bias);
}

TEST(Families, Llama) {
  const Model model = read(
      R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 3072,
          "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24,
          "num_key_value_heads": 8, "head_dim": 128, "hidden_act": "silu", "mlp_bias": false,
          "attention_bias": false, "max_position_embeddings": 131072, "vocab_size": 128256,
          "rope_scaling": {"rope_type": "llama3"}, "tie_word_embeddings": true})");
  EXPECT_TRUE(model.head.tied);
  EXPECT_EQ(model.context, 131072);
  EXPECT_EQ(model.embedding.positions, 0);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.norm, NormKind::kRms);
  expect_heads(layer.attention.value(), 24, 8, 128);
  EXPECT_EQ(layer.attention->rotary_dim, 128);
  EXPECT_EQ(layer.attention->mask, kCausalMask);
  EXPECT_EQ(biases(layer.attention.value()), "");
  EXPECT_EQ(mlp_of(layer), (Mlp{8192, true, Activation::kSilu, false, false}));
  EXPECT_TRUE(model.assumptions.empty());
}

TEST(Families, Mistral) {
  const auto mistral = [](const std::string& fields) {
    nlohmann::json config = nlohmann::json::parse(llama(fields));
    config["model_type"] = "mistral";
    config["architectures"] = {"MistralForCausalLM"};
    return only_layer(read(config.dump())).attention.value();
  };
  EXPECT_EQ(mistral("{}").mask, window(4096));
  EXPECT_EQ(mistral(R"({"sliding_window": 1024})").mask, window(1024));
  EXPECT_EQ(mistral(R"({"sliding_window": null})").mask, kCausalMask);
  expect_heads(mistral(R"({"head_dim": 6})"), 4, 2, 6);
}

TEST(Families, Mixtral) {
  const Model model = read(
      R"({"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 4096,
          "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2,
          "router_aux_loss_coef": 0.02, "sliding_window": null, "vocab_size": 32000})");
  EXPECT_EQ(kinds(model), "layer:32");
  const Moe& moe = moe_of(only_layer(model));
  EXPECT_EQ(moe.experts, 8);
  EXPECT_EQ(moe.active_experts, 2);
  EXPECT_EQ(moe.expert, (Mlp{14336, true, Activation::kSilu, false, false}));
  EXPECT_EQ(moe.score, RouterScore::kTopKThenSoftmax);
  EXPECT_EQ(moe.shared_d_ff, 0);
  EXPECT_EQ(only_layer(model).attention->mask, kCausalMask);
}

std::string qwen2(const std::string& fields) {
  nlohmann::json config = nlohmann::json::parse(llama(fields));
  config["model_type"] = "qwen2";
  config["architectures"] = {"Qwen2ForCausalLM"};
  return config.dump();
}

TEST(Families, Qwen2HasBiasesThatNoFieldNames) {
  const Model model = read(qwen2(R"({"num_hidden_layers": 30})"));
  EXPECT_EQ(biases(only_layer(model).attention.value()), "qkv");
  EXPECT_FALSE(model.head.tied);
}

TEST(Families, Qwen2SlidesOnlyWhenToldTo) {
  // The window is in the file, and off.
  EXPECT_EQ(kinds(read(qwen2(R"({"sliding_window": 8, "max_window_layers": 1,
                                 "use_sliding_window": false})"))),
            "layer:3");
  const Model model = read(qwen2(R"({"sliding_window": 8, "max_window_layers": 2,
                                     "use_sliding_window": true})"));
  EXPECT_EQ(kinds(model), "global:2 local:1");
  EXPECT_EQ(groups(model)[0].layer.attention->mask, kCausalMask);
  EXPECT_EQ(groups(model)[1].layer.attention->mask, window(8));
}

TEST(Families, Qwen3) {
  const Model model = read(
      R"({"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 5120,
          "intermediate_size": 25600, "num_hidden_layers": 64, "num_attention_heads": 64,
          "num_key_value_heads": 8, "attention_bias": false, "max_window_layers": 64,
          "sliding_window": null, "use_sliding_window": false, "vocab_size": 151936})");
  const Attention& attention = *only_layer(model).attention;
  expect_heads(attention, 64, 8, 128);  // not 5120/64
  EXPECT_EQ(attention.qk_norm, QkNorm::kPerHead);
  EXPECT_EQ(attention.qk_norm_kind, NormKind::kRms);
  EXPECT_EQ(biases(attention), "");
  EXPECT_FALSE(model.head.tied);
}

TEST(Families, Qwen2Moe) {
  const Model model = read(
      R"({"model_type": "qwen2_moe", "architectures": ["Qwen2MoeForCausalLM"], "hidden_size": 2048,
          "intermediate_size": 5632, "moe_intermediate_size": 1408, "num_hidden_layers": 24,
          "shared_expert_intermediate_size": 5632, "num_attention_heads": 16,
          "num_key_value_heads": 16, "num_experts": 60, "num_experts_per_tok": 4,
          "norm_topk_prob": false, "decoder_sparse_step": 1, "vocab_size": 151936})");
  EXPECT_EQ(biases(only_layer(model).attention.value()), "qkv");
  const Moe& moe = moe_of(only_layer(model));
  EXPECT_EQ(moe.experts, 60);
  EXPECT_EQ(moe.active_experts, 4);
  EXPECT_EQ(moe.expert.d_ff, 1408);
  EXPECT_EQ(moe.shared_d_ff, 5632);
  EXPECT_TRUE(moe.shared_gate);
  EXPECT_FALSE(moe.renormalise);
  EXPECT_EQ(moe.score, RouterScore::kSoftmaxThenTopK);
}

std::string qwen3_moe(const std::string& fields) {
  nlohmann::json config = nlohmann::json::parse(
      R"({"model_type": "qwen3_moe", "architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 2048,
          "intermediate_size": 6144, "moe_intermediate_size": 768, "num_hidden_layers": 48,
          "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
          "num_experts": 128, "num_experts_per_tok": 8, "norm_topk_prob": true,
          "vocab_size": 151936})");
  config.update(nlohmann::json::parse(fields));
  return config.dump();
}

TEST(Families, Qwen3Moe) {
  const Model model = read(qwen3_moe("{}"));
  EXPECT_EQ(kinds(model), "layer:48");
  const Moe& moe = moe_of(only_layer(model));
  EXPECT_EQ(moe.expert.d_ff, 768);
  EXPECT_TRUE(moe.renormalise);
  EXPECT_EQ(moe.shared_d_ff, 0);
  EXPECT_EQ(only_layer(model).attention->qk_norm, QkNorm::kPerHead);
}

TEST(Families, SparseStepAndDenseLayers) {
  const Model every_third = read(qwen3_moe(R"({"decoder_sparse_step": 3})"));
  EXPECT_EQ(kinds(every_third), "dense:32 moe:16");
  EXPECT_EQ(mlp_of(groups(every_third)[0].layer).d_ff, 6144);
  EXPECT_EQ(moe_of(groups(every_third)[1].layer).expert.d_ff, 768);
  // Layer 5 would be the second mixture; 4 is dense anyway.
  EXPECT_EQ(kinds(read(qwen3_moe(R"({"decoder_sparse_step": 3, "mlp_only_layers": [5, 4]})"))),
            "dense:33 moe:15");
  EXPECT_EQ(kinds(read(qwen3_moe(R"({"mlp_only_layers": [0]})"))), "dense:1 moe:47");
  EXPECT_EQ(kinds(read(qwen3_moe(
                R"({"mlp_only_layers": [0], "use_sliding_window": true, "sliding_window": 16,
                    "max_window_layers": 40})"))),
            "global_dense:1 global_moe:39 local_moe:8");
}

TEST(Families, Gemma) {
  const Model model = read(
      R"({"model_type": "gemma", "architectures": ["GemmaForCausalLM"], "hidden_size": 3072,
          "intermediate_size": 24576, "num_hidden_layers": 28, "num_attention_heads": 16,
          "num_key_value_heads": 16, "hidden_act": "gelu", "max_position_embeddings": 8192,
          "vocab_size": 256000})");
  EXPECT_TRUE(model.head.tied);
  EXPECT_TRUE(model.embedding.scaled);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.placement, NormPlacement::kPre);
  expect_heads(layer.attention.value(), 16, 16, 256);  // not 3072/16
  EXPECT_EQ(mlp_of(layer), (Mlp{24576, true, Activation::kGeluTanh, false, false}));
}

TEST(Families, Gemma2) {
  const Model model = read(
      R"({"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "hidden_size": 4608,
          "intermediate_size": 36864, "num_hidden_layers": 45, "num_attention_heads": 32,
          "num_key_value_heads": 16, "head_dim": 128, "hidden_activation": "gelu_pytorch_tanh",
          "query_pre_attn_scalar": 144, "sliding_window": 4096, "final_logit_softcapping": null,
          "vocab_size": 256000})");
  EXPECT_EQ(kinds(model), "local:23 global:22");  // layer 0 is local
  const Layer& local = groups(model)[0].layer;
  EXPECT_EQ(local.placement, NormPlacement::kSandwich);
  EXPECT_EQ(local.attention->mask, window(4096));
  EXPECT_EQ(local.attention->softcap, 50);  // the class caps at 50 when the field is absent
  EXPECT_EQ(model.head.softcap, 0);         // null: no cap
  EXPECT_EQ(groups(model)[1].layer.attention->mask, kCausalMask);
  EXPECT_EQ(local.attention->qk_norm, QkNorm::kNone);
}

std::string gemma3_text(const std::string& fields) {
  nlohmann::json config = nlohmann::json::parse(
      R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
          "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
          "head_dim": 256, "sliding_window": 512, "vocab_size": 262144})");
  config.update(nlohmann::json::parse(fields));
  return config.dump();
}

TEST(Families, Gemma3Text) {
  const Model model = read(gemma3_text("{}"));
  EXPECT_EQ(kinds(model), "local:22 global:4");
  const Attention& local = groups(model)[0].layer.attention.value();
  expect_heads(local, 4, 1, 256);
  EXPECT_EQ(local.mask, window(512));
  EXPECT_EQ(local.qk_norm, QkNorm::kPerHead);
  EXPECT_EQ(local.softcap, 0);
  EXPECT_TRUE(model.head.tied);
  EXPECT_EQ(kinds(read(gemma3_text(R"({"sliding_window_pattern": 2})"))), "local:13 global:13");
  EXPECT_EQ(kinds(read(gemma3_text(R"({"sliding_window_pattern": 1})"))), "layer:26");
  EXPECT_EQ(kinds(read(gemma3_text(R"({"sliding_window": null})"))), "layer:26");
}

TEST(Families, LayerTypesWinOverTheDefaultPattern) {
  const Model model = read(gemma3_text(
      R"({"num_hidden_layers": 3, "layer_types": ["full_attention", "sliding_attention",
                                                  "full_attention"]})"));
  EXPECT_EQ(kinds(model), "global:2 local:1");
  const Model qwen = read(qwen2(
      R"({"use_sliding_window": true, "sliding_window": 4,
          "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]})"));
  EXPECT_EQ(kinds(qwen), "local:2 global:1");
}

TEST(Families, Gemma3ReadsItsTextConfig) {
  const Model model = read(
      R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
          "mm_tokens_per_image": 256, "text_config": {"model_type": "gemma3_text",
          "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
          "sliding_window": 1024}})");
  EXPECT_EQ(model.family, "gemma3");
  EXPECT_EQ(model.vocab, 262208);
  EXPECT_EQ(kinds(model), "local:29 global:5");
  expect_heads(groups(model)[0].layer.attention.value(), 8, 4, 256);
  EXPECT_TRUE(model.head.tied);
  EXPECT_EQ(
      model.assumptions,
      (std::vector<std::string>{"vocab_size is absent: 262208", "num_attention_heads is absent: 8",
                                "num_key_value_heads is absent: 4", "head_dim is absent: 256",
                                "no vision_config: the language model alone"}));
}

TEST(Families, Phi3) {
  const Model model = read(
      R"({"model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "hidden_size": 3072,
          "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32,
          "num_key_value_heads": null, "attention_bias": false, "embd_pdrop": 0.0,
          "partial_rotary_factor": 0.75, "sliding_window": 2047, "vocab_size": 32064})");
  const Attention& attention = *only_layer(model).attention;
  expect_heads(attention, 32, 32, 96);
  EXPECT_EQ(attention.rotary_dim, 72);
  EXPECT_EQ(attention.mask, window(2047));
  EXPECT_FALSE(model.head.tied);
}

TEST(Families, T5) {
  const Model model = read(
      R"({"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 1024,
          "d_kv": 128, "d_ff": 65536, "num_layers": 24, "num_heads": 128, "n_positions": 512,
          "is_encoder_decoder": true, "relative_attention_num_buckets": 32, "vocab_size": 32128})");
  EXPECT_EQ(model.architecture, Architecture::kEncoderDecoder);
  EXPECT_TRUE(model.head.tied && model.head.scaled);
  ASSERT_TRUE(model.encoder && model.decoder);
  const Layer& encoder = model.encoder->groups.front().layer;
  EXPECT_EQ(model.encoder->groups.front().repeat, 24);
  expect_heads(encoder.attention.value(), 128, 128, 128);
  EXPECT_FALSE(encoder.attention->scaled);
  EXPECT_EQ(encoder.attention->position, PositionKind::kRelative);
  EXPECT_EQ(encoder.attention->relative_buckets, 32);
  EXPECT_EQ(encoder.attention->mask, kFullMask);
  EXPECT_FALSE(encoder.cross);
  EXPECT_EQ(mlp_of(encoder), (Mlp{65536, false, Activation::kRelu, false, false}));
  const Layer& decoder = model.decoder->groups.front().layer;
  EXPECT_EQ(model.decoder->groups.front().repeat, 24);
  EXPECT_EQ(decoder.attention->mask, kCausalMask);
  EXPECT_EQ(decoder.attention->relative_buckets, 32);
  ASSERT_TRUE(decoder.cross);
  EXPECT_EQ(decoder.cross->mask, kFullMask);
  EXPECT_EQ(decoder.cross->position, PositionKind::kNone);
  EXPECT_EQ(decoder.cross->relative_buckets, 0);
}

TEST(Families, Mt5AndNewerT5AreGatedAndUntied) {
  const Model model = read(
      R"({"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"], "d_model": 512,
          "d_kv": 64, "d_ff": 1024, "num_layers": 8, "num_decoder_layers": 4, "num_heads": 6,
          "is_gated_act": true, "dense_act_fn": "gelu_new", "vocab_size": 250112})");
  EXPECT_FALSE(model.head.tied);
  EXPECT_FALSE(model.head.scaled);
  EXPECT_EQ(model.decoder->groups.front().repeat, 4);
  const Layer& encoder = model.encoder->groups.front().layer;
  expect_heads(encoder.attention.value(), 6, 6, 64);
  EXPECT_EQ(mlp_of(encoder), (Mlp{1024, true, Activation::kGeluTanh, false, false}));
}

TEST(Families, T5EncoderAlone) {
  const Model model = read(
      R"({"model_type": "t5", "architectures": ["T5EncoderModel"], "d_model": 512, "d_kv": 64,
          "d_ff": 1024, "num_layers": 8, "num_decoder_layers": 8, "num_heads": 6,
          "feed_forward_proj": "gated-silu", "vocab_size": 32128})");
  EXPECT_EQ(model.architecture, Architecture::kEncoder);
  EXPECT_FALSE(model.decoder);
  EXPECT_EQ(model.head.kind, HeadKind::kNone);
  EXPECT_EQ(mlp_of(only_layer(model)).activation, Activation::kSilu);
}

std::string bert(const std::string& fields) {
  nlohmann::json config = nlohmann::json::parse(
      R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "hidden_size": 768,
          "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
          "hidden_act": "gelu", "max_position_embeddings": 512, "type_vocab_size": 2,
          "position_embedding_type": "absolute", "pooler_num_fc_layers": 3, "vocab_size": 30522})");
  config.update(nlohmann::json::parse(fields));
  return config.dump();
}

TEST(Families, Bert) {
  const Model model = read(bert("{}"));
  EXPECT_EQ(model.architecture, Architecture::kEncoder);
  EXPECT_EQ(model.embedding.positions, 512);
  EXPECT_EQ(model.embedding.token_types, 2);
  EXPECT_TRUE(model.embedding.norm);
  EXPECT_FALSE(model.encoder->final_norm);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.placement, NormPlacement::kPost);
  EXPECT_EQ(layer.norm, NormKind::kLayer);
  expect_heads(layer.attention.value(), 12, 12, 64);
  EXPECT_EQ(layer.attention->mask, kFullMask);
  EXPECT_EQ(biases(layer.attention.value()), "qkvo");
  EXPECT_EQ(mlp_of(layer), (Mlp{3072, false, Activation::kGelu, true, true}));
}

TEST(Families, BertHeadsFollowTheClass) {
  struct Row {
    const char* fields;
    HeadKind kind;
    std::int64_t labels;
    bool tied;
  };
  const Row rows[] = {
      {R"({"architectures": ["BertForMaskedLM"]})", HeadKind::kMaskedLm, 0, true},
      {R"({"architectures": ["BertForMaskedLM"], "tie_word_embeddings": false})",
       HeadKind::kMaskedLm, 0, false},
      {R"({"architectures": ["BertForPreTraining"]})", HeadKind::kPretraining, 0, true},
      {R"({"architectures": ["BertModel"]})", HeadKind::kPooler, 0, false},
      {R"({"architectures": []})", HeadKind::kPooler, 0, false},
      {R"({"architectures": ["BertForSequenceClassification"]})", HeadKind::kPooledLabels, 2,
       false},
      {R"({"architectures": ["BertForSequenceClassification"], "num_labels": 1,
           "id2label": {"0": "a"}})",
       HeadKind::kPooledLabels, 1, false},
      {R"({"architectures": ["BertForTokenClassification"], "num_labels": 9})",
       HeadKind::kTokenLabels, 9, false},
      {R"({"architectures": ["BertForQuestionAnswering"]})", HeadKind::kTokenLabels, 2, false},
      {R"({"architectures": ["BertForMultipleChoice"]})", HeadKind::kPooledLabels, 1, false},
      {R"({"architectures": ["BertForNextSentencePrediction"]})", HeadKind::kPooledLabels, 2,
       false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fields);
    const Head head = read(bert(row.fields)).head;
    EXPECT_EQ(head.kind, row.kind);
    EXPECT_EQ(head.labels, row.labels);
    EXPECT_EQ(head.tied, row.tied);
    const bool predicts_words =
        row.kind == HeadKind::kMaskedLm || row.kind == HeadKind::kPretraining;
    EXPECT_EQ(head.bias, predicts_words);
  }
}

// ---- what tells the models of one model_type apart ---------------------------------------------

// `base` with the fields of `more`.
std::string with(const char* base, const std::string& more) {
  nlohmann::json config = nlohmann::json::parse(base);
  config.update(nlohmann::json::parse(more));
  return config.dump();
}

constexpr const char* kFalcon =
    R"({"model_type": "falcon", "hidden_size": 64, "num_attention_heads": 8,
        "num_hidden_layers": 3, "vocab_size": 7})";

TEST(Families, FalconHasThreeBlocks) {
  struct Row {
    const char* fields;
    bool parallel;
    bool shared_norm;
    std::int64_t kv_heads;
  };
  const Row rows[] = {
      {"{}", true, true, 1},                                                         // 7B
      {R"({"new_decoder_architecture": true, "num_kv_heads": 2})", true, false, 2},  // 40B
      {R"({"new_decoder_architecture": true, "num_ln_in_parallel_attn": 1})", true, true,
       8},                                                                     // 2-11B
      {R"({"parallel_attn": false, "multi_query": false})", false, false, 8},  // RW
      {R"({"model_type": "RefinedWeb", "n_head_kv": 4})", true, false, 4},
      {R"({"model_type": "RefinedWebModel", "multi_query": true})", true, true, 1},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.fields);
    const Layer layer = only_layer(read(with(kFalcon, row.fields)));
    EXPECT_EQ(layer.parallel, row.parallel);
    EXPECT_EQ(layer.shared_norm, row.shared_norm);
    EXPECT_EQ(layer.attention->kv_heads, row.kv_heads);
    EXPECT_EQ(layer.attention->rotary_dim, 8);
    EXPECT_EQ(biases(layer.attention.value()), "");
    EXPECT_EQ(mlp_of(layer).d_ff, 256);
  }
  const Layer rw = only_layer(read(with(kFalcon, R"({"alibi": true, "bias": true})")));
  EXPECT_EQ(rw.attention->position, PositionKind::kAlibi);
  EXPECT_EQ(biases(rw.attention.value()), "qkvo");
  EXPECT_TRUE(mlp_of(rw).up_bias && mlp_of(rw).down_bias);
}

TEST(Families, BaichuanByItsWidth) {
  const auto position = [](const char* width) {
    return only_layer(read(with(R"({"model_type": "baichuan", "intermediate_size": 8,
                                    "num_hidden_layers": 2, "num_attention_heads": 32,
                                    "vocab_size": 7})",
                                width)))
        .attention->position;
  };
  EXPECT_EQ(position(R"({"hidden_size": 4096})"), PositionKind::kRotary);
  EXPECT_EQ(position(R"({"hidden_size": 5120})"), PositionKind::kAlibi);
}

TEST(Families, ChatGlmIsTwoModels) {
  const Model first = read(
      R"({"model_type": "chatglm", "hidden_size": 64, "num_attention_heads": 4, "num_layers": 2,
          "inner_hidden_size": 256, "position_encoding_2d": true, "vocab_size": 7})");
  EXPECT_EQ(only_layer(first).placement, NormPlacement::kNormed);
  EXPECT_TRUE(only_layer(first).scaled_residual);
  EXPECT_EQ(biases(only_layer(first).attention.value()), "qkvo");
  EXPECT_TRUE(first.head.tied);
  const Model second = read(
      R"({"model_type": "chatglm", "hidden_size": 64, "num_attention_heads": 4, "num_layers": 2,
          "kv_channels": 16, "ffn_hidden_size": 24, "add_qkv_bias": true, "padded_vocab_size": 9,
          "multi_query_attention": true, "multi_query_group_num": 2})");
  expect_heads(only_layer(second).attention.value(), 4, 2, 16);
  EXPECT_EQ(only_layer(second).attention->rotary_dim, 8);
  EXPECT_EQ(biases(only_layer(second).attention.value()), "qkv");
  EXPECT_EQ(second.vocab, 9);
  EXPECT_FALSE(second.head.tied);
}

constexpr const char* kMpt =
    R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2, "max_seq_len": 32,
        "vocab_size": 7})";

TEST(Families, MptReadsInsideAttnConfig) {
  const Model learned = read(with(kMpt, R"({"no_bias": false, "expansion_ratio": 3})"));
  EXPECT_EQ(learned.embedding.positions, 32);
  EXPECT_EQ(only_layer(learned).norm, NormKind::kLayer);
  EXPECT_EQ(biases(only_layer(learned).attention.value()), "qkvo");
  EXPECT_EQ(mlp_of(only_layer(learned)).d_ff, 192);
  const Model alibi = read(with(kMpt, R"({"attn_config": {"alibi": true, "attn_impl": "torch",
      "attn_type": "grouped_query_attention", "kv_n_heads": 2}})"));
  EXPECT_EQ(alibi.embedding.positions, 0);
  EXPECT_EQ(only_layer(alibi).attention->position, PositionKind::kAlibi);
  EXPECT_EQ(only_layer(alibi).attention->kv_heads, 2);
  EXPECT_EQ(only_layer(alibi).norm, NormKind::kLayerNoBias);
}

TEST(Families, LayersWithoutPositions) {
  const auto smollm3 = [](const std::string& fields) {
    nlohmann::json config = nlohmann::json::parse(llama(fields));
    config["model_type"] = "smollm3";
    config["architectures"] = {"SmolLM3ForCausalLM"};
    return read(config.dump());
  };
  EXPECT_EQ(kinds(smollm3(R"({"num_hidden_layers": 9})")), "rotary:7 nope:2");
  EXPECT_EQ(kinds(smollm3(R"({"no_rope_layers": [0, 1, 1]})")), "nope:1 rotary:2");
  const Model listed = smollm3(R"({"no_rope_layers": [0, 1, 1]})");
  EXPECT_EQ(groups(listed)[0].layer.attention->position, PositionKind::kNone);
  EXPECT_EQ(groups(listed)[1].layer.attention->rotary_dim, 4);

  const auto exaone4 = [](const std::string& fields) {
    nlohmann::json config = nlohmann::json::parse(llama(fields));
    config["model_type"] = "exaone4";
    config["architectures"] = {"Exaone4ForCausalLM"};
    return read(config.dump());
  };
  const Model sliding = exaone4(R"({"num_hidden_layers": 8, "sliding_window_pattern": "LLLG"})");
  EXPECT_EQ(kinds(sliding), "local:6 global:2");
  EXPECT_EQ(groups(sliding)[0].layer.attention->position, PositionKind::kRotary);
  EXPECT_EQ(groups(sliding)[1].layer.attention->position, PositionKind::kNone);
  // Without a window every layer rotates.
  const Model full = exaone4(R"({"sliding_window": null})");
  EXPECT_EQ(only_layer(full).attention->position, PositionKind::kRotary);
  EXPECT_EQ(only_layer(full).placement, NormPlacement::kPostOnly);
}

TEST(Families, GptNeoNamesItsLocalLayers) {
  const Model model = read(
      R"({"model_type": "gpt_neo", "hidden_size": 64, "num_heads": 4, "num_layers": 4,
          "attention_types": [[["global", "local"], 2]], "attention_layers": ["global", "local",
          "global", "local"], "window_size": 16, "vocab_size": 7})");
  EXPECT_EQ(kinds(model), "global:2 local:2");
  EXPECT_EQ(groups(model)[1].layer.attention->mask, window(16));
  EXPECT_FALSE(groups(model)[0].layer.attention->scaled);
  EXPECT_EQ(biases(groups(model)[0].layer.attention.value()), "o");
}

TEST(Families, ModernBertStartsWithoutANorm) {
  const Model model = read(
      R"({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"],
          "hidden_size": 64, "intermediate_size": 24, "num_attention_heads": 4,
          "num_hidden_layers": 8, "local_attention": 6, "vocab_size": 7})");
  EXPECT_EQ(kinds(model), "first:1 local:5 global:2");
  EXPECT_FALSE(groups(model)[0].layer.attention_norm);
  EXPECT_EQ(groups(model)[1].layer.attention->mask, (AttentionMask{MaskKind::kTwoSidedWindow, 3}));
  EXPECT_TRUE(groups(model)[2].layer.attention_norm);
  EXPECT_TRUE(model.head.bias);
  EXPECT_FALSE(model.head.transform_bias);
}

TEST(Families, ConstantFactorsAreCountedWhereTheyAreNotOne) {
  const auto granite = [](const std::string& fields) {
    nlohmann::json config = nlohmann::json::parse(llama(fields));
    config["model_type"] = "granite";
    config["architectures"] = {"GraniteForCausalLM"};
    return read(config.dump());
  };
  const Model plain = granite("{}");
  EXPECT_FALSE(plain.embedding.scaled || plain.head.scaled_logits);
  EXPECT_FALSE(only_layer(plain).scaled_residual);
  const Model scaled = granite(R"({"embedding_multiplier": 12.0, "residual_multiplier": 0.22,
                                   "logits_scaling": 8.0, "attention_multiplier": 0.0078125})");
  EXPECT_TRUE(scaled.embedding.scaled && scaled.head.scaled_logits);
  EXPECT_TRUE(only_layer(scaled).scaled_residual);
}

// ---- fields of every family ------------------------------------------------------------------

TEST(Fields, NullAndZeroMeanTheDefault) {
  const std::int64_t from_null =
      only_layer(read(llama(R"({"head_dim": null})"))).attention->head_dim;
  EXPECT_EQ(from_null, 4);
  EXPECT_EQ(only_layer(read(llama(R"({"head_dim": 0})"))).attention->head_dim, 4);
  EXPECT_EQ(only_layer(read(llama(R"({"num_key_value_heads": null})"))).attention->kv_heads, 4);
  EXPECT_EQ(read(llama(R"({"max_position_embeddings": null})")).context, 0);
}

TEST(Fields, AbsentKvHeadsAreAnAssumption) {
  const Model model = read(
      R"({"model_type": "llama", "hidden_size": 16, "intermediate_size": 24,
          "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 7})");
  EXPECT_EQ(only_layer(model).attention->kv_heads, 4);
  EXPECT_EQ(model.assumptions, std::vector<std::string>{"num_key_value_heads is absent: 4"});
}

TEST(Fields, BiasesOfLlama) {
  const Layer layer = only_layer(read(llama(R"({"attention_bias": true, "mlp_bias": true})")));
  EXPECT_EQ(biases(layer.attention.value()), "qkvo");
  EXPECT_TRUE(mlp_of(layer).up_bias && mlp_of(layer).down_bias);
}

TEST(Fields, WhatTheClassSays) {
  EXPECT_EQ(read(llama(R"({"architectures": ["LLaMAForCausalLM"]})")).head.kind,
            HeadKind::kLanguageModel);
  EXPECT_EQ(read(llama(R"({"architectures": ["LlamaModel"]})")).head.kind, HeadKind::kNone);
  const Head tokens = read(llama(R"({"architectures": ["LlamaForTokenClassification"]})")).head;
  EXPECT_EQ(tokens.kind, HeadKind::kTokenLabels);
  EXPECT_EQ(tokens.labels, 2);
}

TEST(Fields, TheClassStandsInForAnAbsentModelType) {
  nlohmann::json config = nlohmann::json::parse(llama());
  config.erase("model_type");
  const Model model = read(config.dump());
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.assumptions,
            std::vector<std::string>{
                "model_type is absent: llama, since architectures has LlamaForCausalLM"});
}

TEST(Fields, QuantisedWeightsAreAnAssumption) {
  const Model model = read(llama(R"({"quantization_config": {"bits": 4}})"));
  EXPECT_EQ(model.assumptions,
            std::vector<std::string>{"quantization_config is left out: parameters are those of the "
                                     "unquantised model"});
}

TEST(Fields, HarmlessFieldsAreAccepted) {
  EXPECT_EQ(error_of(llama(
                R"({"torch_dtype": "bfloat16", "transformers_version": "4.44.0", "bos_token_id": 1,
                    "attention_dropout": 0.1, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
                    "pretraining_tp": 1, "_attn_implementation_autoset": true, "model_size": 8,
                    "initializer_range": 0.02, "rope_parameters": {"rope_theta": 1.0},
                    "auto_map": {"AutoConfig": "x"}, "output_hidden_states": true})")),
            "no error");
  // A field that sounds like cost is accepted where it is switched off.
  EXPECT_EQ(error_of(llama(R"({"num_experts": 0, "sliding_window": null, "use_mla": false,
                               "lora": "", "pruned_heads": {}})")),
            "no error");
}

TEST(Fields, HugeLayerCountsCostNothing) {
  EXPECT_EQ(kinds(read(llama(R"({"num_hidden_layers": 1099511627776})"))), "layer:1099511627776");
  const Model gemma = read(gemma3_text(R"({"num_hidden_layers": 1099511627776})"));
  ASSERT_EQ(groups(gemma).size(), 2u);
  EXPECT_EQ(groups(gemma)[1].repeat, kHuge / 6);
  EXPECT_EQ(groups(gemma)[0].repeat, kHuge - kHuge / 6);
  EXPECT_EQ(kinds(read(qwen3_moe(R"({"num_hidden_layers": 1099511627776,
                                     "decoder_sparse_step": 1099511627776,
                                     "mlp_only_layers": [3]})"))),
            "dense:1099511627775 moe:1");
}

// ---- errors ----------------------------------------------------------------------------------

struct ErrorRow {
  std::string config;
  const char* message;
};

void expect_errors(const std::vector<ErrorRow>& rows) {
  for (const ErrorRow& row : rows) {
    SCOPED_TRACE(row.config);
    EXPECT_EQ(error_of(row.config), row.message);
  }
}

TEST(FamilyErrors, ModelType) {
  expect_errors({
      {R"({"model_type": "lama"})",
       "config.json: unknown model_type 'lama', nearest: llama, llama4, mamba"},
      {R"({"model_type": 3})", "config.json: model_type: expected a text, got 3"},
      {R"({"hidden_size": 8})", "config.json: model_type: missing, expected one of docs/models.md"},
      {"[]", "config.json: expected a JSON object, got an array"},
  });
}

TEST(FamilyErrors, Sizes) {
  expect_errors({
      {llama(R"({"hidden_size": null})"),
       "config.json: hidden_size: missing, expected a whole number of 1 ... 1099511627776"},
      {llama(R"({"hidden_size": 0})"),
       "config.json: hidden_size: expected a whole number of 1 ... 1099511627776, got 0"},
      {llama(R"({"vocab_size": -1})"),
       "config.json: vocab_size: expected a whole number of 1 ... 1099511627776, got -1"},
      {llama(R"({"intermediate_size": 1.5})"),
       "config.json: intermediate_size: expected a whole number of 1 ... 1099511627776, got 1.5"},
      {llama(R"({"num_hidden_layers": "3"})"),
       "config.json: num_hidden_layers: expected a whole number of 1 ... 1099511627776, got '3'"},
      {llama(R"({"num_hidden_layers": 1099511627777})"),
       "config.json: num_hidden_layers: expected a whole number of 1 ... 1099511627776, got "
       "1099511627777"},
      {llama(R"({"num_attention_heads": true})"),
       "config.json: num_attention_heads: expected a whole number of 1 ... 1099511627776, got "
       "true"},
      {llama(R"({"num_attention_heads": 3, "num_key_value_heads": 3})"),
       "config.json: hidden_size: expected a multiple of num_attention_heads = 3, got 16"},
      {llama(R"({"num_key_value_heads": 3})"),
       "config.json: num_key_value_heads: expected a divisor of num_attention_heads = 4, got 3"},
      {llama(R"({"num_key_value_heads": 0})"),
       "config.json: num_key_value_heads: expected a whole number of 1 ... 1099511627776, got 0"},
      {llama(R"({"head_dim": -4})"),
       "config.json: head_dim: expected a whole number of 0 ... 1099511627776, got -4"},
      {llama(R"({"head_dim": 5})"),
       "config.json: head_dim: expected heads that rotate an even number of elements, got 5 of "
       "head_dim = 5"},
      {bert(R"({"num_attention_heads": 5})"),
       "config.json: hidden_size: expected a multiple of num_attention_heads = 5, got 768"},
  });
}

TEST(FamilyErrors, WrongTypesAndNames) {
  expect_errors({
      {llama(R"({"hidden_act": 3})"), "config.json: hidden_act: expected a text, got 3"},
      {llama(R"({"hidden_act": "softplus"})"),
       "config.json: hidden_act: unknown activation 'softplus', known: gelu, gelu_python, "
       "gelu_new, "
       "quick_gelu, gelu_fast, gelu_accurate, gelu_pytorch_tanh, relu, relu2, silu, swish, tanh"},
      {llama(R"({"attention_bias": "yes"})"),
       "config.json: attention_bias: expected true or false, got 'yes'"},
      {llama(R"({"tie_word_embeddings": 1})"),
       "config.json: tie_word_embeddings: expected true or false, got 1"},
      {llama(R"({"architectures": "LlamaForCausalLM"})"),
       "config.json: architectures: expected an array of texts, got 'LlamaForCausalLM'"},
      {llama(R"({"architectures": ["MistralForCausalLM"]})"),
       "config.json: architectures: expected a class of model_type 'llama', such as LlamaModel, "
       "got "
       "'MistralForCausalLM'"},
      {llama(R"({"architectures": ["LlamaForChess"]})"),
       "config.json: architectures: unknown class 'LlamaForChess', known: LlamaForCausalLM, "
       "LlamaLMHeadModel, LlamaForConditionalGeneration, LlamaModel, LlamaTextModel, "
       "LlamaForSequenceClassification, LlamaForTokenClassification, "
       "LlamaForQuestionAnswering"},
      {bert(R"({"position_embedding_type": "relative_key"})"),
       "config.json: position_embedding_type: expected absolute, got 'relative_key'"},
  });
}

TEST(FamilyErrors, Layers) {
  expect_errors({
      {gemma3_text(R"({"layer_types": ["full_attention"]})"),
       "config.json: layer_types: expected 26 entries, one a layer, got 1"},
      {gemma3_text(R"({"num_hidden_layers": 1, "layer_types": ["chunked_attention"]})"),
       "config.json: layer_types[0]: expected full_attention or sliding_attention, got "
       "'chunked_attention'"},
      {gemma3_text(R"({"num_hidden_layers": 1, "layer_types": ["sliding_attention"],
                       "sliding_window": null})"),
       "config.json: layer_types[0]: expected full_attention, since there is no sliding_window, "
       "got 'sliding_attention'"},
      {gemma3_text(R"({"sliding_window_pattern": 0})"),
       "config.json: sliding_window_pattern: expected a whole number of 1 ... 1099511627776, got "
       "0"},
      {qwen3_moe(R"({"num_experts_per_tok": 129})"),
       "config.json: num_experts_per_tok: expected a whole number of 1 ... 128, got 129"},
      {qwen3_moe(R"({"num_experts": null})"),
       "config.json: num_experts: missing, expected a whole number of 1 ... 1099511627776"},
      {qwen3_moe(R"({"mlp_only_layers": 3})"),
       "config.json: mlp_only_layers: expected an array of whole numbers, got 3"},
  });
}

TEST(FamilyErrors, OfOneFamily) {
  const char* const exaone4 =
      R"({"model_type": "exaone4", "hidden_size": 16, "intermediate_size": 24,
          "num_hidden_layers": 6, "num_attention_heads": 4, "vocab_size": 7})";
  const char* const gpt_neo =
      R"({"model_type": "gpt_neo", "hidden_size": 16, "num_heads": 4, "num_layers": 3,
          "vocab_size": 7})";
  const char* const smollm3 =
      R"({"model_type": "smollm3", "hidden_size": 16, "intermediate_size": 24,
          "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 7})";
  expect_errors({
      {with(kFalcon, R"({"new_decoder_architecture": true, "num_kv_heads": 3})"),
       "config.json: num_kv_heads: expected a divisor of num_attention_heads = 8, got 3"},
      {with(kFalcon, R"({"new_decoder_architecture": true, "parallel_attn": false})"),
       "config.json: parallel_attn: expected true with the new decoder, got false"},
      {with(kFalcon, R"({"num_ln_in_parallel_attn": 2})"),
       "config.json: num_ln_in_parallel_attn: expected 1 with the old decoder, got 2"},
      {with(kFalcon, R"({"n_layer": 4})"),
       "config.json: n_layer: expected num_hidden_layers = 3, another name of the same, got 4"},
      {R"({"model_type": "baichuan", "hidden_size": 64, "intermediate_size": 8,
           "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 7})",
       "config.json: hidden_size: expected 4096 (7B, rotary positions) or 5120 (13B, ALiBi), since "
       "no field says which, got 64"},
      {R"({"model_type": "chatglm", "hidden_size": 64, "num_attention_heads": 4, "num_layers": 2,
           "ffn_hidden_size": 24, "pre_seq_len": 128, "padded_vocab_size": 9})",
       "config.json: pre_seq_len: trained prefixes are not counted, expected null"},
      {with(kMpt, R"({"attn_config": {"qk_ln": true}})"),
       "config.json: field 'attn_config.qk_ln' is not understood for model_type 'mpt', expected it "
       "absent, null, false, 0 or empty, got true"},
      {with(kMpt, R"({"attn_config": {"attn_type": "multiquery_attention", "kv_n_heads": 2}})"),
       "config.json: attn_config.kv_n_heads: expected 1, as attn_config.attn_type = "
       "multiquery_attention says, got 2"},
      {with(kMpt, R"({"norm_type": "rmsnorm"})"),
       "config.json: norm_type: expected low_precision_layernorm or layernorm, got 'rmsnorm'"},
      {with(exaone4, R"({"sliding_window_pattern": "LLLG"})"),
       "config.json: sliding_window_pattern: expected local layers and one global, such as LLLG, "
       "of a length that divides the 6 layers, got 'LLLG'"},
      {with(exaone4, R"({"sliding_window_pattern": "LGL"})"),
       "config.json: sliding_window_pattern: expected local layers and one global, such as LLLG, "
       "of a length that divides the 6 layers, got 'LGL'"},
      {gpt_neo,
       "config.json: attention_types: missing, expected such as [[[\"global\", \"local\"], 12]]"},
      {with(gpt_neo, R"({"attention_types": [[["global"], 2]]})"),
       "config.json: attention_types: expected such as [[[\"global\", \"local\"], 12]], which "
       "names every layer, got 2"},
      {with(gpt_neo, R"({"attention_types": [[["near"], 3]]})"),
       "config.json: attention_types: expected such as [[[\"global\", \"local\"], 12]], which "
       "names every layer, got 'near'"},
      {with(gpt_neo, R"({"num_layers": 1099511627776,
                         "attention_types": [[["global"], 1099511627776]]})"),
       "config.json: num_layers: expected at most 65536 layers, got 1099511627776"},
      {with(smollm3, R"({"no_rope_layers": [1]})"),
       "config.json: no_rope_layers: expected 2 entries, one a layer, got 1"},
      {with(smollm3, R"({"no_rope_layers": [1, 2]})"),
       "config.json: no_rope_layers[1]: expected 1 for rotary positions or 0 for none, got 2"},
  });
}

TEST(FamilyErrors, FieldsThatChangeACost) {
  expect_errors({
      {llama(R"({"num_nextn_predict_layers": 1})"),
       "config.json: field 'num_nextn_predict_layers' is not understood for model_type 'llama', "
       "expected it absent, null, false, 0 or empty, got 1"},
      {llama(R"({"sliding_window": 4096})"),
       "config.json: field 'sliding_window' is not understood for model_type 'llama', "
       "expected it absent, null, false, 0 or empty, got 4096"},
      {llama(R"({"vision_config": {"depth": 2}})"),
       "config.json: field 'vision_config' is not understood for model_type 'llama', "
       "expected it absent, null, false, 0 or empty, got an object"},
      {bert(R"({"is_decoder": true})"),
       "config.json: field 'is_decoder' is not understood for model_type 'bert', "
       "expected it absent, null, false, 0 or empty, got true"},
      {R"({"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 7,
           "add_cross_attention": true})",
       "config.json: field 'add_cross_attention' is not understood for model_type 'gpt2', "
       "expected it absent, null, false, 0 or empty, got true"},
      {R"({"model_type": "gemma3", "text_config": {"num_hidden_layers": 2, "use_lora": true}})",
       "config.json: field 'text_config.use_lora' is not understood for model_type 'gemma3_text', "
       "expected it absent, null, false, 0 or empty, got true"},
      {R"({"model_type": "gemma3", "text_config": {}, "vision_config": {"depth": 2}})",
       "config.json: field 'vision_config.depth' is not understood for model_type 'gemma3', "
       "expected it absent, null, false, 0 or empty, got 2"},
      {R"({"model_type": "gemma3"})", "config.json: text_config: missing, expected a JSON object"},
      {R"({"model_type": "opt", "architectures": ["OPTModel"], "hidden_size": 8, "ffn_dim": 8,
           "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 7,
           "word_embed_proj_dim": 4})",
       "config.json: word_embed_proj_dim: expected hidden_size = 8 without a language model head, "
       "got 4"},
      {R"({"model_type": "gpt_neox", "hidden_size": 8, "intermediate_size": 8, "vocab_size": 7,
           "num_hidden_layers": 1, "num_attention_heads": 2, "rotary_pct": 2})",
       "config.json: rotary_pct: expected a share of 0 ... 1, got 2"},
  });
}

}  // namespace
}  // namespace flopwise
