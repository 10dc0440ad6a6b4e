// Buffers whose bytes are counted: what an algorithm really allocates, and the most it holds at
// once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace flopwise::exec {

// Bytes of all Buffers of this thread.
struct MemoryMeter {
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;

  void allocated(std::size_t bytes) {
    live_bytes += static_cast<std::int64_t>(bytes);
    peak_bytes = std::max(peak_bytes, live_bytes);
  }
  void freed(std::size_t bytes) { live_bytes -= static_cast<std::int64_t>(bytes); }
  // From here on the peak is measured anew.
  void reset_peak() { peak_bytes = live_bytes; }
};
inline constinit thread_local MemoryMeter thread_memory;

template <typename T>
struct MeteredAllocator {
  using value_type = T;

  MeteredAllocator() = default;
  template <typename Other>
  MeteredAllocator(const MeteredAllocator<Other>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    T* memory = std::allocator<T>().allocate(count);
    thread_memory.allocated(count * sizeof(T));
    return memory;
  }
  void deallocate(T* memory, std::size_t count) {
    thread_memory.freed(count * sizeof(T));
    std::allocator<T>().deallocate(memory, count);
  }
  friend bool operator==(const MeteredAllocator&, const MeteredAllocator&) { return true; }
};

template <typename T>
using Buffer = std::vector<T, MeteredAllocator<T>>;

}  // namespace flopwise::exec
