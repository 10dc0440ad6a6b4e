#include "flopwise/model/model.h"

#include <gtest/gtest.h>

#include <functional>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

Layer layer_of_width(std::int64_t d_ff) {
  Layer layer;
  Mlp mlp;
  mlp.d_ff = d_ff;
  layer.feed_forward = mlp;
  return layer;
}

TEST(LayerList, GroupsEqualLayersUnderTheFirstName) {
  LayerList list;
  list.add("wide", layer_of_width(5));
  list.add("narrow", layer_of_width(3), 2);
  list.add("other", layer_of_width(5), 4);
  list.add("none", layer_of_width(7), 0);
  const std::vector<LayerGroup> groups = list.groups();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "wide");
  EXPECT_EQ(groups[0].repeat, 5);
  EXPECT_EQ(groups[1].name, "narrow");
  EXPECT_EQ(groups[1].repeat, 2);
}

TEST(Model, Names) {
  EXPECT_STREQ(name_of(NormKind::kLayerNoBias), "layer_no_bias");
  EXPECT_STREQ(name_of(NormPlacement::kSandwich), "sandwich");
  EXPECT_STREQ(name_of(Activation::kGeluTanh), "gelu_tanh");
  EXPECT_STREQ(name_of(PositionKind::kRelative), "relative");
  EXPECT_STREQ(name_of(Architecture::kEncoderDecoder), "encoder-decoder");
}

