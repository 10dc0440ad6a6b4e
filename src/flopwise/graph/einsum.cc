#include "flopwise/graph/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/graph/einsum_text.h"

namespace flopwise {
namespace {

// ---- what the axes are for ---------------------------------------------------------------------

struct Occurrences {
  EinsumName first;
  int operands = 0;
};

// Every axis with the number of operands that have it, in order of first appearance.
std::vector<Occurrences> occurrences(const std::vector<EinsumArray>& operands) {
  std::vector<Occurrences> found;
  std::map<std::string_view, std::size_t> index;
  for (const EinsumArray& operand : operands) {
    for (const EinsumDim& dim : operand.dims) {
      const auto [at, is_new] = index.emplace(dim.axis.text, found.size());
      if (is_new) found.push_back({dim.axis, 0});
      ++found[at->second].operands;
    }
  }
  if (found.size() > kMaxEinsumAxes) {
    throw einsum_error(found[kMaxEinsumAxes].first.column,
                       fmt::format("more than {} axes", kMaxEinsumAxes));
  }
  return found;
}

EinsumAxisKind kind_of_axis(int operands, bool in_output) {
  if (operands > 1) return in_output ? EinsumAxisKind::kBatching : EinsumAxisKind::kContracting;
  return in_output ? EinsumAxisKind::kFree : EinsumAxisKind::kSummed;
}

// C, or the next capital that no operand is called.
std::string free_output_name(const std::vector<EinsumArray>& operands) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(operands.begin(), operands.end(),
                       [&](const EinsumArray& operand) { return operand.name.text == name; });
  };
  for (char letter = 'C'; letter <= 'Z'; ++letter) {
    if (!is_taken(std::string(1, letter))) return std::string(1, letter);
  }
  FLOPWISE_CHECK(false, "more operands than letters");
}

// numpy's implicit rule, but in order of appearance: what operands share is contracted, the rest is
// the output.
EinsumArray implied_output(const std::vector<Occurrences>& axes) {
  EinsumArray output;
  for (const Occurrences& axis : axes) {
    if (axis.operands != 1) continue;
    output.dims.emplace_back().axis.text = axis.first.text;
  }
  return output;
}

void refuse_unknown_output_axes(const EinsumArray& output, const std::vector<Occurrences>& axes) {
  for (const EinsumDim& dim : output.dims) {
    const auto same = [&](const Occurrences& axis) { return axis.first.text == dim.axis.text; };
    if (std::none_of(axes.begin(), axes.end(), same)) {
      throw einsum_error(dim.axis.column,
                         fmt::format("output axis '{}' is in no operand", dim.axis.text));
    }
  }
}

// ---- what the text promises must be so ---------------------------------------------------------

const EinsumAxis* find_axis(const EinsumSpec& spec, std::string_view name) {
  const auto same = [&](const EinsumAxis& axis) { return axis.name == name; };
  const auto found = std::find_if(spec.axes.begin(), spec.axes.end(), same);
  return found == spec.axes.end() ? nullptr : &*found;
}

const char* why_not_contracted(const EinsumAxis* axis) {
  if (axis == nullptr) return "no operand has it";
  switch (axis->kind) {
    case EinsumAxisKind::kBatching:
      return "the output has it";
    case EinsumAxisKind::kFree:
    case EinsumAxisKind::kSummed:
      return "only one operand has it";
    case EinsumAxisKind::kContracting:
      break;
  }
  FLOPWISE_CHECK(false, "it is contracted");
}

// `*_D` says that D is contracted. Where no output is written, it must name every axis that
// operands share: whether an unnamed one is contracted as well or carried along cannot be known.
void check_contracted(const EinsumText& text, const EinsumSpec& spec) {
  std::set<std::string_view> named;
  for (const EinsumName& name : text.contracted) {
    named.insert(name.text);
    const EinsumAxis* axis = find_axis(spec, name.text);
    if (axis != nullptr && axis->kind == EinsumAxisKind::kContracting) continue;
    throw einsum_error(name.column, fmt::format("axis '{}' is not contracted: {}", name.text,
                                                why_not_contracted(axis)));
  }
  if (named.empty() || text.output) return;
  for (const EinsumAxis& axis : spec.axes) {
    if (axis.kind != EinsumAxisKind::kContracting || named.count(axis.name) > 0) continue;
    throw einsum_error(
        text.contracted.front().column,
        fmt::format("operands share axis '{}' too: name it here, or write the output after '->'",
                    axis.name));
  }
}

