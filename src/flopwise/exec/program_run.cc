#include "flopwise/exec/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"

namespace flopwise::exec {
namespace {

template <typename Scalar>
Array<Scalar> random_array(const Shape& shape, std::uint64_t seed, double low, double high) {
  Array<Scalar> array(shape);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    array[i] = low + (high - low) * uniform(seed, static_cast<std::uint64_t>(i));
  }
  return array;
}

// How many different values the ids of a tensor may have: the rows of the table they look up, or
// the classes of the loss they are targets of.
template <typename Scalar>
std::int64_t id_range(const Graph& graph, TensorId ids, const BlockRun<Scalar>& run) {
  for (const Op& op : graph.ops()) {
    const bool reads = contains(op.inputs, ids);
    if (reads && std::holds_alternative<Gather>(op.kind)) {
      return run.shape_of(op.inputs[1]).at(0).size;
    }
    if (reads && std::holds_alternative<CrossEntropy>(op.kind)) {
      return run.shape_of(op.inputs[0]).back().size;
    }
  }
  throw InternalError(graph.tensor(ids).name + ": nobody says what these ids mean");
}

bool is_loss(const Graph& graph, TensorId output) {
  return std::any_of(graph.ops().begin(), graph.ops().end(), [&](const Op& op) {
    return std::holds_alternative<CrossEntropy>(op.kind) && op.outputs[0] == output;
  });
}

}  // namespace

// ---- state -------------------------------------------------------------------------------------

std::string parameter_key(const Block& block, std::int64_t layer, const Tensor& tensor) {
  if (tensor.shared) return tensor.name;
  return fmt::format("{}/{}/{}", block.name, layer, tensor.name);
}

template <typename Scalar>
Array<Scalar> ModelState<Scalar>::parameter(const std::string& key, const Tensor& tensor,
                                            const Shape& shape) {
  Array<Scalar>& array = parameters_[key];
  if (!array.exists()) {
    const bool is_norm_weight =
        tensor.component == Component::kNorm && tensor.name.ends_with(".weight");
    const double middle = is_norm_weight ? 1 : 0;
    array = random_array<Scalar>(shape, derived_seed(seed_, key), middle - 0.5, middle + 0.5);
  }
  return array.viewed_as(shape);
}

template <typename Scalar>
Array<Scalar> ModelState<Scalar>::cache(const std::string& key, const Shape& shape) {
  Array<Scalar> array(shape);
  std::fill(array.data().begin(), array.data().end(),
            Scalar(std::numeric_limits<double>::quiet_NaN()));
  const auto found = caches_.find(key);
  if (found == caches_.end()) return array;
  const Cache& cache = found->second;
  const std::int64_t batch = shape.at(0).size;
  const std::int64_t row = array.size() / batch / shape.at(1).size;
  const std::int64_t held = cache.rows.shape().at(1).size;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < held * row; ++i) {
      array[(b * shape[1].size + cache.first) * row + i] = cache.rows[b * held * row + i];
    }
  }
  return array;
}

template <typename Scalar>
void ModelState<Scalar>::keep(const std::string& key, const Array<Scalar>& cache,
                              std::int64_t held) {
  Shape shape = cache.shape();
  const std::int64_t length = shape.at(1).size;
  const std::int64_t batch = shape.at(0).size;
  const std::int64_t row = cache.size() / batch / length;
  shape[1].size = held;
  Cache kept{length - held, Array<Scalar>(shape)};
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < held * row; ++i) {
      kept.rows[b * held * row + i] = cache[(b * length + kept.first) * row + i];
    }
  }
  caches_[key] = std::move(kept);
}

template <typename Scalar>
Array<Scalar> ModelState<Scalar>::recurrent_state(const std::string& key,
                                                  const Shape& shape) const {
  const auto found = recurrent_.find(key);
  return found == recurrent_.end() ? Array<Scalar>(shape) : found->second.copy();
}

template <typename Scalar>
void ModelState<Scalar>::keep_recurrent_state(const std::string& key, const Array<Scalar>& state) {
  recurrent_[key] = state.copy();
}

template <typename Scalar>
std::int64_t ModelState<Scalar>::cached_elements() const {
  std::int64_t sum = 0;
  for (const auto& [key, cache] : caches_) sum += cache.rows.size();
  return sum;
}

// ---- forward -----------------------------------------------------------------------------------

template <typename Scalar>
ProgramRun<Scalar>::ProgramRun(const Program& program, ModelState<Scalar>& state,
                               const ElementBytes& bytes)
    : program_(program), state_(state), bytes_(bytes) {
  for (const Block& block : program.blocks) sizes_.push_back(program.sizes_of(block));
}

template <typename Scalar>
void ProgramRun<Scalar>::forward() {
  for (std::size_t block = 0; block < program_.blocks.size(); ++block) {
    const std::int64_t repeat = size_at(program_.blocks[block].repeat, sizes_[block]);
    const std::set<std::string> held_before = held_shared_;
    for (std::int64_t number = 0; number < repeat; ++number) run_layer(block, number, repeat);
  }
}

