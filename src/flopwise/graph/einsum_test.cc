#include "flopwise/graph/einsum.h"

#include <fmt/format.h>

#include "tests/testing.h"

namespace flopwise {
namespace {

// "I:contracting K:free -> C[K]"
std::string kinds_of(const EinsumSpec& spec) {
  std::string text;
  for (const EinsumAxis& axis : spec.axes) {
    text += fmt::format("{}:{} ", axis.name, name_of(axis.kind));
  }
  return text + "-> " + describe(spec.output);
}

struct Row {
  const char* expression;
  const char* kinds;
};

TEST(Einsum, WhatEachAxisIsFor) {
  constexpr Row kRows[] = {
      {"A[B,D] * W[D,F] -> C[B,F]",      "B:free D:contracting F:free -> C[B,F]"              },
      {"A[B,D] *_D W[D,F]",              "B:free D:contracting F:free -> C[B,F]"              },
      {"A[B, D]·W[D, F]→C[F, B]",     "B:free D:contracting F:free -> C[F,B]"              },
      {" A [ B , D ] * _ D W [D,F] ",    "B:free D:contracting F:free -> C[B,F]"              },
      {"bd,df->bf",                      "b:free d:contracting f:free -> C[b,f]"              },
      {" b d , d f - > ",                nullptr                                              },
      {"ij,jk",                          "i:free j:contracting k:free -> C[i,k]"              },
      {"ba,cb",
       "b:contracting a:free c:free -> C[a,c]"                                                }, // in order of appearance, not of the alphabet
      {"bij,bjk->bik",                   "b:batching i:free j:contracting k:free -> C[b,i,k]" },
      {"ij,ij->ij",                      "i:batching j:batching -> C[i,j]"                    },
      {"ij,ij",                          "i:contracting j:contracting -> C[]"                 },
      {"ijs,jk->ik",                     "i:free j:contracting s:summed k:free -> C[i,k]"     },
      {"ij->",                           "i:summed j:summed -> C[]"                           },
      {"ij->ji",                         "i:free j:free -> C[j,i]"                            },
      {"ij",                             "i:free j:free -> C[i,j]"                            },
      {"->",                             "-> C[]"                                             },
      {",i",                             "i:free -> C[i]"                                     },
      {"Aa,aB->AB",                      "A:free a:contracting B:free -> C[A,B]"              },
      {"A[I,J] * B[J,K] * C[K,L]",       "I:free J:contracting K:contracting L:free -> D[I,L]"},
      {"A[]",                            "-> C[]"                                             },
      {"W_in[d',ff2] * x[d'] -> h[ff2]", "d':contracting ff2:free -> h[ff2]"                  },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    if (row.kinds == nullptr) {
      EXPECT_NE(user_error_of([&] { return parse_einsum(row.expression); }), "no error");
    } else {
      EXPECT_EQ(kinds_of(parse_einsum(row.expression)), row.kinds);
    }
  }
}

TEST(Einsum, ShardingIsReadAndPrintedBack) {
  constexpr Row kRows[] = {
      {"A[B_X, D_Y] *_D W[D_Y, F] -> C[B_X, F] {U_Y}",       "A[B_X,D_Y] * W[D_Y,F] -> C[B_X,F] {U_Y}"},
      {"A[B_XY] -> C[B_{X,Y}]",                              "A[B_XY] -> C[B_XY]"                     },
      {"A[B_{dp,fsdp}] {U_{tp}} -> C[B_{dp,fsdp}] {U_{tp}}",
       "A[B_{dp,fsdp}] {U_{tp}} -> C[B_{dp,fsdp}] {U_{tp}}"                                           },
      {"A[B_{X,tp}]",                                        "A[B_{X,tp}] -> C[B]"                    },
      {"A[U,B] {U_XY}",                                      "A[U,B] {U_XY} -> C[U,B]"                },
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(describe(parse_einsum(row.expression)), row.kinds);
    const std::string once = describe(parse_einsum(row.expression));
    EXPECT_EQ(describe(parse_einsum(once)), once);
  }
}

TEST(Einsum, OnlyAnOutputInBracketsAsksForAPlacement) {
  EXPECT_TRUE(parse_einsum("A[B] -> C[B]").asks_placement);
  EXPECT_FALSE(parse_einsum("A[B]").asks_placement);
  EXPECT_FALSE(parse_einsum("b->b").asks_placement);
}

// "(A*B)[I,K] over I,J,K; ..."
std::string steps_text(const std::vector<EinsumStep>& steps) {
  std::string text;
  for (const EinsumStep& step : steps) {
    text += fmt::format("{}[{}] over {}; ", step.result, fmt::join(step.result_axes, ","),
                        fmt::join(step.loop_axes, ","));
  }
  return text;
}

TEST(Einsum, StepsCarryWhatIsStillNeeded) {
  // i is shared by all three: it stays until the last product.
  const EinsumSpec spec = parse_einsum("ij,ik,il->jkl");
  EXPECT_EQ(steps_text(einsum_steps(spec,
                                    {
                                        {0, 1},
                                        {3, 2}
  })),
            "(A*B)[i,j,k] over i,j,k; D[j,k,l] over i,j,k,l; ");
  EXPECT_EQ(steps_text(einsum_steps(spec,
                                    {
                                        {1, 2},
                                        {0, 3}
  })),
            "(B*C)[i,k,l] over i,k,l; D[j,k,l] over i,j,k,l; ");
}

TEST(Einsum, SummedAxesGoFirst) {
  const EinsumSpec spec = parse_einsum("ijs,jkt->ik");
  EXPECT_EQ(steps_text(einsum_steps(spec,
                                    {
                                        {0, 1}
  })),
            "sum(A)[i,j] over i,j,s; sum(B)[j,k] over j,k,t; C[i,k] over i,j,k; ");
}

TEST(Einsum, OneOperandIsAddedUpOrOnlyTransposed) {
  EXPECT_EQ(steps_text(einsum_steps(parse_einsum("ij->"), {})), "C[] over i,j; ");
  EXPECT_EQ(steps_text(einsum_steps(parse_einsum("ij->ji"), {})), "");
}

// ---- no text does harm -------------------------------------------------------------------------

void expect_spec_or_one_line(const std::string& text) {
  try {
    const EinsumSpec spec = parse_einsum(text);
    RC_ASSERT(!spec.operands.empty());
    RC_ASSERT(parse_einsum(describe(spec)).axes.size() == spec.axes.size());
  } catch (const UserError& error) {
    const std::string message = error.what();
    RC_ASSERT(message.rfind("einsum: ", 0) == 0);
    RC_ASSERT(one_line(message) == message);
  }
}

RC_GTEST_PROP(EinsumText, AnyBytes, (const std::string& text)) {
  expect_spec_or_one_line(text);
}

RC_GTEST_PROP(EinsumText, AnyOrderOfItsOwnPieces, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "A", "B", "[", "]", ",", "_", "{", "}", "U", "*", "·", "->", "→", "...", " ", "'", "1", "x",
      "\xc3", "\xff", std::string(1, '\0')));
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  expect_spec_or_one_line(text);
}

TEST(EinsumText, LongTextsAreRefusedQuickly) {
  for (const char* piece : {"A", "[", "A[", "A[B]*", "a,", "i", "A[B_{X,", "{U_", " ", "*"}) {
    std::string text = "A[";
    while (text.size() + 8 < kMaxEinsumBytes) text += piece;
    EXPECT_NE(user_error_of([&] { return parse_einsum(text); }), "no error") << piece;
  }
}

}  // namespace
}  // namespace flopwise
