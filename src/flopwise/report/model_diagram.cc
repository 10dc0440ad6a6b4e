#include "flopwise/report/model_diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "flopwise/base/dtype.h"
#include "flopwise/base/text_table.h"
#include "flopwise/model/build.h"
#include "flopwise/report/numbers.h"

namespace flopwise {
namespace {

// "attention.qk.2" is "qk.2" of the part "attention"; without a dot a name has no part.
std::string part_of(const std::string& name) {
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string name_in_part(const std::string& name) {
  return name.substr(name.find('.') + 1);
}

// Letters in the order of reports, then whatever else there is.
constexpr std::array<std::string_view, 16> kLetters = {"D",   "F",  "Fs", "N", "K", "H", "Hv", "Cq",
                                                       "Ckv", "Hn", "Hr", "V", "E", "k", "W",  "C"};

class BlockDrawing {
 public:
  BlockDrawing(const Block& block, const BlockCost& cost)
      : graph_(block.graph), cost_(cost), is_layer_(block.is_layer) {}

  DrawnBlock draw() {
    drawn_.name = cost_.name;
    drawn_.layers = cost_.layers;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      draw_input(static_cast<TensorId>(i));
    }
    for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
      const Op& op = graph_.ops()[i];
      if (std::holds_alternative<Relabel>(op.kind)) {
        renamed_[op.outputs[0]] = shown(op.inputs[0]);
      } else {
        draw_op(op, cost_.ops[i]);
      }
    }
    list_sizes();
    return std::move(drawn_);
  }

 private:
  // What a block reads of an earlier one; ids of tokens and the like go without a row.
  void draw_input(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.role != Role::kInput || tensor.element == Element::kIndex) return;
    DrawnOp row;
    row.name = tensor.name;
    row.computes = "from an earlier block";
    row.output = axes_of(tensor);
    row_of_[id] = static_cast<int>(drawn_.ops.size());
    if (tensor.name == "input") stream_.insert(id);
    drawn_.ops.push_back(std::move(row));
  }

