// "How to Scale Your Model", chapter "All the Transformer Math You Need to Know", and two texts
// that work through it. Where a text prints a wrong figure the right one is pinned here and the
// slip is named.
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

constexpr const char* kBook = "D=4096,F=16384,L=64,V=32000,N=32,K=32,H=128";
const Substitution kMultiHead = {
    {"K", Expr::symbol("N")}
};

bool is_op_of(const OpCost& op, std::string_view name) {
  return op.name == name || op.name.starts_with(std::string(name) + ".d_");
}

Count component(const CountResult& r, Component part) {
  return r.cost.params.of(part);
}

// Training FLOPs and parameters of one layer, operation by operation.
TEST(TransformerMath, TrainingFlopsAndParametersOfOneLayer) {
  struct Row {
    const char* op;
    const char* train_flops;
    const char* params;
  };
  constexpr Row kRows[] = {
      {"mlp.gate",     "6*B*T*D*F",   "D*F"  },
      {"mlp.up",       "6*B*T*D*F",   "D*F"  },
      {"mlp.down",     "6*B*T*D*F",   "D*F"  },
      {"attention.q",  "6*B*T*D*N*H", "D*N*H"},
      {"attention.k",  "6*B*T*D*K*H", "D*K*H"},
      {"attention.v",  "6*B*T*D*K*H", "D*K*H"},
      {"attention.o",  "6*B*T*D*N*H", "D*N*H"},
      {"attention.qk", "6*B*T*S*N*H", "0"    },
      {"attention.av", "6*B*T*S*N*H", "0"    },
  };
  const CountResult r = count_of({.model = kBook, .kernel = "plain"});
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.op);
    const Expr flops = layer_formula(
        r, [&](const OpCost& op) { return is_op_of(op, row.op); }, true);
    EXPECT_EQ(flops.str(), parse_expr(row.train_flops).str());
    Expr params = 0;
    for (const BlockCost& block : r.cost.blocks) {
      for (const OpCost& op : block.ops) {
        if (is_op_of(op, row.op)) params += op.params.formula;
      }
    }
    EXPECT_EQ(params.str(), row.params);
  }
}

TEST(TransformerMath, SumsOfALayer) {
  const auto mlp = [](const OpCost& op) {
    return op.component == Component::kMlp && op.op_class == OpClass::kMatmul;
  };
  const auto projections = [](const OpCost& op) {
    return op.component == Component::kAttention && op.op_class == OpClass::kMatmul;
  };
  const auto core = [](const OpCost& op) {
    return op.op_class == OpClass::kAttention && op.pass != Pass::kRecompute;
  };
  const CountResult gated = count_of({.model = kBook});
  EXPECT_EQ(layer_formula(gated, mlp).str(), "18*B*T*D*F");
  EXPECT_EQ(layer_formula(gated, projections).substitute(kMultiHead).str(), "24*B*T*D*N*H");
  EXPECT_EQ(layer_formula(gated, core, true).str(), "12*B*T*S*N*H");
  const CountResult ungated = count_of({.model = "D=4096,F=16384,L=64,V=32000,N=32,gated=0"});
  EXPECT_EQ(layer_formula(ungated, mlp).str(), "12*B*T*D*F");
  // "the total parameter count": 3DF or 2DF, 4DNH.
  const Count d = 4096;
  const Count f = 16384;
  EXPECT_EQ(component(gated, Component::kMlp), Count(64) * Count(3) * d * f);
  EXPECT_EQ(component(ungated, Component::kMlp), Count(64) * Count(2) * d * f);
  EXPECT_EQ(component(gated, Component::kAttention), Count(64) * Count(4) * d * d);
}

TEST(TransformerMath, UnembeddingIsOneMatmul) {
  const CountResult r = count_of({.model = kBook});
  Expr head = 0;
  for (const BlockCost& block : r.cost.blocks) {
    for (const OpCost& op : block.ops) {
      const bool counted =
          op.component == Component::kUnembedding && op.op_class == OpClass::kMatmul;
      if (counted) head += op.flops.formula;
    }
  }
  EXPECT_EQ(head.str(), "6*B*T*D*V");
}

// Question 1: "roughly 16e9" rounds D and F before multiplying; the exact count is 17.4e9. One
// worked solution has one norm a layer and one vocabulary matrix: 17.3e9 (here: tied).
TEST(TransformerMath, Question1Parameters) {
  const std::string book = kBook;
  EXPECT_EQ(count_of({.model = book}).cost.params.total.grouped(), "17,442,541,568");
  EXPECT_EQ(count_of({.model = book + ",final_norm=0"}).cost.params.total.grouped(),
            "17,442,537,472");
  const CountResult tied = count_of({.model = book + ",tied=1"});
  EXPECT_EQ(tied.cost.params.total.grouped(), "17,311,469,568");
  const Analysis analysis = count_of({.model = book}).analysis;
  EXPECT_EQ(analysis.attention_share_of_blocks, Rational::of(1, 4));
  EXPECT_NEAR(analysis.attention_share_of_params.to_double(), 0.2462, 5e-5);
  EXPECT_NEAR(tied.analysis.attention_share_of_params.to_double(), 0.2481, 5e-5);
  const CountResult int8 = count_of({.model = book, .kv = "int8"});
  EXPECT_EQ(int8.kv_cache->bytes_per_token, Count(512 * 1024));
}

