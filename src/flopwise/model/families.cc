// The families of Hugging Face models that are understood: one row each.
//
// A row says what differs from a Llama: pre-norm with RMS norms, a gated silu MLP, rotary
// positions, no bias, an untied head, causal attention. Defaults of absent fields are those of the
// family's configuration class in Hugging Face transformers.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "flopwise/base/error.h"
#include "flopwise/base/names.h"
#include "flopwise/model/families/encoder_rows.h"
#include "flopwise/model/families/family.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/gemma_rows.h"
#include "flopwise/model/families/gpt_rows.h"
#include "flopwise/model/families/hybrid_rows.h"
#include "flopwise/model/families/listed_rows.h"
#include "flopwise/model/families/llama_rows.h"
#include "flopwise/model/families/sparse_rows.h"
#include "flopwise/model/families/tower_rows.h"
#include "flopwise/model/families/unread.h"
#include "flopwise/model/families/vision_rows.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

constexpr FieldNames kGpt2Names = {.d_model = "n_embd",
                                   .layers = "n_layer",
                                   .heads = "n_head",
                                   .kv_heads = "",
                                   .head_dim = "",
                                   .d_ff = "n_inner",
                                   .activation = "activation_function",
                                   .positions = "n_positions"};
constexpr FieldNames kOptNames = {
    .kv_heads = "", .head_dim = "", .d_ff = "ffn_dim", .activation = "activation_function"};
constexpr FieldNames kGptNeoxNames = {.kv_heads = "", .head_dim = ""};
constexpr FieldNames kMixtralNames = {.experts = "num_local_experts"};

constexpr AbsentSizes kGpt2Absent = {.positions = 1024};

constexpr Family kGpt2 = {
    .model_type = "gpt2",
    .class_name = "GPT2",
    .read = read_decoder,
    .names = kGpt2Names,
    .absent = kGpt2Absent,
    .norm = NormKind::kLayer,
    .activation = "gelu_new",
    .gated = false,
    .d_ff_per_d_model = 4,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kAlways,
    .position = PositionKind::kNone,
    .learned_positions = true,
    .tied = true,
    .adjust = adjust_gpt2,
    .ignored = {"summary_*", "reorder_and_upcast_attn"},
};

constexpr Family kGptNeox = {
    .model_type = "gpt_neox",
    .class_name = "GPTNeoX",
    .read = read_decoder,
    .names = kGptNeoxNames,
    .norm = NormKind::kLayer,
    .activation = "gelu",
    .gated = false,
    .mlp_bias = Bias::kAlways,
    .attention_bias = Bias::kFieldOrTrue,
    .reads_rotary_share = true,
    .rotary_share = 0.25,
    .adjust = adjust_gpt_neox,
};

constexpr Family kOpt = {
    .model_type = "opt",
    .class_name = "OPT",
    .read = read_decoder,
    .names = kOptNames,
    .absent = {.positions = 2048},
    .norm = NormKind::kLayer,
    .activation = "relu",
    .gated = false,
    .position = PositionKind::kNone,
    .learned_positions = true,
    .extra_position_rows = 2,
    .tied = true,
    .adjust = adjust_opt,
    .ignored = {"output_projection"},
};

constexpr Family kLlama = {
    .model_type = "llama",
    .class_name = "Llama",
    .read = read_decoder,
    .mlp_bias = Bias::kFieldOrFalse,
    .attention_bias = Bias::kFieldOrFalse,
};

constexpr Family kMistral = {
    .model_type = "mistral",
    .class_name = "Mistral",
    .read = read_decoder,
    .window_rule = WindowRule::kAll,
    .window = 4096,
};

constexpr Family kMixtral = {
    .model_type = "mixtral",
    .class_name = "Mixtral",
    .read = read_decoder,
    .names = kMixtralNames,
    .window_rule = WindowRule::kAll,
    .moe = MoeRule::kAll,
};

constexpr Family kQwen2 = {
    .model_type = "qwen2",
    .class_name = "Qwen2",
    .read = read_decoder,
    .attention_bias = Bias::kQkv,
    .window_rule = WindowRule::kLate,
    .window = 4096,
};

constexpr Family kQwen2Moe = {
    .model_type = "qwen2_moe",
    .class_name = "Qwen2Moe",
    .read = read_decoder,
    .attention_bias = Bias::kQkv,
    .window_rule = WindowRule::kLate,
    .window = 4096,
    .moe = MoeRule::kSparseWithShared,
};