// Each row breaks one thing in a sound model.
TEST(Validate, Errors) {
  const auto first = [](Model& model) -> Layer& { return model.decoder->groups[0].layer; };
  const auto moe = [&](Model& model) -> Moe& {
    Moe experts;
    experts.experts = 4;
    experts.active_experts = 2;
    experts.expert.d_ff = 3;
    first(model).feed_forward = experts;
    return std::get<Moe>(first(model).feed_forward);
  };
  struct Row {
    const char* message;
    std::function<void(Model&)> spoil;
  };
  const Row rows[] = {
      {"d_model: expected a whole number of 1 ... 2^40, got 0",
       [](Model& model) { model.d_model = 0; }                                                                                                                        },
      {"vocab: expected a whole number of 1 ... 2^40, got -7",
       [](Model& model) { model.vocab = -7; }                                                                                                                         },
      {"context: expected a whole number of 0 ... 2^40, got -1",
       [](Model& model) { model.context = -1; }                                                                                                                       },
      {"embedding.positions: expected a whole number of 0 ... 2^40, got -1",
       [](Model& model) { model.embedding.positions = -1; }                                                                                                           },
      {"expected an encoder stack in an encoder or encoder-decoder, and in no other",
       [](Model& model) { model.encoder = model.decoder; }                                                                                                            },
      {"expected a decoder stack in a decoder or encoder-decoder, and in no other",
       [](Model& model) { model.decoder.reset(); }                                                                                                                    },
      {"expected decoder: at least one layer",                                                      [](Model& model) { model.decoder->groups.clear(); }               },
      {"decoder.layer.repeat: expected a whole number of 1 ... 2^40, got 0",
       [](Model& model) { model.decoder->groups[0].repeat = 0; }                                                                                                      },
      {"decoder.layers: expected a whole number of 1 ... 2^40, got 1099511627777",
       [](Model& model) {
         LayerGroup more = model.decoder->groups[0];
         more.repeat = std::int64_t{1} << 40;
         model.decoder->groups[0].repeat = 1;
         model.decoder->groups.push_back(more);
       }                                                                                                                                                              },
      {"expected decoder.layer: shared_norm only in a parallel layer",
       [&](Model& model) { first(model).shared_norm = true; }                                                                                                         },
      {"expected decoder.layer: norms before the blocks of a parallel layer",
       [&](Model& model) {
         first(model).parallel = true;
         first(model).placement = NormPlacement::kPost;
       }                                                                                                                                                              },
      {"expected decoder.layer: cross-attention in the decoder of an encoder-decoder, and nowhere "
       "else",                                                                               [&](Model& model) { first(model).cross = first(model).attention; }},
      {"decoder.layer.attention.value_dim: expected a whole number of 1 ... 2^40, got 0",
       [&](Model& model) { first(model).attention->value_dim = 0; }                                                                                                   },
      {"decoder.layer.attention: kv_heads must divide heads, got heads=4 kv_heads=3",
       [&](Model& model) { first(model).attention->kv_heads = 3; }                                                                                                    },
      {"decoder.layer.attention.dropout: expected a probability below 1, got 1",
       [&](Model& model) { first(model).attention->dropout = 1; }                                                                                                     },
      {"decoder.layer.attention.rotary_dim: expected a whole number of 1 ... 2, got 4",
       [&](Model& model) { first(model).attention->rotary_dim = 4; }                                                                                                  },
      {"decoder.layer.attention: rotary_dim must be even, got rotary_dim=1 head_dim=2",
       [&](Model& model) { first(model).attention->rotary_dim = 1; }                                                                                                  },
      {"decoder.layer.attention.relative_buckets: expected a whole number of 0 ... 0, got 8",
       [&](Model& model) { first(model).attention->relative_buckets = 8; }                                                                                            },
      {"decoder.layer.attention.mask.size: expected a whole number of 1 ... 2^40, got 0",
       [&](Model& model) {
         first(model).attention->mask = {MaskKind::kWindow, 0};
       }                                                                                                                                                              },
      {"decoder.layer.attention.mask.size: expected a whole number of 0 ... 0, got 4",
       [&](Model& model) {
         first(model).attention->mask = {MaskKind::kCausal, 4};
       }                                                                                                                                                              },
      {"decoder.layer.mlp.d_ff: expected a whole number of 1 ... 2^40, got 0",
       [&](Model& model) { std::get<Mlp>(first(model).feed_forward).d_ff = 0; }                                                                                       },
      {"decoder.layer.moe.active_experts: expected a whole number of 1 ... 4, got 5",
       [&](Model& model) { moe(model).active_experts = 5; }                                                                                                           },
      {"expected decoder.layer.moe: shared_gate only with a shared expert",
       [&](Model& model) { moe(model).shared_gate = true; }                                                                                                           },
      {"expected decoder.layer.moe: renormalise only where top-k comes last",
       [&](Model& model) {
         Moe& experts = moe(model);
         experts.renormalise = true;
         experts.score = RouterScore::kTopKThenSoftmax;
       }                                                                                                                                                              },
      {"expected head.tied, head.bias and head.softcap only with a vocabulary matrix",
       [](Model& model) {
         model.head.kind = HeadKind::kNone;
         model.head.tied = true;
       }                                                                                                                                                              },
      {"expected head.scaled, head.scaled_logits and head.zero_bias only with a vocabulary matrix",
       [](Model& model) {
         model.head.kind = HeadKind::kNone;
         model.head.scaled = true;
       }                                                                                                                                                              },
      {"expected decoder.layer: a layer with norms before its blocks, of which attention's may be "
       "absent",                                                                             [&](Model& model) {
         first(model).attention_norm = false;
         first(model).placement = NormPlacement::kPost;
       }                                                                                                                                       },
      {"expected decoder.layer: no constant in the residual sum of a parallel layer",
       [&](Model& model) { first(model).parallel = first(model).scaled_residual = true; }                                                                             },
      {"expected learned positions or sinusoidal ones",
       [](Model& model) {
         model.embedding.positions = 4;
         model.embedding.sinusoidal = true;
       }                                                                                                                                                              },
      {"head.labels: expected a whole number of 1 ... 2^40, got 0",
       [](Model& model) { model.head.kind = HeadKind::kTokenLabels; }                                                                                                 },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.message);
    Model model = model_from_letters("D=8,L=3,V=7,N=4");
    model.name = "m";
    row.spoil(model);
    try {
      validate(model);
      ADD_FAILURE() << "no error";
    } catch (const UserError& error) {
      EXPECT_EQ(error.what(), "model 'm': " + std::string(row.message));
    }
  }
}

TEST(Validate, CrossAttentionErrors) {
  const auto error_of = [](void (*spoil)(Layer&)) -> std::string {
    Model model = find_model("t5-11b");
    spoil(model.decoder->groups[0].layer);
    try {
      validate(model);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string start = "model 't5-11b': expected decoder.layer";
  EXPECT_EQ(error_of([](Layer& layer) { layer.cross->mask.kind = MaskKind::kCausal; }),
            start + ".cross: a full mask");
  EXPECT_EQ(error_of([](Layer& layer) { layer.parallel = true; }),
            start + ": no cross-attention in a parallel layer");
  EXPECT_EQ(error_of([](Layer& layer) { layer.cross.reset(); }),
            start + ": cross-attention in the decoder of an encoder-decoder, and nowhere else");
}

}  // namespace
}  // namespace flopwise
