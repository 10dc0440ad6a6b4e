// From a Model and a Workload to the graphs that everything else is derived from.
//
// A model is blocks with repeat counts: the embedding, each distinct layer once, the head. A new
// architecture is a new way to fill a Model or one more file under blocks/; nothing to the right of
// the graph changes.
#pragma once

#include "flopwise/graph/graph.h"
#include "flopwise/graph/remat.h"
#include "flopwise/model/model.h"
#include "flopwise/model/workload.h"

namespace flopwise {

// The forward pass. Letters of docs/conventions.md are symbols of the formulas; Program::sizes has
// their values.
Program build_program(const Model& model, const Workload& workload);

// The forward pass of one token: every parameter and every cache of the model, at the least sizes.
Program build_one_token(const Model& model, Mode mode);

// What one MTP layer of Model::mtp reads and does: the join of a hidden state and an embedding, the
// layer and a last norm. Without mtp an empty program.
Program build_mtp_program(const Model& model, const Workload& workload);

// One image or sound of so many positions through a tower, its projector included.
Program build_tower_program(const Model& tower, std::int64_t positions);
// What the tower is made for, or 1024.
std::int64_t positions_of_tower(const Model& tower);

// What Model::unused holds, as if it ran on one position; without it an empty program.
Program build_unused_program(const Model& model);

// The forward pass with backward and recomputation appended to every block. UserError if a `save:`
// list names nothing.
Program build_training_program(const Model& model, const Workload& workload,
                               const RematPolicy& remat);

}  // namespace flopwise
