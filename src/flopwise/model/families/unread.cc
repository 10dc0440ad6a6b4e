#include "flopwise/model/families/unread.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/restated.h"

namespace flopwise {
namespace {

// A field whose name contains one of these could change a count.
constexpr std::string_view kSuspicious[] = {
    "act_fn",    "activation", "adapter",     "alibi",
    "attention", "attn",       "audio",       "bias",
    "block",     "chunk",      "_config",     "conv",
    "cross",     "decoder",    "dense",       "depth",
    "dim",       "embd",       "embed",       "encoder",
    "expert",    "ffn",        "gate",        "group",
    "head",      "hidden",     "index_",      "inner",
    "inter",     "kernel",     "kv",          "latent",
    "layer",     "linear",     "lora",        "mamba",
    "memory",    "mla",        "mlp",         "moe",
    "mtp",       "mult",       "nextn",       "norm",
    "parallel",  "partial",    "pattern",     "pool",
    "position",  "proj",       "query",       "rank",
    "rotary",    "rout",       "share",       "sink",
    "softcap",   "sparse",     "ssm",         "stack",
    "state",     "tie",        "topk",        "tower",
    "vision",    "vocab",      "width",       "window",
    "bidirect",  "causal",     "codebook",    "d_ff",
    "d_model",   "emb_",       "feed",        "forward_length",
    "glu",       "image",      "loop",        "medusa",
    "n_ff",      "patch",      "recurr",      "rope",
    "swa",       "tying",      "virtual",     "mqa",
    "gqa",       "use_cla",    "logit_scale", "scale_emb",
    "qk_",       "visual"};

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
    "*layerdrop",
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
    "is_llama_config",
    "transformers.js_config",
    "_from_model_config",
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

bool could_change_a_cost(const std::string& field) {
  const std::string name = lower_case(field);
  const auto contains = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const auto fits = [&](std::string_view pattern) { return matches(pattern, name); };
  return std::any_of(std::begin(kSuspicious), std::end(kSuspicious), contains) &&
         std::none_of(std::begin(kHarmless), std::end(kHarmless), fits);
}

bool is_ignored(const std::string& field, const Family& family) {
  const std::string name = lower_case(field);
  return std::any_of(family.ignored.begin(), family.ignored.end(),
                     [&](std::string_view pattern) { return matches(pattern, name); });
}

bool is_switched_off(const nlohmann::json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.empty();
}

}  // namespace

void refuse_unread(Config& config) {
  for (const std::string& field : config.fields.unread()) {
    const nlohmann::json& value = *config.object.find(field);
    if (value.is_null() || is_ignored(field, config.family)) continue;
    if (restates_the_model(config, field, value)) continue;
    if (is_switched_off(value) || !could_change_a_cost(field)) continue;
    const std::string path = config.fields.where(field).substr(config.fields.file().size() + 2);
    if (config.leaves_out) {
      config.model.assumptions.push_back(
          fmt::format("left out, since model_type '{}' has no such field: {} = {}",
                      config.family.model_type, path, shown(value)));
      continue;
    }
    throw UserError(
        fmt::format("{}: field {} is not understood for model_type '{}', expected it "
                    "absent, null, false, 0 or empty, got {}",
                    config.fields.file(), quoted(path), config.family.model_type, shown(value)));
  }
}

}  // namespace flopwise
