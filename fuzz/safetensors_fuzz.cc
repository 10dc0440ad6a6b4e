// libFuzzer: the safetensors reader and its index reader on any bytes give a result or a UserError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/checkpoint/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const flopwise::MemorySource source({reinterpret_cast<const char*>(data), size});
  try {
    flopwise::read_safetensors(source, "fuzz");
  } catch (const flopwise::UserError&) {
  }
  try {
    flopwise::read_safetensors_index(source);
  } catch (const flopwise::UserError&) {
  }
  return 0;
}
