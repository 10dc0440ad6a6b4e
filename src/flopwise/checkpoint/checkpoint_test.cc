#include "flopwise/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "flopwise/checkpoint/test_files.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

namespace fs = std::filesystem;

using test_files::Gguf;
using test_files::good_gguf;
using test_files::good_safetensors;
using test_files::safetensors;

// A folder of its own for each test, gone at its end.
class CheckpointFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              fmt::format("flopwise_{}_{}", getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  // The message without the folder's path.
  std::string error_of(const std::string& name) const {
    std::string message = user_error_of([&] { read_checkpoint(path(name)); });
    const std::string folder = folder_.string();
    for (std::size_t at = 0; (at = message.find(folder)) != std::string::npos;) {
      message.replace(at, folder.size(), "DIR");
    }
    return message;
  }
  void write_shards(const std::string& index) const {
    write("m-1.safetensors",
          safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
    write("m-2.safetensors",
          safetensors(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
    write("model.safetensors.index.json", index);
  }

  fs::path folder_;
};

TEST_F(CheckpointFiles, OneFileOrItsFolder) {
  write("model.safetensors", good_safetensors());
  write("config.json", "{}");
  for (const char* name : {"model.safetensors", ""}) {
    const Checkpoint checkpoint = read_checkpoint(path(name));
    EXPECT_EQ(checkpoint.format, CheckpointFormat::kSafetensors);
    EXPECT_EQ(checkpoint.tensors.size(), 3u);
    EXPECT_EQ(checkpoint.files[0].name, "model.safetensors");
  }
  // A GGUF file is known by its first bytes, whatever its name.
  write("weights", good_gguf());
  EXPECT_EQ(read_checkpoint(path("weights")).format, CheckpointFormat::kGguf);
}

TEST_F(CheckpointFiles, ShardsBehindAnIndex) {
  write_shards(
      R"({"metadata": {"total_size": 11.0}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  for (const char* name : {"model.safetensors.index.json", ""}) {
    const Checkpoint checkpoint = read_checkpoint(path(name));
    ASSERT_EQ(checkpoint.tensors.size(), 2u);
    EXPECT_EQ(checkpoint.tensors[1].file, "m-2.safetensors");
    EXPECT_EQ(checkpoint.files.size(), 2u);
    EXPECT_EQ(std::get<Count>(checkpoint.find_metadata("total_size")->value), Count(11));
    EXPECT_TRUE(checkpoint.notes.empty());
  }
}

TEST_F(CheckpointFiles, WhatAnIndexClaimsIsNoted) {
  write_shards(
      R"({"metadata": {"total_size": 12}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  EXPECT_EQ(read_checkpoint(path("")).notes,
            std::vector<std::string>{"metadata.total_size is 12, the tensors have 11 bytes"});
  write(
      "m-2.safetensors",
      safetensors(
          R"({"b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"c":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}})",
          9));
  EXPECT_EQ(read_checkpoint(path("")).notes,
            std::vector<std::string>{"the files hold 3 tensors, weight_map names 2 of them"});
}

TEST_F(CheckpointFiles, WrongIndexes) {
  struct Row {
    const char* weight_map;
    const char* message;
  };
  const Row rows[] = {
      {R"({"a": "m-3.safetensors"})",
       "DIR/model.safetensors.index.json: DIR/m-3.safetensors: No such file or directory"    },
      {R"({"a": "m-2.safetensors", "b": "m-1.safetensors"})",
       "DIR/model.safetensors.index.json: weight_map: tensor 'a' is not in 'm-2.safetensors' but "
       "in 'm-1.safetensors'"                                                                },
      {R"({"a": "m-1.safetensors", "c": "m-1.safetensors"})",
       "DIR/model.safetensors.index.json: weight_map: tensor 'c' is not in 'm-1.safetensors'"},
      {R"({"a": "../m-1.safetensors"})",
       "DIR/model.safetensors.index.json: weight_map: 'a': expected the name of a .safetensors "
       "file in the same folder, got '../m-1.safetensors'"                                   },
  };
  for (const Row& row : rows) {
    write_shards(fmt::format(R"({{"weight_map": {}}})", row.weight_map));
    EXPECT_EQ(error_of("model.safetensors.index.json"), row.message);
  }
  write("m-2.safetensors",
        safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
  write("model.safetensors.index.json",
        R"({"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}})");
  EXPECT_EQ(error_of(""),
            "DIR/model.safetensors.index.json: tensor 'a': stored in 'm-1.safetensors' and in "
            "'m-2.safetensors', expected in one file");
}

std::string gguf_part(int number, int count, int tensors, const std::string& tensor) {
  Gguf file;
  file.header(1, 4).key("general.name", 8).text(tensor);
  file.key("split.no", 2).number(static_cast<std::uint64_t>(number), 2);
  file.key("split.count", 2).number(static_cast<std::uint64_t>(count), 2);
  file.key("split.tensors.count", 5).u32(static_cast<std::uint64_t>(tensors));
  return file.tensor(tensor, {5}, 0, 0).data(20).bytes;
}

