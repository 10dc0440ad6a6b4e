// The devices as a grid with named axes: X=4,Y=8 is 32 of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"

namespace flopwise {

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
};

struct Mesh {
  std::vector<MeshAxis> axes;  // in the order given, outermost first

  // Nothing for an axis it lacks.
  std::optional<std::int64_t> size_of(std::string_view axis) const;
  Count devices() const;    // the product of all sizes; 1 without axes
  std::string str() const;  // "X=4,Y=8"
};

// "X=4,Y=8" or "dp=8, fsdp=16": names of letters and digits, sizes of 1 ... 2^40. UserError
// (starting with "mesh: ") for anything else, a name twice included.
Mesh parse_mesh(std::string_view text);

}  // namespace flopwise
