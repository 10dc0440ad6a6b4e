#include "flopwise/base/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// tf32 is a mode of the matrix units: it computes with 19 bits, but an element takes 4 bytes in
// memory.
constexpr DType kDTypes[] = {
    {"fp64", "float64", 64},
    {"fp32", "float32", 32},
    {"tf32", "", 32},
    {"bf16", "bfloat16", 16},
    {"fp16", "float16", 16},
    {"fp8", "float8", 8},
    {"int8", "", 8},
    {"fp6", "float6", 6},
    {"fp4", "float4", 4},
    {"int4", "", 4},
    // Blocks with scales. Of GGUF (ggml's block_q8_0 and its kin: a fp16 scale, of _1 a minimum
    // too, for 32 elements); OCP microscaling (8-bit scale for 32); NVFP4 (fp8 scale for 16).
    {"q8_0", "", 32 * 8 + 16, 32},
    {"q5_1", "", 32 * 5 + 16 + 16, 32},
    {"q5_0", "", 32 * 5 + 16, 32},
    {"q4_1", "", 32 * 4 + 16 + 16, 32},
    {"q4_0", "", 32 * 4 + 16, 32},
    {"mxfp8", "", 32 * 8 + 8, 32},
    {"mxfp4", "", 32 * 4 + 8, 32},
    {"nvfp4", "", 16 * 4 + 8, 16},
};

}  // namespace

std::span<const DType> all_dtypes() {
  return kDTypes;
}

const DType& find_dtype(std::string_view name) {
  const auto is_called = [&](const DType& dtype) {
    return !name.empty() && (dtype.name == name || dtype.alias == name);
  };
  const auto* found = std::find_if(std::begin(kDTypes), std::end(kDTypes), is_called);
  if (found != std::end(kDTypes)) return *found;
  std::string known;
  for (const DType& dtype : kDTypes) known += fmt::format(" {}", dtype.name);
  throw UserError(fmt::format("unknown dtype {}, known:{}", quoted(name), known));
}

Rational bytes_per_element(const DType& dtype) {
  return Rational::of(dtype.bits, std::int64_t{8} * dtype.elements);
}

}  // namespace flopwise
