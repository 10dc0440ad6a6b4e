#include "flopwise/weights/slots.h"

#include <algorithm>
#include <utility>

namespace flopwise {

void ExpertSet::insert(std::int64_t expert) {
  if (contains(expert)) return;
  ++size_;
  if (!is_small_) {
    many_.insert(expert);
    return;
  }
  const auto word = static_cast<std::size_t>(expert) / 64;
  if (word >= bits_.size()) bits_.resize(word + 1);
  bits_[word] |= std::uint64_t{1} << (expert % 64);
}

bool Slot::is_free(std::optional<std::int64_t> expert) const {
  if (is_filled) return false;
  if (!expert) return experts.size() == 0;
  return Count(*expert) < parameter->experts && !experts.contains(*expert);
}

void Slot::fill(std::optional<std::int64_t> expert) {
  if (!expert) {
    is_filled = true;
    return;
  }
  experts.insert(*expert);
  if (Count(experts.size()) == parameter->experts) is_filled = true;
}

Count Slot::missing_slices() const {
  if (is_filled) return 0;
  if (parameter->experts == 0) return 1;
  return parameter->experts - experts.size();
}

Slots::Slots(const std::vector<Parameter>& parameters) {
  for (const Parameter& parameter : parameters) slots_.emplace_back(&parameter);
}

std::optional<std::size_t> Slots::find(std::string_view name) const {
  const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                 [&](const Slot& one) { return one.parameter->name == name; });
  if (slot == slots_.end()) return std::nullopt;
  return static_cast<std::size_t>(slot - slots_.begin());
}

std::vector<Shape> shapes_of(const std::vector<const Parameter*>& parameters, Layout layout,
                             bool one_expert, bool is_conv1d) {
  const Parameter& first = *parameters.front();
  Count out = 0;
  Count in = 0;
  const bool along_in = layout == Layout::kSideBySide && first.in != 0;
  for (const Parameter* parameter : parameters) {
    const bool fits_first =
        along_in ? parameter->out == first.out && parameter->in != 0 : parameter->in == first.in;
    if (!fits_first || parameter->experts != first.experts) return {};
    out += parameter->out;
    in += parameter->in;
  }
  (along_in ? out : in) = along_in ? first.out : first.in;
  const Count experts = one_expert ? Count(0) : first.experts;
  if (one_expert && first.experts == 0) return {};
  if (in == 0) {
    if (experts == 0) return {{out}};
    return {
        {experts, out}
    };
  }
  if (experts == 0) {
    if (layout == Layout::kTransposed || (layout == Layout::kConv1d && is_conv1d)) {
      return {
          {in, out}
      };
    }
    const bool has_heads = layout == Layout::kHeadsTransposed && parameters.size() == 1;
    if (has_heads && out.value() % first.heads.value() == 0) {
      return {
          {first.heads, in, Count::of(out.value() / first.heads.value())}
      };
    }
    return {
        {out, in}
    };
  }
  switch (layout) {
    case Layout::kStacked:
      return {
          {experts, in,  out},
          {experts, out, in }
      };
    case Layout::kMergedRows:
      return {
          {experts * out, in}
      };
    case Layout::kMergedColumns:
      return {
          {experts * in, out}
      };
    case Layout::kLinear:
    case Layout::kConv1d:
    case Layout::kTransposed:
    case Layout::kHeadsTransposed:
    case Layout::kSideBySide:
      break;
  }
  return {
      {experts, out, in}
  };
}

bool fits_axes(std::span<const std::int64_t> stored, const Shape& expected) {
  const bool is_same = std::equal(stored.begin(), stored.end(), expected.begin(), expected.end(),
                                  [](std::int64_t a, Count b) { return b == a; });
  return is_same || fits(Shape(stored.begin(), stored.end()), expected);
}

bool fits(const Shape& stored, const Shape& expected) {
  std::size_t i = 0;
  for (const Count size : expected) {
    Count product = 1;
    while (product != size && i < stored.size()) product *= stored[i++];
    if (product != size) return false;
  }
  return std::all_of(stored.begin() + static_cast<std::ptrdiff_t>(i), stored.end(),
                     [](Count size) { return size == 1; });
}

}  // namespace flopwise
