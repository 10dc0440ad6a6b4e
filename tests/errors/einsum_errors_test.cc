// Every way to get `flopwise einsum` wrong, with the whole line that it answers.
#include <fmt/format.h>

#include "flopwise/report/einsum_report.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

struct Row {
  const char* expression;
  const char* message;
};

TEST(EinsumErrors, Expression) {
  constexpr Row kRows[] = {
  // an axis or a mesh axis twice
      {"A[I,I]",                            "einsum: column 5: axis 'I' occurs twice in A[I,I]"                         },
      {"ii->i",                             "einsum: column 2: axis 'i' occurs twice in A[i,i]"                         },
      {"A[B_X, D_X]",                       "einsum: column 10: mesh axis 'X' occurs twice in A[B_X,D_X]"               },
      {"A[B_XX]",                           "einsum: column 6: mesh axis 'X' occurs twice in A[B_XX]"                   },
      {"A[B_X] {U_X}",                      "einsum: column 11: mesh axis 'X' occurs twice in A[B_X] {U_X}"             },
      {"A[B_{dp,dp}]",                      "einsum: column 9: mesh axis 'dp' occurs twice in A[B_{dp,dp}]"             },
      {"A[I,J] *_{I,I} B[I,J]",             "einsum: column 13: axis 'I' occurs twice after one '*'"                    },
      {"A[I,J] *_IJI B[I,J]",               "einsum: column 12: axis 'I' occurs twice after one '*'"                    },
      {"A[B] -> C[B,B]",                    "einsum: column 13: axis 'B' occurs twice in C[B,B]"                        },
 // names that do not fit together
      {"A[B,D] * W[D,F] -> C[B,Z]",         "einsum: column 24: output axis 'Z' is in no operand"                       },
      {"ij,jk->iz",                         "einsum: column 9: output axis 'z' is in no operand"                        },
      {"A[B_D,D]",                          "einsum: column 5: mesh axis 'D' is named like an axis of the expression"   },
      {"A[B] -> C[B] {U_B}",
       "einsum: column 17: mesh axis 'B' is named like an axis of the expression"                                       },
      {"A[B,D] *_B W[B,D] -> C[B]",
       "einsum: column 10: axis 'B' is not contracted: the output has it"                                               },
      {"A[B,D] *_B W[D,F]",
       "einsum: column 10: axis 'B' is not contracted: only one operand has it"                                         },
      {"A[B,D] *_Q W[D,F]",                 "einsum: column 10: axis 'Q' is not contracted: no operand has it"          },
      {"A[B,D] *_D W[B,D,F]",
       "einsum: column 10: operands share axis 'B' too: name it here, or write the output after "
       "'->'"                                                                                                           },
      {"A[B_X] -> C[B_X] {U_Y}",
       "einsum: column 21: C[B_X] {U_Y} is no partial sum over mesh axis 'Y'"                                           },
      {"A[B,D_XY] * W[D_YX,F]",
       "einsum: column 17: the mesh axes on axis 'D' are in another order than before it: no "
       "placement rule exchanges them"                                                                                  },
 // what is not read
      {"A[...,I]",                          "einsum: column 3: an ellipsis is not read: name every axis"                },
      {"...i,i",                            "einsum: column 1: an ellipsis is not read: name every axis"                },
      {"i…,i",                            "einsum: column 2: an ellipsis is not read: name every axis"                },
      {"b_x,xd",                            "einsum: column 2: letters take no sharding: write the arrays as A[B_X,D]"  },
      {"b{U_X}",                            "einsum: column 2: letters take no sharding: write the arrays as A[B_X,D]"  },
 // what is not the notation
      {"",
       "einsum: column 1: expected an array such as A[B,D] or letters such as bd,df->bf, got the "
       "end"                                                                                                            },
      {"   ",
       "einsum: column 4: expected an array such as A[B,D] or letters such as bd,df->bf, got the "
       "end"                                                                                                            },
      {"ij,jk->ik->i",                      "einsum: column 10: expected an axis letter or the end, got '-'"            },
      {"ij,jk->ik,i",                       "einsum: column 10: expected an axis letter or the end, got ','"            },
      {"i1,j",                              "einsum: column 2: expected an axis letter, ',' or '->', got '1'"           },
      {"A * B",                             "einsum: column 3: expected an axis letter, ',' or '->', got '*'"           },
      {"i\xff",                             "einsum: column 2: expected an axis letter, ',' or '->', got byte 0xff"     },
      {"[B]",                               "einsum: column 1: expected an array such as A[B,D], got '['"               },
      {"A[B,D] * ",                         "einsum: column 10: expected an array such as A[B,D], got the end"          },
      {"A[B] B[C]",                         "einsum: column 6: expected '*', '->' or the end of the expression, got 'B'"},
      {"A[B] * W",                          "einsum: column 9: expected '[' after the name 'W', got the end"            },
      {"A[B",                               "einsum: column 4: expected ',' or ']' after an axis, got the end"          },
      {"A[B,]",                             "einsum: column 5: expected an axis name, got ']'"                          },
      {"A[1]",                              "einsum: column 3: expected an axis name, got '1'"                          },
      {"A[B] -> C[B] D",                    "einsum: column 14: expected the end of the expression, got 'D'"            },
      {"A[B] {V_X}",                        "einsum: column 7: expected a partial sum such as {U_Y}, got 'V'"           },
      {"A[B] {U_X",                         "einsum: column 10: expected '}', got the end"                              },
      {"A[B_{X]",                           "einsum: column 7: expected ',' or '}' after a name, got ']'"               },
      {"A[B_{}]",                           "einsum: column 6: expected a name, got '}'"                                },
      {"A[B_dp]",
       "einsum: column 5: expected single capitals such as _XY, or names in braces such as "
       "_{dp,fsdp}, after '_'"                                                                                          },
      {"A[B_X1]",
       "einsum: column 5: expected single capitals such as _XY, or names in braces such as "
       "_{dp,fsdp}, after '_'"                                                                                          },
 // limits
      {"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", "einsum: column 33: more than 16 operands"                                  },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(user_error_of([&] { return answer_einsum({.expression = row.expression}); }),
              row.message);
  }
}

