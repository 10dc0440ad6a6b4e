// `flopwise roofline`: every kernel of a step at a chip's peaks, and what bounds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/report/count.h"
#include "flopwise/report/layer_bounds.h"

namespace flopwise {

// One kernel of one layer: an operation, and what rides on it or is fused with it.
struct RooflineKernel {
  std::string name;
  std::string block;
  Pass pass = Pass::kForward;
  Count layers;
  Count matrix_flops;
  Count vector_flops;
  Count bytes;
  double time_s = 0;  // the largest of its three times at peak
  const char* bound = "memory";

  std::optional<double> intensity() const;  // matrix FLOPs a byte
};

struct RooflineAnswer {
  std::string model, hardware, dtype, mode;
  double peak_flops_per_s = 0;
  double memory_bytes_per_s = 0;
  std::optional<double> vector_flops_per_s;
  double matrix_s = 0;  // of the step, each resource by itself
  double memory_s = 0;
  std::optional<double> vector_s;
  double kernels_s = 0;                 // one kernel after another
  std::vector<RooflineKernel> kernels;  // slowest first, all layers counted
  std::vector<LayerBounds> bounds;

  double lower_s() const;
  const char* bound() const;
};

// UserError where the request names no hardware, or a chip without a memory bandwidth.
// `mesh`: whose bounds are asked in place of each parallelism's own.
RooflineAnswer answer_roofline(const Model& model, const CountRequest& request,
                               const std::optional<Parallelism>& mesh = std::nullopt);
Json roofline_json(const RooflineAnswer& answer);
std::string roofline_text(const RooflineAnswer& answer);

}  // namespace flopwise
