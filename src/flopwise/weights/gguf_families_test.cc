// Each architecture of llama.cpp that is read: its keys become a model whose parameters are the
// file's tensors.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/gguf.h"
#include "flopwise/checkpoint/test_files.h"
#include "flopwise/weights/any_model.h"
#include "flopwise/weights/check.h"
#include "flopwise/weights/gguf_model.h"
#include "flopwise/weights/gguf_rows.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using made::GgufRow;
using made::kGgufRows;
using test_files::Gguf;

std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::vector<std::string> list;
    for (std::string word; words >> word;) list.push_back(word);
    if (!list.empty()) lines.push_back(list);
  }
  return lines;
}

void add_value(const std::string& key, const std::string& value, Gguf& gguf) {
  if (value == "true" || value == "false") {
    gguf.key(key, 7).number(value == "true" ? 1 : 0, 1);
  } else if (value.find('.') != std::string::npos) {
    const float number = std::stof(value);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    gguf.key(key, 6).u32(bits);
  } else {
    gguf.key(key, 4).u32(std::stoul(value));
  }
}

struct Parts {
  std::vector<std::vector<std::string>> keys;
  std::vector<std::vector<std::string>> tensors;
  int tokens = 11;  // 0: no list of them
};

Parts parts_of(const GgufRow& row) {
  return {words_of(row.keys), words_of(row.tensors)};
}

std::string bytes_of(const std::string& architecture, const Parts& parts) {
  Gguf gguf;
  gguf.header(parts.tensors.size(), parts.keys.size() + (parts.tokens > 0 ? 2 : 1));
  gguf.key("general.architecture", 8).text(architecture);
  for (const auto& key : parts.keys) add_value(architecture + "." + key.at(0), key.at(1), gguf);
  if (parts.tokens > 0) {
    gguf.key("tokenizer.ggml.tokens", 9).u32(8).u64(parts.tokens);
    for (int i = 0; i < parts.tokens; ++i) gguf.text("t");
  }
  std::uint64_t offset = 0;
  for (const auto& tensor : parts.tensors) {
    std::vector<std::uint64_t> dimensions;
    std::uint64_t elements = 1;
    for (std::size_t i = tensor.size(); i-- > 1;) {
      dimensions.push_back(std::stoul(tensor[i]));
      elements *= dimensions.back();
    }
    gguf.tensor(tensor.at(0), dimensions, 0, offset);
    offset += (4 * elements + 31) / 32 * 32;
  }
  return gguf.data(offset).bytes;
}

Checkpoint checkpoint_of(const std::string& architecture, const Parts& parts) {
  return read_gguf(MemorySource(bytes_of(architecture, parts)), "tiny.gguf");
}

const GgufRow& row_called(const std::string& name) {
  for (const GgufRow& row : kGgufRows) {
    if (row.name == name) return row;
  }
  throw InternalError("no row " + name);
}

TEST(GgufFamilies, EveryTensorIsHeld) {
  for (const GgufRow& row : kGgufRows) {
    SCOPED_TRACE(row.name);
    const Checkpoint checkpoint = checkpoint_of(row.architecture, parts_of(row));
    const Model model = model_of_gguf(checkpoint, "tiny.gguf");
    EXPECT_EQ(model.family, row.model_type);
    const WeightCheck result = check_weights(model, checkpoint);
    EXPECT_TRUE(result.agrees()) << result.verdict()
                                 << (result.extra.empty() ? "" : " " + result.extra[0].name)
                                 << (result.missing.empty() ? "" : " " + result.missing[0].name);
    EXPECT_EQ(result.stored_elements, result.params + row.copies);
  }
}

TEST(GgufFamilies, NoTensorCanBeLeftOut) {
  for (const GgufRow& row : kGgufRows) {
    SCOPED_TRACE(row.name);
    Parts parts = parts_of(row);
    const Model model = model_of_gguf(checkpoint_of(row.architecture, parts), "tiny.gguf");
    parts.tensors.erase(parts.tensors.begin() + 2);
    EXPECT_FALSE(check_weights(model, checkpoint_of(row.architecture, parts)).agrees());
  }
}

// What stands in no key is said.
TEST(GgufFamilies, WhatTheTensorsSayIsNoted) {
  const auto notes = [](const GgufRow& row, const Parts& parts) {
    return model_of_gguf(checkpoint_of(row.architecture, parts), "tiny.gguf").assumptions;
  };
  const GgufRow& qwen2 = row_called("qwen2");
  EXPECT_EQ(notes(qwen2, parts_of(qwen2)).back(),
            "the head is the token embedding: there is no output.weight");
  Parts without_tokens = parts_of(qwen2);
  without_tokens.tokens = 0;
  EXPECT_EQ(notes(qwen2, without_tokens).at(1),
            "vocabulary: the rows of token_embd.weight, no key says it");
  const GgufRow& moe = row_called("qwen2moe without widths");
  EXPECT_EQ(notes(moe, parts_of(moe)).back(),
            "shared_expert_intermediate_size: from the shape of blk.0.ffn_up_shexp.weight, no key "
            "says it");
  const GgufRow& gpt2 = row_called("gpt2");
  EXPECT_EQ(notes(gpt2, parts_of(gpt2)).back(),
            "output.weight is a copy of the token embedding, to which the head of every gpt2 is "
            "tied");
  Parts bare = parts_of(qwen2);
  bare.tensors.clear();
  EXPECT_EQ(notes(qwen2, bare).back(),
            "no tensors: head and biases are as the family has them by default");
}

