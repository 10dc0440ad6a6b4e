#include "flopwise/proof/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/exec/ops.h"

namespace flopwise {
namespace {

struct Range {
  std::string_view letter;
  std::int64_t low;
  std::int64_t high;
  std::int64_t step;
};
// Wide where a matrix is, narrow where many axes multiply: a run stays under a million operations.
// clang-format off
constexpr Range kRanges[] = {
    {"B", 2, 5, 1}, {"T", 4, 10, 1}, {"X", 2, 5, 1}, {"R", 3, 8, 1},
    {"D", 7, 14, 1}, {"F", 8, 16, 1}, {"Fs", 5, 12, 1}, {"V", 9, 19, 1},
    {"De", 5, 9, 1}, {"G", 2, 5, 1}, {"K", 2, 6, 1}, {"H", 4, 12, 2},
    {"Hv", 3, 9, 1}, {"Cq", 5, 11, 1}, {"Ckv", 6, 12, 1}, {"Hn", 3, 8, 1},
    {"Hr", 2, 6, 2}, {"E", 4, 9, 1}, {"k", 2, 4, 1}, {"labels", 2, 6, 1},
    {"buckets", 2, 5, 1}, {"r", 2, 4, 2}, {"types", 2, 4, 1}, {"h", 1, 5, 1},
    {"P", 1, 9, 1}, {"Di", 5, 9, 1}, {"Ns", 2, 7, 1}, {"Rt", 2, 5, 1},
    {"Q", 2, 5, 1}, {"Gm", 2, 3, 1}, {"Jm", 2, 4, 1}, {"Hm", 2, 6, 1},
    {"Kd", 2, 3, 1}, {"Jd", 2, 4, 1}, {"Hk", 2, 6, 1}, {"Hd", 3, 7, 1},
    {"Dl", 4, 8, 1}, {"Cp", 4, 9, 1}, {"mels", 3, 7, 1}, {"Dp", 5, 9, 1},
    {"Do", 5, 9, 1}, {"Pl", 3, 7, 1}, {"Vl", 9, 19, 1}, {"Ni", 2, 4, 1},
    {"Hi", 2, 5, 1}, {"Lq", 2, 5, 1}, {"U", 3, 7, 1},
};
// clang-format on

std::string_view kind_of(std::string_view letter) {
  return letter.substr(0, letter.find('\''));
}

std::int64_t smallest_divisor(std::int64_t n) {
  for (std::int64_t d = 2; d < n; ++d) {
    if (n % d == 0) return d;
  }
  return n;
}

std::int64_t smallest_non_divisor(std::int64_t n) {
  for (std::int64_t d = 2; d < n; ++d) {
    if (n % d != 0) return d;
  }
  return n;
}

}  // namespace

const char* name_of(MaskRegime regime) {
  switch (regime) {
    case MaskRegime::kShort:
      return "short";
    case MaskRegime::kMiddle:
      return "middle";
    case MaskRegime::kLong:
      return "long";
  }
  return "";
}

std::int64_t SizeDraw::of(const std::string& letter) {
  const auto known = sizes_.find(letter);
  if (known != sizes_.end()) return known->second;
  const auto varied = varied_.find(letter);
  const std::int64_t steps = varied == varied_.end() ? 0 : varied->second;
  const std::string_view kind = kind_of(letter);
  const bool is_even = kind == "H" || kind == "r" || kind == "Hr";
  const std::int64_t step = is_even ? 2 : 1;
  const std::int64_t size = drawn(letter) + steps * step;
  sizes_[letter] = size;
  return size;
}

void SizeDraw::vary(const std::string& letter, std::int64_t steps) {
  varied_[letter] = steps;
  sizes_.erase(letter);
}

std::int64_t SizeDraw::drawn(const std::string& letter) {
  const auto known = drawn_.find(letter);
  if (known != drawn_.end()) return known->second;
  const std::string_view kind = kind_of(letter);
  if (kind == "W" || kind == "C" || kind == "Sx") return drawn_[letter] = mask_size(letter);
  // Not an axis: it may be like another size.
  if (kind == "L") return drawn_[letter] = exec::uniform(seed_, letter.size()) < 0.75 ? 2 : 3;
  const auto range = std::find_if(std::begin(kRanges), std::end(kRanges),
                                  [&](const Range& r) { return r.letter == kind; });
  FLOPWISE_CHECK(range != std::end(kRanges), "no range for the letter " + letter);
  std::vector<std::int64_t> candidates;
  for (std::int64_t size = range->low; size <= range->high; size += range->step) {
    candidates.push_back(size);
  }
  const std::uint64_t seed = exec::derived_seed(seed_, letter);
  for (std::size_t i = candidates.size(); i > 1; --i) {
    const double draw = exec::uniform(seed, i) * static_cast<double>(i);
    std::swap(candidates[i - 1], candidates[static_cast<std::size_t>(draw)]);
  }
  const std::set<std::int64_t> taken = sizes_of_axes();
  const auto is_free = [&](std::int64_t size) { return taken.count(size) == 0; };
  const auto free = std::find_if(candidates.begin(), candidates.end(), is_free);
  return drawn_[letter] = free == candidates.end() ? candidates[0] : *free;
}

// Of the letters drawn so far, and what is made of two of them: S = T + X, N = K*G.
std::set<std::int64_t> SizeDraw::sizes_of_axes() const {
  std::set<std::int64_t> sizes;
  for (const auto& [letter, size] : drawn_) {
    const std::string_view kind = kind_of(letter);
    if (kind == "L") continue;
    sizes.insert(size);
    for (const auto& [other, other_size] : drawn_) {
      if (kind == "K" && kind_of(other) == "G") sizes.insert(size * other_size);
      if (kind == "T" && kind_of(other) == "X") sizes.insert(size + other_size);
    }
  }
  return sizes;
}

std::int64_t SizeDraw::mask_size(const std::string& letter) {
  const std::int64_t queries = drawn("T");
  const std::int64_t keys = queries + drawn("X");
  const bool is_window = kind_of(letter) == "W" || kind_of(letter) == "Sx";
  const std::int64_t shift =
      static_cast<std::int64_t>(letter.size() - kind_of(letter).size());  // W', W'': others
  switch (regime_) {
    case MaskRegime::kShort:
      return is_window ? std::max<std::int64_t>(1, queries / 2 - shift) : smallest_divisor(queries);
    case MaskRegime::kMiddle:
      return is_window ? std::min(queries + 1 + shift, keys - 1) : smallest_non_divisor(queries);
    case MaskRegime::kLong:
      return keys + 1 + shift;
  }
  throw InternalError("unknown regime");
}

std::string SizeDraw::str() const {
  std::string text;
  for (const auto& [letter, size] : sizes_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", letter, size);
  }
  return text;
}

int degree_of(const std::string& letter) {
  const std::string_view kind = kind_of(letter);
  // A dense layer from D to D; experts of which all are active.
  if (kind == "D" || kind == "E") return 2;
  const bool counts_pairs = kind == "T" || kind == "X" || kind == "R" || kind == "W" ||
                            kind == "Sx" || kind == "C" || kind == "h" || kind == "P";
  return counts_pairs ? 2 : 1;
}

}  // namespace flopwise
