#include "flopwise/weights/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/weights/layer_modules.h"
#include "flopwise/weights/name_table.h"
#include "flopwise/weights/outside_modules.h"

namespace flopwise {
namespace {

std::vector<std::string_view> segments_of(std::string_view name) {
  std::vector<std::string_view> segments;
  while (true) {
    const std::size_t dot = name.find('.');
    segments.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return segments;
    name.remove_prefix(dot + 1);
  }
}

std::optional<std::int64_t> number_in(std::string_view segment) {
  constexpr std::size_t kMostDigits = 9;
  if (segment.empty() || segment.size() > kMostDigits) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(segment.data(), segment.data() + segment.size(), number);
  if (error != std::errc() || end != segment.data() + segment.size() || number < 0) return {};
  return number;
}

using RuleMap = std::unordered_map<std::string_view, const NameRule*>;

RuleMap map_of(std::span<const NameRule> rules) {
  RuleMap map;
  for (const NameRule& rule : rules) map.emplace(rule.module, &rule);
  return map;
}

constexpr std::string_view kListed = "{e+2}";

const Root* find_root(std::string_view name) {
  const auto* root = std::find_if(std::begin(kRoots), std::end(kRoots),
                                  [&](const Root& known) { return known.name == name; });
  return root == std::end(kRoots) ? nullptr : root;
}

struct Module {
  const NameRule* rule = nullptr;
  std::optional<std::int64_t> expert;
  std::size_t expert_at = 0;  // where its number begins
  std::size_t expert_digits = 0;
};

// `module` as it stands in the table, or with {e} for its one number.
std::optional<Module> find_module(const RuleMap& rules, std::string_view module) {
  if (const auto found = rules.find(module); found != rules.end()) {
    return Module{found->second, std::nullopt, 0, 0};
  }
  std::size_t at = 0;
  for (const std::string_view segment : segments_of(module)) {
    if (const auto number = number_in(segment)) {
      std::string pattern(module);
      pattern.replace(at, segment.size(), "{e}");
      const auto found = rules.find(pattern);
      if (found == rules.end()) return std::nullopt;
      return Module{found->second, number, at, segment.size()};
    }
    at += segment.size() + 1;
  }
  return std::nullopt;
}

// `rest`: what follows the layer's number, or the root. Fills rule, leaf and expert; false when no
// row fits.
bool read_rest(const RuleMap& rules, std::string_view rest, const std::string& pattern_before,
               StoredName& result) {
  const Leaf* best = nullptr;
  Module module;
  for (const Leaf& leaf : kLeaves) {
    if (!rest.ends_with(leaf.suffix) || rest.size() == leaf.suffix.size()) continue;
    if (best != nullptr && best->suffix.size() > leaf.suffix.size()) continue;
    const auto found = find_module(rules, rest.substr(0, rest.size() - leaf.suffix.size()));
    if (!found) continue;
    best = &leaf;
    module = *found;
  }
  if (best == nullptr) return false;
  result.kind = best->kind == LeafKind::kCompanion ? NameKind::kCompanion : NameKind::kParameter;
  result.rule = module.rule;
  result.leaf = best;
  const bool is_listed = module.rule->holds.find(kListed) != std::string_view::npos;
  (is_listed ? result.listed : result.expert) = module.expert;
  std::string pattern(rest);
  if (module.expert) pattern.replace(module.expert_at, module.expert_digits, "{e}");
  result.pattern = pattern_before + pattern;
  return true;
}

// "model.layers.7.REST": where the layer's number stands.
struct LayerPlace {
  const Root* root = nullptr;
  std::int64_t layer = 0;
  std::size_t number_at = 0;
  std::size_t rest_at = 0;
};

std::optional<LayerPlace> find_layer(std::string_view name) {
  const std::vector<std::string_view> segments = segments_of(name);
  std::size_t at = 0;
  for (std::size_t i = 0; i + 2 < segments.size(); ++i) {
    const std::size_t number_at = at + segments[i].size() + 1;
    const auto number = number_in(segments[i + 1]);
    if (number && contains(kLayerContainers, segments[i])) {
      const Root* root = find_root(name.substr(0, at == 0 ? 0 : at - 1));
      if (root == nullptr) return std::nullopt;
      return LayerPlace{root, *number, number_at, number_at + segments[i + 1].size() + 1};
    }
    at = number_at;
  }
  return std::nullopt;
}

bool read_outside(std::string_view name, StoredName& result) {
  static const RuleMap kRules = map_of(kOutside);
  for (const Root& root : kRoots) {
    std::string_view rest = name;
    std::size_t skipped = 0;
    if (!root.name.empty()) {
      const std::size_t size = root.name.size();
      if (!rest.starts_with(root.name) || rest.size() <= size || rest[size] != '.') continue;
      skipped = size + 1;
      rest.remove_prefix(skipped);
    }
    if (!read_rest(kRules, rest, std::string(name.substr(0, skipped)), result)) continue;
    result.stack = root.stack;
    return true;
  }
  return false;
}

// Whatever numbers a name has: one pattern for tensors of the same kind.
std::string numberless(std::string_view name) {
  std::string pattern;
  for (const std::string_view segment : segments_of(name)) {
    pattern += number_in(segment) ? std::string_view("{i}") : segment;
    pattern += '.';
  }
  pattern.pop_back();
  return pattern;
}

const BufferRule* find_buffer(std::string_view name) {
  for (const BufferRule& rule : kBuffers) {
    if (!name.ends_with(rule.end)) continue;
    const std::size_t before = name.size() - rule.end.size();
    if (before == 0 || name[before - 1] == '.') return &rule;
  }
  return nullptr;
}

}  // namespace

std::vector<Holding> holdings_of(const NameRule& rule, std::optional<std::int64_t> listed) {
  std::vector<Holding> holdings(1);
  for (std::string_view text = rule.holds; !text.empty();) {
    const std::size_t end = text.find(' ');
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (word == "|") {
      holdings.emplace_back();
    } else if (word != "+") {
      holdings.back().is_copy = word.starts_with('=');
      if (holdings.back().is_copy) word.remove_prefix(1);
      std::string parameter(word);
      const std::size_t at = listed ? parameter.find(kListed) : std::string::npos;
      if (at != std::string::npos) {
        parameter.replace(at, kListed.size(), std::to_string(*listed + 2));
      }
      holdings.back().parameters.push_back(std::move(parameter));
    }
  }
  return holdings;
}

StoredName read_name(std::string_view name) {
  static const RuleMap kRules = map_of(kInLayer);
  StoredName result;
  result.pattern = numberless(name);
  if (const BufferRule* buffer = find_buffer(name)) {
    result.kind = NameKind::kBuffer;
    result.comment = buffer->comment;
    return result;
  }
  const std::vector<std::string_view> segments = segments_of(name);
  if (std::any_of(segments.begin(), segments.end(),
                  [](std::string_view segment) { return contains(kMtpRoots, segment); })) {
    result.kind = NameKind::kMtp;
    return result;
  }
  for (const OtherModel& other : kOtherModels) {
    if (segments.front() != other.root) continue;
    result.kind = NameKind::kOther;
    result.comment = other.comment;
    return result;
  }
  const auto place = find_layer(name);
  if (!place) {
    read_outside(name, result);
    return result;
  }
  result.layer = place->layer;
  result.stack = place->root->stack;
  result.is_second = place->root->is_second;
  read_rest(kRules, name.substr(place->rest_at),
            std::string(name.substr(0, place->number_at)) + "{i}.", result);
  return result;
}

namespace {

// A name with {i} for the number behind a container of layers and {e} for one behind it that looks
// like an expert's. Names with one key are read alike, but for these numbers: what they mean is
// asked of read_name, once a key.
struct NameNumbers {
  std::int64_t layer = -1;
  std::int64_t expert = -1;
};
NameNumbers key_of(std::string_view name, std::string& key) {
  NameNumbers numbers;
  key.clear();
  std::string_view before;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view segment = name.substr(0, dot);
    const bool is_number = !segment.empty() && segment[0] >= '0' && segment[0] <= '9';
    const auto number = is_number ? number_in(segment) : std::nullopt;
    if (number && numbers.layer < 0 && contains(kLayerContainers, before)) {
      numbers.layer = *number;
      key += "{i}";
    } else if (number && numbers.expert < 0 && numbers.layer >= 0 &&
               (before == "experts" || before.starts_with("ffn_"))) {
      numbers.expert = *number;
      key += "{e}";
    } else {
      key += segment;
    }
    if (dot == std::string_view::npos) return numbers;
    key += '.';
    before = segment;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

NameReader::Result NameReader::read(std::string_view name) {
  const NameNumbers numbers = key_of(name, key_);
  auto known = known_.find(key_);
  if (known == known_.end()) {
    StoredName read = read_name(name);
    const auto [number, is_new] = numbers_.emplace(read.pattern, patterns_.size());
    const bool is_alike = is_new || (patterns_[number->second].rule == read.rule &&
                                     patterns_[number->second].leaf == read.leaf &&
                                     patterns_[number->second].listed == read.listed &&
                                     patterns_[number->second].kind == read.kind);
    const std::size_t at = is_alike ? number->second : patterns_.size();
    if (at == patterns_.size()) patterns_.push_back(read);
    const Result result = {&patterns_[at], at, read.layer, read.expert};
    const bool is_as_keyed = read.layer.value_or(-1) == (read.layer ? numbers.layer : -1) &&
                             read.expert.value_or(-1) == (read.expert ? numbers.expert : -1);
    if (is_as_keyed)
      known_.emplace(key_, Known{at, read.layer.has_value(), read.expert.has_value()});
    return result;
  }
  Result result = {&patterns_[known->second.number], known->second.number, {}, {}};
  if (known->second.has_layer) result.layer = numbers.layer;
  if (known->second.has_expert) result.expert = numbers.expert;
  return result;
}

bool marks_mtp_layer(std::string_view name) {
  const auto place = find_layer(name);
  if (!place) return false;
  const std::string_view rest = name.substr(place->rest_at);
  return contains(kMtpModules, segments_of(rest).front());
}

std::string fill_pattern(std::string pattern, std::optional<std::int64_t> layer,
                         std::optional<std::int64_t> expert) {
  const auto replace = [&](std::string_view mark, std::optional<std::int64_t> number) {
    const std::size_t at = pattern.find(mark);
    if (at != std::string::npos && number)
      pattern.replace(at, mark.size(), std::to_string(*number));
  };
  replace("{i}", layer);
  replace("{e}", expert);
  return pattern;
}

}  // namespace flopwise
