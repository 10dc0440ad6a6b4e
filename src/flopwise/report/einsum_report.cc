#include "flopwise/report/einsum_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/hardware/hardware.h"

namespace flopwise {
namespace {

// ---- reading the query -------------------------------------------------------------------------

bool has_axis(const EinsumSpec& spec, std::string_view name) {
  return std::any_of(spec.axes.begin(), spec.axes.end(),
                     [&](const EinsumAxis& axis) { return axis.name == name; });
}

std::string axis_list(const EinsumSpec& spec) {
  std::string text;
  for (const EinsumAxis& axis : spec.axes) text += " " + axis.name;
  return text.empty() ? " none" : text;
}

void read_size(std::string_view item, const EinsumSpec& spec, Sizes& sizes) {
  const std::size_t equals = item.find('=');
  const std::string axis(item.substr(0, equals));
  if (equals == std::string_view::npos || axis.empty()) {
    throw UserError(fmt::format("--size: expected AXIS=N such as B=1024, got {}", quoted(item)));
  }
  if (!has_axis(spec, axis)) {
    throw UserError(fmt::format("--size: the expression has no axis {}, its axes:{}", quoted(axis),
                                axis_list(spec)));
  }
  const std::int64_t size =
      parse_axis_size(item.substr(equals + 1), fmt::format("--size {}", axis));
  if (!sizes.emplace(axis, size).second)
    throw UserError(fmt::format("--size: axis '{}' is given twice", axis));
}

Sizes read_sizes(const std::vector<std::string>& texts, const EinsumSpec& spec) {
  Sizes sizes;
  for (const std::string_view text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      read_size(text.substr(begin, end - begin), spec, sizes);
      begin = end + 1;
    }
  }
  return sizes;
}

bool is_known(const Expr& expr, const Sizes& sizes) {
  const std::set<std::string> symbols = expr.symbols();
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](const std::string& s) { return sizes.count(s) > 0; });
}

std::optional<double> seconds(const Expr& work, const Rational& per_second, const Sizes& sizes) {
  if (!is_known(work, sizes)) return std::nullopt;
  return work.eval_double(sizes) / per_second.to_double();
}

bool contracts(const EinsumSpec& spec) {
  return std::any_of(spec.axes.begin(), spec.axes.end(), [](const EinsumAxis& axis) {
    return axis.kind == EinsumAxisKind::kContracting;
  });
}

void check_device_count(const HardwareChoice& choice, const std::optional<Mesh>& mesh) {
  if (!choice.count_given) return;
  const Count devices = mesh ? mesh->devices() : Count(1);
  if (devices == choice.count) return;
  throw UserError(fmt::format("--on: {} devices, but {}", choice.count,
                              mesh ? fmt::format("--mesh {} has {}", mesh->str(), devices.str())
                                   : "without --mesh an einsum runs on one"));
}

EinsumRoofline roofline_of(const EinsumAnswer& answer, const Hardware& hardware) {
  EinsumRoofline roofline;
  roofline.hardware = hardware.name;
  roofline.peak_flops_per_s = peak_flops_per_s(hardware, answer.dtype.name);
  roofline.flops_per_byte = intensity_of(hardware, answer.dtype.name);
  roofline.memory_bytes_per_s = roofline.peak_flops_per_s / roofline.flops_per_byte;
  if (contracts(answer.spec)) {
    roofline.matrix_time_s =
        seconds(answer.sharded.flops_per_device, roofline.peak_flops_per_s, answer.sizes);
  }
  roofline.memory_time_s =
      seconds(answer.sharded.bytes_per_device, roofline.memory_bytes_per_s, answer.sizes);
  if (roofline.matrix_time_s && roofline.memory_time_s) {
    const bool is_compute_bound = *roofline.matrix_time_s >= *roofline.memory_time_s;
    roofline.bound = is_compute_bound ? "matrix" : "memory";
  }
  if (answer.equal_sizes_intensity) {
    roofline.compute_bound_from =
        smallest_compute_bound_size(answer.cost, answer.spec, roofline.flops_per_byte);
  }
  return roofline;
}

// ---- JSON --------------------------------------------------------------------------------------

std::optional<Count> value_of(const Expr& formula, const Sizes& sizes, std::string_view quantity) {
  if (!is_known(formula, sizes)) return std::nullopt;
  return formula.eval_count(sizes, quantity);
}

