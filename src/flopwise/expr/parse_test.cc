#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/expr/expr.h"

namespace flopwise {
namespace {

std::string error_of(std::string_view text) {
  try {
    (void)parse_expr(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Parse, Precedence) {
  struct Row {
    const char* text;
    const char* same;
  };
  constexpr Row kRows[] = {
      {"1 + 2*3",          "7"          },
      {"2 - 3 - 4",        "-5"         },
      {"24/2/3",           "4"          },
      {"24/2*3",           "36"         },
      {"-2^2",             "-4"         },
      {"(-2)^2",           "4"          },
      {"--2",              "2"          },
      {"2*-3",             "-6"         },
      {"2 - -3",           "5"          },
      {"2*3^2",            "18"         },
      {"1/T^2",            "T^-2"       },
      {"T^(-2)",           "1/(T*T)"    },
      {"T^(2)",            "T*T"        },
      {" \t\r\n T  *\nS ", "S*T"        },
      {"B*T/X*Y",          "B*T*Y/X"    },
      {"B*T/(X*Y)",        "B*T/X/Y"    },
      {"min*(T + 1)",      "min*T + min"},
      {"tri (T)",          "tri(T)"     },
      {"((((T))))",        "T"          },
      {"a_1'*a_1'",        "a_1'^2"     },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(parse_expr(row.text).str(), parse_expr(row.same).str());
  }
}

TEST(Parse, ADivisorStaysInItsFactors) {
  const Expr T = Expr::symbol("T"), S = Expr::symbol("S"), X = Expr::symbol("X");
  EXPECT_TRUE(parse_expr("T/(X*(T + S)^2)") == T / X * pow(T + S, -2));
  EXPECT_TRUE(parse_expr("1/(-(T + S))^2") == pow(T + S, -2));
  EXPECT_TRUE(parse_expr("((T + S)^2*X)^-3") == pow(X, -3) * pow(T + S, -6));
}

struct Error {
  const char* text;
  const char* message;
};

void expect_errors(std::span<const Error> errors) {
  for (const Error& error : errors) {
    SCOPED_TRACE(error.text);
    EXPECT_EQ(error_of(error.text), error.message);
  }
}

TEST(Parse, SyntaxErrors) {
  constexpr Error kErrors[] = {
      {"",         "column 1: expected a number, an axis or '(', got the end"  },
      {"  ",       "column 3: expected a number, an axis or '(', got the end"  },
      {"2*T*",     "column 5: expected a number, an axis or '(', got the end"  },
      {"T + *S",   "column 5: expected a number, an axis or '(', got '*'"      },
      {"+T",       "column 1: expected a number, an axis or '(', got '+'"      },
      {"(T + S",   "column 7: expected an operator or ')', got the end"        },
      {"(T S)",    "column 4: expected an operator or ')', got 'S'"            },
      {"()",       "column 2: expected a number, an axis or '(', got ')'"      },
      {"T)",       "column 2: expected an operator, got ')'"                   },
      {"2 T",      "column 3: expected an operator, got 'T'"                   },
      {"2T",       "column 2: expected an operator, got 'T'"                   },
      {"2.5",      "column 2: expected an operator, got '.'"                   },
      {"T 12",     "column 3: expected an operator, got '12'"                  },
      {"T, S",     "column 2: expected an operator, got ','"                   },
      {"T*_x",     "column 3: expected a number, an axis or '(', got '_'"      },
      {"T*é",     "column 3: expected a number, an axis or '(', got 'é'"     },
      {"T\xff",    "column 2: expected an operator, got '\\xff'"               },
      {"T\x1b[0m", "column 2: expected an operator, got '\\x1b'"               },
      {"T^X",      "column 3: expected a whole number as exponent, got 'X'"    },
      {"T^",       "column 3: expected a whole number as exponent, got the end"},
      {"T^-X",     "column 4: expected a whole number as exponent, got 'X'"    },
      {"T^(2",     "column 5: expected ')', got the end"                       },
      {"T^(1/2)",  "column 5: expected ')', got '/'"                           },
      {"T^2^3",    "column 4: expected an operator, got '^'"                   },
  };
  expect_errors(kErrors);
  EXPECT_EQ(error_of(std::string_view("T\0S", 3)), "column 2: expected an operator, got '\\x00'");
}

TEST(Parse, CallErrors) {
  constexpr Error kErrors[] = {
      {"B*min(T)",     "column 3: min takes 2 arguments, got 1"                 },
      {"tri(T, S)",    "column 1: tri takes 1 argument, got 2"                  },
      {"pow(1, 2, 3)", "column 1: pow takes 2 arguments, got 3"                 },
      {"min()",        "column 5: expected a number, an axis or '(', got ')'"   },
      {"min(T,)",      "column 7: expected a number, an axis or '(', got ')'"   },
      {"min(T; S)",    "column 6: expected an operator, ',' or ')', got ';'"    },
      {"min(T",        "column 6: expected an operator, ',' or ')', got the end"},
  };
  expect_errors(kErrors);
  EXPECT_EQ(error_of("foo(T)"),
            "column 1: unknown function 'foo', known: min max floor_div ceil_div mod tri pow");
}

TEST(Parse, ArithmeticErrors) {
  constexpr Error kErrors[] = {
      {"T/0",                       "column 3: division by 0"                            },
      {"2*(T - T)^-1",              "column 4: division by 0"                            },
      {"1 + mod(T, 0)",             "column 5: division by 0 in mod(T, 0)"               },
      {"T^3000000000",              "column 3: exponent 3000000000 is beyond 2147483648" },
      {"(T^-2000000000)^2",         "column 2: exponent -4000000000 is beyond 2147483648"},
      {"T^2000000000*T^2000000000", "column 14: exponent 4000000000 is beyond 2147483648"},
      {"(a+b+c+d+e+f+g+h)^60",      "column 2: a formula of more than 4096 terms"        },
  };
  expect_errors(kErrors);
}

TEST(Parse, NumbersBeyond128Bits) {
  EXPECT_EQ(error_of("T + 170141183460469231731687303715884105728"),
            "column 5: '170141183460469231731687303715884105728' does not fit into 128 bits");
  EXPECT_EQ(error_of("T*170141183460469231731687303715884105727*2"),
            "column 43: 170141183460469231731687303715884105727 * 2 does not fit into 128 bits");
  EXPECT_EQ(parse_expr("170141183460469231731687303715884105727").str(),
            "170141183460469231731687303715884105727");
}

TEST(Parse, Limits) {
  EXPECT_EQ(parse_expr(repeated("(", 200) + "T" + repeated(")", 200)).str(), "T");
  EXPECT_EQ(error_of(repeated("(", 201) + "T" + repeated(")", 201)),
            "column 202: nested deeper than 200 levels");
  EXPECT_EQ(error_of(repeated("-", 201) + "T"), "column 202: nested deeper than 200 levels");
  EXPECT_EQ(error_of(repeated("tri(", 201) + "T" + repeated(")", 201)),
            "column 805: nested deeper than 200 levels");
  EXPECT_EQ(error_of(repeated("(", 100000)),
            "column 65537: the formula is longer than 65536 characters");
  EXPECT_EQ(parse_expr(repeated("T+", 32767) + "T").str(), "32768*T");
  EXPECT_EQ(error_of(repeated(" ", 65536)),
            "column 65537: expected a number, an axis or '(', got the end");
}

// What is legal but large must not take more than a moment.
TEST(Parse, HostileFormulas) {
  std::string many_names = "n0";
  for (int i = 1; i < 4000; ++i) many_names += "+n" + std::to_string(i);
  EXPECT_EQ(parse_expr("(" + many_names + ")" + repeated("*T", 15000)).symbols().size(), 4001u);
  EXPECT_EQ(error_of("(" + many_names + ")^2"), "column 2: a formula of more than 4096 terms");
  EXPECT_EQ(error_of("(T^999999999 - S^999999999)/(T - S)"), "no error");
  EXPECT_EQ(error_of("(T+S)/(S+T)" + repeated("*(T+S)/(S+T)", 1000)), "no error");
  EXPECT_EQ(error_of("tri(" + repeated("tri(T)+", 5000) + "1)"), "no error");
}

}  // namespace
}  // namespace flopwise
