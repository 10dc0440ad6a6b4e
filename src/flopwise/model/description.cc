#include "flopwise/model/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

constexpr Named<NormKind> kNorms[] = {
    {"rms",           NormKind::kRms        },
    {"layer",         NormKind::kLayer      },
    {"layer_no_bias", NormKind::kLayerNoBias},
    {"no_params",     NormKind::kNoParams   }
};
constexpr Named<NormPlacement> kPlacements[] = {
    {"pre",       NormPlacement::kPre     },
    {"post",      NormPlacement::kPost    },
    {"sandwich",  NormPlacement::kSandwich},
    {"post_only", NormPlacement::kPostOnly},
    {"normed",    NormPlacement::kNormed  }
};
constexpr Named<Activation> kActivations[] = {
    {"silu",       Activation::kSilu     },
    {"gelu",       Activation::kGelu     },
    {"gelu_tanh",  Activation::kGeluTanh },
    {"quick_gelu", Activation::kQuickGelu},
    {"relu",       Activation::kRelu     },
    {"relu2",      Activation::kRelu2    },
    {"tanh",       Activation::kTanh     }
};
constexpr Named<QkNorm> kQkNorms[] = {
    {"none",       QkNorm::kNone     },
    {"per_head",   QkNorm::kPerHead  },
    {"full_width", QkNorm::kFullWidth},
    {"each_head",  QkNorm::kEachHead }
};
constexpr Named<PositionKind> kPositions[] = {
    {"rotary", PositionKind::kRotary},
    {"none",   PositionKind::kNone  },
    {"alibi",  PositionKind::kAlibi }
};
constexpr Named<OutputGate> kGates[] = {
    {"none",        OutputGate::kNone      },
    {"per_element", OutputGate::kPerElement},
    {"per_head",    OutputGate::kPerHead   }
};
constexpr Named<RouterScore> kRouters[] = {
    {"softmax_topk", RouterScore::kSoftmaxThenTopK},
    {"topk_softmax", RouterScore::kTopKThenSoftmax},
    {"sigmoid_topk", RouterScore::kSigmoidThenTopK},
    {"topk_sigmoid", RouterScore::kTopKThenSigmoid}
};

// An object of the description, whose absent fields are collected: "kv_heads = 8".
class Part {
 public:
  Part(JsonFields fields, std::string place)
      : fields_(std::move(fields)), place_(std::move(place)) {}

  bool has(std::string_view field) const { return fields_.has(field); }
  std::int64_t size(std::string_view field) { return fields_.integer(field, 1, kMaxAxisSize); }
  std::int64_t size_or(std::string_view field, std::int64_t absent, std::int64_t min = 1) {
    note(field, absent);
    return fields_.integer_or(field, absent, min, kMaxAxisSize);
  }
  double number_or(std::string_view field, double absent) {
    note(field, absent);
    return fields_.number_or(field, absent);
  }
  bool flag(std::string_view field, bool absent) {
    note(field, absent);
    return fields_.boolean_or(field, absent);
  }
  // The first name stands for an absent field.
  template <typename T, std::size_t kCount>
  T choice(std::string_view field, const Named<T> (&names)[kCount]) {
    return choice(field, names, names[0].name);
  }
  template <typename T, std::size_t kCount>
  T choice(std::string_view field, const Named<T> (&names)[kCount], std::string_view absent) {
    note(field, absent);
    const std::string text = fields_.text_or(field, std::string(absent));
    for (const Named<T>& row : names) {
      if (row.name == text) return row.value;
    }
    std::string known;
    for (const Named<T>& row : names) known += (known.empty() ? "" : ", ") + std::string(row.name);
    throw UserError(
        fmt::format("{}: expected one of {}, got {}", fields_.where(field), known, quoted(text)));
  }
  std::string text_or(std::string_view field, const std::string& absent) {
    return fields_.text_or(field, absent);
  }
  Part part(std::string_view field) {
    return {fields_.object(field),
            place_.empty() ? std::string(field) : fmt::format("{}.{}", place_, field)};
  }
  const nlohmann::json& raw(std::string_view field) { return fields_.raw(field); }
  std::string where(std::string_view field) const { return fields_.where(field); }

