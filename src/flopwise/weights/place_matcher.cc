#include "flopwise/weights/place_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace flopwise {
namespace {

Finding extra(const Item& item, std::string why) {
  Finding finding;
  finding.item = &item;
  finding.why = std::move(why);
  return finding;
}

Slot& slot_of(const Reading::Place& place, PlaceFindings& found) {
  return (place.is_outside ? found.outside : found.slots).at(place.slot);
}

// Of a flat array of two values a byte the number alone is known; an odd one is rounded up.
bool holds(Unpacked& unpacked, const Shape& expected, Count elements) {
  if (unpacked.shape) return fits(*unpacked.shape, expected);
  const bool is_whole = unpacked.elements == elements || unpacked.elements == elements + 1;
  if (is_whole) unpacked.elements = elements;
  return is_whole;
}

}  // namespace

Count PlaceFindings::failures() const {
  Count count = 0;
  for (const Finding& finding : findings) {
    if (finding.outcome == Outcome::kExtra || finding.outcome == Outcome::kOtherShape) count += 1;
  }
  for (const Slot& slot : slots.all()) count += slot.missing_slices();
  return count;
}

PlaceFindings PlaceMatcher::match(const Slots& outside, const std::vector<Item>& items) {
  PlaceFindings place = {{}, fresh_, outside};
  place.findings.reserve(items.size());
  // What can mean one thing only comes first: of norm1 and norm2 the first is norm1, of norm0 and
  // norm1 the second.
  for (const bool is_clear : {true, false}) {
    for (const Item& item : items) {
      if (item.name->kind != NameKind::kParameter) continue;
      if (readings_of(item, place.outside).is_clear == is_clear) {
        place.findings.push_back(parameter(item, place));
      }
    }
  }
  if (place.findings.size() != items.size()) add_companions(items, place);
  return place;
}

// What stands beside a quantised weight; anything else that is no parameter is extra.
void PlaceMatcher::add_companions(const std::vector<Item>& items, PlaceFindings& place) const {
  std::map<std::string_view, const Parameter*> accompanied;  // module -> what it holds
  for (const Finding& finding : place.findings) {
    const Item& item = *finding.item;
    const bool is_weight = item.name->leaf->parameter == "weight";
    const bool may_be_quantised = !context_.has_shapes || has_quantised_type(*item.tensor);
    if (is_weight && may_be_quantised && finding.outcome != Outcome::kExtra) {
      accompanied[item.name->module_of(item.tensor->name)] = finding.reading->parameters.front();
    }
  }
  for (const Item& item : items) {
    if (item.name->kind == NameKind::kParameter) continue;
    if (item.name->kind != NameKind::kCompanion) {
      place.findings.push_back(extra(item, "no rule knows the name"));
      continue;
    }
    const auto main = accompanied.find(item.name->module_of(item.tensor->name));
    if (main == accompanied.end()) {
      place.findings.push_back(extra(item, "no quantised weight stands beside it"));
      continue;
    }
    Finding finding = extra(item, "");
    finding.outcome = Outcome::kCompanion;
    finding.accompanied = main->second;
    place.findings.push_back(std::move(finding));
  }
}

std::optional<Reading::Place> PlaceMatcher::find_place(const std::string& module,
                                                       std::string_view leaf,
                                                       const Slots& outside) const {
  for (const std::string& name : {fmt::format("{}.{}", module, leaf), module}) {
    if (const auto slot = fresh_.find(name)) return Reading::Place{false, *slot};
    const std::string prefixed = std::string(prefix_of(stack_)) + name;
    if (const auto slot = outside.find(prefixed)) return Reading::Place{true, *slot};
    // An encoder shares the embedding; a tower shares nothing.
    if (stack_ == StackId::kEncoder) {
      if (const auto slot = outside.find(name)) return Reading::Place{true, *slot};
    }
    if (leaf != "weight") break;  // such as attention.sinks, which is no NAME.weight
  }
  return std::nullopt;
}

