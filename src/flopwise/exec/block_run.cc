#include "flopwise/exec/block_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/exec/pairs.h"

namespace flopwise::exec {
std::int64_t size_at(const Expr& expr, const Sizes& sizes) {
  return static_cast<std::int64_t>(expr.eval_count(sizes, "size").value());
}

template <typename Scalar>
BlockRun<Scalar>::BlockRun(const Graph& graph, const Sizes& sizes, std::uint64_t seed,
                           const ElementBytes& bytes, std::set<std::string> held_elsewhere,
                           bool repeats)
    : graph_(graph),
      sizes_(sizes),
      seed_(seed),
      bytes_(bytes),
      held_elsewhere_(std::move(held_elsewhere)),
      repeats_(repeats),
      values_(graph.tensors().size()),
      readers_(graph.tensors().size()),
      tallies_(graph.ops().size()) {
  const std::vector<Op>& ops = graph.ops();
  const auto first =
      std::find_if(ops.begin(), ops.end(), [](const Op& op) { return op.pass != Pass::kForward; });
  boundary_ = static_cast<std::size_t>(first - ops.begin());
}

// ---- tensors -----------------------------------------------------------------------------------

template <typename Scalar>
Shape BlockRun<Scalar>::shape_of(TensorId tensor) const {
  Shape shape;
  for (const Axis& axis : graph_.tensor(tensor).axes) {
    shape.push_back({axis.name, size_at(axis.size, sizes_)});
  }
  return shape;
}

template <typename Scalar>
void BlockRun<Scalar>::set(TensorId tensor, Array<Scalar> value) {
  FLOPWISE_CHECK(value.shape() == shape_of(tensor),
                 graph_.tensor(tensor).name + ": the array has other axes");
  if (graph_.tensor(tensor).role == Role::kGradient) in_place_.insert(tensor);
  values_[static_cast<std::size_t>(tensor)] = std::move(value);
}

template <typename Scalar>
bool BlockRun<Scalar>::has(TensorId tensor) const {
  return values_[static_cast<std::size_t>(graph_.storage_of(tensor))].exists();
}

template <typename Scalar>
Array<Scalar> BlockRun<Scalar>::get(TensorId tensor) const {
  const TensorId storage = graph_.storage_of(tensor);
  const Array<Scalar>& owner = values_[static_cast<std::size_t>(storage)];
  FLOPWISE_CHECK(owner.exists(),
                 fmt::format("{} is read but was not kept", graph_.tensor(storage).name));
  return storage == tensor ? owner : owner.viewed_as(shape_of(tensor));
}

template <typename Scalar>
std::int64_t BlockRun<Scalar>::keys_read(TensorId cache) const {
  const auto found = keys_read_.find(cache);
  return found == keys_read_.end() ? 0 : found->second;
}

// By the mask itself, position by position, not by the tensor's formula.
template <typename Scalar>
std::int64_t BlockRun<Scalar>::keys_needed(TensorId cache) const {
  const auto found = keys_needed_.find(cache);
  FLOPWISE_CHECK(found != keys_needed_.end(), graph_.tensor(cache).name + ": nobody reads it");
  return found->second;
}

// ---- operations --------------------------------------------------------------------------------

// The pairs of the first masked tensor that the operation touches; null where none is.
template <typename Scalar>
const LivePairs* BlockRun<Scalar>::live_pairs(const Op& op) {
  const Tensor* masked = nullptr;
  for (const std::vector<TensorId>* ids : {&op.outputs, &op.inputs}) {
    for (const TensorId id : *ids) {
      if (masked == nullptr && graph_.tensor(id).masking) masked = &graph_.tensor(id);
    }
  }
  if (masked == nullptr) return nullptr;
  const Masking& masking = *masked->masking;
  const PairRule rule{masking.mask.kind, size_at(masking.mask.size, sizes_)};
  const std::string key = fmt::format("{},{},{},{}", masking.query_axis, masking.key_axis,
                                      name_of(rule.kind), rule.size);
  const auto [place, is_new] = pairs_.try_emplace(key);
  if (is_new) {
    const std::int64_t queries = size_at(axis_of(*masked, masking.query_axis).size, sizes_);
    const std::int64_t keys = size_at(axis_of(*masked, masking.key_axis).size, sizes_);
    place->second = {masking.query_axis, masking.key_axis, live_keys(rule, queries, keys),
                     most_keys_seen(rule, keys)};
  }
  return &place->second;
}

template <typename Scalar>
void BlockRun<Scalar>::allocate(TensorId tensor) {
  if (graph_.tensor(tensor).alias_of != kNoTensor) return;
  const bool is_in_place =
      graph_.tensor(tensor).role == Role::kState || in_place_.count(tensor) > 0;
  if (!is_in_place) {
    values_[static_cast<std::size_t>(tensor)] = Array<Scalar>(shape_of(tensor));
  }
  FLOPWISE_CHECK(has(tensor), graph_.tensor(tensor).name + ": no cache was handed in");
  hold(tensor);
}

// What the operation computes from these arrays into those.
template <typename Scalar>
Tally BlockRun<Scalar>::perform(const Op& op, std::vector<Array<Scalar>> inputs,
                                std::vector<Array<Scalar>> outputs) {
  OpRun<Scalar> run{graph_, op, std::move(inputs), std::move(outputs), nullptr, 0, 0, 0, nullptr};
  run.live = live_pairs(op);
  if (const auto* rotary = std::get_if<Rotary>(&op.kind)) {
    run.rotated = size_at(rotary->rotated, sizes_);
    run.first_position = size_at(rotary->first_position, sizes_);
  }
  run.seed = derived_seed(seed_, graph_.tensor(op.outputs[0]).name);
  Scalar loss = 0.0;
  run.loss = &loss;
  const Tally before = thread_tally;
  run_op(run);
  const Tally performed = thread_tally - before;
  if (std::holds_alternative<CrossEntropy>(op.kind)) {
    loss_ = loss_ + loss / Scalar(static_cast<double>(loss_rows(run.inputs[0])));
  }
  return performed;
}

template <typename Scalar>
void BlockRun<Scalar>::run(std::size_t index) {
  const Op& op = graph_.ops()[index];
  if (is_in_recurrence(graph_, op)) {
    if (prepared_.count(index) == 0) prepare_recurrence(index);
    const std::vector<Array<Scalar>>& made = prepared_.at(index);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      values_[static_cast<std::size_t>(op.outputs[i])] = made[i];
      hold(op.outputs[i]);
    }
    prepared_.erase(index);
    return;
  }
  for (const TensorId id : op.outputs) allocate(id);
  // A change of names only: get() sees the owner's elements under them.
  if (std::holds_alternative<Relabel>(op.kind)) return;
  std::vector<Array<Scalar>> inputs;
  std::vector<Array<Scalar>> outputs;
  for (const TensorId id : op.inputs) inputs.push_back(get(id));
  for (const TensorId id : op.outputs) outputs.push_back(get(id));
  tallies_[index] = perform(op, std::move(inputs), std::move(outputs));
  const LivePairs* live = live_pairs(op);
  for (const TensorId input : op.inputs) {
    const TensorId id = graph_.storage_of(input);
    if (graph_.tensor(id).role != Role::kState || graph_.tensor(id).is_recurrent) continue;
    std::set<std::int64_t> seen;
    if (live != nullptr) {
      for (const auto& keys : live->keys) seen.insert(keys.begin(), keys.end());
    }
    const std::int64_t keys = size_at(graph_.tensor(id).axes.at(1).size, sizes_);
    keys_read_[id] = live != nullptr ? static_cast<std::int64_t>(seen.size()) : keys;
    keys_needed_[id] = live != nullptr ? live->most_keys : keys;
  }
}

