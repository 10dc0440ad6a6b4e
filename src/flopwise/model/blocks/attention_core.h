// What all kinds of attention have in common: scores, softmax and weighted sum, and the cache.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {

struct HeadAxes {
  Axis query_heads;  // N
  Axis kv_heads;     // K
  Axis group;        // G = N/K
  Axis head;         // H, of queries and keys
  Axis value_head;   // H, or Hv where values have another size
};

struct CoreInputs {
  // [B,T,K,G,..] with [B,S,(K,)..]: scores are the sum of the products, one pair a part of the
  // head.
  std::vector<std::pair<TensorId, TensorId>> queries_keys;
  TensorId values = kNoTensor;      // [B,S,(K,)Hv]
  TensorId score_bias = kNoTensor;  // broadcast to [B,K,G,T,S]
  int score_terms = 1;              // of which products the scores are the sum: 1/sqrt(terms*H)
  TensorId sinks = kNoTensor;       // [K,G]
};

double score_scale(const Attention& attention, int terms);

// softmax(scores) values -> [B,T,K,G,Hv], one fused region where the workload's kernel is flash.
TensorId attention_core(BlockBuilder& builder, const std::string& name, const Attention& attention,
                        const Workload& workload, const HeadAxes& heads, const Axis& keys,
                        const CoreInputs& inputs);

// The cache `name` of `axes`, the keys second; `fresh`, on the queries' positions, is written to
// its end unless it is kNoTensor.
TensorId add_cache(BlockBuilder& builder, const std::string& name, const Axes& axes,
                   const AttentionMask& mask, TensorId fresh);

bool keeps_cache(const Workload& workload);

// Rotates the first `rotated` elements of the last axis by position.
TensorId add_rotary(BlockBuilder& builder, const std::string& name, TensorId x,
                    const Expr& rotated);

// As add_attention, for attention with a latent.
TensorId add_latent_attention(BlockBuilder& builder, const std::string& name,
                              const Attention& attention, const Workload& workload, TensorId x);

}  // namespace flopwise
