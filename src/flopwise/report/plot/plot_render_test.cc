// What the renderers make of a plot that has one of everything.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/report/plot/contexts.h"
#include "flopwise/report/plot/plot_files.h"
#include "flopwise/report/plot/plot_gnuplot.h"
#include "flopwise/report/plot/plot_layout.h"
#include "flopwise/report/plot/plot_text.h"
#include "flopwise/report/plot/plot_view.h"

namespace flopwise {
namespace {

PlotData sample() {
  PlotData data;
  data.name = "sample";
  data.title = "A sample";
  data.subtitle = "of a plot";
  data.x = {"devices", "devices", "", AxisScale::kLog2, AxisPrefix::kNone};
  data.y = {"memory_bytes", "memory", "B", AxisScale::kLinear, AxisPrefix::kBinary};
  data.series = {
      {"low",     SeriesStyle::kBars, {{1, 0x1p31, "", ""}, {2, 0x1p30, "", ""}}},
      {"high",    SeriesStyle::kBars, {{1, 0x1p30, "", ""}, {2, 0x1p30, "", ""}}},
      {"a, line",
       SeriesStyle::kLinePoints,
       {{1, 0.1, "first \"one\"", "one"}, {2, 0x1p32, "", ""}}                  },
  };
  data.marks = {
      {MarkOf::kY, 0x1p31, "limit"},
      {MarkOf::kX, 1.5,    "here" }
  };
  data.notes = {"a note"};
  return data;
}

std::vector<std::string> labels_of(const AxisView& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.ticks) labels.push_back(tick.label);
  return labels;
}

TEST(PlotFiles, Csv) {
  EXPECT_EQ(plot_csv(sample()),
            "style,series,devices,memory_bytes,label\n"
            "bars,low,1,2147483648,\n"
            "bars,low,2,1073741824,\n"
            "bars,high,1,1073741824,\n"
            "bars,high,2,1073741824,\n"
            "line and points,\"a, line\",1,0.10000000000000001,\"first \"\"one\"\"\"\n"
            "line and points,\"a, line\",2,4294967296,\n"
            "mark,,,2147483648,limit\n"
            "mark,,1.5,,here\n");
}

TEST(PlotFiles, Json) {
  PlotData data = sample();
  data.series.resize(1);
  data.series[0].points.resize(1);
  data.marks.resize(1);
  EXPECT_EQ(plot_json(data).str(-1),
            R"({"schema":1,"plot":"sample","title":"A sample","subtitle":"of a plot",)"
            R"("x":{"key":"devices","label":"devices","unit":"","scale":"log2"},)"
            R"("y":{"key":"memory_bytes","label":"memory","unit":"B","scale":"linear"},)"
            R"("series":[{"name":"low","style":"bars",)"
            R"("points":[{"x":1,"y":2147483648,"label":null}]}],)"
            R"("marks":[{"axis":"y","at":2147483648,"label":"limit"}],"notes":["a note"]})");
}

TEST(PlotView, TicksCarryUnitsAndPrefixes) {
  PlotData data = sample();
  const PlotView stacked = view_of(data, 8, 6);
  EXPECT_EQ(stacked.y.title, "memory (GiB)");
  EXPECT_EQ(labels_of(stacked.y), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(labels_of(stacked.x), (std::vector<std::string>{"1", "2"}));
  data.y = {"time_s", "time", "s", AxisScale::kLog10, AxisPrefix::kSi};
  data.series = {
      {"t", SeriesStyle::kLine, {{1024, 2e-3, "", ""}, {4096, 3, "", ""}}}
  };
  data.marks.clear();
  data.x.prefix = AxisPrefix::kBinary;
  const PlotView logarithmic = view_of(data, 8, 4);
  EXPECT_EQ(logarithmic.y.title, "time (s)");
  EXPECT_EQ(labels_of(logarithmic.y), (std::vector<std::string>{"10 ms", "100 ms", "1 s"}));
  EXPECT_EQ(labels_of(logarithmic.x), (std::vector<std::string>{"1 Ki", "2 Ki", "4 Ki"}));
}

TEST(PlotView, PlacesAndStacks) {
  const PlotData data = sample();
  const PlotView view = view_of(data, 8, 6);
  EXPECT_DOUBLE_EQ(view.x.place(view.x.low), 0);
  EXPECT_DOUBLE_EQ(view.x.place(view.x.high), 1);
  EXPECT_NEAR(view.x.value_at(view.x.place(1.5)), 1.5, 1e-12);
  const auto stacks = stacks_of(data);
  EXPECT_EQ(stacks[0][0].low, 0);
  EXPECT_EQ(stacks[1][0].low, 0x1p31);
  EXPECT_EQ(stacks[1][0].high, 0x1p31 + 0x1p30);
  EXPECT_TRUE(stacks[2].empty());
}

TEST(PlotView, NothingToDraw) {
  PlotData data = sample();
  data.y.scale = AxisScale::kLog10;
  data.series = {
      {"zero", SeriesStyle::kLine, {{1, 0, "", ""}, {2, NAN, "", ""}}}
  };
  try {
    view_of(data, 8, 6);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "plot sample: no point to draw");
  }
}

TEST(PlotText, EightyColumnsWithAxesAndLegend) {
  const std::string text = plot_text(sample());
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_LE(end - begin, 80u) << text.substr(begin, end - begin);
  }
  for (const char* part : {"A sample\nof a plot\n\nmemory (GiB)\n", "\n4 +", "\n0 +",
                           "\n  =  high\n  #  low\n  *  a, line\n  a  a, line: one\n  -  limit\n"
                           "  |  here\na note\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// A line is straight on its axes, and stops where a logarithmic one has no place.
TEST(PlotText, LinesBreakAtZero) {
  PlotData data = sample();
  data.y = {"ratio", "ratio", "", AxisScale::kLog10, AxisPrefix::kNone};
  data.marks.clear();
  data.series = {
      {"broken", SeriesStyle::kLine, {{1, 1, "", ""}, {2, 0, "", ""}, {4, 100, "", ""}}}
  };
  const std::string broken = plot_text(data);
  data.series[0].points[1].y = 10;
  const std::string whole = plot_text(data);
  const auto stars = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '*');
  };
  EXPECT_EQ(stars(broken), 2 + 1);  // and one in the legend
  EXPECT_GT(stars(whole), 60);
}

TEST(PlotGnuplot, TextsAreQuotedAndOneLine) {
  PlotData data = sample();
  data.title = "it's `rm` @x\nset output";
  const std::string script = plot_gnuplot(data, PictureFormat::kSvg);
  EXPECT_NE(script.find("set label 'it''s `rm` @x\\nset output' at"), std::string::npos) << script;
  EXPECT_EQ(script.find("\nset output"), std::string::npos);
  EXPECT_NE(script.find("set terminal svg noenhanced"), std::string::npos);
  EXPECT_NE(script.find("set ylabel 'memory (GiB)'"), std::string::npos);
  EXPECT_NE(plot_gnuplot(data, PictureFormat::kPng).find("set terminal pngcairo"),
            std::string::npos);
}

// Many points side by side: what is placed overlaps nothing that is placed.
TEST(PlotLayout, LabelsDoNotOverlap) {
  PlotData data = sample();
  data.x = data.y = {"n", "n", "", AxisScale::kLinear, AxisPrefix::kNone};
  data.marks.clear();
  data.series = {
      {"many", SeriesStyle::kPoints, {}}
  };
  for (int i = 0; i < 40; ++i)
    data.series[0].points.push_back({i * 0.25, 5, "", fmt::format("label {}", i)});
  const PlotFrame frame{
      {100, 100, 900, 600}
  };
  const PlotLabels labels = place_labels(data, view_of(data, 8, 8), frame);
  EXPECT_GT(labels.of_points.size(), 20u);
  const auto box = [&](const PlacedLabel& label) {
    const double half = frame.letter_height / 2;
    const double width = static_cast<double>(label.text.size()) * frame.letter_width;
    return PixelBox{label.x, label.y - half, label.x + width, label.y + half};
  };
  for (const PlacedLabel& a : labels.of_points) {
    EXPECT_GE(a.x, 100);
    for (const PlacedLabel& b : labels.of_points) {
      if (&a != &b) {
        EXPECT_FALSE(box(a).overlaps(box(b))) << a.text << ", " << b.text;
      }
    }
  }
}

TEST(Contexts, PowersOfTwoAndTheMiddles) {
  EXPECT_EQ(contexts_between(3, 17), (std::vector<std::int64_t>{3, 4, 6, 8, 12, 16, 17}));
  EXPECT_EQ(contexts_between(1024, 4096),
            (std::vector<std::int64_t>{1024, 1536, 2048, 3072, 4096}));
  EXPECT_EQ(contexts_between(5, 5), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(device_counts(1, 12), (std::vector<std::int64_t>{1, 2, 4, 8, 12}));
  EXPECT_EQ(device_counts(3, 8), (std::vector<std::int64_t>{4, 8}));
  EXPECT_THROW(contexts_between(2, 1), UserError);
  EXPECT_THROW(device_counts(2, 1), UserError);
}

}  // namespace
}  // namespace flopwise
