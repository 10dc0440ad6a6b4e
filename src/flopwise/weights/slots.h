// The places that stored tensors fill: the parameters of one layer, or those outside the layers.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "flopwise/weights/names.h"
#include "flopwise/weights/parameters.h"

namespace flopwise {

// One parameter, and what of it has been found: all, or some of its experts.
struct Slot {
  const Parameter* parameter = nullptr;
  bool is_filled = false;
  std::set<std::int64_t> experts;  // found one by one

  bool is_free(std::optional<std::int64_t> expert) const;
  void fill(std::optional<std::int64_t> expert);
  Count missing_slices() const;  // experts, or 1, that are not found
};

class Slots {
 public:
  explicit Slots(const std::vector<Parameter>& parameters);
  Slot* find(const std::string& name);  // null when there is none
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

}  // namespace flopwise
