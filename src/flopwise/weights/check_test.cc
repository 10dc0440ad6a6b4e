#include "flopwise/weights/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"
#include "flopwise/weights/made_checkpoint.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using namespace made;

Model model_of(const std::string& fields) {
  return model_from_config(parse_json(fields, "tiny"), "tiny");
}

// D=32, F=64, N=4, K=2, H=4, L=2, V=10.
std::string tiny_config(const std::string& model_type, const std::string& more = "") {
  return fmt::format(
      R"({{"model_type": "{}", "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4, "vocab_size": 10,
          "max_position_embeddings": 16{}{}}})",
      model_type, more.empty() ? "" : ", ", more);
}

Model tiny(const std::string& model_type, const std::string& more = "") {
  return model_of(tiny_config(model_type, more));
}

constexpr const char* kTied = R"("tie_word_embeddings": true)";

File llama_file() {
  File file = {
      {"model.embed_tokens.weight", {10, 32}}
  };
  for (int i = 0; i < 2; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    const File of_layer = {
        {layer + "input_layernorm.weight",          {32}    },
        {layer + "self_attn.q_proj.weight",         {16, 32}},
        {layer + "self_attn.k_proj.weight",         {8, 32} },
        {layer + "self_attn.v_proj.weight",         {8, 32} },
        {layer + "self_attn.o_proj.weight",         {32, 16}},
        {layer + "post_attention_layernorm.weight", {32}    },
        {layer + "mlp.gate_proj.weight",            {64, 32}},
        {layer + "mlp.up_proj.weight",              {64, 32}},
        {layer + "mlp.down_proj.weight",            {32, 64}}
    };
    file.insert(file.end(), of_layer.begin(), of_layer.end());
  }
  file.push_back({"model.norm.weight", {32}});
  file.push_back({
      "lm_head.weight", {10, 32}
  });
  return file;
}
constexpr int kUp = 64 * 32;
constexpr int kHead = 10 * 32;
constexpr int kLlamaParams = 2 * (2 * 16 * 32 + 2 * 8 * 32 + 3 * kUp + 2 * 32) + 32 + 2 * kHead;

TEST(Check, EveryTensorOfALlama) {
  const WeightCheck result = check(tiny("llama"), llama_file());
  EXPECT_EQ(differences(result), agreement(kLlamaParams));
  EXPECT_EQ(result.stored_tensors, 21);
  EXPECT_EQ(result.stored_elements, kLlamaParams);
  EXPECT_EQ(result.stored_bytes, 2 * kLlamaParams);
  EXPECT_TRUE(result.difference.empty());
  ASSERT_EQ(result.held.size(), 12u);
  EXPECT_EQ(result.held[0].pattern, "model.embed_tokens.weight");
  EXPECT_EQ(result.held[3].pattern, "model.layers.{i}.self_attn.k_proj.weight");
  EXPECT_EQ(result.held[3].parameters, std::vector<std::string>{"attention.k.weight"});
  EXPECT_EQ(result.held[3].shape, (std::vector<Count>{8, 32}));
  EXPECT_EQ(result.held[3].tensors, 2);
  EXPECT_EQ(result.held[3].elements, 512);
  EXPECT_EQ(result.held[11].pattern, "lm_head.weight");
}

TEST(Check, MissingExtraAndShape) {
  File file = changed(llama_file(), "layers.1.self_attn.k_proj",
                      {
                          {"model.layers.0.self_attn.q_proj.lora_A", {4, 8}  },
                          {"model.layers.2.mlp.up_proj.weight",      {64, 32}},
                          {"model.layers.0.self_attn.q_proj.bias",   {16}    },
                          {"vision.proj.weight",                     {3}     }
  });
  find(file, "model.layers.0.mlp.down_proj.weight").shape = {64, 32};
  const WeightCheck result = check(tiny("llama"), file);
  EXPECT_FALSE(result.agrees());
  EXPECT_EQ(differences(result),
            "tiny: checkpoint and model differ: 1 tensor missing, 4 extra, 1 of another shape\n"
            "missing model.layers.1.self_attn.k_proj.weight x 1: 256\n"
            "extra vision.proj.weight: no rule knows the name\n"
            "extra model.layers.2.mlp.up_proj.weight: layer 2 of a model with 2 layers\n"
            "extra model.layers.0.self_attn.q_proj.bias: the model has no such parameter\n"
            "extra model.layers.0.self_attn.q_proj.lora_A: no rule knows the name\n"
            "shape model.layers.0.mlp.down_proj.weight: [64,32], expected [32,64]\n");
}

