// What rows of towers cannot say: layers that do not run, projectors of several matrices, tiles.
#include <fmt/format.h>

#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/tower_rows.h"

namespace flopwise {
namespace {

constexpr std::int64_t kMostLayers = 4096;

// A field that must say what the code assumes; absent it says so.
void expect_size(Config& config, std::string_view field, std::int64_t value) {
  config.fields.integer_or(field, value, value, value);
}

// 1/ratio neighbours across and down become one.
std::int64_t merged_by(Config& config, std::string_view field, double absent) {
  const double ratio = config.fields.number_or(field, absent);
  const double across = ratio > 0 ? std::round(1 / ratio) : 0;
  constexpr double kMostAcross = 64;
  if (across < 1 || across > kMostAcross || std::abs(across * ratio - 1) > 1e-9) {
    throw UserError(
        fmt::format("{}: expected 1, 1/2, 1/3, ..., got {}", config.fields.where(field), ratio));
  }
  return static_cast<std::int64_t>(across * across);
}

// Patches that stay behind the class token must be whole groups of neighbours.
void set_merge(TowerFields& fields, const std::string& where, std::int64_t merge) {
  const Model& model = fields.model;
  const std::int64_t patches = model.context - (model.embedding.class_token ? 1 : 0);
  const auto side = [](std::int64_t square) {
    return static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(square))));
  };
  if (side(patches) % side(merge) != 0) {
    throw UserError(
        fmt::format("{}: expected groups that divide an image of {} patches across, got {} across",
                    where, side(patches), side(merge)));
  }
  fields.model.head.projector.merge = merge;
}

Layer& first_layer(TowerFields& fields) {
  return fields.model.encoder->groups.front().layer;
}

}  // namespace

void adjust_llava_tower(TowerFields& f) {
  JsonFields& outer = f.outer.fields;
  const std::string type = f.tower.fields.text_or("model_type", "clip_vision_model");
  if (type != "clip_vision_model") {
    throw UserError(fmt::format("{}: expected clip_vision_model, got {}",
                                f.tower.fields.where("model_type"), quoted(type)));
  }
  const std::string_view layer = "vision_feature_layer";
  take_layer(f, outer.where(layer), outer.integer_or(layer, -2, -kMostLayers, kMostLayers));
  const std::string taken =
      read_choice(f.outer, "vision_feature_select_strategy", "default", {"default", "full"});
  Projector& projector = f.model.head.projector;
  if (taken == "full") projector.position = Projector::Position::kAll;
  projector.bias = outer.boolean_or("multimodal_projector_bias", true);
  projector.inner = {{.width = f.out,
                      .bias = projector.bias,
                      .activation = read_activation(f.outer, "projector_hidden_act", "gelu")}};
}

// Pixel shuffle, two dense layers, each with its activation, and a matrix into the text model.
void adjust_llama4_tower(TowerFields& f) {
  JsonFields& fields = f.tower.fields;
  const std::string_view ratio = "pixel_shuffle_ratio";
  set_merge(f, fields.where(ratio), merged_by(f.tower, ratio, 0.5));
  Projector& projector = f.model.head.projector;
  const std::int64_t shuffled = projector.merge * f.model.d_model;
  const std::int64_t d_ff = std::get<Mlp>(first_layer(f).feed_forward).d_ff;
  if (shuffled != d_ff) {
    throw UserError(fmt::format("{}: expected {}, as wide as {} patches, got {}",
                                fields.where("intermediate_size"), shuffled, projector.merge,
                                d_ff));
  }
  projector.bias = fields.boolean_or("multi_modal_projector_bias", false);
  const std::int64_t first = read_size(f.tower, "projector_input_dim", 4096);
  const std::int64_t second = read_size(f.tower, "projector_output_dim", 4096);
  expect_size(f.tower, "vision_output_dim", second);
  projector.inner = {{.width = first, .activation = Activation::kGelu},
                     {.width = second, .activation = Activation::kGelu}};
  expect_size(f.tower, "vision_feature_layer", -1);
  read_choice(f.tower, "vision_feature_select_strategy", "default", {"default"});
  fields.mark_read("projector_dropout");
}

