// What the answer of `flopwise einsum` is made of, for the JSON and the text of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/report/einsum_report.h"

namespace flopwise {

// Every size that the formula needs is given.
bool is_known(const Expr& expr, const Sizes& sizes);
// Nothing while a size is missing; what does not fit is an error that names `quantity`.
std::optional<Count> value_of(const Expr& formula, const Sizes& sizes, std::string_view quantity);

bool contracts(const EinsumSpec& spec);
bool is_on_mesh(const EinsumAnswer& answer);

// What step `index` computes: "A[I,J] * B[J,K] -> (A*B)[I,K]".
class StepNames {
 public:
  explicit StepNames(const EinsumAnswer& answer);

  const std::string& array(EinsumArrayId id) const;
  const std::string& result(std::size_t step) const;
  std::string inputs(const EinsumStep& step) const;

 private:
  void add(const std::string& name, const std::vector<std::string>& axes);

  std::vector<std::string> arrays_;
  std::size_t operands_ = 0;
};

}  // namespace flopwise
