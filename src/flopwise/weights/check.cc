#include "flopwise/weights/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/weights/names.h"
#include "flopwise/weights/parameters.h"
#include "flopwise/weights/slots.h"
#include "flopwise/weights/stored_form.h"

namespace flopwise {
namespace {

constexpr const char* kEncoder = "encoder.";
// Families whose matrices under the names of GPT-2 are stored transposed, as its Conv1D has them.
constexpr std::string_view kConv1dFamilies[] = {"gpt2", "letters"};
// As many missing experts are named one by one.
constexpr std::size_t kNamedExperts = 8;

struct Item {
  const StoredTensor* tensor = nullptr;
  StoredName name;
};

enum class Outcome { kHeld, kOtherShape, kCopy, kCompanion, kExtra };

// What one stored tensor turned out to be.
struct Finding {
  Item item;
  Outcome outcome = Outcome::kExtra;
  std::vector<const Parameter*> parameters;  // held, copied, or accompanied
  Unpacked unpacked;
  Shape expected;
  std::string why;  // of kExtra
};

struct PlaceFindings {
  std::vector<Finding> findings;
  Slots slots;    // of the layer
  Slots outside;  // after it

  Count failures() const {
    Count count = 0;
    for (const Finding& finding : findings) {
      if (finding.outcome == Outcome::kExtra || finding.outcome == Outcome::kOtherShape) count += 1;
    }
    for (const Slot& slot : slots.all()) count += slot.missing_slices();
    return count;
  }
};

Count product_of(const Shape& shape) {
  Count product = 1;
  for (const Count size : shape) product *= size;
  return product;
}

std::vector<std::string> names_of(const std::vector<const Parameter*>& parameters) {
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters) names.push_back(parameter->name);
  return names;
}

// ---- one place: a layer, or all that is outside -------------------------------------------------

class PlaceMatcher {
 public:
  PlaceMatcher(Slots slots, Slots outside, bool in_encoder, bool is_conv1d, bool has_shapes,
               const FindTensor& find)
      : slots_(std::move(slots)),
        outside_(std::move(outside)),
        in_encoder_(in_encoder),
        is_conv1d_(is_conv1d),
        has_shapes_(has_shapes),
        find_(find) {}

