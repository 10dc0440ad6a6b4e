// How many training plans a second are evaluated, on one thread and on two.
#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

#include "flopwise/base/parallel.h"
#include "flopwise/flopwise.h"

namespace flopwise {
namespace {

Trainer trainer_of(const std::string& model, std::int64_t devices, std::int64_t batch) {
  std::istringstream none;
  TrainRequest request;
  request.hardware = find_hardware("h100");
  request.devices = devices;
  request.batch = batch;
  request.seq_len = 8192;
  return {read_model(model, none), request};
}

void search(benchmark::State& state, const std::string& model, std::int64_t devices,
            std::int64_t batch) {
  const Trainer trainer = trainer_of(model, devices, batch);
  const TrainSpace space = TrainSpace::of(devices, trainer.has_experts());
  std::int64_t evaluated = 0;
  SearchOptions options;
  options.top = 10;
  options.threads = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const TrainSearch found = search_plans(trainer, space, options);
    evaluated += found.evaluated;
    benchmark::DoNotOptimize(found.best.data());
  }
  state.counters["evaluated"] =
      benchmark::Counter(static_cast<double>(evaluated), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(search, llama_70b_on_1024, std::string("llama-3-70b"), 1024, 2048)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, llama_405b_on_16384, std::string("llama-3.1-405b"), 16384, 2048)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, llama_405b_on_1Mi, std::string("llama-3.1-405b"), 1048576, 1048576)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// What two threads are worth on this machine: the same loop without memory.
void spin(benchmark::State& state) {
  constexpr std::size_t kRounds = 64;
  for (auto _ : state) {
    std::vector<double> sums(kRounds);
    for_each_parallel(kRounds, static_cast<int>(state.range(0)), [&](std::size_t i) {
      double x = 1;
      for (int j = 0; j < 400000; ++j) x = x * 0.999999 + 1e-9;
      sums[i] = x;
    });
    benchmark::DoNotOptimize(sums.data());
  }
}
BENCHMARK(spin)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwise
