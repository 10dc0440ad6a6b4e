#include "flopwise/checkpoint/gguf.h"

#include <fmt/format.h>

#include "flopwise/checkpoint/layout.h"
#include "flopwise/checkpoint/test_files.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using test_files::Gguf;
using test_files::good_gguf;

Checkpoint read(const std::string& bytes) {
  return read_gguf(MemorySource(bytes), "model.gguf");
}

std::string error_of(const std::string& bytes) {
  return user_error_of([&] { read(bytes); });
}

// "uint8 255", "array of 2 string: <s>, ".
std::string text_of(const MetadataValue& value) {
  std::string text(value.type);
  if (const auto* flag = std::get_if<bool>(&value.value)) text += *flag ? " true" : " false";
  if (const auto* count = std::get_if<Count>(&value.value)) text += " " + count->str();
  if (const auto* number = std::get_if<double>(&value.value)) text += fmt::format(" {}", *number);
  if (const auto* chars = std::get_if<std::string>(&value.value)) text += " " + *chars;
  if (const auto* array = std::get_if<MetadataArray>(&value.value)) {
    text += fmt::format(" of {} {}:", array->length.str(), array->element_type);
    for (const MetadataValue& element : array->elements) text += " (" + text_of(element) + ")";
  }
  return text;
}

void expect_good(const Checkpoint& checkpoint) {
  struct Row {
    const char* key;
    const char* value;
  };
  const Row rows[] = {
      {"general.alignment", "uint32 64"},
      {"general.architecture", "string llama"},
      {"k.uint8", "uint8 255"},
      {"k.int8", "int8 -1"},
      {"k.uint16", "uint16 65535"},
      {"k.int16", "int16 -1"},
      {"k.int32", "int32 -2"},
      {"k.float32", "float32 1.5"},
      {"k.bool", "bool true"},
      {"k.uint64", "uint64 18446744073709551615"},
      {"k.int64", "int64 -1"},
      {"k.float64", "float64 -1.5"},
      {"k.texts", "array of 2 string: (string <s>) (string )"},
      {"k.sizes", "array of 3 uint32: (uint32 7) (uint32 8) (uint32 9)"},
      {"k.nested", "array of 2 array: (array of 1 uint8: (uint8 5)) (array of 0 uint8:)"},
  };
  ASSERT_EQ(checkpoint.metadata.size(), std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    EXPECT_EQ(checkpoint.metadata[i].key, rows[i].key);
    EXPECT_EQ(text_of(checkpoint.metadata[i].value), rows[i].value);
  }
  ASSERT_EQ(checkpoint.tensors.size(), 2u);
  const StoredTensor& query = checkpoint.tensors[0];
  EXPECT_EQ(query.name, "blk.0.attn_q.weight");
  EXPECT_EQ(shape_text(query.shape), "[3,64]");  // ggml's (64, 3)
  EXPECT_EQ(query.type.name, "Q4_0");
  EXPECT_EQ(query.elements, Count(3 * 64));
  EXPECT_EQ(query.bytes, Count(3 * 2 * 18));
  EXPECT_EQ(checkpoint.tensors[1].bytes, Count(20));
  EXPECT_TRUE(checkpoint.notes.empty());
}

TEST(Gguf, EveryValueTypeInBothByteOrders) {
  expect_good(read(good_gguf()));
  expect_good(read(good_gguf(true)));
  expect_good(read(good_gguf(false, 2)));
}