namespace {

// Position t of x[B,T,..], or x itself where it has no such axis.
template <typename Scalar>
Array<Scalar> at_position(const Array<Scalar>& x, const std::string& axis, std::int64_t t) {
  if (find_axis(x.shape(), axis) < 0) return x;
  Shape shape = x.shape();
  FLOPWISE_CHECK(shape.at(1).name == axis, "positions are the second axis");
  const std::int64_t length = shape[1].size;
  const std::int64_t batch = shape[0].size;
  shape[1].size = 1;
  Array<Scalar> slice(shape);
  const std::int64_t row = slice.size() / batch;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < row; ++i) slice[b * row + i] = x[(b * length + t) * row + i];
  }
  return slice;
}

template <typename Scalar>
void put_position(const Array<Scalar>& slice, std::int64_t t, Array<Scalar>& x) {
  const std::int64_t length = x.shape().at(1).size;
  const std::int64_t batch = x.shape().at(0).size;
  const std::int64_t row = slice.size() / batch;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < row; ++i) x[(b * length + t) * row + i] = slice[b * row + i];
  }
}

}  // namespace

// Runs the operations of a recurrence from `begin` that are of one pass: position by position, and
// at the end what has no positions.
template <typename Scalar>
void BlockRun<Scalar>::prepare_recurrence(std::size_t begin) {
  const std::vector<Op>& ops = graph_.ops();
  const RegionId region = ops[begin].region;
  const Pass pass = ops[begin].pass;
  std::size_t end = begin;
  std::map<TensorId, Array<Scalar>> made;
  std::string axis;
  std::int64_t length = 0;
  for (; end < ops.size() && ops[end].region == region && ops[end].pass == pass; ++end) {
    const Op& op = ops[end];
    FLOPWISE_CHECK(!std::holds_alternative<Relabel>(op.kind), op.name + ": inside a recurrence");
    for (const TensorId id : op.outputs) {
      const bool is_in_place = graph_.tensor(id).role == Role::kState || in_place_.count(id) > 0;
      made[id] = is_in_place ? get(id) : Array<Scalar>(shape_of(id));
    }
    if (std::holds_alternative<Previous>(op.kind)) {
      const Extent positions = shape_of(op.outputs[0]).at(1);
      axis = positions.name;
      length = positions.size;
    }
  }
  FLOPWISE_CHECK(length > 0, ops[begin].name + ": a recurrence carries something on");
  const auto value_of_tensor = [&](TensorId id) {
    const auto found = made.find(graph_.storage_of(id));
    return found == made.end() ? get(id) : found->second.viewed_as(shape_of(id));
  };
  const auto has_positions = [&](const Op& op) {
    return has_axis(graph_.tensor(op.outputs[0]), axis);
  };

  const auto run_at = [&](std::size_t i, std::int64_t t) {
    const Op& op = ops[i];
    const bool moves = std::holds_alternative<Previous>(op.kind);
    std::vector<Array<Scalar>> inputs;
    std::vector<Array<Scalar>> outputs;
    for (const TensorId id : op.inputs) {
      const Array<Scalar> all = value_of_tensor(id);
      inputs.push_back(moves ? all : at_position(all, axis, t));
    }
    for (const TensorId id : op.outputs) {
      // A move is made of all positions, of which this one is there by now.
      outputs.push_back(moves ? Array<Scalar>(shape_of(id)) : at_position(made.at(id), axis, t));
    }
    tallies_[i] += perform(op, std::move(inputs), outputs);
    for (std::size_t out = 0; out < outputs.size(); ++out) {
      put_position(moves ? at_position(outputs[out], axis, t) : outputs[out], t,
                   made.at(op.outputs[out]));
    }
  };
  for (std::size_t i = begin; i < end; ++i) tallies_[i] = {};
  for (std::int64_t step = 0; step < length; ++step) {
    const std::int64_t t = pass == Pass::kBackward ? length - 1 - step : step;
    // What comes from the position before, and then what is made of it.
    for (const bool moves : {true, false}) {
      for (std::size_t i = begin; i < end; ++i) {
        if (!has_positions(ops[i])) continue;
        if (std::holds_alternative<Previous>(ops[i].kind) == moves) run_at(i, t);
      }
    }
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Op& op = ops[i];
    if (!has_positions(op)) {
      std::vector<Array<Scalar>> inputs;
      std::vector<Array<Scalar>> outputs;
      for (const TensorId id : op.inputs) inputs.push_back(value_of_tensor(id));
      for (const TensorId id : op.outputs) outputs.push_back(made.at(id));
      tallies_[i] = perform(op, std::move(inputs), std::move(outputs));
    }
    for (const TensorId id : op.outputs) prepared_[i].push_back(made.at(id));
  }
}

