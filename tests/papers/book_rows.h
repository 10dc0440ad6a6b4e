// Rows of "How to Scale Your Model" (jax-ml/scaling-book): what it prints, and what flopwise makes
// of the same question. Every value comes out of a function of flopwise or a few of them put
// together; no formula of the book is typed in.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwise/model/build.h"
#include "flopwise/model/description.h"
#include "flopwise/plan/critical.h"
#include "flopwise/report/einsum_report.h"
#include "tests/papers/count_of.h"

namespace flopwise {

struct BookRow {
  const char* id;      // chapter and question: "sb5-x-opt"
  const char* output;  // which of the row's figures
  double published;
  double tolerance;  // relative: how far the book rounds
  double (*value)();
};

// A figure that the book has wrong or rounds too far, the right one, and why they differ.
struct PinnedRow {
  const char* id;
  const char* output;
  double published;
  double right;
  double tolerance;  // of `right`
  double (*value)();
  const char* note;
};

enum class BookStatus { kReproduced, kPinned, kOutOfScope };

// Every row's worst status, filled while the program starts.
inline std::map<std::string, BookStatus>& book_status() {
  static std::map<std::string, BookStatus> rows;
  return rows;
}
inline void set_status(const char* id, BookStatus status) {
  const auto [row, is_new] = book_status().emplace(id, status);
  if (!is_new) row->second = std::max(row->second, status);
}
inline bool list_rows(std::span<const BookRow> rows) {
  for (const BookRow& row : rows) set_status(row.id, BookStatus::kReproduced);
  return true;
}
inline bool list_rows(std::span<const PinnedRow> rows) {
  for (const PinnedRow& row : rows) set_status(row.id, BookStatus::kPinned);
  return true;
}

inline void expect_rows(std::span<const BookRow> rows) {
  for (const BookRow& row : rows) {
    EXPECT_NEAR(row.value(), row.published, row.tolerance * row.published)
        << row.id << " " << row.output;
  }
}
inline void expect_rows(std::span<const PinnedRow> rows) {
  for (const PinnedRow& row : rows) {
    EXPECT_NEAR(row.value(), row.right, row.tolerance * row.right) << row.id << " " << row.output;
    EXPECT_GT(std::abs(row.published / row.right - 1), row.tolerance)
        << row.id << " " << row.output << ": no longer differs, " << row.note;
  }
}

// ---- chips -------------------------------------------------------------------------------------

inline Hardware chip(const std::string& figures) {
  return read_hardware(figures).hardware;
}

inline double ridge(const std::string& figures, const char* dtype = "bf16") {
  return intensity_of(chip(figures), dtype).to_double();
}

// Rings of `ring` bytes/s, both directions, `rings` of them to every mesh axis.
inline DeviceRates torus(double peak, double ring, int rings = 1, double memory = 0) {
  DeviceRates rates;
  rates.matrix_flops_per_s = peak;
  rates.memory_bytes_per_s = memory;
  rates.network.inside_bytes_per_s = 3 * ring;
  rates.network.peer_bytes_per_s = ring / 2;
  rates.network.torus_axes = 3;
  rates.rings.fill(rings);
  return rates;
}
// Nodes of `domain` devices, each sending `inside` in them and `across` out of them.
inline DeviceRates nodes(double peak, double inside, double across, std::int64_t domain) {
  DeviceRates rates;
  rates.matrix_flops_per_s = peak;
  rates.network.inside_bytes_per_s = inside;
  rates.network.across_bytes_per_s = across;
  rates.network.domain_size = domain;
  return rates;
}
constexpr double kV5pPeak = 459e12;
constexpr double kV5pRing = 180e9;
constexpr double kUnbounded = 1e30;  // bytes/s: links that the book leaves out of a question

// ---- contractions ------------------------------------------------------------------------------

inline EinsumAnswer einsum(const char* expression, const char* sizes, const char* dtype = "bf16",
                           const std::optional<std::string>& mesh = std::nullopt,
                           const std::optional<std::string>& hardware = std::nullopt) {
  return answer_einsum({.expression = expression,
                        .sizes = {sizes},
                        .mesh = mesh,
                        .dtype = dtype,
                        .hardware = hardware});
}
inline double at_sizes(const Expr& expr, const EinsumAnswer& answer) {
  return expr.eval_double(answer.sizes);
}
// Bytes of the first collective's array, and their time without the share (X-1)/X.
inline double array_bytes(const EinsumAnswer& answer) {
  return at_sizes(answer.sharded.collectives.at(0).array_bytes, answer);
}
inline double time_s(const EinsumAnswer& answer) {
  return *answer.roofline->collectives.at(0).time_s;
}
inline double limit_s(const EinsumAnswer& answer) {
  return *answer.roofline->collectives.at(0).limit_time_s;
}

// ---- serving -----------------------------------------------------------------------------------

inline double weights_bytes(const CountResult& count) {
  return (Rational(count.cost.params.total) * bytes_per_element(count.types.weight)).to_double();
}
inline double cache_bytes(const CountResult& count) {
  return count.kv_cache->bytes_total.to_double();
}

inline CountResult decoding(const char* model, std::int64_t batch, std::int64_t context,
                            const char* dtype = "bf16") {
  return count_of({.model = model,
                   .mode = "decode",
                   .batch = batch,
                   .context = context,
                   .weights = dtype,
                   .kv = dtype});
}
inline double held_gb(const CountResult& count) {
  return (weights_bytes(count) + cache_bytes(count)) / 1e9;
}
// Weights and cache read once, on so many chips.
inline double step_ms(const CountResult& count, double chips, const Hardware& hardware) {
  return 1e12 * held_gb(count) / chips / hardware.memory_bytes_per_s->to_double();
}

// ---- layers ------------------------------------------------------------------------------------

// A layer of a feed-forward of two matrices and nothing else, as the book's derivations have it.
inline Program book_layer(int d, int f, Mode mode, const std::string& experts = "") {
  const std::string kind = experts.empty() ? "mlp" : "moe";
  const std::string text = fmt::format(
      R"({{"flopwise": 1, "d_model": {}, "vocab": 512, "layers": [{{"name": "layer",
          "norm": "no_params", "{}": {{{} "d_ff": {}, "gated": false}}}}]}})",
      d, kind, experts, f);
  const Model model = model_from_description(nlohmann::json::parse(text), "layer");
  WorkloadRequest request;
  request.mode = mode;
  request.seq_len = 1024;
  const Workload workload = resolve(request, model);
  return mode == Mode::kTrain ? build_training_program(model, workload, {})
                              : build_program(model, workload);
}

inline ElementTypes types_of(const char* compute, const char* weights) {
  return {find_dtype(compute), find_dtype(weights), find_dtype(compute)};
}

inline LayerOnMesh on_mesh(const Program& program, const char* weights = "bf16") {
  const Block& layer = program.blocks.at(1);
  return {
      layer, program.sizes_of(layer), true, {types_of("bf16", weights), 2}
  };
}
inline LayerOnMesh feed_forward(int d, int f, Mode mode = Mode::kForward) {
  return on_mesh(book_layer(d, f, mode));
}

inline MeshShape mesh_of(double dp, double fsdp, double tp, double ep = 1) {
  return {dp, fsdp, ep, 1, tp, 1};
}

// Tokens from which the weights of that layer are compute-bound on one chip.
inline CriticalBatch batch_of(int d, int f, const char* compute, const char* weights,
                              const Rational& flops_per_byte) {
  const Program program = book_layer(d, f, Mode::kForward);
  const Block& layer = program.blocks.at(1);
  return *critical_batch(layer, program.sizes_of(layer), types_of(compute, weights),
                         flops_per_byte);
}

}  // namespace flopwise