// Without places when the model lacks one of the parameters.
Reading PlaceMatcher::reading_of(const Holding& holding, const Item& item,
                                 const Slots& outside) const {
  Reading reading;
  reading.is_copy = holding.is_copy;
  reading.of_one_expert = item.number >= 0;
  for (const std::string& module : holding.parameters) {
    const auto place = find_place(module, item.name->leaf->parameter, outside);
    if (!place) return {};
    reading.places.push_back(*place);
    const Slots& slots = place->is_outside ? outside : fresh_;
    reading.parameters.push_back(slots.all()[place->slot].parameter);
  }
  reading.shapes = shapes_of(reading.parameters, item.name->rule->layout, reading.of_one_expert,
                             context_.is_conv1d);
  for (const Shape& shape : reading.shapes) reading.elements.push_back(product_of(shape));
  return reading;
}

PlaceMatcher::Readings& PlaceMatcher::readings_of(const Item& item, const Slots& outside) {
  const std::size_t at = 2 * std::size_t{item.pattern} + (item.number >= 0 ? 1 : 0);
  if (at >= readings_.size()) readings_.resize(at + 1);
  Readings& readings = readings_[at];
  if (readings.are_known) return readings;
  readings.are_known = true;
  for (const Holding& holding : holdings_of(*item.name->rule, item.name->listed)) {
    Reading reading = reading_of(holding, item, outside);
    if (!reading.places.empty()) readings.list.push_back(std::move(reading));
  }
  readings.is_clear = std::count_if(readings.list.begin(), readings.list.end(),
                                    [](const Reading& reading) { return !reading.is_copy; }) <= 1;
  return readings;
}

// The first of the reading's shapes that the tensor has.
std::optional<std::size_t> PlaceMatcher::shape_that_holds(const Reading& reading,
                                                          Finding& finding) const {
  if (!context_.has_shapes) return 0;
  const StoredTensor& tensor = *finding.item->tensor;
  const bool is_plain = !has_quantised_type(tensor);
  for (std::size_t i = 0; i < reading.shapes.size(); ++i) {
    const Shape& shape = reading.shapes[i];
    if (is_plain) {
      if (fits_axes(tensor.shape, shape)) return i;
      continue;
    }
    finding.unpacked = unpack(tensor, *finding.item->name, context_.find, shape.back());
    if (holds(*finding.unpacked, shape, reading.elements[i])) return i;
  }
  return std::nullopt;
}

Finding PlaceMatcher::parameter(const Item& item, PlaceFindings& place) {
  Finding finding;
  finding.item = &item;
  Reading* other_shape = nullptr;
  std::optional<Unpacked> of_other_shape;
  const Parameter* stored_already = nullptr;
  for (Reading& reading : readings_of(item, place.outside).list) {
    const bool are_free = std::all_of(
        reading.places.begin(), reading.places.end(),
        [&](const Reading::Place& one) { return slot_of(one, place).is_free(item.expert()); });
    if (!are_free && !reading.is_copy) {
      stored_already = reading.parameters.front();
      continue;
    }
    if (reading.shapes.empty()) continue;
    if (const auto shape = shape_that_holds(reading, finding)) {
      finding.outcome = reading.is_copy ? Outcome::kCopy : Outcome::kHeld;
      finding.reading = &reading;
      finding.shape = *shape;
      if (reading.is_copy) return finding;
      for (const Reading::Place& one : reading.places) slot_of(one, place).fill(item.expert());
      return finding;
    }
    if (other_shape == nullptr && !reading.is_copy) {
      other_shape = &reading;
      of_other_shape = finding.unpacked;
    }
  }
  finding.unpacked = std::move(of_other_shape);
  if (other_shape != nullptr) {
    finding.outcome = Outcome::kOtherShape;
    finding.reading = other_shape;
    for (const Reading::Place& one : other_shape->places) slot_of(one, place).fill(item.expert());
  } else {
    finding.why =
        stored_already == nullptr
            ? "the model has no such parameter"
            : fmt::format("the model has {} once, and it is stored already", stored_already->name);
  }
  return finding;
}

Count product_of(const Shape& shape) {
  Count product = 1;
  for (const Count size : shape) product *= size;
  return product;
}

}  // namespace flopwise
