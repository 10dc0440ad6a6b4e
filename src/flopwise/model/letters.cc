// Letters: a model as "D=4096,F=16384,L=64,V=32000,N=32".
//
// D model dimension, F feed-forward dimension, L layers, V vocabulary, N query heads, K key/value
// heads, H head dimension, E experts, k experts per token, W attention window, C attention chunk.
#include <fmt/format.h>

#include <map>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/split.h"
#include "flopwise/base/units.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

using Assignments = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "D=4096, F=16384" as a map. UserError for a key that is not among `known` or stands twice.
Assignments read_assignments(std::string_view text, const std::vector<std::string_view>& known) {
  Assignments assignments;
  for (const std::string_view part : split(text, ',')) {
    const std::string_view piece = trimmed(part);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos) {
      throw UserError(fmt::format("expected KEY=VALUE, got {}", quoted(piece)));
    }
    const std::string key(trimmed(piece.substr(0, equals)));
    if (!contains(known, key)) {
      throw UserError(
          fmt::format("unknown key {}, known: {}", quoted(key), fmt::join(known, ", ")));
    }
    const std::string value(trimmed(piece.substr(equals + 1)));
    if (!assignments.emplace(key, value).second) {
      throw UserError(fmt::format("key {} is given twice", quoted(key)));
    }
  }
  return assignments;
}

class Letters {
 public:
  explicit Letters(std::string_view text) : values_(read_assignments(text, keys())) {}

  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }

  std::int64_t size(std::string_view key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      throw UserError(fmt::format("{} is missing, expected a whole number of 1 ... 2^40", key));
    }
    return parse_axis_size(found->second, key);
  }
  std::int64_t size_or(std::string_view key, std::int64_t fallback) const {
    return has(key) ? size(key) : fallback;
  }
  // 0 says that there is none.
  std::int64_t size_or_none(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() || found->second == "0" ? 0 : parse_axis_size(found->second, key);
  }
  bool flag_or(std::string_view key, bool fallback) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return fallback;
    if (found->second != "0" && found->second != "1") {
      throw UserError(fmt::format("{}: expected 0 or 1, got {}", key, quoted(found->second)));
    }
    return found->second == "1";
  }
  NormKind norm() const {
    const auto found = values_.find("norm");
    if (found == values_.end() || found->second == "rms") return NormKind::kRms;
    if (found->second == "layer") return NormKind::kLayer;
    throw UserError(fmt::format("norm: expected rms or layer, got {}", quoted(found->second)));
  }

 private:
  static const std::vector<std::string_view>& keys() {
    static const std::vector<std::string_view> kKeys = {
        "D", "F",     "L",    "V",    "N",    "K",          "H",         "E",      "k",     "W",
        "C", "gated", "tied", "bias", "norm", "final_norm", "positions", "shared", "causal"};
    return kKeys;
  }

  Assignments values_;
};

// One of N and H follows from the other: N*H = D, unless both are given.
std::int64_t quotient_of_d(const Letters& letters, std::string_view divisor,
                           std::string_view result) {
  const std::int64_t d_model = letters.size("D");
  const std::int64_t by = letters.size(divisor);
  if (d_model % by != 0) {
    throw UserError(fmt::format("{} = D/{}: expected {} to divide D, got D={} {}={}", result,
                                divisor, divisor, d_model, divisor, by));
  }
  return d_model / by;
}

AttentionMask mask_of(const Letters& letters, bool causal) {
  const std::int64_t window = letters.size_or_none("W");
  const std::int64_t chunk = letters.size_or_none("C");
  if (window > 0 && chunk > 0) {
    throw UserError(fmt::format("expected W or C, got both: W={} C={}", window, chunk));
  }
  if (!causal && window + chunk > 0) {
    throw UserError(
        fmt::format("{}={} needs causal=1, got causal=0", window > 0 ? "W" : "C", window + chunk));
  }
  if (window > 0) return {MaskKind::kWindow, window};
  if (chunk > 0) return {MaskKind::kChunk, chunk};
  return {causal ? MaskKind::kCausal : MaskKind::kFull, 0};
}

Attention attention_of(const Letters& letters, bool causal, bool learned_positions) {
  if (!letters.has("N") && !letters.has("H")) throw UserError("N is missing, expected N or H");
  Attention attention;
  attention.heads = letters.has("N") ? letters.size("N") : quotient_of_d(letters, "H", "N");
  attention.head_dim = letters.has("H") ? letters.size("H") : quotient_of_d(letters, "N", "H");
  attention.value_dim = attention.head_dim;
  attention.kv_heads = letters.size_or("K", attention.heads);
  if (attention.heads % attention.kv_heads != 0) {
    throw UserError(fmt::format("K: expected K to divide N, got N={} K={}", attention.heads,
                                attention.kv_heads));
  }
  attention.q_bias = attention.k_bias = attention.v_bias = attention.o_bias =
      letters.flag_or("bias", false);
  // Rotary positions turn pairs of elements: the last one of an odd head stays as it is.
  attention.rotary_dim = learned_positions ? 0 : attention.head_dim / 2 * 2;
  attention.position = attention.rotary_dim > 0 ? PositionKind::kRotary : PositionKind::kNone;
  attention.mask = mask_of(letters, causal);
  return attention;
}

