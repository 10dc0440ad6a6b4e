// Parameters and FLOPs that papers print, each by its own convention (cost/conventions): GPT-3,
// Megatron-LM, Chinchilla, PaLM.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "flopwise/model/description.h"
#include "flopwise/report/mfu.h"
#include "tests/papers/count_of.h"
#include "tests/testing.h"

namespace flopwise {
namespace {

double total_of(const std::string& model) {
  return count_of({.model = model, .mode = "forward", .seq = 1}).cost.params.total.to_double();
}

MfuResult run(const char* counts, const char* tokens) {
  MfuRequest request;
  request.counts = read_bare_counts(counts);
  request.tokens = parse_quantity(tokens, "--tokens");
  return answer_mfu(request);
}

// ---- Brown et al. 2020, "Language Models are Few-Shot Learners" --------------------------------

// Table 2.1: shapes, and the parameters that table D.1 prints in full. 13B is printed with D =
// 5140, which its 40 heads of 128 do not make; XL with 24 heads of 128, where D is 2048: its
// printed parameters are those of 16.
TEST(Gpt3, Table21Parameters) {
  struct Row {
    const char* name;
    const char* letters;
    double params;
  };
  // clang-format off
  constexpr Row kRows[] = {
    {"Small", "D=768,F=3072,L=12,V=50257,N=12,H=64,gated=0,tied=1,bias=1,norm=layer,positions=2048", 125e6},
    {"Medium", "D=1024,F=4096,L=24,V=50257,N=16,H=64,gated=0,tied=1,bias=1,norm=layer,positions=2048", 356e6},
    {"Large", "D=1536,F=6144,L=24,V=50257,N=16,H=96,gated=0,tied=1,bias=1,norm=layer,positions=2048", 760e6},
    {"XL", "D=2048,F=8192,L=24,V=50257,N=16,H=128,gated=0,tied=1,bias=1,norm=layer,positions=2048", 1320e6},
    {"2.7B", "D=2560,F=10240,L=32,V=50257,N=32,H=80,gated=0,tied=1,bias=1,norm=layer,positions=2048", 2650e6},
    {"6.7B", "D=4096,F=16384,L=32,V=50257,N=32,H=128,gated=0,tied=1,bias=1,norm=layer,positions=2048", 6660e6},
    {"13B", "D=5140,F=20560,L=40,V=50257,N=40,H=128,gated=0,tied=1,bias=1,norm=layer,positions=2048", 12850e6},
    {"175B", "D=12288,F=49152,L=96,V=50257,N=96,H=128,gated=0,tied=1,bias=1,norm=layer,positions=2048", 174600e6},
  };
  // clang-format on
  for (const Row& row : kRows) {
    EXPECT_NEAR(total_of(row.letters), row.params, 0.02 * row.params) << row.name;
  }
}

// Table D.1: 6 FLOPs a parameter and token; in T5 a token runs through about half of them. Days of
// a PFLOP/s. All by `6nd`.
TEST(Gpt3, TableD1Compute) {
  struct Row {
    const char* name;
    const char* counts;
    const char* tokens;
    double flops;
    double petaflops_days;
  };
  // clang-format off
  constexpr Row kRows[] = {
    {"T5-Small", "params=60M,active=30M", "1000G", 1.8e+20, 2.08},
    {"T5-Base", "params=220M,active=110M", "1000G", 6.6e+20, 7.64},
    {"T5-Large", "params=770M,active=385M", "1000G", 2.31e+21, 26.7},
    {"T5-3B", "params=3000M,active=1500M", "1000G", 9e+21, 104},
    {"T5-11B", "params=11000M,active=5500M", "1000G", 3.3e+22, 382},
    {"BERT-Base", "params=109M", "250G", 1.64e+20, 1.89},
    {"BERT-Large", "params=355M", "250G", 5.33e+20, 6.16},
    {"RoBERTa-Base", "params=125M", "2000G", 1.5e+21, 17.4},
    {"RoBERTa-Large", "params=355M", "2000G", 4.26e+21, 49.3},
    {"GPT-3-Small", "params=125M", "300G", 2.25e+20, 2.6},
    {"GPT-3-Medium", "params=356M", "300G", 6.41e+20, 7.42},
    {"GPT-3-Large", "params=760M", "300G", 1.37e+21, 15.8},
    {"GPT-3-XL", "params=1320M", "300G", 2.38e+21, 27.5},
    {"GPT-3-2.7B", "params=2650M", "300G", 4.77e+21, 55.2},
    {"GPT-3-6.7B", "params=6660M", "300G", 1.2e+22, 139},
    {"GPT-3-13B", "params=12850M", "300G", 2.31e+22, 268},
    {"GPT-3-175B", "params=174600M", "300G", 3.14e+23, 3640},
  };
  // clang-format on
  for (const Row& row : kRows) {
    const MfuResult result = run(row.counts, row.tokens);
    EXPECT_EQ(result.convention, "6nd");
    EXPECT_NEAR(result.model_flops.to_double(), row.flops, 0.006 * row.flops) << row.name;
    const auto json = nlohmann::json::parse(mfu_json(result).str());
    EXPECT_NEAR(json.at("petaflops_days").get<double>(), row.petaflops_days,
                0.006 * row.petaflops_days)
        << row.name;
  }
}

// ---- Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters" ----

// Equation 2, 12*l*h^2*(1 + 13/(12h) + (V + s)/(12*l*h)), for l=96, h=12288, V=51200, s=2048; it
// leaves out the final norm, 2h. Equation 3 of that model at B = 1536: count_test.cc.
TEST(Megatron, ParameterFormula) {
  const std::string model =
      "D=12288,F=49152,L=96,V=51200,N=96,gated=0,tied=1,bias=1,norm=layer,positions=2048";
  EXPECT_EQ(total_of(model), 174615822336 + 2 * 12288);
}

// Equation 4: with its full recomputation 8 FLOPs a parameter and token, against 6 of `6nd`.
TEST(Megatron, TrainingTimes) {
  struct Row {
    const char* counts;
    const char* tokens;
    const char* hardware;
    double days;
  };
  constexpr Row kRows[] = {
      {"params=175e9", "300G", "flops=140e12", 34 * 1024},
      {"params=1e12",  "450G", "flops=163e12", 84 * 3072},
  };
  const Rational again =
      find_convention("megatron21").layer_passes / find_convention("6nd").layer_passes;
  for (const Row& row : kRows) {
    MfuRequest request;
    request.counts = read_bare_counts(row.counts);
    request.tokens = parse_quantity(row.tokens, "--tokens");
    request.hardware = read_hardware(row.hardware);
    request.target_mfu = Rational(1);
    const double days = (*answer_mfu(request).hours * again).to_double() / 24;
    EXPECT_NEAR(days, row.days, 0.01 * row.days) << row.counts;
  }
}

// ---- Hoffmann et al. 2022, "Training Compute-Optimal Large Language Models" --------------------

// Its models have one more matrix a layer than letters describe: the projection of relative
// positions, as large as that of the queries.
double with_positions(const CountResult& count) {
  double projection = 0;
  for (const BlockCost& block : count.cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.name == "attention.q") projection += (op.params.value * block.layers).to_double();
    }
  }
  return (count.cost.params.total - count.cost.params.of(Component::kNorm)).to_double() +
         projection;
}

