// Checkpoints for tests and for the seeds of the fuzzers, built byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flopwise::test_files {

inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}
inline std::string big(std::uint64_t value, int bytes) {
  const std::string text = little(value, bytes);
  return {text.rbegin(), text.rend()};
}

// A header and `data_bytes` zeros.
inline std::string safetensors(std::string_view header, std::size_t data_bytes) {
  return little(header.size(), 8) + std::string(header) + std::string(data_bytes, '\0');
}

// The numbers of a GGUF file in one byte order.
struct Gguf {
  bool is_big = false;
  std::string bytes;

  Gguf& number(std::uint64_t value, int size) {
    bytes += is_big ? big(value, size) : little(value, size);
    return *this;
  }
  Gguf& u32(std::uint64_t value) { return number(value, 4); }
  Gguf& u64(std::uint64_t value) { return number(value, 8); }
  Gguf& text(std::string_view text) {
    u64(text.size());
    bytes += text;
    return *this;
  }
  Gguf& header(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
    bytes += "GGUF";
    return u32(version).u64(tensors).u64(entries);
  }
  Gguf& key(std::string_view name, std::uint32_t type) { return text(name).u32(type); }
  // Dimensions in ggml's order.
  Gguf& tensor(std::string_view name, const std::vector<std::uint64_t>& dimensions,
               std::uint32_t type, std::uint64_t offset) {
    text(name).u32(dimensions.size());
    for (const std::uint64_t size : dimensions) u64(size);
    return u32(type).u64(offset);
  }
  // Padding up to the data, and the data.
  Gguf& data(std::size_t data_bytes, std::size_t alignment = 32) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment + data_bytes);
    return *this;
  }
};

inline constexpr std::string_view kGoodHeader =
    R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"BF16","shape":[2,3],"data_offsets":[0,12]},)"
    R"("b":{"dtype":"I64","shape":[],"data_offsets":[12,20]},"q":{"dtype":"F4","shape":[6],"data_offsets":[20,23]}} )";

inline std::string good_safetensors() {
  return safetensors(kGoodHeader, 23);
}

// A value of every type, and a matrix of 3 rows of 64 elements in Q4_0.
inline std::string good_gguf(bool is_big = false, std::uint32_t version = 3) {
  Gguf file = {is_big, ""};
  file.header(2, 15, version);
  file.key("general.alignment", 4).u32(64);
  file.key("general.architecture", 8).text("llama");
  file.key("k.uint8", 0).number(255, 1).key("k.int8", 1).number(255, 1);
  file.key("k.uint16", 2).number(65535, 2).key("k.int16", 3).number(65535, 2);
  file.key("k.int32", 5).u32(0xFFFFFFFE).key("k.float32", 6).u32(0x3FC00000);
  file.key("k.bool", 7).number(1, 1).key("k.uint64", 10).u64(UINT64_MAX);
  file.key("k.int64", 11).u64(UINT64_MAX).key("k.float64", 12).u64(0xBFF8000000000000);
  file.key("k.texts", 9).u32(8).u64(2).text("<s>").text("");
  file.key("k.sizes", 9).u32(4).u64(3).u32(7).u32(8).u32(9);
  file.key("k.nested", 9).u32(9).u64(2).u32(0).u64(1).number(5, 1).u32(0).u64(0);
  file.tensor("blk.0.attn_q.weight", {64, 3}, 2, 0).tensor("output_norm.weight", {5}, 0, 128);
  return file.data(128 + 20, 64).bytes;
}

}  // namespace flopwise::test_files
