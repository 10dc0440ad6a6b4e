// The algebra as a list of facts: what is written on the left prints as what stands on the right.
#include "flopwise/expr/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

struct Fact {
  const char* formula;
  const char* canonical;
};

void expect_facts(std::span<const Fact> facts) {
  for (const Fact& fact : facts) {
    SCOPED_TRACE(fact.formula);
    const Expr expr = parse_expr(fact.formula);
    EXPECT_EQ(expr.str(), fact.canonical);
    EXPECT_TRUE(expr == parse_expr(fact.canonical));
  }
}

template <typename Body>
std::string error_of(Body&& body) {
  try {
    body();
  } catch (const OverflowError& error) {
    return std::string("overflow: ") + error.what();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

Expr sym(std::string_view name) {
  return Expr::symbol(name);
}

TEST(Expr, SumsAndProducts) {
  constexpr Fact kFacts[] = {
      {"0",                 "0"                            },
      {"3 - 5",             "-2"                           },
      {"T - T",             "0"                            },
      {"0*T",               "0"                            },
      {"T + T",             "2*T"                          },
      {"1/2*T + 1/2*T",     "T"                            },
      {"D*B*F*T*6*3",       "18*B*T*D*F"                   },
      {"(T + S)*(T - S)",   "T^2 - S^2"                    },
      {"(B + T)^3",         "B^3 + 3*B^2*T + 3*B*T^2 + T^3"},
      {"T*S - T*(T - 1)/2", "T*S - 1/2*T^2 + 1/2*T"        },
      {"1 + T + T^2",       "T^2 + T + 1"                  },
      {"T - S - (T - S)",   "0"                            },
      {"-(T - S)",          "S - T"                        },
      {"-B",                "-B"                           },
      {"-B*T - S*R",        "-B*T - S*R"                   },
      {"3 - B",             "-B + 3"                       },
      {"-T^2",              "-T^2"                         },
      {"(-T)^2",            "T^2"                          },
      {"2*-T",              "-2*T"                         },
      {"2^10",              "1024"                         },
      {"2^-2",              "1/4"                          },
      {"(T + S)^0",         "1"                            },
      {"0^0",               "1"                            },
      {"0^3",               "0"                            },
  };
  expect_facts(kFacts);
}

TEST(Expr, Quotients) {
  constexpr Fact kFacts[] = {
      {"2*B*D*F/X/Y",   "2*B*D*F/(X*Y)"},
      {"T/X",           "T/X"          },
      {"X^-1",          "1/X"          },
      {"1/(2*X)",       "1/(2*X)"      },
      {"3/2/X/Y",       "3/(2*X*Y)"    },
      {"-3/(2*X)",      "-3/(2*X)"     },
      {"B/(2*X)",       "1/2*B/X"      },
      {"T^3/T^2",       "T"            },
      {"T^2/T^2",       "1"            },
      {"T/X^2/X",       "T/X^3"        },
      {"X*(1/X)",       "1"            },
      {"(B*X + T)/X",   "B + T/X"      },
      {"1/(1/X)",       "X"            },
      {"6*N*H/(3*K*H)", "2*N/K"        },
  };
  expect_facts(kFacts);
}

TEST(Expr, FactorsInTheOrderOfAxes) {
  constexpr Fact kFacts[] = {
      {"P*C*W*k*E*L*V*H*G*K*N*F*D*R*S*T*B", "B*T*S*R*D*F*N*K*G*H*V*L*E*k*W*C*P"},
      {"ep*pp*cp*tp*fsdp*dp*Z*Y*X*B",       "B*X*Y*Z*dp*fsdp*tp*cp*pp*ep"      },
      {"X*zeta*alpha*q'*q_1*I*B",           "B*I*alpha*q'*q_1*zeta*X"          },
      {"tri(S - T)*min(X, B)*X*P",          "P*X*min(B, X)*tri(S - T)"         },
  };
  expect_facts(kFacts);
}

TEST(Expr, ReciprocalsOfSums) {
  constexpr Fact kFacts[] = {
      {"4*B*T*S*N*H/(4*B*T*N*H + 4*B*S*N*H)", "T*S/(T + S)"              },
      {"T*S*G/(T*G + S)",                     "T*S*G/(T*G + S)"          },
      {"1/(S - T)",                           "-1/(T - S)"               },
      {"(T - S)/(S - T)",                     "-1"                       },
      {"T/(X*(T + S)^2)",                     "T/(X*(T + S)^2)"          },
      {"1/(T/2 + S/3)",                       "6/(3*T + 2*S)"            },
      {"1/(T/X + S)",                         "X/(S*X + T)"              },
      {"(T + S)/(T + S)",                     "1"                        },
      {"(T + S)*(1/(T + S))",                 "1"                        },
      {"(2*T + 2*S)*B/(T + S)",               "2*B"                      },
      {"T/(T + S) + S/(T + S)",               "1"                        },
      {"(T + S)^3/(T + S)",                   "T^2 + 2*T*S + S^2"        },
      {"(T^2 - S^2)/(T + S)",                 "T - S"                    },
      {"(T^3 - S^3)/(T - S)",                 "T^2 + T*S + S^2"          },
      {"(T + S)/(T + S)^3",                   "1/(T + S)^2"              },
      {"((T + S)^-1)^-2",                     "T^2 + 2*T*S + S^2"        },
      {"1/(1/(T + S))",                       "T + S"                    },
      {"1/(1/T + 1/S)",                       "T*S/(T + S)"              },
      {"1/(1/(T + S) + 1/(T - S))",           "1/2*T - 1/2*S^2/T"        },
      {"(1 + B/(T + S))/(1 + B/(T + S))",     "1"                        },
      {"(T^2 + S^2)/(T + S)",                 "T^2/(T + S) + S^2/(T + S)"},
      {"B/((T + S)*(B + D))",                 "B/((B + D)*(T + S))"      },
      {"(tri(S) + X)/(2*tri(S) + 2*X)",       "1/2"                      },
  };
  expect_facts(kFacts);
}

// The same by operators: parse_expr adds up all terms at once.
TEST(Expr, ReciprocalsCancelInOperators) {
  const Expr B = sym("B"), T = sym("T"), S = sym("S");
  const Expr sum = T + S;
  EXPECT_EQ((T / sum + S / sum).str(), "1");
  EXPECT_EQ((B - T / sum - S / sum).str(), "B - 1");
  EXPECT_EQ((1 / sum * (B * T + B * S)).str(), "B");
  EXPECT_EQ((pow(sum, 2) * B / sum).str(), "B*T + B*S");
  EXPECT_EQ((sum / sum).str(), "1");
}

TEST(Expr, Atoms) {
  constexpr Fact kFacts[] = {
      {"tri(4)",                              "10"                              },
      {"tri(0)",                              "0"                               },
      {"tri(-3)",                             "0"                               },
      {"tri(1/2)",                            "3/8"                             },
      {"tri(S - W)",                          "tri(S - W)"                      },
      {"min(3, 5)",                           "3"                               },
      {"max(3, 5)",                           "5"                               },
      {"min(T, T)",                           "T"                               },
      {"min(S, T) - min(T, S)",               "0"                               },
      {"max(W, T)",                           "max(T, W)"                       },
      {"min(4096, T)",                        "min(T, 4096)"                    },
      {"min(T, T - 1)",                       "T - 1"                           },
      {"max(T, T - 1)",                       "T"                               },
      {"floor_div(7, 2)",                     "3"                               },
      {"floor_div(-7, 2)",                    "-4"                              },
      {"ceil_div(7, 2)",                      "4"                               },
      {"mod(7, 3)",                           "1"                               },
      {"mod(-7, 3)",                          "2"                               },
      {"floor_div(T, 1)",                     "T"                               },
      {"floor_div(T/2, 1)",                   "floor_div(1/2*T, 1)"             },
      {"ceil_div(6*T*W, 2*W)",                "3*T"                             },
      {"floor_div(T, 2*T)",                   "0"                               },
      {"ceil_div(T, 2*T)",                    "1"                               },
      {"mod(T*W, W)",                         "0"                               },
      {"mod(T, 1)",                           "0"                               },
      {"mod(T, C)",                           "mod(T, C)"                       },
      {"floor_div(T, W)^2/ceil_div(T, W)",    "floor_div(T, W)^2/ceil_div(T, W)"},
      {"pow(2, 10)",                          "1024"                            },
      {"pow(2, -1)",                          "1/2"                             },
      {"pow(0, 5)",                           "0"                               },
      {"pow(0, 0)",                           "1"                               },
      {"pow(1, T)",                           "1"                               },
      {"pow(T + S, 0)",                       "1"                               },
      {"pow(T + S, 2)",                       "pow(T + S, 2)"                   },
      {"pow(T, 2)",                           "T^2"                             },
      {"pow(1/2, 1000)",                      "pow(1/2, 1000)"                  },
      {"pow(2, 1/2)",                         "pow(2, 1/2)"                     },
      {"pow(0, T)",                           "pow(0, T)"                       },
      {"E*(1 - pow(1 - k/E, B*T))",           "-E*pow(1 - k/E, B*T) + E"        },
      {"pow(1 - k/E, B*T)*pow(1 - k/E, B*T)", "pow(1 - k/E, B*T)^2"             },
  };
  expect_facts(kFacts);
}

TEST(Expr, Latex) {
  constexpr Fact kFacts[] = {
      {"18*B*T*D*F",            "18BTDF"                                               },
      {"2*B*D*F/(X*Y)",         "\\frac{2BDF}{XY}"                                     },
      {"0",                     "0"                                                    },
      {"1/2",                   "\\frac{1}{2}"                                         },
      {"T*S - 1/2*T^2 + 1/2*T", "TS - \\frac{1}{2}T^2 + \\frac{1}{2}T"                 },
      {"1/2*B/X",               "\\frac{B}{2X}"                                        },
      {"T^12/X^10",             "\\frac{T^{12}}{X^{10}}"                               },
      {"2*fsdp",                "2\\,\\mathrm{fsdp}"                                   },
      {"B/(dp*fsdp)",           "\\frac{B}{\\mathrm{dp}\\,\\mathrm{fsdp}}"             },
      {"q'^2*head_dim",         "\\mathrm{head\\_dim}q'^2"                             },
      {"T*S/(T + S)",           "\\frac{TS}{T + S}"                                    },
      {"T/(X*(T + S)^2)",       "\\frac{T}{X\\left(T + S\\right)^2}"                   },
      {"B*min(T, W)",           "B\\min\\left(T, W\\right)"                            },
      {"max(T, W)^2",           "\\max\\left(T, W\\right)^2"                           },
      {"floor_div(T, C)",       "\\left\\lfloor \\frac{T}{C} \\right\\rfloor"          },
      {"ceil_div(T, C)",        "\\left\\lceil \\frac{T}{C} \\right\\rceil"            },
      {"mod(T + 1, C)",         "\\left(\\left(T + 1\\right) \\bmod C\\right)"         },
      {"2*tri(S - W)",          "2\\,\\mathrm{tri}\\left(S - W\\right)"                },
      {"E*pow(1 - k/E, T)^2",   "E\\left(\\left(1 - \\frac{k}{E}\\right)^{T}\\right)^2"},
  };
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(fact.formula);
    EXPECT_EQ(parse_expr(fact.formula).latex(), fact.canonical);
  }
}

TEST(Expr, Substitution) {
  struct Row {
    const char* formula;
    Substitution with;
    const char* result;
  };
  const Expr T = sym("T"), S = sym("S"), X = sym("X");
  const Row kRows[] = {
      {"T*S - T",           {{"S", T}},            "T^2 - T"    },
      {"T - 2*S",           {{"T", S}, {"S", T}},  "S - 2*T"    },
      {"T*S*G/(T*G + S)",   {{"S", T}},            "T*G/(G + 1)"},
      {"T*S/(T + S)",       {{"S", T}},            "1/2*T"      },
      {"B/X",               {{"X", T + S}},        "B/(T + S)"  },
      {"T/X + S/X",         {{"X", T + S}},        "1"          },
      {"B/X^2",             {{"X", 2 * T}},        "1/4*B/T^2"  },
      {"B/(T + S)",         {{"S", 1 / X - T}},    "B*X"        },
      {"tri(S - W)",        {{"S", sym("W") + 3}}, "6"          },
      {"tri(S - W)",        {{"W", S}},            "0"          },
      {"min(T, W)",         {{"W", T + 1}},        "T"          },
      {"floor_div(T, C)*C", {{"T", 3 * sym("C")}}, "3*C"        },
      {"pow(1 - k/E, B*T)", {{"k", sym("E")}},     "pow(0, B*T)"},
      {"pow(1 - k/E, B)",   {{"k", 1}, {"E", 2}},  "pow(1/2, B)"},
      {"T + S",             {{"Q", 7}},            "T + S"      },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(parse_expr(row.formula).substitute(row.with).str(), row.result);
  }
}

TEST(Expr, FactorCommon) {
  struct Row {
    const char* formula;
    const char* common;
    const char* rest;
  };
  constexpr Row kRows[] = {
      {"4*B*T*K*G*H + 4*B*S*K*H",               "4*B*K*H",   "T*G + S"      },
      {"2/3*T + 4/9*S",                         "2/9",       "3*T + 2*S"    },
      {"T/X + S/Y",                             "1/(X*Y)",   "T*Y + S*X"    },
      {"-2*T - 4",                              "2",         "-T - 2"       },
      {"-6*T",                                  "6*T",       "-1"           },
      {"0",                                     "1",         "0"            },
      {"B + D/(T + S)",                         "1/(T + S)", "B*T + B*S + D"},
      {"1 + B/(T + S) - T/(T + S) - S/(T + S)", "B/(T + S)", "1"            },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    const Expr::Factored factored = parse_expr(row.formula).factor_common();
    EXPECT_EQ(factored.common.str(), row.common);
    EXPECT_EQ(factored.rest.str(), row.rest);
  }
}

TEST(Expr, StrWithSizes) {
  const Sizes sizes = {
      {"B", 1    },
      {"T", 8    },
      {"D", 4096 },
      {"F", 16384},
      {"X", 4    },
      {"M", -3   }
  };
  constexpr Fact kFacts[] = {
      {"2*B*T*D*F",             "2*1*8*4096*16384"     },
      {"T*S - 1/2*T^2 + 1/2*T", "8*S - 1/2*8^2 + 1/2*8"},
      {"2*B*D*F/(X*Y)",         "2*1*4096*16384/(4*Y)" },
      {"T*F/(T + F)^2",         "8*16384/(8 + 16384)^2"},
      {"tri(F - T)",            "tri(16384 - 8)"       },
      {"M^2",                   "(-3)^2"               },
  };
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(fact.formula);
    EXPECT_EQ(parse_expr(fact.formula).str_with(sizes), fact.canonical);
  }
}

