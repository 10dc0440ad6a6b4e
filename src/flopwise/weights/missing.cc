#include "flopwise/weights/missing.h"

#include <fmt/format.h>

namespace flopwise {
namespace {

// As many missing experts are named one by one.
constexpr std::size_t kNamedExperts = 8;

}  // namespace

void MissingParameters::remember(const Finding& finding, StackId stack) {
  Reading& reading = *finding.reading;
  if (reading.is_remembered) return;
  reading.is_remembered = true;
  for (const Parameter* parameter : reading.parameters) {
    examples_[{stack, parameter->name}] = {finding.item->name->pattern, reading.parameters,
                                           finding.item->name->rule->layout, reading.of_one_expert};
  }
}

void MissingParameters::note(NotFound one) {
  if (one.slot.missing_slices() != 0) not_found_.push_back(std::move(one));
}

std::vector<MissingTensor> MissingParameters::named(bool is_conv1d) {
  for (const NotFound& one : not_found_) {
    const auto example = examples_.find({one.stack, one.slot.parameter->name});
    if (example == examples_.end()) {
      add_unseen(one);
    } else {
      add(one, example->second, is_conv1d);
    }
  }
  return std::move(missing_);
}

// No tensor shows the name, so the parameter's stands for it.
void MissingParameters::add_unseen(const NotFound& one) {
  const Parameter& parameter = *one.slot.parameter;
  const std::string where = one.layer ? fmt::format(" of layer {}", *one.layer)
                            : one.is_layer && one.repeat == 1 ? " of a layer"
                            : one.is_layer ? fmt::format(" of {} layers", one.repeat.str())
                                           : "";
  const std::string stack(one.is_layer ? prefix_of(one.stack) : "");
  const std::vector<Shape> shapes = shapes_of({&parameter}, Layout::kLinear, false, false);
  missing_.push_back({stack + parameter.name + where, shapes.front(), one.repeat,
                      one.slot.missing_slices() * one.repeat * parameter.slice()});
}

void MissingParameters::add(const NotFound& one, const Example& example, bool is_conv1d) {
  const Parameter& parameter = *one.slot.parameter;
  const Count slices = one.slot.missing_slices();
  const Count elements = slices * parameter.slice() * one.repeat;
  const std::string pattern = fill_pattern(example.pattern, one.layer, std::nullopt);
  const std::vector<Shape> shapes =
      shapes_of(example.parameters, example.layout, example.is_per_expert, is_conv1d);
  if (example.is_per_expert && one.repeat == 1 && slices <= Count(kNamedExperts)) {
    for (std::int64_t e = 0; Count(e) < parameter.experts; ++e) {
      if (one.slot.experts.contains(e)) continue;
      add(fill_pattern(pattern, std::nullopt, e), shapes, 1, parameter.slice());
    }
    return;
  }
  add(pattern, shapes, one.repeat * (example.is_per_expert ? slices : Count(1)), elements);
}

// A second parameter of the same missing tensor adds its elements.
void MissingParameters::add(const std::string& name, const std::vector<Shape>& shapes,
                            Count tensors, Count elements) {
  const auto [at, is_new] = missing_at_.emplace(name, missing_.size());
  if (is_new) {
    missing_.push_back({name, shapes.empty() ? Shape{} : shapes.front(), tensors, elements});
  } else {
    missing_[at->second].elements += elements;
  }
}

}  // namespace flopwise
