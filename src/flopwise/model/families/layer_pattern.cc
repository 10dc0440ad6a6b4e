#include "flopwise/model/families/layer_pattern.h"

#include <algorithm>

namespace flopwise {
namespace {

// The layers first ... end-1, between two breaks: those that end a period, and the others.
void add_span(LayerList& list, std::int64_t first, std::int64_t end, std::int64_t period,
              const std::function<NamedLayer(std::int64_t)>& layer_at) {
  const auto add = [&](std::int64_t i, bool ends_period) {
    const LayerSpan span{first, end, period, ends_period};
    if (span.count() == 0) return;
    const NamedLayer named = layer_at(i);
    list.add(named.name, named.layer, span);
  };
  const std::int64_t first_period_end = (first / period + 1) * period - 1;
  if (first_period_end == first) {
    add(first, true);
    add(first + 1, false);
  } else {
    add(first, false);
    add(first_period_end, true);
  }
}

}  // namespace

std::vector<LayerGroup> group_layers(LayerPattern pattern,
                                     const std::function<NamedLayer(std::int64_t)>& layer_at) {
  std::vector<std::int64_t>& breaks = pattern.breaks;
  breaks.push_back(0);
  breaks.push_back(pattern.layers);
  std::sort(breaks.begin(), breaks.end());
  LayerList list;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i) {
    const std::int64_t first = std::max(breaks[i], std::int64_t{0});
    const std::int64_t end = std::min(breaks[i + 1], pattern.layers);
    if (first < end) add_span(list, first, end, pattern.period, layer_at);
  }
  std::vector<LayerGroup> groups = list.groups();
  if (groups.size() == 1) groups.front().name = "layer";
  return groups;
}

}  // namespace flopwise
