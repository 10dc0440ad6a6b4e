#include "flopwise/weights/gguf_metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {

GgufMetadata::GgufMetadata(const Checkpoint& checkpoint) : checkpoint_(checkpoint) {
  for (const StoredTensor& tensor : checkpoint.tensors) tensors_.emplace(tensor.name, &tensor);
}

std::optional<std::int64_t> GgufMetadata::size(std::string_view end) const {
  const std::string full = key(end);
  const MetadataValue* value = find(full);
  if (value == nullptr) return std::nullopt;
  const auto* array = std::get_if<MetadataArray>(&value->value);
  if (array == nullptr) return as_size(*value, full);
  if (array->elements.empty()) {
    throw UserError(fmt::format("{}: expected a size, got an empty array", where_key(full)));
  }
  const std::int64_t first = as_size(array->elements.front(), full);
  for (std::size_t i = 1; i < array->elements.size(); ++i) {
    const std::int64_t other = as_size(array->elements[i], full);
    if (other != first) {
      throw UserError(fmt::format("{}: expected {} for every layer, got {} for layer {}",
                                  where_key(full), first, other, i));
    }
  }
  return first;
}

const StoredTensor* GgufMetadata::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : found->second;
}

bool GgufMetadata::has_tensor_ending(std::string_view end) const {
  return std::any_of(tensors_.begin(), tensors_.end(),
                     [&](const auto& named) { return named.first.ends_with(end); });
}

std::string where_key(std::string_view key) {
  return fmt::format("key '{}'", key);
}

std::int64_t as_size(const MetadataValue& value, const std::string& key) {
  const Count* count = std::get_if<Count>(&value.value);
  if (count != nullptr && *count >= 0 && *count <= INT64_MAX) {
    return static_cast<std::int64_t>(count->value());
  }
  throw UserError(
      fmt::format("{}: expected a whole number, got a {}", where_key(key),
                  count == nullptr ? std::string(value.type) : "number of " + count->str()));
}

}  // namespace flopwise
