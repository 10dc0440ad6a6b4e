#include "flopwise/report/model_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::HasSubstr;

TEST(ModelReport, EveryModelHasARow) {
  const nlohmann::json json = nlohmann::json::parse(models_json().str());
  const std::string text = models_text();
  ASSERT_EQ(json["models"].size(), model_catalog().size());
  for (std::size_t i = 0; i < model_catalog().size(); ++i) {
    const std::string name(model_catalog()[i].name);
    EXPECT_EQ(json["models"][i]["name"], name);
    EXPECT_THAT(text, HasSubstr("\n  " + name + " "));
  }
}

TEST(ModelReport, AColumnMayBeAdded) {
  std::vector<ModelColumn> columns = model_columns();
  const auto answer = [](const ModelFacts&) { return Count(42); };
  columns.push_back({"answer", "answer", "to everything", answer});
  EXPECT_THAT(models_text(columns), HasSubstr("answer"));
  const Model gpt2 = find_model("gpt2");
  EXPECT_EQ(nlohmann::json::parse(model_json(gpt2, columns).str())["answer"], 42);
  EXPECT_THAT(model_text(gpt2, Explain::kNo, columns), HasSubstr("to everything"));
}

TEST(ModelReport, OneModel) {
  const nlohmann::json json = nlohmann::json::parse(model_json(find_model("llama-3-8b")).str());
  EXPECT_EQ(json["name"], "llama-3-8b");
  EXPECT_EQ(json["layers"], 32);
  EXPECT_EQ(json["d_model"], 4096);
  EXPECT_EQ(json["layer_groups"][0]["kv_heads"], 8);
  EXPECT_EQ(json["layer_groups"][0]["d_ff"], 14336);
  EXPECT_THAT(model_text(find_model("llama-3-8b")), HasSubstr("llama-3-8b"));
  EXPECT_THAT(model_text(find_model("t5-11b")), HasSubstr("encoder-decoder"));
}

// Bytes of a token's 16-bit cache: 2 * 2 * K * H for each layer that keeps growing.
TEST(ModelReport, CacheInTheLongRun) {
  struct Row {
    const char* model;
    std::int64_t written;
    std::int64_t long_run;
  };
  const Row rows[] = {
      {"llama-3-8b",    4 * 8 * 128 * 32,   4 * 8 * 128 * 32  },
      {"mistral-7b",    4 * 8 * 128 * 32,   0                 }, // a window in every layer
      {"gemma-2-27b",   4 * 16 * 128 * 46,  4 * 16 * 128 * 23 }, // in every other one
      {"gpt-oss-20b",   4 * 8 * 64 * 24,    4 * 8 * 64 * 12   },
      {"llama-4-scout", 4 * 8 * 128 * 48,   4 * 8 * 128 * 12  }, // chunks in three of four
      {"deepseek-v3",   70272,              70272             },
      {"t5-11b",        4 * 128 * 128 * 24, 4 * 128 * 128 * 24},
      {"bert-base",     0,                  0                 },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    const Model model = find_model(row.model);
    const ModelFacts facts = facts_of(model);
    EXPECT_EQ(facts.cache_bytes, Count(row.written));
    EXPECT_EQ(facts.long_run_cache_bytes, Count(row.long_run));
  }
}

TEST(ModelReport, ExplainsEveryParameterTensor) {
  const std::string text = model_text(find_model("llama-3-8b"), Explain::kYes);
  EXPECT_THAT(text, HasSubstr("D*N*H = 4096*32*128"));
  EXPECT_THAT(text, HasSubstr("8,030,261,248"));
}

}  // namespace
}  // namespace flopwise
