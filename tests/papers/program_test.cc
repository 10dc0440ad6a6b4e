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
      // The expected number of experts is rounded for each operation, and for each of its three
      // kinds of bytes.
      const Count difference = bytes - cost.bytes.total();
      const Count tolerance = std::string(model) == "mixtral-8x7b" ? Count(32 * 9) : Count(0);
      EXPECT_LE(difference < Count(0) ? Count(0) - difference : difference, tolerance);
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
        for (const Quantity& q : {op.flops, op.flops_dense, op.params, op.bytes}) {
          EXPECT_EQ(parse_expr(q.formula.str()).eval_count(block.sizes, "value"), q.value);
        }
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

// A prompt in chunks costs what it costs at once, also where a source is encoded with the first
// chunk only.
TEST(Program, ChunkedPrefillAddsUpToPrefill) {
  for (const char* model :
       {"D=64,L=3,V=100,N=4,K=2", "D=64,L=3,V=100,N=4,W=5", "t5-11b", "gemma-2-27b"}) {
    SCOPED_TRACE(model);
    const bool has_source = std::string(model) == "t5-11b";
    Ask ask{.model = model, .mode = "prefill", .seq = 12, .source = has_source ? 9 : 0};
    Flops whole = count_of(ask).cost.forward;
    ask.seq = 4;
    Flops chunks;
    for (const std::int64_t context : {4, 8, 12}) {
      ask.context = context;
      chunks += count_of(ask).cost.forward;
    }
    EXPECT_EQ(chunks.attention, whole.attention);
    // Each chunk ends in the logits of its last position.
    const CountResult last = count_of(ask);
    const Count head = [&] {
      Count sum = 0;
      for (const BlockCost& block : last.cost.blocks) {
        for (const OpCost& op : block.ops) {
          if (op.component == Component::kUnembedding && op.op_class == OpClass::kMatmul)
            sum += op.flops.value;
        }
      }
      return sum;
    }();
    EXPECT_EQ(chunks.matmul, whole.matmul + Count(2) * head);
  }
}

// The parameters are the model's, whatever the step leaves out.
TEST(Program, ParametersDoNotDependOnTheMode) {
  for (const char* model : kModels) {
    if (std::string(model) == "bert-base") continue;
    SCOPED_TRACE(model);
    const Count train = count_of({.model = model, .seq = 8}).cost.params.total;
    EXPECT_EQ(count_of({.model = model, .mode = "decode", .context = 8}).cost.params.total, train);
    EXPECT_EQ(
        count_of({.model = model, .mode = "prefill", .seq = 4, .context = 8}).cost.params.total,
        train);
  }
}

// Distinct experts: one token reaches its k, many reach all.
TEST(Program, ExpertsReached) {
  const CountResult one = count_of({.model = "mixtral-8x7b", .mode = "decode", .context = 100});
  EXPECT_DOUBLE_EQ(one.analysis.moe->expected_experts, 2);
  EXPECT_EQ(one.analysis.moe->most_experts, Count(2));
  const CountResult many = count_of({.model = "mixtral-8x7b", .seq = 2048});
  EXPECT_DOUBLE_EQ(many.analysis.moe->expected_experts, 8);
  EXPECT_EQ(many.analysis.moe->most_experts, Count(8));
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
