// What training keeps: saved activations by policy, against published formulas and by hand.
#include "flopwise/mesh/shard_graph.h"
#include "flopwise/model/build.h"
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

// Saved bytes of one layer, of the tensors whose name starts with `prefix`.
Expr saved_of_layer(const CountResult& r, std::string_view prefix) {
  Expr sum = 0;
  for (const SavedTensor& saved : r.cost.activations.saved) {
    if (saved.block == "layer" && saved.name.starts_with(prefix)) sum += saved.bytes;
  }
  return sum;
}

const Substitution kHeadsMakeD = {
    {"K", Expr::symbol("N")                    },
    {"H", Expr::symbol("D") / Expr::symbol("N")}
};

// flash-attention issue 899: an attention block keeps 12*s*b*h + 4*s*b*a bytes (input, norm, Q, K,
// V, output; row statistics), not the 11*s*b*h + 5*a*s^2*b that holds for plain attention.
TEST(ActivationMemory, FlashAttentionBlock) {
  const CountResult r = count_of({.model = "D=8192,F=32768,L=1,V=100,N=64,gated=0", .seq = 4096});
  const Expr attention = saved_of_layer(r, "input") + saved_of_layer(r, "attention.") -
                         saved_of_layer(r, "attention.residual");
  EXPECT_EQ(attention.substitute(kHeadsMakeD).str(), "12*B*T*D + 4*B*T*N");
}

// Plain attention keeps its weights, T*S for each head, in place of output statistics.
TEST(ActivationMemory, PlainAttentionKeepsItsWeights) {
  const CountResult r =
      count_of({.model = "D=8192,F=32768,L=1,V=100,N=64,gated=0", .seq = 4096, .kernel = "plain"});
  EXPECT_EQ(saved_of_layer(r, "attention.softmax").str(), "2*B*T*S*N");
  EXPECT_EQ(saved_of_layer(r, "attention.lse").str(), "0");
}

// Korthikanti et al. 2022, section 4.1: a GPT layer in 16 bits with dropout keeps s*b*h*(34 +
// 5*a*s/h) bytes. Dropout masks are a byte an element; biases and residual additions keep nothing.
TEST(ActivationMemory, KorthikantiLayer) {
  Model model =
      model_from_letters("D=64,F=256,L=2,V=100,N=4,gated=0,tied=1,bias=1,norm=layer,positions=32");
  Layer& layer = model.decoder->groups[0].layer;
  layer.dropout = 0.1;
  layer.attention->dropout = 0.1;
  CountRequest request;
  request.workload.seq_len = 32;
  request.workload.kernel = AttentionKernel::kPlain;
  const Expr saved = saved_of_layer(count_model(model, request), "");
  const Expr t = Expr::symbol("T");
  EXPECT_EQ(saved
                .substitute({
                    {"K", Expr::symbol("N")                    },
                    {"H", Expr::symbol("D") / Expr::symbol("N")},
                    {"F", 4 * Expr::symbol("D")                },
                    {"S", t                                    }
  })
                .str(),
            parse_expr("34*B*T*D + 5*B*N*T^2").str());
}

// Korthikanti et al. 2022, equations 2 and 4 and table 2: over t devices of tensor parallelism a
// layer keeps s*b*h*(10 + 24/t + 5*a*s/(h*t)) bytes on each, with sequence parallelism s*b*h*(34 +
// 5*a*s/h)/t, and without the inside of attention s*b*h*34/t: 2 of these are the core's output,
// which the policy `attention` computes again too.
TEST(ActivationMemory, KorthikantiLayerOverTensorParallelDevices) {
  Model model =
      model_from_letters("D=64,F=256,L=2,V=100,N=4,gated=0,tied=1,bias=1,norm=layer,positions=32");
  Layer& layer = model.decoder->groups[0].layer;
  layer.dropout = 0.1;
  layer.attention->dropout = 0.1;
  WorkloadRequest request;
  request.seq_len = 32;
  request.kernel = AttentionKernel::kPlain;
  const auto saved = [&](bool sequence_parallel, const char* remat) {
    const Program program =
        build_training_program(model, resolve(request, model), parse_remat(remat));
    Assignment assignment;
    assignment.axes = ParallelAxis::kTp;
    assignment.sequence_parallel = sequence_parallel;
    const Graph graph = shard(program.blocks.at(1), assignment).local.graph;
    const DType& half = find_dtype("fp16");
    Expr sum = 0;
    for (const TensorId id : graph.saved) {
      const Tensor& tensor = graph.tensor(id);
      sum += elements(tensor) * bytes_per_element(tensor.element, {half, half, half});
    }
    return sum
        .substitute({
            {"K", Expr::symbol("N")                    },
            {"H", Expr::symbol("D") / Expr::symbol("N")},
            {"F", 4 * Expr::symbol("D")                },
            {"S", Expr::symbol("T")                    }
    })
        .str();
  };
  EXPECT_EQ(saved(false, "none"), parse_expr("10*B*T*D + 24*B*T*D/tp + 5*B*N*T^2/tp").str());
  EXPECT_EQ(saved(true, "none"), parse_expr("34*B*T*D/tp + 5*B*N*T^2/tp").str());
  EXPECT_EQ(saved(true, "attention"), parse_expr("32*B*T*D/tp").str());
  EXPECT_EQ(saved(true, "full"), parse_expr("2*B*T*D/tp").str());
}

