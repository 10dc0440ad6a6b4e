// Where the layers of a model stop being bound by a chip's matrix units, as `flopwise roofline`
// shows it: the tokens that hide reading the weights, and what each parallelism needs to hide what
// it sends (plan/critical.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/plan/critical.h"
#include "flopwise/plan/parallelism.h"
#include "flopwise/report/count.h"

namespace flopwise {

// One parallelism by itself on some of the chip's links. One of the two numbers is what is asked;
// a number that is absent is never reached.
struct ParallelBound {
  std::string parallelism;  // "fsdp", "fsdp=8,tp=4"
  std::string links;        // "2 rings", "inside 8 devices", "across domains"
  bool is_degree = false;
  std::optional<double> tokens_per_device;  // from which the layer is compute-bound
  std::optional<double> degree;             // up to which it is
};

struct LayerBounds {
  std::string block;
  Count layers;
  std::optional<CriticalBatch> batch;  // of one chip
  std::vector<ParallelBound> parallel;
};

// Of every kind of layer. With `mesh`, that mesh as it is too; without, each parallelism in the
// limit of ever more devices. Gradients travel in the type of the computation.
std::vector<LayerBounds> layer_bounds(const Model& model, const CountResult& count,
                                      const Hardware& hardware,
                                      const std::optional<Parallelism>& mesh);
Json layer_bounds_json(const std::vector<LayerBounds>& bounds);
std::string layer_bounds_text(const std::vector<LayerBounds>& bounds);

}  // namespace flopwise
