// Where the parts of an einsum live on a mesh, and what must move: the placement rules, one mesh
// axis m at a time.
//
//   (1) m on no contracted axis, and not on two different axes: nothing moves. A batching axis that
//   one operand has split
//       is sliced in the other, free of charge.
//   (2) m on a contracted axis of one operand only: that operand is all-gathered over m. This comes
//   before (4). (3) m on the same contracted axis of both: each device has a partial sum, the
//   result is {U_m}. (4) m on two different axes: the operand that is smaller in bytes is
//   all-gathered over m, and a note says so. An operand that is {U_m} stays so unless its partner
//   carries m too; then it is all-reduced first. A written output is a placement asked for: a
//   partial sum over m goes by reduce-scatter where m is on an axis of it, stays where it is
//   written {U_m}, and is all-reduced otherwise. Moving m to another axis is an all-to-all,
//   removing it an all-gather, adding it a slice (free). Where no output is written, partial sums
//   are all-reduced and the rest stays. An axis that is summed (in one operand, not in the output)
//   and split over m leaves a partial sum {U_m}.
//
// What an m that shards nothing of a step adds is repeated work: every device of it computes the
// same.
#pragma once

#include <string>
#include <vector>

#include "flopwise/expr/expr.h"
#include "flopwise/graph/collective.h"
#include "flopwise/graph/einsum.h"
#include "flopwise/mesh/mesh.h"

namespace flopwise {

// One collective over the group of devices along `mesh_axes`. How long it takes is not known here.
struct CollectiveMove {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<std::string> mesh_axes;
  std::string array;  // its name
  Expr elements;      // of the array that the group holds together when gathered
};

struct ShardedEinsum {
  std::vector<Expr> step_points;  // per step: the points of its loop that one device runs over
  std::vector<Expr>
      operand_elements;  // per operand: what one device holds when it computes, after gathers
  Expr result_elements;  // what one device holds of the result before it moves to the output's
                         // placement
  std::vector<CollectiveMove> moves;  // in order
  EinsumArray output;                 // with its final placement
  Expr devices;                       // all devices of the mesh, also those that repeat work
  std::vector<std::string> notes;     // what rule (4) chose, one line each
};

// The mesh axes that `spec` names, in order of appearance, for a mesh of which no size is known.
std::vector<std::string> mesh_axes_of(const EinsumSpec& spec);

// UserError with the column when an array names a mesh axis that `mesh` lacks, or an axis whose
// size is in `sizes` is split into parts that are not whole; and for a mesh axis named like an axis
// of the expression.
void check_mesh(const EinsumSpec& spec, const Mesh& mesh, const Sizes& sizes);

// Applies the rules to each step. `mesh_axes`: all of the mesh. `sizes`: of axes and mesh axes;
// those that rule (4) compares must be there (InternalError), and a collective over devices that
// are known to be one is left out. UserError with the column for an asked {U_m} that is no partial
// sum, and where two arrays split an axis over the same mesh axes in different orders, which no
// rule covers.
ShardedEinsum shard_einsum(const EinsumSpec& spec, const std::vector<EinsumStep>& steps,
                           const std::vector<std::string>& mesh_axes, const Sizes& sizes);

}  // namespace flopwise
