// What is asked of a model: which pass, at which sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flopwise/graph/lora.h"
#include "flopwise/model/model.h"

namespace flopwise {

enum class Mode {
  kTrain,    // forward, loss and backward
  kForward,  // forward of all positions, no cache
  kPrefill,  // forward that fills the KV cache
  kDecode,   // T new tokens against a cache of S positions, themselves included
};
const char* name_of(Mode mode);
Mode parse_mode(std::string_view text);  // UserError with the choices

// Flash computes scores, softmax and weighted sum in one kernel and keeps no scores; plain writes
// them out.
enum class AttentionKernel { kFlash, kPlain };
AttentionKernel parse_attention_kernel(std::string_view text);

// How a step with a cache runs latent attention. Absorbed: the matrices that make keys and values
// of the latent are applied to queries and outputs instead, and the cache holds the latent.
// Expanded: the cache holds the keys and values of all heads.
enum class LatentMode { kAbsorbed, kExpanded };
LatentMode parse_latent_mode(std::string_view text);

enum class Logits { kAll, kLast };
Logits parse_logits(std::string_view text);

struct Workload {
  Mode mode = Mode::kTrain;
  std::int64_t batch = 1;    // B
  std::int64_t seq_len = 0;  // T, query positions
  std::int64_t context = 0;  // S, key positions
  std::int64_t source = 0;   // R, of an encoder-decoder
  AttentionKernel kernel = AttentionKernel::kFlash;
  Logits logits = Logits::kAll;
  LatentMode latent = LatentMode::kAbsorbed;
  std::optional<Lora> lora;
};

// Whether the step runs an encoder-decoder's encoder: decoding and the later chunks of a prompt
// find its keys and values in the cache.
bool encodes_source(const Workload& workload);

// Sizes as typed, 0 where not given, filled in by rule: T = min(2048, the
// model's context) (decode: 1), S = T (prefill: --context if given, decode: --context, required), R
// = T, logits all positions (prefill: the last). UserError where sizes and mode or mask do not go
// together.
struct WorkloadRequest {
  Mode mode = Mode::kTrain;
  std::int64_t batch = 1;
  std::int64_t seq_len = 0;
  std::int64_t context = 0;
  std::int64_t source = 0;
  AttentionKernel kernel = AttentionKernel::kFlash;
  std::string logits;  // "", "all", "last"
  LatentMode latent = LatentMode::kAbsorbed;
  std::optional<Lora> lora;
};
Workload resolve(const WorkloadRequest& request, const Model& model);
// What the reader of the model did not know but the workload shows: more positions than the model
// has learned, or is made for.
std::vector<std::string> assumptions_of(const Workload& workload, const Model& model);

}  // namespace flopwise
