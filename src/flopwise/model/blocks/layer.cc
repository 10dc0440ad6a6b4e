// One layer: how attention and feed-forward sit between norms and residual additions.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

class LayerBuilder {
 public:
  LayerBuilder(const Layer& layer, const StackAxes& axes, const Workload& workload)
      : builder_(axes), layer_(layer), workload_(workload) {}

  Graph build() {
    const TensorId x = builder_.input("input", builder_.hidden());
    const bool has_relative_bias =
        layer_.attention && layer_.attention->position == PositionKind::kRelative;
    if (has_relative_bias) relative_bias_ = relative_bias_input();
    if (layer_.attention && layer_.attention->relative) {
      relative_states_ = builder_.input(kRelativeStates, relative_states_axes(axes()), true);
    }
    TensorId y = kNoTensor;
    if (layer_.parallel) {
      y = parallel(x);
    } else {
      y = x;
      if (layer_.attention) {
        y = sublayer("attention", y, [&](TensorId n) { return self_attention(n); });
      }
      if (layer_.linear) {
        y = sublayer("attention", y,
                     [&](TensorId n) { return linear("attention", *layer_.linear, n); });
      }
      if (layer_.recurrence) {
        y = sublayer(name_of(*layer_.recurrence), y, [&](TensorId n) {
          return add_recurrence(builder_, *layer_.recurrence, workload_, n);
        });
      }
      if (layer_.cross) y = sublayer("cross", y, [&](TensorId n) { return cross_attention(n); });
      if (!std::holds_alternative<NoFeedForward>(layer_.feed_forward)) {
        y = sublayer("mlp", y, [&, x = y](TensorId n) { return feed_forward(n, x); });
      }
    }
    if (layer_.per_layer_dim > 0) y = with_own_embedding(y);
    if (layer_.scaled_output) {
      y = builder_.map("scale_output", scalar_scale(0.25), {y}, Component::kOther);
    }
    // The residual stream before the keys and values that a layer gives.
    std::vector<TensorId>& outputs = builder_.graph().outputs;
    outputs.insert(outputs.begin(), y);
    return std::move(builder_.graph());
  }

 private:
  // Where the norms of one block stand, as NormPlacement says it.
  struct Norms {
    bool before = false;       // of what the block reads
    bool after = false;        // of what it gives
    bool of_sum = false;       // of the residual sum
    bool of_residual = false;  // what is added is the normed x
  };

  Norms norms_of(const std::string& name) const {
    switch (layer_.placement) {
      case NormPlacement::kPre:
        return {.before = name != "attention" || layer_.attention_norm};
      case NormPlacement::kPost:
        return {.of_sum = true};
      case NormPlacement::kSandwich:
        return {.before = true, .after = true};
      case NormPlacement::kPostOnly:
        return {.after = true};
      case NormPlacement::kNormed:
        return {.before = true, .of_residual = true};
    }
    throw InternalError("unknown norm placement");
  }

  template <typename Body>
  TensorId sublayer(const std::string& name, TensorId x, Body body) {
    const Norms norms = norms_of(name);
    const TensorId in = norms.before ? builder_.norm(name + ".norm", x, layer_.norm) : x;
    TensorId out = body(in);
    if (norms.after) out = builder_.norm(name + ".post_norm", out, layer_.norm);
    out = builder_.dropout(name + ".dropout", out, dropout(), Component::kOther);
    out = scaled_branch(name, out);
    if (layer_.scaled_residual) {
      // What the constant is changes no count: of Granite 0.22, of ChatGLM-6B sqrt(2L) on the other
      // addend.
      out = builder_.map(name + ".scale_residual", scalar_scale(0.25), {out}, Component::kOther);
    }
    const TensorId sum =
        builder_.add(name + ".residual", norms.of_residual ? in : x, out, Component::kOther);
    return norms.of_sum ? builder_.norm(name + ".norm", sum, layer_.norm) : sum;
  }

  TensorId scaled_branch(const std::string& name, TensorId out) {
    constexpr Component kPart = Component::kOther;
    switch (layer_.branch_scale) {
      case BranchScale::kNone:
        return out;
      case BranchScale::kTanhScalar: {
        const TensorId gate = builder_.parameter(name + ".gate_scalar", {}, kPart);
        const TensorId open = builder_.map(name + ".gate_tanh", scalar_tanh(), {gate}, kPart);
        return builder_.map(name + ".gated_branch", scalar_mul(), {out, open}, kPart);
      }
      case BranchScale::kPerElement: {
        const TensorId scale =
            builder_.parameter(name + ".branch_scale", {builder_.axes().model}, kPart);
        return builder_.map(name + ".scaled_branch", scalar_mul(), {out, scale}, kPart);
      }
    }
    throw InternalError("unknown scale of branches");
  }

