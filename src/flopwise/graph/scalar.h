// Elementwise functions as little programs of counted scalar operations.
//
// The cost of a map is the number of operations of its program; its gradient is the program that
// reverse-mode differentiation derives, so neither is typed in. The reference executor runs the
// very same program. Every operation counts 1 (docs/conventions.md, "Vector work"); inputs and
// constants are free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flopwise {

enum class ScalarOp {
  kInput,     // the value-th operand of the map
  kConstant,  // value
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kGreater,  // 1 where a > b, else 0 (one compare)
  kExp,
  kLog,
  kTanh,
  kErf,
  kRsqrt,
  kSigmoid,
};

struct ScalarInstruction {
  ScalarOp op = ScalarOp::kConstant;
  int a = -1;        // index of an earlier instruction; of the operand for kInput
  int b = -1;        // second operand of the binary operations
  double value = 0;  // of kConstant
};

// The result is the last instruction. Constants are folded and equal instructions shared while a
// program is made.
struct ScalarProgram {
  std::string name;
  int inputs = 0;
  std::vector<ScalarInstruction> code;
};

// Counted operations of one evaluation.
std::int64_t operations(const ScalarProgram& program);
// Which operands the program reads, in order.
std::vector<int> operands_read(const ScalarProgram& program);
// Whether the program is its input `operand` itself.
bool is_identity(const ScalarProgram& program, int operand);

// d loss / d operand `operand`, as a program of the same operands and, as the last one, d loss / d
// result.
ScalarProgram derivative(const ScalarProgram& program, int operand);

// The same program without the operands it does not read: operand i of the result was `kept[i]`.
struct CompactProgram {
  ScalarProgram program;
  std::vector<int> kept;
};
CompactProgram compact(const ScalarProgram& program);

// The value for these operands; the definition of every operation.
double evaluate(const ScalarProgram& program, const std::vector<double>& operands);

// ---- the functions a transformer uses --------------------------------------------------------
ScalarProgram scalar_add();                 // a + b
ScalarProgram scalar_mul();                 // a * b
ScalarProgram scalar_div();                 // a / b
ScalarProgram scalar_scale(double factor);  // factor * a
ScalarProgram scalar_softcap(double cap);   // cap * tanh(a / cap)
ScalarProgram scalar_relu();                // max(a, 0)
ScalarProgram scalar_relu2();               // max(a, 0)^2
ScalarProgram scalar_silu();                // a * sigmoid(a)
ScalarProgram scalar_gelu();                // a * (1 + erf(a / sqrt 2)) / 2
ScalarProgram scalar_gelu_tanh();           // a * (1 + tanh(sqrt(2/pi) * (a + 0.044715 a^3))) / 2
ScalarProgram scalar_quick_gelu();          // a * sigmoid(1.702 a) (CLIP)
ScalarProgram scalar_tanh();
ScalarProgram scalar_sigmoid();
ScalarProgram scalar_softplus();             // log(1 + exp(a))
ScalarProgram scalar_minus_exp();            // -1 * exp(a)
ScalarProgram scalar_exp_mul();              // exp(a * b)
ScalarProgram scalar_one_minus();            // 1 - a
ScalarProgram scalar_sub();                  // a - b
ScalarProgram scalar_sub_mul();              // (a - b) * c
ScalarProgram scalar_mul_add();              // a * b + c
ScalarProgram scalar_square();               // a * a
ScalarProgram scalar_rsqrt(double epsilon);  // 1 / sqrt(a + epsilon)
// activation(a) * b: the gate of a feed-forward as one function, so that backward reads a and b and
// nothing between.
ScalarProgram scalar_gated(const ScalarProgram& activation);

}  // namespace flopwise
