#include "flopwise/base/units.h"

#include <cmath>
#include <limits>

#include "tests/testing.h"

namespace flopwise {
namespace {

TEST(Units, QuantitiesAreExact) {
  struct Row {
    const char* text;
    Rational value;
  };
  const Row rows[] = {
      {"0", 0},
      {"-3", -3},
      {"+3", 3},
      {"8k", 8000},
      {"8K", 8000},
      {"8Ki", 8192},
      {"2.79M", 2'790'000},
      {"14.8T", 14'800'000'000'000},
      {"671e9", 671'000'000'000},
      {"671B", 671'000'000'000},
      {"671G", 671'000'000'000},
      {"1.513e15", 1'513'000'000'000'000},
      {"1.5E3", 1500},
      {"1E", 1'000'000'000'000'000'000},
      {"2P", 2'000'000'000'000'000},
      {"1Mi", 1 << 20},
      {"1.5Gi", 3 << 29},
      {"1Ti", std::int64_t{1} << 40},
      {"1Pi", std::int64_t{1} << 50},
      {"0.1", Rational::of(1, 10)},
      {".5", Rational::of(1, 2)},
      {"1e-3k", 1},
      {"0e999999999999999999999", 0},
      {"1000000000000000000000000000000000000000000e-42", 1},
      {"1e-30E", Rational::of(1, 1'000'000'000'000)},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_quantity(row.text, "tokens"), row.value) << row.text;
}

TEST(Units, WhatIsNotAQuantity) {
  for (const char* text :
       {"",    "-",  ".",   "1.", "1..2", "1.2.3", "nan", "inf",  "-Infinity", "k",   "1kk",
        "1Ei", "1m", "1 k", " 1", "1 ",   "1e",    "1e+", "0x10", "1,000",     "--1", "ten"}) {
    EXPECT_EQ(user_error_of([&] { return parse_quantity(text, "tokens"); }),
              std::string("tokens: expected a quantity such as 14.8T or 8Ki, got '") + text + "'");
  }
}

TEST(Units, QuantitiesBeyond128Bits) {
  for (const char* text : {"1e999999999", "1e99999999999999999999", "1e39", "1e30E", "1e-39",
                           "1e-999999999", "170141183460469231731687303715884105728"}) {
    EXPECT_THROW(parse_quantity(text, "tokens"), OverflowError);
    EXPECT_EQ(user_error_of([&] { return parse_quantity(text, "tokens"); }),
              std::string("tokens: '") + text + "' does not fit into 128 bits");
  }
  EXPECT_THROW(parse_quantity(std::string(1'000'000, '1'), "tokens"), OverflowError);
}

TEST(Units, AxisSizes) {
  EXPECT_EQ(parse_axis_size("1", "B"), 1);
  EXPECT_EQ(parse_axis_size("1.5k", "B"), 1500);
  EXPECT_EQ(parse_axis_size("1Ti", "B"), kMaxAxisSize);
  for (const char* text : {"0", "-1", "1.5", "1099511627777", "1e99", "x", ""}) {
    EXPECT_EQ(user_error_of([&] { return parse_axis_size(text, "B"); }),
              std::string("B: expected a whole number of 1 ... 2^40, got '") + text + "'");
  }
}

TEST(Units, Bytes) {
  EXPECT_EQ(parse_bytes("80GiB", "memory"), Count(85'899'345'920));
  EXPECT_EQ(parse_bytes("80 GiB", "memory"), Count(85'899'345'920));
  EXPECT_EQ(parse_bytes("80Gi", "memory"), Count(85'899'345'920));
  EXPECT_EQ(parse_bytes("80 GB", "memory"), Count(80'000'000'000));
  EXPECT_EQ(parse_bytes("80G", "memory"), Count(80'000'000'000));
  EXPECT_EQ(parse_bytes("85899345920", "memory"), Count(85'899'345'920));
  EXPECT_EQ(parse_bytes("512B", "memory"), Count(512));  // bytes, not 512e9
  EXPECT_EQ(parse_bytes("1.5KiB", "memory"), Count(1536));
  EXPECT_EQ(parse_bytes("1e3 B", "memory"), Count(1000));
  EXPECT_EQ(parse_bytes("0", "memory"), Count(0));
  for (const char* text : {"", "GB", "1.5", "-1GB", "80  GB", "80 ", "80GBB", "80GiBs", "inf"}) {
    EXPECT_EQ(user_error_of([&] { return parse_bytes(text, "memory"); }),
              std::string("memory: expected a whole number of bytes such as 80GB or 80GiB, got '") +
                  text + "'");
  }
  EXPECT_EQ(user_error_of([] { return parse_bytes("1e99GB", "memory"); }),
            "memory: '1e99GB' does not fit into 128 bits");
}

TEST(Units, FormatSi) {
  EXPECT_EQ(format_si(0, "B"), "0 B");
  EXPECT_EQ(format_si(0, ""), "0");
  EXPECT_EQ(format_si(1e3, "B"), "1.000 kB");
  EXPECT_EQ(format_si(17.442541568e9, ""), "17.44 G");
  EXPECT_EQ(format_si(1.074e-3, "s"), "1.074 ms");
  EXPECT_EQ(format_si(2.5e-6, "s"), "2.500 \u00b5s");
  EXPECT_EQ(format_si(-3.35e12, "B/s"), "-3.350 TB/s");
  EXPECT_EQ(format_si(999.94, "B"), "999.9 B");
  EXPECT_EQ(format_si(999.96, "B"), "1.000 kB");
  EXPECT_EQ(format_si(99.996, ""), "100.0");
  EXPECT_EQ(format_si(9.9996, ""), "10.00");
  EXPECT_EQ(format_si(0.99996, "s"), "1.000 s");
  EXPECT_EQ(format_si(3.8e25, "FLOP"), "38.00 YFLOP");
  EXPECT_EQ(format_si(3.8e30, "FLOP"), "3.800e+30 FLOP");
  EXPECT_EQ(format_si(3.8e-30, "s"), "3.800e-30 s");
  EXPECT_EQ(format_si(std::numeric_limits<double>::infinity(), "s"), "inf s");
}

TEST(Units, FormatBinary) {
  EXPECT_EQ(format_binary(0), "0 B");
  EXPECT_EQ(format_binary(1000), "1000 B");
  EXPECT_EQ(format_binary(1024), "1.000 KiB");
  EXPECT_EQ(format_binary(0x1p33), "8.000 GiB");
  EXPECT_EQ(format_binary(1023.6 * 1024), "1.000 MiB");
  EXPECT_EQ(format_binary(1010 * 1024), "1010 KiB");
}

TEST(Units, FormatPercent) {
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(1), "100.0 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
  EXPECT_EQ(format_percent(0.0001), "< 0.1 %");
}

RC_GTEST_PROP(UnitsProperty, WholeNumbersRoundTrip, (Count value)) {
  RC_ASSERT(parse_quantity(value.str(), "n") == Rational(value));
}

RC_GTEST_PROP(UnitsProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    parse_quantity(text, "n");
    parse_bytes(text, "n");
  } catch (const UserError& error) {
    RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace flopwise
