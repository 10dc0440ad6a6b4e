#include "flopwise/mesh/shard_einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"

namespace flopwise {
namespace {

using Names = std::vector<EinsumName>;

bool has(const Names& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const EinsumName& n) { return n.text == name; });
}

void remove(Names& names, std::string_view name) {
  const auto same = [&](const EinsumName& n) { return n.text == name; };
  names.erase(std::remove_if(names.begin(), names.end(), same), names.end());
}

EinsumDim* find_dim(EinsumArray& array, std::string_view axis) {
  const auto same = [&](const EinsumDim& dim) { return dim.axis.text == axis; };
  const auto found = std::find_if(array.dims.begin(), array.dims.end(), same);
  return found == array.dims.end() ? nullptr : &*found;
}

const Names& mesh_axes_on(const EinsumArray& array, std::string_view axis) {
  static const Names kNone;
  for (const EinsumDim& dim : array.dims) {
    if (dim.axis.text == axis) return dim.mesh_axes;
  }
  return kNone;
}

// The axis of `array` that m splits; nothing when m splits none.
std::optional<std::string> axis_split_by(const EinsumArray& array, std::string_view m) {
  for (const EinsumDim& dim : array.dims) {
    if (has(dim.mesh_axes, m)) return dim.axis.text;
  }
  return std::nullopt;
}

void remove_mesh_axis(EinsumArray& array, std::string_view m) {
  for (EinsumDim& dim : array.dims) remove(dim.mesh_axes, m);
}

Expr product(const Names& names) {
  Expr result = 1;
  for (const EinsumName& name : names) result *= Expr::symbol(name.text);
  return result;
}

Expr product(const std::vector<std::string>& names) {
  Expr result = 1;
  for (const std::string& name : names) result *= Expr::symbol(name);
  return result;
}

Expr local_elements(const EinsumArray& array) {
  Expr result = 1;
  for (const EinsumDim& dim : array.dims) {
    result *= Expr::symbol(dim.axis.text) / product(dim.mesh_axes);
  }
  return result;
}

// D_{X,Y} and D_{Y,X} hold different parts of D on a device; no placement rule turns one into the
// other.
void check_same_order(const std::string& axis, const Names& one, const Names& other) {
  std::vector<std::string_view> first;
  std::vector<std::string_view> second;
  for (const EinsumName& m : one) {
    if (has(other, m.text)) first.push_back(m.text);
  }
  for (const EinsumName& m : other) {
    if (has(one, m.text)) second.push_back(m.text);
  }
  if (first == second) return;
  throw einsum_error(other.front().column,
                     fmt::format("the mesh axes on axis '{}' are in another order than before it: "
                                 "no placement rule exchanges them",
                                 axis));
}

class Sharder {
 public:
  Sharder(const EinsumSpec& spec, const std::vector<std::string>& mesh_axes, const Sizes& sizes)
      : spec_(spec), mesh_axes_(mesh_axes), sizes_(sizes), arrays_(spec.operands) {
    result_.devices = product(mesh_axes);
    for (const EinsumArray& operand : spec.operands) {
      result_.operand_elements.push_back(local_elements(operand));
    }
  }

  void run(const EinsumStep& step) { step.inputs.size() == 1 ? add_up(step) : multiply(step); }

  ShardedEinsum finish() && {
    EinsumArray last = in_output_order(arrays_.back());
    result_.result_elements = local_elements(last);
    if (spec_.asks_placement) {
      move_to_asked(last);
    } else {
      const Names partial = std::exchange(last.unreduced, {});
      emit(CollectiveKind::kAllReduce, partial, last.name.text, local_elements(last));
    }
    result_.output = std::move(last);
    return std::move(result_);
  }

 private:
  // ---- one array added up over some axes ----
  void add_up(const EinsumStep& step) {
    const EinsumArray input = array(step.inputs[0]);
    result_.step_points.push_back(local_elements(input));
    std::set<std::string> partial = partial_sums(input);
    for (const std::string& axis : step.reduced_axes) {
      for (const EinsumName& m : mesh_axes_on(input, axis)) partial.insert(m.text);
    }
    EinsumArray result = result_of(step);
    for (EinsumDim& dim : result.dims) dim.mesh_axes = mesh_axes_on(input, dim.axis.text);
    result.unreduced = in_mesh_order(partial);
    arrays_.push_back(std::move(result));
  }

  // ---- the product of two arrays ----
  // An operand, and the mesh axes over which it is reduced and gathered before it is multiplied.
  struct Side {
    EinsumArrayId id;
    EinsumArray array;
    Names reduced;
    Names gathered;
  };

  void multiply(const EinsumStep& step) {
    Side left{step.inputs[0], array(step.inputs[0]), {}, {}};
    Side right{step.inputs[1], array(step.inputs[1]), {}, {}};
    for (const std::string& m : mesh_axes_) {
      reduce_before_product(left, right, m);
      gather_before_product(left, right, m, step);
    }
    for (const Side* side : {&left, &right}) {
      const std::string& name = side->array.name.text;
      emit(CollectiveKind::kAllReduce, side->reduced, name, local_elements(array(side->id)));
      emit(CollectiveKind::kAllGather, side->gathered, name, local_elements(side->array));
    }
    multiply_local(step, left, right);
  }

  // A partial sum may be multiplied by what is the same on all devices of m, and by nothing else.
  void reduce_before_product(Side& left, Side& right, const std::string& m) {
    const bool left_partial = has(left.array.unreduced, m);
    const bool right_partial = has(right.array.unreduced, m);
    if (left_partial && right_partial) {
      reduce(right_is_smaller(left, right, m) ? right : left, m);
    } else if (left_partial && axis_split_by(right.array, m)) {
      reduce(left, m);
    } else if (right_partial && axis_split_by(left.array, m)) {
      reduce(right, m);
    }
  }

  static void reduce(Side& side, const std::string& m) {
    remove(side.array.unreduced, m);
    side.reduced.push_back({m, 0});
  }

  void gather_before_product(Side& left, Side& right, const std::string& m,
                             const EinsumStep& step) {
    const std::optional<std::string> on_left = axis_split_by(left.array, m);
    const std::optional<std::string> on_right = axis_split_by(right.array, m);
    if (on_left == on_right) return;  // rules (1) and (3)
    const bool left_contracted = on_left && contains(step.reduced_axes, *on_left);
    const bool right_contracted = on_right && contains(step.reduced_axes, *on_right);
    if (left_contracted) gather(left, m);  // rule (2)
    if (right_contracted) gather(right, m);
    if (left_contracted || right_contracted || !on_left || !on_right) return;
    Side& smaller = right_is_smaller(left, right, m) ? right : left;  // rule (4)
    gather(smaller, m);
    result_.notes.push_back(
        fmt::format("{0} is on axis {1} of {2} and on axis {3} of {4}: {5} is gathered over {0}, "
                    "the smaller of the two in bytes",
                    m, *on_left, left.array.name.text, *on_right, right.array.name.text,
                    smaller.array.name.text));
  }

  static void gather(Side& side, const std::string& m) {
    remove_mesh_axis(side.array, m);
    side.gathered.push_back({m, 0});
  }

  // By what a group of devices along m holds together; equal ones count as the left.
  bool right_is_smaller(const Side& left, const Side& right, const std::string& m) const {
    const auto group_elements = [&](EinsumArray array) {
      remove_mesh_axis(array, m);
      return local_elements(array).eval(sizes_);
    };
    return group_elements(right.array) < group_elements(left.array);
  }

  void multiply_local(const EinsumStep& step, const Side& left, const Side& right) {
    EinsumArray result = result_of(step);
    std::set<std::string> partial = partial_sums(left.array);
    partial.merge(partial_sums(right.array));
    Expr points = 1;
    for (const std::string& axis : step.loop_axes) {
      const Names split = split_of_both(left.array, right.array, axis);
      points *= Expr::symbol(axis) / product(split);
      if (EinsumDim* dim = find_dim(result, axis)) {
        dim->mesh_axes = split;
      } else {
        for (const EinsumName& m : split) partial.insert(m.text);  // rule (3)
      }
    }
    result.unreduced = in_mesh_order(partial);
    result_.step_points.push_back(points);
    note_operand(left, right.array);
    note_operand(right, left.array);
    arrays_.push_back(std::move(result));
  }

  // What one device multiplies of an operand, slices taken into account.
  void note_operand(const Side& side, const EinsumArray& partner) {
    if (side.id >= static_cast<EinsumArrayId>(spec_.operands.size())) return;
    Expr elements = 1;
    for (const EinsumDim& dim : side.array.dims) {
      const std::string& axis = dim.axis.text;
      elements *= Expr::symbol(axis) / product(split_of_both(side.array, partner, axis));
    }
    result_.operand_elements[static_cast<std::size_t>(side.id)] = elements;
  }

