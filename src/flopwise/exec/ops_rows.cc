// Operations on rows: softmax, norms and the loss, forward and backward next to each other.
#include <limits>

#include "flopwise/base/error.h"
#include "flopwise/exec/ops_detail.h"

namespace flopwise::exec {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

template <typename Scalar>
Scalar scaled(const Scalar& x, const std::optional<Scale>& scale) {
  return scale ? x * Scalar(scale->factor) : x;
}

}  // namespace

// Each element: scale, max, subtract, exp, add, divide. A row without live elements stays 0. A sink
// is one more score, to which no weight is written.
template <typename Scalar>
void run_kind(const Softmax& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& x = run.inputs[0];
  Array<Scalar>& p = run.outputs[0];
  const bool with_stats = run.outputs.size() > 1;
  const bool with_sink = run.inputs.size() > 1;
  const Shape& stats = with_stats ? run.outputs[1].shape() : x.shape();
  const Shape& sinks = with_sink ? run.inputs[1].shape() : x.shape();
  for_each_row<3>({&x.shape(), &stats, &sinks}, kind.axis, run.live, [&](const Row<3>& row) {
    Scalar highest = kLowest;
    for (const std::int64_t j : row.live) {
      p[row.template at<0>(j)] = scaled(x[row.template at<0>(j)], kind.scale);
      highest = max_of(highest, p[row.template at<0>(j)]);
    }
    if (with_sink) highest = max_of(highest, run.inputs[1][row.start[2]]);
    Scalar sum = 0.0;
    for (const std::int64_t j : row.live) {
      p[row.template at<0>(j)] = exp_of(p[row.template at<0>(j)] - highest);
      sum = sum + p[row.template at<0>(j)];
    }
    if (with_sink) sum = sum + exp_of(run.inputs[1][row.start[2]] - highest);
    for (const std::int64_t j : row.live) {
      p[row.template at<0>(j)] = p[row.template at<0>(j)] / sum;
    }
    if (!with_stats) return;
    // A by-product: a kernel has both numbers at hand, and the count of a softmax leaves out what
    // it does to keep them (docs/conventions.md).
    const Tally before = thread_tally;
    run.outputs[1][row.start[1]] = highest + log_of(sum);
    thread_tally = before;
  });
}

template <typename Scalar>
void run_kind(const SoftmaxFromStats& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& x = run.inputs[0];
  const Array<Scalar>& stats = run.inputs[1];
  Array<Scalar>& p = run.outputs[0];
  for_each_row<2>({&x.shape(), &stats.shape()}, kind.axis, run.live, [&](const Row<2>& row) {
    for (const std::int64_t j : row.live) {
      const std::int64_t at = row.template at<0>(j);
      p[at] = exp_of(scaled(x[at], kind.scale) - stats[row.start[1]]);
    }
  });
}

template <typename Scalar>
void run_kind(const SoftmaxBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& p = run.inputs[0];
  const Array<Scalar>& dp = run.inputs[1];
  const Shape& delta = kind.from_delta ? run.inputs[2].shape() : p.shape();
  Array<Scalar>& dx = run.outputs[0];
  for_each_row<2>({&p.shape(), &delta}, kind.axis, run.live, [&](const Row<2>& row) {
    Scalar sum = 0.0;
    if (kind.from_delta) {
      sum = run.inputs[2][row.start[1]];
    } else {
      for (const std::int64_t j : row.live) {
        const std::int64_t at = row.template at<0>(j);
        sum = sum + p[at] * dp[at];
      }
    }
    for (const std::int64_t j : row.live) {
      const std::int64_t at = row.template at<0>(j);
      dx[at] = scaled(p[at] * (dp[at] - sum), kind.scale);
    }
  });
}

template <typename Scalar>
void run_kind(const SinkBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& p = run.inputs[0];
  const Array<Scalar>& dp = run.inputs[1];
  Array<Scalar>& d_sink = run.outputs[0];
  for_each_row<2>({&p.shape(), &d_sink.shape()}, kind.axis, run.live, [&](const Row<2>& row) {
    Scalar sum = 0.0;
    Scalar delta = 0.0;
    for (const std::int64_t j : row.live) {
      const std::int64_t at = row.template at<0>(j);
      sum = sum + p[at];
      delta = delta + p[at] * dp[at];
    }
    Scalar& result = d_sink[row.start[1]];
    result = result - (Scalar(1.0) - sum) * delta;
  });
}

// ---- norms -------------------------------------------------------------------------------------

namespace {

std::int64_t row_length(const Shape& shape, int normalised_axes) {
  std::int64_t n = 1;
  for (std::size_t i = shape.size() - static_cast<std::size_t>(normalised_axes); i < shape.size();
       ++i) {
    n *= shape[i].size;
  }
  return n;
}

// x less its mean into `out` where centred (else x itself), and the row's statistics. RMS 2n + 3
// operations, centred 4n + 4.
template <typename Scalar>
Scalar rsqrt_of_row(const Norm& norm, const Scalar* x, std::int64_t n, Scalar* out) {
  const Scalar count = static_cast<double>(n);
  Scalar mean = 0.0;
  if (norm.centred) {
    for (std::int64_t i = 0; i < n; ++i) mean = mean + x[i];
    mean = mean / count;
  }
  for (std::int64_t i = 0; i < n; ++i) out[i] = norm.centred ? x[i] - mean : x[i];
  Scalar square = 0.0;
  for (std::int64_t i = 0; i < n; ++i) square = square + out[i] * out[i];
  return rsqrt_of(square / count + Scalar(norm.epsilon));
}

}  // namespace

