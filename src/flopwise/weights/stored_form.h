// How a quantised weight is packed, and how many parameters it stands for. What a packed tensor is
// called and what lies beside it tells the form; its own shape and those of its companions tell the
// bits, so the configuration's word is not needed.
//
//   form               stored                                       parameters
//   GPTQ               qweight I32 [in*b/32, out], scales [g, out]  b from qzeros [g, out*b/32]
//   AWQ                qweight I32 [in, out*b/32], scales [g, out]  b from out
//   compressed-tensors weight_packed I32 [out, in*b/32]             b from the model's in
//   MLX                weight U32 [out, in*b/32], scales            b from the model's in
//   bitsandbytes       weight U8 [n/2, 1], absmax, quant_map        two a byte; the shape is lost
//   NVFP4              weight U8 [out, in/2], weight_scale_2        two a byte
//   FP4                weight_packed U8 [out, in/2]                 two a byte
//   MXFP4              NAME_blocks U8 [..., in/32, 16]              two a byte
//   8 bits             weight F8 or I8 [out, in] with scales        one each
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/checkpoint/checkpoint.h"
#include "flopwise/weights/names.h"

namespace flopwise {

// A stored tensor as the array it stands for.
struct Unpacked {
  Count elements;
  std::optional<std::vector<Count>> shape;  // nothing where only the number is known
  std::string form;                         // "GPTQ, 4 bits"; "" where it is stored as it is
};

// The tensor of a name, null when there is none.
using FindTensor = std::function<const StoredTensor*(std::string_view name)>;

// `columns`: the innermost size that the model expects, for the forms that do not say it.
Unpacked unpack(const StoredTensor& tensor, const NamePattern& name, const FindTensor& find,
                Count columns);

// Whether scales beside it make sense: its elements are no 16-, 32- or 64-bit floats.
bool has_quantised_type(const StoredTensor& tensor);

}  // namespace flopwise
