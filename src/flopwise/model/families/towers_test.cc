// Towers whose projectors, layers or images differ from the plain ones: what is read, and what is
// refused.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "flopwise/model/read_model.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

const json kText = {
    {"hidden_size",         32},
    {"intermediate_size",   48},
    {"num_hidden_layers",   4 },
    {"num_attention_heads", 4 },
    {"num_key_value_heads", 2 },
    {"vocab_size",          50}
};
const json kTower = {
    {"hidden_size",         16},
    {"intermediate_size",   64},
    {"num_hidden_layers",   3 },
    {"num_attention_heads", 2 },
    {"image_size",          16},
    {"patch_size",          4 }
};

json with(json config, const json& changes) {
  config.merge_patch(changes);
  return config;
}

json llava() {
  return {
      {"model_type",    "llava"},
      {"text_config",   kText  },
      {"vision_config", kTower }
  };
}

json mllama() {
  const json tower = {
      {"attention_heads",             2               },
      {"num_attention_heads",         nullptr         },
      {"num_global_layers",           2               },
      {"max_num_tiles",               2               },
      {"supported_aspect_ratios",     {{1, 1}, {1, 2}}},
      {"intermediate_layers_indices", {0, 2}          },
      {"vision_output_dim",           48              }
  };
  return {
      {"model_type", "mllama"                          },
      { "text_config",  with(kText, {{"cross_attention_layers", {1}}})},
      { "vision_config", with(kTower,                             tower)}
  };
}

Model read(const json& config) {
  return model_from_config(config, "config.json");
}

std::string error_of(const json& config, const json& changes) {
  return user_error_of([&] { read(with(config, changes)); });
}

TEST(Towers, LlavaRunsAllLayersButTheLast) {
  const Model model = read(llava());
  const Model& tower = *find_tower(model, "vision");
  EXPECT_EQ(tower.encoder->groups.front().repeat, 2);
  ASSERT_TRUE(tower.unused.has_value());
  EXPECT_EQ(tower.unused->groups.front().repeat, 1);
  EXPECT_EQ(tower.unused->norm, NormKind::kLayer);
  EXPECT_EQ(tower.head.projector.position, Projector::Position::kAllButFirst);
  EXPECT_THAT(
      model.assumptions,
      Contains("vision tower: 1 of its 3 layers and the final norm are stored, in no step"));
  const Model all = read(
      with(llava(), {
                        {"vision_feature_layer",           -1    },
                        {"vision_feature_select_strategy", "full"}
  }));
  EXPECT_EQ(find_tower(all, "vision")->encoder->groups.front().repeat, 3);
  EXPECT_EQ(find_tower(all, "vision")->head.projector.position, Projector::Position::kAll);
}

TEST(Towers, LlavaRefuses) {
  EXPECT_EQ(error_of(llava(),
                     {
                         {"vision_feature_layer", -4}
  }),
            "config.json: vision_feature_layer: expected a layer of 1 ... 3, or of -1 ... -3 from "
            "the end, got -4");
  EXPECT_EQ(error_of(llava(),
                     {
                         {"vision_config", {{"model_type", "siglip_vision_model"}}}
  }),
            "config.json: vision_config.model_type: expected clip_vision_model, got "
            "'siglip_vision_model'");
  EXPECT_EQ(
      error_of(llava(),
               {
                   {"text_config", {{"model_type", "bert"}}}
  }),
      "config.json: text_config.model_type: expected the model_type of a decoder, got 'bert'");
  EXPECT_EQ(error_of(with(kText,
                          {
                              {"model_type", "llava_llama"}
  }),
                     {{"mm_vision_tower", "google/siglip-so400m-patch14-384"}}),
            "config.json: mm_vision_tower: expected openai/clip-vit-large-patch14 or "
            "openai/clip-vit-large-patch14-336, got 'google/siglip-so400m-patch14-384'");
}

TEST(Towers, DefaultsOfPatchesAreAssumptions) {
  json config = llava();
  config["vision_config"].erase("patch_size");
  config["vision_config"]["image_size"] = 64;
  EXPECT_THAT(read(config).assumptions, Contains("vision tower: patch_size is absent: 32"));
}

