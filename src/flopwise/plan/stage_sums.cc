#include "flopwise/plan/stage_sums.h"

#include <algorithm>

namespace flopwise {
StageSums& StageSums::operator+=(const StageSums& other) {
  all += other.all;
  weight_gradients += other.weight_gradients;
  compute_s += other.compute_s;
  exposed_s += other.exposed_s;
  serial_s += other.serial_s;
  backward_s += other.backward_s;
  saved_bytes += other.saved_bytes;
  parameters += other.parameters;
  tied_parameters += other.tied_parameters;
  step += other.step;
  peak_bytes = std::max(peak_bytes, other.peak_bytes);
  return *this;
}

StageSums& StageSums::operator-=(const StageSums& other) {
  StageSums negative = other;
  negative.all *= -1;
  negative.weight_gradients *= -1;
  for (double StageSums::*field :
       {&StageSums::compute_s, &StageSums::exposed_s, &StageSums::serial_s, &StageSums::backward_s,
        &StageSums::saved_bytes}) {
    negative.*field *= -1;
  }
  negative.parameters *= -1;
  negative.tied_parameters *= -1;
  negative.step *= -1;
  negative.peak_bytes = 0;
  return *this += negative;
}

StageSums stage_of(const BlockEstimate& block, double repeats) {
  StageSums stage;
  if (repeats == 0) return stage;
  for (const Pass pass : {Pass::kForward, Pass::kRecompute, Pass::kBackward}) {
    PassEstimate part = block.passes[static_cast<std::size_t>(pass)];
    // Gathers and scatters of parameters run beside the kernels of their pass.
    const double spilled = std::max(0.0, part.overlappable_s - part.kernels_s);
    stage.exposed_s += (part.blocking_s - part.hidden_s + spilled) * repeats;
    part *= repeats;
    stage.compute_s += part.kernels_s;
    stage.serial_s += part.kernels_s + part.blocking_s + part.overlappable_s;
    if (pass != Pass::kForward) stage.backward_s += part.kernels_s;
    stage.all += part;
  }
  stage.weight_gradients = block.weight_gradients;
  stage.weight_gradients *= repeats;
  stage.parameters = block.parameters;
  stage.parameters *= repeats;
  stage.parameters += block.once_parameters;
  stage.tied_parameters = block.tied_parameters;
  stage.step = block.step;
  stage.step *= repeats;
  stage.step += block.step_once;
  stage.saved_bytes = block.saved_bytes * repeats + block.saved_once_bytes;
  stage.peak_bytes = block.peak_bytes - block.saved_bytes;
  return stage;
}

}  // namespace flopwise
