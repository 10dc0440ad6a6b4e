// "How to Scale Your Model", chapters 9 and 12: what profiles predict, and GPUs.
#include <cmath>

#include "flopwise/plan/recipe.h"
#include "flopwise/report/mfu.h"
#include "tests/papers/book_rows.h"

namespace flopwise {
namespace {

constexpr double kPeak = 990e12;
constexpr double kNvlink = 450e9;
constexpr double kNode = 400e9;  // out of a node of 8

double gather_us(double bytes) {
  const Hardware& h100 = find_hardware("h100");
  const SentBytes sent = sent_bytes(CollectiveKind::kAllGather, bytes, {8, 1}, false);
  return 1e6 * collective_time_s(CollectiveKind::kAllGather, sent, {8, 1}, network_of(h100), h100);
}
double gather_limit_us(const char* sizes) {
  return 1e6 * limit_s(einsum("A[B_X,D] -> A[B,D]", sizes, "bf16", "X=8", "h100"));
}

// Tokens per GPU from which all weights are gathered in time, over nodes or inside of one.
double data_parallel_tokens(const DeviceRates& rates, double gpus, const std::string& experts = "",
                            int f = 32768) {
  const LayerOnMesh layer = on_mesh(book_layer(8192, f, Mode::kTrain, experts));
  return *critical_tokens(layer, mesh_of(1, gpus, 1), rates, GroupSize::kLimit);
}
double tensor_degree(int f, const DeviceRates& rates, GroupSize size) {
  return *critical_degree(feed_forward(8192, f), ParallelAxis::kTp, 1e6, mesh_of(1, 1, 1), rates,
                          size);
}

// Llama 3 70B by its rounded counts.
constexpr double kLlama = 70e9;
double state_gb() {
  return parse_recipe("book").total().to_double() * kLlama / 1e9;
}
double run_s() {
  MfuRequest request;
  request.counts = read_bare_counts("params=70e9");
  request.tokens = parse_quantity("15T", "--tokens");
  request.hardware = read_hardware("h100,flops=990e12");
  request.target_mfu = Rational::of(45, 100);
  return answer_mfu(request).hours->to_double() * 3600 / 4096;
}
// Replicas of 8 (tp) x 8 (pp) GPUs: each sends a 64th of the gradients over its own link.
double replicas_of_64() {
  return *critical_tokens(feed_forward(8192, 28672, Mode::kTrain), mesh_of(2, 1, 64),
                          nodes(kPeak, kUnbounded, kNode / 8, 64), GroupSize::kLimit);
}

EinsumAnswer b200_product(const char* sizes) {
  return einsum("x[B,D] *_D W[D,F]", sizes, "fp16", std::nullopt,
                "flops=2.25e15,memory_bandwidth=8e12");
}
double b200_us(const char* sizes) {
  const EinsumAnswer answer = b200_product(sizes);
  return 1e6 * std::max(*answer.roofline->matrix_time_s, *answer.roofline->memory_time_s);
}

double vector_add_s(const char* sizes) {
  return *einsum("x[N] * y[N] -> z[N]", sizes, "fp32", std::nullopt,
                 "h100,memory_bandwidth=3.35e12")
              .roofline->memory_time_s;
}

// All-gather over X of bf16[D_X,F_Y] in 32 nodes of 8, Y inside: seconds on the network.
SentBytes unit_gather(std::int64_t y, std::int64_t x) {
  const EinsumAnswer answer =
      einsum("A[D_X,F_Y] -> A[D,F_Y]", "D=8192,F=32768", "bf16", fmt::format("X={},Y={}", x, y));
  return sent_bytes(CollectiveKind::kAllGather, array_bytes(answer), place_group(y, x, 8), false);
}
double over_network_s(const SentBytes& sent) {
  return sent.across / (kNode / 8);
}

// clang-format off
const BookRow kGpus[] = {
    {"sb9-matmul-8cores", "predicted_ms", 95.6, 0.005,
     [] {
       return 1e3 * *einsum("x[B,D_X] *_D W[D_X,F]", "B=32768,D=8192,F=32768", "bf16", "X=8",
                            "flops=23e12,memory_bandwidth=700e9").roofline->matrix_time_s;
     }},
    {"sb9-rs-134MB", "predicted_ms", 1.1, 0.03,
     [] {
       return 1e3 * limit_s(einsum("A[B,I_X] *_I W[I_X,D] -> C[B_X,D]", "B=8192,D=8192,I=64",
                                   "bf16", "X=4",
                                   "flops=23e12,memory_bandwidth=700e9,link_bandwidth=120e9"));
     }},
    {"sb12-b200-matmul", "bytes", 69e6, 0.01,
     [] {
       const EinsumAnswer answer = b200_product("B=64,D=4096,F=8192");
       return at_sizes(answer.cost.bytes, answer);
     }},
    {"sb12-b200-matmul", "us", 8.6, 0.01, [] { return b200_us("B=64,D=4096,F=8192"); }},
    {"sb12-b200-matmul-512", "us", 15, 0.03, [] { return b200_us("B=512,D=4096,F=8192"); }},
    {"sb12-vector-add", "n65536_us", 0.23, 0.03, [] { return 1e6 * vector_add_s("N=65536"); }},
    {"sb12-vector-add", "n2^30_ms", 3.84, 0.01, [] { return 1e3 * vector_add_s("N=1Gi"); }},
    {"sb12-node-bw", "node_TB_s", 3.6, 0.001,
     [] {
       const Link& link = *find_hardware("h100").link;
       return link.bytes_per_s->to_double() * static_cast<double>(*link.domain_size) / 1e12;
     }},
    {"sb12-ag-node", "us", 1044, 0.01, [] { return gather_us(536870912); }},
    {"sb12-ag-node", "simple_us", 1193, 0.01, [] { return gather_limit_us("B=4096,D=65536"); }},
    {"sb12-superpod", "su_TB_s", 12.8, 0.001,
     [] { return 32 * 8 * find_hardware("h100").network_bytes_per_s->to_double() / 1e12; }},
    {"sb12-superpod", "pod_TB_s", 51.2, 0.001,
     [] { return 128 * 8 * find_hardware("h100").network_bytes_per_s->to_double() / 1e12; }},
    {"sb12-ag-small", "us", 75, 0.02, [] { return gather_limit_us("B=1024,D=16384"); }},
    {"sb12-ag-small", "us_exact", 65, 0.02, [] { return gather_us(33554432); }},
    {"sb12-dsv3", "threshold_tokens_per_gpu", 3300, 0.001,
     [] { return data_parallel_tokens(nodes(kPeak, kNvlink, 300e9 / 8, 8), 2048); }},
    {"sb12-dsv3", "min_tokens", 6.7e6, 0.01,
     [] { return 2048 * data_parallel_tokens(nodes(kPeak, kNvlink, 300e9 / 8, 8), 2048); }},
    {"sb12-moe", "tokens_per_gpu", 79200, 0.001,
     [] {
       return data_parallel_tokens(nodes(kPeak, kNvlink, kNode / 8, 8), 2048,
                                   R"("experts": 128, "active": 4,)", 131072);
     }},
    {"sb12-tp", "Y", 11, 0.06,  // every sum at the rate of a node's way out
     [] { return tensor_degree(28672, nodes(kPeak, kNode, 0, 0), GroupSize::kLimit); }},
    {"sb12-tp16", "Y_max", 19, 0.03,  // links inside the node left out; with them 14.5
     [] { return tensor_degree(28000, nodes(kPeak, kUnbounded, kNode / 8, 8), GroupSize::kExact); }},
    {"sb12-b200-dp", "in_node", 2500, 0.001,
     [] { return data_parallel_tokens(nodes(2.25e15, 900e9, 50e9, 8), 8); }},
    {"sb12-b200-dp", "inter", 5625, 0.001,
     [] { return data_parallel_tokens(nodes(2.25e15, 900e9, 50e9, 8), 512); }},
    {"sb12-q-llama70", "state_GB", 700, 0.001, state_gb},
    {"sb12-q-llama70", "min_gpus", 9, 0,
     [] { return std::ceil(1e9 * state_gb() / chip("h100,memory=80GB").memory_bytes->to_double()); }},
    {"sb12-q-llama70", "seconds", 3.5e6, 0.02, run_s},
    {"sb12-q-llama70", "days", 40, 0.02, [] { return run_s() / 86400; }},
    {"sb12-q-llama70-mem", "GB_per_gpu", 87.5, 0, [] { return state_gb() / 8; }},
    {"sb12-q-llama70-pp", "tokens_per_gpu", 309, 0.01, replicas_of_64},
    {"sb12-popquiz3", "Y_le_8_ms", 1.3, 0.001, [] { return 1e3 * over_network_s(unit_gather(8, 32)); }},
    {"sb12-popquiz3", "Y_le_8_ms", 1.3, 0.001, [] { return 1e3 * over_network_s(unit_gather(2, 128)); }},
    {"sb12-popquiz3", "Y_16_ms", 0.671, 0.001,  // without the 15/16 of 16 nodes
     [] { return 1e3 * over_network_s(unit_gather(16, 16)) * 16 / 15; }},
};
// clang-format on
const bool kGpusListed = [] {
  set_status("sb12-xnode-a2a", BookStatus::kReproduced);
  set_status("sb12-ep-bounds", BookStatus::kReproduced);
  return list_rows(kGpus);
}();

TEST(ScalingBook, Chapter12Gpus) {
  expect_rows(kGpus);
}

// The links inside a node, which the book leaves out of its two-node bound, bind first.
TEST(ScalingBook, Chapter12TensorParallelismOverTwoNodes) {
  EXPECT_NEAR(tensor_degree(28000, nodes(kPeak, kNvlink, kNode / 8, 8), GroupSize::kExact), 14.5,
              0.1);
}

// An all-to-all of V bytes over M nodes takes V(M-1)/(M^2 W), W out of a node.
TEST(ScalingBook, Chapter12AllToAllAcrossNodes) {
  for (const double m : {2.0, 4.0, 32.0}) {
    const DeviceGroup group{8, static_cast<std::int64_t>(m)};
    const SentBytes sent = sent_bytes(CollectiveKind::kAllToAll, 1e9, group, false);
    EXPECT_NEAR(over_network_s(sent), 1e9 * (m - 1) / (m * m * kNode), 1e-12);
  }
}

// Experts over Z GPUs, D and F wide, k of E: 4BkDF/(ZC) of FLOPs, and where every copy of a token
// goes to another node 4BD(Z-8)/(WZ) * 8k/Z of network, so that many devices need F > 8C/W. A token
// that several experts of one node share is sent there once in the book's bound for 8k > Z; here
// each copy is.
TEST(ScalingBook, Chapter12ExpertParallelism) {
  const double d = 4096;
  const double f = 16384;
  const double k = 4;
  const LayerOnMesh layer =
      on_mesh(book_layer(4096, 16384, Mode::kForward, R"("experts": 1024, "active": 4,)"));
  for (const double z : {32.0, 64.0, 1024.0}) {
    const double tokens = 4096 * z;
    const LayerTime time = layer.time(Pass::kForward, tokens, mesh_of(1, 1, 1, z),
                                      nodes(kPeak, kUnbounded, kNode / 8, 8), GroupSize::kExact);
    const double router = 2 * tokens * d * 1024 / z / kPeak;
    EXPECT_NEAR(time.matrix_s - router, 4 * tokens * k * d * f / (z * kPeak), 1e-9);
    EXPECT_NEAR(time.network_s, 4 * tokens * d * (z - 8) / (kNode * z) * 8 * k / z,
                1e-9 * time.network_s);
    if (z < 1024) continue;
    // F at which both would be equal.
    EXPECT_NEAR(f * time.network_s / (time.matrix_s - router), 8 * kPeak / kNode,
                0.01 * 8 * kPeak / kNode);
  }
}

}  // namespace
}  // namespace flopwise
