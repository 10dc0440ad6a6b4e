// safetensors (github.com/huggingface/safetensors, "Format"):
//
//   8 bytes    n, the length of the header, unsigned little-endian
//   n bytes    JSON {"NAME": {"dtype": "F16", "shape": [2,3], "data_offsets": [0,12]}, ...,
//              "__metadata__": {text: text}}; begins with '{', may end in spaces
//   the rest   data; data_offsets count from here
//
// The format demands, and the reader checks: n <= 100,000,000, no name twice, end - begin = the
// size that dtype and shape say, and every byte of the data in exactly one tensor: no overlap, no
// gap, nothing behind the last tensor.
#pragma once

#include <string>

#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/checkpoint.h"

namespace flopwise {

// One file; `name` becomes StoredTensor::file. Errors do not repeat it.
Checkpoint read_safetensors(const ByteSource& source, const std::string& name);
// The same, added to `checkpoint`; its metadata only when there is none yet.
void add_safetensors(const ByteSource& source, const std::string& name, Checkpoint& checkpoint);

// model.safetensors.index.json: {"metadata": {"total_size": n}, "weight_map": {NAME: FILE}}. An
// index of PyTorch's .bin files has the same form.
struct SafetensorsIndex {
  struct Entry {
    std::string_view tensor;  // in `names`
    std::size_t file;         // in `files`
  };
  std::vector<std::string> files;                        // in alphabetical order
  std::vector<Entry, LargeAllocator<Entry>> weight_map;  // by tensor name
  std::vector<Metadata> metadata;
  std::shared_ptr<Arena> names = std::make_shared<Arena>();
};
enum class ShardFiles { kSafetensors, kSafetensorsOrBin };
SafetensorsIndex read_safetensors_index(const ByteSource& source,
                                        ShardFiles shards = ShardFiles::kSafetensors);

}  // namespace flopwise
