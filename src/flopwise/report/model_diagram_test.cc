#include "flopwise/report/model_diagram.h"

#include <gmock/gmock.h>

#include <sstream>
#include <string>
#include <vector>

#include "flopwise/cost/params.h"
#include "flopwise/model/build.h"
#include "flopwise/model/read_model.h"

namespace flopwise {
namespace {

const DrawnOp& op_called(const DrawnBlock& block, const std::string& name) {
  for (const DrawnOp& op : block.ops) {
    if (op.name == name) return op;
  }
  throw std::out_of_range(name);
}

const DrawnBlock& block_called(const Diagram& diagram, const std::string& name) {
  for (const DrawnBlock& block : diagram.blocks) {
    if (block.name == name) return block;
  }
  throw std::out_of_range(name);
}

// Nothing is drawn twice or left out: rows add up to the model.
TEST(Diagram, RowsAddUpToTheModel) {
  for (const char* name : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gemma-2-27b", "t5-11b",
                           "bert-base", "gpt2", "gpt-j-6b", "gpt-oss-20b", "opt-350m"}) {
    SCOPED_TRACE(name);
    const Model model = find_model(name);
    const Diagram diagram = diagram_of(model);
    Count params = 0;
    Rational flops;
    for (const DrawnBlock& block : diagram.blocks) {
      params += block.params * block.layers;
      flops = flops + block.matrix_flops * Rational(block.layers);
    }
    EXPECT_EQ(params, params_of(build_one_token(model, Mode::kForward)).total);
    const DType& bf16 = find_dtype("bf16");
    const Cost cost =
        cost_of(build_program(model, diagram.workload), {
                                                            Fusion::kFused, {bf16, bf16, bf16}
    });
    EXPECT_EQ(flops * Rational(diagram.workload.seq_len), Rational(cost.forward.matrix()));
  }
}

// The layer of Llama 3 8B at T = 2048: shapes, weights and costs by hand.
TEST(Diagram, ALayerOfLlama) {
  const DrawnBlock layer = block_called(diagram_of(find_model("llama-3-8b")), "layer");
  EXPECT_EQ(layer.layers, Count(32));
  const DrawnOp& q = op_called(layer, "attention.q");
  EXPECT_EQ(q.computes, "norm *_D W[D,N,H]");
  EXPECT_EQ(q.params.value, Count(4096 * 4096));
  EXPECT_EQ(q.flops.formula.str(), "2*D*N*H");
  EXPECT_EQ(q.flops.value, Rational(2 * 4096 * 4096));
  const DrawnOp& qk = op_called(layer, "attention.qk");
  EXPECT_EQ(qk.computes, "q_rotary *_H k_rotary");
  EXPECT_EQ(qk.flops.value, Rational(2 * 4096) * Rational::of(2049, 2));  // (T + 1)/2 keys a query
  const DrawnOp& down = op_called(layer, "mlp.down");
  EXPECT_EQ(down.output.back().name, "D");
  EXPECT_EQ(down.output.back().size, Count(4096));
}

// Where what is added was led around: before the norm, after it, or around both sublayers at once.
TEST(Diagram, ResidualArms) {
  struct Row {
    const char* model;
    const char* op;
    const char* from;
  };
  const Row rows[] = {
      {"llama-3-8b", "attention.residual", "input"             },
      {"llama-3-8b", "mlp.residual",       "attention.residual"},
      {"bert-base",  "attention.residual", "input"             },
      {"bert-base",  "mlp.residual",       "attention.norm"    },
      {"gpt-j-6b",   "attention.residual", "input"             },
      {"gpt-j-6b",   "mlp.residual",       "attention.residual"},
      {"t5-11b",     "cross.residual",     "attention.residual"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    const DrawnBlock layer = block_called(diagram_of(find_model(row.model)), "layer");
    const int from = op_called(layer, row.op).skips_from;
    ASSERT_GE(from, 0);
    EXPECT_EQ(layer.ops[static_cast<std::size_t>(from)].name, row.from);
  }
}

// The text, of the rows around an addition: the stream runs past what it is led around.
TEST(Diagram, DrawsTheResidualStream) {
  const std::string text = diagram_text(diagram_of(find_model("llama-3-8b")));
  std::vector<std::string> margin;
  std::istringstream lines(text.substr(text.find("layer x 32")));
  for (std::string line; std::getline(lines, line) && line[0] != '-';) {
    margin.push_back(line.substr(0, line.find(' ', 4)));
  }
  EXPECT_THAT(margin, testing::ElementsAre("layer", "    ", "o input", "| attention", "|   norm",
                                           "|   q", "|   q_rotary", "|   k", "|   k_rotary",
                                           "|   v", "|   qk", "|   softmax", "|   av", "|   o",
                                           "+   residual", "| mlp", "|   norm", "|   gate",
                                           "|   up", "|   act", "|   down", "+   residual"));
}

TEST(Diagram, ATiedHeadCountsAbove) {
  const DrawnBlock head = block_called(diagram_of(find_model("gpt2")), "head");
  EXPECT_TRUE(op_called(head, "unembed").reads_shared);
  EXPECT_EQ(op_called(head, "unembed").params.value, Count(0));
}

}  // namespace
}  // namespace flopwise
