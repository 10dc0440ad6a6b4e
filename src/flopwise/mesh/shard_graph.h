// A block on a mesh: the same graph with the axes of one device and the collectives that the
// placement rules insert.
//
// The rules, one mesh axis m at a time (docs/parallelism.md):
//   contraction  m on no contracted axis and not on two different ones: nothing moves, a batching
//                axis that only one operand has split is sliced in the other. On a contracted axis
//                of one operand only: that operand is all-gathered. On the same contracted axis of
//                both: a partial sum {U_m}. On two different axes: one operand is all-gathered, the
//                parameter under fsdp, the activation otherwise.
//   {U_m}        stays through additions, linear functions and contractions whose other operand
//                lacks m; is reduced once where anything else reads it, or its placement is fixed:
//                reduce-scatter where that placement has m on an axis, else all-reduce.
//   rows         a norm, softmax or cross-entropy along an axis that m splits all-reduces its row
//                statistics, in fp32.
//   lookup       in a table whose rows m splits: own rows only, {U_m}.
//   experts      what is sent to experts on m moves by all-to-all from the batch to the k copies,
//                and back; the choice of experts travels with it and is not counted.
//   gradients    have the placement of their tensor.
//
// One gather of a tensor serves all its readers of the same pass; one of a parameter those of
// recomputation and backward together. A gathered copy is never saved. A slice is free.
#pragma once

#include <string>
#include <vector>

#include "flopwise/graph/graph.h"
#include "flopwise/mesh/assignment.h"

namespace flopwise {

// What is left of the sum of a parameter's gradient over a step's micro-batches: one all-reduce for
// the whole step.
struct GradientReduction {
  std::string parameter;
  bool shared = false;  // reduced once, for all blocks and repeats that name it
  Collective collective;
};

struct ShardedBlock {
  // Axis sizes of one device (T/cp), Collective operations among the others. Row statistics that
  // are reduced are tensors "NAME.stats".
  Block local;
  std::vector<GradientReduction> gradients;
  std::vector<AxisDivision> divisions;  // that its tensors need: each a size and what divides it
};

// Takes a block with or without its backward pass.
ShardedBlock shard(const Block& block, const Assignment& assignment);

}  // namespace flopwise
