// "How to Scale Your Model", chapters 4 to 6: the mathematics of transformers, and training them.
// What chapter 4 derives as formulas is in transformer_math_test.cc.
#include "flopwise/plan/train.h"
#include "flopwise/report/mfu.h"
#include "tests/papers/book_rows.h"

namespace flopwise {
namespace {

// ---- chapter 4 ---------------------------------------------------------------------------------

constexpr const char* kLayer = "D=4096,F=16384,N=32,K=8,H=128,L=1,V=32000";
constexpr const char* kQuestion1 = "D=4096,F=16384,L=64,V=32000,N=32,final_norm=0";

CountResult layer() {
  return count_of({.model = kLayer, .seq = 8192});
}

template <typename Pick>
double flops(const CountResult& count, Pick pick) {
  double sum = 0;
  for (const BlockCost& block : count.cost.blocks) {
    for (const OpCost& op : block.ops) {
      if (op.pass != Pass::kRecompute && pick(op)) {
        sum += op.flops_dense.value.to_double() * block.layers.to_double();
      }
    }
  }
  return sum;
}
double matmuls(const CountResult& count, Component component) {
  return flops(count, [&](const OpCost& op) {
    return op.component == component && op.op_class == OpClass::kMatmul;
  });
}
double params(const std::string& model, Component component) {
  return count_of({.model = model}).cost.params.of(component).to_double();
}
// Of the matrices alone: the book leaves norms out.
double matrices(const std::string& model) {
  const Params counted = count_of({.model = model}).cost.params;
  return (counted.total - counted.of(Component::kNorm)).to_double();
}

// T = S at which attention costs as much as the layers' matmuls, F = 4D.
double equal_context(const char* model) {
  return count_of({.model = model}).analysis.context_equals_matmul.dense->to_double();
}

// Bytes that all layers keep, of 4e6 tokens. Row statistics of attention, 4 bytes a head, are left
// out: the book counts tensors.
double saved_tb(const std::string& model, const char* remat, double tokens = 4e6) {
  const CountResult count = count_of({.model = model, .seq = 1000, .remat = remat});
  double bytes = 0;
  for (const SavedTensor& saved : count.cost.activations.saved) {
    if (saved.block == "layer" && saved.name != "attention.lse") bytes += saved.value.to_double();
  }
  return bytes / 1000 * tokens / 1e12;
}
constexpr const char* kCheckpointed = "D=8192,F=32768,L=64,V=32000,N=64";

MfuResult run(const char* counts, const char* tokens, const char* hardware,
              const std::optional<Rational>& mfu, const std::optional<Rational>& hours = {},
              const char* dtype = "bf16") {
  MfuRequest request;
  request.counts = read_bare_counts(counts);
  request.tokens = parse_quantity(tokens, "--tokens");
  request.hardware = read_hardware(hardware);
  request.target_mfu = mfu;
  request.hours = hours;
  request.dtype = dtype;
  return answer_mfu(request);
}
double seconds_of(const MfuResult& result) {
  return result.hours->to_double() * 3600;
}
double days_of(const MfuResult& result) {
  return result.hours->to_double() / 24;
}

MfuResult deepseek() {
  return run("params=671e9,active=37e9", "14.8T", "flops=1.513e15", {}, Rational(2790000));
}

// clang-format off
const BookRow kMath[] = {
    {"sb4-layer-params", "mlp", 201326592, 0, [] { return params(kLayer, Component::kMlp); }},
    {"sb4-layer-params", "attention", 41943040, 0,
     [] { return params(kLayer, Component::kAttention); }},
    {"sb4-layer-train-flops", "mlp", 9895604649984, 0,
     [] { return matmuls(layer(), Component::kMlp); }},
    {"sb4-layer-train-flops", "qkvo", 2061584302080, 0,
     [] { return matmuls(layer(), Component::kAttention); }},
    {"sb4-layer-train-flops", "attention", 3298534883328, 0,
     [] {
       return flops(layer(), [](const OpCost& op) { return op.op_class == OpClass::kAttention; });
     }},
    {"sb4-vocab", "unembed_only", 6442450944000, 0,
     [] { return matmuls(layer(), Component::kUnembedding); }},
    {"sb4-vocab", "two_matrices", 12884901888000, 0,  // a lookup as a product: by 6ND alone
     [] {
       const CountResult count = layer();
       return count.six_n_d.to_double() * count.cost.params.embedding().to_double() /
              count.cost.params.total.to_double();
     }},
    {"sb4-attention-fraction", "T_equal_D8192", 65536, 0,
     [] { return equal_context("D=8192,F=32768,L=8,V=32000,N=64"); }},
    {"sb4-attention-fraction", "T_equal_D4608", 36864, 0,
     [] { return equal_context("D=4608,F=18432,L=46,V=256000,N=36"); }},
    {"sb4-ckpt-memory", "TB", 84, 0.01, [] { return saved_tb(kCheckpointed, "none"); }},
    {"sb4-ckpt-memory", "block_remat_TB", 4.2, 0.01,
     [] { return saved_tb(kCheckpointed, "block"); }},
    {"sb4-kv-size", "GiB", 8, 0,
     [] {
       return count_of({.model = kCheckpointed, .mode = "decode", .context = 8192, .kv = "int8"})
                  .kv_cache->bytes_total.to_double() / (1 << 30);
     }},
    {"sb4-q1-params", "two_vocab", 17442013184, 0, [] { return matrices(kQuestion1); }},
    {"sb4-q1-params", "one_vocab", 17310941184, 0,
     [] { return matrices(std::string(kQuestion1) + ",tied=1"); }},
    {"sb4-q1-params", "book", 16e9, 0.1,  // 4e3 for 4096, 16e3 for 16384
     [] { return matrices(kQuestion1); }},
    {"sb4-q1-params", "attention_fraction", 0.25, 0.02,
     [] { return count_of({.model = kQuestion1}).analysis.attention_share_of_blocks.to_double(); }},
    {"sb4-q1-params", "kv_bytes_per_token_int8", 524288, 0,
     [] {
       return count_of({.model = kQuestion1, .kv = "int8"}).kv_cache->bytes_per_token.to_double();
     }},
    {"sb4-q5-equal", "T", 8192, 0,
     [] {
       return count_of({.model = kQuestion1})
           .analysis.context_equals_projections.dense->to_double();
     }},
    {"sb4-q7-deepseek", "utilisation_pct", 21.7, 0.01,
     [] { return 100 * deepseek().mfu->to_double(); }},
    {"sb4-q7-deepseek", "flops", 3.3e24, 0.01,
     [] { return deepseek().model_flops.to_double(); }},
    {"sb4-q8-moe", "E256_k8", 3840, 0.01,  // 120*E/k
     [] {
       return count_of({.model = "D=7168,F=2048,L=58,V=129280,N=128,E=256,k=8",
                        .weights = "int8", .intensity = 240})
           .analysis.moe->weights_only->to_double();
     }},
};
// clang-format on
const bool kMathListed = [] {
  set_status("sb4-q3-einsum", BookStatus::kReproduced);  // as a formula: einsum_papers_test.cc
  return list_rows(kMath);
}();

TEST(ScalingBook, Chapter4TransformerMath) {
  expect_rows(kMath);
}

// ---- chapter 5 ---------------------------------------------------------------------------------

// Tokens per chip from which gathering all weights is hidden, over so many axes of the torus.
double fsdp_tokens(int axes) {
  return *critical_tokens(feed_forward(8192, 32768, Mode::kTrain), mesh_of(1, 64, 1),
                          torus(kV5pPeak, kV5pRing, axes), GroupSize::kLimit);
}
double tensor_degree(int f, int axes = 1, double peak = kV5pPeak, double ring = kV5pRing) {
  return *critical_degree(feed_forward(8192, f), ParallelAxis::kTp, 1e6, mesh_of(1, 1, 1),
                          torus(peak, ring, axes), GroupSize::kLimit);
}
// fsdp over two axes, tp over one.
DeviceRates two_and_one() {
  DeviceRates rates = torus(kV5pPeak, kV5pRing);
  rates.rings[static_cast<std::size_t>(ParallelAxis::kFsdp)] = 2;
  return rates;
}
double fsdp_of_best_split(int f, double tokens, double chips) {
  return best_split(feed_forward(8192, f), tokens, chips, two_and_one())[1];
}
double mixed_tokens(int f) {
  return *critical_tokens_of_best_split(feed_forward(8192, f), 4096, two_and_one());
}
// Tokens of one pod, from which its gradients are summed with other pods' over their network in
// time. Links inside a pod are left out.
double pod_tokens() {
  const double pod = 8960;
  return pod * *critical_tokens(feed_forward(8192, 32768, Mode::kTrain), mesh_of(2, pod, 1),
                                nodes(kV5pPeak, kUnbounded, 6.25e9, 8960), GroupSize::kLimit);
}

constexpr const char* k13B = "llama-2-13b";

// clang-format off
const BookRow kTraining[] = {
    {"sb5-alpha-v5p", "alpha", 2550, 0.001, [] { return fsdp_tokens(1); }},
    {"sb5-alpha-v5p", "tokens_per_chip_3_axes", 850, 0.001, [] { return fsdp_tokens(3); }},
    {"sb5-fsdp-pod-batch", "tokens", 7.6e6, 0.01, [] { return 8960 * fsdp_tokens(3); }},
    {"sb5-deepseek-chips", "chips", 47000, 0.01, [] { return 40e6 / fsdp_tokens(3); }},
    {"sb5-llama3-70b-fsdp", "flops", 6.3e24, 0.01,
     [] { return run("params=70e9", "15T", "flops=459e12", {}).model_flops.to_double(); }},
    {"sb5-llama3-70b-fsdp", "chips", 18823, 0.001, [] { return 16e6 / fsdp_tokens(3); }},
    {"sb5-llama3-70b-fsdp", "days", 17, 0.05,
     [] { return days_of(run("params=70e9", "15T", "tpu-v5p:18823", Rational::of(1, 2))); }},
    {"sb5-tp-bounds", "F30000", 11, 0.1, [] { return tensor_degree(30000); }},
    {"sb5-tp-bounds", "F_for_8way", 20400, 0.02,
     [] { return 8 * 32768 / tensor_degree(32768); }},
    {"sb5-tp-bounds", "F50000", 19, 0.05, [] { return tensor_degree(49152); }},
    {"sb5-x-opt", "X_opt", 13.9, 0.02, [] { return fsdp_of_best_split(32768, 48000, 64); }},
    {"sb5-mixed-bound", "tokens_per_chip", 99, 0.01, [] { return mixed_tokens(32768); }},
    {"sb5-mixed-bound-batch", "tokens", 4e5, 0.02, [] { return 4096 * mixed_tokens(32768); }},
    {"sb5-dcn", "tokens_per_pod", 73440, 0.001, pod_tokens},
    {"sb5-fsdp-2M", "chips_fsdp", 2400, 0.03, [] { return 2e6 / fsdp_tokens(3); }},
    {"sb5-fsdp-2M", "chips_mixed", 18000, 0.04, [] { return 2e6 / mixed_tokens(30000); }},
    {"sb5-q1-llama2-13b", "ffw", 8.5e9, 0.01, [] { return params(k13B, Component::kMlp); }},
    {"sb5-q1-llama2-13b", "attention", 4.2e9, 0.01,
     [] { return params(k13B, Component::kAttention); }},
    {"sb5-q1-llama2-13b", "vocab", 0.33e9, 0.02,
     [] { return count_of({.model = k13B}).cost.params.embedding().to_double(); }},
    {"sb5-q1-llama2-13b", "total", 13e9, 0.005,
     [] { return count_of({.model = k13B}).cost.params.total.to_double(); }},
    {"sb5-q3-strategy", "hbm_TB", 393, 0.001,
     [] { return 4096 * chip("tpu-v5p,memory=96GB").memory_bytes->to_double() / 1e12; }},
    {"sb5-q3-strategy", "fsdp_min_tokens", 3.48e6, 0.001, [] { return 4096 * fsdp_tokens(3); }},
    {"sb5-q3-strategy", "mixed_min_tokens_per_chip", 235, 0.01, [] { return mixed_tokens(13824); }},
    {"sb5-q3-strategy", "X_opt", 1333, 0.02,
     [] { return fsdp_of_best_split(13824, 3e6, 4096); }},
    {"sb5-q3-strategy", "step_ms", 300, 0.08,
     [] {
       return 1e3 * seconds_of(run("params=13e9", "3M", "tpu-v5p:4096", Rational::of(2, 5)));
     }},
    {"sb5-dcn-10pods", "days_at_50pct", 3.55, 0.01,
     [] { return days_of(run("params=70e9", "15T", "tpu-v5p:89600", Rational::of(1, 2))); }},
};

const PinnedRow kTrainingPinned[] = {
    {"sb5-dcn-10pods", "days_printed", 2, 3.55, 0.01,
     [] { return days_of(run("params=70e9", "15T", "tpu-v5p:89600", Rational::of(1, 2))); },
     "2 days are what 89,600 chips take at 89 % of their peak, not at the 50 % of the text"},
};
// clang-format on
const bool kTrainingListed = list_rows(kTraining) && list_rows(kTrainingPinned);

TEST(ScalingBook, Chapter5Training) {
  expect_rows(kTraining);
  expect_rows(kTrainingPinned);
}

// ---- chapter 6 ---------------------------------------------------------------------------------

constexpr const char* k70B = "llama-3-70b";

double six_n_per_token() {
  const CountResult count = count_of({.model = k70B, .seq = 1});
  return count.six_n_d.to_double();
}
MfuResult training(const std::string& hardware, const Rational& mfu) {
  MfuRequest request;
  request.model = find_model(k70B);
  request.tokens = parse_quantity("15T", "--tokens");
  request.hardware = read_hardware(hardware);
  request.target_mfu = mfu;
  request.convention = "6nd";
  return answer_mfu(request);
}
TrainMemory state() {
  TrainRequest request;
  request.hardware = find_hardware("tpu-v5p");
  request.recipe = parse_recipe("book");
  return Trainer(find_model(k70B), request).estimate({}).memory;
}
// Two checkpoints a layer: its input, and the residual stream between attention and feed-forward.
double checkpoints_tb() {
  return saved_tb(k70B, "save:attention.residual");
}
double all_tb() {
  return checkpoints_tb() + (state().parameters + state().optimizer) / 1e12;
}

// clang-format off
const BookRow kLlama[] = {
    {"sb6-params", "ffw", 56.3e9, 0.002, [] { return params(k70B, Component::kMlp); }},
    {"sb6-params", "vocab", 2.1e9, 0.01,
     [] { return count_of({.model = k70B}).cost.params.embedding().to_double(); }},
    {"sb6-params", "attention", 12e9, 0.01, [] { return params(k70B, Component::kAttention); }},
    {"sb6-params", "total", 70.4e9, 0.003,
     [] { return count_of({.model = k70B}).cost.params.total.to_double(); }},
    {"sb6-flops-token", "flops", 420e9, 0.01, six_n_per_token},
    {"sb6-flops-token", "ms_per_token_per_chip", 1, 0.1,
     [] { return 1e3 * six_n_per_token() / kV5pPeak; }},
    {"sb6-total", "flops", 6.3e24, 0.01,
     [] { return training("flops=459e12", 1).model_flops.to_double(); }},
    {"sb6-total", "single_chip_years", 435, 0.01,
     [] { return days_of(training("flops=459e12", 1)) / 365; }},
    {"sb6-total", "pod_seconds", 3.8e6, 0.02,
     [] { return seconds_of(training("tpu-v5p:8960", Rational::of(2, 5))); }},
    {"sb6-total", "pod_days", 44, 0.02,
     [] { return days_of(training("tpu-v5p:8960", Rational::of(2, 5))); }},
    {"sb6-memory", "weights_GB", 140, 0.01, [] { return state().parameters / 1e9; }},
    {"sb6-memory", "optimizer_GB", 560, 0.01, [] { return state().optimizer / 1e9; }},
    {"sb6-memory", "activations_TB", 10.5, 0.01, checkpoints_tb},
    {"sb6-memory", "total_TB", 11.2, 0.01, all_tb},
    {"sb6-memory", "min_chips", 117, 0.01,
     [] { return 1e12 * all_tb() / chip("tpu-v5p,memory=96GB").memory_bytes->to_double(); }},
    {"sb6-memory", "days_on_min_chips", 3369, 0.02,
     [] { return days_of(training("tpu-v5p:117", Rational::of(2, 5))); }},
    {"sb6-memory", "GB_per_chip_on_pod", 1.3, 0.05, [] { return 1e3 * all_tb() / 8960; }},
    {"sb6-sharding-plan", "fsdp_bound", 850, 1e-9, [] { return fsdp_tokens(3); }},
    {"sb6-sharding-plan", "mixed_bound", 113, 0.01, [] { return mixed_tokens(28672); }},
    {"sb6-sharding-plan", "X_opt", 1618, 0.01,
     [] { return fsdp_of_best_split(28672, 1 << 22, 8960); }},
};
// clang-format on
const bool kLlamaListed = list_rows(kLlama);

TEST(ScalingBook, Chapter6Llama) {
  expect_rows(kLlama);
}

}  // namespace
}  // namespace flopwise