TEST(Towers, MllamaLooksAtTilesThroughGates) {
  const Model model = read(mllama());
  EXPECT_TRUE(has_source(model));
  EXPECT_EQ(model.embedding.spare_tokens, 8);
  EXPECT_EQ(model.source_context, 2 * 17);
  ASSERT_EQ(model.decoder->groups.size(), 2);
  const Layer& cross = model.decoder->groups[1].layer;
  EXPECT_FALSE(cross.attention.has_value());
  EXPECT_EQ(cross.cross->qk_norm, QkNorm::kPerHead);
  EXPECT_EQ(cross.branch_scale, BranchScale::kTanhScalar);
  const Model& tower = *find_tower(model, "vision");
  EXPECT_EQ(tower.embedding.tiles, (Tiles{2, 3}));
  EXPECT_EQ(tower.context, 2 * 17);
  EXPECT_EQ(tower.head.projector.joined, 2);
  EXPECT_EQ(tower.encoder->groups[1].layer.branch_scale, BranchScale::kTanhScalar);
}

TEST(Towers, MllamaRefuses) {
  EXPECT_EQ(error_of(mllama(),
                     {
                         {"text_config", {{"cross_attention_layers", {1, 1}}}}
  }),
            "config.json: text_config.cross_attention_layers[1]: expected layers of 0 ... 3, each "
            "once, got 1");
  EXPECT_EQ(error_of(mllama(),
                     {
                         {"vision_config", {{"intermediate_layers_indices", {3}}}}
  }),
            "config.json: vision_config.intermediate_layers_indices[0]: expected a layer of 0 ... "
            "2, got 3");
  EXPECT_EQ(error_of(mllama(),
                     {
                         {"vision_config", {{"vision_output_dim", 16}}}
  }),
            "config.json: vision_config.vision_output_dim: expected a whole number of 48 ... 48, "
            "got 16");
  EXPECT_EQ(error_of(mllama(),
                     {
                         {"vision_config", nullptr}
  }),
            "config.json: vision_config: missing, expected an object");
}

TEST(Towers, Llama4Refuses) {
  const json config = {
      {"model_type",  "llama4"  },
      {"text_config", with(kText, {{"num_local_experts", 4}})},
      {"vision_config",             kTower        }
  };
  EXPECT_EQ(error_of(config,
                     {
                         {"vision_config", {{"pixel_shuffle_ratio", 0.3}}}
  }),
            "config.json: vision_config.pixel_shuffle_ratio: expected 1, 1/2, 1/3, ..., got 0.3");
  EXPECT_EQ(error_of(config,
                     {
                         {"vision_config", {{"intermediate_size", 48}}}
  }),
            "config.json: vision_config.intermediate_size: expected 64, as wide as 4 patches, got "
            "48");
}

TEST(Towers, OthersRefuse) {
  const json idefics = {
      {"model_type",    "idefics3"},
      {"text_config",   kText     },
      {"vision_config", kTower    }
  };
  EXPECT_EQ(error_of(idefics,
                     {
                         {"scale_factor", 3}
  }),
            "config.json: scale_factor: expected groups that divide an image of 4 patches across, "
            "got 3 across");
  EXPECT_EQ(error_of(idefics,
                     {
                         {"vocab_size", 51}
  }),
            "config.json: vocab_size: expected a whole number of 50 ... 50, got 51");
  EXPECT_EQ(error_of(with(kText,
                          {
                              {"model_type", "minicpmv"}
  }),
                     {{"version", 2.5}}),
            "config.json: version: expected 2.6, or scale_emb of version 2, got 2.5");
  EXPECT_EQ(error_of(json::object(),
                     {
                         {"model_type", "qwen2_5_omni"}
  }),
            "config.json: thinker_config: missing, expected an object");
  EXPECT_EQ(error_of(json::object(),
                     {
                         {"model_type", "vision-encoder-decoder"},
                         {"encoder",    {{"model_type", "swin"}}}
  }),
            "config.json: encoder.model_type: expected vit, got 'swin'");
}

}  // namespace
}  // namespace flopwise
