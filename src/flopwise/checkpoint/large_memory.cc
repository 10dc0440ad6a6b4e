#include "flopwise/checkpoint/large_memory.h"

#include <sys/mman.h>

#include <new>

namespace flopwise {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  if (bytes < kHugePage) return ::operator new(bytes);
  const std::size_t whole = whole_pages(bytes);
  void* memory = ::operator new (whole, std::align_val_t{kHugePage});
#ifdef MADV_HUGEPAGE
  // A wish: where it is not granted the memory is as it would be.
  madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return memory;
}

void give_memory(void* memory, std::size_t bytes) noexcept {
  if (bytes < kHugePage) {
    ::operator delete(memory);
  } else {
    ::operator delete (memory, std::align_val_t{kHugePage});
  }
}

}  // namespace flopwise