void adjust_mllama_tower(TowerFields& f) {
  JsonFields& fields = f.tower.fields;
  Model& model = f.model;
  Stack& stack = *model.encoder;
  LayerGroup gated = stack.groups.front();
  stack.groups.front().name = "local";
  gated.name = "global";
  gated.layer.branch_scale = BranchScale::kTanhScalar;
  gated.repeat = read_size(f.tower, "num_global_layers", 8);
  stack.groups.push_back(gated);
  Tiles tiles;
  constexpr std::int64_t kMostTiles = 1024;
  tiles.count = fields.integer_or("max_num_tiles", 4, 1, kMostTiles);
  // One row more: images of no tile.
  const nlohmann::json& ratios = fields.raw("supported_aspect_ratios");
  constexpr std::int64_t kUsualRatios = 8;
  if (!ratios.is_null() && !ratios.is_array()) {
    throw UserError(fmt::format("{}: expected a list of pairs, got {}",
                                fields.where("supported_aspect_ratios"), shown(ratios)));
  }
  tiles.layouts = 1 + (ratios.is_null() ? kUsualRatios : static_cast<std::int64_t>(ratios.size()));
  model.embedding.tiles = tiles;
  model.context *= tiles.count;
  const std::vector<std::int64_t> joined =
      fields.integers_or("intermediate_layers_indices", {3, 7, 15, 23, 30});
  model.head.projector.joined = static_cast<std::int64_t>(joined.size());
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const std::int64_t layers = stack.groups.front().repeat;
    if (joined[i] >= 0 && joined[i] < layers) continue;
    throw UserError(fmt::format("{}[{}]: expected a layer of 0 ... {}, got {}",
                                fields.where("intermediate_layers_indices"), i, layers - 1,
                                joined[i]));
  }
  expect_size(f.tower, "vision_output_dim", (1 + model.head.projector.joined) * model.d_model);
  f.outer.model.assumptions.emplace_back(
      "vision tower: an image of all its tiles; what fills a tile up to a multiple of 8 positions "
      "is "
      "not counted");
}

void adjust_internvl_tower(TowerFields& f) {
  JsonFields& fields = f.tower.fields;
  Layer& layer = first_layer(f);
  const std::string norm =
      read_choice(f.tower, "norm_type", "rms_norm", {"rms_norm", "layer_norm"});
  layer.norm = norm == "rms_norm" ? NormKind::kRms : NormKind::kLayer;
  if (fields.boolean_or("qk_normalization", true)) layer.attention->qk_norm = QkNorm::kFullWidth;
  JsonFields& outer = f.outer.fields;
  const std::string_view ratio = "downsample_ratio";
  set_merge(f, outer.where(ratio), merged_by(f.outer, ratio, 0.5));
  const std::string_view selected = "select_layer";
  take_layer(f, outer.where(selected), outer.integer_or(selected, -1, -kMostLayers, kMostLayers));
  if (outer.has("force_image_size")) {
    const std::int64_t image = fields.integer("image_size", 1, kMaxAxisSize);
    expect_size(f.outer, "force_image_size", image);
  }
  Projector& projector = f.model.head.projector;
  projector.norm_merged = true;
  projector.inner = {{.width = f.out, .bias = true, .activation = Activation::kGelu}};
}

const std::vector<HeadClass>& internvl_heads() {
  static const std::vector<HeadClass> kHeads = {
      {"Model", HeadKind::kLanguageModel},
  };
  return kHeads;
}

void adjust_idefics3_tower(TowerFields& f) {
  constexpr std::int64_t kMostAcross = 64;
  const std::int64_t across = f.outer.fields.integer_or("scale_factor", 2, 1, kMostAcross);
  set_merge(f, f.outer.fields.where("scale_factor"), across * across);
}

// The vocabulary stands beside text_config once more.
void join_idefics3(Config& config) {
  expect_size(config, "vocab_size", config.model.vocab);
}

// Norm, a convolution over neighbours, a dense layer with a norm, a gated feed-forward.
void adjust_glm4v_tower(TowerFields& f) {
  Projector& projector = f.model.head.projector;
  projector.inner = {{.width = f.out, .bias = true},
                     {.width = f.out, .norm = NormKind::kLayer, .activation = Activation::kGelu},
                     {.width = read_size(f.tower, "intermediate_size", 13696),
                      .activation = std::get<Mlp>(first_layer(f).feed_forward).activation,
                      .gated = true}};
}

