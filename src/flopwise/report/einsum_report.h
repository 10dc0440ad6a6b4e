// `flopwise einsum`: from what the user typed to its costs, as text and as JSON (docs/json.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/dtype.h"
#include "flopwise/base/json.h"
#include "flopwise/base/rational.h"
#include "flopwise/cost/einsum_cost.h"
#include "flopwise/expr/expr.h"
#include "flopwise/graph/einsum.h"
#include "flopwise/mesh/mesh.h"
#include "flopwise/report/explain.h"

namespace flopwise {

// The options of the command, as typed.
struct EinsumQuery {
  std::string expression;                // "A[B_X,D_Y] *_D W[D_Y,F]"
  std::vector<std::string> sizes = {};   // "B=1024", "B=4,D=8k"
  std::optional<std::string> mesh = {};  // "X=4,Y=8"
  std::string dtype = "bf16";
  std::optional<std::string> hardware = {};  // "h100", "flops=197e12,memory_bandwidth=819e9"
};

// How long a collective takes at the links' peak. Mesh axes fill fast domains from the last one
// named, the innermost.
struct CollectiveTime {
  std::optional<double> time_s;        // bytes sent / rate
  std::optional<double> limit_time_s;  // of ever more devices: V/W, an all-reduce 2V/W, an
                                       // all-to-all V/4W on a ring and V/XW through a switch
};

// One chip at its peak against the work of one device.
struct EinsumRoofline {
  std::string hardware;
  Rational peak_flops_per_s;  // of the matrix units for the dtype
  Rational memory_bytes_per_s;
  Rational flops_per_byte;  // peak / bandwidth: the intensity from which it is compute-bound
  std::optional<double> matrix_time_s;  // FLOPs of a device / peak; needs every size
  std::optional<double> memory_time_s;  // bytes of a device / bandwidth
  std::optional<std::string>
      bound;  // "matrix" or "memory"; nothing without a contraction or a size
  std::optional<std::int64_t>
      compute_bound_from;  // with every axis of that size; only where no size is given
  std::vector<CollectiveTime> collectives;  // as in EinsumAnswer::sharded
};

struct EinsumAnswer {
  EinsumSpec spec;
  DType dtype;
  Sizes axis_sizes;  // as given
  Sizes sizes;       // and those of the mesh
  std::optional<Mesh> mesh;
  EinsumCost cost;
  ShardedEinsumCost sharded;
  std::optional<Expr> equal_sizes_intensity;  // in n; only where no size and no mesh is given
  std::optional<EinsumRoofline> roofline;     // only with hardware
};

// UserError for anything wrong in the query.
EinsumAnswer answer_einsum(const EinsumQuery& query);

// For people. With kYes each number follows as formula = sizes put in = value.
std::string einsum_text(const EinsumAnswer& answer, Explain explain = Explain::kNo);

Json einsum_json(const EinsumAnswer& answer);

}  // namespace flopwise
