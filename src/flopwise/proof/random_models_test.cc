// Architectures that nobody has built: every option of the builders drawn at random, proven like
// the catalog's.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "flopwise/base/contains.h"
#include "flopwise/exec/ops.h"
#include "flopwise/model/build.h"
#include "flopwise/proof/prove.h"
#include "tests/proof_failures.h"

namespace flopwise {
namespace {

int pick(int choices) {
  return *rc::gen::inRange(0, choices);
}
bool coin() {
  return pick(2) == 1;
}

NormKind any_norm() {
  return static_cast<NormKind>(pick(4));
}

AttentionMask any_mask(bool causal_family) {
  if (!causal_family) {
    const MaskKind kind = std::vector<MaskKind>{
        MaskKind::kFull, MaskKind::kTwoSidedWindow}[static_cast<std::size_t>(pick(2))];
    return {kind, kind == MaskKind::kFull ? 0 : 3};
  }
  const auto kind = std::vector<MaskKind>{MaskKind::kCausal, MaskKind::kWindow, MaskKind::kChunk,
                                          MaskKind::kPrefix}[static_cast<std::size_t>(pick(4))];
  return {kind, kind == MaskKind::kCausal ? 0 : 3};
}

Attention any_attention(PositionKind position, const AttentionMask& mask) {
  Attention a;
  a.kv_heads = 1 + pick(3);
  a.heads = a.kv_heads * (1 + pick(3));
  a.head_dim = 8;
  a.value_dim = coin() ? 8 : 6;
  a.q_bias = coin();
  a.k_bias = coin();
  a.v_bias = coin();
  a.o_bias = coin();
  a.qk_norm = static_cast<QkNorm>(pick(4));
  a.qk_norm_kind = any_norm();
  a.position = position;
  a.rotary_dim = position == PositionKind::kRotary ? (coin() ? 8 : 4) : 0;
  a.relative_buckets = position == PositionKind::kRelative ? 8 : 0;
  a.scaled = coin();
  a.softcap = pick(3) == 0 ? 5 : 0;
  a.dropout = pick(4) == 0 ? 0.3 : 0;
  a.mask = mask;
  a.sinks = pick(4) == 0;
  a.v_norm = pick(4) == 0;
  a.gate = static_cast<OutputGate>(pick(3));
  return a;
}

Attention any_latent_attention() {
  Attention a;
  a.heads = a.kv_heads = 2 + pick(3);
  a.latent = LatentAttention{coin() ? 20 : 0, 30, 12, 4, std::nullopt};
  a.head_dim = 16;
  a.value_dim = coin() ? 16 : 10;
  a.rotary_dim = 4;
  a.o_bias = coin();
  a.mask = {MaskKind::kCausal, 0};
  // Sees the keys that an indexer chooses, its own or an earlier layer's.
  if (coin()) a.mask = {MaskKind::kTopK, 6};
  if (coin() && a.mask.kind == MaskKind::kTopK && a.latent->query_rank > 0) {
    a.latent->indexer = Indexer{2, 8};
  }
  return a;
}

Mlp any_mlp(std::int64_t d_ff) {
  Mlp mlp;
  mlp.d_ff = d_ff;
  mlp.gated = coin();
  mlp.activation = static_cast<Activation>(pick(7));
  mlp.up_bias = coin();
  mlp.down_bias = coin();
  return mlp;
}

Moe any_moe() {
  Moe moe;
  moe.experts = 8;
  moe.active_experts = pick(4) == 0 ? 8 : 2;
  moe.expert = any_mlp(24);
  moe.shared_d_ff = coin() ? 40 : 0;
  moe.shared_gate = moe.shared_d_ff > 0 && coin();
  moe.score = static_cast<RouterScore>(pick(4));
  const bool top_k_last =
      moe.score == RouterScore::kSoftmaxThenTopK || moe.score == RouterScore::kSigmoidThenTopK;
  moe.renormalise = top_k_last && coin();
  moe.correction_bias = top_k_last && coin();
  moe.scaling = coin() ? 1 : 2.5;
  moe.router_bias = coin();
  moe.latent_dim = pick(4) == 0 ? 20 : 0;
  return moe;
}

Recurrence any_recurrence() {
  switch (pick(4)) {
    case 0:
      return Mamba{40, 8, 4, 4, coin(), coin(), coin()};
    case 1:
      return Mamba2{8, 6, coin() ? 1 : 4, 10, 4, coin(), coin()};
    case 2:
      return DeltaNet{2, coin() ? 2 : 6, 8, 10, 3};
    default:
      return ShortConvolution{3, coin()};
  }
}

Layer any_layer(PositionKind position, const AttentionMask& mask, bool has_cross) {
  Layer layer;
  layer.norm = any_norm();
  layer.parallel = !has_cross && pick(3) == 0;
  layer.shared_norm = layer.parallel && coin();
  layer.placement = layer.parallel ? NormPlacement::kPre : static_cast<NormPlacement>(pick(5));
  layer.attention_norm = layer.parallel || layer.placement != NormPlacement::kPre || pick(4) > 0;
  layer.scaled_residual = !layer.parallel && pick(3) == 0;
  const bool is_latent =
      position == PositionKind::kRotary && mask.kind == MaskKind::kCausal && !has_cross && coin();
  layer.attention = is_latent ? any_latent_attention() : any_attention(position, mask);
  if (has_cross) {
    layer.cross = any_attention(PositionKind::kNone, {MaskKind::kFull, 0});
    layer.cross->heads = layer.attention->heads;
    layer.cross->kv_heads = layer.attention->kv_heads;
    layer.cross->value_dim = layer.attention->value_dim;
  }
  const bool may_recur =
      !layer.parallel && !has_cross && position != PositionKind::kRelative && layer.attention_norm;
  if (may_recur && mask.kind == MaskKind::kCausal && pick(2) == 0) {
    layer.attention.reset();
    layer.recurrence = any_recurrence();
  }
  if (!layer.parallel && pick(6) == 0) {
    layer.feed_forward = NoFeedForward{};
  } else if (pick(3) == 0) {
    layer.feed_forward = any_moe();
  } else {
    layer.feed_forward = any_mlp(32);
  }
  layer.dropout = pick(4) == 0 ? 0.2 : 0;
  if (!layer.parallel) layer.branch_scale = static_cast<BranchScale>(pick(3));
  return layer;
}

Stack any_stack(bool is_decoder, bool has_cross) {
  Stack stack;
  const auto position = static_cast<PositionKind>(pick(4));
  const int kinds = 1 + pick(2);
  const AttentionMask first = any_mask(is_decoder);
  for (int i = 0; i < kinds; ++i) {
    // A relative bias is one table for the whole stack, under one mask.
    const bool same_mask = position == PositionKind::kRelative;
    stack.groups.push_back(
        {fmt::format("kind{}", i),
         any_layer(position, same_mask || i == 0 ? first : any_mask(is_decoder), has_cross),
         1 + pick(2)});
  }
  if (position == PositionKind::kRelative) {
    // One table has one shape.
    const Attention shape = *stack.groups[0].layer.attention;
    for (LayerGroup& group : stack.groups) {
      Layer& layer = group.layer;
      for (Attention* attention :
           {layer.attention ? &*layer.attention : nullptr, layer.cross ? &*layer.cross : nullptr}) {
        if (attention == nullptr) continue;
        attention->kv_heads = shape.kv_heads;
        attention->heads = shape.heads;
      }
    }
  }
  stack.final_norm = coin();
  stack.final_norm_kind = any_norm();
  return stack;
}

ProjectorLayer any_projector_layer() {
  ProjectorLayer layer;
  layer.width = 40;
  layer.bias = coin();
  if (pick(3) == 0) layer.norm = any_norm();
  if (pick(3) > 0) layer.activation = Activation::kGelu;
  layer.gated = layer.activation && pick(3) == 0;
  return layer;
}

Projector any_projector() {
  Projector projector;
  projector.position = static_cast<Projector::Position>(pick(4));
  const bool merges = projector.position == Projector::Position::kAll;
  projector.merge = merges ? 4 : 1;
  projector.pools = merges && pick(3) == 0;
  if (coin()) projector.norm = any_norm();
  projector.norm_merged = merges && !projector.pools && coin();
  const int layers = pick(3);
  for (int i = 0; i < layers; ++i) projector.inner.push_back(any_projector_layer());
  projector.out = 30;
  projector.bias = coin();
  const bool may_copy = merges && !projector.pools && !projector.inner.empty();
  projector.merged_copies = may_copy && coin() ? 3 : 0;
  projector.scalars = pick(3) == 0 ? 1 : 0;
  if (merges && pick(5) == 0) {
    projector.merge = 1;
    projector.inner.clear();
    projector.merged_copies = 0;
    projector.joined = 5;
  } else if (merges && pick(5) == 0) {
    projector.resampler = Resampler{16, 3, 10, any_norm()};
  }
  return projector;
}

Head any_head(Architecture architecture) {
  Head head;
  head.kind = HeadKind::kLanguageModel;
  if (architecture == Architecture::kEncoder) head.kind = static_cast<HeadKind>(pick(11));
  const bool has_vocab = head.kind == HeadKind::kLanguageModel ||
                         head.kind == HeadKind::kMaskedLm || head.kind == HeadKind::kPretraining;
  head.tied = has_vocab && coin();
  head.bias = has_vocab && coin();
  head.softcap = has_vocab && pick(3) == 0 ? 20 : 0;
  head.scaled = has_vocab && coin();
  head.scaled_logits = has_vocab && coin();
  head.zero_bias = has_vocab && coin();
  head.transform_bias = coin();
  head.transform_norm = any_norm();
  head.pooler_activation = static_cast<Activation>(pick(6));
  head.labels = head.kind == HeadKind::kPooledLabels || head.kind == HeadKind::kTokenLabels ||
                        head.kind == HeadKind::kSequenceLabels ||
                        head.kind == HeadKind::kLastLabels || head.kind == HeadKind::kFirstLabels
                    ? 5
                    : 0;
  head.activation = static_cast<Activation>(pick(7));
  if (head.kind == HeadKind::kProjector) head.projector = any_projector();
  return head;
}

Model any_model(Architecture architecture) {
  Model model;
  model.name = "random";
  model.architecture = architecture;
  model.d_model = 64;
  model.vocab = 100;
  const bool has_encoder = model.architecture != Architecture::kDecoder;
  const bool has_decoder = model.architecture != Architecture::kEncoder;
  if (has_encoder) model.encoder = any_stack(false, false);
  if (has_decoder) model.decoder = any_stack(true, has_encoder);
  model.embedding.width = pick(4) == 0 ? 48 : 0;
  model.embedding.positions = coin() ? 512 : 0;
  model.embedding.token_types = pick(3) == 0 ? 2 : 0;
  model.embedding.norm = coin();
  model.embedding.norm_kind = any_norm();
  model.embedding.scaled = coin();
  model.head = any_head(model.architecture);
  if (architecture == Architecture::kEncoderDecoder && pick(3) == 0) {
    model.embedding.mel_bins = 12;
    model.embedding.source_positions = model.embedding.positions > 0 && coin() ? 600 : 0;
    model.embedding.width = 0;
  }
  const bool has_vocab = model.head.kind == HeadKind::kLanguageModel ||
                         model.head.kind == HeadKind::kMaskedLm ||
                         model.head.kind == HeadKind::kPretraining;
  if (architecture == Architecture::kEncoder && !has_vocab && pick(3) == 0) {
    model.embedding.patch_values = 24;
    model.embedding.patch_bias = coin();
    // A class token behind a window may be out of sight of what is asked for.
    const auto sees_all = [](const LayerGroup& group) {
      return group.layer.attention && group.layer.attention->mask.kind == MaskKind::kFull;
    };
    const std::vector<LayerGroup>& groups = model.encoder->groups;
    model.embedding.class_token = std::all_of(groups.begin(), groups.end(), sees_all) && coin();
    model.embedding.width = model.embedding.token_types = 0;
    model.vocab = 0;
  }
  validate(model);
  return model;
}

// A named policy, or a list of some of what layers produce.
RematPolicy any_policy(const Model& model, AttentionKernel kernel) {
  const int which = pick(6);
  if (which < 5) return {static_cast<RematKind>(which), {}};
  WorkloadRequest request;
  request.seq_len = 8;
  request.kernel = kernel;
  request.source = model.architecture == Architecture::kEncoderDecoder ? 8 : 0;
  std::vector<std::string> names;
  for (const Block& block : build_program(model, resolve(request, model)).blocks) {
    if (!block.is_layer) continue;
    for (const std::string& name : savable_names(block.graph)) {
      const bool known = contains(names, name);
      if (!known && pick(4) == 0) names.push_back(name);
    }
  }
  if (names.empty()) return {RematKind::kBlock, {}};
  return {RematKind::kList, names};
}

void prove_random_model(Architecture architecture) {
  const Model model = any_model(architecture);
  const AttentionKernel kernel = coin() ? AttentionKernel::kFlash : AttentionKernel::kPlain;
  ProveOptions options;
  options.random_draws = 1;
  options.vary_each_letter = false;
  options.threads = 1;
  options.kernels = {kernel};
  options.policies.push_back({RematKind::kNone, {}});
  options.policies.push_back(any_policy(model, kernel));
  const Proof proof = prove_model(model, options);
  RC_ASSERT(failures(proof) == "");
  RC_ASSERT(proof.operations > Count(1000));
}

// Each property runs a hundred models.
RC_GTEST_PROP(RandomModels, DecodersAreProven, ()) {
  prove_random_model(Architecture::kDecoder);
}
RC_GTEST_PROP(RandomModels, EncodersAreProven, ()) {
  prove_random_model(Architecture::kEncoder);
}
RC_GTEST_PROP(RandomModels, EncoderDecodersAreProven, ()) {
  prove_random_model(Architecture::kEncoderDecoder);
}

}  // namespace
}  // namespace flopwise
