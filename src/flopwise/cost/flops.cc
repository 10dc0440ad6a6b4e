#include "flopwise/cost/flops.h"

#include <algorithm>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

// Whether some axis of the inputs is summed away; the routed axis is chosen, not summed.
bool contracts(const Graph& graph, const Op& op, const std::string& routed_axis) {
  const Tensor& out = graph.tensor(op.outputs[0]);
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
    const Tensor& in = graph.tensor(id);
    return std::any_of(in.axes.begin(), in.axes.end(), [&](const Axis& axis) {
      return axis.name != routed_axis && !has_axis(out, axis.name);
    });
  });
}

Work vector(const Expr& flops) {
  return {OpClass::kVector, flops, flops};
}
Work free_of_cost() {
  return {OpClass::kNone, 0, 0};
}

// rows x n elements, n along the normalised axes.
struct Rows {
  Expr rows;
  Expr n;
};
Rows normalised_rows(const Tensor& x, int normalised_axes) {
  Rows shape{1, 1};
  const std::size_t first = x.axes.size() - static_cast<std::size_t>(normalised_axes);
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    (i < first ? shape.rows : shape.n) *= x.axes[i].size;
  }
  return shape;
}

class WorkVisitor {
 public:
  WorkVisitor(const Graph& graph, const Op& op) : graph_(graph), op_(op) {}

  Work operator()(const Contraction& kind) const {
    const bool adds = contracts(graph_, op_, kind.routed_axis) || starts_from_input(op_);
    const Expr factor = adds ? 2 : 1;
    const Expr flops = factor * iteration_space(graph_, op_, false, kind.routed_axis);
    if (kind.op_class != OpClass::kAttention) return {kind.op_class, flops, flops};
    return {kind.op_class, flops, factor * iteration_space(graph_, op_, true, kind.routed_axis)};
  }

  Work operator()(const Map& kind) const {
    return vector(operations(kind.program) * live_elements(output()));
  }

  // From the neutral element: n additions for n elements.
  Work operator()(const Sum&) const { return vector(live_elements(input(0))); }
  Work operator()(const Broadcast&) const { return free_of_cost(); }

  // max, subtract, exp, add, divide; and one multiply where the scores are scaled. A sink: max,
  // subtract, exp, add, once a row.
  Work operator()(const Softmax& kind) const {
    const Expr sink = op_.inputs.size() > 1 ? 4 * rows_of(input(0), kind.axis) : Expr(0);
    return vector((kind.scale ? 6 : 5) * live_elements(input(0)) + sink);
  }

  // Sum of p, p*dp and its sum; a row: subtract from 1, multiply, subtract from the gradient.
  Work operator()(const SinkBackward& kind) const {
    return vector(3 * live_elements(input(0)) + 3 * rows_of(input(0), kind.axis));
  }

  // subtract, exp; and the scale.
  Work operator()(const SoftmaxFromStats& kind) const {
    return vector((kind.scale ? 3 : 2) * live_elements(input(0)));
  }

  // p*dp and its row sum (2, unless the sum is at hand), subtract, multiply; and the scale.
  Work operator()(const SoftmaxBackward& kind) const {
    const int operations_each = (kind.from_delta ? 2 : 4) + (kind.scale ? 1 : 0);
    return vector(operations_each * live_elements(input(0)));
  }

  // RMS: square, add, times rsqrt: 3n; mean, eps, rsqrt: 3. Centred: add, subtract, square, add,
  // times rsqrt: 5n; two means, eps, rsqrt: 4. Weight and bias n each.
  Work operator()(const Norm& norm) const {
    const auto [rows, n] = normalised_rows(input(0), norm.normalised_axes);
    const int per_element =
        (norm.centred ? 5 : 3) + (norm.has_weight ? 1 : 0) + (norm.has_bias ? 1 : 0);
    return vector(rows * (per_element * n + (norm.centred ? 4 : 3)));
  }