// Reads of the memory by [begin, end), up to where it is made anew.
template <typename Scalar>
void BlockRun<Scalar>::count_readers(TensorId storage, std::size_t begin, std::size_t end) {
  const auto is_it = [&](TensorId id) { return graph_.storage_of(id) == storage; };
  std::int64_t& readers = readers_[static_cast<std::size_t>(storage)];
  readers = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Op& op = graph_.ops()[i];
    readers += std::count_if(op.inputs.begin(), op.inputs.end(), is_it);
    if (contains(op.outputs, storage)) return;
  }
}

// Runs the operation, and lets go of what no later one of the pass reads.
template <typename Scalar>
void BlockRun<Scalar>::step(std::size_t index, std::size_t end, std::int64_t& peak_bytes) {
  const Op& op = graph_.ops()[index];
  run(index);
  for (const TensorId id : op.outputs) {
    if (graph_.tensor(id).alias_of == kNoTensor) count_readers(id, index + 1, end);
  }
  peak_bytes = std::max(peak_bytes, live_bytes_);
  for (const TensorId id : op.inputs) {
    --readers_[static_cast<std::size_t>(graph_.storage_of(id))];
  }
  for (const std::vector<TensorId>* ids : {&op.inputs, &op.outputs}) {
    for (const TensorId id : *ids) {
      const TensorId storage = graph_.storage_of(id);
      // A gradient that nobody reads is a result of the block.
      const bool is_unread_gradient =
          ids == &op.outputs && graph_.tensor(storage).role == Role::kGradient;
      if (!is_unread_gradient && is_done_with(storage, index < boundary_)) release(storage);
    }
  }
}

