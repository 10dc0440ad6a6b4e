// Serving on a mesh: prefill and decode apart, what fits, and what it costs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/hardware/hardware.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"
#include "flopwise/plan/block_estimate.h"
#include "flopwise/plan/parallelism.h"
#include "flopwise/plan/train.h"

namespace flopwise {

struct ServeRequest {
  Hardware hardware;
  std::int64_t devices = 1;
  std::int64_t prompt = 1024;  // tokens
  std::int64_t output = 256;
  std::string dtype = "bf16";  // of the computation
  std::string weights;         // of the parameters; as dtype where empty
  std::string kv;              // as dtype where empty
  LatentMode latent = LatentMode::kAbsorbed;
  std::optional<double> ttft_s;  // at most
  std::optional<double> tpot_s;
  std::optional<double> price_usd_per_hour;
};

// dp and ep split the sequences, tp heads and widths, ep experts; fsdp, cp and pp are 1.
struct ServePlan {
  Parallelism mesh;
  std::int64_t batch = 1;  // sequences of the whole deployment
};
std::string describe(const ServePlan& plan);  // "dp=2,tp=4, batch 64"

// Bytes on the busiest device.
struct ServeMemory {
  double weights = 0;
  double kv_cache = 0;  // at prompt + output positions; recurrent states too
  double workspace = 0;

  double total() const { return weights + kv_cache + workspace; }
};

// One pass over all layers on the busiest device.
struct PassTime {
  TimeRange time_s;
  const char* bound = "matrix";
};

struct ServeEstimate {
  ServePlan plan;
  std::string weights;            // element type of the parameters
  PassTime prefill;               // one prompt on one replica
  PassTime decode;                // one step of the batch, at prompt + output/2 positions
  double tokens_per_s = 0;        // of the deployment, decoding
  double critical_batch = 0;      // of a replica: from here on decode matrices are compute-bound
  double prefill_per_decode = 0;  // replicas that prefill for each that decodes
  ServeMemory memory;
  bool fits = false;
  bool meets_slo = true;
  std::array<double, 6> decode_wire_bytes = {};  // sent by a device in a step, by ParallelAxis

  double ttft_s() const { return prefill.time_s.expected; }
  double tpot_s() const { return decode.time_s.expected; }
};

class Server {
 public:
  // UserError where the request does not go with the model: an encoder has no decoding.
  Server(const Model& model, ServeRequest request);

  // What is wrong with the mesh ("K = 8 (block layer), expected a multiple of 3"), or nothing.
  std::optional<std::string> problem(const Parallelism& mesh) const;
  ServeEstimate estimate(const ServePlan& plan) const;
  // The largest batch that fits, and meets the request's times where `in_time`; 0 where not even
  // one sequence a replica does.
  std::int64_t largest_batch(const Parallelism& mesh, bool in_time) const;

  const Model& model() const { return model_; }
  const ServeRequest& request() const { return request_; }
  const ElementTypes& types() const { return types_; }
  Workload longest_decode() const;  // a step at prompt + output positions
  double usable_memory() const { return usable_memory_; }
  bool has_experts() const { return experts_; }

 private:
  // One kind of pass. Absorbed latent attention has one key head where prefill has them all, so how
  // tp falls on heads is a matter of the pass.
  struct PassBlocks {
    std::vector<BlockModel> blocks;
    std::int64_t kv_heads = 0;

    MeshSizes sizes(const Parallelism& mesh, std::int64_t batch_each,
                    const Network& network) const {
      return mesh_sizes(mesh, batch_each, split_tensor_axis(mesh.tp, kv_heads), network);
    }
  };
  struct Cache {
    Expr bytes;  // on one device, of all repeats
    Sizes sizes;
  };
  struct Blocks {
    PassBlocks prefill;
    PassBlocks decode;
    std::vector<Cache> caches;  // at full length
  };
  const Blocks& blocks_of(const Parallelism& mesh) const;
  Program program_of(Mode mode, std::int64_t context) const;
  PassTime time_of(const PassBlocks& pass, const MeshSizes& sizes, PassEstimate& sums,
                   double& workspace, double& parameters) const;
  double cache_bytes(const Blocks& blocks, const MeshSizes& sizes) const;

  Model model_;
  ServeRequest request_;
  ElementTypes types_;
  ChipRates rates_;
  std::int64_t prefill_kv_heads_ = 0;
  std::int64_t decode_kv_heads_ = 0;
  bool experts_ = false;
  double usable_memory_ = 0;
  // By whether tp outnumbers the key heads of prefill, and of decoding.
  mutable std::map<std::pair<bool, bool>, std::unique_ptr<Blocks>> blocks_;
};

struct ServeSearch {
  std::int64_t evaluated = 0;
  std::int64_t rejected = 0;              // sizes that do not divide
  std::int64_t too_large = 0;             // not one sequence a replica fits
  std::int64_t too_slow = 0;              // fits, and misses the times asked for
  std::vector<ServeEstimate> best;        // most tokens a second first
  std::vector<ServeEstimate> pareto;      // no other is faster for one and gives more for all
  std::optional<ServeEstimate> smallest;  // where nothing fits: what lacks least
};

// Every mesh of the devices, under every server: the same request with weights of several types.
// Each with `batch`, or where that is 0 with its largest batch.
ServeSearch search_serving(std::span<const Server* const> servers, std::int64_t batch,
                           std::size_t top);

}  // namespace flopwise
