// The rows of a WeightCheck, summed up from single tensors, and the sum that leads from the derived
// parameters to the stored elements.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flopwise/weights/check.h"
#include "flopwise/weights/place_matcher.h"

namespace flopwise {

class CheckRows {
 public:
  CheckRows(std::string model, bool has_shapes, Count params);

  void count(const StoredTensor& tensor);
  void add_held(const Finding& finding);
  void add_other_shape(const Finding& finding);
  void add_besides(BesidesKind kind, const Item& item, std::string what);
  void add_extra(const Item& item, std::string why);
  // In the model's order, with the sum; after it nothing can be added.
  WeightCheck finish(std::vector<MissingTensor> missing);

 private:
  std::size_t row_of(const Finding& finding);
  std::size_t new_or_known_row(const Finding& finding);
  bool is_stored_as(const Finding& finding, const Reading& reading) const;
  std::vector<Count> shape_of(const Finding& finding) const;
  Count besides_elements(BesidesKind kind) const;
  void explain_difference();

  WeightCheck check_;
  std::unordered_map<std::string, std::size_t> held_at_;
  std::unordered_map<std::string, std::size_t> besides_at_;
  std::vector<int> positions_;  // of check_.held
};

}  // namespace flopwise
