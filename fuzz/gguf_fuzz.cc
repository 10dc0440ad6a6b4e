// libFuzzer: the GGUF reader on any bytes gives a result or a UserError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/checkpoint/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const flopwise::MemorySource source({reinterpret_cast<const char*>(data), size});
  try {
    flopwise::read_gguf(source, "fuzz");
  } catch (const flopwise::UserError&) {
  }
  return 0;
}