TEST(Expr, EvalIsExact) {
  const Sizes sizes = {
      {"T",   3                          },
      {"S",   5                          },
      {"X",   7                          },
      {"big", Count::of(Int128{1} << 100)}
  };
  constexpr Fact kFacts[] = {
      {"T*S - 1/2*T^2 + 1/2*T",   "12"     },
      {"T*S/(T + S)",             "15/8"   },
      {"T/X^2",                   "3/49"   },
      {"big^2/big",               "2^100"  },
      {"big^3/(3*big^2)",         "2^100/3"},
      {"big*tri(T)/(big*tri(S))", "6/15"   },
      {"min(T, S)*max(T, S)",     "15"     },
      {"floor_div(X, T)",         "2"      },
      {"ceil_div(X, T)",          "3"      },
      {"mod(X, T)",               "1"      },
      {"tri(S) - tri(T - S)",     "15"     },
      {"pow(1/2, T)",             "1/8"    },
      {"pow(-1, big + 1)",        "-1"     },
      {"pow(0, T - 3)",           "1"      },
      {"pow(0, T)",               "0"      },
      {"pow(-2, 42*T)",           "2^126"  },
      {"pow(T, 2 - T)",           "1/3"    },
  };
  for (const Fact& fact : kFacts) {
    SCOPED_TRACE(fact.formula);
    const Rational value = parse_expr(fact.formula).eval(sizes);
    EXPECT_EQ(value.str(), parse_expr(fact.canonical).eval({}).str());
    EXPECT_EQ(parse_expr(fact.formula).eval_double(sizes), value.to_double());
  }
  EXPECT_TRUE(parse_expr("pow(-2, 127*T - 254)").eval(sizes).num() == kInt128Min);
}

