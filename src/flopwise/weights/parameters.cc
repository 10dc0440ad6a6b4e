#include "flopwise/weights/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/graph/graph.h"
#include "flopwise/model/build.h"

namespace flopwise {
namespace {

// Parameters of layers that a file stores side by side, in one table or matrix: along what.
struct StoredOnce {
  std::string_view name;
  Count Parameter::*along;
};
constexpr StoredOnce kStoredOnce[] = {
    {"per_layer.tokens.weight",  &Parameter::in },
    {"per_layer.project.weight", &Parameter::out},
};

const StoredOnce* find_stored_once(const Parameter& parameter) {
  const auto* row = std::find_if(std::begin(kStoredOnce), std::end(kStoredOnce),
                                 [&](const StoredOnce& one) { return one.name == parameter.name; });
  return row == std::end(kStoredOnce) ? nullptr : row;
}

// The operation that reads a parameter says how it is stored.
const Op* reader_of(const Graph& graph, TensorId parameter) {
  for (const Op& op : graph.ops()) {
    if (contains(op.inputs, parameter)) return &op;
  }
  return nullptr;
}

class ParameterReader {
 public:
  ParameterReader(const Graph& graph, const Sizes& sizes) : graph_(graph), sizes_(sizes) {}

  Parameter read(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    const Op* op = reader_of(graph_, id);
    Parameter parameter;
    parameter.name = tensor.name;
    if (!tensor.routed_axis.empty()) {
      parameter.experts = size_of(axis_of(tensor, tensor.routed_axis));
    }
    parameter.out = 1;
    if (op != nullptr && std::holds_alternative<Contraction>(op->kind)) {
      read_matrix(tensor, graph_.tensor(op->outputs.at(0)), parameter);
    } else if (op != nullptr && std::holds_alternative<Convolution>(op->kind)) {
      read_last_as_out(tensor, parameter);
    } else if (op != nullptr && std::holds_alternative<CausalConvolution>(op->kind)) {
      read_first_as_in(tensor, parameter);
    } else if (op != nullptr && std::holds_alternative<Gather>(op->kind) &&
               parameter.experts == 0) {
      read_table(tensor, parameter);
    } else {
      for (const Axis& axis : tensor.axes) {
        if (axis.name != tensor.routed_axis) parameter.out *= size_of(axis);
      }
    }
    return parameter;
  }

 private:
  Count size_of(const Axis& axis) const { return axis.size.eval_count(sizes_, axis.name); }

  // Contracted axes are the input, the others the output.
  void read_matrix(const Tensor& tensor, const Tensor& result, Parameter& parameter) const {
    parameter.in = 1;
    bool is_first = true;
    for (const Axis& axis : tensor.axes) {
      if (axis.name == tensor.routed_axis) continue;
      const bool is_out = has_axis(result, axis.name);
      (is_out ? parameter.out : parameter.in) *= size_of(axis);
      if (is_out && is_first) parameter.heads = size_of(axis);
      is_first = is_first && !is_out;
    }
  }

  void read_last_as_out(const Tensor& tensor, Parameter& parameter) const {
    parameter.in = 1;
    for (std::size_t i = 0; i + 1 < tensor.axes.size(); ++i)
      parameter.in *= size_of(tensor.axes[i]);
    parameter.out = size_of(tensor.axes.back());
  }

  // [taps, channels], each channel by itself.
  void read_first_as_in(const Tensor& tensor, Parameter& parameter) const {
    parameter.in = size_of(tensor.axes.front());
    for (std::size_t i = 1; i < tensor.axes.size(); ++i) parameter.out *= size_of(tensor.axes[i]);
  }

  void read_table(const Tensor& tensor, Parameter& parameter) const {
    parameter.out = size_of(tensor.axes.front());
    parameter.in = 1;
    for (std::size_t i = 1; i < tensor.axes.size(); ++i) parameter.in *= size_of(tensor.axes[i]);
  }

  const Graph& graph_;
  const Sizes& sizes_;
};

// One set of weights that runs as often as its block repeats is stored once.
bool has_one_set(const Graph& graph) {
  bool has_shared = false;
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.role != Role::kParameter) continue;
    if (!tensor.shared) return false;
    has_shared = true;
  }
  return has_shared;
}