void refuse_mesh_axes_named_like_axes(const EinsumSpec& spec, const EinsumArray& array) {
  const auto check = [&](const std::vector<EinsumName>& names) {
    for (const EinsumName& name : names) {
      if (find_axis(spec, name.text) == nullptr) continue;
      throw einsum_error(
          name.column,
          fmt::format("mesh axis '{}' is named like an axis of the expression", name.text));
    }
  };
  for (const EinsumDim& dim : array.dims) check(dim.mesh_axes);
  check(array.unreduced);
}

// ---- text --------------------------------------------------------------------------------------

// "" for none, "_XY" for single capitals, "_{dp,fsdp}" otherwise.
std::string subscript(const std::vector<EinsumName>& names) {
  if (names.empty()) return "";
  const auto is_single_capital = [](const EinsumName& name) {
    return name.text.size() == 1 && name.text[0] >= 'A' && name.text[0] <= 'Z';
  };
  const bool bare = std::all_of(names.begin(), names.end(), is_single_capital);
  std::string joined;
  for (const EinsumName& name : names) {
    if (!bare && !joined.empty()) joined += ',';
    joined += name.text;
  }
  return bare ? "_" + joined : "_{" + joined + "}";
}

// ---- steps -------------------------------------------------------------------------------------

// Builds the steps; `needed` counts, per axis, the arrays not yet used up (and the output) that
// have it.
class StepBuilder {
 public:
  explicit StepBuilder(const EinsumSpec& spec) : spec_(spec) {
    for (const EinsumArray& operand : spec.operands) {
      current_.push_back(static_cast<EinsumArrayId>(current_.size()));
      arrays_.push_back({operand.name.text, operand.axes()});
    }
    for (const auto& array : arrays_) count(array.axes, +1);
    count(spec.output.axes(), +1);
  }

  void sum_operands() {
    for (EinsumArrayId& id : current_) {
      std::vector<std::string> summed = arrays_[index(id)].axes;
      const auto is_kept = [&](const std::string& axis) {
        return spec_.kind_of(axis) != EinsumAxisKind::kSummed;
      };
      summed.erase(std::remove_if(summed.begin(), summed.end(), is_kept), summed.end());
      if (!summed.empty()) {
        id = add({{id},
                  arrays_[index(id)].axes,
                  summed,
                  {},
                  fmt::format("sum({})", arrays_[index(id)].name)});
      }
    }
  }

  void multiply(EinsumPair pair) {
    const EinsumArrayId left = current_.at(index(pair.left));
    const EinsumArrayId right = current_.at(index(pair.right));
    EinsumStep step;
    step.inputs = {left, right};
    step.loop_axes = arrays_[index(left)].axes;
    for (const std::string& axis : arrays_[index(right)].axes) {
      if (!contains(step.loop_axes, axis)) step.loop_axes.push_back(axis);
    }
    const auto uses = [&](const std::string& axis) {
      return int{contains(arrays_[index(left)].axes, axis)} +
             int{contains(arrays_[index(right)].axes, axis)};
    };
    for (const std::string& axis : step.loop_axes) {
      if (needed_[axis] == uses(axis)) step.reduced_axes.push_back(axis);
    }
    step.result = fmt::format("({}*{})", arrays_[index(left)].name, arrays_[index(right)].name);
    current_.push_back(add(std::move(step)));
  }

  // The last step makes the output, in its own order of axes.
  std::vector<EinsumStep> finish() && {
    if (!steps_.empty()) {
      steps_.back().result = spec_.output.name.text;
      steps_.back().result_axes = spec_.output.axes();
    }
    return std::move(steps_);
  }

 private:
  struct Array {
    std::string name;
    std::vector<std::string> axes;
  };

  static std::size_t index(EinsumArrayId id) { return static_cast<std::size_t>(id); }

  void count(const std::vector<std::string>& axes, int change) {
    for (const std::string& axis : axes) needed_[axis] += change;
  }