TEST(Check, TheDifferenceOfTheTotalsIsExplained) {
  File file = changed(llama_file(), "k_proj",
                      {
                          {"other", {5}}
  });
  find(file, "model.norm.weight").shape = {31};
  const WeightCheck result = check(tiny("llama"), file);
  ASSERT_EQ(result.difference.size(), 3u);
  EXPECT_EQ(result.difference[0].what, "missing");
  EXPECT_EQ(result.difference[0].elements, -512);
  EXPECT_EQ(result.difference[1].what, "extra");
  EXPECT_EQ(result.difference[1].elements, 5);
  EXPECT_EQ(result.difference[2].what, "of another shape");
  EXPECT_EQ(result.difference[2].elements, -1);
  EXPECT_EQ(result.stored_elements, kLlamaParams - 512 + 5 - 1);
}

TEST(Check, WholeLayersAreMissing) {
  const WeightCheck result = check(tiny("llama"), changed(llama_file(), "layers.1."));
  EXPECT_EQ(result.verdict(), "tiny: checkpoint and model differ: 9 tensors missing");
  EXPECT_EQ(result.missing.at(1).name, "model.layers.{i}.self_attn.q_proj.weight");
  // Nothing shows how the file would call it.
  const WeightCheck none = check(tiny("llama"), changed(llama_file(), "model.layers."));
  EXPECT_EQ(none.missing.at(0).name, "attention.norm.weight of 2 layers");
  EXPECT_EQ(none.missing_tensors(), 18);
}

TEST(Check, ATensorThatIsStoredTwice) {
  const WeightCheck result =
      check(tiny("llama"), changed(llama_file(), "-",
                                   {
                                       {"model.layers.0.self_attn.qkv_proj.weight", {32, 32}}
  }));
  EXPECT_EQ(
      differences(result),
      "tiny: checkpoint and model differ: 1 extra\n"
      "extra model.layers.0.self_attn.qkv_proj.weight: the model has attention.q.weight once, "
      "and it is stored already\n");
}

TEST(Check, FusedMatrices) {
  File file = changed(changed(changed(llama_file(), "q_proj"), "k_proj"), "v_proj");
  file = changed(changed(file, "gate_proj"), "up_proj");
  for (int i = 0; i < 2; ++i) {
    file.push_back({
        fmt::format("model.layers.{}.self_attn.qkv_proj.weight", i), {32, 32}
    });
    file.push_back({
        fmt::format("model.layers.{}.mlp.gate_up_proj.weight", i), {128, 32}
    });
  }
  const Model phi3 = tiny("phi3");
  const WeightCheck result = check(phi3, file);
  EXPECT_EQ(differences(result), agreement(kLlamaParams));
  EXPECT_EQ(
      result.held[2].parameters,
      (std::vector<std::string>{"attention.q.weight", "attention.k.weight", "attention.v.weight"}));
  find(file, "model.layers.1.mlp.gate_up_proj.weight").shape = {120, 32};
  EXPECT_EQ(differences(check(phi3, changed(file, "layers.0.self_attn.qkv"))),
            "tiny: checkpoint and model differ: 1 tensor missing, 1 of another shape\n"
            "missing model.layers.0.self_attn.qkv_proj.weight x 1: 1024\n"
            "shape model.layers.1.mlp.gate_up_proj.weight: [120,32], expected [128,32]\n");
}

Model tiny_gpt2(const std::string& more = "") {
  return model_of(R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 8,
                      "n_layer": 1, "n_head": 2, "n_positions": 16, "vocab_size": 10, "n_inner": 12)" +
                  more + "}");
}

