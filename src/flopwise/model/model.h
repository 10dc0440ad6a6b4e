// What a transformer is, as independent fields: no formula, no cost. Readers (letters, config.json,
// the catalog) fill a Model; build.h turns it into graphs. Every distinct layer stands here once,
// with a repeat count, so a model of 10,000 layers is as small as one of 10.
//
// Letters: D model dimension, F feed-forward dimension, L layers, V vocabulary, N query heads, K
// key/value heads, H head dimension, E experts, k experts per token, W C P attention window, chunk,
// prefix.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "flopwise/graph/mask.h"

namespace flopwise {

enum class NormKind {
  kRms,          // weight [D]
  kLayer,        // weight and bias [D]
  kLayerNoBias,  // weight [D]
  kNoParams,     // layer norm without weight or bias
};

enum class NormPlacement {
  kPre,       // x + f(norm(x))
  kPost,      // norm(x + f(x))
  kSandwich,  // x + norm(f(norm(x)))
  kPostOnly,  // x + norm(f(x)) (OLMo 2)
  kNormed,    // n + f(n), n = norm(x) (ChatGLM-6B)
};

enum class Activation { kRelu, kRelu2, kGelu, kGeluTanh, kQuickGelu, kSilu, kTanh };

// Which keys a query sees (docs/conventions.md). size: W, the last W positions including the
// query's own; h, the half width of a two-sided window; C, the chunk; P, the prefix. Unused for
// full and causal.
struct AttentionMask {
  MaskKind kind = MaskKind::kCausal;
  std::int64_t size = 0;
  friend bool operator==(const AttentionMask&, const AttentionMask&) = default;
};

enum class PositionKind {
  kNone,      // nothing inside attention (learned rows are Model::Embedding::positions)
  kRotary,    // the first rotary_dim elements of each query and key head are rotated
  kAlibi,     // a constant slope times distance is added to every score
  kRelative,  // a learned bias [relative_buckets, N], one table a stack, is added to every score
              // (T5)
};

enum class QkNorm {
  kNone,
  kPerHead,    // over H, one weight [H] for queries and one for keys
  kFullWidth,  // over N*H for queries, K*H for keys
  kEachHead,   // over H, with weights of its own for every head: [N,H] and [K,H] (Cohere)
};

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): keys and values are made from one
// latent vector a position, which is all that the cache holds beside a rotated key that all heads
// share. A head's query and key have a part of each kind.
struct LatentAttention {
  std::int64_t query_rank = 0;  // Cq; 0: queries come from the hidden state
  std::int64_t kv_rank = 0;     // Ckv
  std::int64_t nope_dim = 0;    // Hn, not rotated
  std::int64_t rope_dim = 0;    // Hr, even
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

enum class OutputGate {
  kNone,
  kPerElement,  // attention output times sigmoid(x W), W [D,N,H] (Qwen3-Next)
  kPerHead,     // the same, W [D,N]
};

// Scores from a table of relative positions (DeBERTa, arXiv:2006.03654): beside query times key,
// query times the key of the distance, and key times the query of the distance.
struct RelativeStates {
  std::int64_t rows = 0;    // of the table, [rows,D], one a stack, behind a layer norm
  bool of_queries = true;   // the first of the two further terms
  bool of_keys = true;      // the second
  bool shares_maps = true;  // distances go through the matrices of keys and queries, not their own
  friend bool operator==(const RelativeStates&, const RelativeStates&) = default;
};

struct Attention {
  std::int64_t heads = 0;      // N
  std::int64_t kv_heads = 0;   // K, divides N
  std::int64_t head_dim = 0;   // H, of queries and keys
  std::int64_t value_dim = 0;  // of values; H unless said otherwise
  bool q_bias = false;
  bool k_bias = false;
  bool v_bias = false;
  bool o_bias = false;
  QkNorm qk_norm = QkNorm::kNone;
  NormKind qk_norm_kind = NormKind::kRms;
  PositionKind position = PositionKind::kRotary;
  std::int64_t rotary_dim = 0;        // even, at most head_dim; only with kRotary
  std::int64_t relative_buckets = 0;  // only with kRelative
  bool scaled = true;                 // scores times 1/sqrt(H); false in T5
  double softcap = 0;                 // cap*tanh(score/cap) (Gemma 2); 0: none
  double dropout = 0;                 // of the attention weights in training; 0 is off
  AttentionMask mask;
  bool sinks = false;  // a learned score a head that takes part in each softmax (gpt-oss)
  OutputGate gate = OutputGate::kNone;
  bool scaled_values = false;              // values times a constant (MiMo-V2)
  std::optional<RelativeStates> relative;  // of an encoder whose queries all have their own keys
  // With it kv_heads = heads and head_dim = nope_dim + rope_dim.
  std::optional<LatentAttention> latent;
  friend bool operator==(const Attention&, const Attention&) = default;
};

struct Mlp {
  std::int64_t d_ff = 0;  // F
  bool gated = true;      // act(x Wgate) * (x Wup) Wdown; otherwise act(x Wup) Wdown
  Activation activation = Activation::kSilu;
  bool up_bias = false;  // of up and, where there is one, gate
  bool down_bias = false;
  friend bool operator==(const Mlp&, const Mlp&) = default;
};

enum class RouterScore {
  kSoftmaxThenTopK,  // softmax over all E, then the k largest (Qwen)
  kTopKThenSoftmax,  // the k largest scores, softmax over them (Mixtral)
  kSigmoidThenTopK,  // the sigmoid of each score, then the k largest (DeepSeek-V3)
  kTopKThenSigmoid,  // the k largest scores, the sigmoid of each (Llama 4)
};

struct Moe {
  std::int64_t experts = 0;         // E, routed
  std::int64_t active_experts = 0;  // k
  Mlp expert;                       // of each routed expert; expert.d_ff is F
  std::int64_t shared_d_ff = 0;     // width of all shared experts together; 0: none
  bool shared_gate = false;  // sigmoid(x w) times the shared expert's output, w [D] (Qwen2-MoE)
  RouterScore score = RouterScore::kSoftmaxThenTopK;
  bool renormalise = false;      // divide the k weights by their sum; only where top-k comes last
  bool correction_bias = false;  // [E], added to the scores for the choice only; no gradient
  double scaling = 1;            // the k weights times this
  bool router_bias = false;      // [E], added to the router's scores
  // Dl: routed experts work in this width, to and from which two matrices lead; 0: in D
  // (Nemotron 3).
  std::int64_t latent_dim = 0;
  friend bool operator==(const Moe&, const Moe&) = default;
};

// ---- layers that carry a state from position to position instead of a cache of all positions
// -----

// Mamba (arXiv:2312.00752): h = exp(dt A) h + dt x B, y = C h + D x for every element of an inner
// width, with dt, B and C made from x, which a causal convolution has mixed.
struct Mamba {
  std::int64_t inner = 0;  // Di
  std::int64_t state = 0;  // Ns, elements of h for each of the inner width
  std::int64_t rank = 0;   // Rt, of what dt is made from
  std::int64_t taps = 0;   // Q, positions that the convolution sees
  bool conv_bias = true;
  bool proj_bias = false;    // of the projections into and out of the inner width
  bool inner_norms = false;  // RMS norms with weights on dt, B and C (Jamba)
  friend bool operator==(const Mamba&, const Mamba&) = default;
};

// Mamba-2 (arXiv:2405.21060): heads with one decay each; B and C are shared by the heads of a
// group; the output is gated and normalised.
struct Mamba2 {
  std::int64_t heads = 0;     // Nm
  std::int64_t head_dim = 0;  // Hm
  std::int64_t groups = 0;    // Gm, divides heads
  std::int64_t state = 0;     // Ns
  std::int64_t taps = 0;      // Q
  bool conv_bias = true;
  bool proj_bias = false;
  friend bool operator==(const Mamba2&, const Mamba2&) = default;
};

// Gated DeltaNet (arXiv:2412.06464) as in Qwen3-Next: S = a S + k (b (v - (a S)' k))', o = S' q, S
// of key_dim x value_dim for every value head; q, k and v go through causal convolutions.
struct DeltaNet {
  std::int64_t key_heads = 0;    // Kd
  std::int64_t value_heads = 0;  // Kd*Jd, a multiple of key_heads
  std::int64_t key_dim = 0;      // Hk
  std::int64_t value_dim = 0;    // Hd
  std::int64_t taps = 0;         // Q
  friend bool operator==(const DeltaNet&, const DeltaNet&) = default;
};

// x split into b, c and u by a projection; c * convolution(b * u), projected (LFM2).
struct ShortConvolution {
  std::int64_t taps = 0;  // Q
  bool bias = false;      // of the projections and the convolution
  friend bool operator==(const ShortConvolution&, const ShortConvolution&) = default;
};

using Recurrence = std::variant<Mamba, Mamba2, DeltaNet, ShortConvolution>;

struct NoFeedForward {
  friend bool operator==(const NoFeedForward&, const NoFeedForward&) = default;
};

// One matrix [D,D] where others have attention or a feed-forward (Nemotron NAS).
struct LinearMap {
  bool bias = false;
  friend bool operator==(const LinearMap&, const LinearMap&) = default;
};

// What mixes positions is attention, a recurrence or nothing, where a linear map may stand instead;
// a layer without feed-forward is that alone.
struct Layer {
  NormKind norm = NormKind::kRms;
  NormPlacement placement = NormPlacement::kPre;
  bool parallel = false;         // x + attention(norm(x)) + mlp(norm(x))
  bool shared_norm = false;      // parallel with one norm for both
  bool attention_norm = true;    // false: attention reads x as it is (layer 0 of ModernBERT)
  bool scaled_residual = false;  // one addend of each residual sum times a constant (Granite)
  std::optional<Attention> attention = Attention{};
  std::optional<Recurrence> recurrence;
  std::optional<LinearMap> linear;  // in place of attention
  std::optional<Attention> cross;   // over the encoder's output; its mask is kFull
  std::variant<Mlp, Moe, NoFeedForward, LinearMap> feed_forward;
  double dropout = 0;  // after attention output and feed-forward output, in training; 0 is off
  friend bool operator==(const Layer&, const Layer&) = default;
};

// `repeat` layers of one kind. The order of layers inside a stack does not change a count; groups
// are listed in the order in which each kind first occurs.
struct LayerGroup {
  std::string
      name;  // "layer"; where a stack has several kinds: "local", "global", "dense", "moe", ...
  Layer layer;
  std::int64_t repeat = 0;
  bool one_set = false;  // all repeats have the same parameters (ALBERT)
  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

// Collects layers in order and groups equal ones.
class LayerList {
 public:
  // `name` is used when this kind is new; equal layers share the first name.
  void add(const std::string& name, const Layer& layer, std::int64_t repeat = 1);
  std::vector<LayerGroup> groups() const { return groups_; }