TEST_F(CheckpointFiles, GgufInParts) {
  write("m-00001-of-00002.gguf", gguf_part(0, 2, 2, "a"));
  EXPECT_EQ(error_of(""), "DIR/m-00002-of-00002.gguf: No such file or directory");
  write("m-00002-of-00002.gguf", gguf_part(1, 2, 2, "b"));
  for (const char* name : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf", ""}) {
    const Checkpoint checkpoint = read_checkpoint(path(name));
    EXPECT_EQ(checkpoint.format, CheckpointFormat::kGguf);
    ASSERT_EQ(checkpoint.tensors.size(), 2u);
    EXPECT_EQ(checkpoint.tensors[1].file, "m-00002-of-00002.gguf");
    EXPECT_EQ(std::get<std::string>(checkpoint.find_metadata("general.name")->value), "a");
  }
  write("m-00002-of-00002.gguf", gguf_part(0, 2, 2, "b"));
  EXPECT_EQ(error_of(""), "DIR/m-00002-of-00002.gguf: key 'split.no': 0, expected 1");
  write("m-00002-of-00002.gguf", gguf_part(1, 3, 2, "b"));
  EXPECT_EQ(error_of(""), "DIR/m-00002-of-00002.gguf: key 'split.count': 3, expected 2");
  write("m-00002-of-00002.gguf", gguf_part(1, 2, 2, "a"));
  EXPECT_EQ(error_of(""),
            "DIR/m-00001-of-00002.gguf: tensor 'a': stored in 'm-00001-of-00002.gguf' and in "
            "'m-00002-of-00002.gguf', expected in one file");
  write("m-00001-of-00002.gguf", gguf_part(0, 2, 3, "a"));
  write("m-00002-of-00002.gguf", gguf_part(1, 2, 3, "b"));
  EXPECT_EQ(error_of(""), "DIR/m-00001-of-00002.gguf: key 'split.tensors.count': 3, expected 2");
  write("part.gguf", gguf_part(1, 2, 3, "b"));
  EXPECT_EQ(error_of("part.gguf"),
            "DIR/part.gguf: is one of 2 parts (split.count), expected a name such as "
            "NAME-00001-of-00002.gguf");
}

TEST_F(CheckpointFiles, WrongPaths) {
  EXPECT_EQ(error_of("absent.safetensors"), "DIR/absent.safetensors: No such file or directory");
  EXPECT_EQ(error_of(""),
            "DIR/: expected one checkpoint (model.safetensors, its index, or one .gguf), got 0 "
            "indexes, 0 .safetensors and 0 .gguf");
  write("a.gguf", good_gguf());
  write("b.gguf", good_gguf());
  EXPECT_EQ(error_of(""),
            "DIR/: expected one checkpoint (model.safetensors, its index, or one .gguf), got 0 "
            "indexes, 0 .safetensors and 2 .gguf");
  fs::create_directory(path("folder.gguf"));
  EXPECT_EQ(error_of("folder.gguf"),
            "DIR/folder.gguf: expected one checkpoint (model.safetensors, its index, or one "
            ".gguf), got 0 indexes, 0 .safetensors and 0 .gguf");
  write("x\n.safetensors", "abc");
  EXPECT_EQ(error_of("x\n.safetensors"),
            "DIR/x\\n.safetensors: is the text 'abc', expected a safetensors file (a link kept as "
            "text?)");
  EXPECT_EQ(user_error_of([] { read_checkpoint("/dev/null"); }),
            "/dev/null: expected a regular file");
}

TEST_F(CheckpointFiles, NamesOfAnIndexAlone) {
  const std::string index = R"({"metadata": {"total_size": 11},
      "weight_map": {"b": "m-2.safetensors", "a": "m-1.safetensors"}})";
  write("model.safetensors.index.json", index);
  const Checkpoint alone = read_checkpoint_names(path("model.safetensors.index.json"));
  EXPECT_FALSE(alone.has_shapes);
  ASSERT_EQ(alone.tensors.size(), 2u);
  EXPECT_EQ(alone.tensors[0].name, "a");
  EXPECT_EQ(alone.tensors[1].file, "m-2.safetensors");
  EXPECT_NE(alone.find_metadata("total_size"), nullptr);
  // One shard of two is a checkpoint that has lost the other.
  write("m-1.safetensors",
        safetensors(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
  EXPECT_THROW(read_checkpoint_names(path("model.safetensors.index.json")), UserError);
  write_shards(index);
  EXPECT_TRUE(read_checkpoint_names(path("model.safetensors.index.json")).has_shapes);
}

TEST_F(CheckpointFiles, NamesOfAPyTorchIndex) {
  write("pytorch_model.bin.index.json", R"({"weight_map": {"a": "m-1.bin"}})");
  write("m-1.bin", "");
  EXPECT_FALSE(read_checkpoint_names(folder_.string()).has_shapes);
  EXPECT_EQ(
      error_of("pytorch_model.bin.index.json"),
      "DIR/pytorch_model.bin.index.json: weight_map: 'a': expected the name of a .safetensors "
      "file in the same folder, got 'm-1.bin'");
  write("pytorch_model.bin.index.json", R"({"weight_map": {"a": "../m-1.bin"}})");
  EXPECT_THROW(read_checkpoint_names(folder_.string()), UserError);
}

}  // namespace
}  // namespace flopwise
