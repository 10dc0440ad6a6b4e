// Small sizes for every letter of a model: one draw after another, each with all sizes distinct, so
// that no axis can be mistaken for another. docs/proof.md says which draws a proof needs and why.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace flopwise {

// How a mask's size lies to the positions: each is another branch of the pair counts.
enum class MaskRegime {
  kShort,   // W < T;          C divides T
  kMiddle,  // T <= W < S;     C < T does not divide it, where T allows that
  kLong,    // W >= S;         C > S
};
inline constexpr int kMaskRegimes = 3;
const char* name_of(MaskRegime regime);

class SizeDraw {
 public:
  SizeDraw(std::uint64_t seed, MaskRegime regime) : seed_(seed), regime_(regime) {}

  // The size of a letter: of B T X R L D F Fs V De G K H Hv r E k W C h P labels types buckets;
  // "F'" and the like are further sizes of the same kind. X = S - T is what decoding adds to T
  // positions. The same letter keeps its size; H and r, the rotated part of it, are even.
  std::int64_t of(const std::string& letter);
  // From now on the letter is `steps` larger than drawn.
  void vary(const std::string& letter, std::int64_t steps);

  std::int64_t positions() { return of("T") + of("X"); }  // the longest S
  MaskRegime regime() const { return regime_; }
  // Every letter asked for so far, with its size.
  const std::map<std::string, std::int64_t>& sizes() const { return sizes_; }
  // "B=2 D=11 ..."
  std::string str() const;

 private:
  std::int64_t drawn(const std::string& letter);
  std::set<std::int64_t> sizes_of_axes() const;
  std::int64_t mask_size(const std::string& letter);

  std::uint64_t seed_;
  MaskRegime regime_;
  std::map<std::string, std::int64_t> varied_;
  std::map<std::string, std::int64_t> drawn_;  // before varying
  std::map<std::string, std::int64_t> sizes_;
};

// The highest power of a letter in any formula: 2 where pairs of positions are counted.
int degree_of(const std::string& letter);

}  // namespace flopwise
