#include "flopwise/graph/scalar.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "flopwise/base/error.h"

namespace flopwise {
namespace {

bool is_binary(ScalarOp op) {
  switch (op) {
    case ScalarOp::kAdd:
    case ScalarOp::kSub:
    case ScalarOp::kMul:
    case ScalarOp::kDiv:
    case ScalarOp::kMax:
    case ScalarOp::kGreater:
      return true;
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
    case ScalarOp::kExp:
    case ScalarOp::kLog:
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
    case ScalarOp::kRsqrt:
    case ScalarOp::kSigmoid:
      return false;
  }
  return false;
}

bool is_counted(ScalarOp op) {
  return op != ScalarOp::kInput && op != ScalarOp::kConstant;
}

double apply(ScalarOp op, double a, double b) {
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
      return std::max(a, b);
    case ScalarOp::kGreater:
      return a > b ? 1.0 : 0.0;
    case ScalarOp::kExp:
      return std::exp(a);
    case ScalarOp::kLog:
      return std::log(a);
    case ScalarOp::kTanh:
      return std::tanh(a);
    case ScalarOp::kErf:
      return std::erf(a);
    case ScalarOp::kRsqrt:
      return 1.0 / std::sqrt(a);
    case ScalarOp::kSigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
      break;
  }
  throw InternalError("scalar program: an operand is no operation");
}

// Writes a program instruction by instruction: folds constants, drops *1, *0 and +0, shares equal
// instructions.
class Builder {
 public:
  int input(int operand) { return append({ScalarOp::kInput, operand, -1, 0}); }
  int constant(double value) { return append({ScalarOp::kConstant, -1, -1, value}); }

  int add(int a, int b) {
    if (is(a, 0)) return b;
    if (is(b, 0)) return a;
    return operation(ScalarOp::kAdd, a, b);
  }
  int sub(int a, int b) { return is(b, 0) ? a : operation(ScalarOp::kSub, a, b); }
  int mul(int a, int b) {
    if (is(a, 1) || is(b, 0)) return b;
    if (is(b, 1) || is(a, 0)) return a;
    return operation(ScalarOp::kMul, a, b);
  }
  int div(int a, int b) { return is(b, 1) ? a : operation(ScalarOp::kDiv, a, b); }
  int operation(ScalarOp op, int a, int b = -1) {
    const bool folds = is_constant(a) && (b < 0 || is_constant(b));
    if (folds) return constant(apply(op, at(a).value, b < 0 ? 0 : at(b).value));
    return append({op, a, b, 0});
  }

  const ScalarInstruction& at(int index) const { return code_[static_cast<std::size_t>(index)]; }

  // The instructions that `result` needs, in order, result last.
  ScalarProgram finish(std::string name, int inputs, int result) const {
    std::vector<bool> needed(code_.size(), false);
    needed[static_cast<std::size_t>(result)] = true;
    for (int i = result; i >= 0; --i) {
      if (!needed[static_cast<std::size_t>(i)] || !is_counted(at(i).op)) continue;
      needed[static_cast<std::size_t>(at(i).a)] = true;
      if (at(i).b >= 0) needed[static_cast<std::size_t>(at(i).b)] = true;
    }
    ScalarProgram program{std::move(name), inputs, {}};
    std::vector<int> place(code_.size(), -1);
    for (int i = 0; i <= result; ++i) {
      if (!needed[static_cast<std::size_t>(i)]) continue;
      ScalarInstruction instruction = at(i);
      if (is_counted(instruction.op)) {
        instruction.a = place[static_cast<std::size_t>(instruction.a)];
        if (instruction.b >= 0) instruction.b = place[static_cast<std::size_t>(instruction.b)];
      }
      place[static_cast<std::size_t>(i)] = static_cast<int>(program.code.size());
      program.code.push_back(instruction);
    }
    return program;
  }

 private:
  bool is_constant(int index) const { return at(index).op == ScalarOp::kConstant; }
  bool is(int index, double value) const { return is_constant(index) && at(index).value == value; }