TEST(EinsumErrors, Limits) {
  const auto error = [](const std::string& text) {
    return user_error_of([&] { return parse_einsum(text); });
  };
  EXPECT_EQ(error(std::string(70'000, 'i')),
            "einsum: an expression of 70000 bytes, expected at most 65536");
  EXPECT_EQ(error("A[" + std::string(65, 'B') + "]"),
            "einsum: column 3: a name of 65 characters, expected at most 64");
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += fmt::format("{}A{}", i == 0 ? "" : ",", i);
  EXPECT_EQ(error("A[" + axes + "]"), "einsum: column 249: more than 64 axes");
  std::string first;
  std::string second;
  for (int i = 0; i < 40; ++i) {
    first += fmt::format("{}A{}", i == 0 ? "" : ",", i);
    second += fmt::format("{}B{}", i == 0 ? "" : ",", i);
  }
  EXPECT_EQ(error("A[" + first + "]*B[" + second + "]"), "einsum: column 242: more than 64 axes");
}

struct QueryRow {
  EinsumQuery query;
  const char* message;
};

TEST(EinsumErrors, Options) {
  const std::string matmul = "A[B_X,D] * W[D,F]";
  const std::vector<QueryRow> rows = {
      {{.expression = matmul, .sizes = {"B"}},                      "--size: expected AXIS=N such as B=1024, got 'B'" },
      {{.expression = matmul, .sizes = {""}},                       "--size: expected AXIS=N such as B=1024, got ''"  },
      {{.expression = matmul, .sizes = {"B=4,"}},                   "--size: expected AXIS=N such as B=1024, got ''"  },
      {{.expression = matmul, .sizes = {"=4"}},                     "--size: expected AXIS=N such as B=1024, got '=4'"},
      {{.expression = matmul, .sizes = {"Q=4"}},
       "--size: the expression has no axis 'Q', its axes: B D F"                                                      },
      {{.expression = matmul, .sizes = {"X=4"}},
       "--size: the expression has no axis 'X', its axes: B D F"                                                      },
      {{.expression = "->", .sizes = {"Q=4"}},
       "--size: the expression has no axis 'Q', its axes: none"                                                       },
      {{.expression = matmul, .sizes = {"B=4", "B=4"}},             "--size: axis 'B' is given twice"                 },
      {{.expression = matmul, .sizes = {"B=0"}},
       "--size B: expected a whole number of 1 ... 2^40, got '0'"                                                     },
      {{.expression = matmul, .sizes = {"B=-1"}},
       "--size B: expected a whole number of 1 ... 2^40, got '-1'"                                                    },
      {{.expression = matmul, .sizes = {"B=1.5"}},
       "--size B: expected a whole number of 1 ... 2^40, got '1.5'"                                                   },
      {{.expression = matmul, .sizes = {"B=1099511627777"}},
       "--size B: expected a whole number of 1 ... 2^40, got '1099511627777'"                                         },
      {{.expression = matmul, .sizes = {"B=nan"}},
       "--size B: expected a whole number of 1 ... 2^40, got 'nan'"                                                   },
      {{.expression = matmul, .mesh = "Y=4"},                       "einsum: column 5: the mesh Y=4 has no axis 'X'"  },
      {{.expression = matmul, .mesh = "X=4,F=2"},
       "mesh: axis 'F' is named like an axis of the expression"                                                       },
      {{.expression = matmul, .mesh = "X=4,X=4"},                   "mesh: axis 'X' is given twice"                   },
      {{.expression = matmul, .mesh = "4"},                         "mesh: expected AXIS=SIZE such as X=4, got '4'"   },
      {{.expression = matmul, .mesh = "X=0"},
       "mesh axis 'X': expected a whole number of 1 ... 2^40, got '0'"                                                },
      {{.expression = matmul, .sizes = {"B=6"}, .mesh = "X=4"},
       "einsum: column 5: axis 'B' of size 6 is not divisible by mesh axis 'X' of size 4 in "
       "A[B_X,D]"                                                                                                     },
      {{.expression = matmul, .dtype = "bf17"},
       "--dtype: unknown dtype 'bf17', known: fp64 fp32 tf32 bf16 fp16 fp8 int8 fp6 fp4 int4 q8_0 "
       "q5_1 q5_0 q4_1 q4_0 mxfp8 mxfp4 nvfp4"                                                                        },
      {{.expression = matmul, .mesh = "X=4", .hardware = "h100:8"},
       "--on: 8 devices, but --mesh X=4 has 4"                                                                        },
      {{.expression = "ij,jk", .hardware = "h100:8"},
       "--on: 8 devices, but without --mesh an einsum runs on one"                                                    },
  };
  for (const QueryRow& row : rows) {
    EXPECT_EQ(user_error_of([&] { return answer_einsum(row.query); }), row.message);
  }
}

TEST(EinsumErrors, SizesBeyond128BitsAreNamed) {
  const std::string sizes = "a=1024Gi,b=1024Gi,c=1024Gi,d=1024Gi";
  EXPECT_NE(user_error_of([&] {
              return einsum_json(answer_einsum({.expression = "ab,bcd->acd", .sizes = {sizes}}));
            }).find("FLOPs"),
            std::string::npos);
}

}  // namespace
}  // namespace flopwise
