// FLOPs of one operation, from its kind and the axes of its tensors. The one table of what each
// kind costs; it is what the reference executor performs, operation for operation
// (docs/conventions.md, "Vector work").
#pragma once

#include "flopwise/graph/graph.h"

namespace flopwise {

struct Work {
  OpClass op_class = OpClass::kNone;
  Expr flops;  // masked pairs only
  Expr dense;  // the same with all T*S pairs; differs from flops for class attention only
};

// A multiply and an add are 1 each. A contraction costs 2 x the product of its distinct axes, 1 x
// where nothing is contracted.
Work work_of(const Graph& graph, const Op& op);

}  // namespace flopwise