Json count_json(const Expr& formula, const Sizes& sizes, std::string_view quantity) {
  return Json::object()
      .add("formula", formula.str())
      .add("value", value_of(formula, sizes, quantity));
}

Json real_json(const Expr& formula, const Sizes& sizes) {
  Json value;
  if (is_known(formula, sizes)) value = formula.eval_double(sizes);
  return Json::object().add("formula", formula.str()).add("value", value);
}

Json text_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

// What step `index` computes: "A[I,J] * B[J,K] -> (A*B)[I,K]".
class StepNames {
 public:
  explicit StepNames(const EinsumAnswer& answer) {
    for (const EinsumArray& operand : answer.spec.operands) add(operand.name.text, operand.axes());
    for (const EinsumStepCost& step : answer.cost.steps)
      add(step.step.result, step.step.result_axes);
    operands_ = answer.spec.operands.size();
  }

  const std::string& array(EinsumArrayId id) const {
    return arrays_.at(static_cast<std::size_t>(id));
  }
  const std::string& result(std::size_t step) const { return arrays_.at(operands_ + step); }
  std::string inputs(const EinsumStep& step) const {
    std::string text;
    for (const EinsumArrayId id : step.inputs) text += (text.empty() ? "" : " * ") + array(id);
    return text;
  }

 private:
  void add(const std::string& name, const std::vector<std::string>& axes) {
    arrays_.push_back(fmt::format("{}[{}]", name, fmt::join(axes, ",")));
  }
  std::vector<std::string> arrays_;
  std::size_t operands_ = 0;
};

Json order_json(const EinsumAnswer& answer) {
  const StepNames names(answer);
  Json order = Json::array();
  for (std::size_t i = 0; i < answer.cost.steps.size(); ++i) {
    const EinsumStepCost& step = answer.cost.steps[i];
    Json inputs = Json::array();
    for (const EinsumArrayId id : step.step.inputs) inputs.push(names.array(id));
    order.push(Json::object()
                   .add("inputs", inputs)
                   .add("result", names.result(i))
                   .add("flops", count_json(step.flops, answer.axis_sizes, "FLOPs of a step"))
                   .add("result_elements",
                        count_json(step.result_elements, answer.axis_sizes, "elements")));
  }
  return order;
}

Json peak_json(const EinsumAnswer& answer) {
  if (!answer.cost.peak_intermediate) return nullptr;
  const EinsumIntermediate& peak = *answer.cost.peak_intermediate;
  return Json::object()
      .add("array", peak.array)
      .add("elements", count_json(peak.elements, answer.axis_sizes, "elements"))
      .add("bytes", count_json(peak.bytes, answer.axis_sizes, "bytes"));
}

Json sharded_json(const EinsumAnswer& answer) {
  Json collectives = Json::array();
  for (const EinsumCollective& collective : answer.sharded.collectives) {
    collectives.push(
        Json::object()
            .add("kind", name_of(collective.move.kind))
            .add("mesh_axes", text_list(collective.move.mesh_axes))
            .add("array", collective.move.array)
            .add("array_bytes",
                 count_json(collective.array_bytes, answer.sizes, "bytes of a collective"))
            .add("bytes", count_json(collective.sent_bytes, answer.sizes, "bytes sent by a device"))
            .add("time_s", nullptr)
            .add("limit_time_s", nullptr));
  }
  const ShardedEinsumCost& sharded = answer.sharded;
  return Json::object()
      .add("flops_total", count_json(sharded.flops_total, answer.sizes, "FLOPs of all devices"))
      .add("flops_per_device",
           count_json(sharded.flops_per_device, answer.sizes, "FLOPs per device"))
      .add("bytes_per_device",
           count_json(sharded.bytes_per_device, answer.sizes, "bytes per device"))
      .add("collectives", collectives)
      .add("output", describe(sharded.output))
      .add("notes", text_list(sharded.notes));
}

Json roofline_json(const EinsumRoofline& roofline) {
  return Json::object()
      .add("hardware", roofline.hardware)
      .add("peak_flops_per_s", roofline.peak_flops_per_s.to_double())
      .add("memory_bytes_per_s", roofline.memory_bytes_per_s.to_double())
      .add("flops_per_byte", roofline.flops_per_byte.to_double())
      .add("matrix_time_s", roofline.matrix_time_s)
      .add("memory_time_s", roofline.memory_time_s)
      .add("compute_bound_from", roofline.compute_bound_from);
}

Json sizes_json(const Sizes& sizes) {
  Json object = Json::object();
  for (const auto& [axis, size] : sizes) object.add(axis, size);
  return object;
}

// ---- text --------------------------------------------------------------------------------------

constexpr const char* kUnknown = "-";

std::string meaning_of(EinsumAxisKind kind) {
  switch (kind) {
    case EinsumAxisKind::kBatching:
      return "in several operands and in the output: carried along";
    case EinsumAxisKind::kContracting:
      return "in several operands, not in the output: multiplied, then added up";
    case EinsumAxisKind::kFree:
      return "in one operand and in the output";
    case EinsumAxisKind::kSummed:
      return "in one operand, not in the output: added up before anything is multiplied";
  }
  FLOPWISE_CHECK(false, "unknown kind of axis");
}

std::string exact_text(const Expr& formula, const Sizes& sizes, std::string_view quantity) {
  const std::optional<Count> value = value_of(formula, sizes, quantity);
  return value ? value->grouped() : kUnknown;
}

// A line of the table of results: the whole answer is a list of these.
struct Line {
  std::string what;
  Expr formula;
  std::string unit;  // of an exact count; empty: a ratio
  std::string meaning;
};

const char* meaning_of_flops(const EinsumAnswer& answer) {
  if (answer.cost.flops.is_zero()) return "nothing to compute: the axes only change their order";
  return contracts(answer.spec) ? "a multiply and an add at each point of a contraction"
                                : "one operation at each point";
}

std::vector<Line> lines_of(const EinsumAnswer& answer) {
  const EinsumCost& cost = answer.cost;
  const std::string in_dtype = fmt::format("in {}", answer.dtype.name);
  std::vector<Line> lines;
  lines.push_back({"FLOPs", cost.flops, "FLOP", meaning_of_flops(answer)});
  lines.push_back({"bytes", cost.bytes, "B", "operands and output once each, " + in_dtype});
  lines.push_back({"intensity", cost.intensity, "", "FLOPs per byte"});
  if (!(cost.naive_flops == cost.flops)) {
    lines.push_back({"FLOPs in one loop", cost.naive_flops, "FLOP",
                     "over all axes at once, without intermediates"});
  }
  if (cost.peak_intermediate) {
    const EinsumIntermediate& peak = *cost.peak_intermediate;
    lines.push_back({"peak intermediate", peak.elements, "elements", "the largest, " + peak.array});
    lines.push_back({"its bytes", peak.bytes, "B", in_dtype});
  }
  return lines;
}

bool is_on_mesh(const EinsumAnswer& answer) {
  return answer.mesh.has_value() || answer.spec.is_sharded();
}

std::vector<Line> mesh_lines_of(const EinsumAnswer& answer) {
  if (!is_on_mesh(answer)) return {};
  const ShardedEinsumCost& sharded = answer.sharded;
  std::vector<Line> lines;
  lines.push_back(
      {"FLOPs per device", sharded.flops_per_device, "FLOP", "of its parts of the arrays"});
  lines.push_back({"FLOPs of all devices", sharded.flops_total, "FLOP",
                   "a mesh axis that splits nothing repeats the work"});
  lines.push_back({"bytes per device", sharded.bytes_per_device, "B",
                   "its parts, after gathers and before reductions"});
  for (const EinsumCollective& collective : answer.sharded.collectives) {
    const std::string meaning = fmt::format("sent by a device: {} over {}", collective.move.array,
                                            fmt::join(collective.move.mesh_axes, ","));
    lines.push_back({name_of(collective.move.kind), collective.sent_bytes, "B", meaning});
  }
  return lines;
}

std::string value_text(const Line& line, const Sizes& sizes) {
  if (!line.unit.empty()) return exact_text(line.formula, sizes, line.what);
  return is_known(line.formula, sizes) ? fmt::format("{:.4g}", line.formula.eval_double(sizes))
                                       : kUnknown;
}

// "17.18 GFLOP" beside a count that is long to read.
std::string rounded_text(const Line& line, const Sizes& sizes) {
  if (line.unit.empty() || !is_known(line.formula, sizes)) return "";
  const double value = line.formula.eval_double(sizes);
  return value < 1000 ? "" : format_si(value, line.unit);
}