constexpr Family kQwen3 = {
    .model_type = "qwen3",
    .class_name = "Qwen3",
    .read = read_decoder,
    .absent = {.head_dim = 128},
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kPerHead,
    .window_rule = WindowRule::kLate,
    .window = 4096,
};

constexpr Family kQwen3Moe = {
    .model_type = "qwen3_moe",
    .class_name = "Qwen3Moe",
    .read = read_decoder,
    .attention_bias = Bias::kFieldOrFalse,
    .qk_norm = QkNorm::kPerHead,
    .window_rule = WindowRule::kLate,
    .window = 4096,
    .moe = MoeRule::kSparse,
};

constexpr Family kPhi3 = {
    .model_type = "phi3",
    .class_name = "Phi3",
    .read = read_decoder,
    .reads_rotary_share = true,
    .window_rule = WindowRule::kAll,
};

constexpr Family kT5 = {
    .model_type = "t5",
    .class_name = "T5",
    .read = read_t5,
    .activation = "relu",
    .tied = true,
    .ignored = {"is_encoder_decoder", "relative_attention_max_distance"},
};

constexpr Family kMt5 = {
    .model_type = "mt5",
    .class_name = "MT5",
    .read = read_t5,
    .activation = "gated-gelu",
    .ignored = {"is_encoder_decoder", "relative_attention_max_distance"},
};

constexpr Family kBert = {
    .model_type = "bert",
    .class_name = "Bert",
    .read = read_bert,
    .absent = {.positions = 512},
    .heads = bert_heads,
    .norm = NormKind::kLayer,
    .placement = NormPlacement::kPost,
    .activation = "gelu",
    .gated = false,
    .tied = true,
    .ignored = {"pooler_*"},
};

// The first ChatGLM gives the width of its feed-forward under another name, or not at all.
const Family& chatglm_variant(const nlohmann::json& config) {
  const bool is_first = config.contains("inner_hidden_size") ||
                        config.contains("position_encoding_2d") ||
                        !config.contains("ffn_hidden_size");
  return is_first ? kChatGlm1 : kChatGlm2;
}

constexpr Family chatglm() {
  Family family = kChatGlm2;
  family.variant = chatglm_variant;
  return family;
}

constexpr Family mimo() {
  Family family = with_mtp(renamed(kQwen2, "mimo", "MiMo"), "num_nextn_predict_layers");
  family.attention_bias = Bias::kQkvFieldOrFalse;
  return family;
}
constexpr Family kMimo = mimo();
constexpr Family kQwen2VlText = renamed(kQwen2, "qwen2_vl_text", "Qwen2VL");
constexpr Family kQwen25OmniText = renamed(kQwen2, "qwen2_5_omni_text", "Qwen2_5Omni");
constexpr Family kQwen25VlText = renamed(kQwen2, "qwen2_5_vl_text", "Qwen2_5_VL");
constexpr Family kQwen3VlText = renamed(kQwen3, "qwen3_vl_text", "Qwen3VL");
constexpr Family kQwen3VlMoeText = renamed(kQwen3Moe, "qwen3_vl_moe_text", "Qwen3VLMoe");

