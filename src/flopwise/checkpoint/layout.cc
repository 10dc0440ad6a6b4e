#include "flopwise/checkpoint/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// Zero where a dimension is zero, whatever the others are.
std::int64_t product(std::span<const std::int64_t> shape) {
  if (contains(shape, 0)) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product)) {
      throw UserError(
          fmt::format("shape {}: expected at most 2^63 - 1 elements", shape_text(shape)));
    }
  }
  return product;
}

constexpr std::size_t kMaxNamesBytes = std::size_t{12} << 20;

}  // namespace

void NameBudget::take(std::string_view name) {
  taken_ += name.size();
  if (name.size() > kMaxNameBytes || taken_ > kMaxNamesBytes) {
    throw UserError(
        fmt::format("a name of {} bytes, expected at most {}, and {} MiB of all names together",
                    name.size(), kMaxNameBytes, kMaxNamesBytes >> 20));
  }
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

void set_size(StoredTensor& tensor, Blocks blocks) {
  const std::int64_t elements = product(tensor.shape);
  tensor.elements = elements;
  if (tensor.type.block_elements == 1) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(elements, std::int64_t{tensor.type.block_bytes}, &bytes)) {
      throw UserError(fmt::format("shape {} of {}: expected at most 2^63 - 1 bytes",
                                  shape_text(tensor.shape), tensor.type.name));
    }
    tensor.bytes = bytes;
    return;
  }
  const bool is_row = blocks == Blocks::kPerRow;
  const Count unit = !is_row ? tensor.elements : tensor.shape.empty() ? 1 : tensor.shape.back();
  const std::optional<Count> bytes = stored_bytes(tensor.type, tensor.elements);
  if (!stored_bytes(tensor.type, unit) || !bytes) {
    throw UserError(fmt::format("shape {}: expected {} of whole blocks of {} elements ({}), got {}",
                                shape_text(tensor.shape), is_row ? "rows" : "a tensor",
                                tensor.type.block_elements, tensor.type.name, unit.str()));
  }
  if (*bytes > Count(INT64_MAX)) {
    throw UserError(fmt::format("shape {} of {}: expected at most 2^63 - 1 bytes",
                                shape_text(tensor.shape), tensor.type.name));
  }
  tensor.bytes = *bytes;
}

void sort_extents(std::vector<Extent>& extents, std::span<const StoredTensor> tensors) {
  const auto is_before = [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.end, a.tensor) < std::tie(b.begin, b.end, b.tensor);
  };
  // Files are written in this order.
  if (!std::is_sorted(extents.begin(), extents.end(), is_before)) {
    std::sort(extents.begin(), extents.end(), is_before);
  }
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const Extent& before = extents[i - 1];
    const Extent& here = extents[i];
    if (here.begin < before.end) {
      throw UserError(fmt::format(
          "tensor {}: begins at byte {} of the data, inside tensor {} that ends at byte {}",
          quoted(tensors[here.tensor].name), here.begin, quoted(tensors[before.tensor].name),
          before.end));
    }
  }
}

void check_names_differ(std::span<const StoredTensor> tensors) {
  // Names in order, as files of one element type have them, differ.
  const auto is_not_before = [](const StoredTensor& a, const StoredTensor& b) {
    return a.name >= b.name;
  };
  if (std::adjacent_find(tensors.begin(), tensors.end(), is_not_before) == tensors.end()) return;
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(tensors[a].name, a) < std::tie(tensors[b].name, b);
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const StoredTensor& first = tensors[order[i - 1]];
    const StoredTensor& second = tensors[order[i]];
    if (first.name != second.name) continue;
    throw UserError(first.file == second.file
                        ? fmt::format("tensor {}: the name occurs twice", quoted(first.name))
                        : fmt::format("tensor {}: stored in {} and in {}, expected in one file",
                                      quoted(first.name), quoted(first.file), quoted(second.file)));
  }
}

}  // namespace flopwise
