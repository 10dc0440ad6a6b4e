// How the layers of a model lie on the devices of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

#include "flopwise/model/model.h"

namespace flopwise {

// What one device holds; `position` is its place in the pipeline, from 0.
struct StageLayers {
  std::vector<std::int64_t> counts;  // by group of the stack
  std::int64_t position = 0;
  bool is_first = false;
  bool is_last = false;
};

// pp*interleave stages of whole consecutive layers, the floor or the ceiling of their share. Where
// some are shorter the last is one of them, beside the head, then the first, beside the embedding,
// then those towards the last. Device d holds the stages d, d + pp, d + 2*pp, ... Devices that hold
// the same and are neither first nor last are listed once, at the earliest position.
// pp*interleave is at most the number of layers.
std::vector<StageLayers> split_layers(const std::vector<LayerGroup>& groups, std::int64_t pp,
                                      std::int64_t interleave);

}  // namespace flopwise
