#include "flopwise/cost/conventions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

using Base = ConventionBase;
using Attn = ConventionAttention;
using N = ConventionN;

// name, base, attention, logits, N; forward passes of layers and attention, the same with
// recomputation; FLOPs per score, attention on D, source
const std::array<Convention, 12> kConventions = {
    {
     {"exact", Base::kDerived, Attn::kExact, true, N::kActive, 3, 3, 3, 3, 0, false,
         "flopwise: every contraction of the graph, unmasked pairs"},
     {"dense", Base::kDerived, Attn::kDense, true, N::kActive, 3, 3, 3, 3, 0, false,
         "the same with all T*S pairs"},
     {"6nd", Base::kParameters, Attn::kNone, true, N::kActive, 3, 0, 0, 0, 0, false,
         "Kaplan et al. 2020 (arXiv 2001.08361); N: active parameters, embedding and head "
         "included"},
     {"megatron21", Base::kForwardMatmuls, Attn::kDense, true, N::kTotal, 4, 4, 4, 4, 0, false,
         "Narayanan et al. 2021 (arXiv 2104.04473) eq. 3: a full recomputation of the layers is "
         "counted"},
     {"korthikanti", Base::kForwardMatmuls, Attn::kDense, true, N::kTotal, 3, 3, 3, 6, 0, false,
         "Korthikanti et al. 2022 (arXiv 2205.05198) appendix A; HFU: selective recomputation of "
         "attention"},
     {"megatron-lm", Base::kForwardMatmuls, Attn::kDense, true, N::kTotal, 3, 3, 0, 0, 0, false,
         "Megatron-LM num_floating_point_operations when its dense tables were printed (later: "
         "causal half)"},
     {"megatron-bridge", Base::kForwardMatmuls, Attn::kHalf, true, N::kTotal, 3, 3, 0, 0, 0,
         false, "Megatron-Bridge: causal attention counted as half"},
     {"palm", Base::kParameters, Attn::kDense, true, N::kTotal, 3, 3, 0, 0, 0, false,
         "Chowdhery et al. 2022 (arXiv 2204.02311) appendix B: 6N + 12LHQT"},
     {"nanogpt", Base::kParameters, Attn::kDense, true, N::kWithoutPositions, 3, 3, 0, 0, 0,
         false, "nanoGPT estimate_mfu: 6N + 12LHQT, N without position embeddings"},
     {"mosaic", Base::kParameters, Attn::kDense, true, N::kTotal, 3, 3, 4, 4, 0, true,
         "MosaicML LLM Foundry throughput table: 6N + 12LDT; HFU 4/3 of it with activation "
         "checkpointing"},
     {"chinchilla", Base::kForwardMatmuls, Attn::kDense, false, N::kTotal, 3, 3, 0, 0, 3, false,
         "Hoffmann et al. 2022 (arXiv 2203.15556) appendix F without embeddings and logits, as "
         "Table A4"},
     {"flash", Base::kAttentionOnly, Attn::kHalf, false, N::kTotal, 0, Rational::of(7, 2), 0, 0,
         0, false,
         "Dao 2023 (arXiv 2307.08691) section 4.1: 4*T*S*N*H, causal half, backward 2.5 x forward"},
     }
};

struct ForwardMatmuls {
  Count layers;
  Count unembedding;
  Count others;  // projections beside the layers, poolers, label heads
};

ForwardMatmuls forward_matmuls(const Cost& cost) {
  ForwardMatmuls sum;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.op_class != OpClass::kMatmul || op.pass != Pass::kForward) continue;
      Count& part = block.is_layer                            ? sum.layers
                    : op.component == Component::kUnembedding ? sum.unembedding
                                                              : sum.others;
      part += op.flops.value * block.layers;
    }
  }
  return sum;
}

Count parameter_count(const Convention& convention, const Cost& cost) {
  switch (convention.n) {
    case N::kActive:
      return cost.params.active;
    case N::kTotal:
      return cost.params.total;
    case N::kWithoutPositions:
      break;
  }
  Count positions = 0;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.name == "embed.positions" && op.pass == Pass::kForward) positions += op.params.value;
    }
  }
  return cost.params.total - positions;
}

