// What a measured row holds. Rows are facts of whole models as their authors published them;
// nothing is fitted to them.
#pragma once

namespace flopwise {

// A training step. `measured` is in the unit of its table.
struct StepRow {
  const char* name;
  const char* model;  // letters, or a model of the catalog
  int seq_len, devices, batch;
  const char* plan;  // as parse_train_plan reads it; what the source leaves open is left out
  double measured;
  const char* chip = nullptr;  // where rows of a table differ
};

// A decoding step of `batch` sequences on tp = devices: seconds.
struct DecodeRow {
  const char* name;
  const char* model;
  const char* chip;
  int devices;
  const char* weights;
  int batch, prompt, output;
  double measured;
};

// Memory of the busiest GPU: GiB.
struct MemoryRow {
  const char* name;
  const char* model;
  int seq_len, devices, batch;
  const char* plan;
  const char* remat;
  double states, activations;  // parameters, gradients and optimizer; saved for backward
};

}  // namespace flopwise