  PlaceFindings match(const std::vector<Item>& items) {
    std::vector<Finding> findings;
    std::map<std::string, const Parameter*> accompanied;  // module -> what it holds
    for (const Item& item : items) {
      if (item.name.kind != NameKind::kParameter) continue;
      findings.push_back(parameter(item));
      const Finding& finding = findings.back();
      const bool is_weight = item.name.leaf->parameter == "weight";
      const bool may_be_quantised = !has_shapes_ || has_quantised_type(*item.tensor);
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
    return {std::move(findings), std::move(slots_), std::move(outside_)};
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
      if (Slot* slot = slots_.find(name)) return slot;
      if (in_encoder_) {
        if (Slot* slot = outside_.find(kEncoder + name)) return slot;
      }
      if (Slot* slot = outside_.find(name)) return slot;
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
                                                item.name.expert.has_value(), is_conv1d_);
    if (shapes.empty()) return std::nullopt;
    finding.outcome = Outcome::kHeld;
    finding.expected = shapes.front();
    if (!has_shapes_) return finding;
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
    for (const Holding& holding : holdings_of(*name.rule)) {
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

  Slots slots_;
  Slots outside_;
  bool in_encoder_;
  bool is_conv1d_;
  bool has_shapes_;
  const FindTensor& find_;
};

// ---- the whole checkpoint ---------------------------------------------------------------------

using Layers = std::map<std::int64_t, std::vector<Item>>;  // by number

// How a parameter is stored where it is stored.
struct Example {
  std::string pattern;
  std::vector<const Parameter*> parameters;
  Layout layout = Layout::kLinear;
  bool is_per_expert = false;
};

// A parameter that is not found, in a layer of this number, in `repeat` layers without one, or
// outside.
struct NotFound {
  Slot slot;
  bool in_encoder = false;
  std::optional<std::int64_t> layer;
  Count repeat = 1;
  bool is_layer = false;
};

class Checker {
 public:
  Checker(const Model& model, const Checkpoint& checkpoint)
      : parameters_(parameters_of(model)), outside_(parameters_.outside) {
    check_.model = model.name;
    check_.has_shapes = checkpoint.has_shapes;
    check_.params = parameters_.total;
    is_conv1d_ = std::find(std::begin(kConv1dFamilies), std::end(kConv1dFamilies), model.family) !=
                 std::end(kConv1dFamilies);
    has_encoder_ = std::any_of(parameters_.layers.begin(), parameters_.layers.end(),
                               [](const LayerKind& kind) { return kind.is_encoder; });
    for (const StoredTensor& tensor : checkpoint.tensors) by_name_.emplace(tensor.name, &tensor);
    find_ = [this](const std::string& name) -> const StoredTensor* {
      const auto found = by_name_.find(name);
      return found == by_name_.end() ? nullptr : found->second;
    };
    for (const StoredTensor& tensor : checkpoint.tensors) sort_in(tensor);
  }

  WeightCheck check() {
    match_outside();
    match_stack(false, decoder_);
    if (has_encoder_) match_stack(true, encoder_);
    for (const Slot& slot : outside_.all()) note_missing({slot, false, {}, 1, false});
    name_missing();
    finish();
    return std::move(check_);
  }

 private:
  void sort_in(const StoredTensor& tensor) {
    check_.stored_tensors += 1;
    check_.stored_elements += tensor.elements;
    check_.stored_bytes += tensor.bytes;
    Item item{&tensor, read_name(tensor.name)};
    const bool in_encoder = has_encoder_ && item.name.in_encoder;
    if (item.name.kind == NameKind::kBuffer) {
      add_besides(BesidesKind::kBuffer, item, std::string(item.name.comment));
    } else if (item.name.kind == NameKind::kMtp) {
      add_besides(BesidesKind::kMtp, item, "multi-token prediction");
    } else if (item.name.layer) {
      (in_encoder ? encoder_ : decoder_)[*item.name.layer].push_back(std::move(item));
    } else {
      (in_encoder ? outside_encoder_items_ : outside_items_).push_back(std::move(item));
    }
  }

  // Originals before their copies.
  static void sort_by_rule(std::vector<Item>& items) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.name.rule < b.name.rule; });
  }

  void match_outside() {
    sort_by_rule(outside_items_);
    sort_by_rule(outside_encoder_items_);
    commit(matcher({}, false).match(outside_items_), false);
    commit(matcher({}, true).match(outside_encoder_items_), true);
  }

  PlaceMatcher matcher(const std::vector<Parameter>& parameters, bool in_encoder) const {
    return {Slots(parameters), outside_, in_encoder, is_conv1d_, check_.has_shapes, find_};
  }

  // ---- layers

  // A kind of layer, and how many layers of it are not yet found.
  struct OpenKind {
    const LayerKind* kind;
    std::int64_t left;
  };

  void match_stack(bool in_encoder, const Layers& layers) {
    std::vector<OpenKind> kinds;
    std::int64_t count = 0;
    for (const LayerKind& kind : parameters_.layers) {
      if (kind.is_encoder != in_encoder) continue;
      kinds.push_back({&kind, kind.repeat});
      count += kind.repeat;
    }
    std::vector<std::int64_t> open;
    for (const auto& [number, items] : layers) {
      if (number >= count) {
        behind_the_last(number, count, items);
      } else if (!match_exactly(kinds, in_encoder, items)) {
        open.push_back(number);
      }
    }
    for (const std::int64_t number : open)
      match_nearest(kinds, in_encoder, number, layers.at(number));
    for (const OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      const Slots slots(kind.kind->parameters);
      for (const Slot& slot : slots.all()) {
        note_missing({slot, in_encoder, {}, Count(kind.left), true});
      }
    }
  }

