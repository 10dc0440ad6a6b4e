// Derived parameters against stored tensors, each one once: which tensor holds which parameter, in
// which shape, what is missing, what is left over, and what explains the difference of the totals.
//
//   elements stored = parameters derived + copies + buffers + scales + multi-token prediction
//                     + other models - elements saved by packing + left over - missing + of another
//                     shape
//
// The sum is checked, so no tensor is forgotten.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/checkpoint/checkpoint.h"
#include "flopwise/model/model.h"

namespace flopwise {

// Stored tensors that hold the same parameters of different layers and experts in the same form.
struct HeldParameters {
  std::string pattern;                  // "model.layers.{i}.self_attn.qkv_proj.weight"
  std::vector<std::string> parameters;  // "attention.q.weight", ...: one, or those it fuses
  std::vector<Count> shape;             // row-major, unpacked; empty where it is not known
  std::string_view type;                // of the stored elements: "BF16"
  std::string form;                     // "GPTQ, 4 bits"; "" where it is stored as it is
  Count tensors;
  Count elements;         // parameters
  Count stored_elements;  // of the packed tensor
  Count bytes;
};

enum class BesidesKind { kCopy, kBuffer, kQuantisation, kMtp, kOtherModel };

// Stored tensors that hold no parameter of their own, and why they are there.
struct Besides {
  BesidesKind kind = BesidesKind::kCopy;
  std::string pattern;
  std::string what;  // "copy of embed.tokens.weight", "causal mask"
  Count tensors;
  Count elements;
  Count bytes;
};

// A parameter that no tensor holds. `name` is that of the tensor where other layers show it, else
// the parameter's; it keeps {i} or {e} where whole layers or many experts are missing.
struct MissingTensor {
  std::string name;
  std::vector<Count> shape;
  Count tensors;
  Count elements;
};

struct ExtraTensor {
  std::string name;
  std::string pattern;
  std::vector<std::int64_t> shape;
  Count elements;
  Count bytes;
  std::string
      why;  // "no rule knows the name", "layer 32 of 32", "attention.q.bias is not in the model"
};

struct OtherShape {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<std::int64_t> shape;  // as stored
  std::string form;
  std::vector<Count> expected;
  Count stored_elements;
  Count expected_elements;
};

// One line of the sum.
struct ExplainedElements {
  std::string_view what;  // "tied copies"
  Count elements;         // negative where fewer are stored
};

struct WeightCheck {
  std::string model;
  bool has_shapes = true;            // false: an index alone; names are compared, elements unknown
  std::vector<HeldParameters> held;  // in the model's order
  std::vector<Besides> besides;
  std::vector<MissingTensor> missing;
  std::vector<ExtraTensor> extra;
  std::vector<OtherShape> other_shape;
  Count params;  // derived
  Count stored_tensors;
  Count stored_elements;
  Count stored_bytes;
  std::vector<ExplainedElements> difference;  // adds up to stored_elements - params

  bool agrees() const { return missing.empty() && extra.empty() && other_shape.empty(); }
  Count missing_tensors() const;
  // "llama-3-8b: checkpoint and model differ: 2 tensors missing, 1 extra".
  std::string verdict() const;
};

WeightCheck check_weights(const Model& model, const Checkpoint& checkpoint);

}  // namespace flopwise
