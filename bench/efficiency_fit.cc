// The constants of the efficiency model, found again from single kernels and collectives
// (src/flopwise/hardware/kernel_rows.h): each beside the one in use, and the errors of both.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "flopwise/base/text_table.h"
#include "flopwise/hardware/kernel_fit.h"

namespace flopwise {
namespace {

using Constants = std::vector<double Efficiency::*>;

Constants fitted_to(const Efficiency& efficiency, std::string_view group) {
  Constants constants;
  for (const FittedTo& fitted : efficiency.fitted_to) {
    if (fitted.rows != group) continue;
    for (const EfficiencyConstant& constant : kEfficiencyConstants) {
      if (constant.name == fitted.constant) constants.push_back(constant.value);
    }
  }
  return constants;
}

// One constant after the other, by ever smaller factors, as long as the error falls.
Efficiency fit(const std::vector<KernelFitRow>& rows, std::string_view group, Efficiency best) {
  const Constants constants = fitted_to(best, group);
  double error = fit_error(rows, group, best);
  for (double step = 0.2; step > 0.001; step /= 2) {
    for (bool improved = true; improved;) {
      improved = false;
      for (const auto constant : constants) {
        for (const double factor : {1 - step, 1 + step}) {
          Efficiency tried = best;
          tried.*constant *= factor;
          const double tried_error = fit_error(rows, group, tried);
          if (tried_error >= error - 1e-9) continue;
          best = tried;
          error = tried_error;
          improved = true;
        }
      }
    }
  }
  return best;
}

void print_fits() {
  const std::vector<KernelFitRow> rows = kernel_fit_rows();
  TextTable table({
      {"family",      Align::kLeft},
      {"constant",             Align::kLeft},
      {"rows",Align::kLeft},
      {"number"       },
      {"in use"            },
      {"error"     },
      {"fitted"},
      {"error"       },
  });
  for (const Efficiency& efficiency : efficiencies()) {
    for (const FittedTo& constant : efficiency.fitted_to) {
      const Efficiency fitted = fit(rows, constant.rows, efficiency);
      const auto number = std::count_if(rows.begin(), rows.end(), [&](const KernelFitRow& row) {
        return row.group == constant.rows;
      });
      for (const EfficiencyConstant& each : kEfficiencyConstants) {
        if (each.name != constant.constant) continue;
        table.add_row({std::string(efficiency.family), std::string(each.name),
                       std::string(constant.rows), std::to_string(number),
                       fmt::format("{:.3g}", efficiency.*each.value),
                       fmt::format("{:.1f} %", 100 * fit_error(rows, constant.rows, efficiency)),
                       fmt::format("{:.3g}", fitted.*each.value),
                       fmt::format("{:.1f} %", 100 * fit_error(rows, constant.rows, fitted))});
      }
    }
  }
  std::fputs(table.str().c_str(), stdout);
}

}  // namespace
}  // namespace flopwise

int main() {
  flopwise::print_fits();
  return 0;
}