// ggml, src/ggml-common.h: bytes of a block as the sum of the fields of block_*, in their order
// (scales in fp16 are 2 bytes), and its elements.
TEST(Gguf, BlocksOfGgmlsTypes) {
  struct Row {
    std::uint32_t id;
    const char* name;
    int elements;
    int bytes;
  };
  constexpr int K = 256;
  const Row rows[] = {
      {0, "F32", 1, 4},
      {1, "F16", 1, 2},
      {2, "Q4_0", 32, 2 + 32 / 2},
      {3, "Q4_1", 32, 2 * 2 + 32 / 2},
      {6, "Q5_0", 32, 2 + 4 + 32 / 2},
      {7, "Q5_1", 32, 2 * 2 + 4 + 32 / 2},
      {8, "Q8_0", 32, 2 + 32},
      {9, "Q8_1", 32, 2 * 2 + 32},
      {10, "Q2_K", 256, 2 * 2 + K / 16 + K / 4},
      {11, "Q3_K", 256, 2 + K / 4 + K / 8 + 12},
      {12, "Q4_K", 256, 2 * 2 + 12 + K / 2},
      {13, "Q5_K", 256, 2 * 2 + 12 + K / 2 + K / 8},
      {14, "Q6_K", 256, 2 + K / 16 + 3 * K / 4},
      {15, "Q8_K", 256, 4 + K + K / 16 * 2},
      {16, "IQ2_XXS", 256, 2 + K / 8 * 2},
      {17, "IQ2_XS", 256, 2 + K / 8 * 2 + K / 32},
      {18, "IQ3_XXS", 256, 2 + 3 * (K / 8)},
      {19, "IQ1_S", 256, 2 + K / 8 + K / 16},
      {20, "IQ4_NL", 32, 2 + 32 / 2},
      {21, "IQ3_S", 256, 2 + 13 * (K / 32) + K / 64},
      {22, "IQ2_S", 256, 2 + K / 4 + K / 16},
      {23, "IQ4_XS", 256, 2 + 2 + K / 64 + K / 2},
      {24, "I8", 1, 1},
      {25, "I16", 1, 2},
      {26, "I32", 1, 4},
      {27, "I64", 1, 8},
      {28, "F64", 1, 8},
      {29, "IQ1_M", 256, K / 8 + K / 16 + K / 32},
      {30, "BF16", 1, 2},
      {34, "TQ1_0", 256, 2 + K / 64 + (K - 4 * K / 64) / 5},
      {35, "TQ2_0", 256, 2 + K / 4},
      {39, "MXFP4", 32, 1 + 32 / 2},
      {40, "NVFP4", 64, 64 / 16 + 64 / 2},
      {41, "Q1_0", 128, 2 + 128 / 8},
  };
  for (const Row& row : rows) {
    const auto elements = static_cast<std::uint64_t>(row.elements);
    Gguf file;
    file.header(1, 0)
        .tensor("a", {elements, 3}, row.id, 0)
        .data(3 * static_cast<std::size_t>(row.bytes));
    ASSERT_EQ(error_of(file.bytes), "no error") << row.name;
    const StoredTensor tensor = read(file.bytes).tensors[0];
    EXPECT_EQ(tensor.type, (StoredType{row.name, row.elements, row.bytes})) << row.name;
    EXPECT_EQ(tensor.bytes, Count(3 * row.bytes));
  }
  EXPECT_EQ(ggml_types().size(), std::size(rows) + 8);  // and 8 that were removed
}

TEST(Gguf, WhatIsAccepted) {
  EXPECT_EQ(error_of(Gguf().header(0, 0).bytes), "no error");
  const Checkpoint scalar = read(Gguf().header(1, 0).tensor("a", {}, 0, 0).data(4).bytes);
  EXPECT_EQ(scalar.tensors[0].elements, Count(1));
  const Checkpoint empty = read(Gguf().header(1, 0).tensor("a", {0, 7}, 0, 0).data(0).bytes);
  EXPECT_EQ(empty.tensors[0].bytes, Count(0));
  const Checkpoint gap = read(Gguf().header(1, 0).tensor("a", {1}, 0, 64).data(68).bytes);
  ASSERT_EQ(gap.notes.size(), 1u);
  EXPECT_EQ(gap.notes[0], "bytes 0 to 64 of the data belong to no tensor (the next is 'a')");
}

TEST(Gguf, LongArraysKeepTheirLengthAndBegin) {
  Gguf file;
  file.header(0, 1).key("tokens", 9).u32(8).u64(5000);
  for (int i = 0; i < 5000; ++i) file.text(fmt::format("t{}", i));
  const Checkpoint checkpoint = read(file.bytes);
  const auto& tokens = std::get<MetadataArray>(checkpoint.metadata[0].value.value);
  EXPECT_EQ(tokens.length, Count(5000));
  ASSERT_EQ(tokens.elements.size(), kKeptElements);
  EXPECT_EQ(std::get<std::string>(tokens.elements.back().value), "t1023");
}

