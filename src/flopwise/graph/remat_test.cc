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

}  // namespace
}  // namespace flopwise