  int append(const ScalarInstruction& instruction) {
    const auto same = [&](const ScalarInstruction& other) {
      return other.op == instruction.op && other.a == instruction.a && other.b == instruction.b &&
             other.value == instruction.value;
    };
    const auto found = std::find_if(code_.begin(), code_.end(), same);
    if (found != code_.end()) return static_cast<int>(found - code_.begin());
    code_.push_back(instruction);
    return static_cast<int>(code_.size()) - 1;
  }

  std::vector<ScalarInstruction> code_;
};

// Adds what instruction i hands to its operands, given the gradient g of its result.
void pull_back(Builder& out, const ScalarInstruction& instruction, int i, int g,
               std::vector<int>& gradients) {
  const auto give = [&](int operand, int contribution) {
    int& sum = gradients[static_cast<std::size_t>(operand)];
    sum = sum < 0 ? contribution : out.add(sum, contribution);
  };
  const int a = instruction.a;
  const int b = instruction.b;
  switch (instruction.op) {
    case ScalarOp::kInput:
    case ScalarOp::kConstant:
    case ScalarOp::kGreater:
      return;  // flat almost everywhere
    case ScalarOp::kAdd:
      give(a, g);
      give(b, g);
      return;
    case ScalarOp::kSub:
      give(a, g);
      give(b, out.mul(g, out.constant(-1)));
      return;
    case ScalarOp::kMul:
      give(a, out.mul(g, b));
      give(b, out.mul(g, a));
      return;
    case ScalarOp::kDiv:
      give(a, out.div(g, b));
      give(b, out.mul(out.constant(-1), out.mul(g, out.div(i, b))));
      return;
    case ScalarOp::kMax:
      give(a, out.mul(g, out.operation(ScalarOp::kGreater, a, b)));
      give(b, out.mul(g, out.operation(ScalarOp::kGreater, b, a)));
      return;
    case ScalarOp::kExp:
      give(a, out.mul(g, i));
      return;
    case ScalarOp::kLog:
      give(a, out.div(g, a));
      return;
    case ScalarOp::kTanh:
      give(a, out.mul(g, out.sub(out.constant(1), out.mul(i, i))));
      return;
    case ScalarOp::kErf: {
      const int bell = out.operation(ScalarOp::kExp, out.mul(out.mul(a, a), out.constant(-1)));
      give(a, out.mul(g, out.mul(bell, out.constant(2 * std::numbers::inv_sqrtpi))));
      return;
    }
    case ScalarOp::kRsqrt:
      give(a, out.mul(g, out.mul(out.constant(-0.5), out.mul(i, out.mul(i, i)))));
      return;
    case ScalarOp::kSigmoid:
      give(a, out.mul(g, out.mul(i, out.sub(out.constant(1), i))));
      return;
  }
}

template <typename Body>
ScalarProgram make(const char* name, int inputs, Body body) {
  Builder out;
  const int result = body(out);
  return out.finish(name, inputs, result);
}

}  // namespace

std::int64_t operations(const ScalarProgram& program) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [](const ScalarInstruction& i) { return is_counted(i.op); });
}

std::vector<int> operands_read(const ScalarProgram& program) {
  std::vector<int> operands;
  for (const ScalarInstruction& instruction : program.code) {
    if (instruction.op == ScalarOp::kInput) operands.push_back(instruction.a);
  }
  std::sort(operands.begin(), operands.end());
  return operands;
}

bool is_identity(const ScalarProgram& program, int operand) {
  return program.code.size() == 1 && program.code[0].op == ScalarOp::kInput &&
         program.code[0].a == operand;
}

ScalarProgram scalar_gated(const ScalarProgram& activation) {
  ScalarProgram gated = activation;
  gated.name += "_gate";
  gated.inputs = 2;
  const int activated = static_cast<int>(gated.code.size()) - 1;
  gated.code.push_back({ScalarOp::kInput, 1, -1, 0});
  gated.code.push_back({ScalarOp::kMul, activated, activated + 1, 0});
  return gated;
}

