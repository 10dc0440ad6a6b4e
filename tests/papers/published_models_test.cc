// What papers and model cards print of Llama and of mixtures of experts: parameters, and caches.
#include <nlohmann/json.hpp>

#include "flopwise/model/description.h"
#include "flopwise/report/mfu.h"
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

Params params_of_model(const std::string& model) {
  return count_of({.model = model, .mode = "forward", .seq = 1}).cost.params;
}
// Bytes, or with 2 of them elements, that a token leaves in the cache.
double cache_per_token(const std::string& model, const char* dtype = "bf16") {
  return count_of({.model = model, .mode = "decode", .context = 1, .kv = dtype})
      .kv_cache->bytes_per_token.to_double();
}

// Model cards and papers: Llama 1 rounded, Llama 2 and 3 to the last parameter. The cards of Llama
// 2 count half a head of rotary frequencies, 64 numbers a layer, as parameters.
TEST(Llama, Parameters) {
  struct Row {
    const char* model;
    double params;
    double tolerance;
    double buffers;  // counted by the source
  };
  constexpr Row kRows[] = {
      {"llama-7b",       6.7e9,        0.006, 0      },
      {"llama-13b",      13.0e9,       0.006, 0      },
      {"llama-30b",      32.5e9,       0.006, 0      },
      {"llama-65b",      65.2e9,       0.006, 0      },
      {"llama-2-7b",     6738417664,   0,     64 * 32},
      {"llama-2-13b",    13015866880,  0,     64 * 40},
      {"llama-2-70b",    68976653312,  0,     64 * 80},
      {"llama-3.1-8b",   8030261248,   0,     0      },
      {"llama-3.1-70b",  70553706496,  0,     0      },
      {"llama-3.1-405b", 405853388800, 0,     0      },
  };
  for (const Row& row : kRows) {
    EXPECT_NEAR(params_of_model(row.model).total.to_double() + row.buffers, row.params,
                row.tolerance * row.params)
        << row.model;
  }
}

TEST(Llama, CacheBytesOfAToken) {
  EXPECT_EQ(cache_per_token("llama-2-7b"), 524288);
  EXPECT_EQ(cache_per_token("llama-2-13b"), 819200);
  EXPECT_EQ(cache_per_token("llama-2-70b"), 327680);
  EXPECT_EQ(cache_per_token("llama-3-8b"), 131072);
  EXPECT_EQ(cache_per_token("llama-3.1-405b"), 516096);
}

// "The Llama 3 Herd of Models", section 3.2: 3.8e25 FLOPs for 15.6e12 tokens, by `6nd`.
TEST(Llama, TrainingFlops) {
  MfuRequest request;
  request.counts = read_bare_counts("params=405e9");
  request.tokens = parse_quantity("15.6T", "--tokens");
  EXPECT_NEAR(answer_mfu(request).model_flops.to_double(), 3.8e25, 0.01 * 3.8e25);
}

// Parameters and what a token uses of them. Some sources leave the input embedding out of the
// second.
TEST(Experts, TotalAndActive) {
  struct Row {
    const char* model;
    double total, total_tolerance;
    double active, active_tolerance;
    bool counts_embedding;
  };
  constexpr Row kRows[] = {
      {"deepseek-v3",      671e9,   0.006, 36.7e9, 0.03, false},
      {"deepseek-v2",      236e9,   0.006, 21e9,   0.03, true },
      {"deepseek-v2-lite", 15.7e9,  0.006, 2.4e9,  0.03, false},
      {"mixtral-8x7b",     46.7e9,  0.006, 12.9e9, 0.03, true },
      {"mixtral-8x22b",    140.6e9, 0.006, 39.1e9, 0.03, true },
      {"qwen3-235b-a22b",  235e9,   0.006, 22e9,   0.03, true },
      {"qwen3-30b-a3b",    30.5e9,  0.006, 3.3e9,  0.03, true },
      {"gpt-oss-120b",     116.8e9, 0.006, 5.1e9,  0.03, false},
      {"gpt-oss-20b",      20.9e9,  0.006, 3.6e9,  0.03, false},
      {"olmoe-1b-7b",      6.92e9,  0.006, 1.28e9, 0.03, true },
      {"dbrx",             132e9,   0.006, 36e9,   0.03, true },
      {"grok-1",           314e9,   0.01,  0,      0,    true },
  };
  for (const Row& row : kRows) {
    const Params params = params_of_model(row.model);
    EXPECT_NEAR(params.total.to_double(), row.total, row.total_tolerance * row.total) << row.model;
    if (row.active == 0) continue;
    const Count left_out = row.counts_embedding ? Count(0) : params.of(Component::kEmbedding);
    EXPECT_NEAR((params.active - left_out).to_double(), row.active,
                row.active_tolerance * row.active)
        << row.model;
  }
}

