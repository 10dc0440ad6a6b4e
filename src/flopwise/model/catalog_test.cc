#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/base/names.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

TEST(Catalog, EveryRowIsReadAndCarriesItsSource) {
  EXPECT_GE(model_catalog().size(), 120U);
  const std::set<std::string> leaves_something_out = {
      "dbrx",   "deepseek_v2", "deepseek_v3", "deepseek_v32", "gpt_oss",
      "phimoe", "qwen2_5_vl",  "qwen3_vl",    "qwen3_vl_moe"};
  const std::set<std::string> of_any_length = {"mt5", "mamba"};
  for (const CatalogModel& row : model_catalog()) {
    SCOPED_TRACE(row.name);
    const Model model = find_model(row.name);
    EXPECT_EQ(model.name, row.name);
    EXPECT_EQ(model.source, row.source);
    EXPECT_FALSE(row.source.empty());
    EXPECT_FALSE(row.publisher.empty());
    EXPECT_TRUE(model.context > 0 || of_any_length.count(model.family) > 0);
    // Fields with a default are given; what is left unsaid is only what no field could say.
    EXPECT_TRUE(model.assumptions.empty() || leaves_something_out.count(model.family) > 0)
        << model.assumptions.front();
  }
}

// As they are looked up: without case, spaces, dashes and underscores. Names are lower case, and an
// alias that is an id on the Hub has its owner.
TEST(Catalog, NamesAndAliasesAreUnique) {
  std::map<std::string, std::string_view> owners;
  for (const CatalogModel& row : model_catalog()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-"),
              std::string_view::npos);
    EXPECT_TRUE(owners.emplace(normalised_name(row.name), row.name).second);
    for (const std::string_view alias : row.aliases) {
      EXPECT_TRUE(owners.emplace(normalised_name(alias), row.name).second)
          << alias << " is " << owners[normalised_name(alias)];
      EXPECT_EQ(find_model(alias).name, row.name);
    }
  }
}

// One publisher's rows stand together: the table has one heading for them.
TEST(Catalog, RowsOfAPublisherStandTogether) {
  std::set<std::string_view> seen;
  std::string_view current;
  for (const CatalogModel& row : model_catalog()) {
    if (row.publisher == current) continue;
    current = row.publisher;
    EXPECT_TRUE(seen.insert(current).second) << current;
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
      {"lama-3-8b",   "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-7b, llama-30b" },
      {"QWEN3-9B",    "unknown model 'QWEN3-9B', nearest: qwen3-4b, qwen3-8b, qwen-7b"      },
      {"TinyLama",    "unknown model 'TinyLama', nearest: tinyllama-1.1b, t5-small, t5-base"},
      {"mixtrl 8x7b",
       "unknown model 'mixtrl 8x7b', nearest: mixtral-8x7b, mixtral-8x22b, mistral-7b"      },
      {"",            "unknown model '', nearest: dbrx, gpt2, yi-6b"                        },
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
