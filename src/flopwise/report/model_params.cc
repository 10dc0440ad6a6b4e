#include "flopwise/report/model_params.h"

#include "flopwise/model/build.h"

namespace flopwise {

Params unused_params_of(const Model& model) {
  Params params = params_of(build_unused_program(model));
  params.active = params.trainable = 0;
  return params;
}

Params params_of_tower(const Model& tower) {
  Params params = params_of(build_tower_program(tower, positions_of_tower(tower)));
  return params += unused_params_of(tower);
}

Params params_of_model(const Model& model) {
  Params params = params_of(build_one_token(model, Mode::kForward));
  params += unused_params_of(model);
  for (const Tower& tower : model.towers) params += params_of_tower(*tower.model);
  return params;
}

}  // namespace flopwise
