// Which of a decoder's layers attend through a window, and which are mixtures of experts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "flopwise/model/families/family.h"
#include "flopwise/model/families/layer_pattern.h"

namespace flopwise {

struct WindowPlan {
  std::int64_t size = 0;         // W; 0: no layer has one
  std::vector<bool> listed;      // one entry a layer, from layer_types; empty: by the rest
  std::int64_t first = 0;        // layers from here on
  std::int64_t full_period = 0;  // of these, all but every full_period-th; 0: all

  bool has_window(std::int64_t i) const;
};

struct MoePlan {
  bool any = false;
  std::int64_t step = 1;         // every step-th layer
  std::int64_t first = 0;        // from here on
  std::set<std::int64_t> dense;  // but none of these

  bool is_moe(std::int64_t i) const;
};

// Layers without positions inside attention.
struct NopePlan {
  bool global = false;        // those without a window
  std::int64_t period = 0;    // every period-th; 0: by the rest
  std::vector<bool> without;  // one entry a layer, from no_rope_layers; empty: by the rest
};

struct LayerPlan {
  std::int64_t layers = 0;
  WindowPlan windows;
  MoePlan experts;
  NopePlan nope;
  HybridPlan hybrid;
  std::vector<bool>
      shared_choices;  // one entry a layer: no indexer of its own; empty: all have one

  bool shares_choice(std::int64_t i) const;
  bool is_recurrent(std::int64_t i) const;
  bool is_moe(std::int64_t i) const;
  bool has_positions(std::int64_t i) const;

  LayerPattern pattern() const;
  // "local", "global", "moe", "dense", "local_moe", ...: what tells the kinds of this model apart.
  std::string kind_of(std::int64_t i) const;
};

LayerPlan read_layer_plan(Config& config);

}  // namespace flopwise
