// The parameters of a whole model.
#pragma once

#include "flopwise/cost/params.h"
#include "flopwise/model/model.h"

namespace flopwise {

// Of the encoder, the decoder and the vision tower, whatever a step runs.
Params params_of_model(const Model& model);

}  // namespace flopwise