std::string lines_table(const std::vector<Line>& lines, const Sizes& sizes) {
  TextTable table({
      {"",        Align::kLeft },
      {"formula", Align::kLeft },
      {"value",   Align::kRight},
      {"",        Align::kRight},
      {"",        Align::kLeft }
  });
  for (const Line& line : lines) {
    table.add_row({line.what, line.formula.str(), value_text(line, sizes),
                   rounded_text(line, sizes), line.meaning});
  }
  return table.str();
}

std::string axes_table(const EinsumAnswer& answer) {
  TextTable table({
      {"axis", Align::kLeft },
      {"size", Align::kRight},
      {"kind", Align::kLeft },
      {"",     Align::kLeft }
  });
  for (const EinsumAxis& axis : answer.spec.axes) {
    table.add_row({axis.name, exact_text(Expr::symbol(axis.name), answer.axis_sizes, axis.name),
                   name_of(axis.kind), meaning_of(axis.kind)});
  }
  return table.str();
}

std::string order_table(const EinsumAnswer& answer) {
  const StepNames names(answer);
  TextTable table({
      {"step",  Align::kRight},
      {"",      Align::kLeft },
      {"",      Align::kLeft },
      {"FLOPs", Align::kLeft },
      {"value", Align::kRight}
  });
  for (std::size_t i = 0; i < answer.cost.steps.size(); ++i) {
    const EinsumStepCost& step = answer.cost.steps[i];
    table.add_row({std::to_string(i + 1), names.inputs(step.step), "-> " + names.result(i),
                   step.flops.str(), exact_text(step.flops, answer.axis_sizes, "FLOPs of a step")});
  }
  return table.str();
}

std::string order_text(const EinsumAnswer& answer) {
  if (answer.cost.steps.size() < 2) return "";
  std::string text =
      answer.cost.has_order_choice ? "\nThe cheapest order of pairs\n" : "\nStep by step\n";
  text += order_table(answer);
  if (answer.cost.has_order_choice && !answer.cost.assumed.empty()) {
    std::vector<std::string> axes;
    for (const auto& [axis, size] : answer.cost.assumed) axes.push_back(axis);
    text += fmt::format("The order was chosen with size {} for {}, whose sizes are not given.\n",
                        kAssumedAxisSize, fmt::join(axes, ", "));
  }
  return text;
}

std::string mesh_text(const EinsumAnswer& answer) {
  if (!is_on_mesh(answer)) return "";
  const std::string title = answer.mesh
                                ? fmt::format("On the mesh {} ({} devices)", answer.mesh->str(),
                                              answer.mesh->devices().grouped())
                                : "On a mesh of unknown size";
  std::string text =
      fmt::format("\n{}\n{}", title, lines_table(mesh_lines_of(answer), answer.sizes));
  text += fmt::format("Output: {}\n", describe(answer.sharded.output));
  for (const std::string& note : answer.sharded.notes) text += fmt::format("{}.\n", note);
  return text;
}

std::string bound_text(const EinsumAnswer& answer) {
  const EinsumRoofline& roofline = *answer.roofline;
  if (!contracts(answer.spec))
    return "No axis is contracted: this is work for the vector units, not the matrix units.\n";
  if (roofline.bound) {
    return fmt::format(
        "{}-bound, a device at a time: {} of arithmetic, {} of memory traffic at "
        "peak; links are not counted.\n",
        *roofline.bound == "matrix" ? "Compute" : "Memory", format_si(*roofline.matrix_time_s, "s"),
        format_si(*roofline.memory_time_s, "s"));
  }
  if (roofline.compute_bound_from) {
    return fmt::format("With every axis of size n it is compute-bound from n = {}.\n",
                       *roofline.compute_bound_from);
  }
  if (answer.equal_sizes_intensity)
    return "With every axis of size n it is memory-bound for every n.\n";
  return "Compute-bound or memory-bound? Give every size to know.\n";
}

std::string roofline_text(const EinsumAnswer& answer) {
  std::string text;
  if (answer.equal_sizes_intensity) {
    text += fmt::format("\nWith every axis of size n the intensity is {}.\n",
                        answer.equal_sizes_intensity->str());
  }
  if (!answer.roofline) return text;
  const EinsumRoofline& roofline = *answer.roofline;
  text += fmt::format("\nOn {}: {} in {} over {} is {:.4g} FLOPs per byte.\n", roofline.hardware,
                      format_si(roofline.peak_flops_per_s.to_double(), "FLOP/s"), answer.dtype.name,
                      format_si(roofline.memory_bytes_per_s.to_double(), "B/s"),
                      roofline.flops_per_byte.to_double());
  return text + bound_text(answer);
}

