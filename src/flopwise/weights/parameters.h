// The parameters of a model as files store them: matrices [out, in], tables [rows, width] and
// vectors [n], each with the name it has in the graph. What is input and what is output of a matrix
// follows from the contraction that reads it, so a new block needs nothing here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/model/model.h"
#include "flopwise/weights/names.h"

namespace flopwise {

struct Parameter {
  // "attention.q.weight"; outside the layers of another than the main stack with its prefix:
  // "encoder.final.norm.weight", "vision.projector.weight".
  std::string name;
  Count experts;     // E slices of a routed parameter; 0: it is none
  Count out;         // rows of a table, elements of a vector
  Count in;          // 0: a vector
  Count heads = 1;   // of the outputs of a matrix: the size of their first axis
  int position = 0;  // in the graph's order

  Count slice() const { return in == 0 ? out : out * in; }  // of one expert
  Count elements() const { return experts == 0 ? slice() : experts * slice(); }
  // The same parameter of another layer.
  bool is_like(const Parameter& other) const {
    return name == other.name && experts == other.experts && out == other.out && in == other.in;
  }
};

// Layers with the same parameters. Kinds that differ in their mask alone (local and global) are
// one.
struct LayerKind {
  StackId stack = StackId::kMain;
  std::int64_t repeat = 0;
  std::vector<Parameter> parameters;
};

struct ModelParameters {
  // Embedding, final norms, head, in the graph's order; and what files store once for all layers.
  std::vector<Parameter> outside;
  std::vector<LayerKind> layers;
  Count total;  // the towers' too, and what is stored and does not run
};

// What stands before the names of parameters outside a stack's layers: "encoder.", "vision.",
// "audio.".
std::string_view prefix_of(StackId stack);

ModelParameters parameters_of(const Model& model);

}  // namespace flopwise
