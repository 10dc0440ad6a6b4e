// The reference executor's numbers for one training step of a shrunk model, as JSON, for
// implementations outside flopwise to be compared with:
//
//   reference_numbers MODEL flash|plain DRAW
//
// sizes, layers (names in order of execution), ids and targets; parameters and gradients by key,
// each with its axes, shape and values, the last axis fastest; loss and logits. DRAW, a number,
// chooses the sizes.
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "flopwise/base/error.h"
#include "flopwise/base/json.h"
#include "flopwise/exec/program_run.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"
#include "flopwise/proof/shrink.h"

namespace flopwise {
namespace {

using exec::Array;
using exec::ModelState;
using exec::ProgramRun;

Json json_of(const Array<double>& array) {
  Json axes = Json::array();
  Json shape = Json::array();
  for (const exec::Extent& extent : array.shape()) {
    axes.push(extent.name);
    shape.push(extent.size);
  }
  Json values = Json::array();
  for (const double value : array.data()) values.push(value);
  return Json::object({
      {"axes",   axes  },
      {"shape",  shape },
      {"values", values}
  });
}

Json json_of(const std::map<std::string, Array<double>>& arrays) {
  Json object = Json::object();
  for (const auto& [key, array] : arrays) object.add(key, json_of(array));
  return object;
}

// What the layer was given under a name that starts and ends so.
Array<double> given(const Program& program, const ProgramRun<double>::Layer& layer,
                    std::string_view start, std::string_view end) {
  const Graph& graph = program.blocks[layer.block].graph;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
    const std::string& name = graph.tensor(id).name;
    if (name.starts_with(start) && name.ends_with(end)) return layer.run->get(id);
  }
  throw InternalError("no input " + std::string(start) + ".." + std::string(end));
}

Workload workload_of(Mode mode, SizeDraw& draw, AttentionKernel kernel, const Model& model) {
  WorkloadRequest request;
  request.mode = mode;
  request.batch = draw.of("B");
  request.seq_len = draw.of("T");
  request.kernel = kernel;
  return resolve(request, model);
}

Json sizes_of(const Program& program) {
  Json sizes = Json::object();
  for (const auto& [letter, size] : program.sizes) sizes.add(letter, size);
  return sizes;
}

Json numbers_of(const std::string& name, const std::string& kernel_name, std::uint64_t number) {
  SizeDraw draw(number, static_cast<MaskRegime>(number % kMaskRegimes));
  const Model model = shrink(find_model(name), draw);
  const AttentionKernel kernel = parse_attention_kernel(kernel_name);
  const exec::ElementBytes bytes;

  const Program training = build_training_program(
      model, workload_of(Mode::kTrain, draw, kernel, model), {RematKind::kNone, {}});
  ModelState<double> state(number);
  ProgramRun<double> step(training, state, bytes);
  step.forward();
  // The backward pass lets go of both.
  const Array<double> ids = given(training, step.layers().front(), "embed", ".ids");
  const Array<double> targets = given(training, step.layers().back(), "loss.", ".targets");
  step.backward();

  // Drawn again from the same seed, so that nothing of the training step is left in them.
  const Program forward = build_program(model, workload_of(Mode::kForward, draw, kernel, model));
  ModelState<double> fresh(number);
  ProgramRun<double> pass(forward, fresh, bytes);
  pass.forward();

  Json layers = Json::array();
  for (const auto& layer : step.layers()) {
    const Block& block = training.blocks[layer.block];
    if (block.is_layer) layers.push(block.name + "/" + std::to_string(layer.number));
  }
  return Json::object({
      {"model",      name                       },
      {"kernel",     kernel_name                },
      {"draw",       draw.str()                 },
      {"sizes",      sizes_of(training)         },
      {"layers",     layers                     },
      {"ids",        json_of(ids)               },
      {"targets",    json_of(targets)           },
      {"parameters", json_of(state.parameters())},
      {"loss",       step.objective()           },
      {"logits",     json_of(pass.output())     },
      {"gradients",  json_of(step.gradients())  }
  });
}

}  // namespace
}  // namespace flopwise

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: reference_numbers MODEL flash|plain DRAW\n";
    return 2;
  }
  try {
    std::cout << flopwise::numbers_of(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10)).str(-1)
              << "\n";
    return std::cout.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "reference_numbers: " << error.what() << "\n";
    return 1;
  }
}