ScalarProgram derivative(const ScalarProgram& program, int operand) {
  Builder out;
  // Re-emit the forward program, so that its values are at hand; finish() drops those not needed.
  std::vector<int> value;
  for (const ScalarInstruction& instruction : program.code) {
    switch (instruction.op) {
      case ScalarOp::kInput:
        value.push_back(out.input(instruction.a));
        break;
      case ScalarOp::kConstant:
        value.push_back(out.constant(instruction.value));
        break;
      default: {
        const int a = value[static_cast<std::size_t>(instruction.a)];
        const int b = instruction.b < 0 ? -1 : value[static_cast<std::size_t>(instruction.b)];
        value.push_back(out.operation(instruction.op, a, b));
      }
    }
  }
  const int forward = value.back();
  const int seed = out.input(program.inputs);
  std::vector<int> gradients(static_cast<std::size_t>(std::max(forward, seed)) + 1, -1);
  gradients[static_cast<std::size_t>(forward)] = seed;
  int result = -1;
  for (int i = forward; i >= 0; --i) {
    const int g = gradients[static_cast<std::size_t>(i)];
    if (g < 0) continue;
    const ScalarInstruction instruction = out.at(i);
    if (instruction.op == ScalarOp::kInput && instruction.a == operand) result = g;
    pull_back(out, instruction, i, g, gradients);
  }
  if (result < 0) result = out.constant(0);
  return out.finish(program.name + "'", program.inputs + 1, result);
}

CompactProgram compact(const ScalarProgram& program) {
  CompactProgram result{program, operands_read(program)};
  result.program.inputs = static_cast<int>(result.kept.size());
  for (ScalarInstruction& instruction : result.program.code) {
    if (instruction.op != ScalarOp::kInput) continue;
    const auto place = std::find(result.kept.begin(), result.kept.end(), instruction.a);
    instruction.a = static_cast<int>(place - result.kept.begin());
  }
  return result;
}

double evaluate(const ScalarProgram& program, const std::vector<double>& operands) {
  std::vector<double> values;
  values.reserve(program.code.size());
  for (const ScalarInstruction& i : program.code) {
    switch (i.op) {
      case ScalarOp::kInput:
        values.push_back(operands.at(static_cast<std::size_t>(i.a)));
        break;
      case ScalarOp::kConstant:
        values.push_back(i.value);
        break;
      default: {
        const double b = is_binary(i.op) ? values.at(static_cast<std::size_t>(i.b)) : 0;
        values.push_back(apply(i.op, values.at(static_cast<std::size_t>(i.a)), b));
      }
    }
  }
  return values.back();
}

ScalarProgram scalar_add() {
  return make("add", 2, [](Builder& out) { return out.add(out.input(0), out.input(1)); });
}

ScalarProgram scalar_mul() {
  return make("mul", 2, [](Builder& out) { return out.mul(out.input(0), out.input(1)); });
}

ScalarProgram scalar_div() {
  return make("div", 2, [](Builder& out) { return out.div(out.input(0), out.input(1)); });
}

ScalarProgram scalar_scale(double factor) {
  return make("scale", 1,
              [&](Builder& out) { return out.mul(out.input(0), out.constant(factor)); });
}

ScalarProgram scalar_softcap(double cap) {
  return make("softcap", 1, [&](Builder& out) {
    const int scaled = out.mul(out.input(0), out.constant(1 / cap));
    return out.mul(out.operation(ScalarOp::kTanh, scaled), out.constant(cap));
  });
}

ScalarProgram scalar_relu() {
  return make("relu", 1, [](Builder& out) {
    return out.operation(ScalarOp::kMax, out.input(0), out.constant(0));
  });
}

