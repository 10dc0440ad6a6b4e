// The lengths at which a plot over the context has its points.
#pragma once

#include <cstdint>
#include <vector>

namespace flopwise {

// 2^n and 3*2^n between the two, themselves included. UserError where from > to.
std::vector<std::int64_t> contexts_between(std::int64_t from, std::int64_t to);

// Powers of two from `from` up to `most`, itself included. UserError where from > most.
std::vector<std::int64_t> device_counts(std::int64_t from, std::int64_t most);

}  // namespace flopwise
