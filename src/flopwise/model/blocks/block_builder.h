// The vocabulary in which blocks are written: one call, one operation of the graph. The tensor an
// operation makes has the operation's name, its parameters the names NAME.weight and NAME.bias.
#pragma once

#include <string>
#include <vector>

#include "flopwise/graph/graph.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"

namespace flopwise {

using Axes = std::vector<Axis>;

// An axis whose size is the letter of its name.
inline Axis symbol_axis(const char* name) {
  return {name, Expr::symbol(name)};
}

// The axes of one stack. Decoder: queries T, keys S. The encoder of an encoder-decoder: queries and
// keys R.
struct StackAxes {
  Axis batch;    // B
  Axis queries;  // T
  Axis keys;     // S
  Axis memory;   // R, the encoder's positions that cross-attention reads
  Axis model;    // D
};

class BlockBuilder {
 public:
  explicit BlockBuilder(StackAxes axes) : axes_(std::move(axes)) {}

  const StackAxes& axes() const { return axes_; }
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  Axes hidden() const { return {axes_.batch, axes_.queries, axes_.model}; }

  TensorId input(const std::string& name, const Axes& axes, bool shared = false);
  TensorId index_input(const std::string& name, const Axes& axes);
  TensorId constant(const std::string& name, const Axes& axes, Constant values);
  TensorId parameter(const std::string& name, const Axes& axes, Component component);
  TensorId activation(const std::string& name, const Axes& axes, Component component);

  // x times the parameter NAME.weight of axes `weight`, giving `out`; class matmul.
  TensorId linear(const std::string& name, TensorId x, const Axes& weight, const Axes& out,
                  Component component);
  // linear plus, where `has_bias`, the parameter NAME.bias of axes `bias`.
  TensorId linear_bias(const std::string& name, TensorId x, const Axes& weight, const Axes& out,
                       bool has_bias, const Axes& bias, Component component);
  TensorId contract(const std::string& name, const Contraction& kind, TensorId a, TensorId b,
                    const Axes& out, Component component);
  // An elementwise function; the result has the axes (and mask) of the first operand.
  TensorId map(const std::string& name, ScalarProgram program, std::vector<TensorId> inputs,
               Component component);
  TensorId add(const std::string& name, TensorId a, TensorId b, Component component) {
    return map(name, scalar_add(), {a, b}, component);
  }
  TensorId norm(const std::string& name, TensorId x, NormKind kind, int normalised_axes = 1);
  TensorId dropout(const std::string& name, TensorId x, double probability, Component component);
  TensorId relabel(const std::string& name, TensorId x, const Axes& axes);
  // Makes x a further output of the block, which later blocks read as the shared input `name`.
  void hand_on(const std::string& name, TensorId x);
  TensorId emit(const std::string& name, OpKind kind, std::vector<TensorId> inputs, TensorId output,
                Component component, std::vector<TensorId> more_outputs = {});

  // Operations added between the two calls form one fused kernel: attention, or a recurrence.
  void begin_region(const std::string& name, bool is_recurrence = false);
  void end_region(TensorId output, TensorId row_stats);

 private:
  StackAxes axes_;
  Graph graph_;
  RegionId region_ = kNoRegion;
};

ScalarProgram activation_program(Activation activation);

// "relative_bias", "encoder.relative_bias": one tensor for all layers of a stack, named by its
// queries.
std::string relative_bias_name(const StackAxes& axes);
// "relative_states" [U,D], one tensor for all layers; U is the axis of distances.
inline constexpr const char* kRelativeStates = "relative_states";
Axes relative_states_axes(const StackAxes& axes);

// The mask with its size as the symbol W, h, C or P.
PairMask pair_mask(const AttentionMask& mask);

// ---- the blocks --------------------------------------------------------------------------------

struct AttentionInputs {
  TensorId x = kNoTensor;                // [B,T,D], already normalised
  TensorId memory = kNoTensor;           // [B,R,D], of cross-attention
  TensorId relative_bias = kNoTensor;    // [K,G,T,S], of relative positions
  TensorId relative_states = kNoTensor;  // [U,D], of Attention::relative
};

// [B,T,D] -> [B,T,D], without residual and norm. `name` is "attention" or "cross".
TensorId add_attention(BlockBuilder& builder, const std::string& name, const Attention& attention,
                       const Workload& workload, const AttentionInputs& inputs);
// [B,T,D] -> [B,T,D], without residual and norm.
TensorId add_recurrence(BlockBuilder& builder, const Recurrence& recurrence,
                        const Workload& workload, TensorId x);
// The feed-forward of a dense layer or of an expert kind; `name` is "mlp" or "shared"; F is the
// axis of its width.
TensorId add_mlp(BlockBuilder& builder, const std::string& name, const Mlp& mlp, const Axis& width,
                 TensorId x);
// `stream`: what x is the norm of.
TensorId add_moe(BlockBuilder& builder, const Moe& moe, TensorId x, TensorId stream);

Block embedding_block(const Model& model, const Stack& stack, const StackAxes& axes,
                      const std::string& name);
Block layer_block(const LayerGroup& group, const StackAxes& axes, const Workload& workload,
                  const std::string& prefix);
// "embed.tokens.weight" [V,D], one tensor however many blocks read it.
TensorId token_table(BlockBuilder& builder, const Model& model);
// Final norm and unembedding, with the loss in training.
Block head_block(const Model& model, const Stack& stack, const StackAxes& axes,
                 const Workload& workload);
// Behind a norm, the rows of each tile once more: between the two kinds of layers of Model::tiles.
Block tiles_block(const Embedding& embedding, const StackAxes& axes);
// Patches of tiles up to the positions' rows, [B,T,D]; `name` is the embedding block's.
TensorId tile_states(BlockBuilder& builder, const Embedding& embedding, const std::string& name);
// The projector of a head, from [B,T,D] hidden states; more results become outputs of the graph.
TensorId add_projector(BlockBuilder& builder, const Projector& projector, TensorId x);
// What a tower has made of an image, [B,R,D], handed to layers that attend to it.
Block tower_states_block(const StackAxes& axes);
// The final norm of an encoder whose output goes to a decoder.
Block encoder_output_block(const Stack& stack, const StackAxes& axes);

// norm(hidden) and norm(embedding), each through a [D,D] matrix, added: one matrix [2D,D] over both
// side by side.
Block mtp_join_block(const LayerGroup& mtp, const StackAxes& axes);
Block mtp_norm_block(const LayerGroup& mtp, const StackAxes& axes);

}  // namespace flopwise
