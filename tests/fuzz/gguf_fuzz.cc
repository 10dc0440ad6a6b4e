// A GGUF file.
#include "flopwise/checkpoint/gguf.h"
#include "tests/fuzz/fuzz.h"

namespace flopwise::fuzz {
namespace {

// The tensors of a file that is accepted fit into it, behind the header.
void check_bytes(const Checkpoint& checkpoint, std::size_t size) {
  Count bytes = checkpoint.files[0].header_bytes;
  for (const StoredTensor& tensor : checkpoint.tensors) bytes += tensor.bytes;
  FLOPWISE_CHECK(bytes <= Count::of(size), "more tensors than there are bytes");
}

}  // namespace
}  // namespace flopwise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  const MemorySource source(fuzz::text_of(data, size));
  fuzz::accepts([&] { fuzz::check_bytes(read_gguf(source, "fuzz"), size); });
  return 0;
}