  // Refuses what nobody asked for, and hands over what was taken for granted.
  void finish(std::vector<std::string>& assumptions) {
    for (const std::string& field : fields_.unread()) {
      if (!fields_.has(field)) continue;  // null says nothing
      throw UserError(
          fmt::format("{}: expected a field of docs/describe.md that goes with the others, got {}",
                      fields_.where(field), quoted(field)));
    }
    if (absent_.empty()) return;
    assumptions.push_back(fmt::format("{}{}absent, so {}", place_, place_.empty() ? "" : ": ",
                                      fmt::join(absent_, ", ")));
  }

 private:
  template <typename T>
  void note(std::string_view field, const T& absent) {
    if (!fields_.has(field)) absent_.push_back(fmt::format("{} = {}", field, absent));
  }

  JsonFields fields_;
  std::string place_;
  std::vector<std::string> absent_;
};

class Reader {
 public:
  Reader(const nlohmann::json& json, const std::string& name) : json_(json), file_(name) {}

  Model read() {
    Part top(JsonFields(json_, file_), "");
    const std::int64_t version = top.size("flopwise");
    if (version != 1) {
      throw UserError(fmt::format("{}: expected 1, got {}", top.where("flopwise"), version));
    }
    model_.name = top.text_or("name", file_);
    model_.family = "description";
    model_.source = file_;
    model_.d_model = top.size("d_model");
    model_.vocab = top.size("vocab");
    model_.context = top.size_or("context", 0, 0);
    is_encoder_ = top.flag("encoder", false);
    model_.architecture = is_encoder_ ? Architecture::kEncoder : Architecture::kDecoder;
    if (top.has("embedding")) read_embedding(top.part("embedding"));
    read_head(top);
    Stack stack;
    stack.final_norm = top.flag("final_norm", true);
    read_layers(top, stack);
    stack.final_norm_kind = stack.groups.front().layer.norm;
    (is_encoder_ ? model_.encoder : model_.decoder) = stack;
    top.finish(model_.assumptions);
    return model_;
  }

 private:
  void read_embedding(Part part) {
    Embedding& embedding = model_.embedding;
    embedding.positions = part.size_or("positions", 0, 0);
    embedding.token_types = part.size_or("token_types", 0, 0);
    embedding.norm = part.has("norm");
    if (embedding.norm) embedding.norm_kind = part.choice("norm", kNorms);
    embedding.scaled = part.flag("scaled", false);
    part.finish(model_.assumptions);
  }

  void read_head(Part& top) {
    Head& head = model_.head;
    head.kind = is_encoder_ ? HeadKind::kNone : HeadKind::kLanguageModel;
    if (is_encoder_) return;
    head.tied = top.flag("tied", false);
    if (!top.has("head")) return;
    Part part = top.part("head");
    head.bias = part.flag("bias", false);
    head.softcap = part.number_or("softcap", 0);
    if (!(head.softcap >= 0)) {
      throw UserError(
          fmt::format("{}: expected 0 or more, got {}", part.where("softcap"), head.softcap));
    }
    part.finish(model_.assumptions);
  }