decltype(Layer::feed_forward) feed_forward_of(const Letters& letters) {
  Mlp mlp;
  mlp.d_ff = letters.has("F") ? letters.size("F") : 4 * letters.size("D");
  mlp.gated = letters.flag_or("gated", true);
  mlp.activation = mlp.gated ? Activation::kSilu : Activation::kGelu;
  mlp.up_bias = mlp.down_bias = letters.flag_or("bias", false);
  const std::int64_t experts = letters.size_or_none("E");
  const std::int64_t active_experts = letters.size_or("k", 1);
  const std::int64_t shared_experts = letters.size_or_none("shared");
  if (experts == 0) {
    if (active_experts != 1 || shared_experts != 0) {
      throw UserError(fmt::format("E: expected experts, since k={} shared={}, got E=0",
                                  active_experts, shared_experts));
    }
    return mlp;
  }
  if (active_experts > experts) {
    throw UserError(fmt::format("k: expected at most E experts per token, got k={} E={}",
                                active_experts, experts));
  }
  if (shared_experts > kMaxAxisSize / mlp.d_ff) {
    throw UserError(fmt::format("shared: expected shared*F of at most 2^40, got shared={} F={}",
                                shared_experts, mlp.d_ff));
  }
  Moe moe;
  moe.experts = experts;
  moe.active_experts = active_experts;
  moe.expert = mlp;
  moe.shared_d_ff = shared_experts * mlp.d_ff;
  return moe;
}

Model read_letters(const std::string& text) {
  const Letters letters(text);
  const bool causal = letters.flag_or("causal", true);
  Model model;
  model.name = text;
  model.family = model.source = "letters";
  model.d_model = letters.size("D");
  model.vocab = letters.size("V");
  model.embedding.positions = letters.size_or_none("positions");
  model.context = model.embedding.positions;

  Layer layer;
  layer.norm = letters.norm();
  layer.attention = attention_of(letters, causal, model.embedding.positions > 0);
  layer.feed_forward = feed_forward_of(letters);
  Stack stack;
  stack.groups = {
      {"layer", layer, letters.size("L")}
  };
  stack.final_norm = letters.flag_or("final_norm", true);
  stack.final_norm_kind = layer.norm;

  model.architecture = causal ? Architecture::kDecoder : Architecture::kEncoder;
  (causal ? model.decoder : model.encoder) = stack;
  model.head.tied = letters.flag_or("tied", false);
  if (model.embedding.positions == 0 && layer.attention->head_dim % 2 != 0) {
    model.assumptions.push_back(fmt::format("rotary positions turn {} of the {} elements of a head",
                                            layer.attention->rotary_dim,
                                            layer.attention->head_dim));
  }
  if (std::holds_alternative<Moe>(layer.feed_forward)) {
    model.assumptions.emplace_back("router: softmax over all E scores, then the k largest");
  }
  return model;
}

// params= and active= are counts of weights: whole numbers, not axis sizes.
Count whole_count(const std::string& text, std::string_view what) {
  const Rational value = parse_quantity(text, what);
  if (!value.is_integer() || value < 1) {
    throw UserError(
        fmt::format("{}: expected a whole number of at least 1, got {}", what, quoted(text)));
  }
  return Count::of(value.num());
}

}  // namespace

Model model_from_letters(const std::string& text) {
  return in_context("letters", [&] {
    Model model = read_letters(text);
    validate(model);
    return model;
  });
}

std::optional<BareCounts> read_bare_counts(const std::string& text) {
  if (!text.starts_with("params=") && !text.starts_with("active=")) return std::nullopt;
  const Assignments counts = read_assignments(text, {"params", "active"});
  const auto params = counts.find("params");
  if (params == counts.end()) {
    throw UserError("params is missing, expected params=COUNT,active=COUNT");
  }
  const auto active = counts.find("active");
  BareCounts bare;
  bare.params = whole_count(params->second, "params");
  bare.active = active == counts.end() ? bare.params : whole_count(active->second, "active");
  if (bare.active > bare.params) {
    throw UserError(fmt::format("active: expected at most params={}, got {}", bare.params.str(),
                                bare.active.str()));
  }
  return bare;
}

}  // namespace flopwise
