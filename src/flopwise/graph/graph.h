// What is computed, with a name on every axis: tensors and operations, nothing about any particular
// model.
//
// A Graph is the forward pass of one block (an embedding, a layer, a head); backward.h appends the
// operations that differentiation derives, remat.h those that a rematerialisation policy repeats. A
// Program is the blocks of a model with their repeat counts. Costs (cost/), execution and sharding
// all read the same graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flopwise/expr/expr.h"
#include "flopwise/graph/collective.h"
#include "flopwise/graph/mask.h"
#include "flopwise/graph/scalar.h"

namespace flopwise {

struct Axis {
  std::string name;  // the label that contractions match: "T"
  Expr size;         // a symbol, a number, or such as N/K
};

enum class Role {
  kInput,      // handed to the block: the residual stream, the encoder's output, token ids
  kParameter,  // trainable
  kConstant,   // fixed and small: slopes of ALiBi
  kActivation,
  kState,     // kept across calls: the KV cache, and what a recurrence carries on
  kGradient,  // d loss / d tensor
};

// What an element is stored as; a Workload says how many bytes each has.
enum class Element {
  kCompute,  // activations and gradients: --dtype
  kWeight,   // parameters: --weights
  kCache,    // KV cache: --kv
  kFp32,     // row statistics
  kByte,     // dropout masks
  kIndex,    // token ids and routing, 32 bits
};

// What a parameter or operation belongs to in a report (a bias belongs to its matrix).
enum class Component {
  kAttention,
  kRecurrence,  // state-space and linear-attention layers, short convolutions
  kMlp,
  kRouter,
  kNorm,
  kEmbedding,
  kUnembedding,
  kOther
};
inline constexpr int kComponentCount = 8;
const char* name_of(Component component);

// How a constant's values follow from its axes.
enum class ConstantKind {
  kPosition,        // [T]: where each query stands
  kDistanceBucket,  // [T,S]: the bucket of the distance from key to query
  kAlibi,           // [K,G,S]: a head's slope times the key's position
  kSinusoid,        // [T,D]: sines and cosines of where each query stands
  kZero,            // any axes: added, and nothing changes (a buffer of BART)
};
struct Constant {
  ConstantKind kind = ConstantKind::kPosition;
  Expr first_position = 0;   // of the queries: S - T
  std::int64_t buckets = 0;  // of kDistanceBucket
};

// A score tensor holds T*S elements of which only the unmasked pairs are computed.
struct Masking {
  PairMask mask;
  std::string query_axis;
  std::string key_axis;
  // Set where the mesh spreads them: the pairs of one device.
  std::optional<Expr> pairs_here = {};
};

// The pairs that are computed of these queries and keys.
Expr pairs_of(const Masking& masking, const Expr& queries, const Expr& keys);

using TensorId = int;
using OpId = int;
inline constexpr TensorId kNoTensor = -1;

struct Tensor {
  std::string name;
  std::vector<Axis> axes;
  Role role = Role::kActivation;
  Element element = Element::kCompute;
  Component component = Component::kOther;
  bool needs_gradient = true;
  // One tensor for all repeats of the block and for every block that names it: a tied matrix, the
  // encoder's output.
  bool shared = false;
  // A shared parameter whose gradient is the sum of what all repeats of the block give: each adds
  // to what those behind it gave. Otherwise one block makes it, and lookups add in place.
  bool added_up = false;
  std::optional<Masking> masking = {};
  std::optional<Constant> constant = {};
  TensorId alias_of = kNoTensor;     // the same memory under other axes
  TensorId gradient_of = kNoTensor;  // set for gradients
  std::string routed_axis = {};      // "E": each token touches k of its E slices
  // State only: how many positions along the key axis are read, and how many a cache holds for the
  // queries to come.
  Expr keys_read = 0;
  Expr keys_held = 0;
  // State only: has no key axis; each call reads all of it and writes it anew.
  bool is_recurrent = false;
};

// ---- operations --------------------------------------------------------------------------------
// Each says in one line what it computes; cost/flops.cc holds the one table of what each costs.

enum class OpClass { kNone, kMatmul, kAttention, kVector };
const char* name_of(OpClass op_class);

// out = sum over the contracted axes of a*b, on axes matched by name. With `routed_axis` (E), each
// token uses the slice of b that the router chose (input 3), so the axis is not run over. Without,
// a third input is what the sums start from instead of 0: the scores of attention whose keys have
// two parts, the state of a recurrence to which a product is added.
struct Contraction {
  OpClass op_class = OpClass::kMatmul;
  std::string routed_axis;
};
// out = program(inputs) element by element; an input may lack axes of the output (it is broadcast).
struct Map {
  ScalarProgram program;
};
// out = input added up over the axes that out lacks.
struct Sum {};
// out = input, the same for every element of the axes that input lacks: the gradient of Sum.
struct Broadcast {};
// A factor. Not made of a bool, which as a number would be a factor of 0 or 1.
struct Scale {
  double factor = 1;
  explicit Scale(double value) : factor(value) {}
  explicit Scale(bool) = delete;
};

// p = softmax(scale*x) along `axis`; a second output is the row log-sum-exp. Without a scale
// nothing is multiplied. A second input is a sink: one more score of each row, learned, which takes
// its share of the sum and gives nothing (gpt-oss).
struct Softmax {
  std::string axis;
  std::optional<Scale> scale = {};
};
// p = exp(scale*x - lse): the softmax once its row log-sum-exp is known.
struct SoftmaxFromStats {
  std::string axis;
  std::optional<Scale> scale = {};
};
// dx = scale * p * (dp - delta), delta = the row sum of p*dp. With from_delta the row sum is an
// input, got by the identity sum_j p_ij dp_ij = sum_d do_id o_id (FlashAttention, Dao et al. 2022,
// appendix B).
struct SoftmaxBackward {
  std::string axis;
  std::optional<Scale> scale = {};
  bool from_delta = false;
};
// From p and dp the gradient of the sink: -p_sink * delta, added up over the rows that share it;
// p_sink = 1 - the row sum of p.
struct SinkBackward {
  std::string axis;
};
// y = (x - mean if centred) * rsqrt(mean square + eps) [* weight] [+ bias] over the last
// `normalised_axes` axes.
struct Norm {
  bool centred = false;
  bool has_weight = true;
  bool has_bias = false;
  int normalised_axes = 1;
  double epsilon = 1e-5;
};
// x[, weight], dy -> dx[, dweight][, dbias]; statistics are computed again inside.
struct NormBackward {
  Norm norm;
};
// out[..., D] = table[ids[...], D].
struct Gather {};
struct GatherBackward {};  // the table's gradient: rows of dy added where their ids say
// The k largest of `axis`: k passes of compares. -> weights[..., k], choice[..., k]. A second input
// ranks in place of the first: the weights are the first's elements where it is largest.
struct TopK {
  std::string axis;
};
struct TopKBackward {};  // puts the k gradients back into their places
// -> choice[.., Sx]: which positions of `axis` hold the largest inputs. A search, no arithmetic.
struct SelectKeys {
  std::string axis;
};
// Copies each token to its k experts, and back into token order: data movement.
struct Dispatch {};
struct Combine {};
// Rotates the first `rotated` elements of each head by position: element j and j + rotated/2 by the
// angle position / base^(2j/rotated), base 10,000. Positions run along the second axis.
struct Rotary {
  Expr rotated;
  Expr first_position = 0;
  bool inverse = false;  // rotates back: the gradient
};
// out = x * keep / (1 - p), keep a byte per element.
struct Dropout {
  double probability = 0;
};
// loss[...] = log-sum-exp of logits minus the target's logit, and the row statistics.
struct CrossEntropy {};
struct CrossEntropyBackward {
};  // dlogits = softmax(logits) - one_hot(target), from the row statistics
// out[B, T, O] = sum over kernel positions q and channels c of in[B, stride*T + q, c] * w[q, c, O];
// padding counts as input.
struct Convolution {
  std::int64_t stride = 1;
  OpClass op_class = OpClass::kMatmul;
};
// Either gradient of a convolution, as many multiply-adds as forward: dy and the other operand.
struct ConvolutionBackward {
  std::int64_t stride = 1;
  bool of_kernel = false;  // otherwise of the input
};
// out[B, t, ..] = sum over q of x[B, t - Q + 1 + q, ..] * w[q, ..]: each channel by itself over the
// last Q positions. What lies before the first position is the third input, a state [B, Q-1, ..],
// or 0; a second output is that state, afterwards the last Q-1 positions of all.
struct CausalConvolution {};
// From dy and the other operand: dx, or of_kernel dw.
struct CausalConvolutionBackward {
  bool of_kernel = false;
};
// out[B, t, ..] = in[B, t-1, ..]: what a recurrence finds at a position. Position 0 finds the
// second input, a state [B, ..], or 0. Reversed, the gradient: in[B, t+1, ..], and 0 behind the
// last.
struct Previous {
  bool reversed = false;
};
// out[B, T, D]: one more position in front of in[B, T-1, D], the second input [D] (a class token)
// or zeros (padding).
struct Prepend {};
// From dy: dx, its positions but the first; of_row: d row, the first ones added up. Forward too,
// where a class token is left behind.
struct PrependBackward {
  bool of_row = false;
};
// The same memory under other axis names (T of new keys becomes S; N becomes K and G).
struct Relabel {};
// New keys or values written into their place in the cache.
struct CacheAppend {};
// One position only: the last, or the first.
struct TakeOne {
  bool last = true;
};
struct TakeOneBackward {
  bool last = true;
};
// A Collective (collective.h) moves parts of its input between devices. mesh/ inserts it; no model
// has one, nothing differentiates it.

using OpKind =
    std::variant<Contraction, Map, Sum, Broadcast, Softmax, SoftmaxFromStats, SoftmaxBackward,
                 SinkBackward, Norm, NormBackward, Gather, GatherBackward, TopK, TopKBackward,
                 SelectKeys, Dispatch, Combine, Rotary, Dropout, CrossEntropy, CrossEntropyBackward,
                 Convolution, ConvolutionBackward, CausalConvolution, CausalConvolutionBackward,
                 Previous, Prepend, PrependBackward, Relabel, CacheAppend, TakeOne, TakeOneBackward,
                 Collective>;

enum class Pass { kForward, kBackward, kRecompute };
const char* name_of(Pass pass);

// A run of operations executed as one kernel whose inner tensors never reach memory.
using RegionId = int;
inline constexpr RegionId kNoRegion = -1;

struct Op {
  std::string name;  // "attention.q"; a gradient operation adds what it is the gradient of:
                     // "attention.q.d_weight"
  OpKind kind;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Component component = Component::kOther;
  Pass pass = Pass::kForward;
  RegionId region = kNoRegion;
};

// Operations fused into one kernel.
//
// Attention: scores, softmax and weighted sum. Forward it reads Q, K, V and writes O (and the row
// log-sum-exp where backward reads it); backward it keeps none of the scores and computes them
// again.
//
// A recurrence: what happens at one position, for all positions in turn. Its operations have the
// axis of positions and form a circle that a Previous closes: h = a * previous(h) + b. They run
// position by position, the backward ones from the last to the first; those without the axis
// (parameter gradients, the state that is left) run at the end. Backward it keeps none of the
// states in between and computes them again.
struct FusedKernel {
  std::string name;  // "attention.core", "mamba.scan"
  TensorId output = kNoTensor;
  TensorId row_stats = kNoTensor;
  Pass pass = Pass::kForward;
  bool is_recurrence = false;
};

// What the backward pass makes of a tensor, set by backward.h.
struct GradientOf {
  TensorId tensor = kNoTensor;
  // Comes from outside: the gradient of an output, or what other layers have already added up for
  // an input that they share. kNoTensor for a loss and for what only this block reads.
  TensorId arriving = kNoTensor;
  TensorId gradient = kNoTensor;  // of an input or parameter; kNoTensor for an output
};

class Graph {
 public:
  TensorId add_tensor(Tensor tensor);
  // Checks that ids exist and that axes fit the kind (contracted axes agree in size, a map's inputs
  // broadcast, ...); InternalError otherwise.
  OpId add_op(Op op);
  RegionId add_region(FusedKernel region);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Op>& ops() const { return ops_; }
  const Tensor& tensor(TensorId id) const { return tensors_.at(static_cast<std::size_t>(id)); }
  Tensor& tensor(TensorId id) { return tensors_.at(static_cast<std::size_t>(id)); }
  Op& op(OpId id) { return ops_.at(static_cast<std::size_t>(id)); }
  const FusedKernel& region(RegionId id) const { return regions_.at(static_cast<std::size_t>(id)); }
  FusedKernel& region(RegionId id) { return regions_.at(static_cast<std::size_t>(id)); }

