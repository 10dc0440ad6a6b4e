// Every plot as gnuplot draws it: well-formed SVG with its axes' titles, PNG that is not blank.
#include <fmt/format.h>

#include "tests/errors/run_program.h"

namespace flopwise {
namespace {

struct Picture {
  const char* arguments;  // up to the file
  const char* x_title;
  const char* y_title;
};
constexpr Picture kPictures[] = {
    {"roofline llama-3-8b --on h100 --plot",                                           "arithmetic intensity (FLOP/B)",
     "attained rate of matrix work (FLOP/s)"                                                                                                                },
    {"plot attention-cost llama-3-8b --on h100 --out",                                 "context, T = S (tokens)",
     "attention / feed-forward"                                                                                                                             },
    {"plot memory llama-3-8b --on h100:8 --batch 8 --mesh fsdp=8 --remat block --out",
     "context (tokens)",                                                                                                "memory of the busiest device (GiB)"},
    {"plot memory llama-3-8b --on h100:4 --batch 8 --over devices --out",              "devices",
     "memory of the busiest device (GiB)"                                                                                                                   },
    {"plot memory llama-3-8b --mode serve --on h100:2 --batch 4 --out",
     "context, prompt and output (tokens)",                                                                             "memory of the busiest device (GiB)"},
    {"plot memory llama-3-8b --mode serve --on h100:4 --batch 4 --over devices --out", "devices",
     "memory of the busiest device (GiB)"                                                                                                                   },
    {"plot pareto llama-3-8b --on h100:4 --out",                                       "time per output token (s)",
     "output of a device (tokens/s)"                                                                                                                        },
    {"plot pareto llama-3-8b --mode train --on h100:4 --batch 8 --out",
     "expected time of a step (s)",                                                                                     "memory of the busiest device (GiB)"},
    {"plot scaling llama-3-8b --on h100:16 --batch 16 --out",                          "devices",                       "time of a step (s)"                },
};

std::string check(const std::string& file, const std::string& texts) {
  const std::string out = own_folder() + "check.txt";
  const std::string command = "python3 '" FLOPWISE_SOURCE_DIR "/tests/plots/check_picture.py' '" +
                              file + "' " + texts + " > '" + out + "' 2>&1";
  const int status = std::system(command.c_str());
  return status == 0 ? "" : text_of(out);
}

TEST(Pictures, SvgIsWellFormedAndPngIsNotBlank) {
  for (const Picture& picture : kPictures) {
    SCOPED_TRACE(picture.arguments);
    for (const char* ending : {".svg", ".png"}) {
      const std::string file = own_folder() + "picture" + ending;
      const Ran ran = run_program(std::string(picture.arguments) + " '" + file + "'");
      ASSERT_EQ(ran.exit_status, 0) << ran.err;
      EXPECT_EQ(ran.err, "");
      const std::string texts = fmt::format("'{}' '{}'", picture.x_title, picture.y_title);
      EXPECT_EQ(check(file, std::string_view(ending) == ".svg" ? texts : ""), "");
    }
  }
}

// A name that gnuplot would run, were it not quoted: a quote, a command, a substitution, a shell.
TEST(Pictures, NoNameBecomesACommand) {
  const std::string folder = own_folder();
  const std::string name = folder + "a'; system 'touch ran'; print `touch ran` @x #.json";
  std::filesystem::remove(folder + "ran");  // of an earlier, failed run
  std::ofstream(name) << R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
    "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 100})";
  const std::string quoted_name =
      "\"" + folder + "a'; system 'touch ran'; print \\`touch ran\\` @x #.json\"";
  const Ran ran = run_program("plot attention-cost " + quoted_name + " --out picture.svg");
  ASSERT_EQ(ran.exit_status, 0) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(folder + "ran"));
  EXPECT_EQ(check(folder + "picture.svg", "\"system 'touch ran'; print \\`touch ran\\` @x #\""),
            "");
}

// The same numbers in each form.
TEST(Pictures, FilesHoldWhatTheTerminalGetsAsJson) {
  const std::string plot = "plot attention-cost llama-3-8b --to 1Ki";
  const Ran printed = run_program(plot + " --json");
  ASSERT_EQ(printed.exit_status, 0) << printed.err;
  const Ran written = run_program(plot + " --out data.json");
  EXPECT_EQ(written.out, "");
  EXPECT_EQ(text_of(own_folder() + "data.json"), printed.out);
  EXPECT_EQ(run_program(plot + " --out data.csv").exit_status, 0);
  EXPECT_TRUE(text_of(own_folder() + "data.csv")
                  .starts_with("style,series,context_tokens,attention_over_feed_forward,label\n"));
}

// With a file beside it the answer of roofline is what it is without one.
TEST(Pictures, RooflineStillAnswers) {
  const std::string roofline = "roofline llama-3-8b --on h100 --json";
  EXPECT_EQ(run_program(roofline + " --plot data.csv").out, run_program(roofline).out);
}

}  // namespace
}  // namespace flopwise