// Table A9: 50 models, parameters in millions; layers, d_model, ffw_size, n_heads, kv_size.
TEST(Chinchilla, TableA9Parameters) {
  struct Row {
    double millions;
    int layers, d_model, d_ff, heads, head_dim;
  };
  // clang-format off
  constexpr Row kRows[] = {
    {44, 8, 512, 2048, 8, 64},
    {57, 9, 576, 2304, 9, 64},
    {74, 10, 640, 2560, 10, 64},
    {90, 13, 640, 2560, 10, 64},
    {106, 16, 640, 2560, 10, 64},
    {117, 12, 768, 3072, 12, 64},
    {140, 15, 768, 3072, 12, 64},
    {163, 18, 768, 3072, 12, 64},
    {175, 14, 896, 3584, 14, 64},
    {196, 16, 896, 3584, 14, 64},
    {217, 18, 896, 3584, 14, 64},
    {251, 16, 1024, 4096, 16, 64},
    {278, 18, 1024, 4096, 16, 64},
    {306, 20, 1024, 4096, 16, 64},
    {425, 18, 1280, 5120, 10, 128},
    {489, 21, 1280, 5120, 10, 128},
    {509, 18, 1408, 5632, 11, 128},
    {552, 24, 1280, 5120, 10, 128},
    {587, 21, 1408, 5632, 11, 128},
    {632, 19, 1536, 6144, 12, 128},
    {664, 24, 1408, 5632, 11, 128},
    {724, 22, 1536, 6144, 12, 128},
    {816, 25, 1536, 6144, 12, 128},
    {893, 20, 1792, 7168, 14, 128},
    {1018, 23, 1792, 7168, 14, 128},
    {1143, 26, 1792, 7168, 14, 128},
    {1266, 22, 2048, 8192, 16, 128},
    {1424, 22, 2176, 8704, 17, 128},
    {1429, 25, 2048, 8192, 16, 128},
    {1593, 28, 2048, 8192, 16, 128},
    {1609, 25, 2176, 8704, 17, 128},
    {1731, 24, 2304, 9216, 18, 128},
    {1794, 28, 2176, 8704, 17, 128},
    {2007, 28, 2304, 9216, 18, 128},
    {2283, 32, 2304, 9216, 18, 128},
    {2298, 26, 2560, 10240, 20, 128},
    {2639, 30, 2560, 10240, 20, 128},
    {2980, 34, 2560, 10240, 20, 128},
    {3530, 36, 2688, 10752, 22, 128},
    {3802, 36, 2816, 11264, 22, 128},
    {4084, 36, 2944, 11776, 22, 128},
    {4516, 36, 3072, 12288, 24, 128},
    {6796, 40, 3584, 14336, 28, 128},
    {9293, 42, 4096, 16384, 32, 128},
    {11452, 47, 4352, 17408, 32, 128},
    {12295, 44, 4608, 18432, 36, 128},
    {12569, 47, 4608, 18432, 32, 128},
    {13735, 47, 4864, 19456, 32, 128},
    {14940, 49, 4992, 19968, 32, 128},
    {16183, 47, 5120, 20480, 40, 128},
  };
  // clang-format on
  EXPECT_EQ(std::size(kRows), 50);
  for (const Row& row : kRows) {
    const std::string letters =
        fmt::format("D={},F={},L={},V=32000,N={},H={},gated=0,tied=1", row.d_model, row.d_ff,
                    row.layers, row.heads, row.head_dim);
    EXPECT_NEAR(with_positions(count_of({.model = letters, .mode = "forward", .seq = 1})) / 1e6,
                row.millions, 0.02 * row.millions)
        << letters;
  }
}

