#include "flopwise/weights/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/weights/place_matcher.h"

namespace flopwise {
namespace {

// Families whose matrices under the names of GPT-2 are stored transposed, as its Conv1D has them.
constexpr std::string_view kConv1dFamilies[] = {"gpt2", "letters"};
// As many missing experts are named one by one.
constexpr std::size_t kNamedExperts = 8;

std::vector<std::string> names_of(const std::vector<const Parameter*>& parameters) {
  std::vector<std::string> names;
  for (const Parameter* parameter : parameters) names.push_back(parameter->name);
  return names;
}

// ---- the whole checkpoint ---------------------------------------------------------------------

// By number.
struct StoredLayer {
  std::int64_t number = 0;
  std::vector<Item> items;
};
using Layers = std::map<std::int64_t, StoredLayer>;

// What the file stores of one stack.
struct StoredStack {
  Layers layers;
  std::vector<Item> outside;
  StoredLayer* last = nullptr;  // the layer of the tensor before: mostly also of the next

  std::vector<Item>& items_of(std::optional<std::int64_t> layer) {
    if (!layer) return outside;
    if (last == nullptr || last->number != *layer) {
      last = &layers[*layer];
      last->number = *layer;
    }
    return last->items;
  }
};
constexpr StackId kStacks[] = {StackId::kMain, StackId::kEncoder, StackId::kTower};

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
  StackId stack = StackId::kMain;
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
    context_.has_shapes = checkpoint.has_shapes;
    context_.is_conv1d = contains(kConv1dFamilies, model.family);
    context_.find = [this, &checkpoint](std::string_view name) { return find(name, checkpoint); };
    std::transform(std::begin(kStacks), std::end(kStacks), std::begin(has_), [&](StackId stack) {
      return stack == StackId::kMain ||
             std::any_of(parameters_.layers.begin(), parameters_.layers.end(),
                         [&](const LayerKind& kind) { return kind.stack == stack; });
    });
    for (const StoredTensor& tensor : checkpoint.tensors) sort_in(tensor);
  }

  WeightCheck check() {
    match_outside();
    for (const StackId stack : kStacks) {
      if (has(stack)) match_stack(stack, stored(stack).layers);
    }
    for (const Slot& slot : outside_.all()) {
      note_missing({slot, StackId::kMain, {}, 1, false});
    }
    name_missing();
    finish();
    return std::move(check_);
  }

 private:
  StoredStack& stored(StackId stack) { return stored_[static_cast<std::size_t>(stack)]; }
  bool has(StackId stack) const { return has_[static_cast<std::size_t>(stack)]; }

