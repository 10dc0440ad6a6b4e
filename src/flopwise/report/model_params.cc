#include "flopwise/report/model_params.h"

#include "flopwise/model/build.h"

namespace flopwise {

Params params_of_tower(const Model& tower) {
  return params_of(build_tower_program(tower, positions_of_tower(tower)));
}

Params params_of_model(const Model& model) {
  Params params = params_of(build_one_token(model, Mode::kForward));
  for (const Tower& tower : model.towers) params += params_of_tower(*tower.model);
  return params;
}

}  // namespace flopwise
