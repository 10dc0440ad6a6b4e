#include "cli/plan_options.h"

#include <fmt/format.h>

#include <chrono>
#include <ostream>

namespace flopwise::cli {

HardwareChoice devices_of(const std::string& on, const std::string& mesh) {
  HardwareChoice choice = read_hardware(on);
  if (!choice.count_given && !mesh.empty()) choice.count = parse_parallelism(mesh).devices();
  return choice;
}

std::optional<double> price_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Rational price = parse_quantity(text, "--price");
  if (price < Rational(0)) {
    throw UserError("--price: expected dollars an hour, got " + quoted(text));
  }
  return price.to_double();
}

std::function<void(double)> progress_on(std::ostream& err, const char* what) {
  using Clock = std::chrono::steady_clock;
  return [&err, what, start = Clock::now(), shown = false](double share) mutable {
    if (!shown && Clock::now() - start < std::chrono::seconds(1)) return;
    shown = true;
    err << fmt::format("\r{}: {:.0f} %", what, 100 * share);
    if (share >= 1) err << "\n";
    err.flush();
  };
}

}  // namespace flopwise::cli
