// Einsum notation: text to arrays with named axes, and what each axis is for.
//
//   A[B_X, D_Y] *_D W[D_Y, F] -> C[B_X, F] {U_Y}     sharded arrays: D_Y is axis D split over mesh
//   axis Y, D_XY and
//                                                    D_{X,Y} over both (X outermost), B_{dp,fsdp}
//                                                    over longer names; {U_Y} marks a partial sum,
//                                                    still to be added up over Y
//   bd,df->bf                                        numpy's letters: no array names, no sharding
//
// `*_D` names the axes that are contracted; `*` and `·` leave that to the output. Without `->` the
// output is every axis that is not contracted, in order of appearance. Spaces are free. Any number
// of operands up to kMaxEinsumOperands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/error.h"

namespace flopwise {

inline constexpr std::size_t kMaxEinsumBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxEinsumOperands = 16;
inline constexpr std::size_t kMaxEinsumAxes =
    64;  // distinct ones, so that a set of axes is one 64-bit word
inline constexpr std::size_t kMaxEinsumNameBytes = 64;

// A name and where it stands. Columns count characters from 1; 0 where the text does not say the
// name.
struct EinsumName {
  std::string text;
  int column = 0;
};

struct EinsumDim {
  EinsumName axis;
  std::vector<EinsumName> mesh_axes;  // outermost first; empty: whole on every device
};

// An array as written: A[B_X,D_Y] {U_Z}.
struct EinsumArray {
  EinsumName name;
  std::vector<EinsumDim> dims;
  std::vector<EinsumName> unreduced;  // mesh axes over which it is still a partial sum

  std::vector<std::string> axes() const;
  bool has_axis(std::string_view axis) const;
};

enum class EinsumAxisKind {
  kBatching,     // in two or more operands and in the output
  kContracting,  // in two or more operands, not in the output: multiplied, then added up
  kFree,         // in one operand and in the output
  kSummed,       // in one operand, not in the output: added up before anything is multiplied
};
const char* name_of(EinsumAxisKind kind);

struct EinsumAxis {
  std::string name;
  EinsumAxisKind kind = EinsumAxisKind::kFree;
};

struct EinsumSpec {
  std::vector<EinsumArray> operands;
  EinsumArray
      output;  // where it is not written: named C (or the next free letter), without placement
  bool asks_placement =
      false;  // the output is written in brackets, so where it is sharded is asked for too
  std::vector<EinsumAxis> axes;  // in order of first appearance

  EinsumAxisKind kind_of(std::string_view axis) const;  // InternalError for an axis it lacks
  bool is_sharded() const;                              // a mesh axis occurs
};

// UserError "einsum: column 12: ..." for anything that is not the notation, an axis twice in an
// array, a mesh axis twice in an array or named like an axis, an output axis that no operand has, a
// `*_D` whose D is not contracted, an ellipsis, and more than the limits above.
EinsumSpec parse_einsum(std::string_view text);

// The error of every complaint about a place in the expression.
UserError einsum_error(int column, std::string_view message);

// "C[B_X,F] {U_Y}": the inverse of the parser, without spaces between axes.
std::string describe(const EinsumArray& array);
std::string describe(const EinsumSpec& spec);

// ---- evaluation, step by step ------------------------------------------------------------------

// Arrays are numbered: operand i is i, and the result of step s is operands.size() + s.
using EinsumArrayId = int;

// One step: an array added up over some of its axes (one input), or the product of two arrays,
// added up over those axes that nobody needs any more (two inputs). All its axes are run over once:
// loop_axes.
struct EinsumStep {
  std::vector<EinsumArrayId> inputs;
  std::vector<std::string> loop_axes;
  std::vector<std::string> reduced_axes;  // those of loop_axes that the result lacks
  std::vector<std::string> result_axes;
  std::string result;  // "sum(A)", "(A*B)"; the last step's is the output's name
};

// Two arrays to multiply: ids of operands, or operands.size() + p for the result of the p-th pair.
struct EinsumPair {
  EinsumArrayId left = 0;
  EinsumArrayId right = 0;
};

// The steps that evaluate `spec` in that order of pairs (operands.size() - 1 of them): each
// operand's summed axes first, then the pairs. Empty for one operand that only changes the order of
// its axes.
std::vector<EinsumStep> einsum_steps(const EinsumSpec& spec, const std::vector<EinsumPair>& order);

}  // namespace flopwise