File gpt2_file(const std::string& root = "transformer.") {
  const std::string layer = root + "h.0.";
  return {
      {root + "wte.weight",          {10, 8}},
      {root + "wpe.weight",          {16, 8}},
      {layer + "ln_1.weight",        {8}    },
      {layer + "ln_1.bias",          {8}    },
      {layer + "attn.c_attn.weight", {8, 24}},
      {layer + "attn.c_attn.bias",   {24}   },
      {layer + "attn.c_proj.weight", {8, 8} },
      {layer + "attn.c_proj.bias",   {8}    },
      {layer + "ln_2.weight",        {8}    },
      {layer + "ln_2.bias",          {8}    },
      {layer + "mlp.c_fc.weight",    {8, 12}},
      {layer + "mlp.c_fc.bias",      {12}   },
      {layer + "mlp.c_proj.weight",  {12, 8}},
      {layer + "mlp.c_proj.bias",    {8}    },
      {root + "ln_f.weight",         {8}    },
      {root + "ln_f.bias",           {8}    }
  };
}
constexpr int kGpt2Params = 80 + 128 + 192 + 24 + 64 + 8 + 96 + 12 + 96 + 8 + 6 * 8;

TEST(Check, TransposedMatricesOfGpt2) {
  EXPECT_EQ(differences(check(tiny_gpt2(), gpt2_file())), agreement(kGpt2Params));
  EXPECT_EQ(differences(check(tiny_gpt2(), gpt2_file(""))), agreement(kGpt2Params));
  File file = gpt2_file();
  find(file, "transformer.h.0.attn.c_attn.weight").shape = {24, 8};
  EXPECT_EQ(differences(check(tiny_gpt2(), file)),
            "tiny: checkpoint and model differ: 1 of another shape\n"
            "shape transformer.h.0.attn.c_attn.weight: [24,8], expected [8,24]\n");
}

TEST(Check, BuffersOfTheCode) {
  File file = gpt2_file();
  file.push_back({
      "transformer.h.0.attn.bias", {1, 1, 16, 16},
       "U8"
  });
  file.push_back({"transformer.h.0.attn.masked_bias", {}, "F32"});
  file.push_back({"transformer.h.0.attn.rotary_emb.inv_freq", {2}, "F32"});
  const WeightCheck result = check(tiny_gpt2(), file);
  EXPECT_EQ(differences(result), agreement(kGpt2Params));
  EXPECT_EQ(besides(result),
            "transformer.h.{i}.attn.bias x 1: causal mask\n"
            "transformer.h.{i}.attn.masked_bias x 1: value of masked scores\n"
            "transformer.h.{i}.attn.rotary_emb.inv_freq x 1: rotary frequencies\n");
  ASSERT_EQ(result.difference.size(), 1u);
  EXPECT_EQ(result.difference[0].elements, 256 + 1 + 2);
}

TEST(Check, ACopyOfATiedMatrix) {
  const WeightCheck result = check(tiny("llama", kTied), llama_file());
  EXPECT_EQ(differences(result), agreement(kLlamaParams - kHead));
  EXPECT_EQ(besides(result), "lm_head.weight x 1: copy of embed.tokens.weight\n");
  EXPECT_EQ(differences(check(tiny("llama", kTied), changed(llama_file(), "lm_head"))),
            agreement(kLlamaParams - kHead));
  File file = llama_file();
  find(file, "lm_head.weight").shape = {12, 32};
  EXPECT_EQ(differences(check(tiny("llama", kTied), file)),
            "tiny: checkpoint and model differ: 1 extra\n"
            "extra lm_head.weight: the model has no such parameter\n");
}

TEST(Check, LayersOfMultiTokenPrediction) {
  const File more = {
      {"model.layers.2.eh_proj.weight",          {8, 16}},
      {"model.layers.2.self_attn.q_proj.weight", {8, 8} },
      {"model.mtp_layers.0.input_proj.weight",   {8, 16}},
      {"mtp.layers.0.mlp.up_proj.weight",        {12, 8}}
  };
  const WeightCheck result = check(tiny("llama"), changed(llama_file(), "-", more));
  EXPECT_EQ(differences(result), agreement(kLlamaParams));
  ASSERT_EQ(result.difference.size(), 1u);
  EXPECT_EQ(result.difference[0].what, "multi-token prediction");
  EXPECT_EQ(result.difference[0].elements, 128 + 64 + 128 + 96);
}

// ---- quantised -------------------------------------------------------------------------------

// How the matrix `up_proj` [64, 32] of a layer may be packed: tensors by what follows its name.
struct QuantisedRow {
  const char* form;
  File tensors;
};

