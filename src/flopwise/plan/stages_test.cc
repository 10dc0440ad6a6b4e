#include "flopwise/plan/stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

LayerGroup group_of(std::int64_t repeat, std::vector<LayerSpan> spans = {}) {
  LayerGroup group;
  group.repeat = repeat;
  group.spans = std::move(spans);
  return group;
}

using Counts = std::vector<std::vector<std::int64_t>>;

Counts counts_of(const std::vector<StageLayers>& devices) {
  Counts counts;
  for (const StageLayers& device : devices) counts.push_back(device.counts);
  return counts;
}

// Llama 3.1 405B: 126 layers on 16 stages, one fewer on the last and on the first.
TEST(SplitLayers, ShorterStagesAtTheEnds) {
  const std::vector<StageLayers> devices = split_layers({group_of(126)}, 16, 1);
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(counts_of(devices), (Counts{{7}, {8}, {7}}));
  EXPECT_TRUE(devices[0].is_first && devices[2].is_last);
  EXPECT_EQ(devices[1].position, 1);
  EXPECT_EQ(devices[2].position, 15);
  EXPECT_EQ(counts_of(split_layers({group_of(7)}, 4, 1)), (Counts{{2}, {2}, {1}}));
  EXPECT_EQ(counts_of(split_layers({group_of(6)}, 4, 1)), (Counts{{1}, {2}, {1}}));
  EXPECT_EQ(counts_of(split_layers({group_of(5)}, 4, 1)), (Counts{{1}, {2}, {1}, {1}}));
}

// Three dense layers, then experts: the first device has the dense ones.
TEST(SplitLayers, KindsInOrder) {
  const std::vector<LayerGroup> groups = {group_of(3), group_of(9)};
  EXPECT_EQ(counts_of(split_layers(groups, 4, 1)), (Counts{
                                                       {3, 0},
                                                       {0, 3},
                                                       {0, 3}
  }));
  EXPECT_EQ(counts_of(split_layers(groups, 2, 1)), (Counts{
                                                       {3, 3},
                                                       {0, 6}
  }));
  // Stages of 3: device 0 has the first and the third, device 1 the second and the fourth. Of 2:
  // the second stage has the third dense layer.
  EXPECT_EQ(counts_of(split_layers(groups, 2, 2)), (Counts{
                                                       {3, 3},
                                                       {0, 6}
  }));
  EXPECT_EQ(counts_of(split_layers(groups, 2, 3)), (Counts{
                                                       {2, 4},
                                                       {1, 5}
  }));
}

// Every sixth of 12 is another kind.
TEST(SplitLayers, KindsInAPeriod) {
  const std::vector<LayerGroup> groups = {
      group_of(10, {{0, 12, 6, false}}
       ), group_of(2, {{0, 12, 6, true} }
       )
  };
  EXPECT_EQ(counts_of(split_layers(groups, 2, 1)), (Counts{
                                                       {5, 1},
                                                       {5, 1}
  }));
  EXPECT_EQ(counts_of(split_layers(groups, 4, 1)), (Counts{
                                                       {3, 0},
                                                       {2, 1},
                                                       {3, 0},
                                                       {2, 1}
  }));
}

// Each layer of a stack lies in the spans of exactly one group, and a group has as many as it says.
TEST(SplitLayers, SpansOfTheCatalogCoverEachLayerOnce) {
  for (const CatalogModel& row : model_catalog()) {
    const Model model = read_catalog_row(row);
    if (!model.decoder) continue;
    std::int64_t layers = 0;
    for (const LayerGroup& group : model.decoder->groups) layers += group.repeat;
    for (const std::int64_t pp : {std::int64_t{1}, std::min<std::int64_t>(3, layers), layers}) {
      std::vector<std::int64_t> sums(model.decoder->groups.size());
      std::int64_t devices = 0;
      for (const StageLayers& device : split_layers(model.decoder->groups, pp, 1)) {
        EXPECT_GE(std::accumulate(device.counts.begin(), device.counts.end(), std::int64_t{0}), 1)
            << model.name;
        ++devices;
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += device.counts[i];
      }
      if (devices != pp) continue;  // some are listed once
      for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(sums[i], model.decoder->groups[i].repeat) << model.name;
      }
    }
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      std::int64_t holders = 0, listed = 0;
      for (const LayerGroup& group : model.decoder->groups) {
        listed += static_cast<std::int64_t>(group.spans.size());
        for (const LayerSpan& span : group.spans) {
          holders += span.count_below(layer + 1) - span.count_below(layer);
        }
      }
      if (listed > 0) {
        EXPECT_EQ(holders, 1) << model.name << " layer " << layer;
      }
    }
  }
}

}  // namespace
}  // namespace flopwise
