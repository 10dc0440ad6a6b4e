#include "flopwise/weights/place_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace flopwise {
namespace {

class PlaceMatcher {
 public:
  PlaceMatcher(Place place, const FindTensor& find) : place_(std::move(place)), find_(find) {}

  PlaceFindings match(const std::vector<Item>& items) {
    std::vector<Finding> findings;
    std::map<std::string, const Parameter*> accompanied;  // module -> what it holds
    for (const Item& item : items) {
      if (item.name.kind != NameKind::kParameter) continue;
      findings.push_back(parameter(item));
      const Finding& finding = findings.back();
      const bool is_weight = item.name.leaf->parameter == "weight";
      const bool may_be_quantised = !place_.has_shapes || has_quantised_type(*item.tensor);
      if (is_weight && may_be_quantised && finding.outcome != Outcome::kExtra) {
        accompanied[item.name.module] = finding.parameters.front();
      }
    }
    for (const Item& item : items) {
      if (item.name.kind == NameKind::kParameter) continue;
      const auto main = accompanied.find(item.name.module);
      if (item.name.kind != NameKind::kCompanion) {
        findings.push_back(extra(item, "no rule knows the name"));
      } else if (main == accompanied.end()) {
        findings.push_back(extra(item, "no quantised weight stands beside it"));
      } else {
        Finding finding = extra(item, "");
        finding.outcome = Outcome::kCompanion;
        finding.parameters = {main->second};
        findings.push_back(std::move(finding));
      }
    }
    return {std::move(findings), std::move(place_.slots), std::move(place_.outside)};
  }

 private:
  static Finding extra(const Item& item, std::string why) {
    Finding finding;
    finding.item = item;
    finding.why = std::move(why);
    return finding;
  }

  Slot* find_slot(const std::string& module, std::string_view leaf) {
    for (const std::string& name : {fmt::format("{}.{}", module, leaf), module}) {
      if (Slot* slot = place_.slots.find(name)) return slot;
      const std::string prefixed = std::string(prefix_of(place_.stack)) + name;
      if (Slot* slot = place_.outside.find(prefixed)) return slot;
      // An encoder shares the embedding; a tower shares nothing.
      if (place_.stack == StackId::kEncoder) {
        if (Slot* slot = place_.outside.find(name)) return slot;
      }
      if (leaf != "weight") break;  // such as attention.sinks, which is no NAME.weight
    }
    return nullptr;
  }

  // Empty when the model lacks one of them.
  std::vector<Slot*> slots_of(const Holding& holding, std::string_view leaf) {
    std::vector<Slot*> slots;
    for (const std::string& module : holding.parameters) {
      Slot* slot = find_slot(module, leaf);
      if (slot == nullptr) return {};
      slots.push_back(slot);
    }
    return slots;
  }

  // The tensor as these parameters, when the model could store them so.
  std::optional<Finding> as(const Item& item, const std::vector<Slot*>& slots) const {
    Finding finding;
    finding.item = item;
    for (const Slot* slot : slots) finding.parameters.push_back(slot->parameter);
    const std::vector<Shape> shapes = shapes_of(finding.parameters, item.name.rule->layout,
                                                item.name.expert.has_value(), place_.is_conv1d);
    if (shapes.empty()) return std::nullopt;
    finding.outcome = Outcome::kHeld;
    finding.expected = shapes.front();
    if (!place_.has_shapes) return finding;
    for (const Shape& shape : shapes) {
      finding.unpacked = unpack(*item.tensor, item.name, find_, shape.back());
      if (holds(finding.unpacked, shape)) {
        finding.expected = shape;
        return finding;
      }
    }
    finding.outcome = Outcome::kOtherShape;
    return finding;
  }

  // Of a flat array of two values a byte the number alone is known; an odd one is rounded up.
  static bool holds(Unpacked& unpacked, const Shape& expected) {
    if (unpacked.shape) return fits(*unpacked.shape, expected);
    const Count elements = product_of(expected);
    const bool is_whole = unpacked.elements == elements || unpacked.elements == elements + 1;
    if (is_whole) unpacked.elements = elements;
    return is_whole;
  }

  Finding parameter(const Item& item) {
    const StoredName& name = item.name;
    std::optional<Finding> other_shape;
    std::vector<Slot*> of_other_shape;
    std::string why = fmt::format("the model has no such parameter");
    for (const Holding& holding : holdings_of(*name.rule, name.listed)) {
      const std::vector<Slot*> slots = slots_of(holding, name.leaf->parameter);
      if (slots.empty()) continue;
      const bool are_free = std::all_of(
          slots.begin(), slots.end(), [&](const Slot* slot) { return slot->is_free(name.expert); });
      if (!are_free && !holding.is_copy) {
        why = fmt::format("the model has {} once, and it is stored already",
                          slots.front()->parameter->name);
        continue;
      }
      std::optional<Finding> finding = as(item, slots);
      if (!finding) continue;
      if (finding->outcome == Outcome::kHeld) {
        if (holding.is_copy) {
          finding->outcome = Outcome::kCopy;
        } else {
          for (Slot* slot : slots) slot->fill(name.expert);
        }
        return *std::move(finding);
      }
      if (!other_shape && !holding.is_copy) {
        other_shape = std::move(finding);
        of_other_shape = slots;
      }
    }
    if (!other_shape) return extra(item, why);
    for (Slot* slot : of_other_shape) slot->fill(name.expert);
    return *std::move(other_shape);
  }

  Place place_;
  const FindTensor& find_;
};

}  // namespace

PlaceFindings match_place(Place place, const std::vector<Item>& items, const FindTensor& find) {
  return PlaceMatcher(std::move(place), find).match(items);
}

Count product_of(const Shape& shape) {
  Count product = 1;
  for (const Count size : shape) product *= size;
  return product;
}

}  // namespace flopwise