// "2 * 8192 * 64 * 8192 = 8GiB": exactly.
TEST(TransformerMath, KvCacheOfEightThousandTokens) {
  const CountResult r = count_of({.model = "D=8192,F=32768,L=64,V=32000,N=64",
                                  .mode = "decode",
                                  .context = 8192,
                                  .kv = "int8"});
  EXPECT_EQ(r.kv_cache->bytes_total, Count(std::int64_t{8} << 30));
}

// Question 4: arithmetic intensity of grouped attention.
TEST(TransformerMath, Question4AttentionIntensity) {
  const CountResult r = count_of({.model = kBook, .intensity = 240});
  const Expr intensity = r.analysis.attention_intensity_formula;
  EXPECT_EQ(intensity.str(), parse_expr("T*S*G/(T*G + S)").str());
  EXPECT_EQ(intensity
                .substitute({
                    {"S", Expr::symbol("T")}
  })
                .str(),
            parse_expr("T*G/(G + 1)").str());
  EXPECT_EQ(intensity
                .substitute({
                    {"T", 1}
  })
                .str(),
            parse_expr("S*G/(G + S)").str());
  // "T >= 480": I*(G+1)/G at G = 1, I = 240.
  EXPECT_EQ(*r.analysis.attention_compute_bound_length, Count(480));
  // G = 8: I*9/8.
  const CountResult grouped =
      count_of({.model = "D=8192,F=28672,L=80,V=32000,N=64,K=8", .intensity = 240});
  EXPECT_EQ(*grouped.analysis.attention_compute_bound_length, Count(270));
}

// The same question with every step written to memory: K = N, D = N*H, 16-bit.
TEST(TransformerMath, NaiveAttentionStepByStep) {
  struct Row {
    const char* op;
    const char* bytes;
  };
  constexpr Row kRows[] = {
      {"attention.qk",      "2*B*T*D + 2*B*S*D + 2*B*T*S*N"},
      {"attention.softmax", "4*B*T*S*N"                    },
      {"attention.av",      "2*B*T*S*N + 2*B*S*D + 2*B*T*D"},
  };
  const CountResult r = count_of({.model = kBook, .fusion = "unfused"});
  ASSERT_EQ(r.analysis.naive_attention.size(), std::size(kRows));
  const Substitution heads_make_d = {
      {"K", Expr::symbol("N")                    },
      {"H", Expr::symbol("D") / Expr::symbol("N")}
  };
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const NaiveStep& step = r.analysis.naive_attention[i];
    EXPECT_EQ(step.op, kRows[i].op);
    EXPECT_EQ(step.bytes.formula.substitute(heads_make_d).str(), parse_expr(kRows[i].bytes).str());
  }
}

// "Effective cost": T/(6D) from T = 480 on; below it 80/D. The text prints 13/10^-4/D: 8/(24*240)
// where 240 should multiply.
TEST(TransformerMath, RelativeCostOfAttentionToTheFeedForward) {
  const std::int64_t d = 8192;
  const std::string model = "D=8192,F=32768,L=64,V=32000,N=64";
  for (const std::int64_t t : {480, 2048, 32768}) {
    const CountResult r = count_of({.model = model, .seq = t, .intensity = 240});
    EXPECT_EQ(*r.analysis.attention_relative_cost, Rational::of(t, 6 * d)) << t;
  }
  for (const std::int64_t t : {1, 64, 479}) {
    const CountResult r = count_of({.model = model, .seq = t, .intensity = 240});
    EXPECT_EQ(*r.analysis.attention_relative_cost, Rational::of(80, d)) << t;
  }
}

// Question 5: "2D = T, so e.g. for D=4096, this is 8192", dense. And the length from which
// attention dominates all matmuls: T = 8D (the text's example prints 37k for D = 4608, an issue
// reports 32k; 8*4608 = 36,864, and the real Gemma 2 27B, whose heads do not make D and whose F is
// 8D, 69,120).
TEST(TransformerMath, Question5ContextsOfEqualFlops) {
  const Analysis a = count_of({.model = kBook}).analysis;
  EXPECT_EQ(*a.context_equals_projections.dense, Rational(8192));
  EXPECT_EQ(*a.context_equals_projections.masked, Rational(16383));
  EXPECT_EQ(*a.context_equals_matmul.dense, Rational(32768));
  EXPECT_EQ(*a.context_equals_matmul.masked, Rational(65535));
  const Analysis d4608 = count_of({.model = "D=4608,F=18432,L=46,V=256000,N=36"}).analysis;
  EXPECT_EQ(*d4608.context_equals_matmul.dense, Rational(36864));
  const Analysis gemma = count_of({.model = "gemma-2-27b"}).analysis;
  EXPECT_EQ(*gemma.context_equals_matmul.dense, Rational(69120));
}

