// How many devices each parallelism takes, and what they do: one point of the planner's space.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "flopwise/graph/remat.h"
#include "flopwise/mesh/assignment.h"
#include "flopwise/mesh/mesh.h"

namespace flopwise {

struct Parallelism {
  std::int64_t dp = 1;
  std::int64_t fsdp = 1;
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t ep = 1;

  // UserError (OverflowError) where the product leaves 64 bits.
  std::int64_t devices() const;
  std::int64_t replicas() const { return dp * fsdp * ep; }  // that hold sequences of their own
  std::string str() const;                                  // "dp=8,tp=8"; "one device"
  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

// "dp=8,tp=8,pp=4": names among dp fsdp tp cp pp ep. UserError naming what else was given.
Parallelism parse_parallelism(std::string_view text);

// How a pipeline orders its passes. 1F1B: one forward, one backward, interleaved where a device
// holds several stages. Zero bubble (Qi et al. 2023): gradients of weights wait and fill the gaps;
// H1 within the memory of 1F1B, H2 with nearly twice as many micro-batches in flight.
enum class PipelineSchedule { k1F1B, kZeroBubbleH1, kZeroBubbleH2 };
const char* name_of(PipelineSchedule schedule);  // "1f1b", "zb-h1", "zb-h2"
// UserError with the names otherwise.
PipelineSchedule parse_schedule(std::string_view text);

struct TrainPlan {
  Parallelism mesh;
  std::int64_t micro_batch = 1;  // sequences per replica and pass
  RematPolicy remat;
  int zero = 0;
  std::int64_t interleave = 1;  // stages a device holds
  bool sequence_parallel = false;
  PipelineSchedule schedule = PipelineSchedule::k1F1B;
};
std::string describe(const TrainPlan& plan);
// "dp=8,tp=8,micro-batch=2,remat=block,zero=1,interleave=2,sequence-parallel=1,schedule=zb-h1":
// what is left out has its default. UserError naming what was not understood.
TrainPlan parse_train_plan(std::string_view text);

// tp = tk*tg: tk = gcd(K, tp) devices split the key heads, tg repeat them.
struct TensorSplit {
  std::int64_t keys = 1;
  std::int64_t groups = 1;
};
TensorSplit split_tensor_axis(std::int64_t tp, std::int64_t kv_heads);

}  // namespace flopwise
