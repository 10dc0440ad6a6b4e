// From token ids to the residual stream: lookups in tables, added up.
#include <cmath>
#include <utility>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kEmbedding;

// The axis of an embedding that is narrower than the model (OPT-350m).
Axis embedding_axis(const Model& model, const Axis& d_model) {
  const bool projected = model.embedding.width != 0 && model.embedding.width != model.d_model;
  return projected ? Axis{"De", Expr::symbol("De")} : d_model;
}

TensorId lookup(BlockBuilder& builder, const std::string& name, TensorId ids, TensorId table) {
  Axes axes = builder.graph().tensor(ids).axes;
  axes.push_back(builder.graph().tensor(table).axes.back());
  return builder.emit(name, Gather{}, {ids, table}, builder.activation(name, axes, kPart), kPart);
}

// rows[T,D] of a learned table of `rows` positions, added to x.
TensorId add_positions(BlockBuilder& builder, std::int64_t rows, const Axis& width, TensorId x) {
  const StackAxes& a = builder.axes();
  const Constant values{ConstantKind::kPosition, a.keys.size - a.queries.size, 0};
  const TensorId ids = builder.constant("embed.position_ids", {a.queries}, values);
  builder.graph().tensor(ids).element = Element::kIndex;
  const TensorId table = builder.parameter("embed.positions.weight",
                                           {
                                               {"positions", rows},
                                               width
  },
                                           kPart);
  return builder.add("embed.add_positions", x, lookup(builder, "embed.positions", ids, table),
                     kPart);
}

// Patches [B,T,Cp] through one matrix, behind a class token where there is one.
TensorId patch_states(BlockBuilder& builder, const Embedding& embedding, const std::string& name) {
  const StackAxes& a = builder.axes();
  const Axis values{"Cp", embedding.patch_values};
  const Axis patches =
      embedding.class_token ? Axis{a.queries.name + "-1", a.queries.size - 1} : a.queries;
  const TensorId in = builder.input(name + ".patches", {a.batch, patches, values});
  builder.graph().tensor(in).needs_gradient = false;
  const TensorId x =
      builder.linear_bias("embed.patch", in, {values, a.model}, {a.batch, patches, a.model},
                          embedding.patch_bias, {a.model}, kPart);
  if (!embedding.class_token) return x;
  const TensorId row = builder.parameter("embed.class_token", {a.model}, kPart);
  return builder.emit("embed.with_class", Prepend{}, {x, row},
                      builder.activation("embed.with_class", builder.hidden(), kPart), kPart);
}

// A spectrogram of two frames a position, padded by one on either side, through two convolutions
// over 3 frames, of which the second takes every other.
TensorId spectrogram_states(BlockBuilder& builder, const Embedding& embedding,
                            const std::string& name) {
  const StackAxes& a = builder.axes();
  const Axis taps{"q", 3};
  const Axis inner{"D'", a.model.size};
  const Expr frames = 2 * a.queries.size;
  const std::string letter = "2" + a.queries.name;
  const Axis mels{"mels", embedding.mel_bins};
  const auto convolve = [&](const std::string& part, TensorId x, std::int64_t stride,
                            const Axis& from, const Axis& positions, const Axis& to) {
    const TensorId weight = builder.parameter(part + ".weight", {taps, from, to}, kPart);
    const TensorId y = builder.activation(part, {a.batch, positions, to}, kPart);
    builder.emit(part, Convolution{stride, OpClass::kMatmul}, {x, weight}, y, kPart);
    const TensorId shifted =
        builder.add(part + "_bias", y, builder.parameter(part + ".bias", {to}, kPart), kPart);
    return builder.map(part + "_gelu", scalar_gelu(), {shifted}, kPart);
  };
  const TensorId in =
      builder.input(name + ".spectrogram", {
                                               a.batch, {letter + "+2", frames + 2},
                                                mels
  });
  builder.graph().tensor(in).needs_gradient = false;
  const TensorId first = convolve("embed.conv1", in, 1, mels, {letter, frames}, inner);
  const TensorId padded = builder.emit(
      "embed.pad",
      Prepend{
  },
      {first},
      builder.activation("embed.pad", {a.batch, {letter + "+1", frames + 1}, inner}, kPart), kPart);
  return convolve("embed.conv2", padded, 2, inner, a.queries, a.model);
}

TensorId add_sinusoids(BlockBuilder& builder, TensorId x) {
  const StackAxes& a = builder.axes();
  const Constant values{ConstantKind::kSinusoid, a.keys.size - a.queries.size, 0};
  const TensorId rows = builder.constant("embed.sinusoids", {a.queries, a.model}, values);
  return builder.add("embed.add_positions", x, rows, kPart);
}

TensorId add_token_types(BlockBuilder& builder, std::int64_t rows, const Axis& width, TensorId x) {
  const StackAxes& a = builder.axes();
  const TensorId ids = builder.index_input("token_type_ids", {a.batch, a.queries});
  const TensorId table = builder.parameter("embed.token_types.weight",
                                           {
                                               {"types", rows},
                                               width
  },
                                           kPart);
  return builder.add("embed.add_token_types", x, lookup(builder, "embed.token_types", ids, table),
                     kPart);
}

