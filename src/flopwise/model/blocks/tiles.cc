// Images cut into tiles (Mllama): rows of tables, by how the tiles are laid out, through gates.
#include <utility>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kEmbedding;

class TileBuilder {
 public:
  TileBuilder(BlockBuilder& builder, const Tiles& tiles)
      : builder_(builder),
        tiles_{"X", tiles.count},
        layouts_{"layouts", tiles.layouts},
        places_{"Tx", builder.axes().queries.size / tiles.count} {}

  // [B,X,..] of a tile's patches with its class token in front.
  TensorId with_class(TensorId x) {
    const StackAxes& a = builder_.axes();
    const Axis each{"BX", a.batch.size * tiles_.size};
    const Axis patches{"Tx-1", places_.size - 1};
    x = builder_.relabel("embed.tiles_apart", x, {each, patches, a.model});
    const TensorId row = builder_.parameter("embed.class_token", {a.model}, kPart);
    x = builder_.emit("embed.with_class", Prepend{}, {x, row},
                      builder_.activation("embed.with_class", {each, places_, a.model}, kPart),
                      kPart);
    return builder_.relabel("embed.tiles_joined", x, in_tiles());
  }

  TensorId patches(const Embedding& embedding, const std::string& name) {
    const StackAxes& a = builder_.axes();
    const Axis values{"Cp", embedding.patch_values};
    const Axis patches{"Tx-1", places_.size - 1};
    const TensorId in = builder_.input(name + ".patches", {a.batch, tiles_, patches, values});
    builder_.graph().tensor(in).needs_gradient = false;
    return builder_.linear_bias("embed.patch", in, {values, a.model},
                                {a.batch, tiles_, patches, a.model}, embedding.patch_bias,
                                {a.model}, kPart);
  }

  // x plus, through a gate, one row for each tile of this layout; x: [B,X,..,D].
  TensorId add_rows_of_tiles(const std::string& name, TensorId x) {
    const StackAxes& a = builder_.axes();
    const Axis all{"XD", tiles_.size * a.model.size};
    const TensorId rows =
        builder_.relabel(name + ".by_tile", of_layout(name, all), {a.batch, tiles_, a.model});
    const TensorId open = gate(name);
    return builder_.add(name + ".add", x,
                        builder_.map(name + ".gated", scalar_mul(), {rows, open}, kPart), kPart);
  }

  // The gate lets rows of positions through as far as those of tiles are not.
  TensorId add_positions(std::int64_t table_rows, TensorId x) {
    const StackAxes& a = builder_.axes();
    const TensorId open = gate("embed.positions");
    const TensorId closed =
        builder_.map("embed.positions.gate_rest", scalar_one_minus(), {open}, kPart);
    const TensorId ids =
        builder_.constant("embed.position_ids", {places_}, {ConstantKind::kPosition, 0, 0});
    builder_.graph().tensor(ids).element = Element::kIndex;
    const TensorId table = builder_.parameter("embed.positions.weight",
                                              {
                                                  {"positions", table_rows},
                                                  a.model
    },
                                              kPart);
    const TensorId own =
        builder_.emit("embed.positions", Gather{}, {ids, table},
                      builder_.activation("embed.positions", {places_, a.model}, kPart), kPart);
    x = builder_.add("embed.add_positions", x,
                     builder_.map("embed.positions.gated", scalar_mul(), {own, closed}, kPart),
                     kPart);
    const Axis all{"XTD", a.queries.size * a.model.size};
    const TensorId of_tiles = builder_.relabel("embed.tile_positions.by_tile",
                                               of_layout("embed.tile_positions", all), in_tiles());
    return builder_.add(
        "embed.add_tile_positions", x,
        builder_.map("embed.tile_positions.gated", scalar_mul(), {of_tiles, open}, kPart), kPart);
  }

  Axes in_tiles() const {
    const StackAxes& a = builder_.axes();
    return {a.batch, tiles_, places_, a.model};
  }

 private:
  TensorId gate(const std::string& name) {
    const TensorId scalar = builder_.parameter(name + ".gate", {}, kPart);
    return builder_.map(name + ".gate_tanh", scalar_tanh(), {scalar}, kPart);
  }

  // The row of the table for the layout of each image: [B,`width`].
  TensorId of_layout(const std::string& name, const Axis& width) {
    const StackAxes& a = builder_.axes();
    if (layout_ == kNoTensor) layout_ = builder_.index_input("tile_layout", {a.batch});
    const TensorId table = builder_.parameter(name + ".weight", {layouts_, width}, kPart);
    return builder_.emit(name, Gather{}, {layout_, table},
                         builder_.activation(name, {a.batch, width}, kPart), kPart);
  }

  BlockBuilder& builder_;
  Axis tiles_;    // X
  Axis layouts_;  // of a table
  Axis places_;   // of a tile: T/X
  TensorId layout_ = kNoTensor;
};

}  // namespace

TensorId tile_states(BlockBuilder& builder, const Embedding& embedding, const std::string& name) {
  TileBuilder tiles(builder, *embedding.tiles);
  TensorId x = tiles.patches(embedding, name);
  x = tiles.add_rows_of_tiles("embed.tiles_before", x);
  x = tiles.add_positions(embedding.positions, tiles.with_class(x));
  return builder.relabel("embed.all_tiles", x, builder.hidden());
}

Block tiles_block(const Embedding& embedding, const StackAxes& axes) {
  BlockBuilder builder(axes);
  TileBuilder tiles(builder, *embedding.tiles);
  const TensorId in = builder.input("input", builder.hidden());
  const TensorId normed = builder.norm("tiles.norm", in, embedding.norm_kind);
  TensorId x = builder.relabel("tiles.in", normed, tiles.in_tiles());
  x = builder.relabel("tiles.out", tiles.add_rows_of_tiles("tiles.after", x), builder.hidden());
  Block block;
  block.name = "tiles";
  block.graph = std::move(builder.graph());
  block.graph.outputs = {x};
  return block;
}

}  // namespace flopwise
