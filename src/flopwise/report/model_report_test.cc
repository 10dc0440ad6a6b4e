#include "flopwise/report/model_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/testing.h"

namespace flopwise {
namespace {

using testing::HasSubstr;

TEST(ModelReport, EveryModelHasARow) {
  const nlohmann::json json = nlohmann::json::parse(models_json().str());
  ASSERT_EQ(json["models"].size(), model_catalog().size());
  for (std::size_t i = 0; i < model_catalog().size(); ++i) {
    EXPECT_EQ(json["models"][i]["name"], model_catalog()[i].name);
    EXPECT_THAT(models_text(), HasSubstr(model_catalog()[i].name));
  }
}

TEST(ModelReport, AColumnMayBeAdded) {
  std::vector<ModelColumn> columns = model_columns();
  columns.push_back({"answer", "answer", "to everything", [](const Model&) { return Count(42); }});
  EXPECT_THAT(models_text(Explain::kNo, columns), HasSubstr("answer"));
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

TEST(ModelReport, ExplainsEveryParameterTensor) {
  const std::string text = model_text(find_model("llama-3-8b"), Explain::kYes);
  EXPECT_THAT(text, HasSubstr("D*N*H = 4096*32*128"));
  EXPECT_THAT(text, HasSubstr("8,030,261,248"));
}

}  // namespace
}  // namespace flopwise