  // Which layers are of which kind is not said by a model, but by what they store.
  bool match_exactly(std::vector<OpenKind>& kinds, bool in_encoder,
                     const std::vector<Item>& items) {
    for (OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      PlaceFindings found = matcher(kind.kind->parameters, in_encoder).match(items);
      if (found.failures() != 0) continue;
      kind.left -= 1;
      commit(std::move(found), in_encoder);
      return true;
    }
    return false;
  }

  void match_nearest(std::vector<OpenKind>& kinds, bool in_encoder, std::int64_t number,
                     const std::vector<Item>& items) {
    OpenKind* nearest = nullptr;
    std::optional<PlaceFindings> best;
    for (OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      PlaceFindings found = matcher(kind.kind->parameters, in_encoder).match(items);
      if (best && best->failures() <= found.failures()) continue;
      nearest = &kind;
      best = std::move(found);
    }
    nearest->left -= 1;  // numbers below the count of layers are at most that many
    for (const Slot& slot : best->slots.all()) note_missing({slot, in_encoder, number, 1, true});
    commit(*std::move(best), in_encoder);
  }

  void behind_the_last(std::int64_t number, std::int64_t count, const std::vector<Item>& items) {
    const bool is_mtp = std::any_of(items.begin(), items.end(), [](const Item& item) {
      return marks_mtp_layer(item.tensor->name);
    });
    for (const Item& item : items) {
      if (is_mtp) {
        add_besides(BesidesKind::kMtp, item, "multi-token prediction");
      } else {
        add_extra(item, fmt::format("layer {} of a model with {} layers", number, count));
      }
    }
  }

  // ---- results

  void commit(PlaceFindings found, bool in_encoder) {
    outside_ = std::move(found.outside);
    for (Finding& finding : found.findings) {
      switch (finding.outcome) {
        case Outcome::kHeld:
          remember(finding, in_encoder);
          add_held(finding);
          break;
        case Outcome::kOtherShape:
          remember(finding, in_encoder);
          add_other_shape(finding);
          break;
        case Outcome::kCopy:
          add_besides(BesidesKind::kCopy, finding.item,
                      "copy of " + finding.parameters.front()->name);
          break;
        case Outcome::kCompanion:
          add_besides(BesidesKind::kQuantisation, finding.item,
                      "with the quantised " + finding.parameters.front()->name);
          break;
        case Outcome::kExtra:
          add_extra(finding.item, finding.why);
          break;
      }
    }
  }

  void remember(const Finding& finding, bool in_encoder) {
    for (const Parameter* parameter : finding.parameters) {
      examples_[{in_encoder, parameter->name}] = {finding.item.name.pattern, finding.parameters,
                                                  finding.item.name.rule->layout,
                                                  finding.item.name.expert.has_value()};
    }
  }

  void add_held(const Finding& finding) {
    const StoredTensor& tensor = *finding.item.tensor;
    const std::string& pattern = finding.item.name.pattern;
    const Count elements = product_of(finding.expected);
    HeldParameters row;
    row.pattern = pattern;
    row.parameters = names_of(finding.parameters);
    row.shape = finding.unpacked.shape.value_or(check_.has_shapes ? finding.expected : Shape{});
    row.type = tensor.type.name;
    row.form = finding.unpacked.form;
    std::string key =
        fmt::format("{}|{}|{}|{}", pattern, row.type, row.form, fmt::join(row.parameters, "+"));
    for (const Count size : row.shape) key += "|" + size.str();
    const auto [at, is_new] = held_at_.emplace(std::move(key), check_.held.size());
    if (is_new) {
      check_.held.push_back(std::move(row));
      positions_.push_back(finding.parameters.front()->position);
    }
    HeldParameters& sum = check_.held[at->second];
    sum.tensors += 1;
    sum.elements += elements;
    sum.stored_elements += tensor.elements;
    sum.bytes += tensor.bytes;
  }