  // A batching axis may be split further in one operand than in the other, which is then sliced.
  static Names split_of_both(const EinsumArray& left, const EinsumArray& right,
                             const std::string& axis) {
    Names split = mesh_axes_on(left, axis);
    const Names& more = mesh_axes_on(right, axis);
    check_same_order(axis, split, more);
    for (const EinsumName& m : more) {
      if (!has(split, m.text)) split.push_back(m);
    }
    return split;
  }

  // ---- the output ----
  // An expression of one operand may have no step that puts the axes in the output's order.
  EinsumArray in_output_order(const EinsumArray& last) const {
    EinsumArray ordered;
    ordered.name = spec_.output.name;
    ordered.unreduced = last.unreduced;
    for (const EinsumDim& dim : spec_.output.dims) {
      ordered.dims.push_back({dim.axis, mesh_axes_on(last, dim.axis.text)});
    }
    return ordered;
  }

  // Slices come first, since they are free and make what follows smaller; gathers come last.
  void move_to_asked(EinsumArray& last) {
    const EinsumArray& asked = spec_.output;
    refuse_impossible_partial_sums(last);
    for (const EinsumDim& dim : asked.dims) {
      check_same_order(dim.axis.text, mesh_axes_on(last, dim.axis.text), dim.mesh_axes);
    }
    slice(last);
    reduce_scatter(last);
    exchange(last);
    const Names partial = missing(last.unreduced, asked.unreduced);
    emit(CollectiveKind::kAllReduce, partial, last.name.text, local_elements(last));
    Names gathered;
    for (const std::string& m : mesh_axes_) {
      if (!axis_split_by(last, m) || axis_split_by(asked, m)) continue;
      remove_mesh_axis(last, m);
      gathered.push_back({m, 0});
    }
    emit(CollectiveKind::kAllGather, gathered, last.name.text, local_elements(last));
    last = asked;
  }

  void refuse_impossible_partial_sums(const EinsumArray& last) const {
    for (const EinsumName& m : spec_.output.unreduced) {
      if (has(last.unreduced, m.text)) continue;
      throw einsum_error(m.column, fmt::format("{} is no partial sum over mesh axis '{}'",
                                               describe(spec_.output), m.text));
    }
  }

  void slice(EinsumArray& last) const {
    for (const EinsumDim& dim : spec_.output.dims) {
      for (const EinsumName& m : dim.mesh_axes) {
        if (axis_split_by(last, m.text) || has(last.unreduced, m.text)) continue;
        find_dim(last, dim.axis.text)->mesh_axes.push_back(m);
      }
    }
  }

  void reduce_scatter(EinsumArray& last) {
    const Expr elements = local_elements(last);
    Names scattered;
    for (const EinsumName& m : Names(last.unreduced)) {
      const std::optional<std::string> axis = axis_split_by(spec_.output, m.text);
      if (!axis) continue;
      find_dim(last, *axis)->mesh_axes.push_back(m);
      remove(last.unreduced, m.text);
      scattered.push_back(m);
    }
    emit(CollectiveKind::kReduceScatter, scattered, last.name.text, elements);
  }

  // Mesh axes that split another axis of the output than asked.
  void exchange(EinsumArray& last) {
    for (const std::string& m : mesh_axes_) {
      const std::optional<std::string> from = axis_split_by(last, m);
      const std::optional<std::string> to = axis_split_by(spec_.output, m);
      if (!from || !to || from == to) continue;
      remove_mesh_axis(last, m);
      emit(CollectiveKind::kAllToAll,
           {
               {m, 0}
      },
           last.name.text, local_elements(last));
      find_dim(last, *to)->mesh_axes.push_back({m, 0});
    }
  }

  // ---- shared ----
  EinsumArray& array(EinsumArrayId id) { return arrays_.at(static_cast<std::size_t>(id)); }

  static std::set<std::string> partial_sums(const EinsumArray& array) {
    std::set<std::string> names;
    for (const EinsumName& m : array.unreduced) names.insert(m.text);
    return names;
  }