  void read_layers(Part& top, Stack& stack) {
    const nlohmann::json& layers = top.raw("layers");
    if (!layers.is_array() || layers.empty()) {
      throw UserError(fmt::format("{}: expected a list of at least one layer, got {}",
                                  top.where("layers"), layers.is_array() ? "none" : shown(layers)));
    }
    constexpr std::size_t kMostKinds = 1024;
    if (layers.size() > kMostKinds) {
      throw UserError(fmt::format("{}: expected at most {} kinds of layers, got {}",
                                  top.where("layers"), kMostKinds, layers.size()));
    }
    std::int64_t end = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string place = fmt::format("layers[{}]", i);
      if (!layers[i].is_object()) {
        throw UserError(
            fmt::format("{}: {}: expected an object, got {}", file_, place, shown(layers[i])));
      }
      Part part(JsonFields(layers[i], file_, place), place);
      LayerGroup group;
      group.name =
          part.text_or("name", layers.size() == 1 ? "layer" : fmt::format("kind{}", i + 1));
      group.repeat = part.size_or("repeat", 1);
      group.layer = read_layer(part);
      if (group.name.empty() || group.name == "embed" || group.name == "head" ||
          group.name.find_first_of("\n\r\t") != std::string::npos) {
        throw UserError(
            fmt::format("{}: expected a name in one line other than embed and head, got {}",
                        part.where("name"), quoted(group.name)));
      }
      for (const LayerGroup& other : stack.groups) {
        if (other.name != group.name) continue;
        throw UserError(
            fmt::format("{}: expected another name than that of an earlier layer, got "
                        "{}",
                        part.where("name"), quoted(group.name)));
      }
      part.finish(model_.assumptions);
      group.spans = {
          {end, end + group.repeat}
      };
      end += group.repeat;
      stack.groups.push_back(std::move(group));
    }
  }

  Layer read_layer(Part& part) {
    Layer layer;
    layer.norm = part.choice("norm", kNorms);
    layer.placement = part.choice("placement", kPlacements);
    layer.parallel = part.flag("parallel", false);
    layer.shared_norm = part.flag("shared_norm", false);
    layer.attention.reset();
    if (part.has("attention")) layer.attention = read_attention(part.part("attention"));
    if (part.has("mamba")) layer.recurrence = read_mamba(part.part("mamba"));
    if (part.has("mamba2")) set_recurrence(part, layer, read_mamba2(part.part("mamba2")));
    if (part.has("delta_net")) set_recurrence(part, layer, read_delta(part.part("delta_net")));
    if (part.has("short_convolution")) {
      set_recurrence(part, layer, read_convolution(part.part("short_convolution")));
    }
    if (layer.recurrence && is_encoder_) {
      throw UserError(
          fmt::format("{}: expected a decoder, a recurrence sees what went before alone",
                      part.where(name_of(*layer.recurrence))));
    }
    layer.feed_forward = NoFeedForward{};
    if (part.has("mlp")) {
      Part mlp = part.part("mlp");
      layer.feed_forward = read_mlp(mlp);
      mlp.finish(model_.assumptions);
    }
    if (part.has("moe")) {
      if (part.has("mlp")) {
        throw UserError(fmt::format("{}: expected mlp or moe, got both", part.where("moe")));
      }
      layer.feed_forward = read_moe(part.part("moe"));
    }
    return layer;
  }

  static void set_recurrence(const Part& part, Layer& layer, const Recurrence& recurrence) {
    if (layer.recurrence) {
      throw UserError(fmt::format("{}: expected one kind of recurrence, got {} too",
                                  part.where(name_of(recurrence)), name_of(*layer.recurrence)));
    }
    layer.recurrence = recurrence;
  }

  Attention read_attention(Part part) {
    Attention a;
    a.heads = part.size("heads");
    if (!part.has("latent")) a.kv_heads = part.size_or("kv_heads", a.heads);
    if (!part.has("latent") && !part.has("head_dim") && model_.d_model % a.heads != 0) {
      throw UserError(fmt::format("{}: missing, and d_model = {} is no multiple of heads = {}",
                                  part.where("head_dim"), model_.d_model, a.heads));
    }
    if (part.has("latent")) {
      read_latent(part.part("latent"), a);
    } else {
      a.head_dim = part.size_or("head_dim", model_.d_model / a.heads);
      a.value_dim = part.size_or("value_dim", a.head_dim);
      a.position = part.choice("position", kPositions);
      if (a.position == PositionKind::kRotary) {
        a.rotary_dim = part.size_or("rotary_dim", a.head_dim);
      }
      a.qk_norm = part.choice("qk_norm", kQkNorms);
      a.softcap = part.number_or("softcap", 0);
      if (!(a.softcap >= 0)) {
        throw UserError(
            fmt::format("{}: expected 0 or more, got {}", part.where("softcap"), a.softcap));
      }
      a.sinks = part.flag("sinks", false);
      a.gate = part.choice("gate", kGates);
    }
    a.q_bias = a.k_bias = a.v_bias = part.flag("qkv_bias", false);
    a.o_bias = part.flag("o_bias", false);
    a.mask.kind = is_encoder_ ? MaskKind::kFull : MaskKind::kCausal;
    if (part.has("window") && part.has("chunk")) {
      throw UserError(fmt::format("{}: expected window or chunk, got both", part.where("chunk")));
    }
    if (part.has("window")) {
      a.mask = {is_encoder_ ? MaskKind::kTwoSidedWindow : MaskKind::kWindow, part.size("window")};
    }
    if (part.has("chunk")) a.mask = {MaskKind::kChunk, part.size("chunk")};
    part.finish(model_.assumptions);
    return a;
  }

  void read_latent(Part part, Attention& a) {
    LatentAttention latent;
    latent.query_rank = part.size_or("query_rank", 0, 0);
    latent.kv_rank = part.size("kv_rank");
    latent.nope_dim = part.size("nope_dim");
    latent.rope_dim = part.size("rope_dim");
    a.value_dim = part.size_or("value_dim", latent.nope_dim);
    a.kv_heads = a.heads;
    a.head_dim = latent.nope_dim + latent.rope_dim;
    a.rotary_dim = latent.rope_dim;
    a.latent = latent;
    part.finish(model_.assumptions);
  }

  Mamba read_mamba(Part part) {
    Mamba mamba;
    mamba.inner = part.size_or("inner", 2 * model_.d_model);
    mamba.state = part.size_or("state", 16);
    constexpr std::int64_t kWidthPerRank = 16;
    mamba.rank = part.size_or("rank", (model_.d_model + kWidthPerRank - 1) / kWidthPerRank);
    mamba.taps = part.size_or("taps", 4);
    mamba.conv_bias = part.flag("conv_bias", true);
    mamba.proj_bias = part.flag("proj_bias", false);
    mamba.inner_norms = part.flag("inner_norms", false);
    part.finish(model_.assumptions);
    return mamba;
  }

  Mamba2 read_mamba2(Part part) {
    Mamba2 mamba;
    mamba.heads = part.size("heads");
    mamba.head_dim = part.size("head_dim");
    mamba.groups = part.size_or("groups", 1);
    mamba.state = part.size_or("state", 128);
    mamba.taps = part.size_or("taps", 4);
    mamba.conv_bias = part.flag("conv_bias", true);
    mamba.proj_bias = part.flag("proj_bias", false);
    part.finish(model_.assumptions);
    return mamba;
  }

  DeltaNet read_delta(Part part) {
    DeltaNet delta;
    delta.key_heads = part.size("key_heads");
    delta.value_heads = part.size_or("value_heads", delta.key_heads);
    delta.key_dim = part.size("key_dim");
    delta.value_dim = part.size_or("value_dim", delta.key_dim);
    delta.taps = part.size_or("taps", 4);
    part.finish(model_.assumptions);
    return delta;
  }

  ShortConvolution read_convolution(Part part) {
    ShortConvolution conv;
    conv.taps = part.size_or("taps", 3);
    conv.bias = part.flag("bias", false);
    part.finish(model_.assumptions);
    return conv;
  }

  Mlp read_mlp(Part& part) {
    Mlp mlp;
    mlp.d_ff = part.size("d_ff");
    mlp.gated = part.flag("gated", true);
    mlp.activation = part.choice("activation", kActivations);
    mlp.up_bias = mlp.down_bias = part.flag("bias", false);
    return mlp;
  }

  Moe read_moe(Part part) {
    Moe moe;
    moe.experts = part.size("experts");
    moe.active_experts = part.size("active");
    moe.expert = read_mlp(part);
    moe.shared_d_ff = part.size_or("shared_d_ff", 0, 0);
    moe.shared_gate = part.flag("shared_gate", false);
    moe.score = part.choice("router", kRouters);
    moe.renormalise = part.flag("renormalise", false);
    moe.correction_bias = part.flag("correction_bias", false);
    moe.router_bias = part.flag("router_bias", false);
    moe.latent_dim = part.size_or("latent_dim", 0, 0);
    part.finish(model_.assumptions);
    return moe;
  }

  const nlohmann::json& json_;
  std::string file_;
  Model model_;
  bool is_encoder_ = false;
};

}  // namespace

bool is_description(const nlohmann::json& json) {
  return json.is_object() && json.contains("flopwise");
}

Model model_from_description(const nlohmann::json& json, const std::string& name) {
  Model model = Reader(json, name).read();
  validate(model);
  return model;
}

}  // namespace flopwise
