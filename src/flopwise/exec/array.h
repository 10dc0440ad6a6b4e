// Dense arrays with a name on every axis, and loops over them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwise/exec/meter.h"

namespace flopwise::exec {

struct Extent {
  std::string name;  // "T"
  std::int64_t size = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};
using Shape = std::vector<Extent>;  // outermost first; the last axis is contiguous

std::int64_t elements(const Shape& shape);
// Position of the axis; -1 where the shape lacks it.
int find_axis(const Shape& shape, std::string_view name);
// How far apart two neighbours along the axis lie; 0 where the shape lacks it, so that the array is
// broadcast along it.
std::int64_t stride_of(const Shape& shape, std::string_view name);

// An array; copies share their elements. Whole numbers (token ids, choices of experts) are held as
// scalars too.
template <typename Scalar>
class Array {
 public:
  Array() = default;
  explicit Array(Shape shape)
      : shape_(std::move(shape)),
        data_(std::make_shared<Buffer<Scalar>>(static_cast<std::size_t>(elements(shape_)))) {}

  bool exists() const { return data_ != nullptr; }
  const Shape& shape() const { return shape_; }
  std::int64_t size() const { return static_cast<std::int64_t>(data_->size()); }
  Scalar& operator[](std::int64_t offset) { return (*data_)[static_cast<std::size_t>(offset)]; }
  const Scalar& operator[](std::int64_t offset) const {
    return (*data_)[static_cast<std::size_t>(offset)];
  }
  Buffer<Scalar>& data() { return *data_; }
  const Buffer<Scalar>& data() const { return *data_; }

  // The same elements under other axes of the same product.
  Array viewed_as(const Shape& shape) const {
    Array view;
    view.shape_ = shape;
    view.data_ = data_;
    return view;
  }
  Array copy() const {
    Array result(shape_);
    *result.data_ = *data_;
    return result;
  }

 private:
  Shape shape_;
  std::shared_ptr<Buffer<Scalar>> data_;
};

}  // namespace flopwise::exec
