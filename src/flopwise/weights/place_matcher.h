// The tensors of one place, a layer or all that is outside the layers, against its parameters.
//
// What a name can hold, and in which shapes, is the same in every layer of a kind: it is worked out
// once for each pattern of names, and of 100,000 experts only numbers and shapes are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopwise/weights/names.h"
#include "flopwise/weights/parameters.h"
#include "flopwise/weights/slots.h"
#include "flopwise/weights/stored_form.h"

namespace flopwise {

struct Item {
  const StoredTensor* tensor = nullptr;
  const NamePattern* name = nullptr;
  std::uint32_t pattern = 0;  // number of `name`
  std::int32_t number = -1;   // of the expert

  std::optional<std::int64_t> expert() const {
    if (number < 0) return std::nullopt;
    return number;
  }
};

enum class Outcome { kHeld, kOtherShape, kCopy, kCompanion, kExtra };

// One way to take the tensors of a pattern: as these parameters, in one of these shapes.
struct Reading {
  struct Place {
    bool is_outside = false;
    std::size_t slot = 0;
  };
  std::vector<Place> places;
  std::vector<const Parameter*> parameters;
  bool is_copy = false;
  bool of_one_expert = false;
  std::vector<Shape> shapes;  // empty: these parameters cannot be fused
  std::vector<Count> elements;
  // Where rows of the answer sum up the tensors that were held so, by type and shape.
  struct Row {
    std::string_view type;
    std::size_t shape = 0;
    std::size_t row = 0;
  };
  std::vector<Row> rows;
  bool is_remembered = false;
};

// What one stored tensor turned out to be.
struct Finding {
  const Item* item = nullptr;
  Outcome outcome = Outcome::kExtra;
  Reading* reading = nullptr;              // of kHeld, kOtherShape and kCopy
  std::size_t shape = 0;                   // of the reading: the one that fits, or the first
  const Parameter* accompanied = nullptr;  // of kCompanion
  std::optional<Unpacked> unpacked;        // where it is not stored as it is
  std::string why;                         // of kExtra
};

struct PlaceFindings {
  std::vector<Finding> findings;
  Slots slots;    // of the layer
  Slots outside;  // after it

  Count failures() const;
};

// Of all places: what they are matched with.
struct MatchContext {
  bool is_conv1d = false;  // matrices under the names of GPT-2 are stored transposed
  bool has_shapes = true;
  FindTensor find;  // what accompanies a packed weight
};

// Fills the places of one kind: layers with these parameters, or, without any, what is outside.
class PlaceMatcher {
 public:
  PlaceMatcher(const std::vector<Parameter>& parameters, StackId stack, const MatchContext& context)
      : fresh_(parameters), stack_(stack), context_(context) {}

  // `outside`: the slots outside the layers, as they are before this place.
  PlaceFindings match(const Slots& outside, const std::vector<Item>& items);

 private:
  // Of a pattern, for its tensors with and without the number of an expert.
  struct Readings {
    bool are_known = false;
    std::vector<Reading> list;
    bool is_clear = true;  // at most one of them holds parameters of its own
  };

  Readings& readings_of(const Item& item, const Slots& outside);
  Reading reading_of(const Holding& holding, const Item& item, const Slots& outside) const;
  std::optional<Reading::Place> find_place(const std::string& module, std::string_view leaf,
                                           const Slots& outside) const;
  Finding parameter(const Item& item, PlaceFindings& place);
  std::optional<std::size_t> shape_that_holds(const Reading& reading, Finding& finding) const;
  void add_companions(const std::vector<Item>& items, PlaceFindings& place) const;

  Slots fresh_;
  StackId stack_;
  const MatchContext& context_;
  std::vector<Readings> readings_;  // by twice the pattern's number, plus 1 with an expert
};

Count product_of(const Shape& shape);

}  // namespace flopwise
