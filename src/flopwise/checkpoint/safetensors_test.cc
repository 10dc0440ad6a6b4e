#include "flopwise/checkpoint/safetensors.h"

#include <map>

#include "flopwise/checkpoint/layout.h"
#include "flopwise/checkpoint/test_files.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using test_files::good_safetensors;
using test_files::little;
using test_files::safetensors;

Checkpoint read(const std::string& bytes) {
  return read_safetensors(MemorySource(bytes), "model.safetensors");
}

std::string error_of(const std::string& bytes) {
  return user_error_of([&] { read(bytes); });
}

TEST(Safetensors, TensorsAndMetadata) {
  const Checkpoint checkpoint = read(good_safetensors());
  struct Row {
    const char* name;
    const char* shape;
    const char* type;
    int elements;
    int bytes;
  };
  const Row rows[] = {
      {"a.weight", "[2,3]", "BF16", 6, 12},
      {"b", "[]", "I64", 1, 8},
      {"q", "[6]", "F4", 6, 3},
  };
  ASSERT_EQ(checkpoint.tensors.size(), std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const StoredTensor& tensor = checkpoint.tensors[i];
    EXPECT_EQ(tensor.name, rows[i].name);
    EXPECT_EQ(shape_text(tensor.shape), rows[i].shape);
    EXPECT_EQ(tensor.type.name, rows[i].type);
    EXPECT_EQ(tensor.elements, Count(rows[i].elements));
    EXPECT_EQ(tensor.bytes, Count(rows[i].bytes));
    EXPECT_EQ(tensor.file, "model.safetensors");
  }
  ASSERT_EQ(checkpoint.metadata.size(), 1u);
  EXPECT_EQ(std::get<std::string>(checkpoint.find_metadata("format")->value), "pt");
  EXPECT_EQ(checkpoint.files[0].header_bytes, Count(good_safetensors().size() - 23));
  EXPECT_EQ(checkpoint.find_metadata("absent"), nullptr);
}

// Bits of one element: huggingface/safetensors, Dtype::bitsize.
TEST(Safetensors, BitsOfEachType) {
  const std::map<std::string_view, int> bits = {
      {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"BOOL", 8},    {"U8", 8},
      {"I8", 8},          {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
      {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
      {"I32", 32},        {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},
      {"I64", 64},        {"U64", 64},
  };
  EXPECT_EQ(safetensors_types().size(), bits.size());
  for (const StoredType& type : safetensors_types()) {
    EXPECT_EQ(type.block_bytes * 8, bits.at(type.name) * type.block_elements) << type.name;
  }
}

TEST(Safetensors, WhatIsAccepted) {
  struct Row {
    const char* header;
    std::size_t data_bytes;
    std::size_t tensors;
  };
  const Row rows[] = {
      {"{}", 0, 0},
      {"{}    ", 0, 0},
      {R"({"a":{"dtype":"F32","shape":[0,5],"data_offsets":[0,0]}})", 0, 1},
      {R"({"a":{"shape":[2],"data_offsets":[4,6],"dtype":"U8"},"b":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
       6, 2},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"new":[{"x":[]},null,"y",-1.5e3]}})",
       1, 1},
      {R"({"\u00e9\ud83d\ude00\n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, 1},
  };
  for (const Row& row : rows) {
    const std::string bytes = safetensors(row.header, row.data_bytes);
    EXPECT_EQ(error_of(bytes), "no error") << row.header;
    EXPECT_EQ(read(bytes).tensors.size(), row.tensors);
  }
  EXPECT_EQ(read(safetensors(rows[5].header, 1)).tensors[0].name, "\xC3\xA9\xF0\x9F\x98\x80\n");
}

TEST(Safetensors, WrongFiles) {
  struct Row {
    std::string bytes;
    const char* message;
  };
  const Row rows[] = {
      {"", "has 0 bytes, expected at least the 8 of the header's length"},
      {"abc", "is the text 'abc', expected a safetensors file (a link kept as text?)"},
      {std::string(3, '\0'), "has 3 bytes, expected at least the 8 of the header's length"},
      {"../blobs/0123456789abcdef",
       "is the text '../blobs/0123456789abcdef', expected a safetensors file (a link kept as "
       "text?)"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
       "is a Git LFS pointer, expected the file that it stands for (git lfs pull)"},
      {little(UINT64_MAX, 8) + "{}",
       "offset 0: header of 18446744073709551615 bytes, expected at most 100000000 (no safetensors "
       "file?)"},
      {little(100'000'001, 8) + "{}",
       "offset 0: header of 100000001 bytes, expected at most 100000000 (no safetensors file?)"},
      {little(3, 8) + "{}", "offset 0: header of 3 bytes, the file has 2 after its length"},
      {little(0, 8), "header: offset 8: expected an object, got the end"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.bytes), row.message);
}

