// In which order to multiply the operands of an einsum two by two, so that the FLOPs are the
// fewest.
//
// Exact dynamic programming over the subsets of operands (Held and Karp's scheme, as in
// opt_einsum's `dynamic-programming` without its pruning by size): the best way to make the product
// of a subset is the best split of it in two. An intermediate keeps the axes that an operand
// outside the subset or the output still needs, so an axis shared by three operands is carried
// until its last one. 3^n splits: 16 operands take a fraction of a second.
#pragma once

#include <vector>

#include "flopwise/expr/expr.h"
#include "flopwise/graph/einsum.h"

namespace flopwise {

// The cheapest order by total FLOPs; among equals the one whose largest intermediate is smallest,
// then the one nearest to left to right. Outer products are considered too. InternalError when an
// axis lacks a size.
std::vector<EinsumPair> cheapest_order(const EinsumSpec& spec, const Sizes& sizes);

// ((A*B)*C)*D: what a reader writes, and what a loop over the operands does.
std::vector<EinsumPair> left_to_right_order(const EinsumSpec& spec);

}  // namespace flopwise
