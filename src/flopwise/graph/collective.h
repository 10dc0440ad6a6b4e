// The ways in which devices exchange the parts of an array.
#pragma once

#include <string>
#include <vector>

#include "flopwise/expr/expr.h"

namespace flopwise {

enum class CollectiveKind { kAllGather, kReduceScatter, kAllReduce, kAllToAll };
const char* name_of(CollectiveKind kind);  // "all_gather"

// One collective over the group of devices along `mesh_axes`, whose sizes are symbols of their
// names.
struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<std::string> mesh_axes;
  Expr array_elements;  // V: what the devices of one group hold together when gathered
};

// The devices of one group.
Expr group_size(const Collective& collective);

}  // namespace flopwise