// A gated feed-forward keeps its norm, gate, up and their product.
TEST(ActivationMemory, GatedFeedForward) {
  const CountResult r = count_of({.model = "D=64,F=256,L=1,V=100,N=4"});
  EXPECT_EQ(saved_of_layer(r, "mlp.").str(), "2*B*T*D + 6*B*T*F");
}

// Each policy keeps less than the one before; block and full keep the input alone.
TEST(ActivationMemory, PoliciesInOrder) {
  Count before = Count::of(kInt128Max);
  for (const char* policy : {"none", "attention", "matmuls", "block"}) {
    SCOPED_TRACE(policy);
    const CountResult r = count_of({.model = "llama-3-8b", .remat = policy});
    EXPECT_LT(r.cost.activations.saved_bytes, before);
    EXPECT_GE(r.cost.activations.peak_bytes, r.cost.activations.saved_bytes);
    before = r.cost.activations.saved_bytes;
  }
  EXPECT_EQ(count_of({.model = "llama-3-8b", .remat = "full"}).cost.activations.saved_bytes,
            before);
  const CountResult block = count_of({.model = "llama-3-8b", .remat = "block"});
  EXPECT_EQ((saved_of_layer(block, "")).str(), "2*B*T*D");
}

// A fused core that runs again reads Q, K, V and writes output and statistics: no kernel ever moves
// T*S elements, and none live.
TEST(ActivationMemory, FusedCoreNeverStoresScores) {
  for (const char* policy : {"none", "attention", "matmuls", "block", "full"}) {
    SCOPED_TRACE(policy);
    const CountResult r = count_of({.model = "llama-3-8b", .seq = 4096, .remat = policy});
    for (const BlockCost& block : r.cost.blocks) {
      for (const OpCost& op : block.ops) {
        EXPECT_EQ(op.bytes.formula.str().find("T*S"), std::string::npos)
            << op.name << " " << op.bytes.formula.str();
      }
    }
    if (std::string(policy) == "full") {
      // At the head: what the layers saved, and beside the saved logits their gradient.
      const Count logits_gradient = Count(2) * Count(4096) * Count(128256);
      EXPECT_EQ(r.cost.activations.peak_bytes, r.cost.activations.saved_bytes + logits_gradient);
    }
  }
}

// By hand, two layers without norms' outputs shared: the recomputed core of one layer.
TEST(ActivationMemory, RecomputedCoreMovesWhatFlashMoves) {
  const CountResult r = count_of({.model = "llama-3-8b", .seq = 2048, .remat = "full"});
  int found = 0;
  for (const OpCost& op : r.cost.blocks[1].ops) {
    if (op.name != "attention.qk" || op.pass != Pass::kRecompute || op.bytes.value == Count(0))
      continue;
    ++found;
    EXPECT_EQ(op.bytes.formula.str(), "4*B*T*N*H + 4*B*S*K*H + 4*B*T*N");
    EXPECT_EQ(op.bytes.value, Count(42205184));
  }
  EXPECT_EQ(found, 1);
}

// A list saves the input and what it names; naming everything that backward reads recomputes
// nothing.
TEST(ActivationMemory, SaveLists) {
  const CountResult list =
      count_of({.model = "D=64,F=256,L=1,V=100,N=4", .remat = "save:attention.q,mlp.up"});
  EXPECT_EQ(saved_of_layer(list, "attention.").str(), "2*B*T*N*H");
  EXPECT_EQ(saved_of_layer(list, "mlp.").str(), "2*B*T*F");
  const CountResult all = count_of(
      {.model = "D=64,F=256,L=1,V=100,N=4",
       .remat =
           "save:attention.norm,attention.q_rotary,attention.k_rotary,attention.v,attention.av,"
           "attention.lse,attention.residual,mlp.norm,mlp.gate,mlp.up,mlp.act"});
  const CountResult none = count_of({.model = "D=64,F=256,L=1,V=100,N=4"});
  EXPECT_EQ(all.cost.activations.saved_bytes, none.cost.activations.saved_bytes);
  EXPECT_EQ(all.cost.recompute.total(), none.cost.recompute.total());
}

// Memory grows with layers, and what all layers share is kept once.
TEST(ActivationMemory, SharedTensorsOnce) {
  const CountResult r = count_of({.model = "t5-11b", .seq = 64, .source = 128});
  int memories = 0;
  for (const SavedTensor& saved : r.cost.activations.saved) {
    if (saved.name == "memory") {
      ++memories;
      EXPECT_EQ(saved.repeat.str(), "1");
    }
  }
  EXPECT_EQ(memories, 1);
}

}  // namespace
}  // namespace flopwise