// The bias every layer of the stack adds to its scores: [K,G,T,S] looked up by distance (T5).
TensorId relative_bias(BlockBuilder& builder, const std::string& name, const Attention& attention) {
  const StackAxes& a = builder.axes();
  const Expr n = Expr::symbol("N");
  const Expr k = Expr::symbol("K");
  const Constant values{ConstantKind::kDistanceBucket, a.keys.size - a.queries.size,
                        attention.relative_buckets};
  const TensorId distances = builder.constant("distances", {a.queries, a.keys}, values);
  builder.graph().tensor(distances).element = Element::kIndex;
  const TensorId table =
      builder.parameter(name + ".weight",
                        {
                            {"buckets", attention.relative_buckets},
                            {"K",       k                         },
                            {"G",       n / k                     }
  },
                        Component::kAttention);
  const TensorId bias = builder.activation(name,
                                           {
                                               {"K", k    },
                                               {"G", n / k},
                                               a.queries, a.keys
  },
                                           Component::kAttention);
  builder.graph().tensor(bias).masking =
      Masking{pair_mask(attention.mask), a.queries.name, a.keys.name};
  return builder.emit(name, Gather{}, {distances, table}, bias, Component::kAttention);
}

// What every layer makes its own embedding of: the shared one, and the weight of their norm.
void hand_on_for_own_embeddings(BlockBuilder& builder, TensorId x) {
  builder.hand_on("embedded", x);
  builder.hand_on(
      "per_layer.norm_weight",
      builder.parameter("per_layer.project_norm.weight", {symbol_axis("Pl")}, Component::kNorm));
}

// The table [U,D] of relative positions, normed, which every layer of the stack reads (DeBERTa).
TensorId relative_states(BlockBuilder& builder) {
  const Axes axes = relative_states_axes(builder.axes());
  const TensorId table =
      builder.parameter("embed.relative_positions.weight", axes, Component::kAttention);
  return builder.norm(kRelativeStates, table, NormKind::kLayer);
}

}  // namespace

TensorId token_table(BlockBuilder& builder, const Model& model) {
  const Axis width = embedding_axis(model, builder.axes().model);
  const TensorId table =
      builder.parameter("embed.tokens.weight",
                        {
                            {"V", Expr::symbol("V") + model.embedding.spare_tokens},
                            width
  },
                        kPart);
  builder.graph().tensor(table).shared = true;
  return table;
}

Block embedding_block(const Model& model, const Stack& stack, const StackAxes& axes,
                      const std::string& name) {
  BlockBuilder builder(axes);
  const Embedding& embedding = model.embedding;
  const bool is_source = name == "encoder.embed";
  const bool reads_signal = is_source || model.architecture == Architecture::kEncoder;
  TensorId x = kNoTensor;
  if (reads_signal && embedding.tiles) {
    x = tile_states(builder, embedding, name);
  } else if (reads_signal && embedding.patch_values > 0) {
    x = patch_states(builder, embedding, name);
  } else if (reads_signal && embedding.mel_bins > 0) {
    x = spectrogram_states(builder, embedding, name);
  } else {
    const TensorId ids = builder.index_input(name + ".ids", {axes.batch, axes.queries});
    x = lookup(builder, "embed.tokens", ids, token_table(builder, model));
  }
  const Axis width = embedding_axis(model, axes.model);
  const bool projects = width.name != axes.model.name;
  const bool projects_last = projects && embedding.all_in_width;
  const Axis& summed = projects_last ? width : axes.model;
  if (projects && !projects_last) {
    x = builder.linear("embed.project_in", x, {width, axes.model}, builder.hidden(), kPart);
  }
  if (embedding.scaled) {
    x = builder.map("embed.scale", scalar_scale(std::sqrt(static_cast<double>(model.d_model))), {x},
                    kPart);
  }
  if (embedding.sinusoidal) x = add_sinusoids(builder, x);
  const std::int64_t rows = is_source && embedding.source_positions > 0 ? embedding.source_positions
                                                                        : embedding.positions;
  if (rows > 0 && !embedding.tiles) x = add_positions(builder, rows, summed, x);
  if (embedding.token_types > 0) x = add_token_types(builder, embedding.token_types, summed, x);
  if (embedding.norm) x = builder.norm("embed.norm", x, embedding.norm_kind);
  if (projects_last) {
    x = builder.linear_bias("embed.project_in", x, {width, axes.model}, builder.hidden(), true,
                            {axes.model}, kPart);
  }
  builder.graph().outputs = {x};
  if (embedding.per_layer_dim > 0) hand_on_for_own_embeddings(builder, x);

  Block block;
  block.name = name;
  const std::optional<Attention> first =
      stack.groups.empty() ? std::nullopt : stack.groups.front().layer.attention;
  if (first && first->relative) {
    builder.graph().outputs.push_back(relative_states(builder));
    block.sizes["U"] = first->relative->rows;
  }
  if (first && first->position == PositionKind::kRelative) {
    const Attention& attention = *first;
    builder.graph().outputs.push_back(relative_bias(builder, relative_bias_name(axes), attention));
    block.sizes["N"] = attention.heads;
    block.sizes["K"] = attention.kv_heads;
    if (attention.mask.kind == MaskKind::kWindow) block.sizes["W"] = attention.mask.size;
  }
  if (projects) block.sizes["De"] = embedding.width;
  if (embedding.per_layer_dim > 0) block.sizes["Pl"] = embedding.per_layer_dim;
  block.graph = std::move(builder.graph());
  return block;
}

}  // namespace flopwise