  // x + attention(norm(x)) + mlp(norm(x)), with one norm or two.
  TensorId parallel(TensorId x) {
    const TensorId in = builder_.norm("attention.norm", x, layer_.norm);
    const TensorId mlp_in = layer_.shared_norm ? in : builder_.norm("mlp.norm", x, layer_.norm);
    TensorId a = self_attention(in);
    TensorId m = feed_forward(mlp_in, x);
    a = builder_.dropout("attention.dropout", a, dropout(), Component::kOther);
    m = builder_.dropout("mlp.dropout", m, dropout(), Component::kOther);
    const TensorId sum = builder_.add("attention.residual", x, a, Component::kOther);
    return builder_.add("mlp.residual", sum, m, Component::kOther);
  }

  double dropout() const { return workload_.mode == Mode::kTrain ? layer_.dropout : 0; }

  TensorId self_attention(TensorId x) {
    return add_attention(builder_, "attention", *layer_.attention, workload_,
                         {x, kNoTensor, relative_bias_, relative_states_});
  }

  // One matrix in place of attention or of the feed-forward.
  TensorId linear(const std::string& name, const LinearMap& map, TensorId x) {
    const StackAxes& a = axes();
    const Axis out{"D'", a.model.size};
    const Component part = name == "mlp" ? Component::kMlp : Component::kAttention;
    const TensorId y = builder_.linear_bias(name + ".linear", x, {a.model, out},
                                            {a.batch, a.queries, out}, map.bias, {out}, part);
    return builder_.relabel(name + ".linear_out", y, builder_.hidden());
  }

  TensorId cross_attention(TensorId x) {
    const StackAxes& a = builder_.axes();
    const TensorId memory = !encodes_source(workload_)
                                ? kNoTensor
                                : builder_.input("memory", {a.batch, a.memory, a.model}, true);
    return add_attention(builder_, "cross", *layer_.cross, workload_,
                         {x, memory, kNoTensor, kNoTensor});
  }

  // `stream` is what x is the norm of.
  TensorId feed_forward(TensorId x, TensorId stream) {
    if (const auto* map = std::get_if<LinearMap>(&layer_.feed_forward)) {
      return linear("mlp", *map, x);
    }
    if (const auto* mlp = std::get_if<Mlp>(&layer_.feed_forward)) {
      return add_mlp(builder_, "mlp", *mlp, {"F", Expr::symbol("F")}, x);
    }
    return add_moe(builder_, std::get<Moe>(layer_.feed_forward), x, stream);
  }

  // y + norm((gelu(y Wgate) * e) Wup), e = (norm(E Wproject) + table[token]) / sqrt(2), E the
  // shared embedding of the token. The norm has one weight for all layers.
  TensorId with_own_embedding(TensorId y) {
    constexpr Component kPart = Component::kEmbedding;
    const StackAxes& a = builder_.axes();
    const Axis width = symbol_axis("Pl");
    const Axes of_width = {a.batch, a.queries, width};
    const TensorId ids = builder_.index_input("embed.ids", {a.batch, a.queries});
    const TensorId table =
        builder_.parameter("per_layer.tokens.weight", {symbol_axis("Vl"), width}, kPart);
    const TensorId rows =
        builder_.emit("per_layer.tokens", Gather{}, {ids, table},
                      builder_.activation("per_layer.tokens", of_width, kPart), kPart);
    const double root = std::sqrt(static_cast<double>(layer_.per_layer_dim));
    const TensorId scaled =
        builder_.map("per_layer.scale_tokens", scalar_scale(root), {rows}, kPart);
    const TensorId embedded = builder_.input("embedded", builder_.hidden(), true);
    const TensorId projected =
        builder_.linear("per_layer.project", embedded, {a.model, width}, of_width, kPart);
    const TensorId small =
        builder_.map("per_layer.scale_projection", scalar_scale(0.25), {projected}, kPart);
    const TensorId normed =
        builder_.norm("per_layer.project_norm", small, NormKind::kRmsNoParams, 1);
    const TensorId weight = builder_.input("per_layer.norm_weight", {width}, true);
    const TensorId weighted =
        builder_.map("per_layer.project_weight", scalar_mul(), {normed, weight}, Component::kNorm);
    const TensorId sum = builder_.add("per_layer.add", weighted, scaled, kPart);
    const TensorId own =
        builder_.map("per_layer.scale", scalar_scale(std::sqrt(0.5)), {sum}, kPart);
    const TensorId gate =
        builder_.linear("per_layer.gate", y, {a.model, width}, of_width, Component::kOther);
    const TensorId gated = builder_.map("per_layer.gated", scalar_gated(scalar_gelu_tanh()),
                                        {gate, own}, Component::kOther);
    const TensorId up = builder_.linear("per_layer.up", gated, {width, a.model}, builder_.hidden(),
                                        Component::kOther);
    return builder_.add("per_layer.residual", y, builder_.norm("per_layer.norm", up, layer_.norm),
                        Component::kOther);
  }

  const StackAxes& axes() const { return builder_.axes(); }

