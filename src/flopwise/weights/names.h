// What the name of a stored tensor means. Checkpoints of all families share a vocabulary: one table
// says which parameters of the graph a stored module holds, whichever family uses the word.
//
//   model.layers.7.self_attn.qkv_proj.weight
//   root  layer  7  module            leaf       -> attention.q + attention.k + attention.v
//
// The root ("model", "transformer.encoder", ...) and the container of layers ("layers", "h", "blk")
// are lists of their own; a root says which stack this is. A leaf says which part of the module
// this is, and how it is packed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace flopwise {

// Which layers, and what stands around them.
enum class StackId {
  kMain,     // the decoder, or the only stack there is
  kEncoder,  // the encoder beside a decoder
  kTower,    // the tower that reads images beside a text model
  kAudio,    // the one that hears
};

// How the matrix of a module lies in a file.
enum class Layout {
  kLinear,           // [out, in]; of stacked experts [E, out, in]
  kConv1d,           // [in, out] in GPT-2, [out, in] in the families that took over its names
  kStacked,          // [E, in, out] or [E, out, in]: both are in use under the same names
  kMergedRows,       // [E*out, in]
  kMergedColumns,    // [E*in, out]
  kTransposed,       // [in, out], whatever the family
  kHeadsTransposed,  // [N, in, out/N], the matrix of each head turned around
  kSideBySide,       // [out, in + in']: fused along what they read, not along what they give
};

// A row of the table. `holds` lists parameters, "+" between those that are fused in this order, "|"
// between alternatives, of which the first that the model has is meant; "=" before one marks a copy
// of a parameter that is stored elsewhere. {e} in `module` is the number of an expert; where
// `holds` has {e+2} it is a place in a list whose first entry is numbered 2 in the graph.
struct NameRule {
  std::string_view module;
  std::string_view holds;
  Layout layout = Layout::kLinear;
};

// One alternative of NameRule::holds.
struct Holding {
  std::vector<std::string> parameters;  // fused, in this order
  bool is_copy = false;
};
// `listed`: the number that stands for {e+2}.
std::vector<Holding> holdings_of(const NameRule& rule,
                                 std::optional<std::int64_t> listed = std::nullopt);

// What a leaf is: ".weight" holds the parameter NAME.weight, ".qweight" the same packed, ".scales"
// accompanies it.
enum class LeafKind { kParameter, kCompanion };
struct Leaf {
  std::string_view suffix;     // of the stored name
  std::string_view parameter;  // "weight" or "bias": of what it holds or accompanies
  LeafKind kind = LeafKind::kParameter;
};

enum class NameKind {
  kParameter,  // rule and leaf say of what
  kCompanion,  // of a quantised parameter: scales, zero points, ...
  kBuffer,     // of the code, not trained: a mask, rotary frequencies
  kMtp,        // multi-token prediction
  kOther,      // of another model in the same file
  kUnknown,
};

// What names say that differ in the numbers of their layer and expert alone.
struct NamePattern {
  NameKind kind = NameKind::kUnknown;
  StackId stack = StackId::kMain;      // as the root says
  bool is_second = false;              // in a second list of layers of the same stack
  std::optional<std::int64_t> listed;  // number in a list of modules that are parameters each
  const NameRule* rule = nullptr;      // of kParameter and kCompanion
  const Leaf* leaf = nullptr;
  std::string pattern;       // the stored name with {i} for the layer and {e} for an expert
  std::string_view comment;  // of kBuffer and kOther: what it is

  // A stored name up to the leaf.
  std::string_view module_of(std::string_view name) const {
    return name.substr(0, name.size() - leaf->suffix.size());
  }
};

struct StoredName : NamePattern {
  std::optional<std::int64_t> layer;  // number of the layer it stands in
  std::optional<std::int64_t> expert;
};

StoredName read_name(std::string_view name);

// Reads many names, each pattern of them once.
class NameReader {
 public:
  struct Result {
    const NamePattern* pattern = nullptr;  // as long as the reader
    std::size_t number = 0;                // of the pattern: 0, 1, 2, ...
    std::optional<std::int64_t> layer;
    std::optional<std::int64_t> expert;
  };
  Result read(std::string_view name);

 private:
  struct Known {
    std::size_t number = 0;
    bool has_layer = false;
    bool has_expert = false;
  };

  std::unordered_map<std::string, Known> known_;          // by what key_of makes of a name
  std::unordered_map<std::string, std::size_t> numbers_;  // by NamePattern::pattern
  std::deque<NamePattern> patterns_;
  std::string key_;
};

// Modules that only the layers behind a model's own have, those of multi-token prediction.
bool marks_mtp_layer(std::string_view name);

// "model.layers.{i}.self_attn.q_proj.weight" with numbers in the places of {i} and {e}.
std::string fill_pattern(std::string pattern, std::optional<std::int64_t> layer,
                         std::optional<std::int64_t> expert);

}  // namespace flopwise
