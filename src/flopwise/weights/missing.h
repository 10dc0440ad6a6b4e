// Parameters that no tensor holds, under the names that their tensors would have: those that other
// layers show.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flopwise/weights/check.h"
#include "flopwise/weights/place_matcher.h"

namespace flopwise {

// A parameter that is not found, in a layer of this number, in `repeat` layers without one, or
// outside.
struct NotFound {
  Slot slot;
  StackId stack = StackId::kMain;
  std::optional<std::int64_t> layer;
  Count repeat = 1;
  bool is_layer = false;
};

class MissingParameters {
 public:
  // How the parameters of a finding are stored, for those of the same name that are not found.
  void remember(const Finding& finding, StackId stack);
  // Nothing where all of the slot is filled.
  void note(NotFound one);
  // `is_conv1d`: see shapes_of.
  std::vector<MissingTensor> named(bool is_conv1d);

 private:
  // How a parameter is stored where it is stored.
  struct Example {
    std::string pattern;
    std::vector<const Parameter*> parameters;
    Layout layout = Layout::kLinear;
    bool is_per_expert = false;
  };

  void add_unseen(const NotFound& one);
  void add(const NotFound& one, const Example& example, bool is_conv1d);
  void add(const std::string& name, const std::vector<Shape>& shapes, Count tensors,
           Count elements);

  std::map<std::pair<StackId, std::string>, Example> examples_;  // by stack and parameter
  std::vector<NotFound> not_found_;
  std::vector<MissingTensor> missing_;
  std::unordered_map<std::string, std::size_t> missing_at_;
};

}  // namespace flopwise