// Whether a convention that halves causal attention halves this one: masked, and as many queries as
// keys.
bool is_halved(const OpCost& op, const Sizes& sizes) {
  return !(op.flops.formula == op.flops_dense.formula) && sizes.at("T") == sizes.at("S");
}

// Attention of the forward pass with all T*S pairs, or half of them under a mask, in the
// convention's letters.
Rational dense_attention(const Convention& convention, const Cost& cost) {
  Rational sum = 0;
  for (const BlockCost& block : cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.op_class != OpClass::kAttention || op.pass != Pass::kForward) continue;
      const Rational width = Rational(block.sizes.at("N")) * Rational(block.sizes.at("H"));
      Rational scale =
          convention.attention_on_d_model ? Rational(block.sizes.at("D")) / width : Rational(1);
      // Each score took 2*H FLOPs in one of the two contractions, so 4*H in both.
      scale = scale +
              Rational(convention.flops_per_score) / (Rational(4) * Rational(block.sizes.at("H")));
      const bool halve = convention.attention == Attn::kHalf && is_halved(op, block.sizes);
      if (halve) scale = scale * Rational::of(1, 2);
      sum = sum + Rational(op.flops_dense.value * block.layers) * scale;
    }
  }
  return sum;
}

Rational attention_flops(const Convention& convention, const Cost& cost) {
  switch (convention.attention) {
    case Attn::kNone:
      return 0;
    case Attn::kExact:
      return cost.forward.attention;
    case Attn::kHalf:
    case Attn::kDense:
      return dense_attention(convention, cost);
  }
  return 0;
}

// The convention's FLOPs with so many forward passes of the layers and of attention.
Rational flops_with(const Convention& convention, const Cost& cost, bool is_training, Count tokens,
                    const Rational& layer_passes, const Rational& attention_passes) {
  const Rational layers = is_training ? layer_passes : Rational(1);
  const Rational attention =
      attention_flops(convention, cost) * (is_training ? attention_passes : Rational(1));
  switch (convention.base) {
    case Base::kDerived:
      return cost.forward.matmul + cost.backward.matmul;
    case Base::kAttentionOnly:
      return attention;
    case Base::kParameters:
      return Rational(parameter_count(convention, cost) * tokens) * Rational(2) * layers +
             attention;
    case Base::kForwardMatmuls: {
      const ForwardMatmuls matmuls = forward_matmuls(cost);
      const Count outside =
          convention.logits ? matmuls.others + matmuls.unembedding : matmuls.others;
      return Rational(matmuls.layers) * layers + Rational(outside) * Rational(is_training ? 3 : 1) +
             attention;
    }
  }
  return 0;
}

}  // namespace

std::span<const Convention> conventions() {
  return kConventions;
}

const Convention& find_convention(std::string_view name) {
  const auto found = std::find_if(kConventions.begin(), kConventions.end(),
                                  [&](const Convention& c) { return c.name == name; });
  if (found != kConventions.end()) return *found;
  std::vector<std::string_view> known;
  known.reserve(std::size(kConventions));
  for (const Convention& convention : kConventions) known.push_back(convention.name);
  throw UserError(
      fmt::format("--convention: unknown {}, known: {}", quoted(name), fmt::join(known, " ")));
}

ConventionFlops flops_by(const Convention& convention, const Cost& cost, bool is_training,
                         Count tokens, bool recomputes) {
  if (convention.base == Base::kDerived) {
    const bool dense = convention.attention == Attn::kDense;
    return {dense ? cost.model_total_dense() : cost.model_total(),
            Rational(dense ? cost.hardware_total_dense() : cost.hardware_total())};
  }
  ConventionFlops flops{flops_with(convention, cost, is_training, tokens, convention.layer_passes,
                                   convention.attention_passes),
                        std::nullopt};
  if (convention.hardware_layer_passes == Rational(0)) return flops;
  flops.hardware = !recomputes ? flops.model
                               : flops_with(convention, cost, is_training, tokens,
                                            convention.hardware_layer_passes,
                                            convention.hardware_attention_passes);
  return flops;
}

}  // namespace flopwise
