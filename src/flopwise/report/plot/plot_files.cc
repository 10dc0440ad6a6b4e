#include "flopwise/report/plot/plot_files.h"

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"

namespace flopwise {
namespace {

const char* name_of_scale(AxisScale scale) {
  switch (scale) {
    case AxisScale::kLinear:
      return "linear";
    case AxisScale::kLog2:
      return "log2";
    case AxisScale::kLog10:
      return "log10";
  }
  throw InternalError("unknown scale of an axis");
}

std::string digits_of(double value) {
  return Json(value).str();
}

Json axis_json(const PlotAxis& axis) {
  Json json = Json::object();
  json.add("key", axis.key)
      .add("label", axis.label)
      .add("unit", axis.unit)
      .add("scale", name_of_scale(axis.scale));
  return json;
}

Json series_json(const PlotSeries& series) {
  Json points = Json::array();
  for (const PlotPoint& point : series.points) {
    points.push(Json::object()
                    .add("x", point.x)
                    .add("y", point.y)
                    .add("label", point.label.empty() ? Json(nullptr) : Json(point.label)));
  }
  return Json::object()
      .add("name", series.name)
      .add("style", name_of(series.style))
      .add("points", std::move(points));
}

}  // namespace

std::string plot_csv(const PlotData& data) {
  TextTable table({
      {"style",    Align::kLeft },
      {"series",   Align::kLeft },
      {data.x.key, Align::kRight},
      {data.y.key, Align::kRight},
      {"label",    Align::kLeft },
  });
  for (const PlotSeries& series : data.series) {
    for (const PlotPoint& point : series.points) {
      table.add_row({name_of(series.style), series.name, digits_of(point.x), digits_of(point.y),
                     point.label});
    }
  }
  for (const PlotMark& mark : data.marks) {
    const bool of_x = mark.of == MarkOf::kX;
    table.add_row(
        {"mark", "", of_x ? digits_of(mark.at) : "", of_x ? "" : digits_of(mark.at), mark.label});
  }
  return table.str(TableStyle::kCsv);
}

Json plot_json(const PlotData& data) {
  Json series = Json::array();
  for (const PlotSeries& each : data.series) series.push(series_json(each));
  Json marks = Json::array();
  for (const PlotMark& mark : data.marks) {
    marks.push(Json::object()
                   .add("axis", mark.of == MarkOf::kX ? "x" : "y")
                   .add("at", mark.at)
                   .add("label", mark.label));
  }
  Json notes = Json::array();
  for (const std::string& note : data.notes) notes.push(note);
  return Json::object()
      .add("schema", 1)
      .add("plot", data.name)
      .add("title", data.title)
      .add("subtitle", data.subtitle)
      .add("x", axis_json(data.x))
      .add("y", axis_json(data.y))
      .add("series", std::move(series))
      .add("marks", std::move(marks))
      .add("notes", std::move(notes));
}

}  // namespace flopwise