  // Follows alias_of to the tensor that owns the memory.
  TensorId storage_of(TensorId id) const;
  // The tensor of that name, or kNoTensor.
  TensorId find(std::string_view name) const;
  // Puts `ops` before the first operation of the backward pass.
  void insert_before_backward(const std::vector<Op>& ops);

  std::vector<TensorId> outputs;      // what the block hands on: the residual stream, or the loss
  std::vector<GradientOf> gradients;  // of outputs, inputs and parameters, in that order
  std::vector<TensorId> saved;  // set by remat.h: what the forward pass keeps for the backward pass

 private:
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  std::vector<FusedKernel> regions_;
};

bool has_axis(const Tensor& tensor, std::string_view axis);
const Axis& axis_of(const Tensor& tensor, std::string_view axis);  // InternalError when absent

// All elements, and those that are computed under the tensor's mask.
Expr elements(const Tensor& tensor);
Expr live_elements(const Tensor& tensor);
// Whether it is a contraction whose sums start from its third input.
bool starts_from_input(const Op& op);
// Whether it is part of a recurrence, which runs position by position.
bool is_in_recurrence(const Graph& graph, const Op& op);

// "rms_norm", "softmax(scale)", the name of a map's program, ...
std::string kind_name(const OpKind& kind);
// Axes that a contraction sums over, in the order of its first input.
std::vector<std::string> contracted_axes(const Graph& graph, const Op& op);

// "attention.q[B,T,N,H]".
std::string describe(const Tensor& tensor);
// "attention.norm[B,T,D] *_D attention.q.weight[D,N,H] -> attention.q[B,T,N,H]",
// "silu(mlp.gate[B,T,F]) -> ...".
std::string describe(const Graph& graph, const Op& op);

// The product of the distinct axes an operation runs over, each once; a masked pair of axes counts
// its live pairs, or all T*S when `dense`. Axes named in `skip` are left out.
Expr iteration_space(const Graph& graph, const Op& op, bool dense, std::string_view skip = "");

// ---- a model -----------------------------------------------------------------------------------

struct Block {
  std::string name;  // "embed", "layer", "local", "encoder.layer", "head"
  Graph graph;
  // Which input of later blocks its first output becomes. Further outputs, and this one where it is
  // not "input", go by name to every later block that reads them.
  std::string hands_on = "input";
  Expr repeat = 1;  // L where all layers are alike
  Sizes sizes;      // sizes that hold in this block only (F of the dense layers, F of the experts)
  bool is_layer = false;  // one of the repeated layers, not embedding or head
};

struct Program {
  std::vector<Block> blocks;  // in order of execution
  Sizes sizes;
  // The sizes as a block sees them: its own first.
  Sizes sizes_of(const Block& block) const;
};

}  // namespace flopwise