  void draw_op(const Op& op, const OpCost& cost) {
    const Tensor& output = graph_.tensor(op.outputs[0]);
    DrawnOp row;
    row.name = op.name;
    row.computes = computes(op);
    row.output = axes_of(output);
    row.op_class = cost.op_class;
    row.params = cost.params;
    row.reads_shared = cost.params.formula.is_zero() &&
                       std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
                         return graph_.tensor(id).role == Role::kParameter;
                       });
    row.flops = per_token(cost.flops.formula);
    row.skips_from = skip(op);
    const int number = static_cast<int>(drawn_.ops.size());
    for (const TensorId id : op.outputs) row_of_[id] = number;
    drawn_.params += cost.params.value;
    for (const TensorId id : op.inputs) {
      drawn_.one_set = drawn_.one_set || graph_.tensor(id).added_up;
    }
    const bool is_vector = cost.op_class == OpClass::kVector;
    Rational& sum = is_vector ? drawn_.vector_flops : drawn_.matrix_flops;
    sum = sum + row.flops.value;
    drawn_.ops.push_back(std::move(row));
  }

  // The stream runs through residual additions, and through the norms between them.
  int skip(const Op& op) {
    if (!is_layer_) return -1;
    const TensorId first = shown(op.inputs[0]);
    if (std::holds_alternative<Norm>(op.kind)) {
      if (stream_.count(first) > 0) stream_.insert(op.outputs[0]);
      return -1;
    }
    if (kind_name(op.kind) != "add" || op.inputs.size() != 2) return -1;
    const TensorId second = shown(op.inputs[1]);
    const TensorId around = stream_.count(first) > 0 ? first : second;
    if (stream_.count(around) == 0) return -1;
    stream_.insert(op.outputs[0]);
    return row_of_.at(around);
  }

  TensorId shown(TensorId id) const {
    const auto renamed = renamed_.find(id);
    return renamed == renamed_.end() ? id : renamed->second;
  }

  PerToken per_token(const Expr& flops) const {
    if (flops.is_zero()) return {};
    const bool of_source = has_axis(graph_.tensor(graph_.outputs.at(0)), "R");
    const Expr formula = flops / (Expr::symbol("B") * Expr::symbol(of_source ? "R" : "T"));
    return {formula, formula.eval(cost_.sizes)};
  }

  // "norm *_D W[D,N,H]": inputs by name without what they share with the operation's own, weights
  // by their axes.
  std::string computes(const Op& op) const {
    const auto* contraction = std::get_if<Contraction>(&op.kind);
    const bool is_routed = contraction != nullptr && !contraction->routed_axis.empty();
    std::vector<std::string> inputs;
    for (const TensorId id : op.inputs) {
      const Tensor& tensor = graph_.tensor(shown(id));
      if (tensor.role != Role::kParameter) {
        inputs.push_back(part_of(tensor.name) == part_of(op.name) ? name_in_part(tensor.name)
                                                                  : tensor.name);
      } else if (!std::holds_alternative<Norm>(op.kind)) {
        inputs.push_back(weight_text(tensor, is_routed ? contraction->routed_axis : ""));
      }
    }
    if (contraction != nullptr) {
      const std::vector<std::string> axes = contracted_axes(graph_, op);
      std::string over = fmt::format("{}", fmt::join(axes, ","));
      if (axes.size() > 1) over = "{" + over + "}";
      if (!axes.empty()) over = "_" + over;
      const std::string product = fmt::format("{} *{} {}", inputs[0], over, inputs[1]);
      return starts_from_input(op) ? product + " + " + inputs[2] : product;
    }
    if (kind_name(op.kind) == "add") return fmt::format("{}", fmt::join(inputs, " + "));
    return fmt::format("{}({})", kind_name(op.kind), fmt::join(inputs, ", "));
  }

  // "W[D,N,H]", "bias[D]"; of experts the chosen slices, "W[choice,D,F]".
  static std::string weight_text(const Tensor& tensor, const std::string& routed_axis) {
    const std::string last = tensor.name.substr(tensor.name.rfind('.') + 1);
    std::vector<std::string> axes;
    for (const Axis& axis : tensor.axes) {
      axes.push_back(axis.name == routed_axis ? "choice" : axis.name);
    }
    return fmt::format("{}[{}]", last == "weight" ? "W" : last, fmt::join(axes, ","));
  }

  std::vector<DrawnAxis> axes_of(const Tensor& tensor) {
    std::vector<DrawnAxis> axes;
    for (const Axis& axis : tensor.axes) {
      for (const std::string& symbol : axis.size.symbols()) used_.insert(symbol);
      axes.push_back({axis.name, axis.size.eval_count(cost_.sizes, axis.name)});
    }
    return axes;
  }

  void list_sizes() {
    for (const OpCost& op : cost_.ops) {
      for (const Expr* formula : {&op.flops.formula, &op.params.formula}) {
        for (const std::string& symbol : formula->symbols()) used_.insert(symbol);
      }
    }
    const auto list = [&](std::string_view name) {
      if (used_.erase(std::string(name)) == 0) return;
      drawn_.sizes.push_back({std::string(name), cost_.sizes.find(name)->second});
    };
    for (const std::string_view letter : kLetters) list(letter);
    for (const char* of_the_step : {"B", "T", "S", "R", "L"}) used_.erase(of_the_step);
    while (!used_.empty()) list(std::string(*used_.begin()));
  }

  const Graph& graph_;
  const BlockCost& cost_;
  bool is_layer_;
  DrawnBlock drawn_;
  std::map<TensorId, int> row_of_;
  std::map<TensorId, TensorId> renamed_;  // what a relabelled tensor is shown as
  std::set<TensorId> stream_;
  std::set<std::string> used_;  // letters
};

// ---- text --------------------------------------------------------------------------------------

// The residual stream beside the rows: o where something is led around the rows below, + where it
// is added again.
std::vector<std::string> stream_of(const DrawnBlock& block) {
  std::vector<std::string> cells(block.ops.size(), " ");
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const int from = block.ops[i].skips_from;
    if (from < 0) continue;
    const auto first = static_cast<std::size_t>(from);
    if (cells[first] == " ") cells[first] = "o";
    for (std::size_t row = first + 1; row < i; ++row) {
      if (cells[row] == " ") cells[row] = "|";
    }
    cells[i] = "+";
  }
  return cells;
}

bool runs_on(const std::vector<std::string>& stream, std::size_t row) {
  return row > 0 && row < stream.size() && stream[row] != " " && stream[row] != "o" &&
         stream[row - 1] != " ";
}

std::string shape_text(const std::vector<DrawnAxis>& axes) {
  std::string text;
  for (const DrawnAxis& axis : axes) text += (text.empty() ? "" : ",") + axis.name;
  return "[" + text + "]";
}

// Without the axes of the step, which have no size of the model's.
std::string size_text(const std::vector<DrawnAxis>& axes) {
  std::string text;
  for (const DrawnAxis& axis : axes) {
    if (axis.name == "B" || axis.name == "T" || axis.name == "S" || axis.name == "R" ||
        axis.name == "R'") {
      continue;
    }
    text += (text.empty() ? "" : " x ") + axis.size.str();
  }
  return text;
}

std::string flops_text(const DrawnOp& op) {
  if (op.op_class == OpClass::kNone) return "";
  return decimal(op.flops.value) + (op.op_class == OpClass::kVector ? " v" : "  ");
}