template <typename Scalar>
void run_kind(const Norm& norm, OpRun<Scalar>& run) {
  const Array<Scalar>& x = run.inputs[0];
  Array<Scalar>& y = run.outputs[0];
  const std::int64_t n = row_length(x.shape(), norm.normalised_axes);
  for (std::int64_t start = 0; start < x.size(); start += n) {
    Scalar* out = &y[start];
    const Scalar rsqrt = rsqrt_of_row(norm, &x[start], n, out);
    for (std::int64_t i = 0; i < n; ++i) {
      out[i] = out[i] * rsqrt;
      if (norm.has_weight) out[i] = out[i] * run.inputs[1][i];
      if (norm.has_bias) out[i] = out[i] + run.inputs.back()[i];
    }
  }
}

// xhat = (x - mean) * rsqrt, dxhat = dy * weight;
// RMS: dx = (dxhat - xhat * mean(dxhat * xhat)) * rsqrt; centred: less mean(dxhat) too.
template <typename Scalar>
void run_kind(const NormBackward& kind, OpRun<Scalar>& run) {
  const Norm& norm = kind.norm;
  const Array<Scalar>& x = run.inputs[0];
  const Array<Scalar>& dy = run.inputs.back();
  Array<Scalar>& dx = run.outputs[0];
  const std::int64_t n = row_length(x.shape(), norm.normalised_axes);
  const Scalar count = static_cast<double>(n);
  std::vector<Scalar> xhat(static_cast<std::size_t>(n));
  for (std::int64_t start = 0; start < x.size(); start += n) {
    const Scalar rsqrt = rsqrt_of_row(norm, &x[start], n, xhat.data());
    Scalar* dxhat = &dx[start];
    Scalar sum = 0.0;
    Scalar dot = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
      Scalar& hat = xhat[static_cast<std::size_t>(i)];
      const Scalar& d = dy[start + i];
      hat = hat * rsqrt;
      dxhat[i] = norm.has_weight ? d * run.inputs[1][i] : d;
      if (norm.centred) sum = sum + dxhat[i];
      dot = dot + dxhat[i] * hat;
      if (norm.has_weight) run.outputs[1][i] = run.outputs[1][i] + d * hat;
      if (norm.has_bias) run.outputs.back()[i] = run.outputs.back()[i] + d;
    }
    if (norm.centred) sum = sum / count;
    dot = dot / count;
    for (std::int64_t i = 0; i < n; ++i) {
      if (norm.centred) dxhat[i] = dxhat[i] - sum;
      dxhat[i] = (dxhat[i] - xhat[static_cast<std::size_t>(i)] * dot) * rsqrt;
    }
  }
}

// ---- loss --------------------------------------------------------------------------------------

// logits[.., V], targets[..] -> loss[..], log-sum-exp[..]; the rows' losses are also added up.
template <typename Scalar>
void run_kind(const CrossEntropy&, OpRun<Scalar>& run) {
  const Array<Scalar>& logits = run.inputs[0];
  const Array<Scalar>& targets = run.inputs[1];
  const std::int64_t n = logits.shape().back().size;
  for (std::int64_t row = 0; row < targets.size(); ++row) {
    const Scalar* x = &logits[row * n];
    Scalar highest = kLowest;
    for (std::int64_t i = 0; i < n; ++i) highest = max_of(highest, x[i]);
    Scalar sum = 0.0;
    for (std::int64_t i = 0; i < n; ++i) sum = sum + exp_of(x[i] - highest);
    const Scalar lse = log_of(sum) + highest;
    const std::int64_t target = index_of(targets[row]);
    run.outputs[0][row] = lse - x[target];
    run.outputs[1][row] = lse;
    *run.loss = *run.loss + run.outputs[0][row];
  }
}

// Of the mean over rows: (softmax - one at the target) / rows.
template <typename Scalar>
void run_kind(const CrossEntropyBackward&, OpRun<Scalar>& run) {
  const Array<Scalar>& logits = run.inputs[0];
  const Array<Scalar>& targets = run.inputs[1];
  const Array<Scalar>& stats = run.inputs[2];
  Array<Scalar>& d_logits = run.outputs[0];
  const std::int64_t n = logits.shape().back().size;
  const Scalar share = 1.0 / static_cast<double>(targets.size());
  for (std::int64_t row = 0; row < targets.size(); ++row) {
    for (std::int64_t i = row * n; i < (row + 1) * n; ++i) {
      d_logits[i] = exp_of(logits[i] - stats[row]) * share;
    }
    Scalar& target = d_logits[row * n + index_of(targets[row])];
    target = target - share;
  }
}

#define FLOPWISE_INSTANTIATE(Scalar)                 \
  FLOPWISE_INSTANTIATE_RUN(Softmax, Scalar)          \
  FLOPWISE_INSTANTIATE_RUN(SoftmaxFromStats, Scalar) \
  FLOPWISE_INSTANTIATE_RUN(SoftmaxBackward, Scalar)  \
  FLOPWISE_INSTANTIATE_RUN(SinkBackward, Scalar)     \
  FLOPWISE_INSTANTIATE_RUN(Norm, Scalar)             \
  FLOPWISE_INSTANTIATE_RUN(NormBackward, Scalar)     \
  FLOPWISE_INSTANTIATE_RUN(CrossEntropy, Scalar)     \
  FLOPWISE_INSTANTIATE_RUN(CrossEntropyBackward, Scalar)
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
