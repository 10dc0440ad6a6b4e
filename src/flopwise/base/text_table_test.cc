#include "flopwise/base/text_table.h"

#include "tests/testing.h"

namespace flopwise {
namespace {

TextTable sample() {
  TextTable table({
      {"op", Align::kLeft},
      {"FLOPs"   },
      {"share"}
  });
  table.add_row({"mlp.up", "17.44 G", "58.1 %"});
  table.add_row({"norm|\u00b5", "1", ""});
  table.add_rule();
  table.add_row({"total, all", "17.44 G", "say \"1\""});
  return table;
}

TEST(TextTable, Text) {
  EXPECT_EQ(sample().str(),
            "op            FLOPs    share\n"
            "mlp.up      17.44 G   58.1 %\n"
            "norm|\u00b5            1\n"
            "----------------------------\n"
            "total, all  17.44 G  say \"1\"\n");
}

TEST(TextTable, Markdown) {
  EXPECT_EQ(sample().str(TableStyle::kMarkdown),
            "| op         |   FLOPs |   share |\n"
            "| ---------- | ------: | ------: |\n"
            "| mlp.up     | 17.44 G |  58.1 % |\n"
            "| norm\\|\u00b5    |       1 |         |\n"
            "| total, all | 17.44 G | say \"1\" |\n");
}

TEST(TextTable, Csv) {
  EXPECT_EQ(sample().str(TableStyle::kCsv),
            "op,FLOPs,share\n"
            "mlp.up,17.44 G,58.1 %\n"
            "norm|\u00b5,1,\n"
            "\"total, all\",17.44 G,\"say \"\"1\"\"\"\n");
}

TEST(TextTable, WithoutTitlesThereIsNoHead) {
  TextTable table({
      {"", Align::kLeft},
      {"" }
  });
  table.add_row({"peak", "989.5 T"});
  EXPECT_EQ(table.str(), "peak  989.5 T\n");
  EXPECT_EQ(table.str(TableStyle::kCsv), "peak,989.5 T\n");
}

TEST(TextTable, ARowHasACellForEveryColumn) {
  TextTable table({{"a"}, {"b"}});
  EXPECT_THROW(table.add_row({"1"}), InternalError);
}

}  // namespace
}  // namespace flopwise
