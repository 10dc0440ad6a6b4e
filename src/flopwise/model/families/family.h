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

#include "flopwise/base/json.h"
#include "flopwise/model/model.h"

namespace flopwise {

// How a family spells the fields that every decoder has; "" where it has none.
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
};

// Which layers attend through sliding_window, unless layer_types lists them.
enum class WindowRule {
  kNone,
  kAll,
  kLate,         // with use_sliding_window, those from max_window_layers on
  kAlternating,  // all but every n-th, n = sliding_window_pattern
};

// Which layers are mixtures of experts.
enum class MoeRule {
  kNone,
  kAll,               // every layer; experts are intermediate_size wide (Mixtral)
  kSparse,            // every decoder_sparse_step-th, but none of mlp_only_layers (Qwen 3)
  kSparseWithShared,  // the same, and a gated shared expert (Qwen 2)
};

// attn_logit_softcapping and final_logit_softcapping.
enum class Softcap { kNoField, kOffWhenAbsent, kOnWhenAbsent };

struct Family;

// A config.json on its way to a Model.
struct Config {
  const nlohmann::json& object;
  JsonFields fields;
  const Family& family;
  Model model;

  // Present, be it as null: where an absent field stands for something else than null.
  bool mentions(std::string_view field) const { return object.find(field) != object.end(); }
};

struct Family {
  std::string_view model_type;
  std::string_view class_name;             // "Llama" of LlamaForCausalLM, LlamaModel, ...
  void (*read)(Config& config) = nullptr;  // fills config.model

  FieldNames names = {};
  AbsentSizes absent = {};
  NormKind norm = NormKind::kRms;
  NormPlacement placement = NormPlacement::kPre;
  std::string_view activation = "silu";  // when absent
  bool gated = true;
  std::int64_t d_ff_per_d_model = 0;  // F/D when d_ff is absent or null; 0: it must be given
  Bias mlp_bias = Bias::kNever;
  Bias attention_bias = Bias::kNever;
  QkNorm qk_norm = QkNorm::kNone;
  PositionKind position = PositionKind::kRotary;
  bool reads_rotary_share = false;  // partial_rotary_factor or rotary_pct
  double rotary_share = 1;          // of a head's elements that are rotated, when absent
  bool learned_positions = false;
  std::int64_t extra_position_rows = 0;
  bool tied = false;  // when tie_word_embeddings is absent
  bool scaled_embedding = false;
  WindowRule window_rule = WindowRule::kNone;
  std::int64_t window = 0;          // sliding_window when absent; 0: none
  std::int64_t window_pattern = 0;  // sliding_window_pattern when absent
  MoeRule moe = MoeRule::kNone;
  Softcap softcap = Softcap::kNoField;
  // What the row cannot say, for one layer and the stack around it.
  void (*adjust)(Config& config, Layer& layer, Stack& stack) = nullptr;
  // Fields whose names sound like cost, but which the family's code does not use; * as in
  // unread.cc.
  std::array<std::string_view, 4> ignored = {};
};

// All families, in the order in which they are documented.
std::span<const Family> families();
// By model_type; nullptr when there is none.
const Family* find_family(std::string_view model_type);

// ---- readers ---------------------------------------------------------------------------------

void read_decoder(Config& config);  // a decoder-only stack, from the row's facts
void read_gemma3(Config& config);   // text_config of a Gemma 3 without vision
void read_t5(Config& config);
void read_bert(Config& config);

void adjust_gpt2(Config& config, Layer& layer, Stack& stack);
void adjust_gpt_neox(Config& config, Layer& layer, Stack& stack);
void adjust_opt(Config& config, Layer& layer, Stack& stack);

}  // namespace flopwise
