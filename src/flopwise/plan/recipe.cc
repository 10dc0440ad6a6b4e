#include "flopwise/plan/recipe.h"

#include <fmt/format.h>

#include "flopwise/base/error.h"
#include "flopwise/base/split.h"
#include "flopwise/base/units.h"

namespace flopwise {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> kRecipes = {
      {"megatron", 2, 4, 12,
       "Korthikanti et al. 2022, figure 1: fp16 parameters, fp32 gradients, master copy and Adam "
       "moments, 18 bytes a parameter"                                             },
      {"zero",     2, 2, 12,
       "Rajbhandari et al. 2020, section 3.1: fp16 parameters and gradients, fp32 master copy and "
       "Adam moments, 16 bytes"                                                    },
      {"book",     2, 0, 8,
       "How to Scale Your Model, chapter 6: bf16 parameters and fp32 Adam moments, 10 bytes, "
       "gradients not counted"                                                     },
      {"maxtext",  4, 0, 8,
       "MaxText: fp32 parameters and Adam moments, 12 bytes, gradients not counted"},
      {"fp32",     4, 4, 8,  "everything in fp32, Adam moments: 16 bytes"          },
  };
  return kRecipes;
}

Recipe parse_recipe(std::string_view text) {
  std::string names;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == text) return recipe;
    names += recipe.name + ", ";
  }
  const std::vector<std::string_view> parts = split(text, '+');
  if (parts.size() == 3) {
    Recipe recipe{std::string(text), {}, {}, {}, "given"};
    Rational* const targets[] = {&recipe.parameters, &recipe.gradients, &recipe.optimizer};
    for (std::size_t i = 0; i < 3; ++i) {
      *targets[i] = parse_quantity(std::string(parts[i]), "--recipe");
      if (*targets[i] < Rational(0)) {
        throw UserError(
            fmt::format("--recipe: expected bytes of at least 0, got {}", quoted(text)));
      }
    }
    return recipe;
  }
  throw UserError(fmt::format(
      "--recipe: expected {}or bytes of parameters+gradients+optimizer such as 2+4+12, got {}",
      names, quoted(text)));
}

}  // namespace flopwise
