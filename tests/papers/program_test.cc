// What holds for every program: totals are the sums of their operations, masks change attention
// alone, 10,000 layers are described as small as 10.
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

constexpr const char* kModels[] = {"gpt2",        "llama-3-8b", "mixtral-8x7b",
                                   "gemma-2-27b", "t5-11b",     "bert-base"};

TEST(Program, TotalsAreTheSumsOfOperations) {
  for (const char* model : kModels) {
    for (const char* kernel : {"flash", "plain"}) {
      SCOPED_TRACE(model);
      const CountResult r =
          count_of({.model = model, .batch = 3, .seq = 64, .remat = "block", .kernel = kernel});
      Count flops = 0;
      Count bytes = 0;
      Count params = 0;
      for (const BlockCost& block : r.cost.blocks) {
        for (const OpCost& op : block.ops) {
          flops += op.flops.value * block.layers;
          bytes += op.bytes.value * block.layers;
          params += op.params.value * block.layers;
        }
      }
      const Cost& cost = r.cost;
      EXPECT_EQ(flops, cost.forward.total() + cost.backward.total() + cost.recompute.total());
      EXPECT_EQ(params, cost.params.total);
      // The expected number of experts is rounded once an operation and once a total.
      const Count difference = bytes - cost.bytes.total();
      EXPECT_LE(difference < Count(0) ? Count(0) - difference : difference, Count(1000));
    }
  }
}

// The formula of each value, evaluated at the block's sizes, is the value.
TEST(Program, FormulasGiveTheirValues) {
  for (const char* model : kModels) {
    const CountResult r = count_of({.model = model, .batch = 2, .seq = 33});
    for (const BlockCost& block : r.cost.blocks) {
      for (const OpCost& op : block.ops) {
        SCOPED_TRACE(std::string(model) + " " + op.name);
        EXPECT_EQ(parse_expr(op.flops.formula.str()).eval_count(block.sizes, "flops"),
                  op.flops.value);
      }
    }
  }
}

TEST(Program, TenThousandLayersAreAsManyOperationsAsTen) {
  const CountResult few = count_of({.model = "D=64,L=10,V=100,N=4"});
  const CountResult many = count_of({.model = "D=64,L=10000,V=100,N=4"});
  EXPECT_EQ(few.cost.blocks.size(), many.cost.blocks.size());
  EXPECT_EQ(few.cost.blocks[1].ops.size(), many.cost.blocks[1].ops.size());
  EXPECT_EQ(many.cost.blocks[1].layers, Count(10000));
}

// Prefilling T tokens costs what a forward pass costs but for the logits; decoding them one by one
// costs the same attention.
TEST(Program, PrefillAndDecodeAddUpToForward) {
  const std::int64_t length = 7;
  const Ask forward{.model = "D=64,L=3,V=100,N=4,K=2", .mode = "forward", .seq = length};
  Ask decode = forward;
  decode.mode = "decode";
  decode.seq = 1;
  Flops sum;
  for (std::int64_t s = 1; s <= length; ++s) {
    decode.context = s;
    sum += count_of(decode).cost.forward;
  }
  const Flops whole = count_of(forward).cost.forward;
  EXPECT_EQ(sum.matmul, whole.matmul);
  EXPECT_EQ(sum.attention, whole.attention);
  EXPECT_EQ(sum.vector, whole.vector);
}

// A window caps attention and the cache of every layer it holds for (vLLM issue 55624, OLMo-core
// issue 475).
TEST(Program, WindowsCapPairsCacheAndReads) {
  const CountResult full =
      count_of({.model = "D=64,L=2,V=100,N=4", .mode = "decode", .context = 4096});
  const CountResult window =
      count_of({.model = "D=64,L=2,V=100,N=4,W=128", .mode = "decode", .context = 4096});
  EXPECT_EQ(full.cost.forward.attention, Count(32) * window.cost.forward.attention);
  EXPECT_EQ(full.kv_cache->bytes_total, Count(32) * window.kv_cache->bytes_total);
  EXPECT_EQ(full.kv_cache->bytes_per_token, window.kv_cache->bytes_per_token);
  EXPECT_GT(full.cost.bytes.kv_cache, Count(30) * window.cost.bytes.kv_cache);
}

TEST(Program, EncoderHasNoCache) {
  EXPECT_FALSE(count_of({.model = "bert-base"}).kv_cache.has_value());
}

// Reported: tied models counted with 4VD (TRL issue 6708): a lookup costs nothing, so tied and
// untied cost the same FLOPs.
TEST(Program, TyingChangesParametersNotFlops) {
  const CountResult tied = count_of({.model = "D=64,L=2,V=100,N=4,tied=1"});
  const CountResult untied = count_of({.model = "D=64,L=2,V=100,N=4"});
  EXPECT_EQ(tied.cost.model_total(), untied.cost.model_total());
  EXPECT_EQ(untied.cost.params.total - tied.cost.params.total, Count(64 * 100));
  EXPECT_EQ(tied.cost.params.of(Component::kUnembedding), Count(0));
}

}  // namespace
}  // namespace flopwise
