#include "flopwise/report/mfu.h"

#include <fmt/format.h>

#include <utility>

#include "flopwise/base/dtype.h"
#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/count.h"
#include "flopwise/report/numbers.h"

namespace flopwise {
namespace {

constexpr int kSecondsPerHour = 3600;
// 10^15 FLOP/s for a day, the unit in which OpenAI publishes training compute.
const Rational kPetaflopsDay =
    Rational(std::int64_t{86400}) * Rational(std::int64_t{1000000000000000});

void check(const MfuRequest& request) {
  const int questions =
      (request.hours ? 1 : 0) + (request.step_time_s ? 1 : 0) + (request.target_mfu ? 1 : 0);
  if (questions > 1) {
    throw UserError("mfu: expected one of --hours, --step-time and --target-mfu, got several");
  }
  if (request.tokens <= Rational(0)) {
    throw UserError(fmt::format("--tokens: expected more than 0, got {}", request.tokens.str()));
  }
  const auto positive = [](const std::optional<Rational>& value, const char* option) {
    if (value && *value <= Rational(0)) {
      throw UserError(fmt::format("{}: expected more than 0, got {}", option, value->str()));
    }
  };
  positive(request.hours, "--hours");
  positive(request.step_time_s, "--step-time");
  positive(request.target_mfu, "--target-mfu");
  if (request.target_mfu && *request.target_mfu > Rational(1)) {
    throw UserError(fmt::format("--target-mfu: expected a share of 0 ... 1, got {:.6g}",
                                request.target_mfu->to_double()));
  }
  if (questions == 1 && !request.hardware) {
    throw UserError("mfu: expected --on HW, whose peak the run is compared with");
  }
}

void count_described(const MfuRequest& request, MfuResult& result) {
  CountRequest count;
  count.workload.seq_len = request.seq_len;
  count.remat = request.remat;
  count.dtype = request.dtype;
  count.convention = request.convention.empty() ? "exact" : request.convention;
  const CountResult step = count_model(*request.model, count);
  const Rational sequences = in_context(
      "sequences", [&] { return request.tokens / Rational(Count(step.workload.seq_len)); });
  result.model_flops =
      in_context("model FLOPs", [&] { return step.by_convention.model * sequences; });
  if (step.by_convention.hardware) {
    result.hardware_flops =
        in_context("hardware FLOPs", [&] { return *step.by_convention.hardware * sequences; });
  }
  result.workload = fmt::format("training steps of T = {}, remat {}, flash attention",
                                step.workload.seq_len, describe(request.remat));
  result.convention = step.convention->name;
  result.convention_source = step.convention->source;
  result.formula =
      fmt::format("{} FLOPs of a training step of {} tokens (T = {}) x {:.6g} sequences",
                  step.by_convention.model.str(), step.workload.seq_len, step.workload.seq_len,
                  sequences.to_double());
}

void count_bare(const MfuRequest& request, MfuResult& result) {
  if (!request.convention.empty() && request.convention != "6nd") {
    find_convention(request.convention);
    throw UserError(fmt::format(
        "--convention {}: bare counts have no layers, expected 6nd or a described model",
        request.convention));
  }
  if (request.seq_len != 0) {
    throw UserError("--seq: bare counts have no attention, expected a described model");
  }
  if (request.remat.kind != RematKind::kNone) {
    throw UserError("--remat: bare counts have no layers, expected a described model");
  }
  const Convention& rule = find_convention("6nd");
  result.model_flops = in_context("model FLOPs", [&] {
    return Rational(6) * Rational(request.counts->active) * request.tokens;
  });
  result.convention = rule.name;
  result.convention_source = rule.source;
  result.formula =
      fmt::format("6 x {} active parameters x {} tokens", request.counts->active.grouped(),
                  request.tokens.is_integer() ? Count::of(request.tokens.num()).grouped()
                                              : request.tokens.str());
}

void relate_to_hardware(const MfuRequest& request, MfuResult& result) {
  if (!request.hardware) return;
  const HardwareChoice& choice = *request.hardware;
  result.hardware = choice.hardware.name;
  result.devices = choice.count;
  result.count_given = choice.count_given;
  result.peak_flops_per_s = peak_flops_per_s(choice.hardware, request.dtype);
  const Rational cluster = in_context(
      "peak of all devices", [&] { return *result.peak_flops_per_s * Rational(choice.count); });
  const Rational seconds_per_hour = kSecondsPerHour;
  if (request.hours) {
    result.hours = *request.hours;
  } else if (request.step_time_s) {
    result.hours = in_context("hours", [&] { return *request.step_time_s / seconds_per_hour; });
  } else if (request.target_mfu) {
    result.hours = in_context("hours", [&] {
      return result.model_flops / (cluster * *request.target_mfu) / seconds_per_hour;
    });
  } else {
    return;
  }
  result.device_hours =
      in_context("device hours", [&] { return *result.hours * Rational(choice.count); });
  result.available_flops =
      in_context("available FLOPs", [&] { return cluster * *result.hours * seconds_per_hour; });
  result.mfu = in_context("MFU", [&] { return result.model_flops / *result.available_flops; });
  if (result.hardware_flops) {
    result.hfu =
        in_context("HFU", [&] { return *result.hardware_flops / *result.available_flops; });
  }
}

Json number(const std::optional<Rational>& value) {
  if (!value) return nullptr;
  return value->is_integer() ? Json(Count::of(value->num())) : Json(value->to_double());
}

std::string flop_count(const Rational& value) {
  const std::string digits = value.is_integer() ? Count::of(value.num()).grouped()
                                                : fmt::format("{:.8g}", value.to_double());
  return fmt::format("{} ({:.5g})", digits, value.to_double());
}

}  // namespace

MfuResult answer_mfu(const MfuRequest& request) {
  check(request);
  in_context("--dtype", [&] { return find_dtype(request.dtype); });
  MfuResult result;
  result.name = request.name;
  result.tokens = request.tokens;
  result.dtype = request.dtype;
  in_context("mfu", [&] {
    if (request.model) {
      count_described(request, result);
    } else {
      count_bare(request, result);
    }
    relate_to_hardware(request, result);
  });
  return result;
}

Json mfu_json(const MfuResult& r) {
  return Json::object()
      .add("schema", 1)
      .add("model", r.name)
      .add("mfu", r.mfu ? Json(r.mfu->to_double()) : Json(nullptr))
      .add("hfu", r.hfu ? Json(r.hfu->to_double()) : Json(nullptr))
      .add("model_flops", number(r.model_flops))
      .add("hardware_flops", number(r.hardware_flops))
      .add("available_flops", number(r.available_flops))
      .add("device_hours", number(r.device_hours))
      .add("hours", number(r.hours))
      .add("tokens", number(r.tokens))
      .add("peak_flops_per_s", number(r.peak_flops_per_s))
      .add("petaflops_days", (r.model_flops / kPetaflopsDay).to_double())
      .add("hardware", r.hardware.empty() ? Json(nullptr) : Json(r.hardware))
      .add("devices", r.devices)
      .add("dtype", r.dtype)
      .add("convention", r.convention);
}

std::string mfu_text(const MfuResult& r, Explain explain) {
  TextTable table({
      {"", Align::kLeft },
      {"", Align::kRight},
      {"", Align::kLeft }
  });
  table.add_row({"model FLOPs", flop_count(r.model_flops),
                 fmt::format("of {} tokens, convention {}", format_si(r.tokens.to_double(), ""),
                             r.convention)});
  table.add_row({"", fmt::format("{:.5g}", (r.model_flops / kPetaflopsDay).to_double()),
                 "petaFLOP/s-days (one is 8.64e19 FLOP)"});
  if (r.hardware_flops) {
    table.add_row({"hardware FLOPs", flop_count(*r.hardware_flops),
                   "with what is recomputed (a flash kernel computes QK again)"});
  }
  if (r.peak_flops_per_s) {
    table.add_row({"peak", format_si(r.peak_flops_per_s->to_double(), "FLOP/s"),
                   fmt::format("of one {}, dense {}", r.hardware, r.dtype)});
  }
  if (r.hours) {
    table.add_row({"time", decimal(*r.hours) + " h",
                   r.count_given ? fmt::format("by the clock, of {} devices", r.devices)
                                 : std::string("device-hours: --on names one device")});
    table.add_row({"device-hours", decimal(*r.device_hours), "time x devices"});
    table.add_row({"available FLOPs", flop_count(*r.available_flops), "peak x devices x seconds"});
    table.add_row({"MFU", fmt::format("{:.2f} %", 100 * r.mfu->to_double()),
                   "model FLOPs / available FLOPs"});
    if (r.hfu) {
      table.add_row({"HFU", fmt::format("{:.2f} %", 100 * r.hfu->to_double()),
                     "hardware FLOPs / available FLOPs"});
    } else {
      table.add_row({"HFU", "unknown", "the convention does not say what is recomputed"});
    }
  }
  if (r.mfu && *r.mfu > Rational(1)) {
    table.add_row({"", "", "more than the peak: no run does that; check tokens, hours, devices"});
  }
  const std::string step = r.workload.empty() ? "" : "  " + r.workload + "\n";
  std::string text = fmt::format("{}\n{}\n{}", r.name, step, table.str());
  if (explain == Explain::kYes) {
    text += fmt::format("\nmodel FLOPs = {} = {}\nconvention {}: {}\n", r.formula,
                        flop_count(r.model_flops), r.convention, r.convention_source);
    if (r.available_flops) {
      text += fmt::format("available FLOPs = {:.6g} FLOP/s x {} x {:.6g} h x 3600 s/h = {}\n",
                          r.peak_flops_per_s->to_double(), r.devices, r.hours->to_double(),
                          flop_count(*r.available_flops));
    }
  }
  return text;
}

}  // namespace flopwise
