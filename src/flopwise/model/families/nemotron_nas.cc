// Nemotron NAS: a Llama of which a search has taken heads, widths and whole blocks, layer by layer.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

// One entry of block_configs: what a search has left of a Llama layer.
class NasBlock {
 public:
  NasBlock(Config& config, const Layer& base, std::size_t index)
      : config_(config),
        base_(base),
        place_(fmt::format("block_configs[{}]", index)),
        block_(entry(config, index), config.fields.file(), place_) {}

  // Nothing is left of a layer without attention and feed-forward.
  void add_to(LayerList& list) {
    Layer layer = base_;
    layer.attention.reset();
    layer.feed_forward = NoFeedForward{};
    std::string name = read_attention(layer);
    const std::string feed_forward = read_feed_forward(layer);
    if (!name.empty() && !feed_forward.empty()) name += "_";
    name += feed_forward;
    if (!name.empty()) list.add(name, layer);
  }

 private:
  const nlohmann::json& entry(Config& config, std::size_t index) const {
    const nlohmann::json& value = config.fields.raw("block_configs").at(index);
    if (value.is_object()) return value;
    throw UserError(fmt::format("{}: {}: expected an object with attention and ffn, got {}",
                                config.fields.file(), place_, shown(value)));
  }

  // What is neither read nor off: sparsify, a window, sinks.
  static void refuse_rest(JsonFields& part) {
    for (const std::string& name : part.unread()) {
      const nlohmann::json& value = part.raw(name);
      if (value.is_null() || value == false) continue;
      throw UserError(
          fmt::format("{}: expected null or false, got {}", part.where(name), shown(value)));
    }
  }

  std::string read_attention(Layer& layer) {
    JsonFields part = block_.object("attention");
    const bool is_gone = part.boolean_or("no_op", false);
    const bool is_linear = part.boolean_or("replace_with_linear", false);
    std::string name;
    if (is_linear && !is_gone) {
      layer.linear = LinearMap{base_.attention->o_bias};
      name = "linear";
    } else if (!is_gone) {
      layer.attention = base_.attention;
      const std::int64_t heads = layer.attention->heads;
      const std::int64_t group = part.integer("n_heads_in_group", 1, heads);
      if (heads % group != 0) {
        throw UserError(fmt::format("{}: expected a divisor of {} = {}, got {}",
                                    part.where("n_heads_in_group"), config_.family.names.heads,
                                    heads, group));
      }
      layer.attention->kv_heads = heads / group;
      name = fmt::format("k{}", layer.attention->kv_heads);
    }
    part.mark_read("n_heads_in_group");
    refuse_rest(part);
    return name;
  }

  std::string read_feed_forward(Layer& layer) {
    JsonFields part = block_.object("ffn");
    const Mlp& mlp = std::get<Mlp>(base_.feed_forward);
    const bool is_gone = part.boolean_or("no_op", false);
    const bool is_linear = part.boolean_or("replace_with_linear", false);
    std::string name;
    if (is_linear && !is_gone) {
      layer.feed_forward = LinearMap{mlp.down_bias};
      name = "linear_ffn";
    } else if (!is_gone) {
      Mlp own = mlp;
      own.d_ff = read_width(part);
      layer.feed_forward = own;
      name = fmt::format("f{}", own.d_ff);
    }
    part.mark_read("ffn_mult");
    refuse_rest(part);
    return name;
  }

  // Two thirds of ffn_mult*D, since there are three matrices, rounded up to 256.
  std::int64_t read_width(JsonFields& part) const {
    constexpr std::int64_t kMultiple = 256;
    constexpr double kMost = 1024;
    const double mult = part.number_or("ffn_mult", 0);
    if (!(mult > 0 && mult <= kMost)) {
      throw UserError(fmt::format("{}: expected a number above 0 and at most {}, got {}",
                                  part.where("ffn_mult"), kMost, shown(part.raw("ffn_mult"))));
    }
    const auto width =
        static_cast<std::int64_t>(2 * mult * static_cast<double>(config_.model.d_model) / 3);
    return std::max<std::int64_t>((width + kMultiple - 1) / kMultiple, 1) * kMultiple;
  }

  Config& config_;
  const Layer& base_;
  std::string place_;
  JsonFields block_;
};

}  // namespace

void list_nemotron_nas(Config& config, const Layer& base, std::int64_t layers, LayerList& list) {
  const std::string_view field = "block_configs";
  const nlohmann::json& blocks = config.fields.raw(field);
  if (!blocks.is_array()) {
    throw UserError(
        fmt::format("{}: expected a list with attention and ffn for every layer, got {}",
                    config.fields.where(field), shown(blocks)));
  }
  require_one_a_layer(config, field, layers, blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) NasBlock(config, base, i).add_to(list);
}

}  // namespace flopwise
