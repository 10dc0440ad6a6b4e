#include <gtest/gtest.h>

#include <set>

#include "flopwise/base/error.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

TEST(Catalog, EveryRowIsReadAndCarriesItsSource) {
  for (const CatalogModel& row : model_catalog()) {
    SCOPED_TRACE(row.name);
    const Model model = find_model(row.name);
    EXPECT_EQ(model.name, row.name);
    EXPECT_EQ(model.source, row.source);
    EXPECT_FALSE(row.source.empty());
    EXPECT_GT(model.context, 0);
    EXPECT_TRUE(model.assumptions.empty()) << model.assumptions.front();
  }
}

TEST(Catalog, NamesAndAliasesAreUnique) {
  std::set<std::string> names;
  for (const CatalogModel& row : model_catalog()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    for (const std::string& alias : row.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

TEST(Catalog, NamesIgnoreCaseAndSeparators) {
  struct Row {
    const char* text;
    const char* name;
  };
  const Row rows[] = {
      {"Llama 3 8B",                 "llama-3-8b"   },
      {"llama_3_8b",                 "llama-3-8b"   },
      {"meta-llama/meta-llama-3-8b", "llama-3-8b"   },
      {"gpt-2",                      "gpt2"         },
      {"GPT3",                       "gpt-3-175b"   },
      {"Qwen/Qwen3-30B-A3B",         "qwen3-30b-a3b"},
      {"mistral-7b-v0.1",            "mistral-7b"   },
      {"bert-base-uncased",          "bert-base"    },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(find_model(row.text).name, row.name);
  }
}

TEST(Catalog, UnknownNamesGetTheNearest) {
  struct Row {
    const char* name;
    const char* message;
  };
  const Row rows[] = {
      {"lama-3-8b", "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-2-7b, llama-3-70b"},
      {"QWEN3-9B",  "unknown model 'QWEN3-9B', nearest: qwen3-8b, qwen3-0.6b, qwen3-30b-a3b" },
      {"",          "unknown model '', nearest: gpt2, t5-11b, gpt2-xl"                       },
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    try {
      find_model(row.name);
      ADD_FAILURE() << "no error";
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(), row.message);
    }
  }
}

}  // namespace
}  // namespace flopwise
