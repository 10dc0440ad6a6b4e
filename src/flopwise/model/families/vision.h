// Vision towers: what a vision_config says, as a model of patches whose head leads into the text
// model.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "flopwise/model/families/family.h"

namespace flopwise {

// A tower on its way, beside the config around it.
struct TowerFields {
  Config& outer;
  Config& tower;
  Model& model;
  std::int64_t out = 0;  // the width of the model beside it
};

// How a family spells and builds its tower. Sizes are those of its configuration class when absent;
// 0: the file must give them.
struct TowerRow {
  std::string_view d_model = "hidden_size";
  std::string_view layers = "num_hidden_layers";
  std::string_view heads = "num_attention_heads";
  std::string_view channels = "num_channels";
  std::string_view d_ff = "intermediate_size";
  std::int64_t absent_d_model = 0;
  std::int64_t absent_layers = 0;
  std::int64_t absent_heads = 0;
  std::int64_t absent_d_ff = 0;  // with it 0 and d_ff_ratio above 0: d_ff_ratio * d_model
  std::int64_t d_ff_ratio = 0;   // mlp_ratio when absent
  std::int64_t absent_patch = 0;
  std::int64_t absent_image = 0;   // image_size; 0: images of any size
  std::int64_t absent_frames = 1;  // temporal_patch_size
  std::int64_t absent_merge = 1;   // spatial_merge_size
  NormKind norm = NormKind::kLayer;
  bool gated = false;
  std::string_view qkv_bias_field = "qkv_bias";
  bool qkv_bias = true;  // when absent
  bool o_bias = true;
  bool mlp_bias = true;
  BranchScale branch_scale = BranchScale::kNone;
  std::string_view activation = "gelu_pytorch_tanh";  // when absent
  bool patch_bias = false;
  bool rotary = false;
  std::string_view positions = {};  // a field that counts learned rows; "": one for each patch
  std::int64_t absent_positions = 0;
  bool learned_positions = false;
  bool class_token = false;
  bool norm_first = false;  // a norm on the embedded patches
  bool final_norm = true;
  Projector::Position position = Projector::Position::kAll;
  NormKind projector_norm_kind = NormKind::kLayer;
  bool projector_norm = false;
  bool projector_dense = false;  // a dense layer as wide as M neighbours
  bool projector_bias = false;
  bool pools = false;               // to mm_tokens_per_image
  std::string_view deepstack = {};  // a list of layers, each with a projector of its own
  std::span<const std::int64_t> deepstack_absent = {};  // that list when absent
  // What the row cannot say.
  void (*adjust)(TowerFields& fields) = nullptr;
  std::string_view out = {};  // a field that says the width of the text model again
  IgnoredFields ignored = {};
};

// The layers of a tower without what stands behind them, from the config's own fields.
Model read_vision_layers(Config& config, const TowerRow& row);
// The first layers of a tower as they run, the others and its final norm as they lie: hidden states
// are those behind `layer` layers, counted from the end where negative (-1: the last).
void take_layer(TowerFields& fields, std::string_view where, std::int64_t layer);
// A tower that the file names and does not describe: its sizes as a vision_config.
void add_named_tower(Config& config, const std::string& name, const nlohmann::json& sizes);
// The tower in `field` of the config, whose projector gives `out` numbers a position.
std::shared_ptr<const Model> read_tower(Config& config, std::string_view field, const TowerRow& row,
                                        std::int64_t out);

}  // namespace flopwise
