#include "flopwise/model/families/vision.h"

#include <fmt/format.h>

#include <cmath>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"
#include "flopwise/model/families/unread.h"

namespace flopwise {
namespace {

constexpr std::int64_t kMostSide = 4096;  // of a patch, of an image in patches

// Reads vision_config into a model of patches.
class TowerReader {
 public:
  TowerReader(Config& config, const TowerRow& row) : config_(config), row_(row) {}

  Model read() {
    model_.family = config_.family.model_type;
    model_.name = config_.fields.file();
    model_.architecture = Architecture::kEncoder;
    model_.d_model = size(row_.d_model, row_.absent_d_model);
    read_patches();
    read_layers();
    return model_;
  }

  Model read_with_projector(std::int64_t out) {
    read();
    read_projector(out);
    return model_;
  }

 private:
  JsonFields& fields() { return config_.fields; }
  std::int64_t size(std::string_view field, std::int64_t absent) {
    return read_size(config_, field, absent);
  }
  std::int64_t side(std::string_view field, std::int64_t absent) {
    note_absent(field, absent);
    return fields().integer_or(field, absent, 1, kMostSide);
  }
  // What the class takes an absent side for, unless it is a single patch or frame.
  void note_absent(std::string_view field, std::int64_t absent) {
    if (absent <= 1 || fields().has(field)) return;
    config_.model.assumptions.push_back(fmt::format("{} is absent: {}", field, absent));
  }

  // The same, of what stands among the assumptions where it is absent.
  std::int64_t noted_side(std::string_view field, std::int64_t absent, std::int64_t least,
                          std::int64_t most) {
    if (!fields().has(field) && absent > 0) return size(field, absent);
    return fields().integer(field, least, most);
  }

  void read_patches() {
    const std::int64_t patch = noted_side("patch_size", row_.absent_patch, 1, kMostSide);
    fields().integer_or("spatial_patch_size", patch, patch, patch);
    const std::int64_t frames = side("temporal_patch_size", row_.absent_frames);
    Embedding& embedding = model_.embedding;
    const std::int64_t channels = fields().integer_or(row_.channels, 3, 1, kMostSide);
    embedding.patch_values = channels * frames * patch * patch;
    embedding.patch_bias = row_.patch_bias;
    embedding.class_token = row_.class_token;
    embedding.norm = row_.norm_first;
    embedding.norm_kind = row_.norm;
    if (row_.absent_image > 0) {
      const std::int64_t image =
          noted_side("image_size", row_.absent_image, patch, kMostSide * patch);
      const std::int64_t across = image / patch;
      patches_ = across * across;
      model_.context = patches_ + (row_.class_token ? 1 : 0);
    }
    if (!row_.learned_positions) return;
    embedding.positions =
        row_.positions.empty() ? model_.context : size(row_.positions, row_.absent_positions);
    if (row_.positions.empty()) return;
    model_.context = embedding.positions;
    const std::int64_t across = root_of(embedding.positions);
    if (across * across != embedding.positions) {
      throw UserError(
          fmt::format("{}: expected a square, the rows of as many patches across as down, got {}",
                      fields().where(row_.positions), embedding.positions));
    }
  }

  void read_layers() {
    Layer layer;
    layer.norm = row_.norm;
    layer.branch_scale = row_.branch_scale;
    Attention& attention = *layer.attention;
    attention.heads = attention.kv_heads = size(row_.heads, row_.absent_heads);
    if (model_.d_model % attention.heads != 0) {
      throw UserError(fmt::format("{}: expected a multiple of {} = {}, got {}",
                                  fields().where(row_.d_model), row_.heads, attention.heads,
                                  model_.d_model));
    }
    attention.head_dim = attention.value_dim = model_.d_model / attention.heads;
    attention.q_bias = attention.k_bias = attention.v_bias =
        fields().boolean_or(row_.qkv_bias_field, row_.qkv_bias);
    attention.o_bias = row_.o_bias;
    attention.mask.kind = MaskKind::kFull;
    attention.position = row_.rotary ? PositionKind::kRotary : PositionKind::kNone;
    if (row_.rotary) attention.rotary_dim = attention.head_dim / 2 * 2;
    Mlp mlp;
    mlp.gated = row_.gated;
    mlp.activation = read_activation(config_, "hidden_act", row_.activation);
    mlp.up_bias = mlp.down_bias = row_.mlp_bias;
    mlp.d_ff = read_d_ff();
    layer.feed_forward = mlp;
    Stack stack;
    stack.final_norm = row_.final_norm;
    stack.final_norm_kind = row_.norm;
    stack.groups = {
        {"layer", layer, size(row_.layers, row_.absent_layers)}
    };
    model_.encoder = stack;
    if (!fields().has("fullatt_block_indexes")) return;
    fields().mark_read("fullatt_block_indexes");
    fields().mark_read("window_size");
    config_.model.assumptions.emplace_back(
        "vision tower: its windows are counted as attention over the whole image");
  }

