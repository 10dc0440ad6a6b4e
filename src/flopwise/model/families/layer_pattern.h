// Grouping L layers whose kinds follow a pattern, without walking through all of them: 2^40 layers
// cost what 10 do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flopwise/model/model.h"

namespace flopwise {

struct NamedLayer {
  std::string name;
  Layer layer;
};

struct LayerPattern {
  std::int64_t layers = 0;  // L
  // Layers period-1, 2*period-1, ... may differ from the others; 1: no such rhythm.
  std::int64_t period = 1;
  // Further layers at which the kind may change; in any order, those outside 0 ... L-1 are no harm.
  std::vector<std::int64_t> breaks;
};

// Groups the layers 0 ... L-1. `layer_at` describes layer i and is asked at most twice between two
// breaks, so it must depend on nothing but i's place between them and whether period divides i+1.
std::vector<LayerGroup> group_layers(LayerPattern pattern,
                                     const std::function<NamedLayer(std::int64_t)>& layer_at);

}  // namespace flopwise