// Snowflake Arctic: 128 experts beside a dense feed-forward, whose width is not printed; 7168 gives
// the totals that are.
TEST(Experts, ArcticWithADenseResidual) {
  const Model model = model_from_description(
      nlohmann::json::parse(
          R"({"flopwise": 1, "d_model": 7168, "vocab": 32000, "layers": [{"name": "layer",
              "repeat": 35, "attention": {"heads": 56, "kv_heads": 8},
              "moe": {"experts": 128, "active": 2, "d_ff": 4864, "shared_d_ff": 7168}}]})"),
      "arctic");
  const Params params = count_model(model, {}).cost.params;
  EXPECT_NEAR(params.total.to_double(), 480e9, 0.01 * 480e9);
  EXPECT_NEAR(params.active.to_double(), 17e9, 0.05 * 17e9);
  const double expert = (params.total - params.active).to_double() / 126;
  EXPECT_NEAR(expert, 3.66e9, 0.01 * 3.66e9);
  EXPECT_NEAR(params.total.to_double() - 128 * expert, 10e9, 0.1 * 10e9);
}

// DeepSeek-V3: one layer of multi-token prediction of 11.5e9 parameters of its own; the checkpoint
// stores embedding and head once more with it.
TEST(Experts, DeepSeekPredictionLayer) {
  const CountResult count = count_of({.model = "deepseek-v3", .mode = "forward", .seq = 1});
  EXPECT_NEAR(count.mtp.to_double(), 11.5e9, 0.01 * 11.5e9);
  const Count stored = count.cost.params.total + count.mtp + count.cost.params.embedding();
  EXPECT_NEAR(stored.to_double(), 685e9, 0.002 * 685e9);
}

// DeepSeek-V2, tables 1 and 9: elements that a token leaves in the cache, latent or of all heads.
TEST(Experts, LatentCaches) {
  const double latent = cache_per_token("deepseek-v2") / 2;
  EXPECT_EQ(latent, 34560);
  EXPECT_EQ(cache_per_token("D=5120,L=60,V=102400,N=128,H=128") / 2, 1966080);
  EXPECT_EQ(latent / (cache_per_token("D=5120,L=60,V=102400,N=128,K=1,H=128") / 2), 2.25);
  EXPECT_NEAR(latent, 34.6e3, 0.005 * 34.6e3);
  EXPECT_NEAR(cache_per_token("deepseek-v2-lite") / 2, 15.6e3, 0.005 * 15.6e3);
  EXPECT_NEAR(cache_per_token("D=2048,L=27,V=102400,N=16,H=128") / 2, 110.6e3, 0.001 * 110.6e3);
  EXPECT_NEAR(cache_per_token("D=5120,L=60,V=102400,N=56,H=128") / 2, 860.2e3, 0.001 * 860.2e3);
  // "93.3 %" less than DeepSeek 67B: in 6 bits against 16.
  const double six_bits = latent * 6 / 8;
  EXPECT_NEAR(100 * (1 - six_bits / cache_per_token("deepseek-67b")), 93.3, 0.3);
}

// gpt-oss: checkpoints of 60.8 and 12.8 GiB, experts in MXFP4 and the rest in bf16.
TEST(Experts, GptOssCheckpoints) {
  struct Row {
    const char* model;
    double experts, active;
    double gib;
  };
  constexpr Row kRows[] = {
      {"gpt-oss-120b", 128, 4, 60.8},
      {"gpt-oss-20b",  32,  4, 12.8},
  };
  const Rational four_bits = bytes_per_element(find_dtype("mxfp4"));
  for (const Row& row : kRows) {
    const Params params = params_of_model(row.model);
    const double routed =
        (params.total - params.active).to_double() * row.experts / (row.experts - row.active);
    const double rest = params.total.to_double() - routed;
    EXPECT_NEAR((routed * four_bits.to_double() + 2 * rest) / (1 << 30), row.gib, 0.03 * row.gib)
        << row.model;
  }
}

}  // namespace
}  // namespace flopwise
