// Models whose layers carry a state, and models with towers: what their files say, and what is
// refused.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using nlohmann::json;

const json kJamba = {
    {"model_type",          "jamba"},
    {"hidden_size",         32     },
    {"intermediate_size",   48     },
    {"num_hidden_layers",   8      },
    {"num_attention_heads", 4      },
    {"num_key_value_heads", 2      },
    {"num_experts",         4      },
    {"num_experts_per_tok", 2      },
    {"attn_layer_period",   4      },
    {"attn_layer_offset",   1      },
    {"expert_layer_period", 2      },
    {"expert_layer_offset", 1      },
    {"vocab_size",          50     }
};
const json kNext = {
    {"model_type",                      "qwen3_next"},
    {"hidden_size",                     32          },
    {"intermediate_size",               48          },
    {"moe_intermediate_size",           16          },
    {"shared_expert_intermediate_size", 16          },
    {"num_experts",                     4           },
    {"num_experts_per_tok",             2           },
    {"num_hidden_layers",               8           },
    {"num_attention_heads",             4           },
    {"num_key_value_heads",             2           },
    {"head_dim",                        16          },
    {"linear_num_key_heads",            2           },
    {"linear_num_value_heads",          4           },
    {"vocab_size",                      50          }
};
const json kNemotron = {
    {"model_type",              "nemotron_h"},
    {"hidden_size",             32          },
    {"intermediate_size",       48          },
    {"hybrid_override_pattern", "M-M*"      },
    {"mamba_num_heads",         4           },
    {"mamba_head_dim",          8           },
    {"n_groups",                2           },
    {"num_attention_heads",     4           },
    {"num_key_value_heads",     2           },
    {"vocab_size",              50          }
};
const json kLfm2 = {
    {"model_type",          "lfm2"},
    {"hidden_size",         32    },
    {"block_ff_dim",        96    },
    {"num_hidden_layers",   4     },
    {"num_attention_heads", 4     },
    {"num_key_value_heads", 2     },
    {"full_attn_idxs",      {1, 3}},
    {"vocab_size",          50    }
};
const json kVision = {
    {"depth",                    2            },
    {"hidden_size",              16           },
    {"intermediate_size",        24           },
    {"num_heads",                2            },
    {"patch_size",               4            },
    {"temporal_patch_size",      2            },
    {"spatial_merge_size",       2            },
    {"num_position_embeddings",  9            },
    {"deepstack_visual_indexes", json::array()},
    {"out_hidden_size",          32           }
};
const json kVl = {
    {"model_type",          "qwen3_vl"},
    {"tie_word_embeddings", false     },
    {"text_config",
     {{"model_type", "qwen3_vl_text"},
      {"hidden_size", 32},
      {"intermediate_size", 48},
      {"num_hidden_layers", 2},
      {"num_attention_heads", 4},
      {"num_key_value_heads", 2},
      {"head_dim", 8},
      {"vocab_size", 50}}             },
    {"vision_config",       kVision   }
};

Model read(const json& config) {
  return model_from_config(config, "config.json");
}

std::string kinds(const json& config) {
  std::string text;
  const Model model = read(config);
  for (const LayerGroup& group : model.decoder->groups) {
    text += (text.empty() ? "" : " ") + group.name + ":" + std::to_string(group.repeat);
  }
  return text;
}

