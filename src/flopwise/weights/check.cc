#include "flopwise/weights/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/weights/check_rows.h"
#include "flopwise/weights/missing.h"
#include "flopwise/weights/place_matcher.h"

namespace flopwise {
namespace {

// Families whose matrices under the names of GPT-2 are stored transposed, as its Conv1D has them.
constexpr std::string_view kConv1dFamilies[] = {"gpt2", "letters", "vision-encoder-decoder"};
// Which of two lists of layers, and the number in it.
using LayerKey = std::pair<bool, std::int64_t>;
struct StoredLayer {
  LayerKey key;
  std::vector<Item> items;
};
using Layers = std::map<LayerKey, StoredLayer>;

// What the file stores of one stack.
struct StoredStack {
  Layers layers;
  std::vector<Item> outside;
  StoredLayer* last = nullptr;  // the layer of the tensor before: mostly also of the next

  std::vector<Item>& items_of(bool is_second, std::optional<std::int64_t> layer) {
    if (!layer) return outside;
    const LayerKey key = {is_second, *layer};
    if (last == nullptr || last->key != key) {
      last = &layers[key];
      last->key = key;
    }
    return last->items;
  }
};
constexpr StackId kStacks[] = {StackId::kMain, StackId::kEncoder, StackId::kTower, StackId::kAudio};

void refuse_unknown_names(const Model& model) {
  if (model.family != "mixformer-sequential") return;
  throw UserError(
      fmt::format("{}: the tensors of model_type '{}' cannot be compared by name: their "
                  "embedding and head are numbered as layers",
                  model.name, model.family));
}

class Checker {
 public:
  Checker(const Model& model, const Checkpoint& checkpoint)
      : parameters_(parameters_of(model)),
        outside_(parameters_.outside),
        rows_(model.name, checkpoint.has_shapes, parameters_.total) {
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
      missing_.note({slot, StackId::kMain, {}, 1, false});
    }
    return rows_.finish(missing_.named(context_.is_conv1d));
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
    rows_.count(tensor);
    const NameReader::Result name = names_.read(tensor.name);
    const Item item{&tensor, name.pattern, static_cast<std::uint32_t>(name.number),
                    static_cast<std::int32_t>(name.expert.value_or(-1))};
    if (item.name->kind == NameKind::kBuffer) {
      rows_.add_besides(BesidesKind::kBuffer, item, std::string(item.name->comment));
    } else if (item.name->kind == NameKind::kMtp) {
      rows_.add_besides(BesidesKind::kMtp, item, "multi-token prediction");
    } else if (item.name->kind == NameKind::kOther && has(StackId::kAudio)) {
      rows_.add_besides(BesidesKind::kOtherModel, item, std::string(item.name->comment));
    } else if (const auto stack = stack_of(*item.name)) {
      stored(*stack).items_of(item.name->is_second, name.layer).push_back(item);
    } else {
      rows_.add_extra(item, "the model has no tower");
    }
  }

  // Where the model has it: one that has no encoder beside its layers calls those so, and what is
  // behind a tower is behind the one that there is.
  std::optional<StackId> stack_of(const NamePattern& name) const {
    if (has(name.stack)) return name.stack;
    if (name.stack == StackId::kEncoder) return StackId::kMain;
    if (name.stack == StackId::kTower && has(StackId::kAudio)) return StackId::kAudio;
    return std::nullopt;
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
    std::vector<LayerKey> open;
    for (const auto& [key, layer] : layers) {
      if (key.second >= count) {
        behind_the_last(key.second, count, layer.items);
      } else if (!match_exactly(kinds, stack, layer.items)) {
        open.push_back(key);
      }
    }
    for (const LayerKey& key : open) {
      const std::vector<Item>& items = layers.at(key).items;
      if (!match_nearest(kinds, stack, key.second, items)) {
        behind_the_last(key.second, count, items);
      }
    }
    for (const OpenKind& kind : kinds) {
      if (kind.left == 0) continue;
      const Slots slots(kind.kind->parameters);
      for (const Slot& slot : slots.all()) {
        missing_.note({slot, stack, {}, Count(kind.left), true});
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

  // False where two lists of layers have more than the model.
  bool match_nearest(std::vector<OpenKind>& kinds, StackId stack, std::int64_t number,
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
    if (nearest == nullptr) return false;
    nearest->left -= 1;
    for (const Slot& slot : best->slots.all()) missing_.note({slot, stack, number, 1, true});
    commit(*std::move(best), stack);
    return true;
  }

  void behind_the_last(std::int64_t number, std::int64_t count, const std::vector<Item>& items) {
    const bool is_mtp = std::any_of(items.begin(), items.end(), [](const Item& item) {
      return marks_mtp_layer(item.tensor->name);
    });
    for (const Item& item : items) {
      if (is_mtp) {
        rows_.add_besides(BesidesKind::kMtp, item, "multi-token prediction");
      } else {
        rows_.add_extra(item, fmt::format("layer {} of a model with {} layers", number, count));
      }
    }
  }

  // ---- results

  void commit(PlaceFindings found, StackId stack) {
    outside_ = std::move(found.outside);
    for (const Finding& finding : found.findings) {
      switch (finding.outcome) {
        case Outcome::kHeld:
          missing_.remember(finding, stack);
          rows_.add_held(finding);
          break;
        case Outcome::kOtherShape:
          missing_.remember(finding, stack);
          rows_.add_other_shape(finding);
          break;
        case Outcome::kCopy:
          rows_.add_besides(BesidesKind::kCopy, *finding.item,
                            "copy of " + finding.reading->parameters.front()->name);
          break;
        case Outcome::kCompanion:
          rows_.add_besides(BesidesKind::kQuantisation, *finding.item,
                            "with the quantised " + finding.accompanied->name);
          break;
        case Outcome::kExtra:
          rows_.add_extra(*finding.item, finding.why);
          break;
      }
    }
  }

  ModelParameters parameters_;
  Slots outside_;
  MatchContext context_;
  bool has_[std::size(kStacks)] = {};
  NameReader names_;
  std::unordered_map<std::string_view, const StoredTensor*> by_name_;
  StoredStack stored_[std::size(kStacks)];
  MissingParameters missing_;
  CheckRows rows_;
};

}  // namespace

WeightCheck check_weights(const Model& model, const Checkpoint& checkpoint) {
  refuse_unknown_names(model);
  return Checker(model, checkpoint).check();
}

}  // namespace flopwise
