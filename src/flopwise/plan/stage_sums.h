// What some of the blocks of a model come to on one device: for a micro-batch, and once a step.
#pragma once

#include "flopwise/plan/block_estimate.h"

namespace flopwise {

struct StageSums {
  PassEstimate all;  // of all passes
  KernelSums weight_gradients;
  double compute_s = 0;   // kernels
  double exposed_s = 0;   // collectives that nothing hides
  double serial_s = 0;    // kernels and collectives one after another
  double backward_s = 0;  // kernels of backward and recomputation
  double saved_bytes = 0;
  double peak_bytes = 0;  // of one block above what it saves: the most, not a sum
  ParameterCounts parameters;
  ParameterCounts tied_parameters;  // that an earlier block holds too
  StepMoves step;                   // gradients over dp, cp and ep

  StageSums& operator+=(const StageSums& other);
  StageSums& operator-=(const StageSums& other);
};

// `repeats` of one block; 0: nothing.
StageSums stage_of(const BlockEstimate& block, double repeats);

}  // namespace flopwise