 private:
  std::vector<LayerGroup> groups_;
};

struct Stack {
  std::vector<LayerGroup> groups;
  bool final_norm = true;
  NormKind final_norm_kind = NormKind::kRms;
  friend bool operator==(const Stack&, const Stack&) = default;
};

enum class Architecture { kDecoder, kEncoder, kEncoderDecoder };

struct Embedding {
  std::int64_t width =
      0;  // 0: D. Otherwise tokens are embedded in `width` and projected to D and back (OPT-350m)
  // Positions, token types and the norm are `width` wide too; the map to D follows them and has a
  // bias (ALBERT).
  bool all_in_width = false;
  std::int64_t positions = 0;  // learned rows; 0: none
  bool sinusoidal = false;     // fixed rows of sines and cosines are added: no parameters (Marian)
  std::int64_t token_types = 0;
  bool norm = false;  // a norm on the sum (BERT, BLOOM)
  NormKind norm_kind = NormKind::kLayer;
  bool scaled = false;  // times a constant: sqrt(D) (Gemma), embedding_multiplier (Granite)
  // Of images: a position is a patch of so many numbers, which one matrix makes a hidden state of,
  // in place of a token id. 0: tokens.
  std::int64_t patch_values = 0;
  bool patch_bias = false;
  bool class_token = false;  // one position more, in front, which is learned
  // Of an encoder-decoder's encoder. mel_bins: it reads a spectrogram of two frames a position
  // through two convolutions over 3 frames (Whisper). source_positions: its own learned rows; 0:
  // `positions` of them.
  std::int64_t mel_bins = 0;
  std::int64_t source_positions = 0;
  friend bool operator==(const Embedding&, const Embedding&) = default;
};

enum class HeadKind {
  kNone,            // ends with the last hidden state
  kLanguageModel,   // [D,V]
  kMaskedLm,        // dense D to D with bias, activation, layer norm, then [D,V] with bias (BERT)
  kPooler,          // dense D to D with bias and tanh on the first position (BERT)
  kPooledLabels,    // pooler, then [D,labels] with bias
  kPretraining,     // masked LM and pooler with a 2-label head (BertForPreTraining)
  kTokenLabels,     // [D,labels] with bias, every position
  kSequenceLabels,  // [D,labels] without bias, every position (GPT-NeoX for sequence
                    // classification)
  kLastLabels,      // [D,labels] with bias, the last position (a reward model)
  kFirstLabels,     // the same, the first position (an image classifier)
  kProjector,       // Head::projector
};

// What leads from the last hidden states of a tower into another model.
struct Projector {
  enum class Position { kAll, kFirst, kLast };
  Position position = Position::kAll;
  std::int64_t merge = 1;  // M neighbours become one, side by side
  bool pools = false;      // ... or as their mean
  std::optional<NormKind> norm;
  bool norm_merged = false;  // over all M of them together
  std::int64_t inner = 0;    // width of a dense layer with an activation; 0: one matrix only
  std::int64_t out = 0;      // width of the result
  bool bias = false;
  Activation activation = Activation::kGelu;
  std::int64_t merged_copies = 0;  // further ones, each with a norm over all M (Qwen3-VL)
  std::int64_t scalars = 0;        // learned numbers that the result is multiplied by (CLIP)
  friend bool operator==(const Projector&, const Projector&) = default;
};

struct Head {
  HeadKind kind = HeadKind::kLanguageModel;
  bool tied = false;           // [D,V] is the token embedding
  bool bias = false;           // [V]
  double softcap = 0;          // cap*tanh(logit/cap) (Gemma 2); 0: none
  bool scaled = false;         // hidden state times a constant before the head: 1/sqrt(D) (T5)
  bool scaled_logits = false;  // logits times a constant (Cohere)
  bool zero_bias = false;      // [V] that is no parameter is added: a buffer (BART)
  std::int64_t labels = 0;
  Projector projector;                        // of kProjector
  Activation activation = Activation::kGelu;  // of the masked LM transform
  bool transform_bias = true;                 // of that dense map
  NormKind transform_norm = NormKind::kLayer;
  Activation pooler_activation = Activation::kTanh;
  friend bool operator==(const Head&, const Head&) = default;
};

struct Model {
  std::string name;    // "llama-3-8b", or the letters as given
  std::string family;  // "llama"; "letters"
  std::string source;  // where the facts come from: a file, the catalog's citation, "letters"
  Architecture architecture = Architecture::kDecoder;
  std::int64_t d_model = 0;         // D
  std::int64_t vocab = 0;           // V
  std::int64_t context = 0;         // longest context the model is made for; 0: not said
  std::int64_t source_context = 0;  // R of every source (Whisper's 30 s); 0: any
  Embedding embedding;
  std::optional<Stack> encoder;  // of kEncoder and kEncoderDecoder
  std::optional<Stack> decoder;  // of kDecoder and kEncoderDecoder
  Head head;
  // Layers that predict further tokens in training, each beside two norms and a matrix that joins a
  // hidden state and an embedding (DeepSeek-V3): apart from the model, in no count but their own.
  std::optional<LayerGroup> mtp;
  // The tower that turns images into positions of this model: parameters of its own, run beside it.
  // A model that has itself patch_values has none.
  std::shared_ptr<const Model> vision;
  std::vector<std::string> assumptions;  // what a reader took for granted, one line each; printed
  friend bool operator==(const Model&, const Model&) = default;
};

// UserError (one line: model, field, value, what was expected) unless every size is 1 ... 2^40,
// kv_heads divides heads, rotary_dim is even and at most head_dim, active_experts <= experts, and
// the parts fit together.
void validate(const Model& model);

// "pre", "rms", "gelu_tanh", ...: for reports.
const char* name_of(NormKind kind);
const char* name_of(NormPlacement placement);
const char* name_of(Activation activation);
const char* name_of(PositionKind kind);
const char* name_of(Architecture architecture);
// "mamba", "mamba2", "delta_net", "short_convolution".
const char* name_of(const Recurrence& recurrence);

}  // namespace flopwise