const std::vector<QuantisedRow>& quantised_rows() {
  static const std::vector<QuantisedRow> kRows = {
      {"GPTQ, 4 bits",
       {{".qweight", {4, 64}, "I32"},
        {".qzeros", {1, 8}, "I32"},
        {".scales", {1, 64}, "F16"},
        {".g_idx", {32}, "I32"}}                                                                              },
      {"GPTQ, 3 bits",
       {{".qweight", {3, 64}, "I32"}, {".qzeros", {1, 6}, "I32"}, {".scales", {1, 64}}}                       },
      {"GPTQ, 8 bits",               {{".qweight", {8, 64}, "I32"}, {".scales", {1, 64}}}                     },
      {"AWQ, 4 bits",
       {{".qweight", {32, 8}, "I32"}, {".qzeros", {1, 8}, "I32"}, {".scales", {1, 64}}}                       },
      {"compressed-tensors, 4 bits",
       {{".weight_packed", {64, 4}, "I32"},
        {".weight_scale", {64, 1}},
        {".weight_shape", {2}, "I64"},
        {".weight_zero_point", {8, 1}, "I32"},
        {".weight_g_idx", {32}, "I32"}}                                                                       },
      {"compressed-tensors, 8 bits",
       {{".weight_packed", {64, 8}, "I32"}, {".weight_scale", {64, 1}}}                                       },
      {"FP4",
       {{".weight_packed", {64, 16}, "U8"},
        {".weight_scale", {64, 2}, "F8_E4M3"},
        {".weight_global_scale", {1}, "F32"},
        {".input_global_scale", {1}, "F32"}}                                                                  },
      {"NVFP4",
       {{".weight", {64, 16}, "U8"},
        {".weight_scale", {64, 2}, "F8_E4M3"},
        {".weight_scale_2", {}, "F32"},
        {".input_scale", {}, "F32"}}                                                                          },
      {"MLX, 4 bits",                {{".weight", {64, 4}, "U32"}, {".scales", {64, 1}}, {".biases", {64, 1}}}},
      {"MLX, 6 bits",                {{".weight", {64, 6}, "U32"}, {".scales", {64, 1}}, {".biases", {64, 1}}}},
      {"bitsandbytes, 4 bits",
       {{".weight", {1024, 1}, "U8"},
        {".weight.absmax", {32}, "U8"},
        {".weight.quant_map", {16}, "F32"},
        {".weight.nested_absmax", {1}, "F32"},
        {".weight.nested_quant_map", {256}, "F32"},
        {".weight.quant_state.bitsandbytes__nf4", {87}, "U8"}}                                                },
      {"I8 with scales",             {{".weight", {64, 32}, "I8"}, {".weight_scale", {64, 1}}}                },
      {"F8_E5M2 with scales",        {{".weight", {64, 32}, "F8_E5M2"}, {".weight_scale", {64, 1}}}           },
      {"F8_E5M2 with scales",        {{".weight", {64, 32}, "F8_E5M2"}, {".weight_scale_inv", {1, 1}}}        },
      {"I8 with scales",
       {{".weight", {64, 32}, "I8"}, {".SCB", {64}, "F32"}, {".weight_format", {}, "U8"}}                     },
      {"F8_E4M3 with scales",
       {{".weight", {64, 32}, "F8_E4M3"}, {".weight_scale_inv", {1, 1}, "F32"}}                               },
      {"F8_E4M3 with scales",
       {{".weight", {64, 32}, "F8_E4M3"},
        {".weight_scale", {64, 1}},
        {".input_scale", {}},
        {".output_scale", {}},
        {".k_scale", {}},
        {".v_scale", {}}}                                                                                     },
  };
  return kRows;
}

File with_quantised_up(const QuantisedRow& row) {
  File file = changed(llama_file(), "layers.0.mlp.up_proj");
  for (Made made : row.tensors) {
    made.name = "model.layers.0.mlp.up_proj" + made.name;
    file.push_back(std::move(made));
  }
  return file;
}

