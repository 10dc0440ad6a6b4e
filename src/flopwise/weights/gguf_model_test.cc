#include "flopwise/weights/gguf_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/gguf.h"
#include "flopwise/checkpoint/test_files.h"
#include "flopwise/weights/check.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using test_files::Gguf;

constexpr std::uint32_t kUint32 = 4;
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ4_0 = 2;

struct Size {
  std::string key;  // behind the architecture
  std::vector<std::uint32_t> values;
};
struct Made {
  std::string name;
  std::vector<std::uint64_t> dimensions;  // innermost first
  std::uint32_t type = kF32;
};

struct Description {
  std::string architecture = "llama";
  std::vector<Size> sizes;
  int tokens = 10;
  std::vector<Made> tensors;
};

Checkpoint checkpoint_of(const Description& file) {
  Gguf gguf;
  gguf.header(file.tensors.size(), file.sizes.size() + 2);
  gguf.key("general.architecture", kString).text(file.architecture);
  for (const Size& size : file.sizes) {
    gguf.key(file.architecture + "." + size.key, size.values.size() == 1 ? kUint32 : kArray);
    if (size.values.size() != 1) gguf.u32(kUint32).u64(size.values.size());
    for (const std::uint32_t value : size.values) gguf.u32(value);
  }
  gguf.key("tokenizer.ggml.tokens", kArray)
      .u32(kString)
      .u64(static_cast<std::uint64_t>(file.tokens));
  for (int i = 0; i < file.tokens; ++i) gguf.text("t");
  std::uint64_t offset = 0;
  for (const Made& made : file.tensors) {
    std::uint64_t elements = 1;
    for (const std::uint64_t size : made.dimensions) elements *= size;
    gguf.tensor(made.name, made.dimensions, made.type, offset);
    const std::uint64_t bytes = made.type == kF32 ? 4 * elements : elements / 32 * 18;
    offset += (bytes + 31) / 32 * 32;
  }
  gguf.data(offset);
  return read_gguf(MemorySource(gguf.bytes), "tiny.gguf");
}

// D=32, F=64, N=4, K=2, H=8, L=1, V=10.
Description llama() {
  return {"llama",
          {
              {"block_count", {1}},
              {"embedding_length", {32}},
              {"feed_forward_length", {64}},
              {"attention.head_count", {4}},
              {"attention.head_count_kv", {2}},
              {"rope.dimension_count", {8}},
              {"context_length", {16}},
          },
          10,
          {
              {"token_embd.weight", {32, 10}},
              {"rope_freqs.weight", {4}},
              {"blk.0.attn_norm.weight", {32}},
              {"blk.0.attn_q.weight", {32, 32}, kQ4_0},
              {"blk.0.attn_k.weight", {32, 16}, kQ4_0},
              {"blk.0.attn_v.weight", {32, 16}, kQ4_0},
              {"blk.0.attn_output.weight", {32, 32}, kQ4_0},
              {"blk.0.ffn_norm.weight", {32}},
              {"blk.0.ffn_gate.weight", {32, 64}, kQ4_0},
              {"blk.0.ffn_up.weight", {32, 64}, kQ4_0},
              {"blk.0.ffn_down.weight", {64, 32}, kQ4_0},
              {"output_norm.weight", {32}},
              {"output.weight", {32, 10}},
          }};
}
constexpr int kLlamaParams = 2 * 320 + 3 * 32 + 2 * 1024 + 2 * 512 + 3 * 2048;

WeightCheck check(const Description& file) {
  const Checkpoint checkpoint = checkpoint_of(file);
  return check_weights(model_of_gguf(checkpoint, "tiny.gguf"), checkpoint);
}

std::string error_of(const Description& file) {
  return user_error_of([&] { model_of_gguf(checkpoint_of(file), "tiny.gguf"); });
}

void drop(Description& file, const std::string& name) {
  std::erase_if(file.tensors, [&](const Made& made) { return made.name == name; });
  std::erase_if(file.sizes, [&](const Size& size) { return size.key == name; });
}

TEST(GgufModel, AllOfALlama) {
  const WeightCheck result = check(llama());
  EXPECT_EQ(result.verdict(), fmt::format("tiny.gguf: checkpoint and model agree, {} parameters",
                                          Count(kLlamaParams).grouped()));
  ASSERT_EQ(result.besides.size(), 1u);
  EXPECT_EQ(result.besides[0].what, "rotary frequency factors");
  EXPECT_EQ(result.held.at(2).pattern, "blk.{i}.attn_q.weight");
  EXPECT_EQ(result.held.at(2).type, "Q4_0");
  EXPECT_EQ(result.held.at(2).bytes, 1024 / 32 * 18);
}

