#include "flopwise/model/families/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

struct ActivationName {
  std::string_view name;
  Activation activation;
};
// As in the ACT2FN table of Hugging Face transformers; all tanh approximations of gelu cost alike.
constexpr ActivationName kActivations[] = {
    {"gelu",              Activation::kGelu    },
    {"gelu_python",       Activation::kGelu    },
    {"gelu_new",          Activation::kGeluTanh},
    {"gelu_fast",         Activation::kGeluTanh},
    {"gelu_accurate",     Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu",              Activation::kRelu    },
    {"relu2",             Activation::kRelu2   },
    {"silu",              Activation::kSilu    },
    {"swish",             Activation::kSilu    },
    {"tanh",              Activation::kTanh    },
};

bool has_vocab(HeadKind kind) {
  return kind == HeadKind::kLanguageModel || kind == HeadKind::kMaskedLm ||
         kind == HeadKind::kPretraining;
}

bool has_labels(HeadKind kind) {
  return kind == HeadKind::kPooledLabels || kind == HeadKind::kTokenLabels ||
         kind == HeadKind::kSequenceLabels;
}

// How many labels a classifier tells apart: id2label, num_labels, or 2.
std::int64_t read_labels(Config& config) {
  const nlohmann::json& names = config.fields.raw("id2label");
  const std::int64_t number = config.fields.integer_or("num_labels", 2, 1, kMaxAxisSize);
  return names.is_object() && !names.empty() ? static_cast<std::int64_t>(names.size()) : number;
}

// ---- what nobody read ------------------------------------------------------------------------

// A field whose name contains one of these could change a count.
constexpr std::string_view kSuspicious[] = {"act_fn",    "activation", "adapter",  "alibi",
                                            "attention", "attn",       "audio",    "bias",
                                            "block",     "chunk",      "_config",  "conv",
                                            "cross",     "decoder",    "dense",    "depth",
                                            "dim",       "embd",       "embed",    "encoder",
                                            "expert",    "ffn",        "gate",     "group",
                                            "head",      "hidden",     "index_",   "inner",
                                            "inter",     "kernel",     "kv",       "latent",
                                            "layer",     "linear",     "lora",     "mamba",
                                            "memory",    "mla",        "mlp",      "moe",
                                            "mtp",       "mult",       "nextn",    "norm",
                                            "parallel",  "partial",    "pattern",  "pool",
                                            "position",  "proj",       "query",    "rank",
                                            "rotary",    "rout",       "share",    "sink",
                                            "softcap",   "sparse",     "ssm",      "stack",
                                            "state",     "tie",        "topk",     "tower",
                                            "vision",    "vocab",      "width",    "window",
                                            "bidirect",  "causal",     "codebook", "d_ff",
                                            "d_model",   "emb_",       "feed",     "forward_length",
                                            "glu",       "image",      "loop",     "medusa",
                                            "n_ff",      "patch",      "recurr",   "rope",
                                            "swa",       "tying",      "virtual"};

// ... but these, of any family, do not: numerics, dropout (off by convention), generation, training
// and file keeping. A leading or trailing * stands for anything.
constexpr std::string_view kHarmless[] = {
    "*_eps",
    "*_epsilon",
    "*_token_id",
    "*_token_ids",
    "*_token_index",
    "*_implementation",
    "*_implementation_*",
    "*dropout*",
    "*_pdrop",
    "layerdrop",
    "*initializer*",
    "init_*",
    "use_scaled_init*",
    "*flash_attn*",
    "*flash_attention*",
    "use_memory_efficient_attention",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "rope_theta",
    "rope_scaling",
    "rope_type",
    "rope_parameters",
    "rope_local_base_freq",
    "rope_interleaved",
    "sbert_*",
    "summary_*",
    "mm_tokens_per_image",
    "full_attn_mod",
    "interpolate_factor",
    "rotary_emb_base",
    "original_max_position_embeddings",
    "chunk_size_feed_forward",
    "encoder_no_repeat_ngram_size",
    "num_beam_groups",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "router_z_loss_coef",
    "quantization*",
    "compression_config",
    "generation_config",
    "pretraining_tp",
    "tensor_parallel*",
    "pipeline_parallel*",
    "use_parallel_embedding",
};

bool matches(std::string_view pattern, std::string_view name) {
  const bool any_start = pattern.starts_with('*');
  const bool any_end = pattern.ends_with('*');
  if (any_start) pattern.remove_prefix(1);
  if (any_end) pattern.remove_suffix(1);
  if (any_start && any_end) return name.find(pattern) != std::string_view::npos;
  if (any_start) return name.ends_with(pattern);
  return any_end ? name.starts_with(pattern) : name == pattern;
}

bool could_change_a_cost(const std::string& field, const Family& family) {
  const std::string name = lower_case(field);
  const auto contains = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const auto fits = [&](std::string_view pattern) { return matches(pattern, name); };
  return std::any_of(std::begin(kSuspicious), std::end(kSuspicious), contains) &&
         std::none_of(std::begin(kHarmless), std::end(kHarmless), fits) &&
         std::none_of(family.ignored.begin(), family.ignored.end(), fits);
}

bool is_switched_off(const nlohmann::json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

}  // namespace

std::int64_t read_size(Config& config, std::string_view field, std::int64_t absent) {
  if (absent == 0 || config.fields.has(field)) {
    return config.fields.integer(field, 1, kMaxAxisSize);
  }
  config.fields.mark_read(field);
  config.model.assumptions.push_back(fmt::format("{} is absent: {}", field, absent));
  return absent;
}

Activation activation_called(std::string_view name, const std::string& where) {
  std::string known;
  for (const ActivationName& row : kActivations) {
    if (row.name == name) return row.activation;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  throw UserError(fmt::format("{}: unknown activation {}, known: {}", where, quoted(name), known));
}

Activation read_activation(Config& config, std::string_view field, std::string_view absent) {
  const std::string name = config.fields.text_or(field, std::string(absent));
  return activation_called(name, config.fields.where(field));
}

std::string_view spelling_of(const Config& config, std::initializer_list<std::string_view> fields) {
  const auto* found = std::find_if(fields.begin(), fields.end(),
                                   [&](std::string_view field) { return config.mentions(field); });
  return found == fields.end() ? *fields.begin() : *found;
}

std::string class_suffix(Config& config) {
  const std::vector<std::string> classes = config.fields.texts_or("architectures", {});
  if (classes.empty()) return "";
  const std::string& name = classes.front();
  const std::string_view prefix = config.family.class_name;
  // In lower case, because old files say LLaMAForCausalLM.
  if (lower_case(name).starts_with(lower_case(prefix))) return name.substr(prefix.size());
  throw UserError(fmt::format("{}: expected a class of model_type '{}', such as {}Model, got {}",
                              config.fields.where("architectures"), config.family.model_type,
                              prefix, quoted(name)));
}

Head read_head(Config& config, const std::vector<HeadClass>& known) {
  const std::string suffix = class_suffix(config);
  const auto found = std::find_if(known.begin(), known.end(), [&](const HeadClass& row) {
    return suffix.empty() || row.suffix == suffix;
  });
  if (found == known.end()) {
    std::string names;
    for (const HeadClass& row : known) {
      names +=
          fmt::format("{}{}{}", names.empty() ? "" : ", ", config.family.class_name, row.suffix);
    }
    throw UserError(fmt::format("{}: unknown class {}, known: {}",
                                config.fields.where("architectures"),
                                quoted(std::string(config.family.class_name) + suffix), names));
  }
  Head head;
  head.kind = found->kind;
  head.tied =
      config.fields.boolean_or("tie_word_embeddings", config.family.tied) && has_vocab(head.kind);
  if (has_labels(head.kind)) head.labels = read_labels(config);
  return head;
}

const std::vector<HeadClass>& decoder_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"ForCausalLM",               HeadKind::kLanguageModel },
      {"LMHeadModel",               HeadKind::kLanguageModel },
      {"ForConditionalGeneration",  HeadKind::kLanguageModel },
      {"Model",                     HeadKind::kNone          },
      {"ForSequenceClassification", HeadKind::kSequenceLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels   },
  };
  return kHeads;
}

void refuse_unread(const Config& config) {
  for (const std::string& field : config.fields.unread()) {
    const nlohmann::json& value = *config.object.find(field);
    if (is_switched_off(value) || !could_change_a_cost(field, config.family)) continue;
    const std::string path = config.fields.where(field).substr(config.fields.file().size() + 2);
    throw UserError(fmt::format("{}: field {} = {} is not understood for model_type '{}'",
                                config.fields.file(), quoted(path), shown(value),
                                config.family.model_type));
  }
}

}  // namespace flopwise