std::string error_of(json config, const json& fields) {
  config.merge_patch(fields);
  try {
    read(config);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Hybrids, KindsOfLayers) {
  EXPECT_EQ(kinds(kJamba), "mamba_dense:4 attention_moe:2 mamba_moe:2");
  EXPECT_EQ(kinds(kNext), "delta_net_moe:6 attention_moe:2");
  EXPECT_EQ(kinds(kNemotron), "mamba2:2 mlp:1 attention:1");
  EXPECT_EQ(kinds(kLfm2), "short_convolution:2 attention:2");
}

TEST(Hybrids, ListedKindsReplaceTheRhythm) {
  json listed = kNext;
  listed["layer_types"] = {"full_attention",   "linear_attention", "linear_attention",
                           "linear_attention", "linear_attention", "linear_attention",
                           "linear_attention", "full_attention"};
  EXPECT_EQ(kinds(listed), "attention_moe:2 delta_net_moe:6");
}

TEST(Hybrids, WidthOfLfm2) {
  // Two thirds of block_ff_dim, rounded up to block_multiple_of.
  json config = kLfm2;
  EXPECT_EQ(std::get<Mlp>(read(config).decoder->groups[0].layer.feed_forward).d_ff, 256);
  config["block_multiple_of"] = 10;
  EXPECT_EQ(std::get<Mlp>(read(config).decoder->groups[0].layer.feed_forward).d_ff, 70);
  config["block_ffn_dim_multiplier"] = 1.5;
  EXPECT_EQ(std::get<Mlp>(read(config).decoder->groups[0].layer.feed_forward).d_ff, 100);
  config["block_auto_adjust_ff_dim"] = false;
  EXPECT_EQ(std::get<Mlp>(read(config).decoder->groups[0].layer.feed_forward).d_ff, 96);
}

TEST(Hybrids, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(error_of(kJamba,
                     {
                         {"attn_layer_offset", 4}
  }),
            "config.json: attn_layer_offset: expected a whole number of 0 ... 3, got 4");
  EXPECT_EQ(error_of(kJamba,
                     {
                         {"mamba_dt_rank", "best"}
  }),
            "config.json: mamba_dt_rank: expected auto, got 'best'");
  EXPECT_EQ(error_of(kJamba,
                     {
                         {"num_hidden_layers", 100'000}
  }),
            "config.json: num_hidden_layers: expected at most 65536 layers of several kinds, got "
            "100000");
  EXPECT_EQ(error_of(kNext,
                     {
                         {"linear_num_value_heads", 5}
  }),
            "config.json: linear_num_value_heads: expected a multiple of linear_num_key_heads = 2, "
            "got 5");
  EXPECT_EQ(error_of(kNext,
                     {
                         {"linear_conv_kernel_dim", 0}
  }),
            "config.json: linear_conv_kernel_dim: expected a whole number of 1 ... 1024, got 0");
  EXPECT_EQ(error_of(kNext,
                     {
                         {"layer_types", {"linear_attention"}}
  }),
            "config.json: layer_types: expected 8 entries, one a layer, got 1");
  EXPECT_EQ(error_of(kLfm2,
                     {
                         {"full_attn_idxs", {1, 4}}
  }),
            "config.json: full_attn_idxs[1]: expected a layer of 0 ... 3, got 4");
  EXPECT_EQ(error_of(kLfm2,
                     {
                         {"full_attn_idxs", {1, 1}}
  }),
            "config.json: full_attn_idxs[1]: expected each layer once, got 1 again");
  EXPECT_EQ(error_of(kLfm2,
                     {
                         {"full_attn_idxs", nullptr}
  }),
            "config.json: layer_types: missing, expected layer_types or full_attn_idxs");
  EXPECT_EQ(error_of(kNemotron,
                     {
                         {"hybrid_override_pattern", "M-X*"}
  }),
            "config.json: hybrid_override_pattern[2]: expected M, *, - or E, got 'X'");
  EXPECT_EQ(error_of(kNemotron,
                     {
                         {"num_hidden_layers", 5}
  }),
            "config.json: hybrid_override_pattern: expected 5 letters, one a layer, got 4");
  EXPECT_EQ(error_of(kNemotron,
                     {
                         {"n_groups", 3}
  }),
            "config.json: n_groups: expected a divisor of the 4 heads, got 3");
}

TEST(Towers, StandBesideTheTextModel) {
  const Model model = read(kVl);
  const Model* vision = find_tower(model, "vision");
  ASSERT_NE(vision, nullptr);
  EXPECT_EQ(vision->embedding.patch_values, 3 * 2 * 4 * 4);
  EXPECT_EQ(vision->head.projector.out, model.d_model);
  EXPECT_EQ(vision->head.projector.merge, 4);
  EXPECT_TRUE(model.assumptions.empty());
  json text_alone = kVl;
  text_alone.erase("vision_config");
  EXPECT_TRUE(read(text_alone).towers.empty());
  EXPECT_EQ(read(text_alone).assumptions,
            std::vector<std::string>{"no vision_config: the language model alone"});
}

TEST(Towers, RefuseWhatTheyDoNotUnderstand) {
  const auto vision = [](const json& fields) {
    return error_of(kVl, {
                             {"vision_config", fields}
    });
  };
  EXPECT_EQ(vision({
                {"out_hidden_size", 33}
  }),
            "config.json: vision_config.out_hidden_size: expected a whole number of 32 ... 32, got "
            "33");
  EXPECT_EQ(vision({
                {"num_heads", 3}
  }),
            "config.json: vision_config.hidden_size: expected a multiple of num_heads = 3, got 16");
  EXPECT_EQ(vision({
                {"patch_size", 0}
  }),
            "config.json: vision_config.patch_size: expected a whole number of 1 ... 4096, got 0");
  EXPECT_EQ(vision({
                {"window_layers", {1}}
  }),
            "config.json: field 'vision_config.window_layers' is not understood for model_type "
            "'qwen3_vl', expected it absent, null, false, 0 or empty, got an array");
  EXPECT_EQ(vision({
                {"deepstack_visual_indexes", {2}}
  }),
            "config.json: vision_config.deepstack_visual_indexes[0]: expected a layer of 0 ... 1, "
            "got 2");
  EXPECT_EQ(vision({
                {"deepstack_visual_indexes", {1, 1}}
  }),
            "config.json: vision_config.deepstack_visual_indexes[1]: expected each layer once, got "
            "1 again");
  EXPECT_EQ(vision({
                {"num_position_embeddings", 15}
  }),
            "config.json: vision_config.num_position_embeddings: expected a square, the rows of as "
            "many patches across as down, got 15");
  json text = kVl;
  text["vision_config"] = 7;
  EXPECT_EQ(error_of(text, json::object()),
            "config.json: vision_config: expected a JSON object, got 7");
}

}  // namespace
}  // namespace flopwise
