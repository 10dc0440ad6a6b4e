// The builder's options as JSON, and a config read as one of another family.
#include "flopwise/model/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

const json kLlama3 = {{"flopwise", 1},
                      {"name", "llama-3-8b"},
                      {"d_model", 4096},
                      {"vocab", 128256},
                      {"context", 8192},
                      {"tied", false},
                      {"layers",
                       {{{"repeat", 32},
                         {"attention", {{"heads", 32}, {"kv_heads", 8}}},
                         {"mlp", {{"d_ff", 14336}}}}}}};

Model read(const json& description) {
  return model_from_description(description, "mine.json");
}

std::string error_of(json description, const json& patch) {
  description.merge_patch(patch);
  try {
    read(description);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// One layer with these fields in place of the usual ones.
std::string layer_error(const json& patch) {
  json layer = kLlama3["layers"][0];
  layer.merge_patch(patch);
  return error_of(kLlama3, {{"layers", {layer}}});
}

TEST(Description, IsTheModelThatAConfigGives) {
  Model described = read(kLlama3);
  const Model known = find_model("llama-3-8b");
  EXPECT_EQ(described.decoder->groups, known.decoder->groups);
  EXPECT_EQ(described.d_model, known.d_model);
  EXPECT_EQ(described.vocab, known.vocab);
  EXPECT_EQ(described.embedding, known.embedding);
  EXPECT_EQ(described.head, known.head);
  EXPECT_TRUE(is_description(kLlama3));
  EXPECT_FALSE(is_description(json{{"model_type", "llama"}}));
}

TEST(Description, SaysWhatItTookForGranted) {
  EXPECT_THAT(
      read(kLlama3).assumptions,
      Contains("layers[0].attention: absent, so head_dim = 128, value_dim = 128, position = "
               "rotary, rotary_dim = 128, qk_norm = none, softcap = 0, sinks = false, gate = "
               "none, qkv_bias = false, o_bias = false"));
}

TEST(Description, HasEveryKindOfLayer) {
  json all = kLlama3;
  all["layers"] = {
      {{"name", "a"}, {"mamba", json::object()}},
      {{"name", "b"}, {"mamba2", {{"heads", 8}, {"head_dim", 16}}}},
      {{"name", "c"}, {"delta_net", {{"key_heads", 2}, {"key_dim", 16}, {"value_heads", 4}}}},
      {{"name", "d"}, {"short_convolution", json::object()}, {"mlp", {{"d_ff", 10}}}},
      {{"name", "e"},
       {"attention",
        {{"heads", 4}, {"latent", {{"kv_rank", 8}, {"nope_dim", 6}, {"rope_dim", 2}}}}},
       {"moe", {{"experts", 8}, {"active", 2}, {"d_ff", 12}, {"shared_d_ff", 6}}}}};
  const std::vector<LayerGroup> groups = read(all).decoder->groups;
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(std::get<Mamba>(*groups[0].layer.recurrence).inner, 8192);
  EXPECT_TRUE(std::holds_alternative<NoFeedForward>(groups[0].layer.feed_forward));
  EXPECT_EQ(std::get<Mamba2>(*groups[1].layer.recurrence).state, 128);
  EXPECT_EQ(std::get<DeltaNet>(*groups[2].layer.recurrence).value_dim, 16);
  EXPECT_EQ(std::get<ShortConvolution>(*groups[3].layer.recurrence).taps, 3);
  EXPECT_EQ(groups[4].layer.attention->latent->kv_rank, 8);
  EXPECT_EQ(std::get<Moe>(groups[4].layer.feed_forward).shared_d_ff, 6);
}

TEST(Description, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(error_of(kLlama3, {{"flopwise", 2}}), "mine.json: flopwise: expected 1, got 2");
  EXPECT_EQ(error_of(kLlama3, {{"depth", 3}}),
            "mine.json: depth: expected a field of docs/describe.md that goes with the others, got "
            "'depth'");
  EXPECT_EQ(error_of(kLlama3, {{"layers", json::array()}}),
            "mine.json: layers: expected a list of at least one layer, got none");
  EXPECT_EQ(error_of(kLlama3, {{"layers", {7}}}),
            "mine.json: layers[0]: expected an object, got 7");
  EXPECT_EQ(layer_error({{"norm", "batch"}}),
            "mine.json: layers[0].norm: expected one of rms, layer, layer_no_bias, no_params, got "
            "'batch'");
  EXPECT_EQ(layer_error({{"attention", {{"heads", nullptr}}}}),
            "mine.json: layers[0].attention.heads: missing, expected a whole number of 1 ... "
            "1099511627776");
  EXPECT_EQ(layer_error({{"attention", {{"window", 8}, {"chunk", 8}}}}),
            "mine.json: layers[0].attention.chunk: expected window or chunk, got both");
  EXPECT_EQ(
      layer_error({{"attention", {{"heads", 3}}}}),
      "mine.json: layers[0].attention.head_dim: missing, and d_model = 4096 is no multiple of "
      "heads = 3");
  EXPECT_EQ(layer_error({{"moe", {{"experts", 2}}}}),
            "mine.json: layers[0].moe: expected mlp or moe, got both");
  EXPECT_EQ(layer_error({{"mamba", json::object()}, {"mamba2", {{"heads", 2}, {"head_dim", 2}}}}),
            "mine.json: layers[0].mamba2: expected one kind of recurrence, got mamba too");
  EXPECT_THAT(layer_error({{"mamba", json::object()}}),
              HasSubstr("attention or a recurrence, not both"));
}

TEST(Description, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(layer_error({{"attention", {{"softcap", -1}}}}),
            "mine.json: layers[0].attention.softcap: expected 0 or more, got -1");
  EXPECT_EQ(layer_error({{"name", "embed"}}),
            "mine.json: layers[0].name: expected a name in one line other than embed and head, got "
            "'embed'");
  const json latent = {{"kv_rank", 8}, {"nope_dim", 6}, {"rope_dim", 2}};
  EXPECT_THAT(layer_error({{"attention", {{"latent", latent}}}}),
              HasSubstr("layers[0].attention.kv_heads: expected a field of docs/describe.md"));
  EXPECT_THAT(error_of(kLlama3, {{"encoder", true}, {"layers", {{{"mamba", json::object()}}}}}),
              HasSubstr("layers[0].mamba: expected a decoder"));
  EXPECT_EQ(layer_error({{"shared_norm", false}, {"attention", {{"window", nullptr}}}}),
            "no error");
}

TEST(AnotherFamily, ReadsAConfigAsOneOfIt) {
  const json strange = {{"model_type", "fancy"},  {"architectures", {"FancyForCausalLM"}},
                        {"hidden_size", 64},      {"intermediate_size", 96},
                        {"num_hidden_layers", 2}, {"num_attention_heads", 4},
                        {"vocab_size", 50},       {"fancy_expert_ratio", 3}};
  const Model model = model_from_config(strange, "config.json", "llama");
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.decoder->groups[0].repeat, 2);
  EXPECT_THAT(model.assumptions, Contains("--as llama: the file says 'fancy'"));
  EXPECT_THAT(model.assumptions,
              Contains("--as llama: class FancyForCausalLM is taken for LlamaForCausalLM"));
  EXPECT_THAT(model.assumptions,
              Contains("left out, since model_type 'llama' has no such field: fancy_expert_ratio = "
                       "3"));
  EXPECT_THROW(model_from_config(strange, "config.json", "lama"), UserError);
  EXPECT_THROW(model_from_config(strange, "config.json"), UserError);
}

}  // namespace
}  // namespace flopwise