TEST(Check, QuantisedForms) {
  for (const QuantisedRow& row : quantised_rows()) {
    SCOPED_TRACE(row.form);
    const File file = with_quantised_up(row);
    const WeightCheck result = check(tiny("llama"), file);
    EXPECT_EQ(differences(result), agreement(kLlamaParams));
    EXPECT_EQ(result.besides.size(), row.tensors.size() - 1);
    const auto held = std::find_if(result.held.begin(), result.held.end(),
                                   [](const HeldParameters& one) { return !one.form.empty(); });
    ASSERT_NE(held, result.held.end());
    EXPECT_EQ(held->form, row.form);
    EXPECT_EQ(held->elements, kUp);
    EXPECT_EQ(held->shape, (std::vector<Count>{64, 32}));
    EXPECT_EQ(held->parameters, std::vector<std::string>{"mlp.up.weight"});
    Count stored = 1;
    for (const std::int64_t size : row.tensors.front().shape) stored *= size;
    EXPECT_EQ(held->stored_elements, stored);
    EXPECT_EQ(result.stored_bytes, Count::of(checkpoint_of(file).files.front().bytes.value()) -
                                       checkpoint_of(file).files.front().header_bytes);
  }
}

TEST(Check, PackedWeightsOfAnotherShape) {
  for (const QuantisedRow& row : quantised_rows()) {
    SCOPED_TRACE(row.form);
    QuantisedRow other = row;
    other.tensors.front().shape.back() += 7;
    EXPECT_EQ(check(tiny("llama"), with_quantised_up(other)).other_shape.size(), 1u);
  }
}

TEST(Check, ScalesBesideNothingQuantised) {
  EXPECT_EQ(differences(check(tiny("llama"),
                              changed(llama_file(), "-",
                                      {
                                          {"model.layers.0.mlp.up_proj.weight_scale", {64, 1}},
                                          {"model.layers.0.mlp.no_proj.scales",       {64, 1}}
  }))),
            "tiny: checkpoint and model differ: 2 extra\n"
            "extra model.layers.0.mlp.up_proj.weight_scale: no quantised weight stands beside it\n"
            "extra model.layers.0.mlp.no_proj.scales: no rule knows the name\n");
}

// ---- experts and kinds of layers -------------------------------------------------------------

// Attention and norms of a Llama, E=4 experts of F=64 in each of two layers.
File experts_file(const std::function<File(const std::string& layer)>& feed_forward) {
  File file = changed(llama_file(), ".mlp.");
  for (int i = 0; i < 2; ++i) {
    const File more = feed_forward(fmt::format("model.layers.{}.", i));
    file.insert(file.end(), more.begin(), more.end());
  }
  return file;
}
constexpr int kMixtralParams = kLlamaParams + 2 * (3 * 3 * kUp + 4 * 32);

File mixtral_experts(const std::string& layer) {
  File file = {
      {layer + "block_sparse_moe.gate.weight", {4, 32}}
  };
  for (int e = 0; e < 4; ++e) {
    const std::string expert = fmt::format("{}block_sparse_moe.experts.{}.", layer, e);
    file.push_back({
        expert + "w1.weight", {64, 32}
    });
    file.push_back({
        expert + "w2.weight", {32, 64}
    });
    file.push_back({
        expert + "w3.weight", {64, 32}
    });
  }
  return file;
}

Model tiny_mixtral() {
  return tiny("mixtral", R"("num_local_experts": 4, "num_experts_per_tok": 2)");
}

TEST(Check, ExpertsOneByOne) {
  const File file = experts_file(mixtral_experts);
  const WeightCheck result = check(tiny_mixtral(), file);
  EXPECT_EQ(differences(result), agreement(kMixtralParams));
  EXPECT_EQ(result.held.at(8).pattern, "model.layers.{i}.block_sparse_moe.experts.{e}.w1.weight");
  EXPECT_EQ(result.held.at(8).tensors, 8);
  EXPECT_EQ(
      differences(check(tiny_mixtral(), changed(file, "layers.1.block_sparse_moe.experts.2.w3"))),
      "tiny: checkpoint and model differ: 1 tensor missing\n"
      "missing model.layers.1.block_sparse_moe.experts.2.w3.weight x 1: 2048\n");
  EXPECT_EQ(differences(check(
                tiny_mixtral(),
                changed(file, "-",
                        {
                            {"model.layers.1.block_sparse_moe.experts.4.w3.weight", {64, 32}}
  }))),
            "tiny: checkpoint and model differ: 1 extra\n"
            "extra model.layers.1.block_sparse_moe.experts.4.w3.weight: the model has "
            "experts.up.weight once, and it is stored already\n");
}