void adjust_kimi_tower(TowerFields& f) {
  JsonFields& fields = f.tower.fields;
  constexpr std::int64_t kMostAcross = 4096;
  const std::int64_t high = fields.integer_or("init_pos_emb_height", 64, 1, kMostAcross);
  const std::int64_t wide = fields.integer_or("init_pos_emb_width", 64, 1, kMostAcross);
  f.model.embedding.positions = f.model.context = high * wide;
  read_choice(f.tower, "pos_emb_type", "divided_fixed", {"divided_fixed"});
  read_choice(f.tower, "merge_type", "sd2_tpool", {"sd2_tpool"});
  read_choice(f.tower, "mm_projector_type", "patchmerger", {"patchmerger"});
  read_choice(f.tower, "video_attn_type", "spatial_temporal", {"spatial_temporal"});
  fields.mark_read("init_pos_emb_time");  // a table of sines and cosines
  const std::vector<std::int64_t> kernel = fields.integers_or("merge_kernel_size", {2, 2});
  constexpr std::int64_t kMostKernel = 16;
  if (kernel.size() != 2 || kernel[0] != kernel[1] || kernel[0] < 1 || kernel[0] > kMostKernel ||
      high % kernel[0] != 0 || wide % kernel[0] != 0) {
    throw UserError(fmt::format("{}: expected two equal divisors of the patches across and down",
                                fields.where("merge_kernel_size")));
  }
  Projector& projector = f.model.head.projector;
  projector.merge = kernel[0] * kernel[0];
  expect_size(f.tower, "mm_hidden_size", f.model.d_model);
  projector.inner = {{.width = projector.merge * f.model.d_model,
                      .bias = true,
                      .activation = read_activation(f.tower, "projector_hidden_act", "gelu")}};
}

// ---- MiniCPM-V
// -----------------------------------------------------------------------------------

void adjust_minicpmv_tower(TowerFields& f) {
  Resampler resampler;
  constexpr std::int64_t kMostQueries = 65536;
  constexpr std::int64_t kHeadDim = 128;
  resampler.queries = f.outer.fields.integer_or("query_num", 64, 1, kMostQueries);
  resampler.head_dim = kHeadDim;
  resampler.heads = f.out / kHeadDim;
  if (f.out % kHeadDim != 0) {
    throw UserError(
        fmt::format("{}: expected a multiple of {}, the width of a resampler's head, got {}",
                    f.outer.fields.where("hidden_size"), kHeadDim, f.out));
  }
  f.model.head.projector.resampler = resampler;
  if (f.outer.fields.boolean_or("drop_vision_last_layer", true)) {
    LayerGroup& group = f.model.encoder->groups.front();
    if (group.repeat < 2) {
      throw UserError(fmt::format("{}: expected false where the tower has one layer, got true",
                                  f.outer.fields.where("drop_vision_last_layer")));
    }
    --group.repeat;  // not in the files either
  }
  // Positions of one slice; the table has more rows.
  const std::int64_t patch = f.outer.fields.integer_or("patch_size", 14, 1, kMostLayers);
  const std::int64_t slice = f.outer.fields.integer_or("image_size", 448, patch, kMaxAxisSize);
  f.model.context = (slice / patch) * (slice / patch);
}

// The versions differ in the text model: MiniCPM (2), Qwen 2 (2.6).
void read_minicpmv(Config& config) {
  const bool is_first = config.fields.has("scale_emb");
  const double version = config.fields.number_or("version", is_first ? 2 : 0);
  constexpr double kSixth = 2.6;
  if (!is_first && version != kSixth) {
    throw UserError(fmt::format("{}: expected 2.6, or scale_emb of version 2, got {}",
                                config.fields.where("version"), version));
  }
  config.fields.mark_read("slice_mode");
  read_text_beside(config, *find_family(is_first ? "minicpm" : "qwen2"));
  if (!is_first) {
    add_vision_tower(config);
    return;
  }
  const std::string name = config.fields.text_or("vision_encoder", "");
  if (name != "vit_so400m_patch14_siglip_384.webli") {
    throw UserError(fmt::format("{}: expected 'vit_so400m_patch14_siglip_384.webli', got {}",
                                config.fields.where("vision_encoder"), quoted(name)));
  }
  const nlohmann::json sizes = {{"hidden_size", 1152},       {"image_size", 378},
                                {"intermediate_size", 4304}, {"num_attention_heads", 16},
                                {"num_hidden_layers", 27},   {"patch_size", 14}};
  add_named_tower(config, name, sizes);
}

// ---- LLaVA
// -----------------------------------------------------------------------------------------

