// Memory for the names and shapes of a checkpoint: taken piece by piece, given back all at once. A
// file has 100,000 of them, and one allocation each would take longer than reading them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "flopwise/checkpoint/large_memory.h"

namespace flopwise {

class Arena {
 public:
  std::string_view keep(std::string_view text) {
    char* place = take(text.size(), 1);
    std::copy(text.begin(), text.end(), place);
    return {place, text.size()};
  }
  std::span<const std::int64_t> keep(std::span<const std::int64_t> sizes) {
    char* place = take(sizes.size_bytes(), alignof(std::int64_t));
    if (!sizes.empty()) std::memcpy(place, sizes.data(), sizes.size_bytes());
    return {reinterpret_cast<const std::int64_t*>(place), sizes.size()};
  }

 private:
  static constexpr std::size_t kFirstBytes = std::size_t{1} << 12;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 21;

  char* take(std::size_t bytes, std::size_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (blocks_.empty() || used_ > size_ || bytes > size_ - used_) grow(bytes);
    char* place = blocks_.back().get() + used_;
    used_ += bytes;
    return place;
  }
  void grow(std::size_t bytes) {
    // Not doubled from 256 KiB on, but a huge page at once.
    constexpr std::size_t kLastSmall = std::size_t{1} << 18;
    next_ = blocks_.empty() ? kFirstBytes : next_ < kLastSmall ? 2 * next_ : kMostBytes;
    size_ = std::max(bytes, next_);
    blocks_.emplace_back(static_cast<char*>(take_memory(size_)), GiveBack{size_});
    used_ = 0;
  }

  struct GiveBack {
    std::size_t bytes = 0;
    void operator()(char* memory) const noexcept { give_memory(memory, bytes); }
  };
  std::vector<std::unique_ptr<char, GiveBack>> blocks_;
  std::size_t size_ = 0;  // of the last block
  std::size_t used_ = 0;  // of it
  std::size_t next_ = 0;
};

}  // namespace flopwise
