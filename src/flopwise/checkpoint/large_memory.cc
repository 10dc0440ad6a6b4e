#include "flopwise/checkpoint/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace flopwise {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* take_memory(std::size_t bytes) {
  const bool is_large = bytes >= kHugePage;
  const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = is_large ? std::aligned_alloc(kHugePage, whole) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // A wish: where it is not granted the memory is as it would be.
  if (is_large) madvise(memory, whole, MADV_HUGEPAGE);
#endif
  return memory;
}

void give_memory(void* memory) noexcept {
  std::free(memory);
}

}  // namespace flopwise