TEST(Expr, EvalErrors) {
  const Sizes sizes = {
      {"T",   3                          },
      {"Z",   0                          },
      {"W",   3                          },
      {"big", Count::of(Int128{1} << 100)}
  };
  struct Row {
    const char* formula;
    const char* error;
  };
  constexpr Row kRows[] = {
      {"2*T*S",              "no size for axis 'S'"                                       },
      {"T/Z",                "division by 0 in T/Z with Z = 0"                            },
      {"T/Z^2",              "division by 0 in T/Z^2 with Z = 0"                          },
      {"big^9/Z",            "division by 0 in big^9/Z with Z = 0"                        },
      {"T/(T - W)",          "division by 0 in T/(T - W) with (T - W) = 0"                },
      {"floor_div(T, Z)",    "division by 0 in floor_div(T, Z) with Z = 0"                },
      {"ceil_div(T, T - W)", "division by 0 in ceil_div(T, T - W) with T - W = 0"         },
      {"mod(T, Z)",          "division by 0 in mod(T, Z) with Z = 0"                      },
      {"pow(Z, -T)",         "division by 0 in pow(Z, -T) with Z = 0"                     },
      {"pow(T, T/2)",        "the exponent of pow(T, 1/2*T) is 3/2, not a whole number"   },
      {"big^2",
       "overflow: big^2 does not fit into 128 bits at big=1267650600228229401496703205376"},
      {"pow(1/2, 50*T)",     "overflow: pow(1/2, 50*T) does not fit into 128 bits at T=3" },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(error_of([&] { (void)parse_expr(row.formula).eval(sizes); }), row.error);
  }
}

