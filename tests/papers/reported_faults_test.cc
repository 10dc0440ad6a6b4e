// Faults that users reported of other counters, one row each: the inputs, and the value that is
// right.
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

// maxtext issues 1972 and 1988: Llama-2-7B, B = 4, T = 8192: dense attention called "the" FLOPs.
TEST(ReportedFaults, DenseAndMaskedAttentionApart) {
  const CountResult r = count_of({.model = "llama-2-7b", .batch = 4, .seq = 8192});
  const Flops train = [&] {
    Flops sum = r.cost.forward;
    sum += r.cost.backward;
    return sum;
  }();
  EXPECT_NEAR(train.matmul.to_double(), 1299.004e12, 5e8);
  EXPECT_NEAR(train.attention.to_double(), 211.132e12, 5e8);
  EXPECT_NEAR(train.attention_dense.to_double(), 422.21e12, 1e10);
  EXPECT_NEAR(r.cost.model_total().to_double(), 1510.1e12, 1e11);
}

// Megatron-LM issue 682, Megatron-DeepSpeed issue 283, Pai-Megatron-Patch issue 485: F = 4D
// assumed, a gate counted as two matrices, one expert's width taken for the other.
TEST(ReportedFaults, FeedForwardWidthIsTheModels) {
  const auto mlp_forward = [](const char* model) {
    const CountResult r = count_of({.model = model, .mode = "forward", .seq = 1});
    Count sum = 0;
    for (const BlockCost& block : r.cost.blocks) {
      for (const OpCost& op : block.ops) {
        const bool counted = op.component == Component::kMlp && op.op_class == OpClass::kMatmul;
        if (counted) sum += op.flops.value;
      }
    }
    return sum;
  };
  EXPECT_EQ(mlp_forward("D=64,F=100,L=1,V=9,N=4"), Count(2 * 3 * 64 * 100));
  EXPECT_EQ(mlp_forward("D=64,F=100,L=1,V=9,N=4,gated=0"), Count(2 * 2 * 64 * 100));
  EXPECT_EQ(mlp_forward("D=64,F=100,L=1,V=9,N=4,E=8,k=2"), Count(2 * 2 * 3 * 64 * 100));
  EXPECT_EQ(mlp_forward("D=64,F=100,L=1,V=9,N=4,E=8,k=2,shared=1"), Count(3 * 2 * 3 * 64 * 100));
}

// OLMo-core issue 475, pytorch issue 177188: fewer KV heads change projections and cache, not score
// FLOPs.
TEST(ReportedFaults, GroupedQueriesChangeProjectionsOnly) {
  const CountResult many = count_of({.model = "D=64,L=2,V=9,N=8,K=8"});
  const CountResult few = count_of({.model = "D=64,L=2,V=9,N=8,K=2"});
  EXPECT_EQ(many.cost.forward.attention, few.cost.forward.attention);
  EXPECT_GT(many.cost.forward.matmul, few.cost.forward.matmul);
  EXPECT_EQ(many.kv_cache->bytes_total, Count(4) * few.kv_cache->bytes_total);
}

// calculate-flops.pytorch issue 26: T doubled and FLOPs exactly doubled, since attention was not
// counted.
TEST(ReportedFaults, FlopsGrowFasterThanLength) {
  const Count once =
      count_of({.model = "llama-2-7b", .mode = "forward", .seq = 8192}).cost.model_total();
  const Count twice =
      count_of({.model = "llama-2-7b", .mode = "forward", .seq = 16384}).cost.model_total();
  EXPECT_GT(twice, Count(2) * once);
}

// pytorch issue 195460: attention of (1, 12, 64, 64) counted as 0.
TEST(ReportedFaults, AttentionOfTwelveHeads) {
  const CountResult r =
      count_of({.model = "D=768,L=1,V=9,N=12,causal=0", .mode = "forward", .seq = 64});
  EXPECT_EQ(r.cost.forward.attention, Count(12582912));
}

// tt-metal issue 19503, modular issue 5557: the full square counted for causal kernels.
TEST(ReportedFaults, CausalIsHalfASquareAndADiagonal) {
  const Flops f =
      count_of({.model = "D=64,L=1,V=9,N=4", .mode = "forward", .seq = 1024}).cost.forward;
  EXPECT_EQ(f.attention * Count(2),
            f.attention_dense + Count::of(f.attention_dense.value() / 1024));
}

// LMCache issue 688: head dimension D/N assumed for Qwen3 (80 in place of 128).
TEST(ReportedFaults, HeadDimensionIsTheModels) {
  const CountResult r = count_of({.model = "D=2560,F=9728,L=36,V=151936,N=32,K=8,H=128,tied=1"});
  EXPECT_EQ(r.kv_cache->bytes_per_token, Count(147456));
}

