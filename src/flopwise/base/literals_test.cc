#include "flopwise/base/literals.h"

#include <gtest/gtest.h>

namespace flopwise {
namespace {

using namespace literals;

TEST(Literals, AreExact) {
  static_assert(989.4_T == 989'400'000'000'000);
  static_assert(1'248_T == 1'248'000'000'000'000);
  static_assert(3.125_G == 3'125'000'000);
  static_assert(230_MB == 230'000'000);
  static_assert(40_GB == 40'000'000'000);
  static_assert(46068_MiB == 48'305'799'168);
  static_assert(0.5_GiB == std::int64_t{1} << 29);
  static_assert((0.8262_exact).digits == 8262 && (0.8262_exact).scale == 10'000);
  static_assert((2_exact).digits == 2 && (2_exact).scale == 1);
}

}  // namespace
}  // namespace flopwise
