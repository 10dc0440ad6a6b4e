#include "flopwise/exec/array.h"

namespace flopwise::exec {

std::int64_t elements(const Shape& shape) {
  std::int64_t product = 1;
  for (const Extent& axis : shape) product *= axis.size;
  return product;
}

int find_axis(const Shape& shape, std::string_view name) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::int64_t stride_of(const Shape& shape, std::string_view name) {
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i].name == name) return stride;
    stride *= shape[i].size;
  }
  return 0;
}

}  // namespace flopwise::exec
