// What the counts mean: the questions people ask of a transformer's cost, answered from the same
// graphs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwise/cost/cost.h"
#include "flopwise/graph/graph.h"

namespace flopwise {

// A length at which two costs are equal; absent where they never are.
struct Crossover {
  Rational linear_per_token;       // FLOPs a token of what grows with T, over all layers
  Rational attention_per_pair;     // FLOPs a query and key of attention, over all layers
  std::optional<Rational> dense;   // all T*S pairs counted: the quotient of the two
  std::optional<Rational> masked;  // unmasked pairs only
};

struct NaiveStep {
  std::string op;
  Quantity bytes;
};

struct MoeBatch {
  // Of one layer's routed experts: FLOPs and activation bytes of a token, bytes of all weights.
  Rational flops_per_token;
  Rational activation_bytes_per_token;
  Rational weight_bytes;
  std::optional<Count> weights_only;  // reading all experts' weights is the only traffic
  std::optional<Count>
      with_activations;  // the experts' inputs and outputs are read and written too
  // Distinct experts that the step's tokens reach: E*(1 - (1 - k/E)^(B*T)) expected, min(E, k*B*T)
  // at most.
  double expected_experts = 0;
  Count most_experts;
  Rational tokens_per_expert;  // B*T*k/E
};

struct Analysis {
  // Attention parameters over all, and over attention plus feed-forward; attention FLOPs (QK and
  // AV) over model FLOPs.
  Rational attention_share_of_params;
  Rational attention_share_of_blocks;
  Rational attention_share_of_flops;
  // T = S = R at which attention FLOPs equal the layers' matmul FLOPs, and their Q, K, V, O
  // projections alone.
  Crossover context_equals_matmul;
  Crossover context_equals_projections;
  // Dense contraction FLOPs over the bytes of Q, K, V and O: FLOPs per byte.
  Expr attention_intensity_formula;         // T*S*G/(T*G + S) with 16-bit elements
  Rational attention_intensity_prefill;     // at T = S
  Expr attention_generation_formula;        // the same with keys and values of the cache's type
  Rational attention_intensity_generation;  // one new token against S
  // T = S from which attention is compute-bound on hardware of the given intensity; absent without
  // one.
  std::optional<Count> attention_compute_bound_length;
  // Time of attention over time of the feed-forward (compute-bound) at T: roofline of flash
  // attention.
  std::optional<Rational> attention_relative_cost;
  std::optional<MoeBatch> moe;  // absent without routed experts
  // Unembedding FLOPs over forward model FLOPs, and, for one token, as a number of layers' matmuls.
  Rational unembedding_share;
  Rational unembedding_layers;
  std::vector<NaiveStep> naive_attention;  // bytes of each step when every step goes to memory
};

// Whether some layer has attention, which figures of intensity and length are of.
inline bool attends(const Analysis& analysis) {
  return !analysis.attention_intensity_formula.is_zero();
}

struct AnalysisInput {
  const Cost* cost = nullptr;        // of the workload that was asked for
  Count tokens;                      // its B*T
  const Program* forward = nullptr;  // forward pass over T = S, no cache, flash
  const Program* plain = nullptr;    // the same with plain attention; null: no naive_attention
  const Program* decode = nullptr;   // one token against S; null for an encoder
  ElementTypes types;
  std::optional<Rational> intensity;  // FLOPs per byte of the hardware
};

Analysis analyse(const AnalysisInput& input);

}  // namespace flopwise
