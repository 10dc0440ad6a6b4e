#include "flopwise/graph/collective.h"

#include "flopwise/base/error.h"

namespace flopwise {

const char* name_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return "all_gather";
    case CollectiveKind::kReduceScatter:
      return "reduce_scatter";
    case CollectiveKind::kAllReduce:
      return "all_reduce";
    case CollectiveKind::kAllToAll:
      return "all_to_all";
  }
  FLOPWISE_CHECK(false, "unknown kind of collective");
}

Expr group_size(const Collective& collective) {
  Expr product = 1;
  for (const std::string& name : collective.mesh_axes) product *= Expr::symbol(name);
  return product;
}

}  // namespace flopwise
