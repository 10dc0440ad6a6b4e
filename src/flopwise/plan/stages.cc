#include "flopwise/plan/stages.h"

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// Layers of each group among the first so many of the stack.
class LayerOrder {
 public:
  explicit LayerOrder(const std::vector<LayerGroup>& groups) {
    for (const LayerGroup& group : groups) {
      spans_.push_back(group.spans.empty()
                           ? std::vector<LayerSpan>{{layers_, layers_ + group.repeat}}
                           : group.spans);
      layers_ += group.repeat;
    }
  }

  std::int64_t layers() const { return layers_; }
  std::size_t groups() const { return spans_.size(); }
  std::int64_t count_below(std::size_t group, std::int64_t layer) const {
    std::int64_t count = 0;
    for (const LayerSpan& span : spans_[group]) count += span.count_below(layer);
    return count;
  }

 private:
  std::vector<std::vector<LayerSpan>> spans_;
  std::int64_t layers_ = 0;
};

}  // namespace

std::vector<StageLayers> split_layers(const std::vector<LayerGroup>& groups, std::int64_t pp,
                                      std::int64_t interleave) {
  const LayerOrder order(groups);
  const std::int64_t stages = pp * interleave;
  FLOPWISE_CHECK(stages >= 1 && stages <= order.layers(), "stages without layers");
  const std::int64_t shorter = order.layers() / stages;
  const std::int64_t longer = order.layers() % stages;
  const bool first_too = longer == stages - 1;
  const auto is_longer = [&](std::int64_t stage) {
    return first_too ? stage < longer : stage >= 1 && stage <= longer;
  };
  std::vector<StageLayers> devices(static_cast<std::size_t>(pp));
  std::int64_t begin = 0;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t end = begin + shorter + (is_longer(stage) ? 1 : 0);
    StageLayers& device = devices[static_cast<std::size_t>(stage % pp)];
    device.counts.resize(order.groups());
    for (std::size_t i = 0; i < order.groups(); ++i) {
      device.counts[i] += order.count_below(i, end) - order.count_below(i, begin);
    }
    begin = end;
  }
  FLOPWISE_CHECK(begin == order.layers(), "layers that no stage holds");
  std::vector<StageLayers> distinct;
  for (std::int64_t i = 0; i < pp; ++i) {
    StageLayers& device = devices[static_cast<std::size_t>(i)];
    device.position = i;
    device.is_first = i == 0;
    device.is_last = i == pp - 1;
    const bool is_new =
        device.is_first || device.is_last ||
        std::none_of(distinct.begin(), distinct.end(), [&](const StageLayers& other) {
          return !other.is_first && !other.is_last && other.counts == device.counts;
        });
    if (is_new) distinct.push_back(std::move(device));
  }
  return distinct;
}

}  // namespace flopwise
