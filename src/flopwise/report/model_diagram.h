// What a model does, drawn: each distinct block once, its operations in order, the residual stream
// beside them, and what each operation is and costs. All of it is read off the graph.
#pragma once

#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/cost/cost.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"

namespace flopwise {

struct DrawnAxis {
  std::string name;  // "N"
  Count size;
};

struct PerToken {
  Expr formula;
  Rational value;
};

// An operation, or the input of a block, which has no class.
struct DrawnOp {
  std::string name;               // "attention.q"
  std::string computes;           // "norm *_D W[D,N,H]"
  std::vector<DrawnAxis> output;  // axes of what it makes
  OpClass op_class = OpClass::kNone;
  Quantity params;            // of the parameters that it is the first to read
  bool reads_shared = false;  // parameters that an earlier block has counted: a tied matrix
  PerToken flops;
  int skips_from = -1;  // of a residual addition: the row of what was led around
};

struct DrawnBlock {
  std::string name;
  Count layers;
  std::vector<DrawnAxis> sizes;  // the letters in its shapes and formulas
  std::vector<DrawnOp> ops;
  bool one_set = false;   // all repeats read the same parameters
  Count params;           // of one repeat, as are the following
  Rational matrix_flops;  // per token: matmul and attention
  Rational vector_flops;
};

struct Diagram {
  Workload workload;  // what the FLOPs per token are of
  std::vector<DrawnBlock> blocks;
};

// Of the forward pass over T = min(2048, context) positions.
Diagram diagram_of(const Model& model);

std::string diagram_text(const Diagram& diagram);
Json diagram_json(const Diagram& diagram);

}  // namespace flopwise
