// How others count the FLOPs of a step: one row each. These rows are the only formulas typed by
// hand outside tests; every figure a row starts from (matmuls, attention, parameters) is derived
// from the graph.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "flopwise/cost/cost.h"

namespace flopwise {

enum class ConventionBase {
  kDerived,         // matmuls of the graph, forward and backward
  kForwardMatmuls,  // 3 x the forward matmuls in training
  kParameters,      // 6 x N a token in training, 2 x N otherwise
  kAttentionOnly,
};
enum class ConventionAttention { kNone, kHalf, kDense, kExact };
enum class ConventionN { kActive, kTotal, kWithoutPositions };

struct Convention {
  std::string_view name;
  ConventionBase base;
  ConventionAttention attention;
  bool logits;            // whether the unembedding counts (where the base is matmuls)
  ConventionN n;          // what N is (where the base is parameters)
  Rational layer_passes;  // forward passes of the layers that training counts: 3, or 4 with a full
                          // recomputation
  Rational attention_passes;  // the same for attention
  // The same where activations are recomputed; 0: the convention does not say.
  Rational hardware_layer_passes;
  Rational hardware_attention_passes;
  int flops_per_score;        // softmax FLOPs counted for each of the T*S scores
  bool attention_on_d_model;  // attention counted over D where the heads make N*H
  std::string_view source;
};

std::span<const Convention> conventions();
const Convention& find_convention(std::string_view name);  // UserError with the known names

struct ConventionFlops {
  Rational model;
  std::optional<Rational> hardware;  // with recomputation; absent where the convention does not say
};

// FLOPs of the step that `cost` describes. `is_training` says whether it has a backward pass,
// `tokens` is B*T, `recomputes` whether the user rematerialises activations.
ConventionFlops flops_by(const Convention& convention, const Cost& cost, bool is_training,
                         Count tokens, bool recomputes);

}  // namespace flopwise
