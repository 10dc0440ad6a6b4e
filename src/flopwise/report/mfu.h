// `flopwise mfu`: model FLOPs utilisation of a run that was measured, or the hours of a run that is
// planned.
//
//   MFU = model FLOPs of all tokens / (peak FLOP/s x devices x seconds)         HFU: hardware FLOPs
//   in place of model FLOPs
#pragma once

#include <optional>
#include <string>

#include "flopwise/base/json.h"
#include "flopwise/graph/remat.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/model/model.h"
#include "flopwise/model/read_model.h"
#include "flopwise/report/explain.h"

namespace flopwise {

struct MfuRequest {
  std::optional<Model> model;        // a described model, or
  std::optional<BareCounts> counts;  // bare counts, which know the 6ND rule only
  std::string name;                  // of either, for the report
  Rational tokens = 0;               // of the hours; of one step with step_time_s
  // At most one of the three; without any, the FLOPs alone are answered.
  std::optional<Rational> hours;        // wall-clock hours of all devices together
  std::optional<Rational> step_time_s;  // seconds of one step
  std::optional<Rational> target_mfu;   // 0 ... 1: answers the hours
  std::optional<HardwareChoice> hardware;
  std::string dtype = "bf16";
  std::string convention;    // "": exact for a model, 6nd for bare counts
  std::int64_t seq_len = 0;  // 0: min(2048, the model's context)
  RematPolicy remat;
};

struct MfuResult {
  std::string name;
  std::string workload;  // what a step is; empty for bare counts
  Rational tokens;
  Rational model_flops;
  std::optional<Rational> hardware_flops;  // absent where recomputation is unknown
  std::string formula;                     // how model_flops came about, in one line
  std::string convention;
  std::string convention_source;
  std::string hardware;
  std::string dtype;
  std::int64_t devices = 1;
  bool count_given = false;                  // whether --on said how many
  std::optional<Rational> peak_flops_per_s;  // of one device; absent without hardware
  std::optional<Rational> available_flops;
  std::optional<Rational> hours;
  std::optional<Rational> device_hours;
  std::optional<Rational> mfu;
  std::optional<Rational> hfu;
};

// UserError where the question is incomplete or asks two things at once.
MfuResult answer_mfu(const MfuRequest& request);
Json mfu_json(const MfuResult& result);
std::string mfu_text(const MfuResult& result, Explain explain);

}  // namespace flopwise