// Offsets in the messages count from the begin of the file, 8 bytes before the header.
TEST(Safetensors, WrongHeaders) {
  struct Row {
    const char* header;
    const char* message;
  };
  const Row rows[] = {
      {"[]", "header: offset 8: expected an object, got '['"},
      {"{", "header: offset 9: expected a key in quotes, got the end"},
      {"{\"a\"", "header: offset 12: expected ':', got the end"},
      {"{\"a", "header: offset 11: the text that begins at offset 9 has no end"},
      {"{}x", "header: offset 10: expected the end, got 'x'"},
      {"{a:1}", "header: offset 9: expected a key in quotes, got 'a'"},
      {"{\"a\":1}", "header: tensor 'a': offset 13: expected an object, got '1'"},
      {"{\"\xff\":{}}", "header: offset 9: text '\\xff' is not UTF-8"},
      {R"({"\ud800":{}})", "header: offset 9: text '\\xed\\xa0\\x80' is not UTF-8"},
      {R"({"\x":{}})", "header: offset 11: expected one of \"\\/bfnrtu after a backslash, got 'x'"},
      {R"({"\u12g4":{}})",
       "header: offset 14: expected four hexadecimal digits after \\u, got 'g'"},
      {R"({"a":{}})",
       "header: tensor 'a': expected dtype, shape and data_offsets, dtype is missing"},
      {R"({"a":{"dtype":"F32","shape":[1]}})",
       "header: tensor 'a': expected dtype, shape and data_offsets, data_offsets is missing"},
      {R"({"a":{"dtype":"F32","dtype":"F32"}})", "header: tensor 'a': dtype occurs twice"},
      {R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})",
       "header: tensor 'a': dtype 'F99', expected one of BOOL F4 F6_E2M3 F6_E3M2 U8 I8 F8_E5M2 "
       "F8_E4M3 F8_E8M0 F8_E4M3FNUZ F8_E5M2FNUZ I16 U16 F16 BF16 I32 U32 F32 C64 F64 I64 U64"},
      {R"({"a":{"dtype":7}})", "header: tensor 'a': offset 22: expected a text in quotes, got '7'"},
      {R"({"a":{"shape":[-1]}})",
       "header: tensor 'a': offset 23: expected a whole number of 0 to 2^64 - 1, got '-1'"},
      {R"({"a":{"shape":[1.0]}})",
       "header: tensor 'a': offset 23: expected a whole number of 0 to 2^64 - 1, got '1.0'"},
      {R"({"a":{"shape":[01]}})",
       "header: tensor 'a': offset 23: expected a whole number of 0 to 2^64 - 1, got '01'"},
      {R"({"a":{"shape":["1"]}})",
       "header: tensor 'a': offset 23: expected a whole number, got '\"'"},
      {R"({"a":{"shape":[1 2]}})", "header: tensor 'a': offset 25: expected ',' or ']', got '2'"},
      {R"({"a":{"shape":[9223372036854775808]}})",
       "header: tensor 'a': offset 42: dimension 9223372036854775808, expected at most 2^63 - 1"},
      {R"({"a":{"shape":[18446744073709551616]}})",
       "header: tensor 'a': offset 23: expected a whole number of 0 to 2^64 - 1, got "
       "'18446744073709551616'"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})",
       "header: tensor 'a': shape [4294967296,4294967296]: expected at most 2^63 - 1 elements"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})",
       "header: tensor 'a': shape [4611686018427387905] of F32: expected at most 2^63 - 1 bytes"},
      {R"({"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})",
       "header: tensor 'a': shape [3]: expected a tensor of whole blocks of 2 elements (F4), got "
       "3"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[4]}})",
       "header: tensor 'a': data_offsets: expected two numbers, got 1"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})",
       "header: tensor 'a': offset 60: data_offsets has more than two numbers"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})",
       "header: tensor 'a': data_offsets [1,0]: expected begin <= end"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})",
       "header: tensor 'a': offset 55: expected a whole number of 0 to 2^64 - 1, got '-1'"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,4]}})",
       "header: tensor 'a': data_offsets [0,4] are 4 bytes, expected 2 for [2] of U8"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]}})",
       "tensor 'a': data_offsets [0,5] end beyond the 4 bytes of data"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
       "bytes 3 to 4 of the data belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[1,4]}})",
       "bytes 0 to 1 of the data belong to no tensor (the next is 'a')"},
      {R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "tensor 'b': begins at byte 2 of the data, inside tensor 'a' that ends at byte 3"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
       "tensor 'a': the name occurs twice"},
      {R"({"__metadata__":{"a":1}})",
       "header: __metadata__: key 'a': offset 29: expected a text in quotes, got '1'"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", "header: __metadata__: key 'a' occurs twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", "header: offset 42: __metadata__ occurs twice"},
      {R"({"__metadata__":"text"})",
       "header: __metadata__: offset 24: expected an object, got '\"'"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(safetensors(row.header, 4)), row.message) << row.header;
}

// 100,000 nested arrays: refused, and not by the end of the stack.
TEST(Safetensors, DeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(error_of(safetensors(R"({"a":{"x":)" + deep, 0)),
            "header: tensor 'a': offset 82: nested deeper than 64");
  EXPECT_EQ(error_of(safetensors(deep, 0)), "header: offset 8: expected an object, got '['");
}

TEST(Safetensors, EveryByteChangedEveryLengthCut) {
  const std::string good = good_safetensors();
  for (std::size_t i = 0; i < good.size(); ++i) {
    user_error_of([&] { read(good.substr(0, i)); });
    for (const int change : {1, 0x10, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      user_error_of([&] { read(bad); });
    }
  }
  EXPECT_EQ(error_of(good.substr(0, good.size() - 1)),
            "tensor 'q': data_offsets [20,23] end beyond the 22 bytes of data");
}

// ---- the index -------------------------------------------------------------------------------

TEST(SafetensorsIndex, MapAndMetadata) {
  const std::string text = R"({"metadata": {"total_size": 13731385408.0, "note": "x", "list": [1]},
      "weight_map": {"b": "2.safetensors", "a": "1.safetensors"}, "other": {"x": [1, {}]}})";
  const SafetensorsIndex index = read_safetensors_index(MemorySource(text));
  ASSERT_EQ(index.weight_map.size(), 2u);
  EXPECT_EQ(index.weight_map[0].tensor, "a");
  EXPECT_EQ(index.files, (std::vector<std::string>{"1.safetensors", "2.safetensors"}));
  EXPECT_EQ(index.weight_map[0].file, 0u);
  EXPECT_EQ(index.weight_map[1].file, 1u);
  ASSERT_EQ(index.metadata.size(), 2u);
  EXPECT_EQ(std::get<Count>(index.metadata[0].value.value), Count(13731385408));
}

TEST(SafetensorsIndex, WrongIndexes) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"", "offset 0: expected an object, got the end"},
      {"{}", "expected a field weight_map, as a safetensors index has"},
      {R"({"weight_map": {}})", "weight_map: expected at least one tensor"},
      {R"({"weight_map": []})", "weight_map: offset 15: expected an object, got '['"},
      {R"({"weight_map": {"a": 1}})", "weight_map: 'a': offset 21: expected a file name, got '1'"},
      {R"({"weight_map": {"a": "../a.safetensors"}})",
       "weight_map: 'a': expected the name of a .safetensors file in the same folder, got "
       "'../a.safetensors'"},
      {R"({"weight_map": {"a": "/etc/passwd"}})",
       "weight_map: 'a': expected the name of a .safetensors file in the same folder, got "
       "'/etc/passwd'"},
      {R"({"weight_map": {"a": "pytorch_model-00001-of-00002.bin"}})",
       "weight_map: 'a': expected the name of a .safetensors file in the same folder, got "
       "'pytorch_model-00001-of-00002.bin'"},
      {R"({"weight_map": {"a": "x.safetensors", "a": "y.safetensors"}})",
       "weight_map: tensor 'a': the name occurs twice"},
      {R"({"weight_map": {"a": "x.safetensors"}, "weight_map": {}})",
       "offset 52: weight_map occurs twice"},
      {R"({"weight_map": {"a": "x.safetensors"}, "metadata": {"n": 1, "n": 2}})",
       "metadata: key 'n' occurs twice"},
      {R"({"weight_map": {"a": "x.safetensors"}, "metadata": {"n": nul}})",
       "metadata: offset 57: expected a value, got 'nul'"},
      {R"({"weight_map": {"a": "x.safetensors"}} 5)", "offset 39: expected the end, got '5'"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(user_error_of([&] { read_safetensors_index(MemorySource(row.text)); }), row.message)
        << row.text;
  }
}

}  // namespace
}  // namespace flopwise
