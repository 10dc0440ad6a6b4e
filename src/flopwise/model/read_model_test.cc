#include "flopwise/model/read_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"

namespace flopwise {
namespace {

const char* const kConfig =
    R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 3,
        "num_attention_heads": 2, "vocab_size": 7})";

class ReadModel : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / ("flopwise_" + std::string(test->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string error_of(const std::string& text, const std::string& input = "") const {
    std::istringstream stream(input);
    try {
      read_model(text, stream);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }

  std::filesystem::path folder_;
  std::istringstream nothing_;
};

TEST_F(ReadModel, File) {
  const std::string file = write("my-model.json", kConfig);
  const Model model = read_model(file, nothing_);
  EXPECT_EQ(model.name, file);
  EXPECT_EQ(model.source, file);
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.d_model, 8);
}

TEST_F(ReadModel, Directory) {
  const std::string file = write("config.json", kConfig);
  EXPECT_EQ(read_model(folder_.string(), nothing_).name, file);
}

TEST_F(ReadModel, StandardInput) {
  std::istringstream stream(kConfig);
  EXPECT_EQ(read_model("-", stream).name, "standard input");
}

TEST_F(ReadModel, LettersAndCatalog) {
  EXPECT_EQ(read_model("D=8,L=1,V=7,N=2", nothing_).family, "letters");
  EXPECT_EQ(read_model("LLAMA-3-8B", nothing_).name, "llama-3-8b");
}

TEST_F(ReadModel, Errors) {
  EXPECT_EQ(error_of(folder_.string()),
            "'" + folder_.string() + "': expected a config.json in this directory");
  EXPECT_EQ(error_of("missing.json"), "'missing.json': no such file");
  EXPECT_EQ(error_of("lama-3-8b"),
            "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-7b, llama-30b");
  EXPECT_EQ(error_of("D=8,L=1"), "letters: V is missing, expected a whole number of 1 ... 2^40");
  EXPECT_EQ(error_of("-", "[1]"), "standard input: expected a JSON object, got an array");
  EXPECT_EQ(error_of("-", std::string(kMaxJsonBytes + 1, ' ')),
            "standard input: expected at most 16 MiB, got more");
  const std::string file = write("text.json", "\"llama\"");
  EXPECT_EQ(error_of(file), file + ": expected a JSON object, got 'llama'");
}

TEST_F(ReadModel, RefusesTruncatedAndDeepInput) {
  EXPECT_NE(error_of("-", R"({"model_type": "llama", "hidden)").find("standard input: line 1"),
            std::string::npos);
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  EXPECT_NE(error_of("-", deep).find("nested deeper than 64"), std::string::npos);
}

}  // namespace
}  // namespace flopwise