TEST(GgufModel, WithoutAnOutputTheHeadIsTied) {
  Description file = llama();
  drop(file, "output.weight");
  EXPECT_EQ(check(file).params, kLlamaParams - 320);
  EXPECT_TRUE(check(file).agrees());
}

TEST(GgufModel, SizesOfEachLayerThatAgree) {
  Description file = llama();
  drop(file, "attention.head_count_kv");
  file.sizes.push_back({"attention.head_count_kv", {2, 2, 2}});
  EXPECT_TRUE(check(file).agrees());
  file.sizes.back().values = {2, 4, 2};
  EXPECT_EQ(error_of(file),
            "tiny.gguf: key 'llama.attention.head_count_kv': expected 2 for every layer, got 4 for "
            "layer 1");
}

TEST(GgufModel, BiasesAreThoseThatAreThere) {
  Description file = llama();
  for (const auto& [part, size] : {std::pair("q", 32), {"k", 16}, {"v", 16}, {"output", 32}}) {
    file.tensors.push_back(
        {fmt::format("blk.0.attn_{}.bias", part), {static_cast<std::uint64_t>(size)}});
  }
  EXPECT_TRUE(check(file).agrees());
  EXPECT_EQ(check(file).params, kLlamaParams + 96);
}

TEST(GgufModel, ExpertsStackedOrOneByOne) {
  Description file = llama();
  file.sizes.push_back({"expert_count", {3}});
  file.sizes.push_back({"expert_used_count", {2}});
  for (const char* part : {"gate", "up", "down"}) {
    drop(file, fmt::format("blk.0.ffn_{}.weight", part));
  }
  file.tensors.push_back({"blk.0.ffn_gate_inp.weight", {32, 3}});
  Description one_by_one = file;
  for (int e = 0; e < 3; ++e) {
    one_by_one.tensors.push_back({fmt::format("blk.0.ffn_gate.{}.weight", e), {32, 64}});
    one_by_one.tensors.push_back({fmt::format("blk.0.ffn_up.{}.weight", e), {32, 64}});
    one_by_one.tensors.push_back({fmt::format("blk.0.ffn_down.{}.weight", e), {64, 32}});
  }
  file.tensors.push_back({"blk.0.ffn_gate_exps.weight", {32, 64, 3}});
  file.tensors.push_back({"blk.0.ffn_up_exps.weight", {32, 64, 3}});
  file.tensors.push_back({"blk.0.ffn_down_exps.weight", {64, 32, 3}});
  for (const Description& one : {file, one_by_one}) {
    const WeightCheck result = check(one);
    EXPECT_TRUE(result.agrees()) << result.verdict();
    EXPECT_EQ(result.params, kLlamaParams + 2 * 3 * 2048 + 96);
  }
}

// ffn_up holds gate and up where there is no ffn_gate.
TEST(GgufModel, FusedMatricesOfPhi3) {
  Description file = llama();
  file.architecture = "phi3";
  for (const char* name : {"attn_q", "attn_k", "attn_v", "ffn_gate", "ffn_up"}) {
    drop(file, fmt::format("blk.0.{}.weight", name));
  }
  file.tensors.push_back({"blk.0.attn_qkv.weight", {32, 64}, kQ4_0});
  file.tensors.push_back({"blk.0.ffn_up.weight", {32, 128}, kQ4_0});
  const WeightCheck result = check(file);
  EXPECT_TRUE(result.agrees()) << result.verdict();
  EXPECT_EQ(result.params, kLlamaParams);
}

TEST(GgufModel, RefusedMetadata) {
  Description no_width = llama();
  drop(no_width, "feed_forward_length");
  EXPECT_EQ(error_of(no_width), "tiny.gguf: key 'llama.feed_forward_length': missing");
  Description unknown = llama();
  unknown.architecture = "lama";
  EXPECT_EQ(error_of(unknown),
            "tiny.gguf: key 'general.architecture': unknown 'lama', nearest: llama, mamba, gemma");
  Gguf text;
  text.header(0, 2);
  text.key("general.architecture", kString).text("llama");
  text.key("llama.block_count", kString).text("32");
  const Checkpoint checkpoint = read_gguf(MemorySource(text.data(0).bytes), "t.gguf");
  EXPECT_EQ(user_error_of([&] { model_of_gguf(checkpoint, "t.gguf"); }),
            "t.gguf: key 'llama.block_count': expected a whole number, got a string");
  Gguf bare;
  bare.header(0, 0);
  const Checkpoint nothing = read_gguf(MemorySource(bare.data(0).bytes), "t.gguf");
  EXPECT_EQ(user_error_of([&] { model_of_gguf(nothing, "t.gguf"); }),
            "t.gguf: key 'general.architecture': expected a text, since it names the family");
}

}  // namespace
}  // namespace flopwise
