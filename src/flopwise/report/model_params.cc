#include "flopwise/report/model_params.h"

#include "flopwise/model/build.h"

namespace flopwise {

Params params_of_model(const Model& model) {
  Params params = params_of(build_one_token(model, Mode::kForward));
  if (model.vision) params += params_of(build_vision_program(model, patches_of_image(model)));
  return params;
}

}  // namespace flopwise
