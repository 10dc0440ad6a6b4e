// `flopwise prove`: what it refuses, and what it says when all is well.
#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

TEST(ProveErrors, Usage) {
  constexpr const char* kOne = "prove: expected one of MODEL, --einsum EXPR and --all, got ";
  const std::string none = std::string(kOne) + "none";
  const std::string several = std::string(kOne) + "several";
  const Refused rows[] = {
      {"prove",                              none.c_str()                                                         },
      {"prove gpt2 --all",                   several.c_str()                                                      },
      {"prove gpt2 --einsum ij,jk",          several.c_str()                                                      },
      {"prove --all --einsum ij,jk",         several.c_str()                                                      },
      {"prove ''",                           "prove: MODEL: expected a value, got ''"                             },
      {"prove gpt2 --remat blok",
       "--remat: expected none, attention, matmuls, block, full or save:NAME,NAME..., got "
       "'blok'"                                                                                                   },
      {"prove gpt2 --attention-kernel fast",
       "--attention-kernel: expected flash, plain or both, got 'fast'"                                            },
      {"prove gpt2 --batch 4",               "prove: unexpected argument '--batch'"                               },
      {"prove params=7e9,active=1e9",
       "letters: unknown key 'params', known: D, F, L, V, N, K, H, E, k, W, C, gated, tied, bias, "
       "norm, final_norm, positions, shared, causal"                                                              },
      {"prove lama-3-8b",                    "unknown model 'lama-3-8b', nearest: llama-3-8b, llama-7b, llama-30b"},
  };
  for (const Refused& row : rows) expect_refused(row);
}

TEST(ProveErrors, Lists) {
  const Ran ran = run_program("prove gpt2 --remat save:attention.p");
  EXPECT_EQ(ran.exit_status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err.rfind("flopwise: --remat save: no tensor 'attention.p' in a layer, known: ", 0),
            0U)
      << ran.err;
}

TEST(ProveErrors, Einsums) {
  const Refused rows[] = {
      {"prove --einsum 'A[I,J] * B[J,K'",
       "einsum: column 15: expected ',' or ']' after an axis, got the end"                                                    },
      {"prove --einsum 'ij->ji'",
       "einsum: A[i,j] -> C[j,i] executes nothing, expected several operands or an axis to add up"                            },
      {"prove --einsum ij,jk --remat full",
       "prove --einsum: expected no --remat and no --attention-kernel, an einsum has neither"                                 },
      {"prove --einsum ''",                                                        "prove: --einsum: expected a value, got ''"},
      {"prove --einsum 'abcdefghijklmnopqrstuvwxyz,abcdefghijklmnopqrstuvwxyz->'",
       "einsum: step C runs over 26 axes, too many to execute"                                                                },
  };
  for (const Refused& row : rows) expect_refused(row);
}

// The last lines of a proof that holds, whichever part of it was asked for.
TEST(Prove, SaysWhatWasCompared) {
  const Ran all = run_program("prove bert-base");
  EXPECT_EQ(all.exit_status, 0);
  EXPECT_NE(
      all.out.find("\nbert-base: proven\n  143 operations in 306 steps at 73 draws of sizes; "),
      std::string::npos)
      << all.out.substr(all.out.size() - 400);
  const Ran part = run_program("prove gpt2 --remat save:mlp.up --attention-kernel plain");
  EXPECT_EQ(part.exit_status, 0);
  EXPECT_NE(part.out.find("\ngpt2: proven\n"), std::string::npos);
  const Ran letters = run_program(
      "prove D=64,L=4,V=100,N=4,K=2,E=8,k=2,W=16 --remat block --attention-kernel flash --json");
  EXPECT_EQ(letters.exit_status, 0);
  EXPECT_EQ(letters.out.rfind("{\n  \"schema\": 1,\n  \"proofs\": [\n", 0), 0U);
  const Ran einsum = run_program("prove --einsum ij,jk-\\>ik");
  EXPECT_EQ(einsum.exit_status, 0);
  EXPECT_NE(einsum.out.find("A[i,j] * B[j,k] -> C[i,k]: proven\n"), std::string::npos);
  // As many operands as are read: once too slow to end.
  const Ran chain =
      run_program("prove --einsum 'ab,bc,cd,de,ef,fg,gh,hi,ij,jk,kl,lm,mn,no,op,pq->aq'");
  EXPECT_EQ(chain.exit_status, 0);
  EXPECT_NE(chain.out.find("\n  15 operations in 77 steps at 77 draws of sizes; "),
            std::string::npos);
}

}  // namespace
}  // namespace flopwise