// Latent attention, a dense layer and one of many experts, a correction bias.
TEST(Check, LatentAttention) {
  const Model model = model_from_config(
      parse_json(R"({"model_type": "deepseek_v3", "hidden_size": 32, "num_hidden_layers": 2,
          "num_attention_heads": 4, "q_lora_rank": 24, "kv_lora_rank": 16, "qk_nope_head_dim": 8,
          "qk_rope_head_dim": 4, "v_head_dim": 6, "intermediate_size": 64, "n_routed_experts": 4,
          "num_experts_per_tok": 2, "moe_intermediate_size": 16, "n_shared_experts": 1,
          "first_k_dense_replace": 1, "n_group": 1, "vocab_size": 100})",
                 "config.json"),
      "tiny");
  File file = {
      {"model.embed_tokens.weight", {100, 32}},
      {"model.norm.weight",         {32}     },
      {"lm_head.weight",            {100, 32}}
  };
  const auto mlp = [&](const std::string& name, std::int64_t width) {
    file.push_back({
        name + ".gate_proj.weight", {width, 32}
    });
    file.push_back({
        name + ".up_proj.weight", {width, 32}
    });
    file.push_back({
        name + ".down_proj.weight", {32, width}
    });
  };
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    file.push_back({layer + "input_layernorm.weight", {32}});
    file.push_back({layer + "post_attention_layernorm.weight", {32}});
    file.push_back({
        layer + "self_attn.q_a_proj.weight", {24, 32}
    });
    file.push_back({layer + "self_attn.q_a_layernorm.weight", {24}});
    file.push_back({
        layer + "self_attn.q_b_proj.weight", {4 * 12, 24}
    });
    file.push_back({
        layer + "self_attn.kv_a_proj_with_mqa.weight", {20, 32}
    });
    file.push_back({layer + "self_attn.kv_a_layernorm.weight", {16}});
    file.push_back({
        layer + "self_attn.kv_b_proj.weight", {4 * 14, 16}
    });
    file.push_back({
        layer + "self_attn.o_proj.weight", {32, 24}
    });
  }
  mlp("model.layers.0.mlp", 64);
  file.push_back({
      "model.layers.1.mlp.gate.weight", {4, 32}
  });
  file.push_back({"model.layers.1.mlp.gate.e_score_correction_bias", {4}});
  for (int e = 0; e < 4; ++e) mlp(fmt::format("model.layers.1.mlp.experts.{}", e), 16);
  mlp("model.layers.1.mlp.shared_experts", 16);
  std::int64_t elements = 0;
  for (const Made& made : file) {
    std::int64_t product = 1;
    for (const std::int64_t size : made.shape) product *= size;
    elements += product;
  }
  EXPECT_EQ(differences(check(model, file)), agreement(static_cast<int>(elements)));
  EXPECT_FALSE(check(model, changed(file, "e_score_correction_bias")).agrees());
}

TEST(Check, StackedExperts) {
  const auto stacked = [](std::vector<std::int64_t> up, std::vector<std::int64_t> down) {
    return experts_file([=](const std::string& layer) {
      return File{
          {layer + "mlp.gate.weight",          {4, 32}},
          {layer + "mlp.experts.gate_up_proj", up     },
          {layer + "mlp.experts.down_proj",    down   }
      };
    });
  };
  const std::string agrees = agreement(kMixtralParams);
  EXPECT_EQ(differences(check(tiny_mixtral(), stacked({4, 32, 128}, {4, 64, 32}))), agrees);
  EXPECT_EQ(differences(check(tiny_mixtral(), stacked({4, 128, 32}, {4, 32, 64}))), agrees);
  EXPECT_FALSE(check(tiny_mixtral(), stacked({4, 32, 64}, {4, 64, 32})).agrees());
}

