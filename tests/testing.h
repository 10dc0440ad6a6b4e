// What tests of several layers share: messages of errors, printing for GoogleTest, and random
// values for RapidCheck. A property reads
//
//   RC_GTEST_PROP(Count, AdditionCommutes, (Count a, Count b)) { RC_ASSERT(a + b == b + a); }
//
// and a value that is not to be tried is dropped by RC_PRE(condition).
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <ostream>
#include <string>

#include "flopwise/base/count.h"
#include "flopwise/base/error.h"
#include "flopwise/base/rational.h"

namespace flopwise {

// The message of the UserError that `body` throws; "no error" if it throws none.
template <typename Body>
std::string user_error_of(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

inline std::ostream& operator<<(std::ostream& out, Count value) {
  return out << value.str();
}
inline std::ostream& operator<<(std::ostream& out, const Rational& value) {
  return out << value.str();
}

}  // namespace flopwise

namespace rc {

// Of every size: mostly a few digits, and up to the last bit.
template <>
struct Arbitrary<flopwise::Count> {
  static Gen<flopwise::Count> arbitrary() {
    return gen::map(gen::tuple(gen::arbitrary<std::int64_t>(), gen::arbitrary<std::uint64_t>(),
                               gen::inRange(0, 4)),
                    [](const std::tuple<std::int64_t, std::uint64_t, int>& parts) {
                      const auto& [high, low, kind] = parts;
                      const flopwise::Int128 wide = (flopwise::Int128{high} << 64) + low;
                      return flopwise::Count::of(kind < 2 ? flopwise::Int128{high}
                                                          : wide >> (kind == 2 ? 32 : 0));
                    });
  }
};

template <>
struct Arbitrary<flopwise::Rational> {
  static Gen<flopwise::Rational> arbitrary() {
    return gen::map(gen::pair(gen::arbitrary<std::int64_t>(), gen::nonZero<std::int64_t>()),
                    [](const std::pair<std::int64_t, std::int64_t>& parts) {
                      return flopwise::Rational::of(parts.first, parts.second);
                    });
  }
};

}  // namespace rc