template <typename Scalar>
void BlockRun<Scalar>::forward() {
  for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors().size()); ++id) {
    const Tensor& tensor = graph_.tensor(id);
    count_readers(id, 0, boundary_);
    if (tensor.role != Role::kInput || readers_[static_cast<std::size_t>(id)] == 0) continue;
    if (tensor.shared && held_elsewhere_.count(tensor.name) > 0) continue;
    hold(id);
  }
  for (std::size_t i = 0; i < boundary_; ++i) step(i, boundary_, storage_.forward_peak);
  for (const auto& [storage, bytes] : held_) {
    // Only what the other passes read before it is made anew: more would be kept for nothing.
    if (!is_saved(storage)) continue;
    count_readers(storage, boundary_, graph_.ops().size());
    if (readers_[static_cast<std::size_t>(storage)] > 0) storage_.saved_bytes += bytes;
  }
}

template <typename Scalar>
void BlockRun<Scalar>::backward() {
  const std::size_t end = graph_.ops().size();
  for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors().size()); ++id) {
    count_readers(id, boundary_, end);
  }
  const std::map<TensorId, std::int64_t> held = held_;
  for (const auto& [storage, bytes] : held) {
    // What is computed again before anybody reads it need not be kept.
    if (!is_saved(storage) || readers_[static_cast<std::size_t>(storage)] == 0) release(storage);
  }
  for (const GradientOf& link : graph_.gradients) {
    if (link.gradient != kNoTensor) results_.insert(graph_.storage_of(link.gradient));
    if (link.arriving == kNoTensor) continue;
    if (readers_[static_cast<std::size_t>(graph_.storage_of(link.arriving))] > 0) {
      hold(link.arriving);
    }
  }
  for (std::size_t i = boundary_; i < end; ++i) step(i, end, storage_.backward_peak);
}

// ---- storage -----------------------------------------------------------------------------------

template <typename Scalar>
bool BlockRun<Scalar>::is_saved(TensorId storage) const {
  return contains(graph_.saved, storage);
}

template <typename Scalar>
bool BlockRun<Scalar>::is_output(TensorId storage) const {
  return std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                     [&](TensorId id) { return graph_.storage_of(id) == storage; });
}

template <typename Scalar>
bool BlockRun<Scalar>::counts_as_activation(TensorId storage) const {
  const Tensor& tensor = graph_.tensor(storage);
  if (tensor.role == Role::kParameter || tensor.role == Role::kState) return false;
  return tensor.gradient_of == kNoTensor ||
         graph_.tensor(tensor.gradient_of).role != Role::kParameter;
}

// Whether the rest of the pass and what comes after it can do without.
template <typename Scalar>
bool BlockRun<Scalar>::is_done_with(TensorId storage, bool in_forward) const {
  const Tensor& tensor = graph_.tensor(storage);
  if (tensor.role == Role::kParameter || tensor.role == Role::kConstant ||
      tensor.role == Role::kState) {
    return false;
  }
  if (readers_[static_cast<std::size_t>(storage)] > 0) return false;
  if (!in_forward) return true;
  const bool other_repeats_read_it = tensor.role == Role::kInput && tensor.shared && repeats_;
  return !is_saved(storage) && !is_output(storage) && !other_repeats_read_it;
}

template <typename Scalar>
void BlockRun<Scalar>::hold(TensorId storage) {
  if (!counts_as_activation(storage) || held_.count(storage) > 0) return;
  const std::int64_t bytes =
      elements(shape_of(storage)) * bytes_.of(graph_.tensor(storage).element);
  held_[storage] = bytes;
  live_bytes_ += bytes;
}

template <typename Scalar>
void BlockRun<Scalar>::release(TensorId storage) {
  const auto found = held_.find(storage);
  if (found != held_.end()) {
    live_bytes_ -= found->second;
    held_.erase(found);
  }
  if (results_.count(storage) == 0) values_[static_cast<std::size_t>(storage)] = {};
}

#define FLOPWISE_INSTANTIATE(Scalar) template class BlockRun<Scalar>;
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