TEST(Expr, EvalCountNamesTheQuantity) {
  const Count huge = Count::of(Int128{1} << 60);
  const Sizes sizes = {
      {"B", huge},
      {"T", huge},
      {"D", huge},
      {"F", 3   },
      {"X", 2   },
      {"Z", 0   }
  };
  struct Row {
    const char* formula;
    const char* error;
  };
  constexpr Row kRows[] = {
      {"2*B*T*D*F",
       "overflow: flops.mlp: 2*B*T*D*F does not fit into 128 bits at B=1152921504606846976, "
       "T=1152921504606846976, D=1152921504606846976, F=3"                                      },
      {"1/2*F",             "flops.mlp: 1/2*F is not a whole number at F=3"                     },
      {"F/X",               "flops.mlp: F/X is not a whole number at F=3, X=2"                  },
      {"1/2",               "flops.mlp: 1/2 is not a whole number"                              },
      {"S",                 "flops.mlp: no size for axis 'S'"                                   },
      {"F/Z",               "flops.mlp: division by 0 in F/Z with Z = 0"                        },
      {"pow(X, B)",
       "overflow: flops.mlp: pow(X, B) does not fit into 128 bits at B=1152921504606846976, X=2"},
      {"B*T*D*pow(1/2, F)",
       "overflow: flops.mlp: B*T*D*pow(1/2, F) does not fit into 128 bits at "
       "B=1152921504606846976, T=1152921504606846976, D=1152921504606846976, F=3"               },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.formula);
    EXPECT_EQ(error_of([&] { (void)parse_expr(row.formula).eval_count(sizes, "flops.mlp"); }),
              row.error);
  }
  EXPECT_EQ(parse_expr("2*B*F").eval_count(sizes, "flops.mlp"), Count::of(Int128{6} << 60));
}

