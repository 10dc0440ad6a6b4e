// A safetensors file; the same bytes as an index of shards.
#include "flopwise/checkpoint/safetensors.h"
#include "tests/fuzz/fuzz.h"

namespace flopwise::fuzz {
namespace {

// Every byte of a file that is accepted is the header's or exactly one tensor's.
void check_bytes(const Checkpoint& checkpoint, std::size_t size) {
  Count bytes = checkpoint.files[0].header_bytes;
  for (const StoredTensor& tensor : checkpoint.tensors) bytes += tensor.bytes;
  FLOPWISE_CHECK(bytes == Count::of(size), "bytes that no tensor has");
}

}  // namespace
}  // namespace flopwise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwise;
  const MemorySource source(fuzz::text_of(data, size));
  fuzz::accepts([&] { fuzz::check_bytes(read_safetensors(source, "fuzz"), size); });
  fuzz::accepts([&] {
    const SafetensorsIndex index = read_safetensors_index(source);
    FLOPWISE_CHECK(!index.weight_map.empty(), "an index of nothing");
  });
  return 0;
}
