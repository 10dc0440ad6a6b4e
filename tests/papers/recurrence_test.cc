// What layers that carry a state cost and keep, as counted by hand.
#include <fmt/format.h>

#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

constexpr std::int64_t kTokens = 64;  // B = 1

CountResult counted(const char* config, Mode mode, std::int64_t length) {
  CountRequest request;
  request.workload.mode = mode;
  if (mode == Mode::kDecode) {
    request.workload.context = length;
  } else {
    request.workload.seq_len = length;
  }
  std::istringstream input(config);
  return count_model(read_model("-", input), request);
}

// D = 32, inner width 80, 8 states, rank 4, 3 taps.
constexpr const char* kMamba =
    R"({"model_type": "mamba", "hidden_size": 32, "intermediate_size": 80, "state_size": 8,
        "time_step_rank": 4, "conv_kernel": 3, "num_hidden_layers": 2, "vocab_size": 50})";

// D = 32, 3 key heads of 4, 6 value heads of 5, 3 taps, one layer, and one of attention.
constexpr const char* kDelta =
    R"({"model_type": "qwen3_5_text", "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 2, "full_attention_interval": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 8, "linear_num_key_heads": 3,
        "linear_num_value_heads": 6, "linear_key_head_dim": 4, "linear_value_head_dim": 5,
        "linear_conv_kernel_dim": 3, "vocab_size": 50})";

// 6 heads of 5 in 2 groups, 7 states, 3 taps; a layer alone.
constexpr const char* kMamba2 =
    R"({"model_type": "nemotron_h", "hidden_size": 32, "hybrid_override_pattern": "M",
        "num_hidden_layers": 1, "mamba_num_heads": 6, "mamba_head_dim": 5, "n_groups": 2,
        "ssm_state_size": 7, "conv_kernel": 3, "vocab_size": 50})";

constexpr const char* kShort =
    R"({"model_type": "lfm2", "hidden_size": 32, "block_ff_dim": 48,
        "block_auto_adjust_ff_dim": false, "num_hidden_layers": 1, "full_attn_idxs": [],
        "layer_types": ["conv"], "num_attention_heads": 4, "num_key_value_heads": 2,
        "conv_L_cache": 3, "vocab_size": 50})";

// A product and a multiply-add to change an element of the state, a multiply-add to read it.
TEST(Recurrences, StatesOfMamba) {
  const Flops f = counted(kMamba, Mode::kForward, kTokens).cost.forward;
  EXPECT_EQ(f.attention, Count(2 * kTokens * 5 * 80 * 8));
  EXPECT_EQ(f.attention, f.attention_dense);
  const std::int64_t projections = 2 * 32 * 80 + 80 * (4 + 2 * 8) + 4 * 80 + 80 * 32;
  const std::int64_t head = 32 * 50;
  EXPECT_EQ(f.matmul, Count(kTokens * (2 * 2 * (projections + 3 * 80) + 2 * head)));
}

TEST(Recurrences, StatesOfMamba2) {
  const Flops f = counted(kMamba2, Mode::kForward, kTokens).cost.forward;
  EXPECT_EQ(f.attention, Count(kTokens * 5 * 6 * 5 * 7));
  const std::int64_t mixed = 6 * 5 + 2 * 2 * 7;
  const std::int64_t projections = 32 * (6 * 5 + mixed + 6) + 6 * 5 * 32;
  EXPECT_EQ(f.matmul, Count(kTokens * 2 * (projections + 3 * mixed + 32 * 50)));
}

// Decay 1, what is found 2, the change added 2, read 2; beside 36 causal pairs a head of attention.
TEST(Recurrences, StatesOfDeltaNets) {
  constexpr std::int64_t kShortText = 8;
  const Flops f = counted(kDelta, Mode::kForward, kShortText).cost.forward;
  EXPECT_EQ(f.attention, Count(kShortText * 7 * 6 * 4 * 5 + 4 * 36 * 4 * 8));
}

TEST(Recurrences, ShortConvolution) {
  const Flops f = counted(kShort, Mode::kForward, kTokens).cost.forward;
  EXPECT_EQ(f.attention, Count(0));
  const std::int64_t layer = 3 * 32 * 32 + 3 * 32 + 32 * 32 + 3 * 32 * 48;
  EXPECT_EQ(f.matmul, Count(kTokens * 2 * (layer + 32 * 50)));
}

// di*N fp32 numbers and (Q-1)*di of bf16, whatever the context; the last of what went before.
TEST(Recurrences, StateKeptBetweenCalls) {
  for (const std::int64_t context : {1, 10, 100'000}) {
    EXPECT_EQ(counted(kMamba, Mode::kDecode, context).kv_cache->bytes_total,
              Count(2 * (80 * 8 * 4 + 2 * 80 * 2)));
    EXPECT_EQ(counted(kMamba, Mode::kDecode, context).kv_cache->bytes_per_token, Count(0));
  }
  EXPECT_EQ(counted(kMamba2, Mode::kDecode, 9).kv_cache->state_bytes,
            Count(6 * 5 * 7 * 4 + 2 * (6 * 5 + 2 * 2 * 7) * 2));
  EXPECT_EQ(counted(kDelta, Mode::kDecode, 9).kv_cache->state_bytes,
            Count(6 * 4 * 5 * 4 + 2 * (2 * 3 * 4 + 6 * 5) * 2));
  EXPECT_EQ(counted(kShort, Mode::kDecode, 9).kv_cache->state_bytes, Count(2 * 32 * 2));
}

// Each step of decoding reads the state and writes it.
TEST(Recurrences, StateIsReadAndWritten) {
  const CountResult r = counted(kMamba, Mode::kDecode, 9);
  EXPECT_EQ(r.cost.bytes.kv_cache, Count(2) * r.kv_cache->state_bytes);
}

// States never leave the kernel: of two layers with 1000 states more, B and C are written and read,
// and decay rates once.
TEST(Recurrences, StatesStayInsideTheKernel) {
  const auto activations = [](int states) {
    std::string config = kMamba;
    const std::string field = "\"state_size\": 8";
    config.replace(config.find(field), field.size(), fmt::format("\"state_size\": {}", states));
    return counted(config.c_str(), Mode::kForward, kTokens).cost.bytes.activations;
  };
  EXPECT_EQ(activations(1008) - activations(8),
            Count(2 * (4 * 1000 * kTokens * 2 + 2 * 1000 * 80 * 2)));
}

// The backward pass is twice the forward pass, and makes the states again: of 5 operations the 3
// that make them.
TEST(Recurrences, BackwardOfStates) {
  const Cost cost = counted(kMamba, Mode::kTrain, kTokens).cost;
  EXPECT_EQ(cost.recompute.attention, Count(2 * kTokens * 3 * 80 * 8));
  EXPECT_EQ(cost.recompute.matmul, Count(0));
  // Of each product two gradients: of the decay's 1 each, but where they are summed over an axis 2.
  // kept: d before 1, d decay 1; added: d input 2 (over Ns), d b 2 (over Di); read: d h 1, d c 2.
  EXPECT_EQ(cost.backward.attention, Count(2 * kTokens * 9 * 80 * 8));
}

}  // namespace
}  // namespace flopwise
