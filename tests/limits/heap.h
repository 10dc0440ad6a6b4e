// How much of the heap a piece of code takes: this program's operator new and delete count. For one
// source file of a program only, since it defines them.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace flopwise {

inline std::size_t heap_bytes = 0;
inline std::size_t heap_peak_bytes = 0;

// The most that `body` holds at one time beyond what is held before it. The process has one thread.
template <typename Body>
std::size_t peak_bytes_of(Body&& body) {
  const std::size_t before = heap_bytes;
  heap_peak_bytes = before;
  body();
  return heap_peak_bytes - before;
}

}  // namespace flopwise

void* operator new(std::size_t size) {
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  flopwise::heap_bytes += malloc_usable_size(block);
  flopwise::heap_peak_bytes = std::max(flopwise::heap_peak_bytes, flopwise::heap_bytes);
  return block;
}
void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  flopwise::heap_bytes -= malloc_usable_size(block);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* block = std::aligned_alloc(static_cast<std::size_t>(alignment), size);
  if (block == nullptr) throw std::bad_alloc();
  flopwise::heap_bytes += malloc_usable_size(block);
  flopwise::heap_peak_bytes = std::max(flopwise::heap_peak_bytes, flopwise::heap_bytes);
  return block;
}
void operator delete(void* block, std::align_val_t) noexcept {
  operator delete(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  operator delete(block);
}
