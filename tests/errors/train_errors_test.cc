// Every way to get `flopwise train` and `flopwise serve` wrong: exit status 2 and this line; and a
// no: exit status 1 with the answer.
#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

TEST(TrainErrors, Train) {
  constexpr Refused kRows[] = {
      {"train",                                                        "train: MODEL is required"            },
      {"train llama-3-8b --batch 8",                                   "train: --on is required"             },
      {"train llama-3-8b --on h100:8",
       "train: expected --batch SEQUENCES or --batch-tokens TOKENS, got neither"                             },
      {"train llama-3-8b --on h100:8 --batch 8 --batch-tokens 8k",
       "train: expected --batch SEQUENCES or --batch-tokens TOKENS, got both"                                },
      {"train llama-3-8b --on h100:8 --batch-tokens 1000 --seq 512",
       "--batch-tokens: expected a multiple of T = 512, got 1000"                                            },
      {"train llama-3-8b --on h100:8 --batch 0",
       "--batch: expected a whole number of 1 ... 2^40, got '0'"                                             },
      {"train llama-3-8b --on h100:0 --batch 8",
       "hardware count: expected a whole number of 1 ... 2^40, got '0'"                                      },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh dp=4",
       "train: mesh dp=4 has 4 devices, expected the 8 of --on"                                              },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh dp=8,xp=2",
       "mesh: unknown axis 'xp', expected dp, fsdp, tp, cp, pp or ep"                                        },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh dp=0",
       "mesh axis 'dp': expected a whole number of 1 ... 2^40, got '0'"                                      },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh ep=8",
       "train: ep=8: the model has no experts, expected ep=1"                                                },
      {"train llama-3-8b --on h100:6 --batch 6 --mesh tp=6",
       "train: N = 32 (block layer), expected a multiple of 6"                                               },
      {"train llama-3-8b --on h100:8 --batch 7 --mesh dp=8",
       "train: 7 sequences, expected a multiple of dp*fsdp*ep*micro-batch = 8"                               },
      {"train llama-3-8b --on h100:64 --batch 64 --mesh pp=64",
       "train: pp*interleave = 64 stages, expected at most the 32 layers"                                    },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh dp=8 --zero 3",
       "--zero: expected 0, 1 or 2; stage 3 is the mesh axis fsdp, got '3'"                                  },
      {"train llama-3-8b --on h100:8 --batch 8 --mesh dp=8 --zero x",
       "--zero: expected 0, 1 or 2, got 'x'"                                                                 },
      {"train llama-3-8b --on h100:8 --batch 8 --recipe adam",
       "--recipe: expected megatron, zero, book, maxtext, fp32, or bytes of "
       "parameters+gradients+optimizer such as 2+4+12, got 'adam'"                                           },
      {"train llama-3-8b --on h100:8 --batch 8 --dtype fp4",
       "hardware 'H100-SXM5-80GB': no peak for fp4, known: fp64, fp64_matrix, fp32, tf32, fp16, "
       "bf16, fp8, "
       "int8"                                                                                                },
      {"train llama-3-8b --on h100:8 --batch 8 --matmul-dtype fp4",
       "hardware 'H100-SXM5-80GB': no peak for fp4, known: fp64, fp64_matrix, fp32, tf32, fp16, "
       "bf16, fp8, "
       "int8"                                                                                                },
      {"train llama-3-8b --on h100:8 --batch 8 --flash 4",             "--flash: expected 1, 2 or 3, got '4'"},
      {"train llama-3-8b --on h100:963761198400 --batch 963761198400",
       "963761198400 devices make 3445312500 meshes, more than the 200000 that are searched: "
       "expected --mesh"                                                                                     },
      {"train llama-3-8b --on h100:8 --batch 8 --sort price",
       "--sort: expected time or memory, got 'price'"                                                        },
      {"train llama-3-8b --on h100:8 --batch 8 --tokens 1.5",
       "--tokens: expected a whole number above 0, got '1.5'"                                                },
      {"train llama-3-8b --on h100:8 --batch 8 --price -1",
       "--price: expected dollars an hour, got '-1'"                                                         },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

TEST(TrainErrors, Serve) {
  constexpr Refused kRows[] = {
      {"serve llama-3-8b --on h100:8 --mesh pp=8", "serve: mesh pp=8: expected dp, tp and ep only"},
      {"serve llama-3-8b --on h100:3 --mesh tp=3",
       "serve: N = 32 (block layer), expected a multiple of 3"                                    },
      {"serve bert-base --on h100",
       "serve: bert-base is an encoder, expected a model that decodes"                            },
      {"serve llama-3-8b --on h100 --batch many",
       "--batch: expected a whole number of 1 ... 2^40, got 'many'"                               },
      {"serve llama-3-8b --on h100 --ttft 0ms",
       "--ttft: expected a time above 0 such as 30ms, got '0ms'"                                  },
      {"serve llama-3-8b --on h100 --weights fp7", "--weights: unknown"                           },
  };
  for (const Refused& row : kRows) {
    SCOPED_TRACE(row.arguments);
    const Ran ran = run_program(row.arguments);
    EXPECT_EQ(ran.exit_status, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_TRUE(ran.err.starts_with(std::string("flopwise: ") + row.message)) << ran.err;
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1);
  }
}

// A no is an answer: what it lacks, and the nearest that fits.
TEST(TrainErrors, DoesNotFit) {
  const Ran plan = run_program("train llama-3-70b --on h100:8 --batch 8 --seq 2048 --mesh dp=8");
  EXPECT_EQ(plan.exit_status, 1);
  EXPECT_NE(plan.out.find("more than the 75.20 GiB usable"), std::string::npos) << plan.out;
  EXPECT_NE(plan.out.find("no plan on these devices fits"), std::string::npos) << plan.out;
  const Ran nearest =
      run_program("train llama-3-70b --on h100:64 --batch 64 --seq 2048 --mesh dp=64");
  EXPECT_EQ(nearest.exit_status, 1);
  EXPECT_NE(nearest.out.find("the fastest that fits:"), std::string::npos) << nearest.out;
  const Ran serve = run_program("serve llama-3.1-405b --on h100 --json");
  EXPECT_EQ(serve.exit_status, 1);
  EXPECT_NE(serve.out.find("\"ttft_s\": null"), std::string::npos) << serve.out;
  EXPECT_NE(serve.out.find("\"fits\": false"), std::string::npos);
}

}  // namespace
}  // namespace flopwise