// "FLOPs = 2*B*D*F = 2*4*8*16 = 1,024"
std::string explanation(const std::vector<Line>& lines, const Sizes& sizes) {
  std::string text;
  for (const Line& line : lines) {
    text += fmt::format("{} = {}", line.what, line.formula.str());
    const std::string put_in = line.formula.str_with(sizes);
    if (put_in != line.formula.str()) text += " = " + put_in;
    if (is_known(line.formula, sizes)) text += " = " + value_text(line, sizes);
    text += "\n";
  }
  return text;
}

std::string explain_text(const EinsumAnswer& answer) {
  return "\nHow the numbers come about: formula = sizes put in = value\n" +
         explanation(lines_of(answer), answer.axis_sizes) +
         explanation(mesh_lines_of(answer), answer.sizes);
}

}  // namespace

EinsumAnswer answer_einsum(const EinsumQuery& query) {
  EinsumAnswer answer;
  answer.spec = parse_einsum(query.expression);
  answer.dtype = in_context("--dtype", [&] { return find_dtype(query.dtype); });
  answer.axis_sizes = read_sizes(query.sizes, answer.spec);
  answer.sizes = answer.axis_sizes;
  if (query.mesh) {
    answer.mesh = parse_mesh(*query.mesh);
    for (const MeshAxis& axis : answer.mesh->axes) answer.sizes.emplace(axis.name, axis.size);
  }
  answer.cost = einsum_cost(answer.spec, answer.axis_sizes, answer.dtype);
  answer.sharded =
      sharded_einsum_cost(answer.spec, answer.cost, answer.mesh, answer.axis_sizes, answer.dtype);
  if (answer.axis_sizes.empty() && !is_on_mesh(answer)) {
    answer.equal_sizes_intensity = equal_sizes_intensity(answer.cost, answer.spec);
  }
  if (query.hardware) {
    const HardwareChoice choice = read_hardware(*query.hardware);
    check_device_count(choice, answer.mesh);
    answer.roofline = roofline_of(answer, choice.hardware);
  }
  return answer;
}

std::string einsum_text(const EinsumAnswer& answer, Explain explain) {
  std::string text = describe(answer.spec) + "\n\n";
  if (!answer.spec.axes.empty()) text += axes_table(answer) + "\n";
  text += lines_table(lines_of(answer), answer.axis_sizes);
  text += order_text(answer);
  text += mesh_text(answer);
  text += roofline_text(answer);
  if (explain == Explain::kYes) text += explain_text(answer);
  return text;
}

Json einsum_json(const EinsumAnswer& answer) {
  const EinsumCost& cost = answer.cost;
  Json axes = Json::object();
  for (const EinsumAxis& axis : answer.spec.axes) axes.add(axis.name, name_of(axis.kind));
  Json equal_sizes;
  if (answer.equal_sizes_intensity)
    equal_sizes = Json::object().add("intensity", answer.equal_sizes_intensity->str());
  const auto count = [&](const Expr& formula, std::string_view what) {
    return count_json(formula, answer.axis_sizes, what);
  };
  return Json::object()
      .add("schema", 1)
      .add("expression", describe(answer.spec))
      .add("axes", axes)
      .add("output", describe(answer.spec.output))
      .add("sizes", sizes_json(answer.sizes))
      .add("dtype", answer.dtype.name)
      .add("flops", count(cost.flops, "FLOPs"))
      .add("naive_flops", count(cost.naive_flops, "FLOPs in one loop"))
      .add("bytes", count(cost.bytes, "bytes"))
      .add("intensity", real_json(cost.intensity, answer.axis_sizes))
      .add("equal_sizes", equal_sizes)
      .add("order", order_json(answer))
      .add("order_assumes", cost.has_order_choice ? sizes_json(cost.assumed) : Json::object())
      .add("peak_intermediate", peak_json(answer))
      .add("roofline", answer.roofline ? roofline_json(*answer.roofline) : Json())
      .add("bound", answer.roofline ? Json(answer.roofline->bound) : Json())
      .add("sharded", sharded_json(answer));
}

}  // namespace flopwise
