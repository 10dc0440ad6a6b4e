// What a family of Hugging Face models has in common: the part of a model that its config.json does
// not say, because the family's code fixes it, and what an absent field stands for.
//
// A family is one row of the table in families.cc; `read` is code only for what a row cannot say.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/model/model.h"

namespace flopwise {

// How a family spells the fields that every decoder has; "" where it has none.
// "n_embed|hidden_size" are two names of one field, of which a file may use either.
struct FieldNames {
  std::string_view d_model = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view kv_heads = "num_key_value_heads";
  std::string_view head_dim = "head_dim";
  std::string_view d_ff = "intermediate_size";
  std::string_view activation = "hidden_act";
  std::string_view positions = "max_position_embeddings";
  std::string_view experts = "num_experts";
  std::string_view active_experts = "num_experts_per_tok";
  std::string_view vocab = "vocab_size";
};

// What an absent size stands for; 0: it must be given.
struct AbsentSizes {
  std::int64_t d_model = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  // 0: as many as heads
  std::int64_t head_dim = 0;  // 0: D/N
  std::int64_t d_ff = 0;
  std::int64_t positions = 0;  // 0: not said
  std::int64_t vocab = 0;
};

// Whether linear maps have biases.
enum class Bias {
  kNever,
  kAlways,
  kQkv,           // attention: on q, k and v, not on o, without a field that says so
  kFieldOrFalse,  // as attention_bias or mlp_bias says; absent: none
  kFieldOrTrue,
  kQkvFieldOrFalse,  // the same, but on q, k and v only
};

// Which layers attend through sliding_window, unless layer_types lists them.
enum class WindowRule {
  kNone,
  kAll,
  kLate,         // with use_sliding_window, those from max_window_layers on
  kAlternating,  // all but every n-th, n = sliding_window_pattern
  kLocal,        // those that attention_types calls local, window_size wide (GPT-Neo)
};

// Which layers go without their rotary positions.
enum class NopeRule {
  kNone,
  kGlobal,  // where some layers slide, the others (Cohere 2, EXAONE 4)
  kListed,  // the zeros of no_rope_layers, or every n-th, n = no_rope_layer_interval (SmolLM 3)
};

// Which layers are mixtures of experts.
enum class MoeRule {
  kNone,
  kAll,               // every layer; experts are intermediate_size wide (Mixtral)
  kSparse,            // every decoder_sparse_step-th, but none of mlp_only_layers (Qwen 3)
  kSparseWithShared,  // the same, and a gated shared expert (Qwen 2)
  kFirstDense,        // all but the first first_k_dense_replace (DeepSeek)
};

// attn_logit_softcapping and final_logit_softcapping.
enum class Softcap { kNoField, kOffWhenAbsent, kOnWhenAbsent };

struct Family;
struct HeadClass;
struct TowerRow;  // vision.h

// Which layers carry a state instead of attending, where a model has both.
struct HybridPlan {
  std::optional<Recurrence> recurrence;
  std::vector<bool> recurrent;  // one entry a layer
  std::vector<bool> experts;    // the same; empty: by the row's rule
};
const std::vector<HeadClass>& decoder_heads();

// What an absent size of latent attention stands for.
struct AbsentLatent {
  std::int64_t query_rank = 1536;  // q_lora_rank
  std::int64_t kv_rank = 512;      // kv_lora_rank
  std::int64_t nope_dim = 128;     // qk_nope_head_dim
  std::int64_t rope_dim = 64;      // qk_rope_head_dim
  std::int64_t value_dim = 128;    // v_head_dim; 0: D/N
};

// A config.json on its way to a Model.
struct Config {
  const nlohmann::json& object;
  JsonFields fields;
  const Family& family;
  Model model;
  // --as: what the family does not know is left out, not refused.
  bool leaves_out = false;

  // Present, be it as null: where an absent field stands for something else than null.
  bool mentions(std::string_view field) const { return object.find(field) != object.end(); }
};

using IgnoredFields = std::array<std::string_view, 16>;

struct Family {
  std::string_view model_type;
  std::string_view class_name;             // "Llama" of LlamaForCausalLM, LlamaModel, ...
  void (*read)(Config& config) = nullptr;  // fills config.model

