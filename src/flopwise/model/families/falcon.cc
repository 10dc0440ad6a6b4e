// Falcon: one model_type for a block with one norm (7B), with two (40B, 180B) and one that is not
// parallel (RW). Its older names, RefinedWeb and RefinedWebModel, leave out the field that tells.
#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/model/families/fields.h"

namespace flopwise {
namespace {

enum class Decoder { kOld, kNew };

// K: one for all queries with multi_query, else N; the new decoder has groups.
std::int64_t read_groups(Config& config, Decoder decoder, std::int64_t heads) {
  JsonFields& fields = config.fields;
  const std::string_view field = spelling_of(config, {"num_kv_heads", "n_head_kv"});
  const std::int64_t said = fields.integer_or(field, heads, 1, kMaxAxisSize);
  const bool multi_query = fields.boolean_or("multi_query", true);
  if (decoder == Decoder::kOld) return multi_query ? 1 : heads;
  if (heads % said == 0) return said;
  throw UserError(fmt::format("{}: expected a divisor of {} = {}, got {}", fields.where(field),
                              config.family.names.heads, heads, said));
}

void adjust(Config& config, Decoder decoder, Layer& layer) {
  JsonFields& fields = config.fields;
  Attention& attention = *layer.attention;
  attention.kv_heads = read_groups(config, decoder, attention.heads);
  if (fields.boolean_or("alibi", false)) {
    attention.position = PositionKind::kAlibi;
    attention.rotary_dim = 0;
  }
  const bool parallel = fields.boolean_or("parallel_attn", true);
  const std::string_view norms = "num_ln_in_parallel_attn";
  const std::int64_t count = fields.integer_or(norms, decoder == Decoder::kNew ? 2 : 1, 1, 2);
  if (decoder == Decoder::kNew && !parallel) {
    throw UserError(fmt::format("{}: expected true with the new decoder, got false",
                                fields.where("parallel_attn")));
  }
  if (decoder == Decoder::kOld && count != 1) {
    throw UserError(
        fmt::format("{}: expected 1 with the old decoder, got {}", fields.where(norms), count));
  }
  layer.parallel = parallel;
  layer.shared_norm = parallel && count == 1;
}

}  // namespace

void adjust_falcon(Config& config, Layer& layer, Stack& /*stack*/) {
  const bool is_new = config.fields.boolean_or("new_decoder_architecture", false);
  adjust(config, is_new ? Decoder::kNew : Decoder::kOld, layer);
}

void adjust_refined_web(Config& config, Layer& layer, Stack& /*stack*/) {
  adjust(config, Decoder::kNew, layer);
}

}  // namespace flopwise