ScalarProgram scalar_relu2() {
  return make("relu2", 1, [](Builder& out) {
    const int positive = out.operation(ScalarOp::kMax, out.input(0), out.constant(0));
    return out.mul(positive, positive);
  });
}

ScalarProgram scalar_silu() {
  return make("silu", 1, [](Builder& out) {
    return out.mul(out.input(0), out.operation(ScalarOp::kSigmoid, out.input(0)));
  });
}

ScalarProgram scalar_gelu() {
  return make("gelu", 1, [](Builder& out) {
    const int x = out.input(0);
    const int scaled = out.mul(x, out.constant(1 / std::numbers::sqrt2));
    const int phi = out.add(out.constant(1), out.operation(ScalarOp::kErf, scaled));
    return out.mul(out.mul(x, phi), out.constant(0.5));
  });
}

ScalarProgram scalar_gelu_tanh() {
  return make("gelu_tanh", 1, [](Builder& out) {
    const int x = out.input(0);
    const int cube = out.mul(out.mul(x, x), x);
    const int inner = out.add(x, out.mul(cube, out.constant(0.044715)));
    const double factor = std::sqrt(2.0) * std::numbers::inv_sqrtpi;  // sqrt(2/pi)
    const int bend = out.operation(ScalarOp::kTanh, out.mul(inner, out.constant(factor)));
    return out.mul(out.mul(x, out.add(out.constant(1), bend)), out.constant(0.5));
  });
}

ScalarProgram scalar_quick_gelu() {
  return make("quick_gelu", 1, [](Builder& out) {
    const int scaled = out.mul(out.input(0), out.constant(1.702));
    return out.mul(out.input(0), out.operation(ScalarOp::kSigmoid, scaled));
  });
}

ScalarProgram scalar_tanh() {
  return make("tanh", 1, [](Builder& out) { return out.operation(ScalarOp::kTanh, out.input(0)); });
}

ScalarProgram scalar_sigmoid() {
  return make("sigmoid", 1,
              [](Builder& out) { return out.operation(ScalarOp::kSigmoid, out.input(0)); });
}

ScalarProgram scalar_softplus() {
  return make("softplus", 1, [](Builder& out) {
    const int power = out.operation(ScalarOp::kExp, out.input(0));
    return out.operation(ScalarOp::kLog, out.add(out.constant(1), power));
  });
}

ScalarProgram scalar_minus_exp() {
  return make("minus_exp", 1, [](Builder& out) {
    return out.mul(out.operation(ScalarOp::kExp, out.input(0)), out.constant(-1));
  });
}

ScalarProgram scalar_exp_mul() {
  return make("exp_mul", 2, [](Builder& out) {
    return out.operation(ScalarOp::kExp, out.mul(out.input(0), out.input(1)));
  });
}

ScalarProgram scalar_sub() {
  return make("sub", 2, [](Builder& out) {
    return out.operation(ScalarOp::kSub, out.input(0), out.input(1));
  });
}

ScalarProgram scalar_one_minus() {
  return make("one_minus", 1, [](Builder& out) {
    return out.operation(ScalarOp::kSub, out.constant(1), out.input(0));
  });
}

ScalarProgram scalar_sub_mul() {
  return make("sub_mul", 3, [](Builder& out) {
    const int difference = out.operation(ScalarOp::kSub, out.input(0), out.input(1));
    return out.mul(difference, out.input(2));
  });
}

ScalarProgram scalar_mul_add() {
  return make("mul_add", 3, [](Builder& out) {
    return out.add(out.mul(out.input(0), out.input(1)), out.input(2));
  });
}

ScalarProgram scalar_square() {
  return make("square", 1, [](Builder& out) { return out.mul(out.input(0), out.input(0)); });
}

ScalarProgram scalar_rsqrt(double epsilon) {
  return make("rsqrt", 1, [&](Builder& out) {
    return out.operation(ScalarOp::kRsqrt, out.add(out.input(0), out.constant(epsilon)));
  });
}

}  // namespace flopwise
