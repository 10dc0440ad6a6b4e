// A checkpoint of 200 shards behind an index, as those of the largest models are: how long until
// all headers are read, with the files in the page cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "flopwise/checkpoint/checkpoint.h"

namespace flopwise {
namespace {

namespace fs = std::filesystem;

constexpr int kShards = 200;
constexpr int kTensorBytes = 2 * 4 * 8;  // BF16 [4,8]: what follows the header is never read

std::string tensor_name(int shard, int tensor) {
  return fmt::format("model.layers.{}.mlp.experts.{}.down_proj.weight", shard, tensor);
}
std::string shard_name(int shard) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, kShards);
}

void write_shard(const fs::path& folder, int shard, int tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  for (int i = 0; i < tensors; ++i) {
    header += fmt::format(R"(,"{}":{{"dtype":"BF16","shape":[4,8],"data_offsets":[{},{}]}})",
                          tensor_name(shard, i), i * kTensorBytes, (i + 1) * kTensorBytes);
  }
  header += "}";
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> 8 * i);
  std::ofstream(folder / shard_name(shard), std::ios::binary)
      << length << header << std::string(static_cast<std::size_t>(tensors) * kTensorBytes, '\0');
}

void write_index(const fs::path& folder, int tensors) {
  std::string map;
  for (int shard = 0; shard < kShards; ++shard) {
    for (int i = 0; i < tensors; ++i) {
      map += fmt::format(R"({}"{}":"{}")", map.empty() ? "" : ",", tensor_name(shard, i),
                         shard_name(shard));
    }
  }
  std::ofstream(folder / "model.safetensors.index.json") << R"({"weight_map":{)" << map << "}}";
}

// The argument: tensors in each shard. 6 as of 400 billion dense parameters, 500 as of 256 experts
// in each of 60 layers.
void read_200_shards(benchmark::State& state) {
  const int tensors = static_cast<int>(state.range(0));
  const fs::path folder =
      fs::temp_directory_path() / fmt::format("flopwise_checkpoint_bench_{}", getpid());
  fs::create_directories(folder);
  for (int shard = 0; shard < kShards; ++shard) write_shard(folder, shard, tensors);
  write_index(folder, tensors);
  std::size_t read = 0;
  for (auto _ : state) read = read_checkpoint(folder.string()).tensors.size();
  if (read != static_cast<std::size_t>(kShards * tensors))
    state.SkipWithError("not every tensor was read");
  fs::remove_all(folder);
}
BENCHMARK(read_200_shards)->Arg(6)->Arg(500)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwise
