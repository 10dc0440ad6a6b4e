#include <gtest/gtest.h>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

const Layer& only_layer(const Model& model) {
  const Stack& stack = model.decoder ? *model.decoder : *model.encoder;
  EXPECT_EQ(stack.groups.size(), 1u);
  return stack.groups.front().layer;
}

std::string error_of(const std::string& letters) {
  try {
    model_from_letters(letters);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Letters, FillsEveryDefault) {
  const Model model = model_from_letters("D=20,L=3,V=7,N=5");
  EXPECT_EQ(model.name, "D=20,L=3,V=7,N=5");
  EXPECT_EQ(model.family, "letters");
  EXPECT_EQ(model.architecture, Architecture::kDecoder);
  EXPECT_EQ(model.d_model, 20);
  EXPECT_EQ(model.vocab, 7);
  EXPECT_EQ(model.embedding.positions, 0);
  EXPECT_FALSE(model.head.tied);
  ASSERT_TRUE(model.decoder);
  EXPECT_EQ(model.decoder->groups.front().repeat, 3);
  EXPECT_TRUE(model.decoder->final_norm);

  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.norm, NormKind::kRms);
  EXPECT_EQ(layer.attention->heads, 5);
  EXPECT_EQ(layer.attention->kv_heads, 5);
  EXPECT_EQ(layer.attention->head_dim, 4);
  EXPECT_EQ(layer.attention->value_dim, 4);
  EXPECT_EQ(layer.attention->position, PositionKind::kRotary);
  EXPECT_EQ(layer.attention->rotary_dim, 4);
  EXPECT_EQ(layer.attention->mask, (AttentionMask{MaskKind::kCausal, 0}));
  EXPECT_FALSE(layer.attention->q_bias || layer.attention->o_bias);
  const Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  EXPECT_EQ(mlp.d_ff, 80);
  EXPECT_TRUE(mlp.gated);
  EXPECT_EQ(mlp.activation, Activation::kSilu);
}

// Rotary positions turn pairs: an odd head leaves one element over, and the model says so.
TEST(Letters, OddHeadsAreRotatedButForOneElement) {
  const Model model = model_from_letters("D=9,L=1,V=7,N=3");
  EXPECT_EQ(only_layer(model).attention->rotary_dim, 2);
  EXPECT_EQ(model.assumptions,
            std::vector<std::string>{"rotary positions turn 2 of the 3 elements of a head"});
  EXPECT_EQ(only_layer(model_from_letters("D=3,L=1,V=7,N=3")).attention->position,
            PositionKind::kNone);
}

TEST(Letters, ReadsGpt3) {
  const Model model = model_from_letters(
      "D=12288,F=49152,L=96,V=50257,N=96,gated=0,tied=1,bias=1,norm=layer,positions=2048");
  EXPECT_TRUE(model.head.tied);
  EXPECT_EQ(model.embedding.positions, 2048);
  EXPECT_EQ(model.context, 2048);
  const Layer& layer = only_layer(model);
  EXPECT_EQ(layer.norm, NormKind::kLayer);
  EXPECT_EQ(model.decoder->final_norm_kind, NormKind::kLayer);
  EXPECT_EQ(layer.attention->head_dim, 128);
  EXPECT_EQ(layer.attention->position, PositionKind::kNone);
  EXPECT_TRUE(layer.attention->q_bias && layer.attention->k_bias && layer.attention->v_bias &&
              layer.attention->o_bias);
  const Mlp& mlp = std::get<Mlp>(layer.feed_forward);
  EXPECT_FALSE(mlp.gated);
  EXPECT_EQ(mlp.activation, Activation::kGelu);
  EXPECT_TRUE(mlp.up_bias && mlp.down_bias);
}

TEST(Letters, HeadsAndHeadDimensionFollowFromEachOther) {
  EXPECT_EQ(only_layer(model_from_letters("D=24,L=1,V=7,H=4")).attention->heads, 6);
  EXPECT_EQ(only_layer(model_from_letters("D=24,L=1,V=7,N=6")).attention->head_dim, 4);
  // Given both, their product need not be D.
  const Attention both =
      only_layer(model_from_letters("D=10,L=1,V=7,N=6,K=3,H=4")).attention.value();
  EXPECT_EQ(both.heads, 6);
  EXPECT_EQ(both.kv_heads, 3);
  EXPECT_EQ(both.head_dim, 4);
}

TEST(Letters, ReadsMasks) {
  const std::string base = "D=8,L=1,V=7,N=2";
  EXPECT_EQ(only_layer(model_from_letters(base + ",W=512")).attention->mask,
            (AttentionMask{MaskKind::kWindow, 512}));
  EXPECT_EQ(only_layer(model_from_letters(base + ",C=256,W=0")).attention->mask,
            (AttentionMask{MaskKind::kChunk, 256}));
  const Model encoder = model_from_letters(base + ",causal=0");
  EXPECT_EQ(encoder.architecture, Architecture::kEncoder);
  EXPECT_FALSE(encoder.decoder);
  EXPECT_EQ(only_layer(encoder).attention->mask, (AttentionMask{MaskKind::kFull, 0}));
}

TEST(Letters, ReadsExperts) {
  const Model model = model_from_letters("D=8,F=3,L=1,V=7,N=2,E=16,k=4,shared=2,gated=0,bias=1");
  const Moe& moe = std::get<Moe>(only_layer(model).feed_forward);
  EXPECT_EQ(moe.experts, 16);
  EXPECT_EQ(moe.active_experts, 4);
  EXPECT_EQ(moe.expert.d_ff, 3);
  EXPECT_FALSE(moe.expert.gated);
  EXPECT_TRUE(moe.expert.up_bias);
  EXPECT_EQ(moe.shared_d_ff, 6);
  EXPECT_FALSE(moe.shared_gate);
  EXPECT_FALSE(moe.router_bias);
}

TEST(Letters, ReadsSuffixesAndSpaces) {
  const Model model = model_from_letters("D = 4Ki, L=10k, V=32k, N=32, final_norm=0");
  EXPECT_EQ(model.d_model, 4096);
  EXPECT_EQ(model.vocab, 32000);
  EXPECT_EQ(model.decoder->groups.front().repeat, 10000);
  EXPECT_FALSE(model.decoder->final_norm);
}