constexpr Family kFamilies[] = {
    // GPT-2 to Phi
    kGpt2, kGptNeox, kOpt, kGptj, kCodegen, kGptNeo, kGptNeoxReward, kBloom, kFalcon, kRefinedWeb,
    kRefinedWebModel, kMpt, kGptBigcode, kStarcoder2, kPhi, kMixformer, kNemotron, kXglm,
    // Llama and its relatives
    kLlama, kMistral, kMixtral, kQwen2, kQwen2Moe, kQwen3, kQwen3Moe, kMimo, kGemma, kGemma2,
    kGemma3Text, kGemma4, kGemma4Text, kPhi3, kBaichuan, kInternlm, kInternlm2, kPanguEmbedded,
    kQwen, chatglm(), kGlm, kGlm4, kCohere, kCohere2, kStablelm, kStablelmEpoch, kOlmo, kOlmo2,
    kOlmo3, kOlmoe, kExaone4, kSmollm3, kGranite, kGraniteMoe, kMinicpm, kPhimoe, kDbrx, kGrok1,
    kPersimmon, kFuyu,
    // encoders and encoder-decoders
    kT5, kMt5, kBert, kRoberta, kXlmRoberta, kCamembert, kDistilbert, kModernbert, kNomicBert,
    kAlbert, kDebertaV2, kBart, kMbart, kMarian,
    // latent attention, sinks, chunks, many small experts
    kDeepseekV2, kDeepseekV3, kKimiK2, kDeepseekV32, kGlmMoeDsa, kMinicpm3, kGlm4MoeLite, kGlm4Moe,
    kGptOss, kMinimaxM2, kLlama4, kLlama4Text,
    // layers that differ one by one
    kMimoV2Flash, kStep3p5, kStep3p7, kHunyuanV1Moe, kNemotronNas,
    // layers that carry a state
    kMamba, kJamba, kQwen3Next, kLfm2, kNemotronH,
    // images and sound, and their text models by themselves
    kGemma3, kQwen2Vl, kQwen25Vl, kQwen3Vl, kQwen3VlMoe, kQwen35, kQwen35Moe, kVit, kClip, kWhisper,
    kLlava, kLlavaLlama, kMllama, kInternVl, kIdefics3, kSmolVlm, kGlm4v, kKimiK25, kMiniCpmV,
    kQwen2Audio, kQwen25Omni, kQwen25OmniThinker, kVisionEncoderDecoder, kMllamaText, kGlm4vText,
    kQwen25OmniText, kQwen2VlText, kQwen25VlText, kQwen3VlText, kQwen3VlMoeText, kQwen35Text,
    kQwen35MoeText};

// The family of a class such as LlamaForCausalLM, for files without model_type.
const Family* family_of_class(std::string_view name) {
  for (const Family& family : families()) {
    if (!name.starts_with(family.class_name)) continue;
    const std::string_view suffix = name.substr(family.class_name.size());
    if (suffix == "Model" || suffix == "LMHeadModel" || suffix.starts_with("For")) return &family;
  }
  return nullptr;
}

// Types whose architecture is known, but that no row describes yet.
struct NotRead {
  std::string_view model_type;
  std::string_view why;
};
constexpr NotRead kNotRead[] = {
    {"minimax_m3",
     "queries that see only the blocks of keys that an index of "
     "sparse_attention_config chooses are not counted yet"},
};

const Family& named_family(JsonFields& fields) {
  const std::string model_type = fields.text("model_type");
  if (const Family* family = find_family(model_type)) return *family;
  for (const NotRead& known : kNotRead) {
    if (known.model_type != model_type) continue;
    throw UserError(
        fmt::format("{}: {}, got {}", fields.where("model_type"), known.why, quoted(model_type)));
  }
  throw UserError(fmt::format("{}: unknown model_type {}, nearest: {}", fields.file(),
                              quoted(model_type),
                              fmt::join(nearest_names(model_type, known_model_types()), ", ")));
}

// The files beside the code that DeepSeek and OpenAI published name neither a type nor a class.
const Family* family_of_fields(JsonFields& fields) {
  if (fields.has("moe_inter_dim") && fields.has("n_dense_layers")) {
    const bool is_v3 = fields.text_or("score_func", "softmax") == "sigmoid";
    return find_family(is_v3 ? "deepseek_v3" : "deepseek_v2");
  }
  if (fields.has("experts_per_token") && fields.has("initial_context_length")) {
    return find_family("gpt_oss");
  }
  return nullptr;
}

const Family& guessed_family(JsonFields& fields, std::vector<std::string>& assumptions) {
  for (const std::string& name : fields.texts_or("architectures", {})) {
    if (const Family* family = family_of_class(name)) {
      assumptions.push_back(fmt::format("model_type is absent: {}, since architectures has {}",
                                        family->model_type, name));
      return *family;
    }
  }
  if (const Family* family = family_of_fields(fields)) {
    assumptions.push_back(
        fmt::format("model_type is absent: {}, by the names of the fields", family->model_type));
    return *family;
  }
  throw UserError(
      fmt::format("{}: missing, expected one of docs/models.md", fields.where("model_type")));
}

