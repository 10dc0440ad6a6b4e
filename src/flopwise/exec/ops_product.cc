// Contractions, convolutions, sums and broadcasts: sums of products over named axes.
#include <algorithm>

#include "flopwise/base/error.h"
#include "flopwise/exec/ops_detail.h"

namespace flopwise::exec {
namespace {

// Whether several products end in one element.
bool adds_up(const Shape& a, const Shape& b, const Shape& out) {
  const auto lacks = [&](const Extent& axis) { return find_axis(out, axis.name) < 0; };
  return std::any_of(a.begin(), a.end(), lacks) || std::any_of(b.begin(), b.end(), lacks);
}

Shape without(const Shape& shape, const std::string& axis) {
  Shape rest;
  for (const Extent& extent : shape) {
    if (extent.name != axis) rest.push_back(extent);
  }
  return rest;
}

// The same product for every token and each of its k experts, with that expert's slice of the
// weight, or into that expert's slice of its gradient. Array 3 is the choice.
template <typename Scalar>
void run_routed(const std::string& routed_axis, OpRun<Scalar>& run) {
  const Array<Scalar>& a = run.inputs[0];
  const Array<Scalar>& b = run.inputs[1];
  const Array<Scalar>& choice = run.inputs[2];
  Array<Scalar>& out = run.outputs[0];
  const Shape a_axes = without(a.shape(), routed_axis);
  const Shape b_axes = without(b.shape(), routed_axis);
  const Shape out_axes = without(out.shape(), routed_axis);
  const bool accumulates = adds_up(a_axes, b_axes, out_axes);
  const std::array<std::int64_t, 3> expert_stride = {stride_of(a.shape(), routed_axis),
                                                     stride_of(b.shape(), routed_axis),
                                                     stride_of(out.shape(), routed_axis)};
  Loop<4> loop;
  const std::array<const Shape*, 4> shapes = {&a.shape(), &b.shape(), &out.shape(),
                                              &choice.shape()};
  for (const Extent& axis : union_of(std::array<const Shape*, 3>{&a_axes, &b_axes, &out_axes})) {
    loop.add(axis, shapes);
  }
  for_each_point(loop, Offsets<4>{}, [&](const Offsets<4>& at) {
    const std::int64_t expert = index_of(choice[at[3]]);
    const Scalar product =
        a[at[0] + expert * expert_stride[0]] * b[at[1] + expert * expert_stride[1]];
    Scalar& result = out[at[2] + expert * expert_stride[2]];
    result = accumulates ? result + product : product;
  });
}

}  // namespace

template <typename Scalar>
void run_kind(const Contraction& kind, OpRun<Scalar>& run) {
  if (!kind.routed_axis.empty()) {
    run_routed(kind.routed_axis, run);
    return;
  }
  const Array<Scalar>& a = run.inputs[0];
  const Array<Scalar>& b = run.inputs[1];
  Array<Scalar>& out = run.outputs[0];
  const bool accumulates = adds_up(a.shape(), b.shape(), out.shape()) || starts_from_input(run.op);
  if (starts_from_input(run.op)) {
    for_each_point<2>({&out.shape(), &run.inputs[2].shape()}, run.live,
                      [&](const Offsets<2>& at) { out[at[0]] = run.inputs[2][at[1]]; });
  }
  for_each_point<3>({&out.shape(), &a.shape(), &b.shape()}, run.live, [&](const Offsets<3>& at) {
    const Scalar product = a[at[1]] * b[at[2]];
    Scalar& result = out[at[0]];
    result = accumulates ? result + product : product;
  });
}

template <typename Scalar>
void run_kind(const Sum&, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  for_each_point<2>({&in.shape(), &out.shape()}, run.live,
                    [&](const Offsets<2>& at) { out[at[1]] = out[at[1]] + in[at[0]]; });
}

template <typename Scalar>
void run_kind(const Broadcast&, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  for_each_point<2>({&out.shape(), &in.shape()}, run.live,
                    [&](const Offsets<2>& at) { out[at[0]] = in[at[1]]; });
}

namespace {

// in[B, stride*T + q, c], kernel[q, c, O], out[B, T, O]: positions are the second axis of in and
// out, q the first of the kernel. Calls body(offset in, offset kernel, offset out) for every
// product.
template <typename Body>
void for_each_convolved(const Shape& in, const Shape& kernel, const Shape& out, std::int64_t stride,
                        Body body) {
  const Extent& taps = kernel.at(0);
  const Extent& positions = out.at(1);
  FLOPWISE_CHECK(in.at(1).size >= stride * (positions.size - 1) + taps.size,
                 "convolution: the input is shorter than its kernel reaches");
  Loop<3> loop;
  const std::array<const Shape*, 3> shapes = {&in, &kernel, &out};
  for (const Extent& axis : union_of(shapes)) {
    const bool is_position =
        axis.name == in[1].name || axis.name == positions.name || axis.name == taps.name;
    if (!is_position) loop.add(axis, shapes);
  }
  const std::int64_t in_step = stride_of(in, in[1].name);
  for (std::int64_t t = 0; t < positions.size; ++t) {
    for (std::int64_t q = 0; q < taps.size; ++q) {
      const Offsets<3> start = {(stride * t + q) * in_step, q * stride_of(kernel, taps.name),
                                t * stride_of(out, positions.name)};
      for_each_point(loop, start, [&](const Offsets<3>& at) { body(at[0], at[1], at[2]); });
    }
  }
}

}  // namespace

template <typename Scalar>
void run_kind(const Convolution& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  const Array<Scalar>& kernel = run.inputs[1];
  Array<Scalar>& out = run.outputs[0];
  for_each_convolved(
      in.shape(), kernel.shape(), out.shape(), kind.stride,
      [&](std::int64_t i, std::int64_t w, std::int64_t o) { out[o] = out[o] + in[i] * kernel[w]; });
}

template <typename Scalar>
void run_kind(const ConvolutionBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& d_out = run.inputs[0];
  const Array<Scalar>& other = run.inputs[1];
  Array<Scalar>& result = run.outputs[0];
  if (kind.of_kernel) {
    for_each_convolved(other.shape(), result.shape(), d_out.shape(), kind.stride,
                       [&](std::int64_t i, std::int64_t w, std::int64_t o) {
                         result[w] = result[w] + other[i] * d_out[o];
                       });
  } else {
    for_each_convolved(result.shape(), other.shape(), d_out.shape(), kind.stride,
                       [&](std::int64_t i, std::int64_t w, std::int64_t o) {
                         result[i] = result[i] + other[w] * d_out[o];
                       });
  }
}

namespace {

// What lies at position t - Q + 1 + q of x[B, T, ..], t and q from 0, as an offset into x or,
// before its first position, into the state [B, Q-1, ..]. Calls body(in x or not, offset there,
// offset kernel, offset out) for every product, kernel [Q, ..], out [B, T, ..].
template <typename Body>
void for_each_tap(const Shape& x, const Shape& kernel, Body body) {
  const std::int64_t taps = kernel.at(0).size;
  const std::int64_t batch = x.at(0).size;
  const std::int64_t length = x.at(1).size;
  const std::int64_t channels = elements(kernel) / taps;
  FLOPWISE_CHECK(elements(x) == batch * length * channels,
                 "causal convolution: input and kernel have other channels");
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t t = 0; t < length; ++t) {
      for (std::int64_t q = 0; q < taps; ++q) {
        const std::int64_t from = t - taps + 1 + q;
        const bool inside = from >= 0;
        const std::int64_t row = inside ? b * length + from : b * (taps - 1) + taps - 1 + from;
        for (std::int64_t c = 0; c < channels; ++c) {
          body(inside, row * channels + c, q * channels + c, (b * length + t) * channels + c);
        }
      }
    }
  }
}

