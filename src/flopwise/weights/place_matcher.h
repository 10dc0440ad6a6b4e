// The tensors of one place, a layer or all that is outside the layers, against its parameters.
#pragma once

#include <string>
#include <vector>

#include "flopwise/weights/names.h"
#include "flopwise/weights/parameters.h"
#include "flopwise/weights/slots.h"
#include "flopwise/weights/stored_form.h"

namespace flopwise {

struct Item {
  const StoredTensor* tensor = nullptr;
  StoredName name;
};

enum class Outcome { kHeld, kOtherShape, kCopy, kCompanion, kExtra };

// What one stored tensor turned out to be.
struct Finding {
  Item item;
  Outcome outcome = Outcome::kExtra;
  std::vector<const Parameter*> parameters;  // held, copied, or accompanied
  Unpacked unpacked;
  Shape expected;
  std::string why;  // of kExtra
};

struct PlaceFindings {
  std::vector<Finding> findings;
  Slots slots;    // of the layer
  Slots outside;  // after it

  Count failures() const {
    Count count = 0;
    for (const Finding& finding : findings) {
      if (finding.outcome == Outcome::kExtra || finding.outcome == Outcome::kOtherShape) count += 1;
    }
    for (const Slot& slot : slots.all()) count += slot.missing_slices();
    return count;
  }
};

// What a place is matched with.
struct Place {
  Slots slots;    // of the layer
  Slots outside;  // of what is outside the layers
  StackId stack = StackId::kMain;
  bool is_conv1d = false;  // matrices under the names of GPT-2 are stored transposed
  bool has_shapes = true;
};

// Fills the slots with the tensors of `items`; `find` looks up what accompanies a packed weight.
PlaceFindings match_place(Place place, const std::vector<Item>& items, const FindTensor& find);

Count product_of(const Shape& shape);

}  // namespace flopwise
