// What both formats ask of the tensors in a file: their size, their names, and where they lie.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/checkpoint/checkpoint.h"

namespace flopwise {

// More than that is no checkpoint: one of 1.0e12 parameters has 140,000 tensors over all its files.
inline constexpr std::uint64_t kMaxTensorsPerFile = 1 << 17;
inline constexpr std::size_t kMaxNameBytes = 1 << 16;

// Bounds what the names in one file take in memory together.
class NameBudget {
 public:
  void take(std::string_view name);

 private:
  std::size_t taken_ = 0;
};

// "[2,3]".
std::string shape_text(std::span<const std::int64_t> shape);

// Sets `elements` and `bytes` from `shape` and `type`. UserError when a product leaves int64, or a
// row (GGUF) or the whole (safetensors) is no whole number of blocks.
enum class Blocks { kPerRow, kPerTensor };
void set_size(StoredTensor& tensor, Blocks blocks);

// Where a tensor's data lie, counted from the begin of the data.
struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::size_t tensor;  // in Checkpoint::tensors
};
// By place; overlapping extents are a UserError.
void sort_extents(std::vector<Extent>& extents, std::span<const StoredTensor> tensors);

// UserError when two tensors have the same name; names the files where there are several.
void check_names_differ(std::span<const StoredTensor> tensors);

}  // namespace flopwise