TEST(Gguf, WrongFiles) {
  struct Row {
    std::string bytes;
    const char* message;
  };
  const auto one_key = [](std::uint32_t type) { return Gguf().header(0, 1).key("k", type); };
  const auto array = [&](std::uint32_t type, std::uint64_t length) {
    return one_key(9).u32(type).u64(length);
  };
  const auto alignment = [](std::uint32_t value) {
    return Gguf().header(0, 1).key("general.alignment", 4).u32(value).bytes;
  };
  const auto tensor = [](const std::vector<std::uint64_t>& dimensions, std::uint32_t type,
                         std::uint64_t offset) {
    return Gguf().header(1, 0).tensor("a", dimensions, type, offset).data(64).bytes;
  };
  Gguf nested = one_key(9);
  for (int i = 0; i < 100'000; ++i) nested.u32(9).u64(1);
  Gguf nested_tail = array(9, 2000);
  for (int i = 0; i < 2000; ++i) nested_tail.u32(i < 1500 ? 0 : 9).u64(i < 1500 ? 0 : 1);
  const Row rows[] = {
      {"", "has 0 bytes, expected at least GGUF and a version"},
      {"GGUF", "has 4 bytes, expected at least GGUF and a version"},
      {"GGML" + std::string(20, '\0'), "begins with 'GGML', expected 'GGUF'"},
      {Gguf().header(0, 0, 1).bytes, "offset 4: GGUF version 1, expected 2 or 3"},
      {Gguf().header(0, 0, 4).bytes, "offset 4: GGUF version 4, expected 2 or 3"},
      {Gguf().header(0, 0).bytes.substr(0, 20),
       "offset 16: number of metadata entries: expected 8 bytes, the file has 4 more"},
      {Gguf().header(UINT64_MAX, 0).bytes,
       "offset 8: number of tensors 18446744073709551615, the file has 8 more bytes, room for 0"},
      {Gguf().header(0, UINT64_MAX).bytes,
       "offset 16: number of metadata entries 18446744073709551615, the file has 0 more bytes, "
       "room for 0"},
      {Gguf().header(0, 1).u64(UINT64_MAX).data(16).bytes,
       "offset 24: key of length 18446744073709551615, the file has 16 more bytes, room for 16"},
      {Gguf().header(0, 1).key("", 0).number(0, 1).bytes, "offset 24: an empty key"},
      {Gguf().header(0, 1).key("\xff\n", 0).number(0, 1).bytes,
       "offset 24: key '\\xff\\n' is not UTF-8"},
      {Gguf().header(0, 2).key("k", 0).number(0, 1).key("k", 0).number(0, 1).bytes,
       "key 'k' occurs twice"},
      {one_key(13).u64(0).bytes, "key 'k': offset 33: value type 13, expected 0 to 12"},
      {one_key(UINT32_MAX).u64(0).bytes,
       "key 'k': offset 33: value type 4294967295, expected 0 to 12"},
      {one_key(7).number(2, 1).bytes, "key 'k': offset 37: bool 2, expected 0 or 1"},
      {one_key(4).number(2, 2).bytes,
       "key 'k': offset 37: uint32: expected 4 bytes, the file has 2 more"},
      {one_key(8).u64(UINT64_MAX).bytes,
       "key 'k': offset 37: text of length 18446744073709551615, the file has 0 more bytes, room "
       "for 0"},
      {array(99, 1).bytes, "key 'k': offset 37: value type 99, expected 0 to 12"},
      {array(10, UINT64_MAX / 8 + 2).bytes,
       "key 'k': offset 41: array of length 2305843009213693953, the file has 0 more bytes, room "
       "for 0"},
      {array(8, std::uint64_t{1} << 40).bytes,
       "key 'k': offset 41: array of length 1099511627776, the file has 0 more bytes, room for 0"},
      {nested.bytes, "key 'k': offset 85: arrays nested deeper than 4"},
      {nested_tail.bytes, "key 'k': offset 18085: arrays nested deeper than 4"},
      {Gguf().header(0, 1).key("general.alignment", 10).u64(32).bytes,
       "key 'general.alignment': expected a uint32, got a uint64"},
      {alignment(0),
       "key 'general.alignment': 0, expected a power of two or a multiple of 8, at most 1048576"},
      {alignment(3),
       "key 'general.alignment': 3, expected a power of two or a multiple of 8, at most 1048576"},
      {alignment(1u << 31),
       "key 'general.alignment': 2147483648, expected a power of two or a multiple of 8, at most "
       "1048576"},
      {tensor({1, 1, 1, 1, 1}, 0, 0), "tensor 'a': 5 dimensions, expected at most 4"},
      {Gguf().header(1, 0).text("a").u32(UINT32_MAX).data(64).bytes,
       "tensor 'a': 4294967295 dimensions, expected at most 4"},
      {tensor({UINT64_MAX, UINT64_MAX}, 24, 0),
       "tensor 'a': dimension 18446744073709551615, expected at most 2^63 - 1"},
      {tensor({std::uint64_t{1} << 33, std::uint64_t{1} << 33}, 24, 0),
       "tensor 'a': shape [8589934592,8589934592]: expected at most 2^63 - 1 elements"},
      {tensor({INT64_MAX, 2}, 24, 0),
       "tensor 'a': shape [2,9223372036854775807]: expected at most 2^63 - 1 elements"},
      {tensor({(std::uint64_t{1} << 62) + 64}, 0, 0),
       "tensor 'a': shape [4611686018427387968] of F32: expected at most 2^63 - 1 bytes"},
      {tensor({31, 32}, 2, 0),
       "tensor 'a': shape [32,31]: expected rows of whole blocks of 32 elements (Q4_0), got 31"},
      {tensor({32}, 4, 0),
       "tensor 'a': type 4 (Q4_2) was removed from ggml, expected one it still has"},
      {tensor({32}, 31, 0),
       "tensor 'a': type 31 (Q4_0_4_4) was removed from ggml, expected one it still has"},
      {tensor({32}, 42, 0), "tensor 'a': type 42, expected a number of ggml's types, 0 to 41"},
      {tensor({32}, UINT32_MAX, 0),
       "tensor 'a': type 4294967295, expected a number of ggml's types, 0 to 41"},
      {tensor({1}, 0, 4), "tensor 'a': offset 4 of its data, expected a multiple of 32"},
      {tensor({1}, 0, 64), "tensor 'a': 4 bytes at offset 64 end beyond the 64 bytes of data"},
      {tensor({17}, 0, 0), "tensor 'a': 68 bytes at offset 0 end beyond the 64 bytes of data"},
      {tensor({1}, 0, UINT64_MAX - 31),
       "tensor 'a': 4 bytes at offset 18446744073709551584 end beyond the 64 bytes of data"},
      {Gguf().header(2, 0).tensor("a", {9}, 0, 0).tensor("b", {1}, 0, 32).data(64).bytes,
       "tensor 'b': begins at byte 32 of the data, inside tensor 'a' that ends at byte 36"},
      {Gguf().header(2, 0).tensor("a", {1}, 0, 0).tensor("a", {1}, 0, 32).data(64).bytes,
       "tensor 'a': the name occurs twice"},
      {Gguf().header(1, 0).tensor("\xc3", {1}, 0, 0).data(64).bytes,
       "offset 24: tensor name '\\xc3' is not UTF-8"},
  };
  for (std::size_t i = 0; i < std::size(rows); ++i)
    EXPECT_EQ(error_of(rows[i].bytes), rows[i].message) << i;
}

TEST(Gguf, EveryByteChangedEveryLengthCut) {
  const std::string good = good_gguf();
  for (std::size_t i = 0; i < good.size(); ++i) {
    user_error_of([&] { read(good.substr(0, i)); });
    for (const int change : {1, 0x10, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      user_error_of([&] { read(bad); });
    }
  }
}

}  // namespace
}  // namespace flopwise
