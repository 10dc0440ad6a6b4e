// `flopwise count`: everything that one model and one workload give, computed once and then printed
// as text or JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/cost/analysis.h"
#include "flopwise/cost/conventions.h"
#include "flopwise/cost/cost.h"
#include "flopwise/graph/remat.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"
#include "flopwise/report/explain.h"

namespace flopwise {

struct CountRequest {
  WorkloadRequest workload;
  RematPolicy remat;
  Fusion fusion = Fusion::kFused;
  std::string dtype = "bf16";
  std::string weights;  // of the parameters; as dtype where empty
  std::string kv;       // of the cache; as dtype where empty
  std::optional<Hardware> hardware;
  std::optional<Rational> intensity;  // FLOPs per byte, in place of a hardware
  std::string convention = "exact";
};

// What a tower holds, and one image or sound costs in it, its projector included.
struct TowerCost {
  std::string name;
  Count params;  // among cost.params
  Count unused;  // of these, stored and in no step
  std::int64_t positions = 0;
  Flops flops;
};

struct CountResult {
  Model model;
  Workload workload;
  RematPolicy remat;
  Fusion fusion = Fusion::kFused;
  ElementTypes types;
  std::optional<Rational> intensity;
  std::string intensity_source;  // the hardware's name, or "--intensity"
  Sizes sizes;
  Cost cost;
  Analysis analysis;
  std::optional<KvCache> kv_cache;
  Count six_n_d;
  Rational six_n_d_ratio;
  Params text;  // without the towers: of what a step runs, which N of 6*N*D and the shares are of
  std::vector<TowerCost> towers;
  Count unused;  // parameters that are stored and in no step, the towers' too; in the total only
  Count mtp;     // parameters of multi-token-prediction layers, in no other count
  const Convention* convention = nullptr;
  ConventionFlops by_convention;
};

// UserError where model, workload and options do not go together.
CountResult count_model(const Model& model, const CountRequest& request);
// Each of them, in their order, on as many threads as the machine has.
std::vector<CountResult> count_models(const std::vector<Model>& models,
                                      const CountRequest& request);

// The JSON of one model as docs/json.md says; several stand in {"schema": 1, "models": [...]}.
Json count_json(const std::vector<CountResult>& results);

// For people: one model in full, several side by side. `explain` adds the derivation of every line.
std::string count_text(const std::vector<CountResult>& results, Explain explain);

}  // namespace flopwise
