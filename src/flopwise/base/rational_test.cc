#include "flopwise/base/rational.h"

#include "tests/testing.h"

namespace flopwise {
namespace {

const Rational kMax = Count::of(kInt128Max);
const Rational kMin = Count::of(kInt128Min);
const Rational kTiny = Rational::of(1, kInt128Max);

TEST(Rational, LowestTerms) {
  EXPECT_EQ(Rational::of(6, -4).str(), "-3/2");
  EXPECT_EQ(Rational::of(-6, -3).str(), "2");
  EXPECT_EQ(Rational::of(0, -7).den(), 1);
  EXPECT_EQ(Rational::of(kInt128Min, kInt128Min), Rational(1));
  EXPECT_EQ(Rational::of(kInt128Min, -2).num(), Int128{1} << 126);
  EXPECT_EQ(Rational::of(2, kInt128Min).str(), "-1/85070591730234615865843651857942052864");
}

TEST(Rational, HalfOfATriangle) {
  EXPECT_EQ(Rational::of(1, 2) * 3 * 4, Rational(6));
  EXPECT_EQ(Rational::of(1, 6) + Rational::of(1, 10), Rational::of(4, 15));
  EXPECT_EQ(Rational::of(1, 6) - Rational::of(1, 6), Rational(0));
  EXPECT_EQ(Rational::of(3, 4) / Rational::of(-9, 8), Rational::of(-2, 3));
}

TEST(Rational, OnlyTheResultHasToFit) {
  EXPECT_EQ(kMax * Rational::of(2, kInt128Max), Rational(2));
  EXPECT_EQ(kMin / kMin, Rational(1));
  EXPECT_EQ(kMin / 2 + kMin / 2, kMin);
  EXPECT_EQ(kMin - kMin, Rational(0));
  EXPECT_EQ(0 - (kMin + 1), kMax);
  // 2^126/3 + (2^126 + 1)/3: the numerators add up to 2^127 + 1, which fits once 3 is taken out.
  const Int128 big = Int128{1} << 126;
  EXPECT_EQ(Rational::of(big, 3) + Rational::of(big + 1, 3),
            Rational(Count::of((kInt128Max - 1) / 3 + 1)));
  const Rational third = Rational::of(kInt128Max - 2, 3);
  EXPECT_EQ(third - Rational::of(-1, 3) - Rational::of(1, 3), third);
}

TEST(Rational, OverflowThrows) {
  EXPECT_EQ(user_error_of([] { return kMax + 1; }),
            "170141183460469231731687303715884105727 + 1 does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return kMax * Rational::of(-3, 2); }),
            "170141183460469231731687303715884105727 * (-3/2) does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return kTiny / 2; }),
            "(1/170141183460469231731687303715884105727) / 2 does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return -kMin; }),
            "-(-170141183460469231731687303715884105728) does not fit into 128 bits");
  EXPECT_EQ(user_error_of([] { return Rational::of(kInt128Min, -1); }),
            "-170141183460469231731687303715884105728/-1 does not fit into 128 bits");
  EXPECT_THROW(kTiny + Rational::of(1, 2), OverflowError);
  EXPECT_THROW(kMin - kMax, OverflowError);
}

TEST(Rational, DivisionByZero) {
  EXPECT_EQ(user_error_of([] { return Rational::of(3, 0); }), "3/0: division by 0");
  EXPECT_EQ(user_error_of([] { return Rational::of(1, 2) / 0; }), "(1/2) / 0: division by 0");
  EXPECT_EQ(user_error_of([] { return pow(Rational(0), -1); }), "1 / 0: division by 0");
}

TEST(Rational, Powers) {
  EXPECT_EQ(pow(Rational::of(-2, 3), 3), Rational::of(-8, 27));
  EXPECT_EQ(pow(Rational::of(-2, 3), -3), Rational::of(-27, 8));
  EXPECT_EQ(pow(Rational(0), 0), Rational(1));
  EXPECT_EQ(pow(Rational(2), 126), Rational(Count::of(Int128{1} << 126)));
  EXPECT_EQ(pow(Rational(-2), 127), kMin);
  EXPECT_THROW(pow(Rational(2), 127), OverflowError);
  EXPECT_EQ(pow(Rational(-1), INT64_MIN), Rational(1));
  EXPECT_THROW(pow(Rational(3), INT64_MAX), OverflowError);
}

TEST(Rational, FloorAndCeil) {
  EXPECT_EQ(floor(Rational::of(7, 2)), Rational(3));
  EXPECT_EQ(ceil(Rational::of(7, 2)), Rational(4));
  EXPECT_EQ(floor(Rational::of(-7, 2)), Rational(-4));
  EXPECT_EQ(ceil(Rational::of(-7, 2)), Rational(-3));
  EXPECT_EQ(floor(kMin), kMin);
  EXPECT_EQ(ceil(kMax), kMax);
}

TEST(Rational, ComparesBeyond128Bits) {
  EXPECT_LT(Rational::of(kInt128Max - 1, kInt128Max), Rational(1));
  EXPECT_LT(Rational::of(kInt128Max - 2, kInt128Max - 1), Rational::of(kInt128Max - 1, kInt128Max));
  EXPECT_LT(kMin, -kTiny);
  EXPECT_GT(kTiny, Rational(0));
  EXPECT_LT(Rational::of(-1, 2), Rational::of(-1, 3));
}

TEST(Rational, ToDouble) {
  EXPECT_EQ(Rational::of(-1, 4).to_double(), -0.25);
}

// 64-bit parts: sums have 129-bit numerators at most, so these overflow rarely, and then throw.
template <typename Property>
void unless_overflow(Property&& property) {
  try {
    property();
  } catch (const OverflowError&) {
  }
}

RC_GTEST_PROP(RationalProperty, SumByDefinition, (Rational a, Rational b)) {
  unless_overflow([&] {
    const Int128 num = checked_add(checked_mul(a.num(), b.den()), checked_mul(b.num(), a.den()));
    RC_ASSERT(a + b == Rational::of(num, checked_mul(a.den(), b.den())));
  });
}

RC_GTEST_PROP(RationalProperty, ProductByDefinition, (Rational a, Rational b)) {
  RC_ASSERT(a * b == Rational::of(a.num() * b.num(), a.den() * b.den()));
  RC_PRE(b != Rational(0));
  RC_ASSERT(a / b == Rational::of(a.num() * b.den(), a.den() * b.num()));
}

RC_GTEST_PROP(RationalProperty, SubtractionUndoesAddition, (Rational a, Rational b)) {
  unless_overflow([&] { RC_ASSERT(a + b - b == a); });
}

// Of any two numbers of 128 bits; the sums go through 256 bits.
RC_GTEST_PROP(RationalProperty, WideSums, (Count n, Count m)) {
  RC_PRE(n != Count(0) && m != Count(0) && n > Count::of(kInt128Min));
  unless_overflow([&] {
    const Rational a = Rational::of(m.value(), n.value());
    RC_ASSERT(a + (1 - a) == Rational(1));
    RC_ASSERT((a < 1) == (1 - a > 0));
  });
}

RC_GTEST_PROP(RationalProperty, OrderIsThatOfTheDifference, (Rational a, Rational b)) {
  unless_overflow([&] { RC_ASSERT((a < b) == ((a - b).num() < 0)); });
}

RC_GTEST_PROP(RationalProperty, FloorIsTheLargestBelow, (Rational a)) {
  RC_ASSERT(floor(a) <= a);
  RC_ASSERT(a < floor(a) + 1);
  RC_ASSERT(ceil(a) == -floor(-a));
}

}  // namespace
}  // namespace flopwise
