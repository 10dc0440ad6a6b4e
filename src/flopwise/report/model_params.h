// The parameters of a whole model.
#pragma once

#include "flopwise/cost/params.h"
#include "flopwise/model/model.h"

namespace flopwise {

// Of what files hold for nobody: in the total, not active.
Params unused_params_of(const Model& model);
Params params_of_tower(const Model& tower);
// Of the encoder, the decoder and all towers, whatever a step runs.
Params params_of_model(const Model& model);

}  // namespace flopwise