namespace {

// Towers that LLaVA's own files name and do not describe.
nlohmann::json clip_large(std::int64_t image) {
  return {{"hidden_size", 1024},       {"image_size", image},     {"intermediate_size", 4096},
          {"num_attention_heads", 16}, {"num_hidden_layers", 24}, {"patch_size", 14}};
}

// The fields of the class in transformers, from those of LLaVA's own.
void read_own_llava(Config& config) {
  JsonFields& fields = config.fields;
  const std::string name = fields.text("mm_vision_tower");
  constexpr std::string_view kLarge = "openai/clip-vit-large-patch14";
  if (name != kLarge && name != std::string(kLarge) + "-336") {
    throw UserError(fmt::format("{}: expected {} or {}-336, got {}",
                                fields.where("mm_vision_tower"), kLarge, kLarge, quoted(name)));
  }
  read_choice(config, "mm_projector_type", "linear", {"mlp2x_gelu"});
  read_choice(config, "image_aspect_ratio", "square", {"square", "pad"});
  const std::string taken =
      read_choice(config, "mm_vision_select_feature", "patch", {"patch", "cls_patch"});
  const std::int64_t layer =
      fields.integer_or("mm_vision_select_layer", -2, -kMostLayers, kMostLayers);
  Family text = *find_family("llama");
  const std::vector<std::string> classes = fields.texts_or("architectures", {});
  if (!classes.empty() && classes.front().starts_with("LlavaLlama")) text.class_name = "LlavaLlama";
  Config own{config.object, fields, text, config.model, config.leaves_out};
  read_decoder(own);
  config.fields = own.fields;
  config.model = own.model;
  const nlohmann::json sizes = clip_large(name == kLarge ? 224 : 336);
  nlohmann::json around = {
      {"vision_feature_layer", layer},
      {"vision_feature_select_strategy", taken == "patch" ? "default" : "full"}};
  Config named{around, JsonFields(around, fields.file()), config.family, config.model,
               config.leaves_out};
  add_named_tower(named, name, sizes);
  config.model = named.model;
  expect_size(config, "mm_hidden_size", find_tower(config.model, "vision")->d_model);
}

}  // namespace

void read_llava(Config& config) {
  if (config.fields.has("mm_vision_tower")) {
    read_own_llava(config);
  } else {
    read_with_tower(config);
  }
}

// ---- Mllama
// ----------------------------------------------------------------------------------------

namespace {

// Some layers attend to the image in place of the text; their two blocks have gates.
void make_mllama_layers(Config& text) {
  JsonFields& fields = text.fields;
  Model& model = text.model;
  Stack& stack = *model.decoder;
  const LayerGroup all = stack.groups.front();
  std::vector<bool> crosses(static_cast<std::size_t>(all.repeat), false);
  const std::string_view field = "cross_attention_layers";
  const std::vector<std::int64_t> listed =
      fields.integers_or(field, {3, 8, 13, 18, 23, 28, 33, 38});
  for (std::size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] < 0 || listed[i] >= all.repeat || crosses[static_cast<std::size_t>(listed[i])]) {
      throw UserError(fmt::format("{}[{}]: expected layers of 0 ... {}, each once, got {}",
                                  fields.where(field), i, all.repeat - 1, listed[i]));
    }
    crosses[static_cast<std::size_t>(listed[i])] = true;
  }
  Layer cross = all.layer;
  cross.cross = cross.attention;
  cross.attention.reset();
  cross.cross->position = PositionKind::kNone;
  cross.cross->rotary_dim = 0;
  cross.cross->mask.kind = MaskKind::kFull;
  cross.cross->qk_norm = QkNorm::kPerHead;
  cross.branch_scale = BranchScale::kTanhScalar;
  LayerList list;
  for (const bool is_cross : crosses) {
    list.add(is_cross ? "cross" : "self", is_cross ? cross : all.layer);
  }
  stack.groups = list.groups();
  constexpr std::int64_t kSpareTokens = 8;
  model.embedding.spare_tokens = kSpareTokens;
}

}  // namespace

void read_mllama(Config& config) {
  const std::string_view vision = "vision_config";
  if (!config.fields.has(vision)) {
    throw UserError(fmt::format("{}: missing, expected an object", config.fields.where(vision)));
  }
  read_text_config(config, *find_family("mllama_text_model"), make_mllama_layers);
  add_vision_tower(config);
  const Model& tower = *config.model.towers.front().model;
  config.model.source_context = tower.context;
  config.model.assumptions.push_back(
      fmt::format("cross-attention sees one image: {} positions", tower.context));
}

}  // namespace flopwise
