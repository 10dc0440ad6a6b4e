// A checkpoint of 200 shards behind an index, as those of the largest models are: how long until
// all headers are read, and until every tensor is compared with the model, with the files in the
// page cache.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flopwise/checkpoint/checkpoint.h"
#include "flopwise/model/read_model.h"
#include "flopwise/weights/check.h"

namespace flopwise {
namespace {

namespace fs = std::filesystem;

constexpr int kShards = 200;
constexpr int kExperts = 256;

struct Tensor {
  std::string name;
  int rows = 0;
  int columns = 0;  // 0: a vector
};

// D = 8, F = 4, N = K = 2, H = 4, V = 16: what follows the headers is never read.
nlohmann::json config_of(int layers, bool has_experts) {
  nlohmann::json config = {
      {"model_type",          has_experts ? "qwen3_moe" : "qwen3"},
      {"hidden_size",         8                                  },
      {"intermediate_size",   4                                  },
      {"num_hidden_layers",   layers                             },
      {"num_attention_heads", 2                                  },
      {"num_key_value_heads", 2                                  },
      {"head_dim",            4                                  },
      {"tie_word_embeddings", false                              },
      {"vocab_size",          16                                 }
  };
  if (has_experts) {
    config.update({
        {"num_experts",           kExperts},
        {"num_experts_per_tok",   8       },
        {"moe_intermediate_size", 4       }
    });
  }
  return config;
}

void add_mlp(const std::string& name, std::vector<Tensor>& tensors) {
  tensors.push_back({name + "gate_proj.weight", 4, 8});
  tensors.push_back({name + "up_proj.weight", 4, 8});
  tensors.push_back({name + "down_proj.weight", 8, 4});
}

std::vector<Tensor> tensors_of(int layers, bool has_experts) {
  std::vector<Tensor> tensors = {
      {"model.embed_tokens.weight", 16, 8}
  };
  for (int i = 0; i < layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    for (const char* part : {"q", "k", "v", "o"}) {
      tensors.push_back({fmt::format("{}self_attn.{}_proj.weight", layer, part), 8, 8});
    }
    for (const char* part : {"q", "k"}) {
      tensors.push_back({fmt::format("{}self_attn.{}_norm.weight", layer, part), 4});
    }
    tensors.push_back({layer + "input_layernorm.weight", 8});
    tensors.push_back({layer + "post_attention_layernorm.weight", 8});
    if (!has_experts) {
      add_mlp(layer + "mlp.", tensors);
      continue;
    }
    tensors.push_back({layer + "mlp.gate.weight", kExperts, 8});
    for (int e = 0; e < kExperts; ++e) {
      add_mlp(fmt::format("{}mlp.experts.{}.", layer, e), tensors);
    }
  }
  tensors.push_back({"model.norm.weight", 8});
  tensors.push_back({"lm_head.weight", 16, 8});
  return tensors;
}

std::string shard_name(int shard) {
  return fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, kShards);
}

// Names in a file in alphabetical order, as the library that writes them has them.
void write_shard(const fs::path& path, std::vector<Tensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const Tensor& a, const Tensor& b) { return a.name < b.name; });
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::size_t end = 0;
  for (const Tensor& tensor : tensors) {
    const std::size_t begin = end;
    end += static_cast<std::size_t>(2 * tensor.rows * std::max(tensor.columns, 1));
    const std::string shape = tensor.columns == 0
                                  ? std::to_string(tensor.rows)
                                  : fmt::format("{},{}", tensor.rows, tensor.columns);
    header += fmt::format(R"(,"{}":{{"dtype":"BF16","shape":[{}],"data_offsets":[{},{}]}})",
                          tensor.name, shape, begin, end);
  }
  header += "}";
  std::string length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> 8 * i);
  std::ofstream(path, std::ios::binary) << length << header << std::string(end, '\0');
}

struct Folder {
  fs::path path;
  std::size_t tensors = 0;
  Model model;
};

// The tensors in the model's order over the shards, the index by name, as they are published.
Folder write_checkpoint(int layers, bool has_experts) {
  Folder folder;
  folder.path = fs::temp_directory_path() / fmt::format("flopwise_bench_{}_{}", layers, getpid());
  folder.model = model_from_config(config_of(layers, has_experts), "config.json");
  fs::create_directories(folder.path);
  const std::vector<Tensor> tensors = tensors_of(layers, has_experts);
  folder.tensors = tensors.size();
  std::vector<std::string> entries;
  for (int shard = 0; shard < kShards; ++shard) {
    const auto at = [&](int number) {
      return tensors.begin() + static_cast<std::ptrdiff_t>(tensors.size() * number / kShards);
    };
    const std::vector<Tensor> part(at(shard), at(shard + 1));
    write_shard(folder.path / shard_name(shard), part);
    for (const Tensor& tensor : part) {
      entries.push_back(fmt::format("    \"{}\": \"{}\"", tensor.name, shard_name(shard)));
    }
  }
  std::sort(entries.begin(), entries.end());
  std::string map;
  for (const std::string& entry : entries) map += (map.empty() ? "" : ",\n") + entry;
  std::ofstream(folder.path / "model.safetensors.index.json")
      << "{\n  \"metadata\": {},\n  \"weight_map\": {\n"
      << map << "\n  }\n}\n";
  return folder;
}

enum class Steps { kRead, kCheck, kReadAndCheck };

void run(benchmark::State& state, int layers, bool has_experts, Steps steps) {
  const Folder folder = write_checkpoint(layers, has_experts);
  Checkpoint checkpoint = read_checkpoint(folder.path.string());
  if (checkpoint.tensors.size() != folder.tensors) state.SkipWithError("not every tensor was read");
  if (!check_weights(folder.model, checkpoint).agrees()) state.SkipWithError("no agreement");
  for (auto _ : state) {
    if (steps != Steps::kCheck) checkpoint = read_checkpoint(folder.path.string());
    if (steps != Steps::kRead) {
      benchmark::DoNotOptimize(check_weights(folder.model, checkpoint).params);
    }
  }
  state.counters["tensors"] = static_cast<double>(folder.tensors);
  fs::remove_all(folder.path);
}

// 108 dense layers have 1,191 tensors, 129 layers of 256 experts 100,236.
BENCHMARK_CAPTURE(run, dense_read, 108, false, Steps::kRead)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, dense_read_and_check, 108, false, Steps::kReadAndCheck)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, experts_read, 129, true, Steps::kRead)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, experts_check, 129, true, Steps::kCheck)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run, experts_read_and_check, 129, true, Steps::kReadAndCheck)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwise
