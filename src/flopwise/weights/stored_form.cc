#include "flopwise/weights/stored_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "flopwise/base/contains.h"

namespace flopwise {
namespace {

constexpr int kWordBits = 32;

// What an unpacking rule sees.
struct Packed {
  const StoredTensor& tensor;
  std::string_view module;
  const FindTensor& find;
  Count columns;

  std::optional<std::vector<std::int64_t>> matrix(const StoredTensor* one) const {
    if (one == nullptr || one->shape.size() != 2) return std::nullopt;
    return std::vector<std::int64_t>(one->shape.begin(), one->shape.end());
  }
  std::optional<std::vector<std::int64_t>> matrix(std::string_view suffix) const {
    return matrix(find(std::string(module) + std::string(suffix)));
  }
};

std::optional<Count> quotient(Count a, Count b) {
  if (b == 0 || a.value() % b.value() != 0) return std::nullopt;
  return Count::of(a.value() / b.value());
}

// 1 ... 8 bits, when a*32/b is such a number.
std::optional<Count> bits_from(Count words, Count elements) {
  const auto bits = quotient(words * kWordBits, elements);
  if (!bits || *bits < 1 || *bits > 8) return std::nullopt;
  return bits;
}

std::string with_bits(std::string_view form, Count bits) {
  return fmt::format("{}, {} bits", form, bits.str());
}

Unpacked matrix_of(Count out, Count in, std::string form) {
  return {
      out * in, std::vector<Count>{out, in},
         std::move(form)
  };
}

std::vector<Count> counts_of(std::span<const std::int64_t> shape) {
  return {shape.begin(), shape.end()};
}

std::optional<Unpacked> unpack_gptq(const Packed& packed) {
  const auto words = packed.matrix(&packed.tensor);
  const auto scales = packed.matrix(".scales");
  if (!words || !scales || (*words)[1] != (*scales)[1]) return std::nullopt;
  const Count out = (*words)[1];
  const auto zeros = packed.matrix(".qzeros");
  const auto bits = zeros ? bits_from((*zeros)[1], out) : bits_from((*words)[0], packed.columns);
  if (!bits) return std::nullopt;
  const auto in = quotient(Count((*words)[0]) * kWordBits, *bits);
  if (!in) return std::nullopt;
  return matrix_of(out, *in, with_bits("GPTQ", *bits));
}

std::optional<Unpacked> unpack_awq(const Packed& packed) {
  const auto words = packed.matrix(&packed.tensor);
  const auto scales = packed.matrix(".scales");
  if (!words || !scales) return std::nullopt;
  const auto bits = bits_from((*words)[1], (*scales)[1]);
  if (!bits) return std::nullopt;
  return matrix_of((*scales)[1], (*words)[0], with_bits("AWQ", *bits));
}

// The innermost axis is packed into words; the bits are those that give the expected size.
std::optional<Unpacked> unpack_words(const Packed& packed, std::string_view form, Count bits) {
  std::vector<Count> shape = counts_of(packed.tensor.shape);
  shape.back() = packed.columns;
  Count elements = 1;
  for (const Count size : shape) elements *= size;
  return Unpacked{elements, std::move(shape), with_bits(form, bits)};
}

std::optional<Count> bits_of_words(const Packed& packed) {
  if (packed.tensor.shape.empty()) return std::nullopt;
  return bits_from(packed.tensor.shape.back(), packed.columns);
}

// No weight crosses a word.
std::optional<Unpacked> unpack_compressed(const Packed& packed) {
  const auto bits = bits_of_words(packed);
  if (!bits || kWordBits % bits->value() != 0) return std::nullopt;
  return unpack_words(packed, "compressed-tensors", *bits);
}

std::optional<Unpacked> unpack_mlx(const Packed& packed) {
  const auto bits = bits_of_words(packed);
  if (!bits) return std::nullopt;
  return unpack_words(packed, "MLX", *bits);
}

std::optional<Unpacked> halved(const Packed& packed, std::string form) {
  if (packed.tensor.shape.empty()) return std::nullopt;
  std::vector<Count> shape = counts_of(packed.tensor.shape);
  shape.back() *= 2;
  return Unpacked{packed.tensor.elements * 2, std::move(shape), std::move(form)};
}

std::optional<Unpacked> unpack_nvfp4(const Packed& packed) {
  return halved(packed, "NVFP4");
}

std::optional<Unpacked> unpack_fp4(const Packed& packed) {
  return halved(packed, "FP4");
}

// A flat array of bytes; the shape is in a blob that no header shows.
std::optional<Unpacked> unpack_bitsandbytes(const Packed& packed) {
  return Unpacked{packed.tensor.elements * 2, std::nullopt, "bitsandbytes, 4 bits"};
}

std::optional<Unpacked> unpack_mxfp4(const Packed& packed) {
  std::vector<Count> shape = counts_of(packed.tensor.shape);
  if (shape.size() < 2) return std::nullopt;
  const Count block = shape.back() * 2;
  shape.pop_back();
  shape.back() *= block;
  return Unpacked{packed.tensor.elements * 2, std::move(shape), "MXFP4"};
}

std::optional<Unpacked> unpack_bytes(const Packed& packed) {
  return Unpacked{packed.tensor.elements, counts_of(packed.tensor.shape),
                  fmt::format("{} with scales", packed.tensor.type.name)};
}

// A row applies when leaf and type are these and the companion is there.
struct Form {
  std::string_view leaf;
  std::string_view type;
  std::string_view companion;
  std::optional<Unpacked> (*unpack)(const Packed& packed);
};
constexpr Form kForms[] = {
    {".qweight",       "I32",     ".scales",           unpack_gptq        },
    {".qweight",       "I32",     ".scales",           unpack_awq         },
    {".weight_packed", "I32",     ".weight_scale",     unpack_compressed  },
    {".weight_packed", "U8",      ".weight_scale",     unpack_fp4         },
    {".weight",        "U32",     ".scales",           unpack_mlx         },
    {".weight",        "U8",      ".weight.absmax",    unpack_bitsandbytes},
    {".weight",        "U8",      ".weight_scale_2",   unpack_nvfp4       },
    {".weight",        "I8",      ".SCB",              unpack_bytes       },
    {".weight",        "I8",      ".weight_scale",     unpack_bytes       },
    {".weight",        "F8_E4M3", ".weight_scale_inv", unpack_bytes       },
    {".weight",        "F8_E4M3", ".weight_scale",     unpack_bytes       },
    {".weight",        "F8_E5M2", ".weight_scale_inv", unpack_bytes       },
    {".weight",        "F8_E5M2", ".weight_scale",     unpack_bytes       },
    {"_blocks",        "U8",      "_scales",           unpack_mxfp4       },
};

constexpr std::string_view kFloatTypes[] = {"F16", "BF16", "F32", "F64"};

}  // namespace

Unpacked unpack(const StoredTensor& tensor, const NamePattern& name, const FindTensor& find,
                Count columns) {
  const std::string_view module = name.module_of(tensor.name);
  const Packed packed{tensor, module, find, columns};
  for (const Form& form : kForms) {
    if (name.leaf->suffix != form.leaf || tensor.type.name != form.type) continue;
    if (find(std::string(module) + std::string(form.companion)) == nullptr) continue;
    if (auto unpacked = form.unpack(packed)) return *std::move(unpacked);
  }
  return {tensor.elements, counts_of(tensor.shape), ""};
}

bool has_quantised_type(const StoredTensor& tensor) {
  return !contains(kFloatTypes, tensor.type.name);
}

}  // namespace flopwise
