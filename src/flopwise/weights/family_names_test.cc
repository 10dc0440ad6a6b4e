// The names that published checkpoints of each family have, at sizes that differ from each other:
// every tensor is held, and none can be left out, added or reshaped unnoticed. Names as the
// modelling files of transformers build them.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>

#include "flopwise/base/json.h"
#include "flopwise/model/read_model.h"
#include "flopwise/weights/family_names_rows.h"
#include "flopwise/weights/layer_modules.h"
#include "flopwise/weights/layer_names_rows.h"
#include "flopwise/weights/made_checkpoint.h"
#include "flopwise/weights/names.h"
#include "flopwise/weights/outside_modules.h"
#include "flopwise/weights/parameters.h"
#include "flopwise/weights/plain_names_rows.h"
#include "flopwise/weights/tower_names_rows.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

using namespace made;

std::vector<FamilyRow> all_rows() {
  std::vector<FamilyRow> rows(std::begin(kFamilyRows), std::end(kFamilyRows));
  rows.insert(rows.end(), std::begin(kPlainRows), std::end(kPlainRows));
  rows.insert(rows.end(), std::begin(kLayerRows), std::end(kLayerRows));
  rows.insert(rows.end(), std::begin(kTowerRows), std::end(kTowerRows));
  return rows;
}

void add_line(const std::string& name, const std::vector<std::int64_t>& shape, File& file) {
  const std::size_t open = name.find('{');
  if (open == std::string::npos) {
    file.push_back({name, shape});
    return;
  }
  const std::size_t dash = name.find('-', open);
  const std::size_t close = name.find('}', open);
  const int last = std::stoi(name.substr(dash + 1));
  for (int i = std::stoi(name.substr(open + 1)); i <= last; ++i) {
    add_line(name.substr(0, open) + std::to_string(i) + name.substr(close + 1), shape, file);
  }
}

File file_of(const FamilyRow& row) {
  File file;
  std::istringstream lines(row.tensors);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    std::vector<std::int64_t> shape;
    for (std::int64_t size = 0; words >> size;) shape.push_back(size);
    add_line(name, shape, file);
  }
  return file;
}

Model model_of(const FamilyRow& row) {
  return model_from_config(parse_json(row.config, "tiny"), "tiny");
}

int elements_of(const File& file) {
  std::int64_t sum = 0;
  for (const Made& made : file) {
    std::int64_t product = 1;
    for (const std::int64_t size : made.shape) product *= size;
    sum += product;
  }
  return static_cast<int>(sum);
}

TEST(FamilyNames, EveryTensorIsHeld) {
  for (const FamilyRow& row : all_rows()) {
    SCOPED_TRACE(row.family);
    const File file = file_of(row);
    EXPECT_EQ(differences(check(model_of(row), file)), agreement(elements_of(file) - row.besides));
  }
}

// Without one tensor of each kind in turn the check says so, by its elements.
TEST(FamilyNames, NoTensorCanBeLeftOut) {
  for (const FamilyRow& row : all_rows()) {
    if (row.besides != 0) continue;
    SCOPED_TRACE(row.family);
    const Model model = model_of(row);
    const File file = file_of(row);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < file.size(); ++i) {
      SCOPED_TRACE(file[i].name);
      if (!seen.insert(read_name(file[i].name).pattern).second) continue;
      File less = file;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      const WeightCheck result = check(model, less);
      EXPECT_FALSE(result.agrees());
      EXPECT_EQ(result.stored_elements, result.params - elements_of({file[i]}));
    }
  }
}

TEST(FamilyNames, NoTensorCanHaveAnotherShape) {
  for (const FamilyRow& row : all_rows()) {
    SCOPED_TRACE(row.family);
    const Model model = model_of(row);
    File file = file_of(row);
    Made& last = file.at(file.size() / 2);
    if (last.shape.empty()) last.shape = {1};
    last.shape.back() += 1;
    EXPECT_FALSE(check(model, file).agrees()) << last.name;
  }
}

TEST(FamilyNames, NoTensorCanBeAdded) {
  for (const FamilyRow& row : all_rows()) {
    SCOPED_TRACE(row.family);
    const Model model = model_of(row);
    for (const char* name : {"model.layers.0.self_attn.q_proj.lora_A", "visual.blocks.9.norm1.bias",
                             "vision_tower.vision_model.head.probe", "unknown.weight"}) {
      SCOPED_TRACE(name);
      File file = file_of(row);
      file.push_back({name, {7}});
      const WeightCheck result = check(model, file);
      ASSERT_EQ(result.extra.size(), 1u) << differences(result);
      EXPECT_EQ(result.extra[0].name, name);
    }
  }
}

