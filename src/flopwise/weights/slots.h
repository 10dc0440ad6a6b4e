// The places that stored tensors fill: the parameters of one layer, or those outside the layers.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "flopwise/weights/names.h"
#include "flopwise/weights/parameters.h"

namespace flopwise {

// Numbers of experts: of a usual count in bits, of any other, which a hostile description may say,
// in a set.
class ExpertSet {
 public:
  explicit ExpertSet(Count experts) : is_small_(experts <= kMostBits) {}
  bool contains(std::int64_t expert) const {
    if (!is_small_) return many_.count(expert) != 0;
    const auto word = static_cast<std::size_t>(expert) / 64;
    return word < bits_.size() && (bits_[word] >> (expert % 64) & 1) != 0;
  }
  void insert(std::int64_t expert);
  std::int64_t size() const { return size_; }

 private:
  static constexpr std::int64_t kMostBits = 1 << 16;
  bool is_small_;
  std::int64_t size_ = 0;
  std::vector<std::uint64_t> bits_;
  std::set<std::int64_t> many_;
};

// One parameter, and what of it has been found: all, or some of its experts.
struct Slot {
  explicit Slot(const Parameter* of) : parameter(of), experts(of->experts) {}

  const Parameter* parameter;
  bool is_filled = false;
  ExpertSet experts;  // found one by one

  bool is_free(std::optional<std::int64_t> expert) const;
  void fill(std::optional<std::int64_t> expert);
  Count missing_slices() const;  // experts, or 1, that are not found
};

class Slots {
 public:
  explicit Slots(const std::vector<Parameter>& parameters);
  std::optional<std::size_t> find(std::string_view name) const;
  Slot& at(std::size_t number) { return slots_[number]; }
  const std::vector<Slot>& all() const { return slots_; }

 private:
  std::vector<Slot> slots_;
};

using Shape = std::vector<Count>;

// The shapes in which these parameters, fused in this order, may be stored: the usual one first,
// none when they cannot be fused. `one_expert`: a slice of each; `is_conv1d`: in a family that
// stores [in, out] under the names of kConv1d.
std::vector<Shape> shapes_of(const std::vector<const Parameter*>& parameters, Layout layout,
                             bool one_expert, bool is_conv1d);

// Whether `stored` is `expected` or splits its axes further: [N, H, D] for [N*H, D]. Sizes of 1 say
// nothing.
bool fits(const Shape& stored, const Shape& expected);
bool fits_axes(std::span<const std::int64_t> stored, const Shape& expected);

}  // namespace flopwise
