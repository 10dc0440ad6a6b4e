// Counted execution against every formula.
//
// The model is shrunk to small distinct sizes and really run, with scalars that count what is done
// to them: training under every rematerialisation policy and both attention kernels, prompts,
// tokens after them. What each operation performed must equal what its formula says, at every size;
// what stayed in memory must equal what the memory formulas say; and the numbers themselves must
// agree: gradients with dual numbers, rematerialised gradients with the others to the last bit,
// decoding with the full forward pass. docs/proof.md says which sizes and why that many.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/cost/flops.h"
#include "flopwise/graph/graph.h"
#include "flopwise/graph/remat.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"

namespace flopwise {

// What an operation is said to cost.
using CostRule = std::function<Work(const Graph&, const Op&)>;

struct ProveOptions {
  std::vector<RematPolicy> policies;     // none given: all named ones
  std::vector<AttentionKernel> kernels;  // none given: both
  int threads = 0;                       // 0: as many as the machine has
  int random_draws = 60;
  bool vary_each_letter = true;  // further draws that change one letter at a time
  // Whether these are compared in everything, or in their counts alone (every policy and kernel).
  bool letters_in_full = true;
  // Called after each part, from any thread but from one at a time.
  std::function<void(std::size_t done, std::size_t parts)> progress;
  // For tests that plant faults to see a proof fail: other costs, and changes to the training and
  // decoding programs that are run, but not to those that the predictions are made from.
  CostRule work = work_of;
  std::function<void(Program&)> plant = [](Program&) {};
};

// Where prediction and count differ.
struct Mismatch {
  std::string where;  // "flash kernel, remat block: B=2 D=11 ..."
  Count predicted;
  Count counted;
};

// One operation of one block in one mode, over all runs. The counts shown are of the first draw.
struct ProofRow {
  Mode mode = Mode::kTrain;
  std::string block;
  Pass pass = Pass::kForward;
  std::string op;
  OpClass op_class = OpClass::kNone;
  Expr formula;
  Count predicted;
  Count counted;
  std::int64_t comparisons = 0;
  std::optional<Mismatch> mismatch;  // the first
};

// Something else that must hold: memory, gradients, caches.
struct ProofCheck {
  std::string name;   // "activations.saved_bytes"
  std::string claim;  // what was compared with what
  std::int64_t comparisons = 0;
  double worst = 0;                    // of numeric checks: the largest relative difference
  double allowed = 0;                  // 0: must be equal
  std::optional<std::string> failure;  // the first, with its sizes
};

struct Proof {
  std::string model;
  std::vector<std::string> models;  // all that it covers, the first of them `model`
  std::vector<ProofRow> rows;
  std::vector<ProofCheck> checks;
  std::vector<std::string> draws;     // the sizes of each
  std::vector<std::string> branches;  // of the pair counts: "W < T", "T <= W < S", "W >= S"
  std::int64_t runs = 0;              // steps executed
  Count operations;                   // counted and compared
  std::int64_t comparisons = 0;       // of an operation's count with its formula

  bool holds() const;
};

// UserError where the model cannot be run.
Proof prove_model(const Model& model, const ProveOptions& options);

// Proves what differs once. A proof runs nothing but the shrunk model at each of its draws, so
// models whose shrunk models are equal at every draw, sizes of the draw included, have the same
// proof, which names them all. `announce` is called before each proof.
using Announce =
    std::function<void(const std::string& model, std::size_t proof, std::size_t proofs)>;
std::vector<Proof> prove_models(const std::vector<Model>& models, const ProveOptions& options,
                                const Announce& announce);

}  // namespace flopwise
