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
#include <string_view>
#include <variant>
#include <vector>

#include "flopwise/graph/mask.h"

namespace flopwise {

enum class NormKind {
  kRms,          // weight [D]
  kLayer,        // weight and bias [D]
  kLayerNoBias,  // weight [D]
  kNoParams,     // layer norm without weight or bias
  kRmsNoParams,  // RMS norm without weight
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
// query's own; h, the half width of a two-sided window; C, the chunk; P, the prefix; Sx, how many
// an indexer chooses, this layer's own or an earlier layer's. Unused for full and causal.
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

// Scores all keys for each query with small heads of its own, so that attention sees only the best
// of them (DeepSeek-V3.2, arXiv:2512.02556). Learns apart from the loss.
struct Indexer {
  std::int64_t heads = 0;     // Ni
  std::int64_t head_dim = 0;  // Hi, of queries and of the one key a position; rope_dim are rotated
  friend bool operator==(const Indexer&, const Indexer&) = default;
};

// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): keys and values are made from one
// latent vector a position, which is all that the cache holds beside a rotated key that all heads
// share. A head's query and key have a part of each kind.
struct LatentAttention {
  std::int64_t query_rank = 0;  // Cq; 0: queries come from the hidden state
  std::int64_t kv_rank = 0;     // Ckv
  std::int64_t nope_dim = 0;    // Hn, not rotated
  std::int64_t rope_dim = 0;    // Hr, even
  std::optional<Indexer> indexer;
  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

enum class OutputGate {
  kNone,
  kPerElement,  // attention output times sigmoid(x W), W [D,N,H] (Qwen3-Next)
  kPerHead,     // the same, W [D,N]
};

// Whose keys and values a layer attends to.
enum class KvSharing {
  kNone,   // its own
  kGives,  // its own, which it hands to later layers under a name
  kTakes,  // an earlier layer's: no matrices for keys and values, no cache (Gemma 3n and 4)
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
  bool v_norm = false;          // RMS norm without weight of each value head (Gemma 4)
  bool keys_as_values = false;  // values are what keys are before their norm and rotation
  KvSharing kv_sharing = KvSharing::kNone;
  std::string shared_kv;  // the name under which keys and values are given and taken
  bool sinks = false;     // a learned score a head that takes part in each softmax (gpt-oss)
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
  // Routed and shared experts each behind norms of their own, before and after; the router reads
  // the residual stream through a norm without weight, times a vector [D]; each expert's weight
  // times a learned number (Gemma 4).
  bool own_norms = false;
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

// What the output of each block of a layer is multiplied by before it joins the residual stream.
enum class BranchScale {
  kNone,
  kTanhScalar,  // the tanh of one learned number (Mllama's gates)
  kPerElement,  // a learned vector [D] (LayerScale, arXiv:2103.17239)
};

struct NoFeedForward {
  friend bool operator==(const NoFeedForward&, const NoFeedForward&) = default;
};

// One matrix [D,D] where others have attention or a feed-forward (Nemotron NAS).
struct LinearMap {
  bool bias = false;
  friend bool operator==(const LinearMap&, const LinearMap&) = default;
};

// What mixes positions is attention, a recurrence, cross-attention or nothing, where a linear map
// may stand instead; a layer without feed-forward is that alone.
struct Layer {
  NormKind norm = NormKind::kRms;
  NormPlacement placement = NormPlacement::kPre;
  bool parallel = false;         // x + attention(norm(x)) + mlp(norm(x))
  bool shared_norm = false;      // parallel with one norm for both
  bool attention_norm = true;    // false: attention reads x as it is (layer 0 of ModernBERT)
  bool scaled_residual = false;  // one addend of each residual sum times a constant (Granite)
  BranchScale branch_scale = BranchScale::kNone;
  std::optional<Attention> attention = Attention{};
  std::optional<Recurrence> recurrence;
  std::optional<LinearMap> linear;  // in place of attention
  // Over the encoder's output, or over what a tower makes (Mllama); its mask is kFull.
  std::optional<Attention> cross;
  std::variant<Mlp, Moe, NoFeedForward, LinearMap> feed_forward;
  // Pl: behind the feed-forward, x + norm((act(x Wgate) * e) Wup), where e is this layer's own
  // embedding of the token plus a projection of the shared one (Gemma 3n and 4); 0: none.
  std::int64_t per_layer_dim = 0;
  std::int64_t per_layer_rows = 0;  // Vl, of the layer's table
  bool scaled_output = false;       // what the layer gives times a constant (Gemma 4)
  double dropout = 0;  // after attention output and feed-forward output, in training; 0 is off
  friend bool operator==(const Layer&, const Layer&) = default;
};

// Of the layers first ... end-1 of a stack: those whose number, from 1, is a multiple of `period`,
// or all the others.
struct LayerSpan {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t period = 1;
  bool ends_period = true;

  std::int64_t count_below(std::int64_t layer) const;  // of its layers 0 ... layer-1
  std::int64_t count() const { return count_below(end); }
  friend bool operator==(const LayerSpan&, const LayerSpan&) = default;
};

// `repeat` layers of one kind. The order of layers inside a stack does not change a count; groups
// are listed in the order in which each kind first occurs.
struct LayerGroup {
  std::string
      name;  // "layer"; where a stack has several kinds: "local", "global", "dense", "moe", ...
  Layer layer;
  std::int64_t repeat = 0;
  bool one_set = false;               // all repeats have the same parameters (ALBERT)
  std::vector<LayerSpan> spans = {};  // where they lie; empty: behind those of earlier groups
  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

// Collects layers in order and groups equal ones.
class LayerList {
 public:
  // `name` is used when this kind is new; equal layers share the first name.
  void add(const std::string& name, const Layer& layer, std::int64_t repeat = 1);
  // Those of a span, which starts no earlier than the one before.
  void add(const std::string& name, const Layer& layer, const LayerSpan& span);
  std::vector<LayerGroup> groups() const { return groups_; }

