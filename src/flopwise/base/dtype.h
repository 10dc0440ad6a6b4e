// Element types and how many bits one element takes in memory.
#pragma once

#include <span>
#include <string_view>

#include "flopwise/base/rational.h"

namespace flopwise {

struct DType {
  std::string_view name;   // "bf16": the name in reports, and of a chip's peak rate
  std::string_view alias;  // how PyTorch and JAX spell it; may be empty
  int bits;                // of `elements` of them in memory, with the scale that they share
  int elements = 1;        // more than 1: a block of a quantised format
};

// Widest first.
std::span<const DType> all_dtypes();

// By name or alias. UserError listing the known names.
const DType& find_dtype(std::string_view name);

// 2 for bf16, 1/2 for int4, 17/16 for q8_0: exact, so that a count of elements times it is exact
// too.
Rational bytes_per_element(const DType& dtype);

}  // namespace flopwise
