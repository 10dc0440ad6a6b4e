#include "flopwise/base/dtype.h"

#include <gtest/gtest.h>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

TEST(DType, BytesOfOneElement) {
  EXPECT_EQ(bytes_per_element(find_dtype("fp64")), Rational(8));
  EXPECT_EQ(bytes_per_element(find_dtype("fp32")), Rational(4));
  EXPECT_EQ(bytes_per_element(find_dtype("tf32")), Rational(4));
  EXPECT_EQ(bytes_per_element(find_dtype("bf16")), Rational(2));
  EXPECT_EQ(bytes_per_element(find_dtype("fp8")), Rational(1));
  EXPECT_EQ(bytes_per_element(find_dtype("fp6")), Rational::of(3, 4));
  EXPECT_EQ(bytes_per_element(find_dtype("int4")), Rational::of(1, 2));
}

TEST(DType, PyTorchSpellingIsReadToo) {
  EXPECT_EQ(find_dtype("bfloat16").name, "bf16");
}

TEST(DType, EveryNameFindsItself) {
  for (const DType& dtype : all_dtypes()) EXPECT_EQ(find_dtype(dtype.name).name, dtype.name);
}

TEST(DType, UnknownNameListsTheKnownOnes) {
  for (const char* wrong : {"int9", ""}) {
    SCOPED_TRACE(wrong);
    try {
      find_dtype(wrong);
      FAIL() << "no error";
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("unknown dtype '") + wrong +
                    "', known: fp64 fp32 tf32 bf16 fp16 fp8 int8 fp6 fp4 int4 q8_0 q5_1 q5_0 q4_1 "
                    "q4_0 mxfp8 mxfp4 nvfp4");
    }
  }
}

}  // namespace
}  // namespace flopwise