 private:
  std::vector<LayerGroup> groups_;
  std::int64_t end_ = 0;
};

struct Stack {
  std::vector<LayerGroup> groups;
  bool final_norm = true;
  NormKind final_norm_kind = NormKind::kRms;
  friend bool operator==(const Stack&, const Stack&) = default;
};

enum class Architecture { kDecoder, kEncoder, kEncoderDecoder };

// An image cut into tiles, each with patches and a class token of its own (Mllama). Tables hold
// rows for each way of laying tiles out: added to the patches of a tile, to every position, and,
// behind the first kind of layers and a norm, to the positions of a tile again. All three, and the
// rows of positions, through learned gates.
struct Tiles {
  std::int64_t count = 0;    // X
  std::int64_t layouts = 0;  // rows of each table
  friend bool operator==(const Tiles&, const Tiles&) = default;
};

struct Embedding {
  std::int64_t width =
      0;  // 0: D. Otherwise tokens are embedded in `width` and projected to D and back (OPT-350m)
  // Positions, token types and the norm are `width` wide too; the map to D follows them and has a
  // bias (ALBERT).
  bool all_in_width = false;
  std::int64_t positions = 0;  // learned rows; 0: none
  bool sinusoidal = false;     // fixed rows of sines and cosines are added: no parameters (Marian)
  std::int64_t token_types = 0;
  std::int64_t per_layer_dim = 0;  // Pl, where layers have embeddings of their own
  bool norm = false;               // a norm on the sum (BERT, BLOOM)
  NormKind norm_kind = NormKind::kLayer;
  bool scaled = false;  // times a constant: sqrt(D) (Gemma), embedding_multiplier (Granite)
  // Of images: a position is a patch of so many numbers, which one matrix makes a hidden state of,
  // in place of a token id. 0: tokens.
  std::int64_t patch_values = 0;
  bool patch_bias = false;
  bool class_token = false;  // one position more, in front, which is learned
  std::optional<Tiles> tiles;
  std::int64_t spare_tokens = 0;  // rows of the token table that the head lacks (Mllama: 8)
  // mel_bins: the encoder reads a spectrogram of two frames a position through two convolutions
  // over 3 frames (Whisper). source_positions, of an encoder-decoder's encoder: its own learned
  // rows; 0: `positions` of them.
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

// One of several dense layers of a projector.
struct ProjectorLayer {
  std::int64_t width = 0;
  bool bias = false;
  std::optional<NormKind> norm = {};          // of what the matrix gives
  std::optional<Activation> activation = {};  // of that
  bool gated = false;                         // act(x Wgate) * (x Wup)
  friend bool operator==(const ProjectorLayer&, const ProjectorLayer&) = default;
};

// A few learned queries that attend to all positions, whose number they replace (MiniCPM-V): keys
// and values are made from the positions by a matrix without bias and a norm; attention has biases;
// norms before queries and behind the output, then one matrix without bias.
struct Resampler {
  std::int64_t queries = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  NormKind norm = NormKind::kLayer;
  friend bool operator==(const Resampler&, const Resampler&) = default;
};

// What leads from the last hidden states of a tower into another model.
struct Projector {
  enum class Position { kAll, kFirst, kLast, kAllButFirst };
  Position position = Position::kAll;
  std::int64_t merge = 1;  // M neighbours become one, side by side
  bool pools = false;      // ... or as their mean
  std::optional<NormKind> norm;
  bool norm_merged = false;           // over all M of them together
  std::vector<ProjectorLayer> inner;  // dense layers before the last matrix
  std::int64_t out = 0;               // width of the result
  bool bias = false;                  // of the last matrix
  // Hidden states of so many earlier layers stand beside the last ones (Mllama).
  std::int64_t joined = 0;
  std::optional<Resampler> resampler;  // in place of all else but `out`
  std::int64_t merged_copies = 0;      // further ones, each with a norm over all M (Qwen3-VL)
  std::int64_t scalars = 0;            // learned numbers that the result is multiplied by (CLIP)
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

// What files hold beside what runs, for nobody: LLaVA reads CLIP's last layer but one. Parameters,
// but in no step.
struct Unused {
  std::vector<LayerGroup> groups;
  std::optional<NormKind> norm;  // the final norm
  bool pooler = false;           // as HeadKind::kPooler
  std::int64_t rows = 0;         // of the projector's width (Qwen2.5-Omni's marks around a sound)
  friend bool operator==(const Unused&, const Unused&) = default;
};

struct Model;

// Turns images or sound into positions of the model beside it: parameters of its own, run by
// itself.
struct Tower {
  std::string name;  // "vision", "audio"
  std::shared_ptr<const Model> model;
  friend bool operator==(const Tower&, const Tower&) = default;
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
  std::vector<Tower> towers;  // each name once; a tower has none itself
  std::optional<Unused> unused;
  std::vector<std::string> assumptions;  // what a reader took for granted, one line each; printed
  friend bool operator==(const Model&, const Model&) = default;
};

// Whether the decoder's layers, or some, attend to a source: of R positions.
bool has_source(const Model& model);

// The tower of that name; nullptr where the model has none.
const Model* find_tower(const Model& model, std::string_view name);

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