// A teaching text: 512 MB for 32k tokens of a 7B model. It is 16 GiB, and 10 GiB for 70B with 8 KV
// heads.
TEST(ReportedFaults, KvCacheOf32kTokens) {
  const auto cache = [](const char* model) {
    return count_of({.model = model, .mode = "decode", .context = 32768}).kv_cache->bytes_total;
  };
  EXPECT_EQ(cache("llama-2-7b"), Count(std::int64_t{16} << 30));
  EXPECT_EQ(cache("llama-2-70b"), Count(std::int64_t{10} << 30));
}

// torchtitan issues 274 and 280: which rule, 6N, 7N or 12? The output names its convention.
// Bytes that one token writes, and that the cache holds at `context` positions in bf16.
struct Cached {
  std::int64_t per_token;
  std::int64_t total;
  friend bool operator==(const Cached&, const Cached&) = default;
};
Cached cached(const char* config, std::int64_t context, LatentMode latent = LatentMode::kAbsorbed) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = context;
  request.workload.latent = latent;
  std::istringstream input(config);
  const CountResult result = count_model(read_model("-", input), request);
  const auto bytes = [](const Count& count) { return static_cast<std::int64_t>(count.value()); };
  return {bytes(result.kv_cache->bytes_per_token), bytes(result.kv_cache->bytes_total)};
}