// Question 6: saving the seven matmul outputs leaves the two attention matmuls to recompute,
// 4*B*T*S*N*H; with a flash kernel, whose backward computes the scores once more anyway,
// 6*B*T*S*N*H.
TEST(TransformerMath, Question6RematerialisedFlops) {
  const auto recomputed = [](const CountResult& r) {
    return layer_formula(
               r,
               [](const OpCost& op) {
                 return op.pass == Pass::kRecompute && op.op_class == OpClass::kAttention;
               },
               true)
        .str();
  };
  const CountResult plain = count_of({.model = kBook, .remat = "matmuls", .kernel = "plain"});
  EXPECT_EQ(recomputed(plain), "4*B*T*S*N*H");
  EXPECT_EQ(plain.cost.recompute.matmul, Count(0));
  const CountResult flash = count_of({.model = kBook, .remat = "matmuls"});
  EXPECT_EQ(recomputed(flash), "6*B*T*S*N*H");
  EXPECT_EQ(flash.cost.recompute.matmul, Count(0));
}

// Recomputed matmuls of a layer as a share of its forward matmuls: what backward reads, or all.
TEST(TransformerMath, RecomputedMatmulsByPolicy) {
  struct Row {
    const char* remat;
    std::int64_t per_token;
  };
  constexpr Row kRows[] = {
      {"none",      0          },
      {"attention", 0          },
      {"matmuls",   0          },
      {"block",     25769803776},
      {"full",      34359738368}
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.remat);
    const CountResult r = count_of({.model = kBook, .seq = 16, .remat = row.remat});
    EXPECT_EQ(r.cost.recompute.matmul, Count(16) * Count(row.per_token));
  }
}

// With `block` the last matmul of a pre-norm layer is not read by backward: 3/4 of the matmuls run
// again, 2/3 without a gate; under post-norm and sandwich norms a norm reads it, and all run again.
TEST(TransformerMath, BlockPolicyByNormPlacement) {
  struct Row {
    NormPlacement placement;
    bool gated;
    Rational share;
  };
  const Row rows[] = {
      {NormPlacement::kPre, true, Rational::of(3,                   4)},
      {NormPlacement::kPre,                   false,     Rational::of(2,              3)},
      {NormPlacement::kPost,                 true,                     Rational(1)                    },
      {NormPlacement::kPost,        false,Rational(1)},
      {NormPlacement::kSandwich,        true,                     Rational(1)                                             },
      {NormPlacement::kSandwich,        false,Rational(1)},
  };
  for (const Row& row : rows) {
    Model model = model_from_letters("D=4096,F=16384,L=3,V=32000,N=32");
    Layer& layer = model.decoder->groups[0].layer;
    layer.placement = row.placement;
    std::get<Mlp>(layer.feed_forward).gated = row.gated;
    CountRequest request;
    request.workload.seq_len = 8;
    request.remat = parse_remat("block");
    const CountResult r = count_model(model, request);
    const Expr forward = layer_formula(r, [](const OpCost& op) {
      return op.pass == Pass::kForward && op.op_class == OpClass::kMatmul;
    });
    const Count layers = Count(3) * forward.eval_count(r.sizes, "forward");
    EXPECT_EQ(Rational(r.cost.recompute.matmul) / Rational(layers), row.share)
        << name_of(row.placement) << (row.gated ? " gated" : " ungated");
  }
}

// Backward over forward: matmuls 2; attention 2, and with a flash kernel half a forward more,
// listed under recompute.
TEST(TransformerMath, BackwardOverForward) {
  for (const char* kernel : {"flash", "plain"}) {
    const Cost cost = count_of({.model = "llama-3-8b", .kernel = kernel}).cost;
    EXPECT_EQ(cost.backward.matmul, Count(2) * cost.forward.matmul);
    EXPECT_EQ(cost.backward.attention, Count(2) * cost.forward.attention);
    const Count again = std::string(kernel) == "flash" ? cost.forward.attention : Count(0);
    EXPECT_EQ(Count(2) * cost.recompute.attention, again);
  }
}

// Question 8: "B > 120 * 256 / 8 = 3840", weights only; with the experts' own inputs and outputs
// 4,522.
TEST(TransformerMath, Question8MoeCriticalBatch) {
  const CountResult r = count_of({.model = "D=7168,F=2048,L=58,V=129280,N=128,E=256,k=8",
                                  .weights = "int8",
                                  .intensity = 240});
  EXPECT_EQ(*r.analysis.moe->weights_only, Count(3840));
  EXPECT_EQ(*r.analysis.moe->with_activations, Count(4522));
  EXPECT_EQ(r.analysis.moe->tokens_per_expert, Rational::of(2048 * 8, 256));
}

}  // namespace
}  // namespace flopwise
