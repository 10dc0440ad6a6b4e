#include "flopwise/cost/einsum_order.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

namespace flopwise {
namespace {

using AxisSet = std::uint64_t;     // bit i: spec.axes[i]
using OperandSet = std::uint32_t;  // bit i: spec.operands[i]

constexpr Int128 kHuge = std::numeric_limits<std::int64_t>::max() * (Int128{1} << 62);

// Products of up to 64 sizes may not fit 128 bits. Such an order is never the cheapest unless all
// are, and then evaluating its formula says that it overflows; here it is enough that huge stays
// huge.
Int128 saturating_mul(Int128 a, Int128 b) {
  Int128 product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kHuge : std::min(product, kHuge);
}
Int128 saturating_add(Int128 a, Int128 b) {
  return std::min(a + b, kHuge);
}  // both at most kHuge

// What is known of the best way to multiply a subset of the operands.
struct Best {
  AxisSet axes = 0;      // that its product keeps
  Int128 flops = kHuge;  // of all its pairs
  Int128 elements = 1;   // of its product
  Int128 peak = 0;       // elements of the largest product inside
  OperandSet right = 0;  // the split; the left part holds the lowest operand
  bool is_found = false;
};

class OrderSearch {
 public:
  OrderSearch(const EinsumSpec& spec, const Sizes& sizes) : count_(spec.operands.size()) {
    for (const EinsumAxis& axis : spec.axes) {
      const auto size = sizes.find(axis.name);
      FLOPWISE_CHECK(size != sizes.end(), "axis " + axis.name + " has no size");
      sizes_.push_back(size->second.value());
    }
    // Summed axes are gone before the first pair.
    for (const EinsumArray& operand : spec.operands)
      operands_.push_back(axis_set(spec, operand) & ~summed(spec));
    output_ = axis_set(spec, spec.output);
    best_.resize(std::size_t{1} << count_);
  }

  std::vector<EinsumPair> run() {
    const OperandSet all = (OperandSet{1} << count_) - 1;
    for (OperandSet set = 1; set <= all; ++set) solve(set);
    std::vector<EinsumPair> order;
    emit(all, order);
    return order;
  }

 private:
  static AxisSet axis_set(const EinsumSpec& spec, const EinsumArray& array) {
    AxisSet set = 0;
    for (std::size_t i = 0; i < spec.axes.size(); ++i) {
      if (array.has_axis(spec.axes[i].name)) set |= AxisSet{1} << i;
    }
    return set;
  }

  static AxisSet summed(const EinsumSpec& spec) {
    AxisSet set = 0;
    for (std::size_t i = 0; i < spec.axes.size(); ++i) {
      if (spec.axes[i].kind == EinsumAxisKind::kSummed) set |= AxisSet{1} << i;
    }
    return set;
  }

  Int128 points(AxisSet axes) const {
    Int128 product = 1;
    for (; axes != 0; axes &= axes - 1) {
      product = saturating_mul(product, sizes_[static_cast<std::size_t>(std::countr_zero(axes))]);
    }
    return product;
  }

  // The axes that the product of `set` keeps.
  AxisSet kept(OperandSet set) const {
    AxisSet inside = 0;
    AxisSet outside = output_;
    for (std::size_t i = 0; i < count_; ++i) {
      ((set >> i & 1U) != 0 ? inside : outside) |= operands_[i];
    }
    return inside & outside;
  }

  void solve(OperandSet set) {
    Best& best = best_[set];
    best.axes = kept(set);
    best.elements = points(best.axes);
    if (std::has_single_bit(set)) {
      best.flops = 0;
      best.is_found = true;
      return;
    }
    const OperandSet lowest = set & (~set + 1);
    const OperandSet others = set ^ lowest;
    for (OperandSet right = others; right != 0; right = (right - 1) & others) try_split(set, right);
  }

  void try_split(OperandSet set, OperandSet right) {
    Best& best = best_[set];
    const Best& a = best_[set ^ right];
    const Best& b = best_[right];
    Int128 flops = saturating_add(a.flops, b.flops);
    // The pair runs over its operands and its product at least: most splits are dear already here.
    const Int128 least = saturating_add(flops, std::max({a.elements, b.elements, best.elements}));
    if (best.is_found && (least > best.flops || least == kHuge)) return;
    const AxisSet loop = a.axes | b.axes;
    const Int128 loop_points = saturating_mul(a.elements, points(b.axes & ~a.axes));
    const Int128 per_point = (loop & ~best.axes) != 0 ? 2 : 1;
    flops = saturating_add(flops, saturating_mul(loop_points, per_point));
    const Int128 peak = std::max(inner_peak(set ^ right), inner_peak(right));
    // Ties: the fewest operands on the right, and of those the last: ((A*B)*C)*D.
    const auto rank = [](Int128 f, Int128 p, OperandSet r) {
      return std::tuple(f, p, std::popcount(r), ~r);
    };
    const bool is_better = rank(flops, peak, right) < rank(best.flops, best.peak, best.right);
    if (best.is_found && !is_better) return;
    best.flops = flops;
    best.peak = peak;
    best.right = right;
    best.is_found = true;
  }

  // The largest product that exists while `set` is made, its own included; an operand is not a
  // product.
  Int128 inner_peak(OperandSet set) const {
    return std::has_single_bit(set) ? 0 : std::max(best_[set].peak, best_[set].elements);
  }

  // Appends the pairs that make `set`; returns the id of its product.
  EinsumArrayId emit(OperandSet set, std::vector<EinsumPair>& order) const {
    if (std::has_single_bit(set)) return std::countr_zero(set);
    const OperandSet right = best_[set].right;
    const EinsumArrayId left_id = emit(set ^ right, order);
    const EinsumArrayId right_id = emit(right, order);
    order.push_back({left_id, right_id});
    return static_cast<EinsumArrayId>(count_ + order.size()) - 1;
  }

  std::size_t count_;
  std::vector<Int128> sizes_;
  std::vector<AxisSet> operands_;
  AxisSet output_ = 0;
  std::vector<Best> best_;  // by OperandSet
};

}  // namespace

std::vector<EinsumPair> cheapest_order(const EinsumSpec& spec, const Sizes& sizes) {
  return OrderSearch(spec, sizes).run();
}

std::vector<EinsumPair> left_to_right_order(const EinsumSpec& spec) {
  std::vector<EinsumPair> order;
  const auto count = static_cast<EinsumArrayId>(spec.operands.size());
  for (EinsumArrayId next = 1; next < count; ++next) {
    order.push_back({next == 1 ? 0 : count + next - 2, next});
  }
  return order;
}

}  // namespace flopwise