  void add_other_shape(const Finding& finding) {
    const StoredTensor& tensor = *finding.item.tensor;
    check_.other_shape.push_back({tensor.name, names_of(finding.parameters), tensor.shape,
                                  finding.unpacked.form, finding.expected, tensor.elements,
                                  product_of(finding.expected)});
  }

  void add_besides(BesidesKind kind, const Item& item, std::string what) {
    const std::string key = fmt::format("{}|{}", item.name.pattern, what);
    const auto [at, is_new] = besides_at_.emplace(key, check_.besides.size());
    if (is_new) check_.besides.push_back({kind, item.name.pattern, std::move(what), {}, {}, {}});
    Besides& sum = check_.besides[at->second];
    sum.tensors += 1;
    sum.elements += item.tensor->elements;
    sum.bytes += item.tensor->bytes;
  }

  void add_extra(const Item& item, std::string why) {
    const StoredTensor& tensor = *item.tensor;
    check_.extra.push_back({tensor.name, item.name.pattern, tensor.shape, tensor.elements,
                            tensor.bytes, std::move(why)});
  }

  // ---- what is missing

  void note_missing(NotFound one) {
    if (one.slot.missing_slices() != 0) not_found_.push_back(std::move(one));
  }

  void name_missing() {
    for (const NotFound& one : not_found_) {
      const auto example = examples_.find({one.in_encoder, one.slot.parameter->name});
      if (example == examples_.end()) {
        add_unseen(one);
      } else {
        add_missing(one, example->second);
      }
    }
  }

  // No tensor shows the name, so the parameter's stands for it.
  void add_unseen(const NotFound& one) {
    const Parameter& parameter = *one.slot.parameter;
    const std::string where = one.layer ? fmt::format(" of layer {}", *one.layer)
                              : one.is_layer && one.repeat == 1 ? " of a layer"
                              : one.is_layer ? fmt::format(" of {} layers", one.repeat.str())
                                             : "";
    const std::string stack = one.in_encoder && one.is_layer ? kEncoder : "";
    const std::vector<Shape> shapes = shapes_of({&parameter}, Layout::kLinear, false, false);
    check_.missing.push_back(
        {stack + parameter.name + where, shapes.front(), one.repeat,
         one.slot.missing_slices() * one.repeat *
             (parameter.experts == 0 ? parameter.slice() : parameter.slice())});
  }

  void add_missing(const NotFound& one, const Example& example) {
    const Parameter& parameter = *one.slot.parameter;
    const Count slices = one.slot.missing_slices();
    const Count elements = slices * parameter.slice() * one.repeat;
    const std::string pattern = fill_pattern(example.pattern, one.layer, std::nullopt);
    const std::vector<Shape> shapes =
        shapes_of(example.parameters, example.layout, example.is_per_expert, is_conv1d_);
    if (example.is_per_expert && one.repeat == 1 && slices <= Count(kNamedExperts)) {
      for (std::int64_t e = 0; Count(e) < parameter.experts; ++e) {
        if (one.slot.experts.count(e) != 0) continue;
        add_missing(fill_pattern(pattern, std::nullopt, e), shapes, 1, parameter.slice());
      }
      return;
    }
    add_missing(pattern, shapes, one.repeat * (example.is_per_expert ? slices : Count(1)),
                elements);
  }

  // A second parameter of the same missing tensor adds its elements.
  void add_missing(const std::string& name, const std::vector<Shape>& shapes, Count tensors,
                   Count elements) {
    const auto [at, is_new] = missing_at_.emplace(name, check_.missing.size());
    if (is_new) {
      check_.missing.push_back(
          {name, shapes.empty() ? Shape{} : shapes.front(), tensors, elements});
    } else {
      check_.missing[at->second].elements += elements;
    }
  }

  // ---- the end