TEST(Letters, Errors) {
  struct Row {
    const char* letters;
    const char* message;
  };
  const Row rows[] = {
      {"D=8,L=1,V=7,N=2,Q=1",
       "letters: unknown key 'Q', known: D, F, L, V, N, K, H, E, k, W, C, gated, tied, bias, norm, "
       "final_norm, positions, shared, causal"                                                              },
      {"d=8,L=1,V=7,N=2",
       "letters: unknown key 'd', known: D, F, L, V, N, K, H, E, k, W, C, gated, tied, bias, norm, "
       "final_norm, positions, shared, causal"                                                              },
      {"D=8,L=1,V=7,N=2,T=5",
       "letters: unknown key 'T', known: D, F, L, V, N, K, H, E, k, W, C, gated, tied, bias, norm, "
       "final_norm, positions, shared, causal"                                                              },
      {"D=8,L=1,V=7,N=2,D=8",                "letters: key 'D' is given twice"                              },
      {"D=8,L=1,V=7,N=2,",                   "letters: expected KEY=VALUE, got ''"                          },
      {"D=8,L",                              "letters: expected KEY=VALUE, got 'L'"                         },
      {"L=1,V=7,N=2",                        "letters: D is missing, expected a whole number of 1 ... 2^40" },
      {"D=8,V=7,N=2",                        "letters: L is missing, expected a whole number of 1 ... 2^40" },
      {"D=8,L=1,N=2",                        "letters: V is missing, expected a whole number of 1 ... 2^40" },
      {"D=8,L=1,V=7",                        "letters: N is missing, expected N or H"                       },
      {"D=0,L=1,V=7,N=2",                    "letters: D: expected a whole number of 1 ... 2^40, got '0'"   },
      {"D=-8,L=1,V=7,N=2",                   "letters: D: expected a whole number of 1 ... 2^40, got '-8'"  },
      {"D=nan,L=1,V=7,N=2",                  "letters: D: expected a whole number of 1 ... 2^40, got 'nan'" },
      {"D=8,L=2T,V=7,N=2",                   "letters: L: expected a whole number of 1 ... 2^40, got '2T'"  },
      {"D=8,L=1,V=7,N=3",                    "letters: H = D/N: expected N to divide D, got D=8 N=3"        },
      {"D=8,L=1,V=7,H=3",                    "letters: N = D/H: expected H to divide D, got D=8 H=3"        },
      {"D=8,L=1,V=7,N=4,K=3",                "letters: K: expected K to divide N, got N=4 K=3"              },
      {"D=8,L=1,V=7,N=2,gated=yes",          "letters: gated: expected 0 or 1, got 'yes'"                   },
      {"D=8,L=1,V=7,N=2,tied=2",             "letters: tied: expected 0 or 1, got '2'"                      },
      {"D=8,L=1,V=7,N=2,norm=batch",         "letters: norm: expected rms or layer, got 'batch'"            },
      {"D=8,L=1,V=7,N=2,W=4,C=4",            "letters: expected W or C, got both: W=4 C=4"                  },
      {"D=8,L=1,V=7,N=2,W=4,causal=0",       "letters: W=4 needs causal=1, got causal=0"                    },
      {"D=8,L=1,V=7,N=2,C=4,causal=0",       "letters: C=4 needs causal=1, got causal=0"                    },
      {"D=8,L=1,V=7,N=2,E=4,k=5",            "letters: k: expected at most E experts per token, got k=5 E=4"},
      {"D=8,L=1,V=7,N=2,k=2",                "letters: E: expected experts, since k=2 shared=0, got E=0"    },
      {"D=8,L=1,V=7,N=2,shared=1",           "letters: E: expected experts, since k=1 shared=1, got E=0"    },
      {"D=8,F=1Ti,L=1,V=7,N=2,E=2,shared=2",
       "letters: shared: expected shared*F of at most 2^40, got shared=2 F=1099511627776"                   },
      {"D=1Ti,L=1,V=7,N=2",
       "letters: model 'D=1Ti,L=1,V=7,N=2': decoder.layer.mlp.d_ff: expected a whole number of 1 "
       "... 2^40, got 4398046511104"                                                                        },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.letters);
    EXPECT_EQ(error_of(row.letters), row.message);
  }
}

TEST(BareCounts, AreReadOnlyWhereAsked) {
  EXPECT_FALSE(read_bare_counts("llama-3-8b"));
  EXPECT_FALSE(read_bare_counts("D=8,L=1,V=7,N=2"));
  const auto moe = read_bare_counts("params=671e9,active=37e9");
  ASSERT_TRUE(moe);
  EXPECT_EQ(moe->params, Count(671'000'000'000));
  EXPECT_EQ(moe->active, Count(37'000'000'000));
  EXPECT_EQ(read_bare_counts("params=8B")->active, Count(8'000'000'000));
}

TEST(BareCounts, Errors) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"active=37e9",       "params is missing, expected params=COUNT,active=COUNT"       },
      {"params=0",          "params: expected a whole number of at least 1, got '0'"      },
      {"params=1.5",        "params: expected a whole number of at least 1, got '1.5'"    },
      {"params=many",       "params: expected a quantity such as 14.8T or 8Ki, got 'many'"},
      {"params=3,active=4", "active: expected at most params=3, got 4"                    },
      {"params=3,params=3", "key 'params' is given twice"                                 },
      {"params=3,layers=4", "unknown key 'layers', known: params, active"                 },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    try {
      read_bare_counts(row.text);
      ADD_FAILURE() << "no error";
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace flopwise
