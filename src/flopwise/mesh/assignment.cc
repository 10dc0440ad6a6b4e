#include "flopwise/mesh/assignment.h"

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// The tensor-parallel axis of a parameter or activation by its label; query heads and widths are on
// all of tp.
MeshSet tensor_axes_of(std::string_view label) {
  if (label == "K") return ParallelAxis::kTp;
  if (label == "G") return ParallelAxis::kTpGroups;
  if (label == "N" || label == "F" || label == "V" || label == "Fs") return kTensorAxes;
  return {};
}

// A vector of the residual stream's width for each position, or for each copy of it.
bool is_hidden_state(const Tensor& tensor) {
  return tensor.axes.size() >= 3 && tensor.axes[0].name == "B" && tensor.axes[1].name == "T" &&
         tensor.axes.back().name == "D";
}

}  // namespace

MeshSet Placement::split() const {
  MeshSet all;
  for (const MeshSet set : axes) all |= set;
  return all;
}

std::string Assignment::symbol(ParallelAxis axis) const {
  switch (axis) {
    case ParallelAxis::kDp:
      return "dp";
    case ParallelAxis::kFsdp:
      return "fsdp";
    case ParallelAxis::kEp:
      return "ep";
    case ParallelAxis::kCp:
      return "cp";
    case ParallelAxis::kTp:
      return splits_groups ? "tk" : "tp";
    case ParallelAxis::kTpGroups:
      return "tg";
  }
  FLOPWISE_CHECK(false, "unknown mesh axis");
}

std::vector<std::string> Assignment::symbols(MeshSet set) const {
  std::vector<std::string> names;
  for (const ParallelAxis axis : kParallelAxes) {
    if (set.has(axis)) names.push_back(symbol(axis));
  }
  return names;
}

Expr Assignment::size(MeshSet set) const {
  Expr product = 1;
  for (const std::string& name : symbols(set)) product *= Expr::symbol(name);
  return product;
}

Placement Assignment::of_parameter(const Tensor& tensor) const {
  Placement placement;
  placement.axes.resize(tensor.axes.size());
  MeshSet used;
  for (std::size_t i = 0; i < tensor.axes.size(); ++i) {
    const std::string& label = tensor.axes[i].name;
    MeshSet set = tensor_axes_of(label);
    if (label == tensor.routed_axis) set |= ParallelAxis::kEp;
    placement.axes[i] = (set & axes) - used;
    used |= placement.axes[i];
  }
  if (!placement.axes.empty()) placement.axes[0] |= MeshSet(ParallelAxis::kFsdp) & axes;
  return placement;
}

Placement Assignment::of_activation(const Tensor& tensor) const {
  Placement placement;
  placement.axes.resize(tensor.axes.size());
  for (std::size_t i = 0; i < tensor.axes.size(); ++i) {
    const std::string& label = tensor.axes[i].name;
    MeshSet set = tensor_axes_of(label);
    if (label == "B") set |= kBatchAxes;
    if (label == "T" || label == "S") set |= ParallelAxis::kCp;
    if (label == "T" && sequence_parallel && is_hidden_state(tensor)) set |= kTensorAxes;
    placement.axes[i] = set & axes;
  }
  return placement;
}

}  // namespace flopwise