  void finish() {
    std::vector<std::size_t> order(check_.held.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return positions_[a] < positions_[b]; });
    std::vector<HeldParameters> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(check_.held[i]));
    check_.held = std::move(sorted);
    std::stable_sort(check_.besides.begin(), check_.besides.end(),
                     [](const Besides& a, const Besides& b) { return a.kind < b.kind; });
    if (check_.has_shapes) explain_difference();
  }

  Count besides_elements(BesidesKind kind) const {
    Count elements = 0;
    for (const Besides& row : check_.besides) {
      if (row.kind == kind) elements += row.elements;
    }
    return elements;
  }

  void explain_difference() {
    Count packing = 0;
    for (const HeldParameters& row : check_.held) packing += row.stored_elements - row.elements;
    Count missing = 0;
    for (const MissingTensor& one : check_.missing) missing += one.elements;
    Count extra = 0;
    for (const ExtraTensor& one : check_.extra) extra += one.elements;
    Count other_shape = 0;
    for (const OtherShape& one : check_.other_shape) {
      other_shape += one.stored_elements - one.expected_elements;
    }
    const std::pair<std::string_view, Count> parts[] = {
        {"copies of what is stored elsewhere", besides_elements(BesidesKind::kCopy)        },
        {"buffers of the code",                besides_elements(BesidesKind::kBuffer)      },
        {"scales, zeros and maps",             besides_elements(BesidesKind::kQuantisation)},
        {"multi-token prediction",             besides_elements(BesidesKind::kMtp)         },
        {"several weights in an element",      packing                                     },
        {"missing",                            Count(0) - missing                          },
        {"extra",                              extra                                       },
        {"of another shape",                   other_shape                                 },
    };
    Count sum = check_.params;
    for (const auto& [what, elements] : parts) {
      sum += elements;
      if (elements != 0) check_.difference.push_back({what, elements});
    }
    FLOPWISE_CHECK(sum == check_.stored_elements, "the difference of the totals is explained");
  }

  ModelParameters parameters_;
  Slots outside_;
  bool is_conv1d_ = false;
  bool has_encoder_ = false;
  std::unordered_map<std::string, const StoredTensor*> by_name_;
  FindTensor find_;
  std::vector<Item> outside_items_;
  std::vector<Item> outside_encoder_items_;
  Layers decoder_;  // of the only stack too, be it an encoder
  Layers encoder_;
  std::map<std::pair<bool, std::string>, Example> examples_;  // by stack and parameter
  std::vector<NotFound> not_found_;
  std::unordered_map<std::string, std::size_t> held_at_;
  std::unordered_map<std::string, std::size_t> besides_at_;
  std::unordered_map<std::string, std::size_t> missing_at_;
  std::vector<int> positions_;  // of check_.held
  WeightCheck check_;
};

}  // namespace

Count WeightCheck::missing_tensors() const {
  Count count = 0;
  for (const MissingTensor& one : missing) count += one.tensors;
  return count;
}

std::string WeightCheck::verdict() const {
  if (!agrees()) {
    std::vector<std::string> parts;
    const Count absent = missing_tensors();
    if (absent != 0) {
      parts.push_back(fmt::format("{} tensor{} missing", absent.grouped(), absent == 1 ? "" : "s"));
    }
    if (!extra.empty()) parts.push_back(fmt::format("{} extra", extra.size()));
    if (!other_shape.empty())
      parts.push_back(fmt::format("{} of another shape", other_shape.size()));
    return fmt::format("{}: checkpoint and model differ{}: {}", model,
                       has_shapes ? "" : " in their names", fmt::join(parts, ", "));
  }
  if (!has_shapes) {
    return fmt::format(
        "{}: names agree, {} tensors; shapes and sizes are not known, the index stands alone",
        model, stored_tensors.grouped());
  }
  return fmt::format("{}: checkpoint and model agree, {} parameters", model, params.grouped());
}

WeightCheck check_weights(const Model& model, const Checkpoint& checkpoint) {
  return Checker(model, checkpoint).check();
}

}  // namespace flopwise
