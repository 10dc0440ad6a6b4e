#include "flopwise/weights/names.h"

#include <set>

#include "flopwise/weights/slots.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

struct Row {
  const char* name;
  NameKind kind;
  const char* pattern;
  const char* holds;
};

TEST(StoredNames, Read) {
  constexpr Row kRows[] = {
      {"model.layers.7.self_attn.q_proj.weight",                NameKind::kParameter,
       "model.layers.{i}.self_attn.q_proj.weight",                                                                        "attention.q + attention.gate | attention.q | attention.q_nope + attention.q_rope"},
      {"h.11.attn.c_attn.bias",                                 NameKind::kParameter, "h.{i}.attn.c_attn.bias",
       "attention.q + attention.k + attention.v"                                                                                                                                                            },
      {"encoder.block.3.layer.1.layer_norm.weight",             NameKind::kParameter,
       "encoder.block.{i}.layer.1.layer_norm.weight",                                                                     "cross.norm | mlp.norm"                                                           },
      {"blk.2.ffn_up.5.weight",                                 NameKind::kParameter, "blk.{i}.ffn_up.{e}.weight",        "experts.up"                                                                      },
      {"model.layers.0.mlp.experts.12.up_proj.qweight",         NameKind::kParameter,
       "model.layers.{i}.mlp.experts.{e}.up_proj.qweight",                                                                "experts.up"                                                                      },
      {"model.layers.0.mlp.experts.12.up_proj.qzeros",          NameKind::kCompanion,
       "model.layers.{i}.mlp.experts.{e}.up_proj.qzeros",                                                                 "experts.up"                                                                      },
      {"transformer.wte.weight",                                NameKind::kParameter, "transformer.wte.weight",           "embed.tokens"                                                                    },
      {"model.layers.0.self_attn.rotary_emb.inv_freq",          NameKind::kBuffer,
       "model.layers.{i}.self_attn.rotary_emb.inv_freq",                                                                  ""                                                                                },
      {"model.mtp_layers.0.input_proj.weight",                  NameKind::kMtp,
       "model.mtp_layers.{i}.input_proj.weight",                                                                          ""                                                                                },
      {"vision_tower.trunk.layers.4.mlp.fc1.weight",            NameKind::kUnknown,
       "vision_tower.trunk.layers.{i}.mlp.fc1.weight",                                                                    ""                                                                                },
      {"model.layers.99999999999.mlp.up_proj.weight",           NameKind::kUnknown,
       "model.layers.99999999999.mlp.up_proj.weight",                                                                     ""                                                                                },
      {"model.visual.deepstack_merger_list.3.linear_fc2.bias",  NameKind::kParameter,
       "model.visual.deepstack_merger_list.{e}.linear_fc2.bias",                                                          "projector.{e+2}"                                                                 },
      {"model.layers.3.moe.experts.12.gate_proj.weight_packed", NameKind::kParameter,
       "model.layers.{i}.moe.experts.{e}.gate_proj.weight_packed",                                                        "experts.gate"                                                                    },
      {"model.layers.3.moe.experts.12.up_proj.weight",          NameKind::kParameter,
       "model.layers.{i}.moe.experts.{e}.up_proj.weight",                                                                 "experts.up"                                                                      },
      {"model.layers.3.moe.experts.12.down_proj.weight_scale",  NameKind::kCompanion,
       "model.layers.{i}.moe.experts.{e}.down_proj.weight_scale",                                                         "experts.down"                                                                    },
      {"model.layers.3.layer_scalar",                           NameKind::kBuffer,    "model.layers.{i}.layer_scalar",    ""                                                                                },
      {"sop_classifier.classifier.weight",                      NameKind::kParameter, "sop_classifier.classifier.weight",
       "next_sentence"                                                                                                                                                                                      },
      {"talker.model.layers.3.mlp.up_proj.weight",              NameKind::kOther,
       "talker.model.layers.{i}.mlp.up_proj.weight",                                                                      ""                                                                                },
      {"resampler.attn.in_proj_weight",                         NameKind::kParameter, "resampler.attn.in_proj_weight",
       "vision.resampler.q + vision.resampler.k + vision.resampler.v"                                                                                                                                       },
      {"",                                                      NameKind::kUnknown,   "",                                 ""                                                                                },
      {"...",                                                   NameKind::kUnknown,   "...",                              ""                                                                                },
      {".weight",                                               NameKind::kUnknown,   ".weight",                          ""                                                                                },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const StoredName name = read_name(row.name);
    EXPECT_EQ(name.kind, row.kind);
    EXPECT_EQ(name.pattern, row.pattern);
    EXPECT_EQ(name.rule == nullptr ? "" : name.rule->holds, row.holds);
  }
}

TEST(StoredNames, RootsSayTheStack) {
  EXPECT_EQ(read_name("model.layers.0.mlp.fc1.weight").stack, StackId::kMain);
  EXPECT_EQ(read_name("model.encoder.layers.0.fc1.weight").stack, StackId::kEncoder);
  EXPECT_EQ(read_name("visual.blocks.0.mlp.fc1.weight").stack, StackId::kTower);
  EXPECT_EQ(read_name("vision_model.post_layernorm.bias").stack, StackId::kTower);
  EXPECT_EQ(read_name("thinker.audio_tower.layers.0.fc1.weight").stack, StackId::kAudio);
  const StoredName second = read_name("vision_model.global_transformer.layers.7.mlp.fc1.weight");
  EXPECT_TRUE(second.is_second);
  EXPECT_EQ(second.layer, 7);
  EXPECT_FALSE(read_name("vision_model.transformer.layers.7.mlp.fc1.weight").is_second);
}

TEST(StoredNames, ListedModulesAreNumberedFromTwo) {
  const StoredName name = read_name("visual.deepstack_merger_list.1.norm.weight");
  EXPECT_EQ(name.listed, 1);
  EXPECT_FALSE(name.expert.has_value());
  EXPECT_EQ(holdings_of(*name.rule, name.listed).at(0).parameters,
            std::vector<std::string>{"projector.3.norm"});
}

TEST(StoredNames, ShapesThatSplitAxesFit) {
  EXPECT_TRUE(fits({4, 2, 8}, {8, 8}));
  EXPECT_TRUE(fits({8, 8}, {8, 8}));
  EXPECT_TRUE(fits({1, 8, 1}, {8}));
  EXPECT_TRUE(fits({8}, {1, 8}));
  EXPECT_TRUE(fits({}, {1}));
  EXPECT_FALSE(fits({8, 4}, {4, 8}));
  EXPECT_FALSE(fits({64}, {8, 8}));
  EXPECT_FALSE(fits({8, 8, 2}, {8, 8}));
  EXPECT_FALSE(fits({0, 8}, {8, 8}));
  EXPECT_FALSE(fits({}, {8}));
}

}  // namespace
}  // namespace flopwise