// K2, K4: 61 layers keep a latent of 512 and a rotated key of 64 elements, whatever
// num_key_value_heads says; all heads' keys and values are what an expanded cache keeps.
TEST(ReportedFaults, KvCacheOfLatentAttention) {
  constexpr const char* kDeepseekV3 =
      R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
          "num_attention_heads": 128, "num_key_value_heads": 128, "q_lora_rank": 1536,
          "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
          "intermediate_size": 18432, "moe_intermediate_size": 2048, "n_routed_experts": 256,
          "n_shared_experts": 1, "num_experts_per_tok": 8, "first_k_dense_replace": 3,
          "vocab_size": 129280})";
  constexpr std::int64_t kToken = 61 * (512 + 64) * 2;
  EXPECT_EQ(cached(kDeepseekV3, 163'840), (Cached{kToken, 163'840 * kToken}));  // 10.723 GiB
  EXPECT_EQ(cached(kDeepseekV3, 65'536), (Cached{kToken, 65'536 * kToken}));    // 4.289 GiB
  constexpr std::int64_t kExpanded = 61 * 128 * (128 + 64 + 128) * 2;
  EXPECT_EQ(cached(kDeepseekV3, 65'536, LatentMode::kExpanded),
            (Cached{kExpanded, 65'536 * kExpanded}));  // 305 GiB
}

// K6: every other layer keeps a window of 128 positions.
TEST(ReportedFaults, KvCacheOfAlternatingWindows) {
  const Cached gpt_oss = cached(
      R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24,
          "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
          "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4,
          "sliding_window": 128, "vocab_size": 201088})",
      131'072);
  constexpr std::int64_t kLayerToken = 2 * 8 * 64 * 2;
  EXPECT_EQ(gpt_oss.total, 12 * kLayerToken * (131'072 + 128));  // 3 GiB and 3 MiB
}

// K10: H is a field, not D/N = 80.
TEST(ReportedFaults, KvCacheOfHeadsThatAreNotDOverN) {
  const Cached qwen3_4b = cached(
      R"({"model_type": "qwen3", "hidden_size": 2560, "num_hidden_layers": 36,
          "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
          "intermediate_size": 9728, "tie_word_embeddings": true, "vocab_size": 151936})",
      1'024);
  EXPECT_EQ(qwen3_4b.per_token, 147'456);
}

TEST(ReportedFaults, ConventionIsNamed) {
  MfuRequest request;
  request.counts = read_bare_counts("params=7e9");
  request.name = "params=7e9";
  request.tokens = Rational(1);
  const MfuResult r = answer_mfu(request);
  EXPECT_EQ(r.convention, "6nd");
  EXPECT_NE(mfu_text(r, Explain::kNo).find("convention 6nd"), std::string::npos);
}

// nanoGPT issue 464 and others: 1,979 TFLOP/s is the H100's sparse peak; 7B at 9,600 tokens/s on
// one device, T = 4096.
TEST(ReportedFaults, DensePeaks) {
  EXPECT_EQ(peak_flops_per_s(find_hardware("h100"), "bf16"), Rational(989400000000000));
  EXPECT_EQ(peak_flops_per_s(find_hardware("h100 pcie"), "bf16"), Rational(756500000000000));
  EXPECT_EQ(peak_flops_per_s(find_hardware("a100"), "bf16"), Rational(312000000000000));
}

// lightning issue 21743, torchtitan issue 668: the peak follows the element type, and an unknown
// chip is no H100.
TEST(ReportedFaults, PeakFollowsTheElementType) {
  const Hardware& h100 = find_hardware("h100");
  EXPECT_EQ(peak_flops_per_s(h100, "tf32"), Rational(494700000000000));
  EXPECT_NE(user_error_of([&] { peak_flops_per_s(find_hardware("a100"), "fp8"); }), "no error");
  EXPECT_NE(user_error_of([] { find_hardware("z9000"); }), "no error");
}

// verl issue 4929: an unknown model is an error, not MFU 0.
TEST(ReportedFaults, UnknownModelIsAnError) {
  EXPECT_NE(user_error_of([] { find_model("llama-9-8b"); }), "no error");
}

// P5, Megatron-DeepSpeed issue 99: a tied embedding counted on both pipeline stages.
TEST(ReportedFaults, TiedEmbeddingOnce) {
  const Params params = count_of({.model = "gpt2", .mode = "forward"}).cost.params;
  EXPECT_EQ(params.embedding(), Count(50257 * 768 + 1024 * 768));
}

// Linear-MoE issue 17, huggingface.js issue 2182: experts have their own width, and active means
// always + routed*k/E.
TEST(ReportedFaults, MoeParameters) {
  const Params params = count_of({.model = "qwen3-30b-a3b", .mode = "forward"}).cost.params;
  EXPECT_EQ(params.total, Count(30532122624));
  const Count routed = Count(48) * Count(128) * Count(3 * 2048 * 768);
  EXPECT_EQ(params.active, params.total - routed + Count::of(routed.value() * 8 / 128));
}

// jax issue 18672: the body of 24 repeated layers counted once.
TEST(ReportedFaults, RepeatedLayersCountEach) {
  const Count one = count_of({.model = "D=64,L=1,V=9,N=4", .remat = "full"}).cost.recompute.matmul;
  const Count many =
      count_of({.model = "D=64,L=24,V=9,N=4", .remat = "full"}).cost.recompute.matmul;
  EXPECT_EQ(many, Count(24) * one);
}

constexpr const char* kQwen35 =
    R"({"model_type": "qwen3_5_text", "full_attention_interval": 4, "head_dim": 256,
        "hidden_size": 5120, "intermediate_size": 17408, "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128, "linear_num_key_heads": 16, "linear_num_value_heads": 48,
        "linear_value_head_dim": 128, "num_attention_heads": 24, "num_hidden_layers": 64,
        "num_key_value_heads": 4, "vocab_size": 248320})";

// K7: 16 of 64 layers attend; the others carry a state, whatever the context: 48 heads of 128 x 128
// numbers in fp32, and three positions of the convolution's channels in bf16.
TEST(ReportedFaults, KvCacheOfHybridModels) {
  constexpr std::int64_t kToken = 16 * 2 * 4 * 256 * 2;
  constexpr std::int64_t kState = 48 * (48 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 48 * 128) * 2);
  EXPECT_EQ(cached(kQwen35, 262'144), (Cached{kToken, (std::int64_t{16} << 30) + kState}));
  EXPECT_EQ(cached(kQwen35, 1'024), (Cached{kToken, 1'024 * kToken + kState}));
}

// K15: the type of the cache's elements, not the model's: q8_0 has 34 bytes for 32 of them.
TEST(ReportedFaults, KvCacheOfItsOwnType) {
  CountRequest request;
  request.workload.mode = Mode::kDecode;
  request.workload.context = 262'144;
  request.kv = "q8_0";
  std::istringstream input(
      R"({"model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
          "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
          "vocab_size": 152064})");
  const CountResult result = count_model(read_model("-", input), request);
  EXPECT_EQ(result.kv_cache->bytes_total, Count(28 * 2 * 4 * 128 * 34 / 32) * Count(262'144));
}

// K16: an encoder keeps no cache.
TEST(ReportedFaults, EncodersKeepNoCache) {
  CountRequest request;
  request.workload.mode = Mode::kForward;
  request.workload.seq_len = 8'192;
  std::istringstream input(
      R"({"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "hidden_size": 1024,
          "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
          "max_position_embeddings": 8194, "type_vocab_size": 1, "vocab_size": 250002})");
  EXPECT_FALSE(count_model(read_model("-", input), request).kv_cache.has_value());
}

// P6, P7: experts have their own width; active is the total less the idle experts.
TEST(ReportedFaults, WidthAndShareOfExperts) {
  const CountResult r = [] {
    CountRequest request;
    request.workload.mode = Mode::kForward;
    request.workload.seq_len = 1;
    std::istringstream input(
        R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
            "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632,
            "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
            "num_experts": 60, "num_experts_per_tok": 4, "vocab_size": 151936})");
    return count_model(read_model("-", input), request);
  }();
  EXPECT_EQ(r.cost.params.total, Count(14'315'784'192));
  EXPECT_EQ(r.cost.params.total - r.cost.params.active, Count(24 * 56) * Count(3 * 2048 * 1408));
}

// P3, llmfit issue 622: 29.6 B for DeepSeek-R1, from the size of some of its files. Parts of a
// checkpoint say nothing of the whole; the configuration does.
TEST(ReportedFaults, ParametersOfDeepseekR1) {
  const Params params = count_of({.model = "deepseek-r1", .mode = "forward"}).cost.params;
  EXPECT_EQ(params.total, Count(671'026'419'200));
}

// P9, Megatron-LM issues 1345 and 1475: a coefficient of 2 for every norm, the last one forgotten,
// latent attention without its own. An RMS norm has D parameters, a layer norm 2 D.
TEST(ReportedFaults, ParametersOfNorms) {
  const auto norms = [](const char* model) {
    return count_of({.model = model, .mode = "forward"}).cost.params.of(Component::kNorm);
  };
  EXPECT_EQ(norms("D=64,L=3,V=9,N=4"), Count(64 * (2 * 3 + 1)));
  EXPECT_EQ(norms("D=64,L=3,V=9,N=4,norm=layer"), Count(2 * 64 * (2 * 3 + 1)));
  // 61 layers: two norms of the hidden state, one of each latent; and the last.
  EXPECT_EQ(norms("deepseek-v3"), Count(61 * (2 * 7168 + 1536 + 512) + 7168));
}

// K18, tt-xla issue 5861: the cache of latent attention budgeted as if tensor parallelism split it.
// Heads are split; the latent has none, so every device holds all of it, and nothing is moved.
TEST(ReportedFaults, LatentCacheIsOnEveryDevice) {
  const EinsumAnswer latent = answer_einsum({
      .expression = "q[B,N_{tp},C] * c[B,S,C] -> s[B,N_{tp},S]",
      .sizes = {"B=2", "N=128", "C=512", "S=4096"},
      .mesh = "tp=8"
  });
  const EinsumAnswer whole = answer_einsum({
      .expression = "q[B,N,C] * c[B,S,C] -> s[B,N,S]",
      .sizes = {"B=2", "N=16", "C=512", "S=4096"}
  });
  EXPECT_TRUE(latent.sharded.collectives.empty());
  // A device's share is a whole latent with an eighth of the heads.
  EXPECT_EQ(latent.sharded.bytes_per_device.eval(latent.sizes), whole.cost.bytes.eval(whole.sizes));
}

// K19, unified-cache-management issue 1217: the cache of one request divided by DP as well as by
// TP. Data parallelism splits requests, of which one cannot be split.
TEST(ReportedFaults, OneRequestIsNotSplitByDataParallelism) {
  EXPECT_EQ(user_error_of([] {
              answer_einsum({
                  .expression = "q[B_{dp},K_{tp},H] * k[B_{dp},S,K_{tp},H] -> s[B_{dp},K_{tp},S]",
                  .sizes = {"B=1", "K=8", "H=128", "S=4096"},
                  .mesh = "dp=2,tp=4"
              });
            }),
            "einsum: column 6: axis 'B' of size 1 is not divisible by mesh axis 'dp' of size 2 in "
            "q[B_{dp},K_{tp},H]");
}

// K21, llm-d-benchmark issues 402 and 454: a cache of all query heads for grouped queries, 5.5 GiB
// of activations for whatever model and length.
TEST(ReportedFaults, MemoryOfTheModelAtHand) {
  const auto cache = [](const char* model) {
    return count_of({.model = model, .mode = "decode", .context = 8192}).kv_cache->bytes_total;
  };
  EXPECT_EQ(cache("llama-3-8b"), Count(std::int64_t{8192} * 32 * 2 * 8 * 128 * 2));
  EXPECT_EQ(cache("deepseek-v3"), Count(std::int64_t{8192} * 61 * (512 + 64) * 2));
  const auto peak = [](const char* model, std::int64_t length) {
    return count_of({.model = model, .mode = "prefill", .seq = length, .context = length})
        .cost.activations.peak_bytes;
  };
  EXPECT_GT(peak("llama-3-8b", 8192), Count(3) * peak("llama-3-8b", 2048));
  EXPECT_GT(peak("llama-3-70b", 8192), peak("llama-3-8b", 8192));
}

}  // namespace
}  // namespace flopwise