TEST(Expr, LongFormulasAreCutInMessages) {
  Expr sum;
  for (int i = 0; i < 60; ++i) sum += sym("axis" + std::to_string(i));
  Sizes sizes;
  for (const std::string& name : sum.symbols()) sizes.emplace(name, 1);
  const std::string error = error_of([&] { (void)(sum / 7).eval_count(sizes, "q"); });
  EXPECT_EQ(error.substr(0, error.find("…")), "q: " + (sum / 7).str().substr(0, 119));
}

// Terms without a pow atom are never computed in double, even where the result would fit.
TEST(Expr, ExactTermsStayExactOrOverflow) {
  const Sizes sizes = {
      {"b", Count::of(Int128{1} << 60)},
      {"c", Count(205891132094649)    }  // 3^30
  };
  EXPECT_EQ(
      error_of([&] { (void)parse_expr("b^3/c^2 + pow(1/2, 1000)").eval_count(sizes, "bytes"); }),
      "overflow: bytes: b^3/c^2 + pow(1/2, 1000) does not fit into 128 bits at "
      "b=1152921504606846976, c=205891132094649");
  EXPECT_EQ(error_of([] { (void)parse_expr("pow(2, 5000) - pow(3, 5000)").eval_count({}, "q"); }),
            "overflow: q: pow(2, 5000) - pow(3, 5000) does not fit into 128 bits");
}

