#include "flopwise/report/einsum_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace flopwise {

bool is_known(const Expr& expr, const Sizes& sizes) {
  const std::set<std::string> symbols = expr.symbols();
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](const std::string& s) { return sizes.count(s) > 0; });
}

std::optional<Count> value_of(const Expr& formula, const Sizes& sizes, std::string_view quantity) {
  if (!is_known(formula, sizes)) return std::nullopt;
  return formula.eval_count(sizes, quantity);
}

bool contracts(const EinsumSpec& spec) {
  return std::any_of(spec.axes.begin(), spec.axes.end(), [](const EinsumAxis& axis) {
    return axis.kind == EinsumAxisKind::kContracting;
  });
}

bool is_on_mesh(const EinsumAnswer& answer) {
  return answer.mesh.has_value() || answer.spec.is_sharded();
}

StepNames::StepNames(const EinsumAnswer& answer) {
  for (const EinsumArray& operand : answer.spec.operands) add(operand.name.text, operand.axes());
  for (const EinsumStepCost& step : answer.cost.steps) add(step.step.result, step.step.result_axes);
  operands_ = answer.spec.operands.size();
}

const std::string& StepNames::array(EinsumArrayId id) const {
  return arrays_.at(static_cast<std::size_t>(id));
}

const std::string& StepNames::result(std::size_t step) const {
  return arrays_.at(operands_ + step);
}

std::string StepNames::inputs(const EinsumStep& step) const {
  std::string text;
  for (const EinsumArrayId id : step.inputs) text += (text.empty() ? "" : " * ") + array(id);
  return text;
}

void StepNames::add(const std::string& name, const std::vector<std::string>& axes) {
  arrays_.push_back(fmt::format("{}[{}]", name, fmt::join(axes, ",")));
}

}  // namespace flopwise
