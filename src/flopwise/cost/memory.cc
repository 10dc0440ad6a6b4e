#include "flopwise/cost/memory.h"

#include <algorithm>
#include <set>
#include <utility>

#include "flopwise/base/contains.h"

namespace flopwise {
namespace {

bool is_activation(const Graph& graph, const Tensor& tensor) {
  if (tensor.role == Role::kParameter || tensor.role == Role::kState) return false;
  if (tensor.gradient_of == kNoTensor) return true;
  return graph.tensor(tensor.gradient_of).role != Role::kParameter;
}

class LifetimeFinder {
 public:
  LifetimeFinder(const Block& block, Fusion fusion, const ElementTypes& types,
                 const std::set<std::string>& kept, bool is_repeated)
      : graph_(block.graph),
        types_(types),
        kept_(kept),
        is_repeated_(is_repeated),
        kernels_(kernels_of(block.graph, fusion)),
        last_(static_cast<int>(block.graph.ops().size())) {}

  Lifetimes find() && {
    find_boundary();
    find_lifetimes();
    found_.backward = boundary_;
    found_.end = last_;
    return std::move(found_);
  }

 private:
  const std::vector<Op>& ops() const { return graph_.ops(); }

  void find_boundary() {
    const auto first = std::find_if(ops().begin(), ops().end(),
                                    [](const Op& op) { return op.pass != Pass::kForward; });
    boundary_ = static_cast<int>(first - ops().begin());
  }

  bool is_saved(TensorId id) const { return contains(graph_.saved, id); }

  // Position of the last reader of the storage with position < end and >= begin; -1 where there is
  // none.
  int last_reader(TensorId storage, int begin, int end) const {
    for (int at = end - 1; at >= begin; --at) {
      for (const TensorId id : ops()[static_cast<std::size_t>(at)].inputs) {
        if (graph_.storage_of(id) == storage) return at;
      }
    }
    return -1;
  }

  // Where the memory made at `at` is made anew, just behind that operation; `end` where it is not.
  int remade_before(TensorId storage, int at, int end) const {
    for (int i = at + 1; i < end; ++i) {
      const std::vector<TensorId>& outputs = ops()[static_cast<std::size_t>(i)].outputs;
      if (contains(outputs, storage)) return i + 1;
    }
    return end;
  }

  // Whether only the kernel that makes the tensor reads it: then it never lives in memory.
  bool stays_inside(TensorId storage, int made_at) const {
    const bool is_output =
        std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                    [&](TensorId id) { return graph_.storage_of(id) == storage; });
    if (is_output || is_saved(storage)) return false;
    bool is_read = false;
    for (int at = 0; at < last_; ++at) {
      const Op& reader = ops()[static_cast<std::size_t>(at)];
      if (std::holds_alternative<Relabel>(reader.kind)) continue;
      const bool reads = std::any_of(reader.inputs.begin(), reader.inputs.end(),
                                     [&](TensorId id) { return graph_.storage_of(id) == storage; });
      if (!reads || (at < boundary_) != (made_at < boundary_)) continue;
      is_read = true;
      const OpId reading = kernels_[static_cast<std::size_t>(at)];
      const bool elsewhere = reading != kernels_[static_cast<std::size_t>(made_at)];
      if (elsewhere && !kernel_makes(graph_, kernels_, reading, storage)) return false;
    }
    return is_read;
  }

  void add(TensorId id, int from, int to) {
    const Tensor& tensor = graph_.tensor(id);
    found_.tensors.push_back(
        {id, from, to, elements(tensor) * bytes_per_element(tensor.element, types_)});
  }

  void find_lifetimes() {
    const int count = static_cast<int>(graph_.tensors().size());
    std::vector<bool> made(static_cast<std::size_t>(count), false);
    for (int at = 0; at < last_; ++at) {
      for (const TensorId id : ops()[static_cast<std::size_t>(at)].outputs) {
        made[static_cast<std::size_t>(id)] = true;
        const Tensor& tensor = graph_.tensor(id);
        if (tensor.alias_of != kNoTensor || !is_activation(graph_, tensor)) continue;
        if (!stays_inside(id, at)) add_made(id, at);
      }
    }
    for (TensorId id = 0; id < count; ++id) {
      if (!made[static_cast<std::size_t>(id)]) add_given(id);
    }
  }

  void add_made(TensorId id, int at) {
    const bool forward = at < boundary_;
    const int pass_end = forward ? boundary_ : last_;
    int to = std::max(at, last_reader(id, at + 1, remade_before(id, at, pass_end)));
    if (forward && is_saved(id)) {
      const int end = remade_before(id, boundary_ - 1, last_);
      to = std::max(boundary_ - 1, last_reader(id, boundary_, end));
    }
    const bool is_output = std::any_of(graph_.outputs.begin(), graph_.outputs.end(),
                                       [&](TensorId out) { return graph_.storage_of(out) == id; });
    if (forward && is_output) to = std::max(to, boundary_ - 1);
    // A gradient that nobody reads is a result of the block.
    const bool is_gradient = graph_.tensor(id).role == Role::kGradient;
    if (is_gradient && last_reader(id, at + 1, last_) < 0) to = last_;
    add(id, at, to);
  }

  // The block's input, and the gradient that arrives for its output.
  void add_given(TensorId id) {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.alias_of != kNoTensor || !is_activation(graph_, tensor)) return;
    if (tensor.role == Role::kGradient) {
      const int to = last_reader(id, boundary_, last_);
      if (to >= 0) add(id, boundary_, to);
    } else if (tensor.role == Role::kInput) {
      if (tensor.shared && kept_.count(tensor.name) > 0) return;  // an earlier block's
      int to = last_reader(id, 0, is_saved(id) ? last_ : boundary_);
      // What the repeats share is still needed by the others.
      if (to >= 0 && tensor.shared && is_repeated_) to = is_saved(id) ? last_ : boundary_ - 1;
      if (to >= 0) add(id, 0, to);
    }
  }

  const Graph& graph_;
  const ElementTypes& types_;
  const std::set<std::string>& kept_;
  bool is_repeated_;
  std::vector<OpId> kernels_;
  int last_;
  int boundary_ = 0;
  Lifetimes found_;
};

// The most that is alive at once.
Count peak_of(const Block& block, const Lifetimes& lifetimes, const Sizes& sizes) {
  std::vector<Count> bytes;
  for (const Lifetime& lifetime : lifetimes.tensors) {
    bytes.push_back(lifetime.bytes.eval_count(
        sizes, "activations." + block.graph.tensor(lifetime.tensor).name));
  }
  return lifetimes.peak(bytes);
}

}  // namespace

Lifetimes lifetimes_of(const Block& block, Fusion fusion, const ElementTypes& types,
                       const std::set<std::string>& kept, bool is_repeated) {
  return LifetimeFinder(block, fusion, types, kept, is_repeated).find();
}

ActivationMemory activation_memory(const Program& program, Fusion fusion,
                                   const ElementTypes& types) {
  ActivationMemory memory;
  std::set<std::string> shared;
  for (const Block& block : program.blocks) {
    const Sizes sizes = program.sizes_of(block);
    const Count repeat = block.repeat.eval_count(sizes, "layers");
    const std::set<std::string> kept = shared;
    Count once = 0;  // saved once for all repeats
    Count each = 0;  // saved by each repeat
    for (const TensorId id : block.graph.saved) {
      const Tensor& tensor = block.graph.tensor(id);
      if (tensor.shared && !shared.insert(tensor.name).second) continue;
      SavedTensor saved{block.name, tensor.name, elements(tensor), {}, {}, {}};
      saved.bytes = saved.elements * bytes_per_element(tensor.element, types);
      saved.repeat = tensor.shared ? Expr(1) : block.repeat;
      const Count bytes = saved.bytes.eval_count(sizes, "activations." + tensor.name);
      saved.value = tensor.shared ? bytes : bytes * repeat;
      (tensor.shared ? once : each) += bytes;
      memory.saved.push_back(std::move(saved));
    }
    // What later blocks take under another name is kept here already.
    for (const TensorId id : block.graph.outputs) {
      const Tensor& tensor = block.graph.tensor(id);
      if (tensor.shared && contains(block.graph.saved, block.graph.storage_of(id))) {
        shared.insert(tensor.name);
      }
    }
    // The last repeat runs on top of what all the others saved.
    const Lifetimes live = lifetimes_of(block, fusion, types, kept, repeat > Count(1));
    const Count below = memory.saved_bytes + each * (repeat - 1);
    memory.peak_bytes = std::max(memory.peak_bytes, below + peak_of(block, live, sizes));
    memory.saved_bytes += once + each * repeat;
  }
  return memory;
}

}  // namespace flopwise