// Without shapes: every name is held, and none can be left out.
TEST(FamilyNames, NamesOfLargeTowers) {
  for (const FamilyRow& row : kNameRows) {
    SCOPED_TRACE(row.family);
    const Model model = model_of(row);
    const File file = file_of(row);
    const auto check_names = [&](const File& names) {
      Checkpoint checkpoint = checkpoint_of(names);
      checkpoint.has_shapes = false;
      return check_weights(model, checkpoint);
    };
    EXPECT_EQ(
        differences(check_names(file)),
        fmt::format("tiny: names agree, {} tensors; shapes and sizes are not known, the index "
                    "stands alone\n",
                    file.size()));
    std::set<std::string> seen;
    for (std::size_t i = 0; i < file.size(); ++i) {
      const StoredName name = read_name(file[i].name);
      if (name.kind == NameKind::kBuffer || !seen.insert(name.pattern).second) continue;
      SCOPED_TRACE(file[i].name);
      File less = file;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_FALSE(check_names(less).agrees());
    }
  }
}

TEST(FamilyNames, NamesThatSayTooLittleAreRefused) {
  const Model model =
      model_from_config(parse_json(R"({"model_type": "mixformer-sequential", "n_embd": 8,
        "n_head": 2, "n_layer": 2, "n_positions": 7, "rotary_dim": 2, "vocab_size": 11})",
                                   "tiny"),
                        "tiny");
  EXPECT_EQ(user_error_of([&] {
              check(model, {
                               {"layers.0.wte.weight", {11, 8}}
              });
            }),
            "tiny: the tensors of model_type 'mixformer-sequential' cannot be compared by name: "
            "their embedding and head are numbered as layers");
}

// Some module holds each parameter of every catalog model, so a family without names is noticed.
TEST(FamilyNames, EveryParameterOfTheCatalogHasAName) {
  std::set<std::string> named;
  const auto add_names = [&](std::span<const NameRule> rules) {
    for (const NameRule& rule : rules) {
      constexpr std::int64_t kMostListed = 8;
      for (std::int64_t listed = 0; listed < kMostListed; ++listed) {
        for (const Holding& holding : holdings_of(rule, listed)) {
          named.insert(holding.parameters.begin(), holding.parameters.end());
        }
      }
    }
  };
  add_names(kInLayer);
  add_names(kOutside);
  const auto is_named = [&](std::string name) {
    for (const StackId stack : {StackId::kEncoder, StackId::kTower, StackId::kAudio}) {
      const std::string_view prefix = prefix_of(stack);
      if (named.count(name) == 0 && name.starts_with(prefix)) name.erase(0, prefix.size());
    }
    const std::string module = name.substr(0, name.rfind('.'));  // without .weight or .bias
    return named.count(name) + named.count(module) != 0;
  };
  for (const CatalogModel& row : model_catalog()) {
    const Model model = read_catalog_row(row);
    const ModelParameters all = parameters_of(model);
    for (const Parameter& parameter : all.outside) {
      EXPECT_TRUE(is_named(parameter.name)) << model.name << " " << parameter.name;
    }
    for (const LayerKind& kind : all.layers) {
      for (const Parameter& parameter : kind.parameters) {
        EXPECT_TRUE(is_named(parameter.name)) << model.name << " " << parameter.name;
      }
    }
  }
}

// A text model whose file has a tower, and the other way round.
TEST(FamilyNames, TheTowerIsPartOfTheTotal) {
  const auto row =
      std::find_if(std::begin(kFamilyRows), std::end(kFamilyRows),
                   [](const FamilyRow& one) { return std::string_view(one.family) == "qwen2_vl"; });
  ASSERT_NE(row, std::end(kFamilyRows));
  const File file = file_of(*row);
  const Model model = model_of(*row);
  const WeightCheck whole = check(model, file);
  Model text = model;
  text.towers.clear();
  const WeightCheck without = check(text, file);
  EXPECT_FALSE(without.agrees());
  EXPECT_EQ(without.extra.front().why, "the model has no tower");
  EXPECT_EQ(without.stored_elements, whole.params);
  const WeightCheck missing = check(model, changed(file, "visual."));
  EXPECT_EQ(missing.stored_elements, without.params);
  EXPECT_EQ(missing.missing.front().name, "vision.attention.norm.weight of 2 layers");
}

}  // namespace
}  // namespace flopwise