TEST(GgufFamilies, Refused) {
  const auto error = [](const GgufRow& row, const Parts& parts) {
    return user_error_of(
        [&] { model_of_gguf(checkpoint_of(row.architecture, parts), "tiny.gguf"); });
  };
  const GgufRow& deepseek = row_called("deepseek2, absorbed, with a correction bias");
  Parts parts = parts_of(deepseek);
  std::erase_if(parts.keys, [](const auto& key) { return key[0] == "rope.dimension_count"; });
  EXPECT_EQ(error(deepseek, parts), "tiny.gguf: key 'deepseek2.rope.dimension_count': missing");
  parts.keys.push_back({"rope.dimension_count", "10"});
  EXPECT_EQ(error(deepseek, parts),
            "tiny.gguf: key 'deepseek2.attention.key_length': expected more than "
            "rope.dimension_count = 10, got 10");
  const GgufRow& bloom = row_called("bloom");
  parts = parts_of(bloom);
  std::erase_if(parts.keys, [](const auto& key) { return key[0] == "feed_forward_length"; });
  parts.keys.push_back({"feed_forward_length", "63"});
  EXPECT_EQ(error(bloom, parts),
            "tiny.gguf: key 'bloom.feed_forward_length': expected 64, as every bloom has, got 63");
  const GgufRow& mamba = row_called("mamba");
  parts = parts_of(mamba);
  std::erase_if(parts.keys, [](const auto& key) { return key[0] == "ssm.inner_size"; });
  EXPECT_EQ(error(mamba, parts), "tiny.gguf: key 'mamba.ssm.inner_size': missing");
  parts = parts_of(row_called("llama"));
  parts.tokens = 0;
  parts.tensors.clear();
  EXPECT_EQ(error(row_called("llama"), parts),
            "tiny.gguf: key 'llama.vocab_size': missing, and so are tokenizer.ggml.tokens and "
            "token_embd.weight");
}

// ---- wherever a model is read ------------------------------------------------------------------

class AnyModel : public testing::Test {
 protected:
  std::string folder(const std::string& name) const {
    const std::string path =
        testing::TempDir() + "flopwise_any_model_" + std::to_string(getpid()) + "/" + name;
    std::filesystem::create_directories(path);
    return path;
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static Model read(const std::string& path, const std::string& as = "") {
    std::istringstream no_input;
    return read_any_model(path, no_input, as);
  }
};

TEST_F(AnyModel, AFileAFolderAndParts) {
  const GgufRow& llama = row_called("llama");
  Parts parts = parts_of(llama);
  const std::string whole = folder("whole");
  write(whole + "/m.gguf", bytes_of("llama", parts));
  write(whole + "/no_name", bytes_of("llama", parts));
  const Model model = read(whole + "/m.gguf");
  EXPECT_EQ(model.d_model, 16);
  EXPECT_EQ(model.vocab, 11);
  EXPECT_EQ(read(whole + "/no_name").decoder, model.decoder);
  std::filesystem::remove(whole + "/no_name");
  EXPECT_EQ(read(whole).decoder, model.decoder);
  EXPECT_EQ(user_error_of([&] { read(whole + "/m.gguf", "llama"); }).substr(0, 10), "--as llama");

  // The first part has the keys, the second some of the tensors.
  const std::string split = folder("split");
  Parts second;
  second.tokens = 0;
  second.tensors = {parts.tensors.back()};
  parts.tensors.pop_back();
  write(split + "/m-00001-of-00002.gguf", bytes_of("llama", parts));
  write(split + "/m-00002-of-00002.gguf", bytes_of("llama", second));
  EXPECT_EQ(read(split + "/m-00002-of-00002.gguf").head, model.head);
}

TEST_F(AnyModel, AWeightsFileStandsForItsConfig) {
  const std::string path = folder("weights");
  write(path + "/model.safetensors.index.json", R"({"weight_map": {"a": "b.safetensors"}})");
  EXPECT_EQ(user_error_of([&] { read(path + "/model.safetensors.index.json"); }),
            path +
                "/model.safetensors.index.json: names tensors and no model, expected a config.json "
                "beside it");
  write(path + "/config.json",
        R"({"model_type": "llama", "hidden_size": 16, "intermediate_size": 24, "vocab_size": 11,
            "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1})");
  EXPECT_EQ(read(path + "/model.safetensors.index.json").d_model, 16);
  EXPECT_EQ(read(path).d_model, 16);
  write(path + "/m.gguf", bytes_of("mamba", parts_of(row_called("mamba"))));
  EXPECT_EQ(read(path).family, "llama");  // the config.json is what a folder is read by
}

}  // namespace
}  // namespace flopwise