template <typename Scalar>
void ProgramRun<Scalar>::run_layer(std::size_t index, std::int64_t number, std::int64_t repeat) {
  const Block& block = program_.blocks[index];
  layers_.push_back({index, number,
                     std::make_unique<BlockRun<Scalar>>(
                         block.graph, sizes_[index],
                         derived_seed(state_.seed(), fmt::format("{}/{}", block.name, number)),
                         bytes_, held_shared_, repeat > 1)});
  BlockRun<Scalar>& run = *layers_.back().run;
  give_inputs(block, number, run);
  run.forward();
  peak_bytes_ = std::max(peak_bytes_, saved_bytes_ + run.storage().forward_peak);
  saved_bytes_ += run.storage().saved_bytes;
  for (const TensorId id : block.graph.saved) {
    if (block.graph.tensor(id).shared) held_shared_.insert(block.graph.tensor(id).name);
  }
  // What later blocks take under another name is kept here already.
  for (const TensorId id : block.graph.outputs) {
    const Tensor& tensor = block.graph.tensor(id);
    if (tensor.shared && contains(block.graph.saved, block.graph.storage_of(id))) {
      held_shared_.insert(tensor.name);
    }
  }
  hand_on(block, run);
  keep_caches(block, number, run);
}

template <typename Scalar>
void ProgramRun<Scalar>::give_inputs(const Block& block, std::int64_t number,
                                     BlockRun<Scalar>& run) {
  const Graph& graph = block.graph;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
    const Tensor& tensor = graph.tensor(id);
    const std::string key = parameter_key(block, number, tensor);
    switch (tensor.role) {
      case Role::kParameter:
        run.set(id, state_.parameter(key, tensor, run.shape_of(id)));
        break;
      case Role::kState:
        run.set(id, tensor.is_recurrent ? state_.recurrent_state(key, run.shape_of(id))
                                        : state_.cache(key, run.shape_of(id)));
        break;
      case Role::kConstant:
        run.set(id, constant(tensor, run.shape_of(id), sizes_[layers_.back().block]));
        break;
      case Role::kInput: {
        const auto found = handed_on_.find(tensor.name);
        if (found != handed_on_.end()) {
          run.set(id, found->second);
        } else {
          run.set(id, input(graph, id, run.shape_of(id)));
        }
        break;
      }
      case Role::kActivation:
      case Role::kGradient:
        break;
    }
  }
}

// Token ids, the same for the same position whatever part of the sequence this run sees.
template <typename Scalar>
Array<Scalar> ProgramRun<Scalar>::input(const Graph& graph, TensorId tensor,
                                        const Shape& shape) const {
  const Tensor& ids = graph.tensor(tensor);
  if (!ids.shared && ids.name != "input" && ids.element == Element::kCompute) {
    // Patches of an image, a spectrogram.
    return random_array<Scalar>(shape, derived_seed(state_.seed(), ids.name), -1, 1);
  }
  FLOPWISE_CHECK(ids.element == Element::kIndex, ids.name + ": no block hands this on");
  const std::int64_t range = id_range(graph, tensor, *layers_.back().run);
  const Sizes& sizes = sizes_[layers_.back().block];
  const bool has_positions = shape.size() > 1 && shape[1].name == "T";
  const std::int64_t first =
      has_positions ? size_at(Expr::symbol("S") - Expr::symbol("T"), sizes) : 0;
  constexpr std::uint64_t kLongest = 1U << 20;
  Array<Scalar> array(shape);
  const std::int64_t positions = shape.size() > 1 ? shape[1].size : 1;
  const std::uint64_t seed = derived_seed(state_.seed(), ids.name);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::uint64_t index = static_cast<std::uint64_t>(i / positions) * kLongest +
                                static_cast<std::uint64_t>(first + i % positions);
    array[i] = std::floor(uniform(seed, index) * static_cast<double>(range));
  }
  return array;
}

template <typename Scalar>
Array<Scalar> ProgramRun<Scalar>::constant(const Tensor& tensor, const Shape& shape,
                                           const Sizes& sizes) const {
  FLOPWISE_CHECK(tensor.constant.has_value(), tensor.name + ": a constant without values");
  const Constant& constant = *tensor.constant;
  const std::int64_t first = size_at(constant.first_position, sizes);
  Array<Scalar> array(shape);
  const std::int64_t columns = shape.back().size;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::int64_t row = i / columns;
    const std::int64_t column = i % columns;
    switch (constant.kind) {
      case ConstantKind::kPosition:
        array[i] = static_cast<double>(first + i);
        break;
      case ConstantKind::kDistanceBucket: {
        // Distances wrap around: what matters is that they depend on the distance alone.
        const std::int64_t distance = column - (first + row);
        array[i] = static_cast<double>((distance % constant.buckets + constant.buckets) %
                                       constant.buckets);
        break;
      }
      case ConstantKind::kAlibi:
        // Slopes 2^-1, 2^-2, ... (Press, Smith and Lewis, 2022, for a power of two of heads).
        array[i] = std::pow(2.0, -static_cast<double>(row + 1)) * static_cast<double>(column);
        break;
      case ConstantKind::kSinusoid: {
        // Sines, then cosines, of position / 10,000^(j/half) (Vaswani et al. 2017, section 3.5).
        const std::int64_t half = std::max<std::int64_t>(columns / 2, 1);
        const double rate =
            std::pow(10000.0, -static_cast<double>(column % half) / static_cast<double>(half));
        const double angle = static_cast<double>(first + row) * rate;
        array[i] = column < half ? std::sin(angle) : std::cos(angle);
        break;
      }
      case ConstantKind::kZero:
        array[i] = 0.0;
        break;
    }
  }
  return array;
}

