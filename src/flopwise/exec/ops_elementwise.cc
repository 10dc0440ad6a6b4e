// Elementwise functions, dropout and rotary positions.
#include <cmath>

#include "flopwise/base/error.h"
#include "flopwise/exec/ops_detail.h"

namespace flopwise::exec {
namespace {

constexpr std::size_t kMaxOperands = 4;

template <typename Scalar>
Scalar applied(ScalarOp op, const Scalar& a, const Scalar& b) {
  switch (op) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return a / b;
    case ScalarOp::kMax:
      return max_of(a, b);
    case ScalarOp::kGreater:
      return is_greater(a, b) ? 1.0 : 0.0;
    case ScalarOp::kExp:
      return exp_of(a);
    case ScalarOp::kLog:
      return log_of(a);
    case ScalarOp::kTanh:
      return tanh_of(a);
    case ScalarOp::kErf:
      return erf_of(a);
    case ScalarOp::kRsqrt:
      return rsqrt_of(a);
    case ScalarOp::kSigmoid:
      return sigmoid_of(a);
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
      break;
  }
  throw InternalError("scalar program: an operand is no operation");
}

// Runs the program; `values` is scratch.
template <typename Scalar>
Scalar evaluated(const ScalarProgram& program, const std::array<Scalar, kMaxOperands>& operands,
                 std::vector<Scalar>& values) {
  for (std::size_t n = 0; n < program.code.size(); ++n) {
    const ScalarInstruction& i = program.code[n];
    if (i.op == ScalarOp::kInput) {
      values[n] = operands[static_cast<std::size_t>(i.a)];
    } else if (i.op == ScalarOp::kConstant) {
      values[n] = i.value;
    } else {
      const Scalar& a = values[static_cast<std::size_t>(i.a)];
      values[n] = applied(i.op, a, i.b < 0 ? a : values[static_cast<std::size_t>(i.b)]);
    }
  }
  return values[program.code.size() - 1];
}

}  // namespace

template <typename Scalar>
void run_kind(const Map& kind, OpRun<Scalar>& run) {
  FLOPWISE_CHECK(run.inputs.size() <= kMaxOperands, run.op.name + ": too many operands");
  Array<Scalar>& out = run.outputs[0];
  // Array 0 is the result; those beyond the last operand are never read.
  std::array<const Shape*, kMaxOperands + 1> shapes;
  shapes.fill(&out.shape());
  for (std::size_t i = 0; i < run.inputs.size(); ++i) shapes[i + 1] = &run.inputs[i].shape();
  std::array<Scalar, kMaxOperands> operands;
  std::vector<Scalar> scratch(kind.program.code.size());
  for_each_point(shapes, run.live, [&](const Offsets<kMaxOperands + 1>& at) {
    for (std::size_t i = 0; i < run.inputs.size(); ++i) {
      operands[i] = run.inputs[i][at[i + 1]];
    }
    out[at[0]] = evaluated(kind.program, operands, scratch);
  });
}

// Kept where a uniform number is above p: one compare; times 1/(1 - p) or 0: one multiply.
template <typename Scalar>
void run_kind(const Dropout& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  Array<Scalar>& mask = run.outputs[1];
  const double scale = 1 / (1 - kind.probability);
  for_each_point<1>({&in.shape()}, run.live, [&](const Offsets<1>& at) {
    const Scalar draw = uniform(run.seed, static_cast<std::uint64_t>(at[0]));
    mask[at[0]] = is_greater(draw, Scalar(kind.probability)) ? scale : 0.0;
    out[at[0]] = in[at[0]] * mask[at[0]];
  });
}

// [.., positions as the second axis, .., H]: of the first `rotated` elements of a head, j and
// j + rotated/2 turn together.
template <typename Scalar>
void run_kind(const Rotary& kind, OpRun<Scalar>& run) {
  constexpr double kBase = 10000;
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  const Shape& shape = in.shape();
  const std::string positions = shape.at(1).name;
  Loop<1> heads;
  for (const Extent& axis : shape) {
    if (axis.name != positions && axis.name != shape.back().name) heads.add(axis, {&shape});
  }
  const std::int64_t half = run.rotated / 2;
  for (std::int64_t t = 0; t < shape[1].size; ++t) {
    const double position = static_cast<double>(run.first_position + t);
    for_each_point(heads, {t * stride_of(shape, positions)}, [&](const Offsets<1>& at) {
      for (std::int64_t j = 0; j < half; ++j) {
        const double turn = -2.0 * static_cast<double>(j) / static_cast<double>(run.rotated);
        const double angle = position * std::pow(kBase, turn) * (kind.inverse ? -1 : 1);
        const Scalar cosine = std::cos(angle);
        const Scalar sine = std::sin(angle);
        const Scalar& x = in[at[0] + j];
        const Scalar& y = in[at[0] + j + half];
        out[at[0] + j] = x * cosine - y * sine;
        out[at[0] + j + half] = y * cosine + x * sine;
      }
      for (std::int64_t j = run.rotated; j < shape.back().size; ++j) out[at[0] + j] = in[at[0] + j];
    });
  }
}

#define FLOPWISE_INSTANTIATE(Scalar)        \
  FLOPWISE_INSTANTIATE_RUN(Map, Scalar)     \
  FLOPWISE_INSTANTIATE_RUN(Dropout, Scalar) \
  FLOPWISE_INSTANTIATE_RUN(Rotary, Scalar)
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
