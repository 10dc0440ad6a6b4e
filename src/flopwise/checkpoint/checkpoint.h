// What a checkpoint holds, told by its headers: the name, shape, type and size of every tensor and
// the metadata beside them. The weights are never read, so 700 GB of shards take milliseconds.
//
// Read are safetensors (one file, or shards behind a model.safetensors.index.json) and GGUF (one
// file, or the parts NAME-00001-of-00003.gguf). docs/checkpoints.md lists what is refused.
//
// A checkpoint comes from strangers. Every length in it is compared with the bytes that are there
// before it is used, memory grows with what was read, and a refusal is a UserError of one line:
// file, offset or tensor, the value, and what was expected.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/checkpoint/arena.h"
#include "flopwise/checkpoint/large_memory.h"
#include "flopwise/checkpoint/stored_type.h"

namespace flopwise {

// The axes of a tensor. They, and the texts of a StoredTensor, live in the arena of its Checkpoint.
struct StoredShape : std::span<const std::int64_t> {
  using std::span<const std::int64_t>::span;
  // NOLINTNEXTLINE(google-explicit-constructor)
  StoredShape(std::span<const std::int64_t> axes) : std::span<const std::int64_t>(axes) {}
  friend bool operator==(const StoredShape& a, const StoredShape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

struct StoredTensor {
  std::string_view name;
  StoredShape shape;  // row-major, the innermost axis last; empty for a scalar
  StoredType type = {};
  Count elements;         // the product of `shape`
  Count bytes;            // in the file, scales of a quantised block included
  std::string_view file;  // its file's name, without folder
};

using StoredTensors = std::vector<StoredTensor, LargeAllocator<StoredTensor>>;

struct MetadataValue;

struct MetadataArray {
  std::string_view element_type;  // "string"
  Count length;
  // The first kKeptElements at most: a vocabulary has 250,000 and only its length is a size.
  std::vector<MetadataValue> elements;
};
inline constexpr std::size_t kKeptElements = 1024;

struct MetadataValue {
  std::string_view type;  // GGUF's: "uint32", "float32", "bool", "string", "array"; else "string"
  std::variant<bool, Count, double, std::string, MetadataArray> value;
};

struct Metadata {
  std::string key;
  MetadataValue value;
};

struct CheckpointFile {
  std::string name;    // without folder
  Count bytes;         // of the whole file
  Count header_bytes;  // up to the first tensor's data
};

enum class CheckpointFormat { kSafetensors, kGguf };

struct Checkpoint {
  CheckpointFormat format = CheckpointFormat::kSafetensors;
  StoredTensors tensors;           // file by file, in the order of the header
  std::vector<Metadata> metadata;  // of the first file; of an index, its numbers and texts first
  std::vector<CheckpointFile> files;
  // What is odd and yet no reason to refuse, such as an index whose total_size is not the sum of
  // the tensors' bytes (of the collected indexes some count other types, or tied weights twice).
  std::vector<std::string> notes;
  // False of an index alone, whose tensors have a name and a file and nothing more.
  bool has_shapes = true;
  // What the tensors' texts and shapes point into; copies of a checkpoint share it.
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();

  const MetadataValue* find_metadata(std::string_view key) const;  // null when absent
};

// `path`: a .safetensors file, its index (.json), a .gguf file or any part of a split one, or a
// directory that holds one of these.
Checkpoint read_checkpoint(const std::string& path);

// The same; but of an index none of whose shards is there, and of a PyTorch index, whose shards are
// .bin files, the names alone (has_shapes is false). Tensors are in the order of their names.
Checkpoint read_checkpoint_names(const std::string& path);

}  // namespace flopwise