template <typename Scalar>
void ProgramRun<Scalar>::hand_on(const Block& block, const BlockRun<Scalar>& run) {
  outputs_.clear();
  const std::vector<TensorId>& outputs = block.graph.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs_.push_back(run.get(outputs[i]));
    handed_on_[i == 0 ? block.hands_on : block.graph.tensor(outputs[i]).name] = outputs_.back();
    has_loss_ = has_loss_ || is_loss(block.graph, outputs[i]);
  }
  loss_ = loss_ + run.loss();
}

template <typename Scalar>
void ProgramRun<Scalar>::keep_caches(const Block& block, std::int64_t number,
                                     const BlockRun<Scalar>& run) {
  const Graph& graph = block.graph;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors().size()); ++id) {
    const Tensor& tensor = graph.tensor(id);
    if (tensor.role != Role::kState) continue;
    const std::string key = parameter_key(block, number, tensor);
    if (tensor.is_recurrent) {
      state_.keep_recurrent_state(key, run.get(id));
    } else {
      state_.keep(key, run.get(id), run.keys_needed(id));
    }
  }
}

template <typename Scalar>
Array<Scalar> ProgramRun<Scalar>::output(std::size_t index) const {
  return outputs_.at(index);
}

template <typename Scalar>
Array<Scalar> ProgramRun<Scalar>::objective_slope(const Shape& shape, std::size_t output) const {
  const std::string name = fmt::format("objective/{}", output);
  return random_array<Scalar>(shape, derived_seed(state_.seed(), name), -1, 1);
}

template <typename Scalar>
Scalar ProgramRun<Scalar>::objective() const {
  if (has_loss_) return loss_;
  Scalar sum = 0.0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Array<Scalar> slope = objective_slope(outputs_[i].shape(), i);
    for (std::int64_t j = 0; j < slope.size(); ++j) sum = sum + slope[j] * outputs_[i][j];
  }
  return sum;
}

// ---- backward ----------------------------------------------------------------------------------

template <typename Scalar>
void ProgramRun<Scalar>::backward() {
  const std::vector<TensorId>& outputs = program_.blocks.back().graph.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Block& block = program_.blocks.back();
    if (is_loss(block.graph, outputs[i])) continue;
    const std::string& name = i == 0 ? block.hands_on : block.graph.tensor(outputs[i]).name;
    arriving_[name] = objective_slope(outputs_[i].shape(), i);
  }
  std::int64_t below = saved_bytes_;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const Block& block = program_.blocks[layer.block];
    give_gradients(block, *layer.run);
    below -= layer.run->storage().saved_bytes;
    layer.run->backward();
    peak_bytes_ = std::max(peak_bytes_, below + layer.run->storage().backward_peak);
    take_gradients(block, layer.number, *layer.run);
  }
}

template <typename Scalar>
void ProgramRun<Scalar>::give_gradients(const Block& block, BlockRun<Scalar>& run) {
  const Graph& graph = block.graph;
  for (const GradientOf& link : graph.gradients) {
    const Tensor& tensor = graph.tensor(link.tensor);
    if (link.arriving != kNoTensor) {
      const bool is_first_output = link.gradient == kNoTensor && link.tensor == graph.outputs[0];
      const auto found = arriving_.find(is_first_output ? block.hands_on : tensor.name);
      run.set(link.arriving, found == arriving_.end() ? Array<Scalar>(run.shape_of(link.arriving))
                                                      : found->second);
    }
    // Lookups add to what other readers of the same table gave.
    const auto shared = gradients_.find(tensor.name);
    const bool in_place = tensor.role == Role::kParameter && tensor.shared && !tensor.added_up;
    if (in_place && shared != gradients_.end()) {
      run.set(link.gradient, shared->second);
    }
  }
}

template <typename Scalar>
void ProgramRun<Scalar>::take_gradients(const Block& block, std::int64_t number,
                                        const BlockRun<Scalar>& run) {
  for (const GradientOf& link : block.graph.gradients) {
    if (link.gradient == kNoTensor) continue;
    const Tensor& tensor = block.graph.tensor(link.tensor);
    if (tensor.role == Role::kParameter) {
      gradients_[parameter_key(block, number, tensor)] = run.get(link.gradient);
    }
    if (tensor.role != Role::kParameter || tensor.added_up) {
      arriving_[tensor.name] = run.get(link.gradient);
    }
  }
}

#define FLOPWISE_INSTANTIATE(Scalar) \
  template class ModelState<Scalar>; \
  template class ProgramRun<Scalar>;
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
