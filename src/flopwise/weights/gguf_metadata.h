// What a GGUF file says of its model, by key and by tensor.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "flopwise/checkpoint/checkpoint.h"

namespace flopwise {

class GgufMetadata {
 public:
  explicit GgufMetadata(const Checkpoint& checkpoint);

  // What stands before the keys of the architecture: "llama.".
  void set_architecture(std::string_view name) { prefix_ = std::string(name) + "."; }
  std::string key(std::string_view end) const { return prefix_ + std::string(end); }

  // Null where the key is absent; `name` is whole.
  const MetadataValue* find(std::string_view name) const { return checkpoint_.find_metadata(name); }
  // The same of the architecture's key.
  const MetadataValue* find_own(std::string_view end) const { return find(key(end)); }
  // A size said for every layer is one where they all agree, else a UserError.
  std::optional<std::int64_t> size(std::string_view end) const;

  bool has_tensors() const { return !tensors_.empty(); }
  const StoredTensor* tensor(std::string_view name) const;
  bool has_tensor(std::string_view name) const { return tensor(name) != nullptr; }
  // Of some layer.
  bool has_tensor_ending(std::string_view end) const;

 private:
  const Checkpoint& checkpoint_;
  std::map<std::string_view, const StoredTensor*> tensors_;
  std::string prefix_;
};

// "key 'llama.block_count'", for messages.
std::string where_key(std::string_view key);
// UserError for anything but a whole number of 64 bits.
std::int64_t as_size(const MetadataValue& value, const std::string& key);

}  // namespace flopwise
