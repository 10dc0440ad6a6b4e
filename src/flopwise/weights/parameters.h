// The parameters of a model as files store them: matrices [out, in], tables [rows, width] and
// vectors [n], each with the name it has in the graph. What is input and what is output of a matrix
// follows from the contraction that reads it, so a new block needs nothing here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/model/model.h"

namespace flopwise {

struct Parameter {
  std::string name;  // "attention.q.weight"; beside a decoder "encoder.final.norm.weight"
  Count experts;     // E slices of a routed parameter; 0: it is none
  Count out;         // rows of a table, elements of a vector
  Count in;          // 0: a vector
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
  bool is_encoder = false;  // the encoder beside a decoder
  std::int64_t repeat = 0;
  std::vector<Parameter> parameters;
};

struct ModelParameters {
  std::vector<Parameter> outside;  // embedding, final norms, head: in the graph's order
  std::vector<LayerKind> layers;
  Count total;
};

ModelParameters parameters_of(const Model& model);

}  // namespace flopwise
