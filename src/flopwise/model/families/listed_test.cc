// Families whose layers differ one by one: what their lists say, and what is refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using nlohmann::json;

const json kMimo = json::parse(R"({"model_type": "mimo_v2_flash", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 12, "v_head_dim": 8, "vocab_size": 7,
    "swa_num_attention_heads": 6, "swa_num_key_value_heads": 3, "swa_head_dim": 6,
    "swa_v_head_dim": 4, "sliding_window": 5, "hybrid_layer_pattern": [0, 1, 1],
    "moe_layer_freq": [0, 1, 0], "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 10, "partial_rotary_factor": 0.34})");
const json kHunyuan = json::parse(R"({"model_type": "hunyuan_v1_moe", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 7, "num_experts": 4, "moe_topk": [2, 2, 1],
    "use_mixed_mlp_moe": true})");
const json kNas = json::parse(R"({"model_type": "nemotron-nas", "hidden_size": 16,
    "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 7, "block_configs": [
    {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 40.0}},
    {"attention": {"no_op": true}, "ffn": {"ffn_mult": 1.0}}]})");
const json kAlbert = json::parse(R"({"model_type": "albert", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 7,
    "embedding_size": 8, "max_position_embeddings": 32})");
const json kDeberta = json::parse(R"({"model_type": "deberta-v2", "hidden_size": 16,
    "intermediate_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "vocab_size": 7,
    "max_position_embeddings": 32, "relative_attention": true, "pos_att_type": ["c2p", "p2c"],
    "norm_rel_ebd": "layer_norm", "position_buckets": 8})");

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

std::string kinds(const Model& model) {
  std::string text;
  for (const LayerGroup& group : (model.decoder ? model.decoder : model.encoder)->groups) {
    text += (text.empty() ? "" : " ") + group.name + ":" + std::to_string(group.repeat);
  }
  return text;
}

TEST(Listed, MimoHasTwoKindsOfAttention) {
  const Model model = read(kMimo);
  EXPECT_EQ(kinds(model), "global_dense:1 local_moe:1 local_dense:1");
  const Attention& global = *model.decoder->groups[0].layer.attention;
  const Attention& local = *model.decoder->groups[1].layer.attention;
  EXPECT_EQ(global.heads, 4);
  EXPECT_EQ(global.value_dim, 8);
  EXPECT_EQ(global.rotary_dim, 4);
  EXPECT_EQ(global.mask.kind, MaskKind::kCausal);
  EXPECT_FALSE(global.sinks);
  EXPECT_TRUE(global.scaled_values);
  EXPECT_EQ(local.heads, 6);
  EXPECT_EQ(local.kv_heads, 3);
  EXPECT_EQ(local.value_dim, 4);
  EXPECT_EQ(local.rotary_dim, 2);
  EXPECT_EQ(local.mask, (AttentionMask{MaskKind::kWindow, 5}));
  EXPECT_TRUE(local.sinks);
  EXPECT_FALSE(read(with(kMimo, R"({"attention_value_scale": null})"))
                   .decoder->groups[0]
                   .layer.attention->scaled_values);
}

TEST(Listed, HunyuanGroupsEqualLayers) {
  EXPECT_EQ(kinds(read(kHunyuan)), "moe:2 moe2:1");
  EXPECT_EQ(kinds(read(with(kHunyuan, R"({"moe_layer_num_skipped": 1})"))),
            "dense:1 moe2:1 moe3:1");
}

TEST(Listed, NemotronNasKeepsWhatTheSearchLeft) {
  const Model model = read(kNas);
  EXPECT_EQ(kinds(model), "k2_f512:1 f256:1");
  EXPECT_FALSE(model.decoder->groups[1].layer.attention.has_value());
}

// All repeats read one set of weights, whose gradient each adds to.
TEST(Listed, AlbertHasOneSetOfWeights) {
  Workload workload;
  workload.mode = Mode::kTrain;
  workload.seq_len = workload.context = 8;
  const Program program = build_program(read(kAlbert), workload);
  for (const Block& block : program.blocks) {
    if (!block.is_layer) continue;
    for (const Tensor& tensor : block.graph.tensors()) {
      if (tensor.role != Role::kParameter) continue;
      EXPECT_TRUE(tensor.shared && tensor.added_up) << tensor.name;
    }
  }
}

TEST(Listed, Refusals) {
  struct Row {
    json config;
    const char* message;
  };
  const Row rows[] = {
      {with(kMimo,    R"({"moe_layer_freq": [0, 1]})"),
       "config.json: moe_layer_freq: expected 3 entries, one a layer, got 2"                  },
      {with(kMimo,    R"({"hybrid_layer_pattern": [0, 1, 2]})"),
       "config.json: hybrid_layer_pattern[2]: expected 0 or 1, got 2"                         },
      {with(kMimo,    R"({"swa_num_key_value_heads": 4})"),
       "config.json: swa_num_key_value_heads: expected a divisor of swa_num_attention_heads = 6, "
       "got 4"                                                                                },
      {with(kMimo,    R"({"num_nextn_predict_layers": 3})"),
       "config.json: num_nextn_predict_layers: expected 0, layers of model_type 'mimo_v2_flash' "
       "that predict further tokens are not counted yet, got 3"                               },
      {with(kHunyuan, R"({"use_cla": true})"),
       "config.json: use_cla: expected false, keys and values shared between layers are not "
       "counted yet, got true"                                                                },
      {with(kHunyuan, R"({"moe_topk": [2, 2, 5]})"),
       "config.json: moe_topk: expected at most num_experts = 4, got 5 in layer 2"            },
      {with(kNas,     R"({"num_hidden_layers": 3})"),
       "config.json: block_configs: expected 3 entries, one a layer, got 2"                   },
      {with(kNas,     R"({"num_hidden_layers": 1, "block_configs": [{"attention":
            {"n_heads_in_group": 2, "window_length": 64}, "ffn": {"ffn_mult": 1.0}}]})"),
       "config.json: block_configs[0].attention.window_length: expected null or false, got 64"},
      {with(kNas,     R"({"num_hidden_layers": 1, "block_configs": [{"attention": {"no_op": true},
            "ffn": {"ffn_mult": -1}}]})"),
       "config.json: block_configs[0].ffn.ffn_mult: expected a number above 0 and at most 1024, "
       "got -1"                                                                               },
      {with(kAlbert,  R"({"num_hidden_groups": 2})"),
       "config.json: num_hidden_groups: expected 1, one set of weights for all layers, got 2" },
      {with(kDeberta, R"({"norm_rel_ebd": "none"})"),
       "config.json: norm_rel_ebd: expected layer_norm, got 'none'"                           },
      {with(kDeberta, R"({"pos_att_type": ["c2p", "p2p"]})"),
       "config.json: pos_att_type: expected c2p and p2c, got 'p2p'"                           },
      {with(kDeberta, R"({"conv_kernel_size": 3})"),
       "config.json: field 'conv_kernel_size' is not understood for model_type 'deberta-v2', "
       "expected it absent, null, false, 0 or empty, got 3"                                   },
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.config), row.message);
}

}  // namespace
}  // namespace flopwise
