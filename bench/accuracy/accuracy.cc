// Expected times and memory beside measured ones: docs/accuracy.md shows what this prints.
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

#include "bench/accuracy/tables.h"
#include "flopwise/flopwise.h"

namespace flopwise {
namespace {

struct Judged {
  std::string name;
  double measured = 0;
  TimeRange time;
  double error() const { return time.expected / measured - 1; }
};

Model model_of(const StepTable& table, const StepRow& row) {
  std::string letters = row.model;
  if (table.letters != nullptr) {
    letters += fmt::format(fmt::runtime(table.letters), row.seq_len);
  }
  std::istringstream none;
  Model model = read_model(letters, none);
  if (table.dropout == 0) return model;
  for (LayerGroup& group : model.decoder->groups) {
    group.layer.dropout = table.dropout;
    if (group.layer.attention) group.layer.attention->dropout = table.dropout;
  }
  return model;
}

TrainRequest request_of(const StepTable& table, const StepRow& row) {
  TrainRequest request;
  request.hardware = read_hardware(row.chip != nullptr ? row.chip : table.chip).hardware;
  request.devices = row.devices;
  request.batch = row.batch;
  request.seq_len = row.seq_len;
  request.kernel = parse_attention_kernel(table.kernel);
  request.flash = parse_flash_generation(table.flash);
  request.fusion = parse_fusion(table.fusion);
  request.recipe = parse_recipe(table.recipe);
  request.convention = table.convention;
  request.matmul_dtype = table.matmul_dtype;
  return request;
}

// Seconds of a step from what the table prints.
double seconds_of(const StepTable& table, const StepRow& row, const Trainer& trainer) {
  const double tokens = static_cast<double>(row.batch) * row.seq_len;
  const double model_flops = trainer.model_flops().to_double();
  switch (table.unit) {
    case Unit::kSeconds:
      return row.measured;
    case Unit::kTokensPerDevice:
      return tokens / (row.measured * row.devices);
    case Unit::kTflopsPerDevice:
      return model_flops / (row.measured * 1e12 * row.devices);
    case Unit::kMfuPercent:
      return model_flops / (row.measured / 100 * trainer.peak_flops_per_s() * row.devices);
  }
  return 0;
}

// The row's plan; where the source leaves micro-batch or interleaving open, the fastest.
std::optional<Judged> judge(const StepTable& table, const StepRow& row) {
  const Trainer trainer(model_of(table, row), request_of(table, row));
  std::optional<Judged> best;
  for (const int micro_batch : {1, 2, 4, 8}) {
    for (const int interleave : {1, 2, 4, 7}) {
      TrainPlan plan = parse_train_plan(row.plan);
      if (!table.micro_batch_stated) plan.micro_batch = micro_batch;
      if (!table.interleave_stated) plan.interleave = interleave;
      if (trainer.broken_rule(plan)) continue;
      const TrainEstimate estimate = trainer.estimate(plan);
      if (best && estimate.step_time_s.expected >= best->time.expected) continue;
      best = Judged{row.name, seconds_of(table, row, trainer), estimate.step_time_s};
    }
  }
  return best;
}

Judged judge(const DecodeTable& table, const DecodeRow& row) {
  ServeRequest request;
  request.hardware = read_hardware(row.chip).hardware;
  request.devices = row.devices;
  request.prompt = row.prompt;
  request.output = row.output;
  request.weights = row.weights;
  ServePlan plan;
  plan.mesh.tp = row.devices;
  plan.batch = row.batch;
  if (request.hardware.vendor == "Apple") request.dtype = "fp16";
  const Server server(find_model(row.model), request);
  const ServeEstimate estimate = server.estimate(plan);
  TimeRange time = estimate.decode.time_s;
  if (table.prefills_between) {
    const double prompts = static_cast<double>(row.batch) / row.output;
    time.lower += prompts * estimate.prefill.time_s.lower;
    time.expected += prompts * estimate.prefill.time_s.expected;
    time.upper += prompts * estimate.prefill.time_s.upper;
  }
  return {row.name, row.measured, time};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

class Report {
 public:
  void add(const std::string& table, const std::vector<Judged>& judged) {
    std::vector<double> errors, signed_errors, bounds;
    for (const Judged& each : judged) {
      signed_errors.push_back(each.error());
      errors.push_back(std::abs(each.error()));
      bounds.push_back(each.time.lower / each.measured);
      rows_.add_row({table + ": " + each.name, format_si(each.measured, "s"),
                     format_si(each.time.lower, "s"), format_si(each.time.expected, "s"),
                     format_si(each.time.upper, "s"),
                     fmt::format("{:+.1f} %", 100 * each.error())});
    }
    if (errors.empty()) return;
    all_errors_.insert(all_errors_.end(), errors.begin(), errors.end());
    all_signed_.insert(all_signed_.end(), signed_errors.begin(), signed_errors.end());
    all_bounds_.insert(all_bounds_.end(), bounds.begin(), bounds.end());
    add_line(table, errors, signed_errors, bounds);
  }
  void print(bool with_rows) {
    add_line("all", all_errors_, all_signed_, all_bounds_);
    std::fputs(tables_.str().c_str(), stdout);
    if (with_rows) std::fputs(("\n" + rows_.str()).c_str(), stdout);
  }

 private:
  void add_line(const std::string& name, const std::vector<double>& errors,
                const std::vector<double>& signed_errors, const std::vector<double>& bounds) {
    tables_.add_row({name, std::to_string(errors.size()), format_percent(mean(errors)),
                     format_percent(median(errors)),
                     format_percent(*std::max_element(errors.begin(), errors.end())),
                     fmt::format("{:+.1f} %", 100 * mean(signed_errors)),
                     fmt::format("{:.2f}", median(bounds)),
                     fmt::format("{:.2f}", *std::max_element(bounds.begin(), bounds.end()))});
  }
  std::vector<double> all_errors_, all_signed_, all_bounds_;
  TextTable tables_{
      {
       {"table", Align::kLeft},
       {"rows"},
       {"mean error"},
       {"median"},
       {"worst"},
       {"mean, signed"},
       {"lower/measured, median"},
       {"largest"},
       }
  };
  TextTable rows_{
      {
       {"row", Align::kLeft},
       {"measured"},
       {"lower"},
       {"expected"},
       {"upper"},
       {"error"},
       }
  };
};

void print_memory() {
  TextTable table{
      {
       {"memory", Align::kLeft},
       {"states, GiB"},
       {"computed"},
       {"error"},
       {"activations, GiB"},
       {"computed"},
       {"error"},
       }
  };
  StepTable settings = kStepTables[0];
  settings.letters = kGptLayers;
  for (const MemoryRow& row : kKorthikantiMemory) {
    const StepRow step{row.name, row.model, row.seq_len, row.devices, row.batch, row.plan, 0};
    const Trainer trainer(model_of(settings, step), request_of(settings, step));
    TrainPlan plan = parse_train_plan(row.plan);
    plan.remat = parse_remat(row.remat);
    const TrainMemory memory = trainer.estimate(plan).memory;
    constexpr double kGib = 1024.0 * 1024 * 1024;
    const double states = (memory.parameters + memory.gradients + memory.optimizer) / kGib;
    const double activations = memory.activations / kGib;
    table.add_row({row.name, fmt::format("{:.2f}", row.states), fmt::format("{:.2f}", states),
                   fmt::format("{:+.1f} %", 100 * (states / row.states - 1)),
                   fmt::format("{:.2f}", row.activations), fmt::format("{:.2f}", activations),
                   fmt::format("{:+.1f} %", 100 * (activations / row.activations - 1))});
  }
  std::fputs(("\n" + table.str()).c_str(), stdout);
}

void print_all(bool with_rows) {
  Report report;
  for (const StepTable& table : kStepTables) {
    std::vector<Judged> judged;
    for (const StepRow& row : table.rows) {
      if (const auto each = judge(table, row)) judged.push_back(*each);
    }
    if (judged.size() < table.rows.size()) {
      std::printf("%s: %zu rows break a rule of plans\n", table.name,
                  table.rows.size() - judged.size());
    }
    report.add(table.name, judged);
  }
  for (const DecodeTable& table : kDecodeTables) {
    std::vector<Judged> judged;
    for (const DecodeRow& row : table.rows) judged.push_back(judge(table, row));
    report.add(table.name, judged);
  }
  report.print(with_rows);
  print_memory();
}

}  // namespace
}  // namespace flopwise

int main(int argc, char** argv) {
  flopwise::print_all(argc > 1 && std::strcmp(argv[1], "--rows") == 0);
  return 0;
}