TEST(Check, Mxfp4Experts) {
  const File file = experts_file([](const std::string& layer) {
    return File{
        {layer + "mlp.router.weight", {4, 32}},
        { layer + "mlp.experts.gate_up_proj_blocks",            {4, 128, 1, 16},    "U8"},
        { layer + "mlp.experts.gate_up_proj_scales",                {4, 128, 1},    "U8"},
        { layer + "mlp.experts.down_proj_blocks",             {4, 32, 2, 16},    "U8"},
        { layer + "mlp.experts.down_proj_scales",                 {4, 32, 2},    "U8"}
    };
  });
  const WeightCheck result = check(tiny_mixtral(), file);
  EXPECT_EQ(differences(result), agreement(kMixtralParams));
  const HeldParameters& held = result.held.at(8);
  EXPECT_EQ(held.form, "MXFP4");
  EXPECT_EQ(held.shape, (std::vector<Count>{4, 128, 32}));
  EXPECT_EQ(held.elements, 2 * 4 * 2 * kUp);
  EXPECT_EQ(held.stored_elements, 4 * 2 * kUp);
}

// Which layers have experts is not said by the graph, only how many.
TEST(Check, KindsOfLayersInAnyOrder) {
  const Model model = tiny("qwen3_moe", R"("num_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 64, "mlp_only_layers": [0])");
  const auto file = [](int dense) {
    File tensors = changed(llama_file(), fmt::format("layers.{}.mlp.", 1 - dense));
    for (int i = 0; i < 2; ++i) {
      const std::string layer = fmt::format("model.layers.{}.", i);
      tensors.push_back({layer + "self_attn.q_norm.weight", {4}});
      tensors.push_back({layer + "self_attn.k_norm.weight", {4}});
    }
    const std::string mlp = fmt::format("model.layers.{}.mlp.", 1 - dense);
    tensors.push_back({
        mlp + "gate.weight", {4, 32}
    });
    for (int e = 0; e < 4; ++e) {
      const std::string expert = fmt::format("{}experts.{}.", mlp, e);
      tensors.push_back({
          expert + "gate_proj.weight", {64, 32}
      });
      tensors.push_back({
          expert + "up_proj.weight", {64, 32}
      });
      tensors.push_back({
          expert + "down_proj.weight", {32, 64}
      });
    }
    return tensors;
  };
  const std::string agrees = agreement(kLlamaParams + 2 * 8 + 3 * 3 * kUp + 4 * 32);
  EXPECT_EQ(differences(check(model, file(0))), agrees);
  EXPECT_EQ(differences(check(model, file(1))), agrees);
  EXPECT_EQ(differences(check(model, changed(file(0), "layers.1.mlp.experts.3"))),
            "tiny: checkpoint and model differ: 3 tensors missing\n"
            "missing model.layers.1.mlp.experts.3.gate_proj.weight x 1: 2048\n"
            "missing model.layers.1.mlp.experts.3.up_proj.weight x 1: 2048\n"
            "missing model.layers.1.mlp.experts.3.down_proj.weight x 1: 2048\n");
}

// ---- encoders --------------------------------------------------------------------------------

TEST(Check, BertWithOldNamesAndCopies) {
  const Model model = model_of(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
      "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2,
      "max_position_embeddings": 16, "type_vocab_size": 2, "vocab_size": 10})");
  const std::string layer = "bert.encoder.layer.0.";
  const File file = {
      {"bert.embeddings.word_embeddings.weight",       {10, 8}},
      {"bert.embeddings.position_embeddings.weight",   {16, 8}},
      {"bert.embeddings.token_type_embeddings.weight", {2, 8} },
      {"bert.embeddings.LayerNorm.gamma",              {8}    },
      {"bert.embeddings.LayerNorm.beta",               {8}    },
      {"bert.embeddings.position_ids",                 {1, 16}, "I64"},
      {layer + "attention.self.query.weight",                                              {8, 8}                },
      {layer + "attention.self.query.bias",                                              {8}  },
      {layer + "attention.self.key.weight",                                              {8, 8}                },
      {layer + "attention.self.key.bias",                                              {8}    },
      {layer + "attention.self.value.weight",                                              {8, 8}            },
      {layer + "attention.self.value.bias",                                              {8}      },
      {layer + "attention.output.dense.weight",                                              {8, 8}        },
      {layer + "attention.output.dense.bias",                                              {8}        },
      {layer + "attention.output.LayerNorm.weight",                                              {8}  },
      {layer + "attention.output.LayerNorm.bias",                                              {8}          },
      {layer + "intermediate.dense.weight",                                              {12, 8}        },
      {layer + "intermediate.dense.bias",                                              {12}            },
      {layer + "output.dense.weight",                                              {8, 12}            },
      {layer + "output.dense.bias",                                              {8}              },
      {layer + "output.LayerNorm.weight",                                              {8}      },
      {layer + "output.LayerNorm.bias",                                              {8}                },
      {"cls.predictions.decoder.weight",                                              {10, 8}     },
      {"cls.predictions.decoder.bias",                                              {10}                  },
      {"cls.predictions.bias",                                              {10}             },
      {"cls.predictions.transform.dense.weight",                                              {8, 8}},
      {"cls.predictions.transform.dense.bias",                                              {8}               },
      {"cls.predictions.transform.LayerNorm.weight",                                              {8}},
      {"cls.predictions.transform.LayerNorm.bias",                                              {8}                 }
  };
  const WeightCheck result = check(model, file);
  EXPECT_TRUE(result.agrees()) << differences(result);
  EXPECT_EQ(besides(result),
            "cls.predictions.decoder.weight x 1: copy of embed.tokens.weight\n"
            "cls.predictions.decoder.bias x 1: copy of unembed.bias\n"
            "bert.embeddings.position_ids x 1: position numbers\n");
}

