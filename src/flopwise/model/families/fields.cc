#include "flopwise/model/families/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

struct ActivationName {
  std::string_view name;
  Activation activation;
};
// As in the ACT2FN table of Hugging Face transformers; all tanh approximations of gelu cost alike.
constexpr ActivationName kActivations[] = {
    {"gelu",              Activation::kGelu     },
    {"gelu_python",       Activation::kGelu     },
    {"gelu_new",          Activation::kGeluTanh },
    {"quick_gelu",        Activation::kQuickGelu},
    {"gelu_fast",         Activation::kGeluTanh },
    {"gelu_accurate",     Activation::kGeluTanh },
    {"gelu_pytorch_tanh", Activation::kGeluTanh },
    {"relu",              Activation::kRelu     },
    {"relu2",             Activation::kRelu2    },
    {"silu",              Activation::kSilu     },
    {"swish",             Activation::kSilu     },
    {"tanh",              Activation::kTanh     },
};

bool has_vocab(HeadKind kind) {
  return kind == HeadKind::kLanguageModel || kind == HeadKind::kMaskedLm ||
         kind == HeadKind::kPretraining;
}

bool has_labels(HeadKind kind) {
  return kind == HeadKind::kFirstLabels || kind == HeadKind::kPooledLabels ||
         kind == HeadKind::kTokenLabels || kind == HeadKind::kSequenceLabels;
}

// The entries of an object such as id2label; 0 when it is absent.
std::int64_t count_entries(Config& config, std::string_view field) {
  const nlohmann::json& value = config.fields.raw(field);
  if (value.is_null()) return 0;
  if (!value.is_object()) {
    throw UserError(fmt::format("{}: expected an object with an entry for each label, got {}",
                                config.fields.where(field), shown(value)));
  }
  return static_cast<std::int64_t>(value.size());
}

// How many labels a classifier tells apart: id2label, num_labels, or 2.
std::int64_t read_labels(Config& config) {
  const std::int64_t names = count_entries(config, "id2label");
  const std::int64_t labels =
      config.fields.integer_or("num_labels", names > 0 ? names : 2, 1, kMaxAxisSize);
  if (names > 0 && names != labels) {
    throw UserError(fmt::format("{}: expected {}, the entries of id2label, got {}",
                                config.fields.where("num_labels"), names, labels));
  }
  // Labels may share a name, so that label2id has fewer entries, but never more.
  const std::int64_t ids = count_entries(config, "label2id");
  if (ids > labels) {
    throw UserError(fmt::format("{}: expected at most {} entries, one a label, got {}",
                                config.fields.where("label2id"), labels, ids));
  }
  return labels;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::int64_t read_size(Config& config, std::string_view field, std::int64_t absent) {
  if (absent == 0 || config.fields.has(field)) {
    return config.fields.integer(field, 1, kMaxAxisSize);
  }
  config.fields.mark_read(field);
  config.model.assumptions.push_back(fmt::format("{} is absent: {}", field, absent));
  return absent;
}

std::optional<Activation> find_activation(std::string_view name) {
  const auto* found = std::find_if(std::begin(kActivations), std::end(kActivations),
                                   [&](const ActivationName& row) { return row.name == name; });
  return found == std::end(kActivations) ? std::nullopt : std::optional(found->activation);
}

Activation activation_called(std::string_view name, const std::string& where) {
  if (const std::optional<Activation> activation = find_activation(name)) return *activation;
  std::string known;
  for (const ActivationName& row : kActivations) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", row.name);
  }
  throw UserError(fmt::format("{}: unknown activation {}, known: {}", where, quoted(name), known));
}

Activation read_activation(Config& config, std::string_view field, std::string_view absent) {
  const std::string name = config.fields.text_or(field, std::string(absent));
  return activation_called(name, config.fields.where(field));
}

std::string_view spelling_of(Config& config, std::initializer_list<std::string_view> fields) {
  const auto is_given = [&](std::string_view field) { return config.fields.has(field); };
  const auto is_mentioned = [&](std::string_view field) { return config.mentions(field); };
  const auto* chosen = std::find_if(fields.begin(), fields.end(), is_given);
  if (chosen == fields.end()) chosen = std::find_if(fields.begin(), fields.end(), is_mentioned);
  if (chosen == fields.end()) return *fields.begin();
  const nlohmann::json& value = config.fields.raw(*chosen);
  for (const std::string_view other : fields) {
    const nlohmann::json& said = config.fields.raw(other);
    if (said.is_null() || said == value) continue;
    throw UserError(fmt::format("{}: expected {} = {}, another name of the same, got {}",
                                config.fields.where(other), *chosen, shown(value), shown(said)));
  }
  return *chosen;
}

FieldNames names_in_use(Config& config) {
  FieldNames names = config.family.names;
  for (std::string_view* name :
       {&names.d_model, &names.layers, &names.heads, &names.kv_heads, &names.head_dim, &names.d_ff,
        &names.activation, &names.positions, &names.experts, &names.active_experts, &names.vocab}) {
    const std::size_t bar = name->find('|');
    if (bar == std::string_view::npos) continue;
    *name = spelling_of(config, {name->substr(0, bar), name->substr(bar + 1)});
  }
  return names;
}

std::string read_choice(Config& config, std::string_view field, std::string_view absent,
                        std::initializer_list<std::string_view> known) {
  const std::string said = config.fields.text_or(field, std::string(absent));
  if (contains(known, said)) return said;
  throw UserError(fmt::format("{}: expected {}, got {}", config.fields.where(field),
                              fmt::join(known, " or "), quoted(said)));
}

bool is_scaled_by(Config& config, std::string_view field) {
  return config.fields.number_or(field, 1) != 1;
}

std::string class_suffix(Config& config) {
  const std::vector<std::string> classes = config.fields.texts_or("architectures", {});
  if (classes.empty()) return "";
  const std::string& name = classes.front();
  for (std::size_t i = 1; i < classes.size(); ++i) {
    if (classes[i] == name) continue;
    throw UserError(fmt::format("{}[{}]: expected one class, {}, got {}",
                                config.fields.where("architectures"), i, quoted(name),
                                quoted(classes[i])));
  }
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
      {"TextModel",                 HeadKind::kNone          },
      {"ForSequenceClassification", HeadKind::kSequenceLabels},
      {"ForTokenClassification",    HeadKind::kTokenLabels   },
      {"ForQuestionAnswering",      HeadKind::kTokenLabels   },
  };
  return kHeads;
}

void require_one_a_layer(const Config& config, std::string_view field, std::int64_t layers,
                         std::size_t entries) {
  if (static_cast<std::int64_t>(entries) == layers) return;
  throw UserError(fmt::format("{}: expected {} entries, one a layer, got {}",
                              config.fields.where(field), layers, entries));
}

}  // namespace flopwise
