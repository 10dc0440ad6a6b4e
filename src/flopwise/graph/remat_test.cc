#include "flopwise/graph/remat.h"

#include <gtest/gtest.h>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

TEST(Remat, PoliciesByName) {
  EXPECT_EQ(parse_remat("none").kind, RematKind::kNone);
  EXPECT_EQ(parse_remat("full").kind, RematKind::kFull);
  const RematPolicy list = parse_remat("save:attention.q,mlp.up");
  EXPECT_EQ(list.kind, RematKind::kList);
  EXPECT_EQ(list.names, (std::vector<std::string>{"attention.q", "mlp.up"}));
  for (const char* name : {"none", "attention", "matmuls", "block", "full", "save:a,b"}) {
    EXPECT_EQ(describe(parse_remat(name)), name);
  }
}

TEST(Remat, UnknownPolicyListsTheChoices) {
  for (const char* wrong : {"selective", "", "save:", "Full"}) {
    try {
      parse_remat(wrong);
      FAIL() << wrong;
    } catch (const UserError& error) {
      EXPECT_EQ(
          std::string(error.what()),
          "--remat: expected none, attention, matmuls, block, full or save:NAME,NAME..., got " +
              quoted(wrong));
    }
  }
}

TEST(Remat, SaveListNamesEachTensorOnce) {
  const auto error_of = [](const char* text) {
    try {
      parse_remat(text);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of("save:a,b,a"), "--remat save: expected each tensor once, got 'a' again");
  // An empty name is a name, which no layer has.
  EXPECT_EQ(parse_remat("save:a,").names, (std::vector<std::string>{"a", ""}));
}

}  // namespace
}  // namespace flopwise
