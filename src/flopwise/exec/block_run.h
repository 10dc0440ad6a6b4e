// Runs the graph of one block once: forward, then, where the graph has them, recomputation and
// backward. Every operation's arithmetic is counted by itself, and what has to stay in memory is
// accounted for tensor by tensor.
//
// Between forward and backward only Graph::saved survives; a backward pass that needs anything else
// finds it missing, which is an InternalError. Nothing inside is cached or fused: each operation
// reads its inputs and writes its outputs, as --fusion unfused counts them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "flopwise/exec/ops.h"
#include "flopwise/graph/graph.h"

namespace flopwise::exec {

// The size of an axis.
std::int64_t size_at(const Expr& size, const Sizes& sizes);

// Bytes of one element, indexed by Element.
struct ElementBytes {
  std::array<std::int64_t, 6> bytes = {2, 2, 2, 4, 1, 4};
  std::int64_t of(Element element) const { return bytes[static_cast<std::size_t>(element)]; }
};

// Bytes of activations, as the element types of a model count them. Parameters, their gradients and
// caches are not activations.
struct StorageUse {
  std::int64_t saved_bytes = 0;   // alive between forward and backward
  std::int64_t forward_peak = 0;  // the most alive at once in either pass, this block's own
  std::int64_t backward_peak = 0;
};

template <typename Scalar>
class BlockRun {
 public:
  // `held_elsewhere`: names of shared inputs that an earlier block already keeps in memory.
  // `repeats`: whether other repeats of the block need its shared inputs too.
  BlockRun(const Graph& graph, const Sizes& sizes, std::uint64_t seed, const ElementBytes& bytes,
           std::set<std::string> held_elsewhere = {}, bool repeats = false);

  // Hands in a parameter, input, constant, cache, or an arriving gradient. The gradient of a table
  // that others have looked up too may be handed in with their share.
  void set(TensorId tensor, Array<Scalar> value);
  bool has(TensorId tensor) const;
  // InternalError naming the tensor when it was never made or is gone.
  Array<Scalar> get(TensorId tensor) const;
  Shape shape_of(TensorId tensor) const;

  void forward();
  void backward();

  // What each operation performed, indexed like Graph::ops.
  const std::vector<Tally>& tallies() const { return tallies_; }
  // The sum of the mean cross-entropies.
  Scalar loss() const { return loss_; }
  const StorageUse& storage() const { return storage_; }
  // How many positions of a cache the operations read.
  std::int64_t keys_read(TensorId cache) const;
  // How many of a cache's last positions later queries can still see.
  std::int64_t keys_needed(TensorId cache) const;

 private:
  void count_readers(TensorId storage, std::size_t begin, std::size_t end);
  void step(std::size_t index, std::size_t end, std::int64_t& peak_bytes);
  bool is_saved(TensorId storage) const;
  bool is_output(TensorId storage) const;
  bool counts_as_activation(TensorId storage) const;
  const LivePairs* live_pairs(const Op& op);
  void run(std::size_t index);
  Tally perform(const Op& op, std::vector<Array<Scalar>> inputs,
                std::vector<Array<Scalar>> outputs);
  void prepare_recurrence(std::size_t begin);
  void allocate(TensorId tensor);
  void hold(TensorId storage);
  void release(TensorId storage);
  bool is_done_with(TensorId storage, bool in_forward) const;

  const Graph& graph_;
  const Sizes& sizes_;
  std::uint64_t seed_;
  ElementBytes bytes_;
  std::set<std::string> held_elsewhere_;
  bool repeats_;
  std::size_t boundary_ = 0;           // the first operation that is not forward
  std::vector<Array<Scalar>> values_;  // by tensor; a view's elements are its owner's
  std::set<TensorId> in_place_;        // gradients that were handed in
  std::set<TensorId> results_;         // gradients that the block hands on
  std::vector<std::int64_t> readers_;  // by storage: how often the pass will still read it
  std::map<std::string, LivePairs> pairs_;
  std::map<TensorId, std::int64_t> keys_read_;
  std::map<TensorId, std::int64_t> keys_needed_;
  // Results of operations of a recurrence, which are made together before their turns.
  std::map<std::size_t, std::vector<Array<Scalar>>> prepared_;
  std::vector<Tally> tallies_;
  Scalar loss_ = 0.0;
  std::map<TensorId, std::int64_t> held_;  // bytes of the activations alive
  std::int64_t live_bytes_ = 0;
  StorageUse storage_;
};

}  // namespace flopwise::exec