TEST(Check, EncoderAndDecoderOfT5) {
  const Model model = model_of(R"({"model_type": "t5", "d_model": 8, "d_kv": 4, "d_ff": 12,
      "num_layers": 1, "num_heads": 3, "relative_attention_num_buckets": 5, "vocab_size": 10})");
  File file = {
      {"shared.weight",               {10, 8}},
      {"encoder.embed_tokens.weight", {10, 8}},
      {"decoder.embed_tokens.weight", {10, 8}},
      {"lm_head.weight",              {10, 8}}
  };
  const auto attention = [&](const std::string& name) {
    for (const char* part : {".q", ".k", ".v"})
      file.push_back({
          name + part + ".weight", {12, 8}
      });
    file.push_back({
        name + ".o.weight", {8, 12}
    });
  };
  for (const std::string stack : {"encoder", "decoder"}) {
    const std::string block = stack + ".block.0.layer.";
    const bool is_decoder = stack == "decoder";
    attention(block + "0.SelfAttention");
    file.push_back({
        block + "0.SelfAttention.relative_attention_bias.weight", {5, 3}
    });
    file.push_back({block + "0.layer_norm.weight", {8}});
    file.push_back({block + "1.layer_norm.weight", {8}});
    if (is_decoder) {
      attention(block + "1.EncDecAttention");
      file.push_back({block + "2.layer_norm.weight", {8}});
    }
    const std::string mlp = block + (is_decoder ? "2" : "1") + ".DenseReluDense.";
    file.push_back({
        mlp + "wi.weight", {12, 8}
    });
    file.push_back({
        mlp + "wo.weight", {8, 12}
    });
    file.push_back({stack + ".final_layer_norm.weight", {8}});
  }
  const WeightCheck result = check(model, file);
  EXPECT_TRUE(result.agrees()) << differences(result);
  EXPECT_EQ(besides(result),
            "decoder.embed_tokens.weight x 1: copy of embed.tokens.weight\n"
            "lm_head.weight x 1: copy of embed.tokens.weight\n"
            "encoder.embed_tokens.weight x 1: copy of embed.tokens.weight\n");
  EXPECT_EQ(differences(check(model, changed(file, "encoder.final_layer_norm"))),
            "tiny: checkpoint and model differ: 1 tensor missing\n"
            "missing encoder.final.norm.weight x 1: 8\n");
}

// ---- an index alone --------------------------------------------------------------------------

TEST(Check, NamesAlone) {
  Checkpoint names = checkpoint_of(llama_file());
  names.has_shapes = false;
  for (StoredTensor& tensor : names.tensors) {
    tensor.shape = {};
    tensor.type = {};
    tensor.elements = tensor.bytes = 0;
  }
  const WeightCheck result = check_weights(tiny("llama"), names);
  EXPECT_EQ(
      result.verdict(),
      "tiny: names agree, 21 tensors; shapes and sizes are not known, the index stands alone");
  names.tensors.pop_back();
  EXPECT_EQ(differences(check_weights(tiny("llama"), names)),
            "tiny: checkpoint and model differ in their names: 1 tensor missing\n"
            "missing unembed.weight x 1: 320\n");
}

}  // namespace
}  // namespace flopwise