  std::int64_t read_d_ff() {
    if (row_.d_ff_ratio == 0) return size(row_.d_ff, row_.absent_d_ff);
    const std::int64_t ratio = fields().integer_or("mlp_ratio", row_.d_ff_ratio, 1, 1024);
    return ratio * model_.d_model;
  }

  void read_projector(std::int64_t out) {
    Projector& projector = model_.head.projector;
    model_.head.kind = HeadKind::kProjector;
    projector.position = row_.position;
    projector.out = out;
    projector.bias = row_.projector_bias;
    if (row_.projector_norm) projector.norm = row_.projector_norm_kind;
    const std::int64_t merge = side("spatial_merge_size", row_.absent_merge);
    projector.merge = row_.pools ? pooled() : merge * merge;
    projector.pools = row_.pools;
    if (row_.projector_dense) {
      projector.inner = {
          {.width = projector.merge * model_.d_model,
           .bias = row_.projector_bias,
           .activation = Activation::kGelu}
      };
    }
    if (!row_.deepstack.empty()) {
      projector.merged_copies = read_deepstack();
      if (projector.merged_copies > 0) {
        config_.model.assumptions.push_back(
            fmt::format("vision tower: the projectors of {} are counted behind the last layer",
                        row_.deepstack));
      }
    }
  }

  // How many layers hand what they make to a projector of their own.
  std::int64_t read_deepstack() {
    const std::string_view field = row_.deepstack;
    if (!fields().has(field)) {
      if (!row_.deepstack_absent.empty()) {
        config_.model.assumptions.push_back(
            fmt::format("{} is absent: {}", field, fmt::join(row_.deepstack_absent, ", ")));
      }
      return static_cast<std::int64_t>(row_.deepstack_absent.size());
    }
    std::vector<std::int64_t> seen;
    const std::int64_t layers = model_.encoder->groups.front().repeat;
    for (const std::int64_t layer : fields().integers_or(field, {})) {
      const std::string place = fmt::format("{}[{}]", fields().where(field), seen.size());
      if (layer < 0 || layer >= layers) {
        throw UserError(
            fmt::format("{}: expected a layer of 0 ... {}, got {}", place, layers - 1, layer));
      }
      if (contains(seen, layer)) {
        throw UserError(fmt::format("{}: expected each layer once, got {} again", place, layer));
      }
      seen.push_back(layer);
    }
    return static_cast<std::int64_t>(seen.size());
  }

  // Patches that become one of the positions the text model sees: a square of them.
  std::int64_t pooled() {
    const std::int64_t positions = positions_of_text_;
    const std::int64_t across = root_of(positions);
    const std::int64_t patches_across = root_of(patches_);
    if (across * across == positions && patches_across % across == 0) return patches_ / positions;
    throw UserError(fmt::format(
        "{}: mm_tokens_per_image: expected the square of a divisor of {}, the patches along a side "
        "of an image, got {}",
        fields().file(), patches_across, positions));
  }

  static std::int64_t root_of(std::int64_t square) {
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(square)));
    while (root * root > square) --root;
    return root;
  }

 public:
  void set_positions_of_text(std::int64_t positions) { positions_of_text_ = positions; }