  // Statistics again: RMS 2n + 3, centred 4n + 4; xhat n; dy*weight n; RMS: sum of dxhat*xhat 2n,
  // its mean 1, dx 3n; centred: sums of dxhat n and of dxhat*xhat 2n, their means 2, dx 4n; dweight
  // 2n; dbias n.
  Work operator()(const NormBackward& kind) const {
    const Norm& norm = kind.norm;
    const auto [rows, n] = normalised_rows(input(0), norm.normalised_axes);
    const int per_element = (norm.centred ? 4 + 1 + 3 + 4 : 2 + 1 + 2 + 3) +
                            (norm.has_weight ? 1 + 2 : 0) + (norm.has_bias ? 1 : 0);
    return vector(rows * (per_element * n + (norm.centred ? 6 : 4)));
  }

  Work operator()(const Gather&) const { return free_of_cost(); }
  Work operator()(const GatherBackward&) const { return vector(live_elements(input(1))); }

  // k passes of E compares.
  Work operator()(const TopK&) const {
    return vector(elements(input(0)) * output().axes.back().size);
  }
  Work operator()(const TopKBackward&) const { return free_of_cost(); }
  Work operator()(const SelectKeys&) const { return free_of_cost(); }
  Work operator()(const Dispatch&) const { return free_of_cost(); }
  Work operator()(const Combine&) const { return free_of_cost(); }

  // Each pair of elements: 4 multiplies, 1 add, 1 subtract.
  Work operator()(const Rotary& kind) const {
    return vector(3 * elements(input(0)) / input(0).axes.back().size * kind.rotated);
  }

  // Compare with p, multiply by the scaled mask.
  Work operator()(const Dropout&) const { return vector(2 * live_elements(input(0))); }

  // max, subtract, exp, add: 4V; log, add the max, subtract the target's logit, add to the loss: 4.
  Work operator()(const CrossEntropy&) const {
    const auto [rows, n] = normalised_rows(input(0), 1);
    return vector(rows * (4 * n + 4));
  }

  // subtract, exp, times 1/rows: 3V; minus one at the target: 1.
  Work operator()(const CrossEntropyBackward&) const {
    const auto [rows, n] = normalised_rows(input(0), 1);
    return vector(rows * (3 * n + 1));
  }

  Work operator()(const Convolution& kind) const {
    return convolution(kind.op_class, input(1), output());
  }
  Work operator()(const ConvolutionBackward& kind) const {
    return convolution(OpClass::kMatmul, kind.of_kernel ? output() : input(1), input(0));
  }

  // A multiply-add for each of the Q positions, those before the first included.
  Work operator()(const CausalConvolution&) const { return taps(input(1), output()); }
  Work operator()(const CausalConvolutionBackward& kind) const {
    return taps(kind.of_kernel ? output() : input(1), input(0));
  }
  Work operator()(const Previous&) const { return free_of_cost(); }
  Work operator()(const Prepend&) const { return free_of_cost(); }
  // The rows of the batch are added up.
  Work operator()(const PrependBackward& kind) const {
    if (!kind.of_row) return free_of_cost();
    return vector(elements(input(0)) / input(0).axes.at(1).size);
  }

  Work operator()(const Relabel&) const { return free_of_cost(); }
  Work operator()(const CacheAppend&) const { return free_of_cost(); }
  Work operator()(const TakeOne&) const { return free_of_cost(); }
  Work operator()(const TakeOneBackward&) const { return free_of_cost(); }
  Work operator()(const Collective&) const { return free_of_cost(); }

 private:
  static Work taps(const Tensor& kernel, const Tensor& out) {
    const Expr flops = 2 * kernel.axes.at(0).size * elements(out);
    return {OpClass::kMatmul, flops, flops};
  }
  static Expr rows_of(const Tensor& x, const std::string& axis) {
    return elements(x) / axis_of(x, axis).size;
  }
  const Tensor& input(std::size_t i) const { return graph_.tensor(op_.inputs.at(i)); }
  const Tensor& output() const { return graph_.tensor(op_.outputs.at(0)); }

  // One multiply-add per output element, kernel position and input channel.
  static Work convolution(OpClass op_class, const Tensor& kernel, const Tensor& out) {
    Expr product = elements(out);
    for (const Axis& axis : kernel.axes) {
      if (!has_axis(out, axis.name)) product *= axis.size;
    }
    return {op_class, 2 * product, 2 * product};
  }

  const Graph& graph_;
  const Op& op_;
};

}  // namespace

Work work_of(const Graph& graph, const Op& op) {
  return std::visit(WorkVisitor(graph, op), op.kind);
}

}  // namespace flopwise
