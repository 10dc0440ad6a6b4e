// What training keeps of every parameter, by the names under which it is published.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/rational.h"

namespace flopwise {

struct Recipe {
  std::string name;
  Rational parameters;  // bytes each, as forward reads them
  Rational gradients;
  Rational optimizer;  // master copy and moments
  std::string source;

  Rational total() const { return parameters + gradients + optimizer; }
};

const std::vector<Recipe>& recipes();
// By name, or "2+4+12": parameters, gradients, optimizer. UserError with the names otherwise.
Recipe parse_recipe(std::string_view text);

}  // namespace flopwise