 private:
  Config& config_;
  const TowerRow& row_;
  Model model_;
  std::int64_t patches_ = 0;
  std::int64_t positions_of_text_ = 0;
};

}  // namespace

void take_layer(TowerFields& fields, std::string_view where, std::int64_t layer) {
  Stack& stack = *fields.model.encoder;
  LayerGroup& group = stack.groups.front();
  const std::int64_t layers = group.repeat;
  const std::int64_t taken = layer < 0 ? layers + 1 + layer : layer;
  if (taken < 1 || taken > layers) {
    throw UserError(
        fmt::format("{}: expected a layer of 1 ... {}, or of -1 ... -{} from the end, got {}",
                    where, layers, layers, layer));
  }
  Unused unused;
  if (taken < layers) {
    unused.groups = {
        {group.name, group.layer, layers - taken}
    };
    group.repeat = taken;
  }
  if (stack.final_norm) unused.norm = stack.final_norm_kind;
  stack.final_norm = false;
  if (taken == layers && !unused.norm) return;
  const std::string norm = unused.norm ? "the final norm" : "";
  const std::string others =
      taken == layers ? "" : fmt::format("{} of its {} layers", layers - taken, layers);
  fields.outer.model.assumptions.push_back(
      fmt::format("vision tower: {}{}{} {} stored, in no step", others,
                  others.empty() || norm.empty() ? "" : " and ", norm,
                  others.empty() || (norm.empty() && layers - taken == 1) ? "is" : "are"));
  fields.model.unused = std::move(unused);
}

Model read_vision_layers(Config& config, const TowerRow& row) {
  return TowerReader(config, row).read();
}

namespace {

// `tower` is the config of the tower itself.
std::shared_ptr<const Model> read_tower_config(Config& config, Config& tower, const TowerRow& row,
                                               std::int64_t out) {
  TowerRow spelt = row;
  for (std::string_view* name : {&spelt.d_model, &spelt.layers, &spelt.heads, &spelt.channels}) {
    const std::size_t bar = name->find('|');
    if (bar == std::string_view::npos) continue;
    *name = spelling_of(tower, {name->substr(0, bar), name->substr(bar + 1)});
  }
  TowerReader reader(tower, spelt);
  if (row.pools) {
    constexpr std::int64_t kMostPositions = 65536;
    reader.set_positions_of_text(
        config.fields.integer_or("mm_tokens_per_image", 256, 1, kMostPositions));
  }
  auto model = std::make_shared<Model>(reader.read_with_projector(out));
  if (row.adjust != nullptr) {
    TowerFields fields{config, tower, *model, out};
    row.adjust(fields);
  }
  if (!row.out.empty()) tower.fields.integer_or(row.out, out, out, out);
  tower.fields.text_or("model_type", "");
  tower.fields.mark_read("tie_word_embeddings");  // it has no vocabulary
  for (const std::string& line : tower.model.assumptions) {
    config.model.assumptions.push_back(line.starts_with("vision tower") ? line
                                                                        : "vision tower: " + line);
  }
  tower.model = *model;
  tower.model.assumptions.clear();
  refuse_unread(tower);
  config.model.assumptions.insert(config.model.assumptions.end(), tower.model.assumptions.begin(),
                                  tower.model.assumptions.end());
  return model;
}

}  // namespace

std::shared_ptr<const Model> read_tower(Config& config, std::string_view field, const TowerRow& row,
                                        std::int64_t out) {
  const nlohmann::json& object = config.fields.raw(field);
  Family family = config.family;
  family.ignored = row.ignored;
  Config tower{object, config.fields.object(field), family, {}, config.leaves_out};
  return read_tower_config(config, tower, row, out);
}

void add_named_tower(Config& config, const std::string& name, const nlohmann::json& sizes) {
  Config tower{sizes, JsonFields(sizes, config.fields.file(), name), config.family, {}, false};
  config.model.assumptions.push_back(
      fmt::format("vision tower: its sizes are those published as {}", name));
  config.model.towers = {
      {"vision", read_tower_config(config, tower, *config.family.tower, config.model.d_model)}
  };
}

}  // namespace flopwise