  FieldNames names = {};
  AbsentSizes absent = {};
  // Objects whose fields are named "attn_config.kv_n_heads", as if they stood at the top.
  std::array<std::string_view, 2> nested = {};
  const std::vector<HeadClass>& (*heads)() = decoder_heads;  // by class; the first when absent
  NormKind norm = NormKind::kRms;
  NormPlacement placement = NormPlacement::kPre;
  bool parallel = false;                 // attention and feed-forward side by side
  bool shared_norm = false;              // ... behind one norm
  std::string_view activation = "silu";  // when absent
  bool gated = true;
  std::int64_t d_ff_per_d_model = 0;       // F/D when d_ff is absent or null; 0: it must be given
  std::string_view d_ff_ratio_field = {};  // a field that says F/D
  std::int64_t d_ff_parts = 1;             // F is this part of the field (Qwen 1: half)
  Bias mlp_bias = Bias::kNever;
  Bias attention_bias = Bias::kNever;
  std::string_view mlp_bias_field = "mlp_bias";
  std::string_view attention_bias_field = "attention_bias";
  bool head_bias = false;
  QkNorm qk_norm = QkNorm::kNone;
  PositionKind position = PositionKind::kRotary;
  bool reads_rotary_share = false;  // partial_rotary_factor or rotary_pct
  double rotary_share = 1;          // of a head's elements that are rotated, when absent
  std::int64_t rotary_dim = 0;      // their number, where the field counts them, when absent
  bool learned_positions = false;
  std::int64_t extra_position_rows = 0;
  std::int64_t unused_position_rows = 0;  // among those of the field (RoBERTa)
  bool tied = false;                      // when tie_word_embeddings is absent
  bool scaled_embedding = false;
  WindowRule window_rule = WindowRule::kNone;
  std::int64_t window = 0;          // sliding_window when absent; 0: none
  std::int64_t window_pattern = 0;  // sliding_window_pattern when absent
  NopeRule nope = NopeRule::kNone;
  MoeRule moe = MoeRule::kNone;
  RouterScore router = RouterScore::kTopKThenSoftmax;  // of MoeRule::kAll; of kFirstDense
                                                       // sigmoid or softmax before top-k
  bool renormalises = false;                           // when norm_topk_prob is absent
  double routed_scaling = 1;                           // of kFirstDense, when absent
  std::int64_t first_dense = 0;                        // the same
  HybridPlan (*hybrid)(Config& config, std::int64_t layers) = nullptr;
  bool latent = false;   // latent attention (deepseek.h)
  bool indexer = false;  // index_n_heads, index_head_dim, index_topk, of latent
  AbsentLatent absent_latent = {};
  Softcap softcap = Softcap::kNoField;
  // Of a family whose layers differ one by one: lists them (listed.cc). `base` has the attention of
  // the row and an Mlp without a width.
  void (*list_layers)(Config& config, const Layer& base, std::int64_t layers,
                      LayerList& list) = nullptr;
  // What the row cannot say, for one layer and the stack around it.
  void (*adjust)(Config& config, Layer& layer, Stack& stack) = nullptr;
  void (*adjust_moe)(Config& config, Moe& moe) = nullptr;  // the same for its experts
  std::int64_t (*adjust_d_ff)(Config& config, std::int64_t d_ff) = nullptr;  // and for F
  // Fields whose names sound like cost, but which the family's code does not use; * as in
  // unread.cc.
  IgnoredFields ignored = {};
  // Of a model with a vision tower: the row of the text model, and the tower in vision_config.
  std::string_view text_type = {};  // "*": as text_config says, any decoder; absent: Llama
  std::string_view text_field = "text_config";
  const TowerRow* tower = nullptr;
  // Text and tower being read, what concerns both.
  void (*join)(Config& config) = nullptr;
  std::string_view mtp_field = {};  // counts layers that predict further tokens
  // Where one model_type stands for several models: the row of this one.
  const Family& (*variant)(const nlohmann::json& config) = nullptr;
};

// The same row for another model_type.
constexpr Family renamed(Family row, std::string_view model_type, std::string_view class_name) {
  row.model_type = model_type;
  row.class_name = class_name;
  return row;
}

// The same row, with layers that predict further tokens.
constexpr Family with_mtp(Family row, std::string_view field) {
  row.mtp_field = field;
  return row;
}

// All families, in the order in which they are documented.
std::span<const Family> families();
// By model_type; nullptr when there is none.
const Family* find_family(std::string_view model_type);

// ---- readers ---------------------------------------------------------------------------------

void read_decoder(Config& config);  // a decoder-only stack, from the row's facts
// text_config, a model of `family`, of a file without vision_config; `finish`, if not null, says
// what the row cannot.
void read_text_config(Config& config, Family family, void (*finish)(Config& text));
// The text model, at the top or in text_config, and the tower beside it.
void read_with_tower(Config& config);
// The tower of a config whose text model is read.
void add_vision_tower(Config& config);
// The text model that text_config itself names.
void read_any_text(Config& config);
// The fields at the top as those of a text model of `row`.
void read_text_beside(Config& config, const Family& row);
void read_vit(Config& config);
void read_clip(Config& config);
void read_whisper(Config& config);
void read_llava(Config& config);
void read_mllama(Config& config);
void read_minicpmv(Config& config);
void read_qwen2_audio(Config& config);
void read_qwen25_omni(Config& config);
void read_qwen25_omni_thinker(Config& config);
void read_vision_encoder_decoder(Config& config);
const std::vector<HeadClass>& internvl_heads();
void join_idefics3(Config& config);
const std::vector<HeadClass>& vit_heads();
void read_t5(Config& config);
void read_bert(Config& config);
const std::vector<HeadClass>& bart_heads();
const std::vector<HeadClass>& bert_heads();
const std::vector<HeadClass>& chatglm_heads();
const std::vector<HeadClass>& distilbert_heads();
const std::vector<HeadClass>& modernbert_heads();
const std::vector<HeadClass>& nomic_bert_heads();
const std::vector<HeadClass>& reward_heads();
const std::vector<HeadClass>& roberta_heads();

void read_distilbert(Config& config);
void read_modernbert(Config& config);
void read_nomic_bert(Config& config);
void read_bart(Config& config);

void adjust_baichuan(Config& config, Layer& layer, Stack& stack);
void adjust_bloom(Config& config, Layer& layer, Stack& stack);
void adjust_chatglm(Config& config, Layer& layer, Stack& stack);
void adjust_chatglm1(Config& config, Layer& layer, Stack& stack);
void adjust_cohere(Config& config, Layer& layer, Stack& stack);
void adjust_cohere2(Config& config, Layer& layer, Stack& stack);
void adjust_dbrx(Config& config, Layer& layer, Stack& stack);
void adjust_falcon(Config& config, Layer& layer, Stack& stack);

void read_gemma4(Config& config);  // text_config, or the text model alone
void read_llama4(Config& config);  // text_config, or the text model alone

void read_mamba(Config& config);
void read_nemotron_h(Config& config);
HybridPlan plan_jamba(Config& config, std::int64_t layers);
HybridPlan plan_lfm2(Config& config, std::int64_t layers);
HybridPlan plan_qwen3_next(Config& config, std::int64_t layers);
std::int64_t lfm2_d_ff(Config& config, std::int64_t d_ff);
void adjust_qwen3_next(Config& config, Layer& layer, Stack& stack);

void list_hunyuan(Config& config, const Layer& base, std::int64_t layers, LayerList& list);
void list_mimo_v2(Config& config, const Layer& base, std::int64_t layers, LayerList& list);
void list_nemotron_nas(Config& config, const Layer& base, std::int64_t layers, LayerList& list);
void list_step3(Config& config, const Layer& base, std::int64_t layers, LayerList& list);
void adjust_fuyu(Config& config, Layer& layer, Stack& stack);
void adjust_hunyuan(Config& config, Layer& layer, Stack& stack);
void adjust_persimmon(Config& config, Layer& layer, Stack& stack);
void adjust_step3(Config& config, Layer& layer, Stack& stack);
const std::vector<HeadClass>& step3_heads();

void read_albert(Config& config);
void read_deberta(Config& config);
const std::vector<HeadClass>& albert_heads();
const std::vector<HeadClass>& deberta_heads();

void adjust_gpt_oss(Config& config, Layer& layer, Stack& stack);
void adjust_gpt_oss_moe(Config& config, Moe& moe);
void adjust_minimax_m2_moe(Config& config, Moe& moe);
void adjust_glm4_moe(Config& config, Layer& layer, Stack& stack);
void adjust_minimax_m2(Config& config, Layer& layer, Stack& stack);
void adjust_gpt2(Config& config, Layer& layer, Stack& stack);
void adjust_gpt_bigcode(Config& config, Layer& layer, Stack& stack);
void adjust_gpt_neo(Config& config, Layer& layer, Stack& stack);
void adjust_gpt_neox(Config& config, Layer& layer, Stack& stack);
void adjust_gptj(Config& config, Layer& layer, Stack& stack);
void adjust_granite(Config& config, Layer& layer, Stack& stack);
void adjust_grok1(Config& config, Layer& layer, Stack& stack);
void adjust_minicpm(Config& config, Layer& layer, Stack& stack);
void adjust_mpt(Config& config, Layer& layer, Stack& stack);
void adjust_olmo(Config& config, Layer& layer, Stack& stack);
void adjust_opt(Config& config, Layer& layer, Stack& stack);
void adjust_phi(Config& config, Layer& layer, Stack& stack);
void adjust_phimoe(Config& config, Layer& layer, Stack& stack);
void adjust_qwen1(Config& config, Layer& layer, Stack& stack);
void adjust_refined_web(Config& config, Layer& layer, Stack& stack);
void adjust_reward_model(Config& config, Layer& layer, Stack& stack);
void adjust_stablelm(Config& config, Layer& layer, Stack& stack);
void adjust_starcoder2(Config& config, Layer& layer, Stack& stack);
void adjust_xglm(Config& config, Layer& layer, Stack& stack);

}  // namespace flopwise
