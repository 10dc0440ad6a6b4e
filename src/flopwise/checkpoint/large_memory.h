// Memory in pieces that may be large. A page of 4 KiB that is touched for the first time costs up
// to 14 us of CPU in a virtual machine (measured: 3.5 ms for a MiB), more than all that is then
// done with it; where the system allows it, pieces from 2 MiB on lie in pages of 2 MiB (0.06 ms for
// a MiB).
#pragma once

#include <cstddef>

namespace flopwise {

// `bytes` of memory, aligned for any type; std::bad_alloc where there is none. Back it goes with
// the same number.
void* take_memory(std::size_t bytes);
void give_memory(void* memory, std::size_t bytes) noexcept;

// For std::vector.
template <typename T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <typename U>
  // NOLINTNEXTLINE(google-explicit-constructor)
  LargeAllocator(const LargeAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) { return static_cast<T*>(take_memory(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { give_memory(memory, count * sizeof(T)); }
  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

}  // namespace flopwise
