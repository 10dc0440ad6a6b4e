#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/einsum_parts.h"
#include "flopwise/report/einsum_report.h"

namespace flopwise {
namespace {

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
  for (std::size_t i = 0; i < answer.sharded.collectives.size(); ++i) {
    const EinsumCollective& collective = answer.sharded.collectives[i];
    std::string meaning = fmt::format("sent by a device: {} over {}", collective.move.array,
                                      fmt::join(collective.move.mesh_axes, ","));
    if (answer.roofline && answer.roofline->collectives[i].time_s) {
      meaning += ": at least " + format_si(*answer.roofline->collectives[i].time_s, "s");
    }
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

}  // namespace flopwise
