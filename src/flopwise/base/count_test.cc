#include "flopwise/base/count.h"

#include "tests/testing.h"

namespace flopwise {
namespace {

const Count kMax = Count::of(kInt128Max);
const Count kMin = Count::of(kInt128Min);

TEST(Count, PrintsEveryDigit) {
  EXPECT_EQ(Count().str(), "0");
  EXPECT_EQ(Count(-7).str(), "-7");
  EXPECT_EQ(kMax.str(), "170141183460469231731687303715884105727");
  EXPECT_EQ(kMin.str(), "-170141183460469231731687303715884105728");
}

TEST(Count, GroupsOfThree) {
  EXPECT_EQ(Count(0).grouped(), "0");
  EXPECT_EQ(Count(999).grouped(), "999");
  EXPECT_EQ(Count(-999).grouped(), "-999");
  EXPECT_EQ(Count(1000).grouped(), "1,000");
  EXPECT_EQ(Count(17'442'541'568).grouped(), "17,442,541,568");
  EXPECT_EQ(Count(-123'456).grouped(), "-123,456");
}

TEST(Count, TrainingFlopsBeyond64Bits) {
  // Llama 3 405B: 6 * 405e9 parameters * 15.6e12 tokens.
  EXPECT_EQ((Count(6) * Count(405'000'000'000) * Count(15'600'000'000'000)).str(),
            "37908000000000000000000000");
}

TEST(Count, OverflowThrows) {
  EXPECT_THROW(kMax + 1, OverflowError);
  EXPECT_THROW(kMin - 1, OverflowError);
  EXPECT_THROW(kMin * -1, OverflowError);
  EXPECT_EQ(kMax + -1, Count::of(kInt128Max - 1));
  EXPECT_EQ(user_error_of([] { return kMax + 1; }),
            "170141183460469231731687303715884105727 + 1 does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return kMin - 1; }),
            "-170141183460469231731687303715884105728 - 1 does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return kMax * 2; }),
            "170141183460469231731687303715884105727 * 2 does not fit into 128 bits");
}

TEST(Count, ParseAcceptsDigitsOnly) {
  EXPECT_EQ(parse_count("-170141183460469231731687303715884105728"), kMin);
  EXPECT_EQ(parse_count("+170141183460469231731687303715884105727"), kMax);
  EXPECT_EQ(parse_count("007"), Count(7));
  for (const char* text : {"", "-", "+", "1 ", " 1", "1.0", "1e3", "--1", "0x1"}) {
    EXPECT_EQ(user_error_of([&] { return parse_count(text); }),
              std::string("expected a whole number, got '") + text + "'");
  }
  for (const char* text :
       {"170141183460469231731687303715884105728", "-170141183460469231731687303715884105729",
        "1000000000000000000000000000000000000000"}) {
    EXPECT_THROW(parse_count(text), OverflowError);
    EXPECT_EQ(user_error_of([&] { return parse_count(text); }),
              std::string("'") + text + "' does not fit into 128 bits");
  }
}

RC_GTEST_PROP(CountProperty, DigitsRoundTrip, (Count value)) {
  RC_ASSERT(parse_count(value.str()) == value);
}

RC_GTEST_PROP(CountProperty, GroupedIsDigitsWithCommas, (Count value)) {
  std::string text = value.grouped();
  std::erase(text, ',');
  RC_ASSERT(text == value.str());
}

RC_GTEST_PROP(CountProperty, SixtyFourBitsNeverOverflow,
              (std::int64_t a, std::int64_t b, std::int64_t c)) {
  RC_ASSERT(Count(a) * (Count(b) + c) == Count(a) * b + Count(a) * c);
}

RC_GTEST_PROP(CountProperty, SubtractionUndoesAddition, (Count a, Count b)) {
  try {
    RC_ASSERT(a + b - b == a);
  } catch (const OverflowError&) {
    RC_ASSERT((a > 0) == (b > 0));  // only values of one sign add up to more
  }
}

}  // namespace
}  // namespace flopwise
