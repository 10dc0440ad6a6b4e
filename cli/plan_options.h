// The options by which train and serve are told what to plan; plot takes them too.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "flopwise/flopwise.h"

namespace flopwise::cli {

// --on, and how many where only --mesh ("" without one) says it.
HardwareChoice devices_of(const std::string& on, const std::string& mesh);

// --price in dollars per device and hour; "": not given. UserError below 0.
std::optional<double> price_of(const std::string& text);

// Writes "plans: 40 %" over and over to `err`, from the first second on.
std::function<void(double)> progress_on(std::ostream& err, const char* what);

struct TrainOptions {
  std::string hardware, mesh, tokens, batch, batch_tokens, seq, price;
  std::string micro_batch, remat, interleave, zero, sort, top, why;
  std::string recipe = "megatron";
  std::string dtype = "bf16";
  std::string matmul_dtype;
  std::string kernel = "flash";
  std::string flash = "2";
  std::string fusion = "fused";
  std::string convention = "exact";
  std::string schedule = "1f1b";
  bool sequence_parallel = false;
};
// All that time and memory of a step depend on; not tokens, price, convention, sort, top, why.
void add_train_options(CLI::App& command, TrainOptions& options);
TrainRequest train_request(const TrainOptions& options, const Model& model);
PlanRequest plan_request(const TrainOptions& options);

struct ServeOptions {
  std::string hardware, mesh, weights, kv, ttft, tpot, price, top;
  std::string prompt = "1024";
  std::string output = "256";
  std::string batch = "auto";
  std::string dtype = "bf16";
  std::string mla = "absorbed";
};
// What training has no options for: lengths, types of weights and cache, times asked for.
void add_serving_options(CLI::App& command, ServeOptions& options);
ServeRequest serve_request(const ServeOptions& options);
ServePlanRequest serve_plan_request(const ServeOptions& options);

}  // namespace flopwise::cli
