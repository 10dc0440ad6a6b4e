#include "flopwise/base/error.h"

#include <fmt/format.h>

#include <iomanip>  // std::quoted must not be taken for ours

#include "tests/testing.h"

namespace flopwise {
namespace {

TEST(Error, QuotedIsOneShortLine) {
  EXPECT_EQ(quoted("bf16"), "'bf16'");
  EXPECT_EQ(quoted(std::string("a\nb\tc\rd")), "'a\\nb\\tc\\rd'");
  EXPECT_EQ(quoted("\x1b[31m\x7f"), "'\\x1b[31m\\x7f'");
  EXPECT_EQ(quoted("\u00b5s"), "'\u00b5s'");
  EXPECT_EQ(quoted("\u009b"), "'\\u009b'");                // a control character of two bytes
  EXPECT_EQ(quoted("\xff\xc3"), "'\\xff\\xc3'");           // not UTF-8
  EXPECT_EQ(quoted("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");  // a surrogate
  EXPECT_EQ(quoted(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quoted(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

TEST(Error, WhatEndsALineOrTurnsItsDirectionIsEscaped) {
  EXPECT_EQ(one_line("a\u2028b\u2029c"), "a\\u2028b\\u2029c");
  EXPECT_EQ(one_line("\u202agpt\u202e2tpg\u202c"), "\\u202agpt\\u202e2tpg\\u202c");
  EXPECT_EQ(one_line("\u2066x\u2069\u200e\u200f\u061c"), "\\u2066x\\u2069\\u200e\\u200f\\u061c");
  // Their neighbours are letters and punctuation.
  EXPECT_EQ(one_line("\u2027\u202f\u2065\u206a\u00a0\U0001F600"),
            "\u2027\u202f\u2065\u206a\u00a0\U0001F600");
}

TEST(Error, OneLineKeepsTheLength) {
  EXPECT_EQ(one_line(std::string(100, 'x') + "\n"), std::string(100, 'x') + "\\n");
}

TEST(Error, CheckNamesConditionAndPlace) {
  const int line = __LINE__ + 2;
  try {
    FLOPWISE_CHECK(1 + 1 == 3, "arithmetic");
    FAIL() << "no error";
  } catch (const InternalError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("internal error: arithmetic (")) << message;
    EXPECT_TRUE(message.ends_with(fmt::format("error_test.cc:{}: 1 + 1 == 3 does not hold)", line)))
        << message;
  }
}

TEST(Error, ContextKeepsTheType) {
  EXPECT_EQ(in_context("model 'x'", [] { return 3; }), 3);
  EXPECT_EQ(user_error_of([] { in_context("a", [] { throw UserError("b"); }); }), "a: b");
  EXPECT_THROW(in_context("a", [] { throw OverflowError("b"); }), OverflowError);
}

}  // namespace
}  // namespace flopwise