// Expected distinct experts, E*(1 - (1 - k/E)^n).
TEST(Expr, RealValuedCounts) {
  const Expr experts = parse_expr("E - E*pow(1 - k/E, B*T)");
  EXPECT_FALSE(experts.is_exact());
  EXPECT_TRUE(parse_expr("tri(S)/(T + S)").is_exact());
  EXPECT_FALSE(parse_expr("1/(2 + max(T, pow(1/2, S)))").is_exact());
  const auto count = [](const Expr& expr, Sizes sizes) { return expr.eval_count(sizes, "q"); };
  // Exact: 8 - 8*(3/4)^2 = 3.5 is rounded away from zero, on either side.
  EXPECT_EQ(count(experts,
                  {
                      {"E", 8},
                      {"k", 2},
                      {"B", 1},
                      {"T", 2}
  }),
            4);
  EXPECT_EQ(count(-experts,
                  {
                      {"E", 8},
                      {"k", 2},
                      {"B", 1},
                      {"T", 2}
  }),
            -4);
  EXPECT_EQ(count(experts,
                  {
                      {"E", 8  },
                      {"k", 8  },
                      {"B", 4  },
                      {"T", 100}
  }),
            8);
  // Beyond 128 bits: 256*(1 - (31/32)^100) = 245.299...; with a factor 10^6 the digits show.
  EXPECT_EQ(count(experts,
                  {
                      {"E", 256},
                      {"k", 8  },
                      {"B", 4  },
                      {"T", 25 }
  }),
            245);
  EXPECT_EQ(count(1000000 * experts,
                  {
                      {"E", 256},
                      {"k", 8  },
                      {"B", 4  },
                      {"T", 25 }
  }),
            245299317);
  EXPECT_EQ(count(experts,
                  {
                      {"E", 256    },
                      {"k", 8      },
                      {"B", 1 << 20},
                      {"T", 1 << 20}
  }),
            256);
  // The exact part keeps digits that a double does not have.
  const Count big = Count::of((Int128{1} << 90) + 1);
  EXPECT_EQ(count(sym("x") + parse_expr("pow(1/2, 1000)"),
                  {
                      {"x", big}
  }),
            big);
  // Halves go away from zero there too.
  EXPECT_EQ(count(parse_expr("5/2 + pow(1/2, 1000)"), {}), 3);
  EXPECT_EQ(count(parse_expr("-5/2 - pow(1/2, 1000)"), {}), -3);
  EXPECT_DOUBLE_EQ(parse_expr("pow(1/2, T)")
                       .eval_double({
                           {"T", 1000}
  }),
                   0x1p-1000);
  EXPECT_DOUBLE_EQ(parse_expr("T*pow(1/2, 900)/S")
                       .eval_double({
                           {"T", 3},
                           {"S", 5}
  }),
                   0.6 * 0x1p-900);
}

TEST(Expr, EvalDoubleBeyond128Bits) {
  const Sizes sizes = {
      {"b", Count::of(Int128{1} << 100)},
      {"T", 3                          }
  };
  EXPECT_EQ(parse_expr("b^3/T").eval_double(sizes), 0x1p300 / 3);
  EXPECT_EQ(parse_expr("tri(b)").eval_double(sizes), 0x1p199);
  EXPECT_EQ(parse_expr("min(b^2, b^3)").eval_double(sizes), 0x1p200);
  EXPECT_EQ(parse_expr("max(b^2, b^3)").eval_double(sizes), 0x1p300);
  EXPECT_EQ(parse_expr("floor_div(b^2, b)").eval_double(sizes), 0x1p100);
  EXPECT_EQ(parse_expr("floor_div(b^2, T + b)").eval_double(sizes), 0x1p100);
  EXPECT_EQ(parse_expr("1/(b^2 + T)").eval_double(sizes), 0x1p-200);
}

