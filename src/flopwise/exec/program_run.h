// Runs a whole model: every layer of every block in order, forward and then backward, each with its
// own parameters; and, with caches, prompts and tokens after them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flopwise/exec/block_run.h"

namespace flopwise::exec {

// What stays from run to run: parameters and caches, by the name that `parameter_key` gives them.
// Parameters, token ids and targets are drawn from the seed and their own names, so every program
// of the same model sees the same ones.
template <typename Scalar>
class ModelState {
 public:
  explicit ModelState(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t seed() const { return seed_; }
  // Drawn where it is not there yet: uniform of +-1/2, weights of norms around 1.
  Array<Scalar> parameter(const std::string& key, const Tensor& tensor, const Shape& shape);
  std::map<std::string, Array<Scalar>>& parameters() { return parameters_; }

  // A cache as a kernel finds it: `length` positions, of which those that were let go are NaN.
  Array<Scalar> cache(const std::string& key, const Shape& shape);
  // Keeps the last `held` positions.
  void keep(const std::string& key, const Array<Scalar>& cache, std::int64_t held);
  // What a recurrence carries from call to call; zeros before the first.
  Array<Scalar> recurrent_state(const std::string& key, const Shape& shape) const;
  void keep_recurrent_state(const std::string& key, const Array<Scalar>& state);
  // Elements of all caches.
  std::int64_t cached_elements() const;

 private:
  std::uint64_t seed_;
  std::map<std::string, Array<Scalar>> parameters_;
  // [B][position - first] -> row of K*H elements
  struct Cache {
    std::int64_t first = 0;
    Array<Scalar> rows;  // [B,held,..]
  };
  std::map<std::string, Cache> caches_;
  std::map<std::string, Array<Scalar>> recurrent_;
};

// "layer/2/attention.q.weight"; a shared tensor is its name alone.
std::string parameter_key(const Block& block, std::int64_t layer, const Tensor& tensor);

template <typename Scalar>
class ProgramRun {
 public:
  // One layer of a block.
  struct Layer {
    std::size_t block;
    std::int64_t number;
    std::unique_ptr<BlockRun<Scalar>> run;
  };

  ProgramRun(const Program& program, ModelState<Scalar>& state, const ElementBytes& bytes);

  void forward();
  // The gradient of objective(). After forward().
  void backward();

  // What the last block hands on: logits, hidden states, or losses by row.
  Array<Scalar> output(std::size_t index = 0) const;
  // The mean cross-entropies where there are any; of other outputs the sum of their elements, each
  // times a fixed random number.
  Scalar objective() const;
  // By parameter_key.
  const std::map<std::string, Array<Scalar>>& gradients() const { return gradients_; }
  const std::vector<Layer>& layers() const { return layers_; }

  // Over the whole step, as ActivationMemory predicts it.
  std::int64_t saved_bytes() const { return saved_bytes_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }

 private:
  void run_layer(std::size_t block, std::int64_t number, std::int64_t repeat);
  void give_inputs(const Block& block, std::int64_t number, BlockRun<Scalar>& run);
  Array<Scalar> input(const Graph& graph, TensorId tensor, const Shape& shape) const;
  Array<Scalar> constant(const Tensor& tensor, const Shape& shape, const Sizes& sizes) const;
  void hand_on(const Block& block, const BlockRun<Scalar>& run);
  void keep_caches(const Block& block, std::int64_t number, const BlockRun<Scalar>& run);
  void give_gradients(const Block& block, BlockRun<Scalar>& run);
  void take_gradients(const Block& block, std::int64_t number, const BlockRun<Scalar>& run);
  Array<Scalar> objective_slope(const Shape& shape, std::size_t output) const;

  const Program& program_;
  ModelState<Scalar>& state_;
  ElementBytes bytes_;
  std::vector<Sizes> sizes_;  // by block
  std::vector<Layer> layers_;
  std::map<std::string, Array<Scalar>> handed_on_;  // by the name of the input that reads it
  std::map<std::string, Array<Scalar>> arriving_;   // gradients, by the same names
  std::map<std::string, Array<Scalar>> gradients_;
  std::vector<Array<Scalar>> outputs_;
  std::set<std::string> held_shared_;
  Scalar loss_ = 0.0;
  bool has_loss_ = false;
  std::int64_t saved_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

}  // namespace flopwise::exec