std::string title_of(const DrawnBlock& block) {
  std::string sizes;
  for (const DrawnAxis& size : block.sizes) {
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", size.name, size.size.str());
  }
  const std::string times = block.layers == Count(1) ? "" : " x " + block.layers.str();
  return fmt::format("{}{}  ({})", block.name, times, sizes);
}

std::string block_text(const DrawnBlock& block) {
  TextTable table({
      {"",              Align::kLeft },
      {"",              Align::kLeft },
      {"makes",         Align::kLeft },
      {"",              Align::kRight},
      {"parameters",    Align::kRight},
      {"FLOPs/token  ", Align::kRight}
  });
  const std::vector<std::string> stream = stream_of(block);
  std::string last_part;
  for (std::size_t i = 0; i < block.ops.size(); ++i) {
    const DrawnOp& op = block.ops[i];
    const std::string part = part_of(op.name);
    if (part != last_part && !part.empty()) {
      table.add_row({(runs_on(stream, i) ? "| " : "  ") + part, "", "", "", "", ""});
    }
    last_part = part;
    std::string params = op.params.formula.is_zero() ? "" : op.params.value.grouped();
    if (op.reads_shared) params = "counted above";
    table.add_row({stream[i] + (part.empty() ? " " : "   ") + name_in_part(op.name), op.computes,
                   shape_text(op.output), size_text(op.output), params, flops_text(op)});
  }
  table.add_rule();
  const bool repeats = block.layers != Count(1);
  table.add_row({repeats ? "  one" : "", "", "", "", block.params.grouped(),
                 decimal(block.matrix_flops) + "  "});
  if (repeats) {
    table.add_row({"  all " + block.layers.str(), "", "", "",
                   (block.one_set ? block.params : block.params * block.layers).grouped(),
                   decimal(block.matrix_flops * Rational(block.layers)) + "  "});
  }
  return title_of(block) + "\n" + table.str();
}

// ---- JSON --------------------------------------------------------------------------------------

Json exact(const Rational& value) {
  return value.is_integer() ? Json(Count::of(value.num())) : Json(value.to_double());
}

Json axes_json(const std::vector<DrawnAxis>& axes) {
  Json list = Json::array();
  for (const DrawnAxis& axis : axes) {
    list.push(Json::object().add("axis", axis.name).add("size", axis.size));
  }
  return list;
}

Json op_json(const DrawnBlock& block, const DrawnOp& op) {
  const bool skips = op.skips_from >= 0;
  return Json::object()
      .add("name", op.name)
      .add("class", name_of(op.op_class))
      .add("computes", op.computes)
      .add("output", axes_json(op.output))
      .add("residual_of",
           skips ? Json(block.ops[static_cast<std::size_t>(op.skips_from)].name) : Json())
      .add("params", Json::object()
                         .add("formula", op.params.formula.str())
                         .add("value", op.params.value)
                         .add("counted_before", op.reads_shared))
      .add("flops_per_token", Json::object()
                                  .add("formula", op.flops.formula.str())
                                  .add("value", exact(op.flops.value)));
}

}  // namespace

Diagram diagram_of(const Model& model) {
  Diagram diagram;
  WorkloadRequest request;
  request.mode = Mode::kForward;
  diagram.workload = resolve(request, model);
  const Program program = build_program(model, diagram.workload);
  const DType& bf16 = find_dtype("bf16");
  const Cost cost = cost_of(program, {
                                         Fusion::kFused, {bf16, bf16, bf16}
  });
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    diagram.blocks.push_back(BlockDrawing(program.blocks[i], cost.blocks[i]).draw());
  }
  return diagram;
}

std::string diagram_text(const Diagram& diagram) {
  std::string text = fmt::format(
      "The forward pass, each distinct block once. o marks what is led around the rows below it, + "
      "where\nit is added again. FLOPs per token over T = {} positions; v: vector work, beside the "
      "model's FLOPs.\n",
      Count(diagram.workload.seq_len).grouped());
  for (const DrawnBlock& block : diagram.blocks) text += "\n" + block_text(block);
  return text;
}

Json diagram_json(const Diagram& diagram) {
  Json blocks = Json::array();
  for (const DrawnBlock& block : diagram.blocks) {
    Json sizes = Json::object();
    for (const DrawnAxis& size : block.sizes) sizes.add(size.name, size.size);
    Json ops = Json::array();
    for (const DrawnOp& op : block.ops) ops.push(op_json(block, op));
    blocks.push(Json::object()
                    .add("name", block.name)
                    .add("layers", block.layers)
                    .add("sizes", std::move(sizes))
                    .add("params", block.params)
                    .add("flops_per_token", exact(block.matrix_flops))
                    .add("vector_flops_per_token", exact(block.vector_flops))
                    .add("ops", std::move(ops)));
  }
  return blocks;
}

}  // namespace flopwise