  // Only what is packed asks for its neighbours.
  const StoredTensor* find(std::string_view name, const Checkpoint& checkpoint) {
    if (by_name_.empty()) {
      by_name_.reserve(checkpoint.tensors.size());
      for (const StoredTensor& tensor : checkpoint.tensors) by_name_.emplace(tensor.name, &tensor);
    }
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  void sort_in(const StoredTensor& tensor) {
    check_.stored_tensors += 1;
    check_.stored_elements += tensor.elements;
    check_.stored_bytes += tensor.bytes;
    const NameReader::Result name = names_.read(tensor.name);
    const Item item{&tensor, name.pattern, static_cast<std::uint32_t>(name.number),
                    static_cast<std::int32_t>(name.expert.value_or(-1))};
    if (item.name->kind == NameKind::kBuffer) {
      add_besides(BesidesKind::kBuffer, item, std::string(item.name->comment));
    } else if (item.name->kind == NameKind::kMtp) {
      add_besides(BesidesKind::kMtp, item, "multi-token prediction");
    } else if (item.name->stack == StackId::kTower && !has(StackId::kTower)) {
      add_extra(item, "the model has no tower");
    } else {
      StoredStack& stack = stored(has(item.name->stack) ? item.name->stack : StackId::kMain);
      stack.items_of(name.layer).push_back(item);
    }
  }

  // Originals before their copies.
  static void sort_by_rule(std::vector<Item>& items) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Item& a, const Item& b) { return a.name->rule < b.name->rule; });
  }

  void match_outside() {
    for (const StackId stack : kStacks) {
      sort_by_rule(stored(stack).outside);
      static const std::vector<Parameter> kNone;
      PlaceMatcher matcher(kNone, stack, context_);
      commit(matcher.match(outside_, stored(stack).outside), stack);
    }
  }

  // ---- layers

  // A kind of layer, and how many layers of it are not yet found.
  struct OpenKind {
    const LayerKind* kind;
    std::int64_t left;
    PlaceMatcher matcher;
  };

  void match_stack(StackId stack, const Layers& layers) {
    std::vector<OpenKind> kinds;
    std::int64_t count = 0;
    for (const LayerKind& kind : parameters_.layers) {
      if (kind.stack != stack) continue;
      kinds.push_back({&kind, kind.repeat, PlaceMatcher(kind.parameters, stack, context_)});
      count += kind.repeat;
    }
    std::vector<std::int64_t> open;
    for (const auto& [number, layer] : layers) {
      if (number >= count) {
        behind_the_last(number, count, layer.items);
      } else if (!match_exactly(kinds, stack, layer.items)) {
        open.push_back(number);
      }
    }
    for (const std::int64_t number : open)
      match_nearest(kinds, stack, number, layers.at(number).items);
    for (const OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      const Slots slots(kind.kind->parameters);
      for (const Slot& slot : slots.all()) {
        note_missing({slot, stack, {}, Count(kind.left), true});
      }
    }
  }

  // Which layers are of which kind is not said by a model, but by what they store.
  bool match_exactly(std::vector<OpenKind>& kinds, StackId stack, const std::vector<Item>& items) {
    for (OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      PlaceFindings found = kind.matcher.match(outside_, items);
      if (found.failures() != 0) continue;
      kind.left -= 1;
      commit(std::move(found), stack);
      return true;
    }
    return false;
  }

  void match_nearest(std::vector<OpenKind>& kinds, StackId stack, std::int64_t number,
                     const std::vector<Item>& items) {
    OpenKind* nearest = nullptr;
    std::optional<PlaceFindings> best;
    for (OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      PlaceFindings found = kind.matcher.match(outside_, items);
      if (best && best->failures() <= found.failures()) continue;
      nearest = &kind;
      best = std::move(found);
    }
    nearest->left -= 1;  // numbers below the count of layers are at most that many
    for (const Slot& slot : best->slots.all()) note_missing({slot, stack, number, 1, true});
    commit(*std::move(best), stack);
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

  void commit(PlaceFindings found, StackId stack) {
    outside_ = std::move(found.outside);
    for (const Finding& finding : found.findings) {
      switch (finding.outcome) {
        case Outcome::kHeld:
          remember(finding, stack);
          add_held(finding);
          break;
        case Outcome::kOtherShape:
          remember(finding, stack);
          add_other_shape(finding);
          break;
        case Outcome::kCopy:
          add_besides(BesidesKind::kCopy, *finding.item,
                      "copy of " + finding.reading->parameters.front()->name);
          break;
        case Outcome::kCompanion:
          add_besides(BesidesKind::kQuantisation, *finding.item,
                      "with the quantised " + finding.accompanied->name);
          break;
        case Outcome::kExtra:
          add_extra(*finding.item, finding.why);
          break;
      }
    }
  }

  void remember(const Finding& finding, StackId stack) {
    Reading& reading = *finding.reading;
    if (reading.is_remembered) return;
    reading.is_remembered = true;
    for (const Parameter* parameter : reading.parameters) {
      examples_[{stack, parameter->name}] = {finding.item->name->pattern, reading.parameters,
                                             finding.item->name->rule->layout,
                                             reading.of_one_expert};
    }
  }

  void add_held(const Finding& finding) {
    const StoredTensor& tensor = *finding.item->tensor;
    HeldParameters& sum = check_.held[row_of(finding)];
    sum.tensors += 1;
    sum.elements += finding.reading->elements[finding.shape];
    sum.stored_elements += tensor.elements;
    sum.bytes += tensor.bytes;
  }

  // Most tensors are summed up in the row of the one before them that was read alike; of packed
  // ones the form is part of what tells rows apart.
  std::size_t row_of(const Finding& finding) {
    Reading& reading = *finding.reading;
    const std::string_view type = finding.item->tensor->type.name;
    const bool is_plain = !finding.unpacked && is_stored_as(finding, reading);
    if (is_plain) {
      for (const Reading::Row& row : reading.rows) {
        if (row.shape == finding.shape && row.type == type) return row.row;
      }
    }
    const std::size_t row = new_or_known_row(finding);
    if (is_plain) reading.rows.push_back({type, finding.shape, row});
    return row;
  }

  bool is_stored_as(const Finding& finding, const Reading& reading) const {
    const Shape& expected = reading.shapes[finding.shape];
    const StoredShape& stored = finding.item->tensor->shape;
    return !check_.has_shapes ||
           std::equal(stored.begin(), stored.end(), expected.begin(), expected.end(),
                      [](std::int64_t a, Count b) { return b == a; });
  }

  Shape shape_of(const Finding& finding) const {
    if (!check_.has_shapes) return {};
    if (!finding.unpacked) {
      const StoredShape& stored = finding.item->tensor->shape;
      return {stored.begin(), stored.end()};
    }
    return finding.unpacked->shape.value_or(finding.reading->shapes[finding.shape]);
  }

  std::size_t new_or_known_row(const Finding& finding) {
    HeldParameters row;
    row.pattern = finding.item->name->pattern;
    row.parameters = names_of(finding.reading->parameters);
    row.shape = shape_of(finding);
    row.type = finding.item->tensor->type.name;
    if (finding.unpacked) row.form = finding.unpacked->form;
    std::string key =
        fmt::format("{}|{}|{}|{}", row.pattern, row.type, row.form, fmt::join(row.parameters, "+"));
    for (const Count size : row.shape) key += "|" + size.str();
    const auto [at, is_new] = held_at_.emplace(std::move(key), check_.held.size());
    if (is_new) {
      check_.held.push_back(std::move(row));
      positions_.push_back(finding.reading->parameters.front()->position);
    }
    return at->second;
  }

  void add_other_shape(const Finding& finding) {
    const StoredTensor& tensor = *finding.item->tensor;
    const Reading& reading = *finding.reading;
    check_.other_shape.push_back({
        std::string(tensor.name),
        names_of(reading.parameters),
        {tensor.shape.begin(), tensor.shape.end()},
        finding.unpacked ? finding.unpacked->form : "",
        reading.shapes.front(),
        tensor.elements,
        reading.elements.front()
    });
  }

  void add_besides(BesidesKind kind, const Item& item, std::string what) {
    const std::string key = fmt::format("{}|{}", item.name->pattern, what);
    const auto [at, is_new] = besides_at_.emplace(key, check_.besides.size());
    if (is_new) check_.besides.push_back({kind, item.name->pattern, std::move(what), {}, {}, {}});
    Besides& sum = check_.besides[at->second];
    sum.tensors += 1;
    sum.elements += item.tensor->elements;
    sum.bytes += item.tensor->bytes;
  }

  void add_extra(const Item& item, std::string why) {
    const StoredTensor& tensor = *item.tensor;
    check_.extra.push_back({
        std::string(tensor.name),
        item.name->pattern,
        {tensor.shape.begin(), tensor.shape.end()},
        tensor.elements,
        tensor.bytes,
        std::move(why)
    });
  }

  // ---- what is missing

  void note_missing(NotFound one) {
    if (one.slot.missing_slices() != 0) not_found_.push_back(std::move(one));
  }

  void name_missing() {
    for (const NotFound& one : not_found_) {
      const auto example = examples_.find({one.stack, one.slot.parameter->name});
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
    const std::string stack(one.is_layer ? prefix_of(one.stack) : "");
    const std::vector<Shape> shapes = shapes_of({&parameter}, Layout::kLinear, false, false);
    check_.missing.push_back({stack + parameter.name + where, shapes.front(), one.repeat,
                              one.slot.missing_slices() * one.repeat * parameter.slice()});
  }

  void add_missing(const NotFound& one, const Example& example) {
    const Parameter& parameter = *one.slot.parameter;
    const Count slices = one.slot.missing_slices();
    const Count elements = slices * parameter.slice() * one.repeat;
    const std::string pattern = fill_pattern(example.pattern, one.layer, std::nullopt);
    const std::vector<Shape> shapes =
        shapes_of(example.parameters, example.layout, example.is_per_expert, context_.is_conv1d);
    if (example.is_per_expert && one.repeat == 1 && slices <= Count(kNamedExperts)) {
      for (std::int64_t e = 0; Count(e) < parameter.experts; ++e) {
        if (one.slot.experts.contains(e)) continue;
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
  MatchContext context_;
  bool has_[std::size(kStacks)] = {};
  NameReader names_;
  std::unordered_map<std::string_view, const StoredTensor*> by_name_;
  StoredStack stored_[std::size(kStacks)];
  std::map<std::pair<StackId, std::string>, Example> examples_;  // by stack and parameter
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
