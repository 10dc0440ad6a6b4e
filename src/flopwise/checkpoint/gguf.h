// GGUF (ggml, docs/gguf.md), versions 2 and 3, of either byte order (a big-endian file shows by the
// swapped version number):
//
//   "GGUF", u32 version, u64 tensors, u64 metadata entries
//   per entry    key (u64 length, bytes), u32 type, value; an array is u32 type, u64 length, items
//   per tensor   name, u32 dimensions (at most 4), u64 each, u32 type, u64 offset
//   padding to general.alignment (32 unless stated), then the data; offsets count from here
//
// ggml names the innermost dimension first: a matrix of PyTorch's shape [out, in] stands as
// (in, out). StoredTensor::shape is row-major, so the order is turned around.
#pragma once

#include <memory>
#include <string>

#include "flopwise/checkpoint/byte_source.h"
#include "flopwise/checkpoint/checkpoint.h"

namespace flopwise {

// One file; `name` becomes StoredTensor::file. Errors do not repeat it.
// `arena`: for the texts and shapes of its tensors.
Checkpoint read_gguf(const ByteSource& source, const std::string& name,
                     std::shared_ptr<Arena> arena = std::make_shared<Arena>());

}  // namespace flopwise