  // One learned bias per head and pair, the same for every layer of the stack.
  TensorId relative_bias_input() {
    const StackAxes& a = builder_.axes();
    const Expr n = Expr::symbol("N");
    const Expr k = Expr::symbol("K");
    const TensorId id = builder_.input(relative_bias_name(a),
                                       {
                                           {"K", k    },
                                           {"G", n / k},
                                           a.queries, a.keys
    },
                                       true);
    builder_.graph().tensor(id).masking =
        Masking{pair_mask(layer_.attention->mask), a.queries.name, a.keys.name};
    return id;
  }

  BlockBuilder builder_;
  const Layer& layer_;
  const Workload& workload_;
  TensorId relative_bias_ = kNoTensor;
  TensorId relative_states_ = kNoTensor;
};

void add_sizes(const Attention& attention, Sizes& sizes) {
  sizes["N"] = attention.heads;
  sizes["K"] = attention.kv_heads;
  sizes["G"] = attention.heads / attention.kv_heads;
  sizes["H"] = attention.head_dim;
  if (attention.value_dim != attention.head_dim || attention.latent) {
    sizes["Hv"] = attention.value_dim;
  }
  if (attention.latent) {
    const LatentAttention& latent = *attention.latent;
    if (latent.query_rank > 0) sizes["Cq"] = latent.query_rank;
    sizes["Ckv"] = latent.kv_rank;
    sizes["Hn"] = latent.nope_dim;
    sizes["Hr"] = latent.rope_dim;
    if (latent.indexer) {
      sizes["Ni"] = latent.indexer->heads;
      sizes["Hi"] = latent.indexer->head_dim;
    }
  }
  if (attention.relative) sizes["U"] = attention.relative->rows;
  switch (attention.mask.kind) {
    case MaskKind::kFull:
    case MaskKind::kCausal:
      break;
    case MaskKind::kWindow:
      sizes["W"] = attention.mask.size;
      break;
    case MaskKind::kTwoSidedWindow:
      sizes["h"] = attention.mask.size;
      break;
    case MaskKind::kChunk:
      sizes["C"] = attention.mask.size;
      break;
    case MaskKind::kPrefix:
      sizes["P"] = attention.mask.size;
      break;
    case MaskKind::kTopK:
      sizes["Sx"] = attention.mask.size;
      break;
  }
}

void add_sizes(const Recurrence& recurrence, Sizes& sizes) {
  if (const Mamba* mamba = std::get_if<Mamba>(&recurrence)) {
    sizes["Di"] = mamba->inner;
    sizes["Ns"] = mamba->state;
    sizes["Rt"] = mamba->rank;
    sizes["Q"] = mamba->taps;
  } else if (const Mamba2* mamba2 = std::get_if<Mamba2>(&recurrence)) {
    sizes["Gm"] = mamba2->groups;
    sizes["Jm"] = mamba2->heads / mamba2->groups;
    sizes["Hm"] = mamba2->head_dim;
    sizes["Ns"] = mamba2->state;
    sizes["Q"] = mamba2->taps;
  } else if (const DeltaNet* delta = std::get_if<DeltaNet>(&recurrence)) {
    sizes["Kd"] = delta->key_heads;
    sizes["Jd"] = delta->value_heads / delta->key_heads;
    sizes["Hk"] = delta->key_dim;
    sizes["Hd"] = delta->value_dim;
    sizes["Q"] = delta->taps;
  } else {
    sizes["Q"] = std::get<ShortConvolution>(recurrence).taps;
  }
}

Sizes sizes_of(const Layer& layer) {
  Sizes sizes;
  if (layer.cross) add_sizes(*layer.cross, sizes);
  if (layer.attention) add_sizes(*layer.attention, sizes);
  if (layer.recurrence) add_sizes(*layer.recurrence, sizes);
  if (const auto* mlp = std::get_if<Mlp>(&layer.feed_forward)) {
    sizes["F"] = mlp->d_ff;
  } else if (const Moe* moe = std::get_if<Moe>(&layer.feed_forward)) {
    sizes["F"] = moe->expert.d_ff;
    sizes["E"] = moe->experts;
    sizes["k"] = moe->active_experts;
    if (moe->shared_d_ff > 0) sizes["Fs"] = moe->shared_d_ff;
    if (moe->latent_dim > 0) sizes["Dl"] = moe->latent_dim;
  }
  if (layer.per_layer_dim > 0) sizes["Pl"] = layer.per_layer_dim;
  if (layer.per_layer_dim > 0) sizes["Vl"] = layer.per_layer_rows;
  return sizes;
}

}  // namespace

namespace {

// All repeats read the same parameters, and add up their gradients.
void share_parameters(Graph& graph) {
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
    Tensor& tensor = graph.tensor(id);
    if (tensor.role != Role::kParameter) continue;
    tensor.shared = tensor.added_up = true;
  }
}

}  // namespace

Block layer_block(const LayerGroup& group, const StackAxes& axes, const Workload& workload,
                  const std::string& prefix) {
  Block block;
  block.name = prefix + group.name;
  block.graph = LayerBuilder(group.layer, axes, workload).build();
  if (group.one_set) share_parameters(block.graph);
  block.repeat = group.repeat;
  block.sizes = sizes_of(group.layer);
  block.is_layer = true;
  return block;
}

}  // namespace flopwise