  EinsumArrayId add(EinsumStep step) {
    for (const std::string& axis : step.loop_axes) {
      if (!contains(step.reduced_axes, axis)) step.result_axes.push_back(axis);
    }
    for (const EinsumArrayId input : step.inputs) count(arrays_[index(input)].axes, -1);
    count(step.result_axes, +1);
    arrays_.push_back({step.result, step.result_axes});
    steps_.push_back(std::move(step));
    return static_cast<EinsumArrayId>(arrays_.size()) - 1;
  }

  const EinsumSpec& spec_;
  std::vector<Array> arrays_;           // by EinsumArrayId
  std::vector<EinsumArrayId> current_;  // what a pair's id stands for, once operands are summed
  std::map<std::string, int> needed_;
  std::vector<EinsumStep> steps_;
};

}  // namespace

std::vector<std::string> EinsumArray::axes() const {
  std::vector<std::string> names;
  for (const EinsumDim& dim : dims) names.push_back(dim.axis.text);
  return names;
}

bool EinsumArray::has_axis(std::string_view axis) const {
  return std::any_of(dims.begin(), dims.end(),
                     [&](const EinsumDim& dim) { return dim.axis.text == axis; });
}

const char* name_of(EinsumAxisKind kind) {
  switch (kind) {
    case EinsumAxisKind::kBatching:
      return "batching";
    case EinsumAxisKind::kContracting:
      return "contracting";
    case EinsumAxisKind::kFree:
      return "free";
    case EinsumAxisKind::kSummed:
      return "summed";
  }
  FLOPWISE_CHECK(false, "unknown kind of axis");
}

EinsumAxisKind EinsumSpec::kind_of(std::string_view axis) const {
  const EinsumAxis* found = find_axis(*this, axis);
  FLOPWISE_CHECK(found != nullptr, fmt::format("no axis {}", axis));
  return found->kind;
}

bool EinsumSpec::is_sharded() const {
  const auto mentions_mesh = [](const EinsumArray& array) {
    const auto is_split = [](const EinsumDim& dim) { return !dim.mesh_axes.empty(); };
    return !array.unreduced.empty() || std::any_of(array.dims.begin(), array.dims.end(), is_split);
  };
  return mentions_mesh(output) || std::any_of(operands.begin(), operands.end(), mentions_mesh);
}

EinsumSpec parse_einsum(std::string_view text) {
  EinsumText read = read_einsum_text(text);
  const std::vector<Occurrences> axes = occurrences(read.operands);
  if (read.output) refuse_unknown_output_axes(*read.output, axes);

  EinsumSpec spec;
  spec.operands = read.operands;
  spec.asks_placement = read.output.has_value() && read.in_brackets;
  spec.output = read.output ? *read.output : implied_output(axes);
  if (spec.output.name.text.empty()) spec.output.name.text = free_output_name(spec.operands);
  for (const Occurrences& axis : axes) {
    spec.axes.push_back(
        {axis.first.text, kind_of_axis(axis.operands, spec.output.has_axis(axis.first.text))});
  }
  check_contracted(read, spec);
  for (const EinsumArray& operand : spec.operands) refuse_mesh_axes_named_like_axes(spec, operand);
  refuse_mesh_axes_named_like_axes(spec, spec.output);
  return spec;
}

UserError einsum_error(int column, std::string_view message) {
  return UserError(fmt::format("einsum: column {}: {}", column, message));
}

std::string describe(const EinsumArray& array) {
  std::string text = array.name.text + "[";
  for (const EinsumDim& dim : array.dims) {
    if (text.back() != '[') text += ',';
    text += dim.axis.text + subscript(dim.mesh_axes);
  }
  text += ']';
  if (!array.unreduced.empty()) text += " {U" + subscript(array.unreduced) + "}";
  return text;
}

std::string describe(const EinsumSpec& spec) {
  std::string text;
  for (const EinsumArray& operand : spec.operands) {
    if (!text.empty()) text += " * ";
    text += describe(operand);
  }
  return text + " -> " + describe(spec.output);
}

std::vector<EinsumStep> einsum_steps(const EinsumSpec& spec, const std::vector<EinsumPair>& order) {
  FLOPWISE_CHECK(order.size() + 1 == spec.operands.size(), "an order has a pair for each product");
  StepBuilder builder(spec);
  builder.sum_operands();
  for (const EinsumPair& pair : order) builder.multiply(pair);
  return std::move(builder).finish();
}

}  // namespace flopwise
