// A whole count of a catalog model inside one process: read, build, differentiate, cost, report.
#include <benchmark/benchmark.h>

#include <sstream>
#include <string>
#include <vector>

#include "flopwise/flopwise.h"

namespace flopwise {
namespace {

void count(benchmark::State& state, const std::string& model) {
  for (auto _ : state) {
    std::istringstream no_input;
    const std::vector<CountResult> results = {count_model(read_model(model, no_input), {})};
    benchmark::DoNotOptimize(count_json(results).str());
  }
}

// The first 120 models of the catalog one after the other: configuration, graphs, every cost.
void count_120_models(benchmark::State& state) {
  constexpr std::size_t kModels = 120;
  const auto rows = model_catalog().first(kModels);
  for (auto _ : state) {
    std::vector<Model> models;
    for (const CatalogModel& row : rows) models.push_back(read_catalog_row(row));
    benchmark::DoNotOptimize(count_models(models, {}).back().cost.params.total);
  }
}
BENCHMARK(count_120_models)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

BENCHMARK_CAPTURE(count, llama_3_8b, std::string("llama-3-8b"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count, gemma_2_27b, std::string("gemma-2-27b"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count, qwen3_30b_a3b, std::string("qwen3-30b-a3b"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count, t5_11b, std::string("t5-11b"))->Unit(benchmark::kMillisecond);
// 10,000 layers cost what 10 do.
BENCHMARK_CAPTURE(count, layers_10, std::string("D=4096,L=10,V=32000,N=32"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count, layers_10000, std::string("D=4096,L=10000,V=32000,N=32"))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwise
