// What the reports of train and serve write alike.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/base/json.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/plan/parallelism.h"
#include "flopwise/plan/train.h"

namespace flopwise {

Json whole_bytes(double value);  // a whole number
struct MemoryPart {
  const char* name;
  double bytes;
};
// The parts as whole numbers, "total" their sum, "capacity" and "usable" of the chip.
Json memory_parts_json(const std::vector<MemoryPart>& parts, const Hardware& hardware,
                       double usable);
std::string describe(const Padding& padding);  // "vocabulary of 50,257 filled up to 50,264 rows"
Json time_json(const TimeRange& time);
Json mesh_json(const Parallelism& mesh);

// tp is tk*tg where its devices outnumber the key heads; a reader knows the two together.
struct AxisBytes {
  const char* name;
  double bytes;
};
std::vector<AxisBytes> axis_bytes(const std::array<double, 6>& by_axis, double pipeline);

std::string duration(double time_s);  // "12.3 ms", "3.4 h", "17.2 days"
std::string money(double usd);        // "$0.42", "$5.1 M"
// "3.2 GiB to spare of 75.2 GiB usable, 94 % of 80 GiB"; that the memory is not known.
std::string memory_verdict(const Hardware& hardware, double used);
// Dollars per device and hour: the user's price, else the chip's; nothing where neither is known.
std::optional<double> price_of(const Hardware& hardware, const std::optional<double>& given);

}  // namespace flopwise
