// Expected step times beside measured ones: docs/accuracy.md shows what this prints.
//
//   accuracy            the tables
//   accuracy --rows     every row too
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "bench/accuracy_rows.h"
#include "flopwise/flopwise.h"

namespace flopwise {
namespace {

struct Judged {
  const MeasuredStep* row;
  TimeRange time;
  double error() const { return time.expected / row->seconds - 1; }
};

TrainRequest request_of(const MeasuredStep& row) {
  TrainRequest request;
  request.hardware = find_hardware(row.chip);
  request.devices = row.devices;
  request.batch = row.batch;
  request.seq_len = row.seq_len;
  request.kernel = parse_attention_kernel(row.kernel);
  // None of these frameworks compiled its elementwise operations into the products.
  request.fusion = Fusion::kEager;
  const bool is_megatron = std::strncmp(row.mesh, "tp", 2) == 0;
  request.recipe = parse_recipe(is_megatron ? "megatron" : "fp32");
  return request;
}

std::optional<Judged> judge(const MeasuredStep& row) {
  const bool has_bias = std::strcmp(row.kernel, "plain") == 0;
  const std::string letters = fmt::format(
      "D={},L={},V={},N={},F={},gated=0,norm=layer,tied=1,positions={},bias={}", row.d_model,
      row.layers, row.vocab, row.heads, row.d_ff, row.seq_len, has_bias ? 1 : 0);
  std::istringstream none;
  const Trainer trainer(read_model(letters, none), request_of(row));
  std::optional<Judged> best;
  for (const int micro_batch : {1, 2, 4, 8}) {
    for (const int interleave : {1, 2, 4}) {
      TrainPlan plan;
      plan.mesh = parse_parallelism(row.mesh);
      plan.micro_batch = row.micro_batch > 0 ? row.micro_batch : micro_batch;
      plan.interleave = row.interleave > 0 ? row.interleave : interleave;
      plan.remat = parse_remat(row.remat);
      plan.sequence_parallel = row.sequence_parallel;
      if (trainer.broken_rule(plan)) continue;
      const TrainEstimate estimate = trainer.estimate(plan);
      if (!best || estimate.step_time_s.expected < best->time.expected) {
        best = Judged{&row, estimate.step_time_s};
      }
    }
  }
  return best;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void print_tables(const std::vector<Judged>& all, bool with_rows) {
  TextTable tables({
      {"table", Align::kLeft},
      {"rows"      },
      {"mean error"},
      {"median"      },
      {"worst"},
      {"mean, signed"      },
      {"lower/measured, median"},
      {"largest"      },
  });
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    std::vector<double> errors;
    std::vector<double> bounds;
    double sum = 0;
    double signed_sum = 0;
    while (end < all.size() && std::strcmp(all[end].row->table, all[begin].row->table) == 0) {
      errors.push_back(std::abs(all[end].error()));
      bounds.push_back(all[end].time.lower / all[end].row->seconds);
      sum += errors.back();
      signed_sum += all[end].error();
      ++end;
    }
    const auto count = static_cast<double>(errors.size());
    tables.add_row({all[begin].row->table, std::to_string(errors.size()),
                    format_percent(sum / count), format_percent(median(errors)),
                    format_percent(*std::max_element(errors.begin(), errors.end())),
                    format_percent(signed_sum / count), fmt::format("{:.2f}", median(bounds)),
                    fmt::format("{:.2f}", *std::max_element(bounds.begin(), bounds.end()))});
    begin = end;
  }
  std::fputs(tables.str().c_str(), stdout);
  if (!with_rows) return;
  TextTable rows({
      {"row", Align::kLeft},
      {"measured"    },
      {"lower"},
      {"expected"    },
      {"upper"},
      {"error"    },
  });
  for (const Judged& each : all) {
    rows.add_row({fmt::format("{}: {}", each.row->table, each.row->name),
                  format_si(each.row->seconds, "s"), format_si(each.time.lower, "s"),
                  format_si(each.time.expected, "s"), format_si(each.time.upper, "s"),
                  fmt::format("{:+.1f} %", 100 * each.error())});
  }
  std::fputs(("\n" + rows.str()).c_str(), stdout);
}

}  // namespace
}  // namespace flopwise

int main(int argc, char** argv) {
  std::vector<flopwise::Judged> all;
  for (const flopwise::MeasuredStep& row : flopwise::kMeasuredSteps) {
    if (const auto judged = flopwise::judge(row)) all.push_back(*judged);
  }
  flopwise::print_tables(all, argc > 1 && std::strcmp(argv[1], "--rows") == 0);
  return 0;
}