TEST(Expr, ArithmeticErrors) {
  const Expr T = sym("T"), S = sym("S");
  const Expr max128 = Count::of(kInt128Max);
  EXPECT_EQ(error_of([&] { (void)(T / 0); }), "division by 0");
  EXPECT_EQ(error_of([&] { (void)(T / (S - S)); }), "division by 0");
  EXPECT_EQ(error_of([&] { (void)pow(Expr(0), -1); }), "division by 0");
  EXPECT_EQ(error_of([&] { (void)floor_div(T, 0); }), "division by 0 in floor_div(T, 0)");
  EXPECT_EQ(error_of([&] { (void)ceil_div(T, 0); }), "division by 0 in ceil_div(T, 0)");
  EXPECT_EQ(error_of([&] { (void)mod(T, 0); }), "division by 0 in mod(T, 0)");
  EXPECT_EQ(error_of([&] { (void)power(0, -2); }), "division by 0 in pow(0, -2)");
  EXPECT_EQ(error_of([&] {
              (void)(T / S).substitute({
                  {"S", 0}
              });
            }),
            "division by 0 in T/S with S = 0");
  EXPECT_EQ(error_of([&] {
              (void)(T / (T + S))
                  .substitute({
                      {"S", -T}
              });
            }),
            "division by 0 in T/(T + S) with (T + S) = 0");
  EXPECT_EQ(error_of([&] { (void)(max128 * T + T); }),
            "overflow: 170141183460469231731687303715884105727 + 1 does not fit into 128 bits");
  EXPECT_EQ(error_of([&] { (void)pow(T, std::int64_t{1} << 40); }),
            "overflow: exponent 1099511627776 is beyond 2147483648");
  EXPECT_EQ(error_of([&] { (void)Expr::symbol("2x"); }),
            "'2x' is not a name: a letter, then letters, digits, underscores or primes");
  EXPECT_EQ(error_of([&] { (void)Expr::symbol(""); }),
            "'' is not a name: a letter, then letters, digits, underscores or primes");
  Expr sum;
  for (int i = 0; i < 70; ++i) sum += sym("a" + std::to_string(i));
  EXPECT_EQ(error_of([&] { (void)(sum * sum * sum); }), "a formula of more than 4096 terms");
}

TEST(Expr, Constants) {
  EXPECT_EQ(Expr().constant(), Rational(0));
  EXPECT_TRUE(Expr(0).is_zero());
  EXPECT_EQ(parse_expr("3/4").constant(), Rational::of(3, 4));
  EXPECT_EQ(sym("T").constant(), std::nullopt);
  EXPECT_EQ((sym("T") + 1).constant(), std::nullopt);
  EXPECT_EQ(parse_expr("tri(S - W)/(T + X*pow(k, E))").symbols(),
            (std::set<std::string>{"S", "W", "T", "X", "k", "E"}));
}

TEST(Expr, OrderIsTotalOnForms) {
  const char* const kSorted[] = {"T^2", "T*S", "T", "2*T", "1/2*T", "min(T, S)", "tri(T)", "0"};
  std::vector<Expr> sorted;
  for (const char* formula : kSorted) sorted.push_back(parse_expr(formula));
  for (const Expr& a : sorted) {
    for (const Expr& b : sorted) {
      EXPECT_EQ(structural_order(a, b) == 0, a == b);
      EXPECT_EQ(structural_order(a, b) < 0, structural_order(b, a) > 0);
    }
  }
}

// Names are interned behind a lock; run under TSan this says more.
TEST(Expr, IsBuiltFromManyThreads) {
  std::vector<std::string> texts(4);
  {
    std::vector<std::thread> threads;
    for (std::string& text : texts) {
      threads.emplace_back([&text] {
        Expr sum;
        for (int i = 0; i < 200; ++i) sum += sym("shared" + std::to_string(i % 50)) * sym("T");
        text = sum.str();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

// The expected number of experts times anything has a value for every number of tokens: exact while
// it fits, then in double.
TEST(Expr, ExpectedExpertsAlwaysHaveAValue) {
  const Expr e = Expr::symbol("E");
  const Expr n = Expr::symbol("n");
  for (const std::int64_t experts : {3, 5, 7, 8, 60, 128}) {
    const std::int64_t active = experts > 8 ? 4 : 2;
    const Expr bytes = 2 * Expr(4096) * Expr(14336) * e * (1 - power(1 - active / e, n)) + n;
    for (std::int64_t tokens = 1; tokens <= 200; ++tokens) {
      const double expected =
          2.0 * 4096 * 14336 * static_cast<double>(experts) *
              (1 -
               std::pow(1 - static_cast<double>(active) / static_cast<double>(experts), tokens)) +
          static_cast<double>(tokens);
      const Count value = bytes.eval_count(
          {
              {"E", experts},
              {"n", tokens }
      },
          "bytes");
      // Rounded to the nearest byte of 1e9 ... 1e11; pow and the products round within 1e-14 of it.
      EXPECT_NEAR(value.to_double(), expected, 0.5 + 1e-14 * expected) << experts << " " << tokens;
    }
  }
}

}  // namespace
}  // namespace flopwise