// Table A4: FLOPs over 6ND, by `chinchilla`.
TEST(Chinchilla, TableA4Ratios) {
  struct Row {
    const char* letters;
    double ratio;
  };
  // clang-format off
  constexpr Row kRows[] = {
    {"D=640,F=2560,L=10,V=32000,N=10,H=64,gated=0,tied=1,final_norm=0", 1.03},
    {"D=1024,F=4096,L=20,V=32000,N=16,H=64,gated=0,tied=1,final_norm=0", 1.1},
    {"D=1280,F=5120,L=24,V=32000,N=10,H=128,gated=0,tied=1,final_norm=0", 1.08},
    {"D=1792,F=7168,L=26,V=32000,N=14,H=128,gated=0,tied=1,final_norm=0", 1.04},
    {"D=2048,F=8192,L=28,V=32000,N=16,H=128,gated=0,tied=1,final_norm=0", 1.03},
    {"D=3584,F=14336,L=40,V=32000,N=28,H=128,gated=0,tied=1,final_norm=0", 0.99},
  };
  // clang-format on
  for (const Row& row : kRows) {
    const CountResult count =
        count_of({.model = row.letters, .seq = 2048, .convention = "chinchilla"});
    const double six_n_d = 6 * with_positions(count) * 2048;
    EXPECT_NEAR(count.by_convention.model.to_double() / six_n_d, row.ratio, 0.006 * row.ratio)
        << row.letters;
  }
}

// Appendix F of the 70B model: the terms of `chinchilla`, and embedding and logits as products of
// both passes.
TEST(Chinchilla, AppendixF) {
  const CountResult count = count_of({.model = "D=8192,F=32768,L=80,V=32000,N=64,H=128,gated=0",
                                      .seq = 2048,
                                      .convention = "chinchilla"});
  const Rational vocabulary = Rational(count.six_n_d) * Rational(count.cost.params.embedding()) /
                              Rational(count.cost.params.total);
  EXPECT_EQ(count.by_convention.model + vocabulary, Rational(831269445304320));
  EXPECT_NEAR(run("params=70e9", "1.4T").model_flops.to_double(), 5.88e23, 0.001 * 5.88e23);
}

// ---- Chowdhery et al. 2022, "PaLM", table 1 ----------------------------------------------------

TEST(Palm, Parameters) {
  struct Row {
    int layers, d_model, heads, d_ff;
    double billions, tolerance;
  };
  constexpr Row kRows[] = {
      {118, 18432, 48, 73728, 540.35, 0.001},
      {64,  8192,  32, 32768, 62.5,   0.01 },
      {32,  4096,  16, 16384, 8.63,   0.01 },
  };
  for (const Row& row : kRows) {
    const std::string text = fmt::format(
        R"({{"flopwise": 1, "d_model": {}, "vocab": 256000, "tied": true, "layers": [{{
            "name": "layer", "repeat": {}, "norm": "layer_no_bias", "parallel": true,
            "shared_norm": true, "attention": {{"heads": {}, "kv_heads": 1, "head_dim": 256}},
            "mlp": {{"d_ff": {}}}}}]}})",
        row.d_model, row.layers, row.heads, row.d_ff);
    CountRequest request;
    const Model model = model_from_description(nlohmann::json::parse(text), "palm");
    const double total = count_model(model, request).cost.params.total.to_double();
    EXPECT_NEAR(total / 1e9, row.billions, row.tolerance * row.billions);
  }
}

}  // namespace
}  // namespace flopwise