void add_layers(ModelParameters& all, LayerKind kind) {
  for (LayerKind& known : all.layers) {
    const bool is_like = std::equal(
        known.parameters.begin(), known.parameters.end(), kind.parameters.begin(),
        kind.parameters.end(), [](const Parameter& a, const Parameter& b) { return a.is_like(b); });
    if (known.stack != kind.stack || !is_like) continue;
    known.repeat += kind.repeat;
    return;
  }
  all.layers.push_back(std::move(kind));
}

// The parameters of one program after the other.
class ParameterCollector {
 public:
  // `main`: the stack of blocks that are no encoder's.
  void add(const Program& program, StackId main) {
    std::set<std::string> shared;
    for (const Block& block : program.blocks) add_block(program, block, main, shared);
  }
  ModelParameters take() { return std::move(all_); }

 private:
  void add_block(const Program& program, const Block& block, StackId main,
                 std::set<std::string>& shared) {
    const StackId stack =
        block.name.starts_with(prefix_of(StackId::kEncoder)) ? StackId::kEncoder : main;
    const std::string prefix(prefix_of(stack));
    const Sizes sizes = program.sizes_of(block);
    const ParameterReader reader(block.graph, sizes);
    std::vector<Parameter> parameters;
    TensorId id = -1;
    for (const Tensor& tensor : block.graph.tensors()) {
      ++id;
      if (tensor.role != Role::kParameter) continue;
      if (tensor.shared && !shared.insert(tensor.name).second) continue;
      Parameter parameter = reader.read(id);
      parameter.position = position_++;
      const bool is_named = block.is_layer || tensor.shared || parameter.name.starts_with(prefix);
      if (!is_named) parameter.name = prefix + parameter.name;
      parameters.push_back(std::move(parameter));
    }
    const Count repeat =
        has_one_set(block.graph) ? Count(1) : block.repeat.eval_count(sizes, "layers");
    for (const Parameter& parameter : parameters) all_.total += parameter.elements() * repeat;
    if (block.is_layer) {
      std::erase_if(parameters, [&](const Parameter& parameter) {
        const StoredOnce* once = find_stored_once(parameter);
        if (once != nullptr) add_stored_once(*once, parameter, repeat);
        return once != nullptr;
      });
      add_layers(all_, {stack, static_cast<std::int64_t>(repeat.value()), parameters});
    } else {
      std::move(parameters.begin(), parameters.end(), std::back_inserter(all_.outside));
    }
  }

  void add_stored_once(const StoredOnce& once, Parameter parameter, Count repeat) {
    parameter.*once.along *= repeat;
    const auto known =
        std::find_if(all_.outside.begin(), all_.outside.end(),
                     [&](const Parameter& one) { return one.name == parameter.name; });
    if (known == all_.outside.end()) {
      all_.outside.push_back(std::move(parameter));
    } else {
      (*known).*once.along += parameter.*once.along;
    }
  }

  ModelParameters all_;
  int position_ = 0;
};

StackId stack_of_tower(const Model& model, const Tower& tower) {
  if (tower.name == "vision") return StackId::kTower;
  if (tower.name == "audio") return StackId::kAudio;
  throw UserError(fmt::format("{}: the names of the tensors of its {} tower are not known yet",
                              model.name, tower.name));
}

}  // namespace

std::string_view prefix_of(StackId stack) {
  switch (stack) {
    case StackId::kMain:
      return "";
    case StackId::kEncoder:
      return "encoder.";
    case StackId::kTower:
      return "vision.";
    case StackId::kAudio:
      return "audio.";
  }
  throw InternalError("unknown stack");
}

ModelParameters parameters_of(const Model& model) {
  ParameterCollector all;
  all.add(build_one_token(model, Mode::kForward), StackId::kMain);
  all.add(build_unused_program(model), model.encoder ? StackId::kEncoder : StackId::kMain);
  for (const Tower& tower : model.towers) {
    const StackId stack = stack_of_tower(model, tower);
    all.add(build_tower_program(*tower.model, positions_of_tower(*tower.model)), stack);
    all.add(build_unused_program(*tower.model), stack);
  }
  return all.take();
}

}  // namespace flopwise