// The last positions of the state and x together become the state.
template <typename Scalar>
void keep_last(const Array<Scalar>& x, Array<Scalar>& state) {
  const std::int64_t batch = x.shape().at(0).size;
  const std::int64_t length = x.shape().at(1).size;
  const std::int64_t held = state.shape().at(1).size;
  const std::int64_t channels = x.size() / batch / length;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < held; ++i) {
      const std::int64_t from = length + i;  // in the state and x behind one another
      for (std::int64_t c = 0; c < channels; ++c) {
        state[(b * held + i) * channels + c] = from < held
                                                   ? state[(b * held + from) * channels + c]
                                                   : x[(b * length + from - held) * channels + c];
      }
    }
  }
}

}  // namespace

template <typename Scalar>
void run_kind(const CausalConvolution&, OpRun<Scalar>& run) {
  const Array<Scalar>& x = run.inputs[0];
  const Array<Scalar>& kernel = run.inputs[1];
  const bool has_state = run.inputs.size() > 2;
  Array<Scalar>& out = run.outputs[0];
  for_each_tap(x.shape(), kernel.shape(),
               [&](bool inside, std::int64_t from, std::int64_t w, std::int64_t o) {
                 Scalar value = 0.0;
                 if (inside) value = x[from];
                 if (!inside && has_state) value = run.inputs[2][from];
                 out[o] = out[o] + value * kernel[w];
               });
  if (has_state) keep_last(x, run.outputs.at(1));
}

// Of positions before the first nobody asks for a gradient, and their share of the kernel's is 0.
template <typename Scalar>
void run_kind(const CausalConvolutionBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& d_out = run.inputs[0];
  const Array<Scalar>& other = run.inputs[1];
  Array<Scalar>& result = run.outputs[0];
  const Array<Scalar>& x = kind.of_kernel ? other : result;
  const Array<Scalar>& kernel = kind.of_kernel ? result : other;
  for_each_tap(x.shape(), kernel.shape(),
               [&](bool inside, std::int64_t from, std::int64_t w, std::int64_t o) {
                 if (kind.of_kernel) {
                   const Scalar value = inside ? other[from] : Scalar(0.0);
                   result[w] = result[w] + value * d_out[o];
                 } else {
                   Scalar outside = 0.0;
                   Scalar& place = inside ? result[from] : outside;
                   place = place + other[w] * d_out[o];
                 }
               });
}

#define FLOPWISE_INSTANTIATE(Scalar)                    \
  FLOPWISE_INSTANTIATE_RUN(Contraction, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(Sum, Scalar)                 \
  FLOPWISE_INSTANTIATE_RUN(Broadcast, Scalar)           \
  FLOPWISE_INSTANTIATE_RUN(Convolution, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(ConvolutionBackward, Scalar) \
  FLOPWISE_INSTANTIATE_RUN(CausalConvolution, Scalar)   \
  FLOPWISE_INSTANTIATE_RUN(CausalConvolutionBackward, Scalar)
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