  static EinsumArray result_of(const EinsumStep& step) {
    EinsumArray result;
    result.name.text = step.result;
    for (const std::string& axis : step.result_axes) {
      EinsumDim dim;
      dim.axis.text = axis;
      result.dims.push_back(std::move(dim));
    }
    return result;
  }

  Names in_mesh_order(const std::set<std::string>& names) const {
    Names ordered;
    for (const std::string& m : mesh_axes_) {
      if (names.count(m) > 0) ordered.push_back({m, 0});
    }
    return ordered;
  }

  static Names missing(const Names& names, const Names& kept) {
    Names result;
    for (const EinsumName& name : names) {
      if (!has(kept, name.text)) result.push_back(name);
    }
    return result;
  }

  bool is_one_device(const EinsumName& m) const {
    const auto size = sizes_.find(m.text);
    return size != sizes_.end() && size->second == 1;
  }

  // One collective over all of `group`; none when that is a single device.
  void emit(CollectiveKind kind, const Names& group, const std::string& name,
            const Expr& elements) {
    CollectiveMove move{kind, {}, name, elements};
    for (const EinsumName& m : group) {
      if (!is_one_device(m)) move.mesh_axes.push_back(m.text);
    }
    if (!move.mesh_axes.empty()) result_.moves.push_back(std::move(move));
  }

  const EinsumSpec& spec_;
  const std::vector<std::string>& mesh_axes_;
  const Sizes& sizes_;
  std::vector<EinsumArray> arrays_;  // by EinsumArrayId, placed as they are before they are used
  ShardedEinsum result_;
};

// ---- a mesh of known sizes ---------------------------------------------------------------------

template <typename Visit>
void for_each_mesh_axis(const EinsumSpec& spec, Visit visit) {
  const auto visit_array = [&](const EinsumArray& array) {
    for (const EinsumDim& dim : array.dims) {
      for (const EinsumName& m : dim.mesh_axes) visit(m);
    }
    for (const EinsumName& m : array.unreduced) visit(m);
  };
  for (const EinsumArray& operand : spec.operands) visit_array(operand);
  visit_array(spec.output);
}

void check_parts_are_whole(const EinsumArray& array, const Mesh& mesh, const Sizes& sizes) {
  for (const EinsumDim& dim : array.dims) {
    const auto size = sizes.find(dim.axis.text);
    if (size == sizes.end()) continue;
    Count parts = 1;
    for (const EinsumName& m : dim.mesh_axes) {
      const std::int64_t devices = mesh.size_of(m.text).value_or(1);
      parts *= devices;
      if (size->second.value() % parts.value() == 0) continue;
      throw einsum_error(m.column, fmt::format("axis '{}' of size {} is not divisible by mesh axis "
                                               "'{}' of size {} in {}",
                                               dim.axis.text, size->second.str(), m.text, devices,
                                               describe(array)));
    }
  }
}

}  // namespace

std::vector<std::string> mesh_axes_of(const EinsumSpec& spec) {
  std::vector<std::string> names;
  for_each_mesh_axis(spec, [&](const EinsumName& m) {
    if (!contains(names, m.text)) names.push_back(m.text);
  });
  return names;
}

void check_mesh(const EinsumSpec& spec, const Mesh& mesh, const Sizes& sizes) {
  for (const MeshAxis& m : mesh.axes) {
    const auto same = [&](const EinsumAxis& axis) { return axis.name == m.name; };
    if (std::any_of(spec.axes.begin(), spec.axes.end(), same)) {
      throw UserError(
          fmt::format("mesh: axis '{}' is named like an axis of the expression", m.name));
    }
  }
  for_each_mesh_axis(spec, [&](const EinsumName& m) {
    if (mesh.size_of(m.text)) return;
    throw einsum_error(m.column, fmt::format("the mesh {} has no axis '{}'", mesh.str(), m.text));
  });
  for (const EinsumArray& operand : spec.operands) check_parts_are_whole(operand, mesh, sizes);
  check_parts_are_whole(spec.output, mesh, sizes);
}

ShardedEinsum shard_einsum(const EinsumSpec& spec, const std::vector<EinsumStep>& steps,
                           const std::vector<std::string>& mesh_axes, const Sizes& sizes) {
  Sharder sharder(spec, mesh_axes, sizes);
  for (const EinsumStep& step : steps) sharder.run(step);
  return std::move(sharder).finish();
}

}  // namespace flopwise