// The fields of objects such as attn_config moved to the top, under names that say where they were.
nlohmann::json with_nested_fields(const nlohmann::json& config, const Family& family) {
  nlohmann::json flat = config;
  for (const std::string_view name : family.nested) {
    const auto nested = flat.find(name);
    if (name.empty() || nested == flat.end() || !nested->is_object()) continue;
    const nlohmann::json object = *nested;
    flat.erase(nested);
    for (const auto& [field, value] : object.items()) {
      const std::string path = fmt::format("{}.{}", name, field);
      if (value.is_object() && field == "ffn_act_fn") {
        for (const auto& [inner, said] : value.items()) flat[path + "." + inner] = said;
      } else {
        flat[path] = value;
      }
    }
  }
  return flat;
}

// Whether a family of text models finds its sizes in text_config, beside that of a tower.
bool is_in_text_config(const nlohmann::json& json, const Family& family) {
  const auto text = json.find("text_config");
  return family.read == read_decoder && text != json.end() && text->is_object() &&
         !json.contains(family.names.d_model) && text->contains(family.names.d_model);
}

// What stands beside text_config holds for the text model too: its class, and whether it is tied.
nlohmann::json text_config_of(const nlohmann::json& json) {
  nlohmann::json text = json.at("text_config");
  for (const char* field : {"architectures", "tie_word_embeddings"}) {
    if (!text.contains(field) && json.contains(field)) text[field] = json.at(field);
  }
  return text;
}

// The config as a file of the family `as`: its model_type and class are the family's.
nlohmann::json as_family(const nlohmann::json& json, const std::string& name, const std::string& as,
                         std::vector<std::string>& assumptions, std::string& path) {
  const Family* family = find_family(as);
  if (family == nullptr) {
    throw UserError(fmt::format("--as: unknown model_type {}, nearest: {}", quoted(as),
                                fmt::join(nearest_names(as, known_model_types()), ", ")));
  }
  JsonFields fields(json, name);
  nlohmann::json config = json;
  if (is_in_text_config(json, *family)) {
    path = "text_config";
    config = text_config_of(json);
    assumptions.push_back(fmt::format("--as {}: text_config is read, the text model alone", as));
  }
  config["model_type"] = as;
  const std::string said = fields.text_or("model_type", "");
  assumptions.push_back(fmt::format("--as {}: {}", as,
                                    said.empty() ? "the file says no model_type"
                                                 : fmt::format("the file says {}", quoted(said))));
  const std::vector<std::string> classes = fields.texts_or("architectures", {});
  if (classes.empty() || classes.front().starts_with(family->class_name)) return config;
  std::string suffix;
  for (const std::string_view start : {"For", "LMHead", "Model"}) {
    const std::size_t at = classes.front().rfind(start);
    if (at == std::string::npos) continue;
    suffix = classes.front().substr(at);
    break;
  }
  const std::string taken = std::string(family->class_name) + suffix;
  config["architectures"] = {taken};
  assumptions.push_back(
      fmt::format("--as {}: class {} is taken for {}", as, classes.front(), taken));
  return config;
}

}  // namespace

std::span<const Family> families() {
  return kFamilies;
}

const Family* find_family(std::string_view model_type) {
  const auto found = std::find_if(families().begin(), families().end(), [&](const Family& family) {
    return family.model_type == model_type;
  });
  return found == families().end() ? nullptr : &*found;
}

std::vector<std::string> known_model_types() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.model_type);
  return names;
}

Model model_from_config(const nlohmann::json& original, const std::string& name,
                        const std::string& as) {
  Model model;
  std::string path;  // of the object that is read, in the file
  const nlohmann::json json =
      as.empty() ? original : as_family(original, name, as, model.assumptions, path);
  JsonFields fields(json, name, path);
  model.name = model.source = name;
  Family family =
      fields.has("model_type") ? named_family(fields) : guessed_family(fields, model.assumptions);
  if (family.variant != nullptr) family = family.variant(json);
  model.family = family.model_type;
  const nlohmann::json object = with_nested_fields(json, family);
  Config config{object, JsonFields(object, name, path), family, model, !as.empty()};
  config.fields.mark_read("model_type");
  family.names = names_in_use(config);
  family.read(config);
  refuse_unread(config);
  if (fields.has("quantization_config")) {
    config.model.assumptions.emplace_back(
        "quantization_config is left out: parameters are those of the unquantised model");
  }
  validate(config.model);
  return config.model;
}

}  // namespace flopwise
