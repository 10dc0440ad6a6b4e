#include "flopwise/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/plan_numbers.h"

namespace flopwise {
namespace {

bool is_matrix_work(OpClass op_class) {
  return op_class == OpClass::kMatmul || op_class == OpClass::kAttention;
}

// A kernel that starts in one pass and ends in the next, as a fused attention's backward does with
// the scores it computes again, is one: it stands where its bytes do.
void join_passes(std::vector<RooflineKernel>& kernels) {
  for (auto part = kernels.begin(); part != kernels.end();) {
    const auto rest = std::find_if(kernels.begin(), kernels.end(), [&](const RooflineKernel& k) {
      return part->pass == Pass::kRecompute && part->bytes == Count(0) &&
             k.pass == Pass::kBackward && k.name == part->name;
    });
    if (rest == kernels.end()) {
      ++part;
      continue;
    }
    rest->matrix_flops += part->matrix_flops;
    rest->vector_flops += part->vector_flops;
    part = kernels.erase(part);
  }
}

// The kernels of a block in the order of their first operation.
std::vector<RooflineKernel> kernels_of(const BlockCost& block) {
  std::vector<RooflineKernel> kernels;
  std::map<std::pair<Pass, std::string>, std::size_t> places;
  for (const OpCost& op : block.ops) {
    const auto [place, is_new] = places.emplace(std::pair(op.pass, op.kernel), kernels.size());
    if (is_new) {
      RooflineKernel kernel;
      kernel.name = op.kernel;
      kernel.block = block.name;
      kernel.pass = op.pass;
      kernel.layers = block.layers;
      kernels.push_back(std::move(kernel));
    }
    RooflineKernel& kernel = kernels[place->second];
    (is_matrix_work(op.op_class) ? kernel.matrix_flops : kernel.vector_flops) += op.flops.value;
    kernel.bytes += op.bytes.value;
  }
  join_passes(kernels);
  return kernels;
}

void time_kernel(RooflineKernel& kernel, const RooflineAnswer& chip) {
  const double matrix = kernel.matrix_flops.to_double() / chip.peak_flops_per_s;
  const double memory = kernel.bytes.to_double() / chip.memory_bytes_per_s;
  const double vector =
      chip.vector_flops_per_s ? kernel.vector_flops.to_double() / *chip.vector_flops_per_s : 0;
  kernel.time_s = std::max({matrix, memory, vector});
  kernel.bound = kernel.time_s == matrix && matrix > 0 ? "matrix"
                 : kernel.time_s == memory             ? "memory"
                                                       : "vector";
}

double all_layers_s(const RooflineKernel& kernel) {
  return kernel.time_s * kernel.layers.to_double();
}

}  // namespace

std::optional<double> RooflineKernel::intensity() const {
  if (bytes == Count(0)) return std::nullopt;
  return matrix_flops.to_double() / bytes.to_double();
}

double RooflineAnswer::lower_s() const {
  return std::max({matrix_s, memory_s, vector_s.value_or(0)});
}

const char* RooflineAnswer::bound() const {
  if (lower_s() == matrix_s) return "matrix";
  return lower_s() == memory_s ? "memory" : "vector";
}

RooflineAnswer answer_roofline(const Model& model, const CountRequest& request,
                               const std::optional<Parallelism>& mesh) {
  if (!request.hardware) throw UserError("roofline: --on is required");
  const Hardware& chip = *request.hardware;
  const CountResult count = count_model(model, request);
  RooflineAnswer answer;
  answer.model = model.name;
  answer.hardware = chip.name;
  answer.dtype = count.types.compute.name;
  answer.mode = name_of(count.workload.mode);
  answer.peak_flops_per_s = peak_flops_per_s(chip, answer.dtype).to_double();
  answer.memory_bytes_per_s =
      answer.peak_flops_per_s / intensity_of(chip, answer.dtype).to_double();
  if (chip.vector_flops_per_s) answer.vector_flops_per_s = chip.vector_flops_per_s->to_double();
  double vector_flops = 0;
  for (const BlockCost& block : count.cost.blocks) {
    for (RooflineKernel& kernel : kernels_of(block)) {
      time_kernel(kernel, answer);
      const double layers = kernel.layers.to_double();
      answer.matrix_s += kernel.matrix_flops.to_double() * layers / answer.peak_flops_per_s;
      answer.memory_s += kernel.bytes.to_double() * layers / answer.memory_bytes_per_s;
      vector_flops += kernel.vector_flops.to_double() * layers;
      answer.kernels_s += all_layers_s(kernel);
      if (kernel.time_s > 0) answer.kernels.push_back(std::move(kernel));
    }
  }
  answer.bounds = layer_bounds(model, count, chip, mesh);
  if (answer.vector_flops_per_s) answer.vector_s = vector_flops / *answer.vector_flops_per_s;
  std::stable_sort(answer.kernels.begin(), answer.kernels.end(),
                   [](const RooflineKernel& a, const RooflineKernel& b) {
                     return all_layers_s(a) > all_layers_s(b);
                   });
  return answer;
}

Json roofline_json(const RooflineAnswer& answer) {
  Json kernels = Json::array();
  for (const RooflineKernel& kernel : answer.kernels) {
    kernels.push(Json::object()
                     .add("name", kernel.name)
                     .add("pass", name_of(kernel.pass))
                     .add("block", kernel.block)
                     .add("layers", kernel.layers)
                     .add("matrix_flops", kernel.matrix_flops)
                     .add("vector_flops", kernel.vector_flops)
                     .add("bytes", kernel.bytes)
                     .add("intensity", kernel.intensity())
                     .add("time_s", kernel.time_s)
                     .add("bound", kernel.bound)
                     .add("share", all_layers_s(kernel) / answer.kernels_s));
  }
  return Json::object()
      .add("schema", 1)
      .add("model", answer.model)
      .add("hardware", answer.hardware)
      .add("dtype", answer.dtype)
      .add("mode", answer.mode)
      .add("peak_flops_per_s", answer.peak_flops_per_s)
      .add("memory_bytes_per_s", answer.memory_bytes_per_s)
      .add("vector_flops_per_s", answer.vector_flops_per_s)
      .add("ridge_flops_per_byte", answer.peak_flops_per_s / answer.memory_bytes_per_s)
      .add("time_s", Json::object()
                         .add("matrix", answer.matrix_s)
                         .add("vector", answer.vector_s)
                         .add("memory", answer.memory_s))
      .add("lower_s", answer.lower_s())
      .add("sum_of_kernels_s", answer.kernels_s)
      .add("bound", answer.bound())
      .add("compute_bound", layer_bounds_json(answer.bounds))
      .add("kernels", std::move(kernels));
}

std::string roofline_text(const RooflineAnswer& answer) {
  std::string text = fmt::format("{} on {}, {}, {}: {} and {}, ridge at {:.4g} FLOP/B\n\n",
                                 answer.model, answer.hardware, answer.mode, answer.dtype,
                                 format_si(answer.peak_flops_per_s, "FLOP/s"),
                                 format_si(answer.memory_bytes_per_s, "B/s"),
                                 answer.peak_flops_per_s / answer.memory_bytes_per_s);
  TextTable table({
      {"kernel", Align::kLeft },
      {"pass",   Align::kLeft },
      {"layers", Align::kRight},
      {"FLOP",   Align::kRight},
      {"B",      Align::kRight},
      {"FLOP/B", Align::kRight},
      {"time",   Align::kRight},
      {"share",  Align::kRight},
      {"bound",  Align::kLeft },
  });
  for (const RooflineKernel& kernel : answer.kernels) {
    const std::optional<double> intensity = kernel.intensity();
    table.add_row({kernel.name, name_of(kernel.pass), kernel.layers.grouped(),
                   format_si(kernel.matrix_flops.to_double(), ""),
                   format_si(kernel.bytes.to_double(), ""),
                   intensity ? fmt::format("{:.4g}", *intensity) : "-", duration(kernel.time_s),
                   format_percent(all_layers_s(kernel) / answer.kernels_s), kernel.bound});
  }
  text += table.str();
  text += fmt::format(
      "\nthe step at peak, everything overlapped: {} ({}-bound): matrix units {}, memory {}, "
      "vector "
      "units {}\none kernel after another: {}\n",
      duration(answer.lower_s()), answer.bound(), duration(answer.matrix_s),
      duration(answer.memory_s),
      answer.vector_s ? duration(*answer.vector_s) : "not known (no vector rate)",
      duration(answer.kernels_s));
  text += "\n" + layer_bounds_text(answer.bounds);
  return text;
}

}  // namespace flopwise
