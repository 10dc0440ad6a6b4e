#include "flopwise/expr/compiled.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace flopwise {
namespace {

const std::array<std::string, 2> kVariables = {"dp", "tp"};

double value(const char* text, double dp, double tp) {
  const Sizes sizes = {
      {"B", 6   },
      {"D", 4096},
      {"E", 64  },
      {"k", 8   }
  };
  return CompiledExpr(parse_expr(text), kVariables, sizes)(std::array<double, 2>{dp, tp});
}

TEST(CompiledExpr, EqualsTheFormula) {
  for (const char* text : {"2*B*D^2/(dp*tp)", "B*D + D/tp - 7", "min(B*D,dp)*tp^3",
                           "ceil_div(D,3*tp)", "floor_div(D,dp) + mod(D,dp*tp)", "tri(D - dp)",
                           "E*(1 - pow(1 - k/E,2*dp))", "D/(B + dp)", "max(dp,tp)/(D + tp)^2"}) {
    const Sizes all = {
        {"B",  6   },
        {"D",  4096},
        {"E",  64  },
        {"k",  8   },
        {"dp", 5   },
        {"tp", 7   }
    };
    const double expected = parse_expr(text).eval_double(all);
    EXPECT_NEAR(value(text, 5, 7), expected, 1e-13 * expected) << text;
  }
}

TEST(CompiledExpr, WholeResultsAreExact) {
  EXPECT_EQ(value("D*D*B/(dp*tp)", 3, 2), 16777216.0);
  EXPECT_EQ(value("0", 3, 2), 0.0);
  EXPECT_TRUE(CompiledExpr().is_zero());
}

TEST(CompiledExpr, NamesAMissingSize) {
  EXPECT_THROW(value("B*F", 1, 1), std::exception);
}

}  // namespace
}  // namespace flopwise
