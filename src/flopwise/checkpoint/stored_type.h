// How the elements of a stored tensor lie in a file: in blocks of `block_elements` that take
// `block_bytes`, scales included. A plain type is a block of one; two F4 share a byte; 256 elements
// of Q4_K take 144 bytes, 4.5 bits each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "flopwise/base/count.h"

namespace flopwise {

struct StoredType {
  std::string_view name;  // as the format spells it: "BF16", "F8_E4M3", "Q4_K"
  int block_elements;
  int block_bytes;

  friend bool operator==(const StoredType&, const StoredType&) = default;
};

// The types of safetensors (huggingface/safetensors, enum Dtype).
std::span<const StoredType> safetensors_types();

// A type of ggml with its number in a file.
struct GgmlType {
  std::uint32_t id;
  StoredType type;  // block_elements 0: removed, no file holds it any more
};
std::span<const GgmlType> ggml_types();

// Elements that are no whole number of blocks have no size.
std::optional<Count> stored_bytes(const StoredType& type, Count elements);

}  // namespace flopwise
