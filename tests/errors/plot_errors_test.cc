// Every way to get `flopwise plot` and `roofline --plot` wrong: exit status 2 and this line.
#include <cstdlib>

#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

TEST(PlotErrors, Refused) {
  constexpr Refused kRows[] = {
      {"plot",                                                                    "plot: which one? known: attention-cost memory pareto scaling"},
      {"plot violin llama-3-8b",
       "unknown plot 'violin', known: attention-cost memory pareto scaling"                                                                     },
      {"plot scaling",                                                            "plot scaling: MODEL is required"                             },
      {"plot scaling llama-3-8b --batch 8",                                       "plot scaling: --on is required"                              },
      {"plot scaling llama-3-8b --on h100:8 --btch 8",
       "plot scaling: unexpected argument '--btch', did you mean --batch?"                                                                      },
      {"plot attention-cost llama-3-8b --out picture.gif",
       "--out: expected a file name that ends in .svg, .png, .csv or .json, got 'picture.gif'"                                                  },
      {"plot attention-cost llama-3-8b --out .svg",
       "--out: expected a file name that ends in .svg, .png, .csv or .json, got '.svg'"                                                         },
      {"plot attention-cost llama-3-8b --out no/such/folder/a.csv",
       "--out: cannot write 'no/such/folder/a.csv': No such file or directory"                                                                  },
      {"plot attention-cost llama-3-8b --out a.csv --json",
       "plot: expected --out FILE or --json, got both"                                                                                          },
      {"plot attention-cost llama-3-8b --pairs some",
       "--pairs: expected masked or dense, got 'some'"                                                                                          },
      {"plot attention-cost llama-3-8b --from 2048 --to 1024",
       "--from, --to: expected a range, got 2048 to 1024"                                                                                       },
      {"plot attention-cost llama-3-8b --on h100:8",
       "--on: attention-cost looks at one device, expected no number of them, got 'h100:8'"                                                     },
      {"plot attention-cost mamba-130m",
       "T = 128: plot attention-cost: mamba-130m has no attention, expected a model that has"                                                   },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --over time",
       "--over: expected context or devices, got 'time'"                                                                                        },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --mode sleep",
       "--mode: expected train or serve, got 'sleep'"                                                                                           },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --prompt 8",
       "--prompt: expected it with --mode serve only"                                                                                           },
      {"plot memory llama-3-8b --on h100:8 --mode serve --sequence-parallel",
       "--sequence-parallel: expected it with --mode train only"                                                                                },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --over devices --mesh dp=8",
       "plot memory: --mesh fixes the devices, expected --over context or no --mesh"                                                            },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --over devices --from 16",
       "--from: expected at most the 8 devices of --on, got 16"                                                                                 },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --over devices --to 8",
       "plot memory: --to is the number of devices of --on, expected none"                                                                      },
      {"plot memory llama-3-8b --on h100:8 --batch 8 --mesh ep=8",
       "plot memory: ep=8: the model has no experts, expected ep=1"                                                                             },
      {"plot memory llama-3-8b --mode serve --on h100:3 --mesh tp=3",
       "plot memory: N = 32 (block layer), expected a multiple of 3"                                                                            },
      {"plot pareto llama-3-8b --on h100:8 --mesh tp=8",
       "plot pareto: it looks at every mesh, expected no --mesh"                                                                                },
      {"plot pareto llama-3.1-405b --on h100",
       "plot pareto: no mesh of 1 devices serves the model: 1 too large, 0 too slow, 0 do not "
       "divide it"                                                                                                                              },
      {"plot scaling llama-3-70b --on h100:2 --batch 8",
       "plot scaling: no plan of up to 2 devices fits"                                                                                          },
      {"plot scaling llama-3-8b --on h100:8 --batch 8 --mesh dp=8",
       "plot scaling: --mesh fixes the devices, expected none"                                                                                  },
      {"roofline llama-3-8b --on h100 --plot roof.pdf",
       "--plot: expected a file name that ends in .svg, .png, .csv or .json, got 'roof.pdf'"                                                    },
      {"roofline llama-3-8b --on h100 --json --plot",
       "roofline: expected --plot FILE with --json, got no file"                                                                                },
  };
  for (const Refused& row : kRows) expect_refused(row);
}

// Only pictures need gnuplot.
TEST(PlotErrors, GnuplotIsMissing) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const std::string plot = "plot attention-cost llama-3-8b --to 256 --out ";
  expect_refused({"plot attention-cost llama-3-8b --to 256 --out a.svg",
                  "gnuplot is not installed, which draws .svg and .png (Debian: apt-get install "
                  "gnuplot-nox); .csv, .json and the terminal need none"});
  EXPECT_FALSE(std::filesystem::exists(own_folder() + "a.svg"));
  EXPECT_EQ(run_program(plot + "a.csv").exit_status, 0);
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace flopwise
