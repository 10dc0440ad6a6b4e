#include "flopwise/report/train_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/facts.h"
#include "flopwise/report/plan_numbers.h"

namespace flopwise {

TrainPlan given_plan(const PlanRequest& request) {
  TrainPlan plan;
  plan.mesh = *request.mesh;
  plan.micro_batch = request.micro_batch.value_or(1);
  plan.remat = request.remat.value_or(RematPolicy{});
  plan.zero = request.zero.value_or(0);
  plan.interleave = request.interleave.value_or(1);
  plan.sequence_parallel = request.sequence_parallel.value_or(false);
  plan.schedule = request.schedule;
  return plan;
}

TrainSpace space_of(const Trainer& trainer, const PlanRequest& request) {
  TrainSpace space = TrainSpace::of(trainer.request().devices, trainer.has_experts());
  if (request.micro_batch) space.micro_batches = {*request.micro_batch};
  if (request.remat) space.remats = {*request.remat};
  if (request.zero) space.zeros = {*request.zero};
  if (request.interleave) space.interleaves = {*request.interleave};
  if (request.sequence_parallel) space.sequence_parallel = {*request.sequence_parallel};
  space.schedules = {request.schedule};
  return space;
}

SearchOptions search_options(const PlanRequest& request) {
  SearchOptions options;
  options.goal = request.goal;
  options.top = request.top;
  options.progress = request.progress;
  return options;
}

namespace {

void estimate_given(const Trainer& trainer, const PlanRequest& request, TrainAnswer& answer) {
  const TrainPlan plan = given_plan(request);
  if (const std::optional<PlanRule> rule = trainer.broken_rule(plan)) {
    throw UserError("train: " + trainer.explain(plan, *rule));
  }
  answer.estimate = trainer.estimate(plan);
  if (answer.estimate.fits) return;
  // On the same mesh with other settings, else anywhere.
  TrainSpace space = TrainSpace::of(trainer.request().devices, trainer.has_experts());
  const TrainSpace all = space;
  space.meshes = {plan.mesh};
  const SearchOptions options = search_options(request);
  TrainSearch near = search_plans(trainer, space, options);
  if (near.best.empty()) near = search_plans(trainer, all, options);
  if (!near.best.empty()) answer.nearest_that_fits = near.best.front();
}

void search_best(const Trainer& trainer, const PlanRequest& request, TrainAnswer& answer) {
  const TrainSpace space = space_of(trainer, request);
  answer.search = search_plans(trainer, space, search_options(request));
  const TrainSearch& search = *answer.search;
  if (!search.best.empty()) {
    answer.estimate = search.best.front();
  } else if (search.smallest) {
    answer.estimate = *search.smallest;
  } else {
    std::string rules;
    for (int i = 0; i < kPlanRuleCount; ++i) {
      const std::int64_t count = search.rejected[static_cast<std::size_t>(i)];
      if (count == 0) continue;
      rules += fmt::format("{}{} by {}", rules.empty() ? "" : ", ", count,
                           name_of(static_cast<PlanRule>(i)));
    }
    throw UserError(
        fmt::format("train: no plan of {} is possible: rejected {}", space.size(), rules));
  }
}

Json plan_json(const TrainPlan& plan) {
  Json json = Json::object();
  json.add("mesh", mesh_json(plan.mesh))
      .add("micro_batch", plan.micro_batch)
      .add("remat", describe(plan.remat))
      .add("zero", plan.zero)
      .add("interleave", plan.interleave)
      .add("sequence_parallel", plan.sequence_parallel)
      .add("schedule", name_of(plan.schedule));
  return json;
}

Json memory_json(const TrainAnswer& answer) {
  const TrainMemory& memory = answer.estimate.memory;
  return memory_parts_json(
      {
          {"parameters",  memory.parameters },
          {"gradients",   memory.gradients  },
          {"optimizer",   memory.optimizer  },
          {"activations", memory.activations},
          {"workspace",   memory.workspace  }
  },
      answer.trainer->request().hardware, answer.trainer->usable_memory());
}

Json search_json(const TrainSearch& search) {
  Json rejected = Json::object();
  for (int i = 0; i < kPlanRuleCount; ++i) {
    rejected.add(name_of(static_cast<PlanRule>(i)), search.rejected[static_cast<std::size_t>(i)]);
  }
  Json json = Json::object();
  json.add("evaluated", search.evaluated)
      .add("too_large", search.too_large)
      .add("rejected", std::move(rejected))
      .add("pruned", search.pruned);
  return json;
}

const TrainEstimate* runner_up(const TrainAnswer& answer) {
  if (!answer.search || answer.search->best.size() < 2) return nullptr;
  return &answer.search->best[1];
}

Json listed(const TrainEstimate& estimate) {
  Json json = Json::object();
  json.add("plan", plan_json(estimate.plan))
      .add("step_time_s", time_json(estimate.step_time_s))
      .add("memory_bytes", whole_bytes(estimate.memory.total()));
  return json;
}

}  // namespace

TrainAnswer answer_train(const Model& model, const TrainRequest& request, const PlanRequest& plan) {
  TrainAnswer answer;
  answer.trainer = std::make_shared<const Trainer>(model, request);
  const Trainer& trainer = *answer.trainer;
  if (plan.mesh) {
    estimate_given(trainer, plan, answer);
  } else {
    search_best(trainer, plan, answer);
  }
  if (plan.why) {
    if (const std::optional<PlanRule> rule = trainer.broken_rule(*plan.why)) {
      throw UserError("--why: " + trainer.explain(*plan.why, *rule));
    }
    answer.compared = trainer.estimate(*plan.why);
  }
  const double step_s = answer.estimate.step_time_s.expected;
  const double available =
      trainer.peak_flops_per_s() * static_cast<double>(request.devices) * step_s;
  answer.mfu = trainer.model_flops().to_double() / available;
  answer.hfu = answer.estimate.hardware_flops / available;
  const Workload& workload = trainer.workload();
  answer.tokens_per_s =
      static_cast<double>(workload.batch) * static_cast<double>(workload.seq_len) / step_s;
  answer.run = run_of(request, workload, step_s);
  answer.padding = trainer.padding(answer.estimate.plan);
  answer.assumptions = model.assumptions;
  for (std::string& line : assumptions_of(workload, model)) {
    answer.assumptions.push_back(std::move(line));
  }
  return answer;
}

Json train_json(const TrainAnswer& answer) {
  const TrainEstimate& estimate = answer.estimate;
  const TrainRequest& request = answer.trainer->request();
  Json wire = Json::object();
  for (const AxisBytes& axis : axis_bytes(estimate.wire_bytes, estimate.pipeline_bytes))
    wire.add(axis.name, whole_bytes(axis.bytes));
  Json run = nullptr;
  if (answer.run) {
    run = Json::object();
    run.add("tokens", answer.run->tokens)
        .add("time_s", answer.run->time_s)
        .add("device_hours", answer.run->device_hours)
        .add("cost_usd", answer.run->cost_usd)
        .add("energy_J", answer.run->energy_j);
  }
  Json json = Json::object();
  json.add("schema", 1)
      .add("model", answer.trainer->model().name)
      .add("hardware", request.hardware.name)
      .add("devices", request.devices)
      .add("convention", request.convention)
      .add("recipe", request.recipe.name)
      .add("dtype", request.dtype)
      .add("matmul_dtype", request.matmul_dtype.empty() ? request.dtype : request.matmul_dtype)
      .add("flash", 1 + static_cast<int>(request.flash))
      .add("assumptions", text_list(answer.assumptions))
      .add("plan", plan_json(estimate.plan))
      .add("step_time_s", time_json(estimate.step_time_s))
      .add("mfu", answer.mfu)
      .add("hfu", answer.hfu)
      .add("bound", estimate.bound.name())
      .add("tokens_per_s", answer.tokens_per_s)
      .add("micro_batches", estimate.micro_batches)
      .add("bubble_fraction", estimate.bubble_fraction)
      .add("exposed_communication_s", estimate.exposed_communication_s)
      .add("memory_bytes", memory_json(answer))
      .add("fits", estimate.fits)
      .add("wire_bytes", std::move(wire))
      .add("run", std::move(run));
  Json padding = nullptr;
  if (answer.padding) {
    padding = Json::object();
    padding.add("vocabulary", answer.padding->rows).add("padded", answer.padding->padded_rows);
  }
  json.add("padding", std::move(padding));
  json.add("search", answer.search ? search_json(*answer.search) : Json(nullptr));
  Json runner = nullptr;
  if (const TrainEstimate* second = runner_up(answer)) {
    runner = listed(*second);
    runner.add("why", why_worse(estimate, *second));
  }
  json.add("runner_up", std::move(runner));
  if (answer.search) {
    Json top = Json::array();
    for (const TrainEstimate& each : answer.search->best) top.push(listed(each));
    Json pareto = Json::array();
    for (const TrainEstimate& each : answer.search->pareto) pareto.push(listed(each));
    json.add("top", std::move(top)).add("pareto", std::move(pareto));
  }
  Json compared = nullptr;
  if (answer.compared) {
    compared = listed(*answer.compared);
    compared.add("why", why_worse(estimate, *answer.compared));
  }
  json.add("compared", std::move(compared));
  json.add("nearest_that_fits",
           answer.nearest_that_fits ? listed(*answer.nearest_that_fits) : Json(nullptr));
  return json;
}

namespace {

void add_memory_rows(const TrainAnswer& answer, TextTable& table) {
  const TrainMemory& memory = answer.estimate.memory;
  const auto row = [&](const char* name, double value, const std::string& note) {
    table.add_row({name, format_binary(value), note});
  };
  const Recipe& recipe = answer.trainer->request().recipe;
  row("  parameters", memory.parameters, fmt::format("{} B each", recipe.parameters.str()));
  row("  gradients", memory.gradients, fmt::format("{} B each", recipe.gradients.str()));
  row("  optimizer", memory.optimizer, fmt::format("{} B each", recipe.optimizer.str()));
  row("  activations", memory.activations, "saved for the backward pass");
  row("  workspace", memory.workspace, "of the largest block while it runs");
  row("memory", memory.total(), memory_verdict(answer.trainer->request().hardware, memory.total()));
}

std::string search_text(const TrainAnswer& answer) {
  const TrainSearch& search = *answer.search;
  std::string text = fmt::format(
      "\nsearch: {} plans, {} evaluated ({} too large), {} pruned (their parameters alone do not "
      "fit), {} rejected (",
      Count(search.evaluated + search.pruned + search.rejections()).grouped(),
      Count(search.evaluated).grouped(), Count(search.too_large).grouped(),
      Count(search.pruned).grouped(), Count(search.rejections()).grouped());
  bool first = true;
  for (int i = 0; i < kPlanRuleCount; ++i) {
    const std::int64_t count = search.rejected[static_cast<std::size_t>(i)];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", name_of(static_cast<PlanRule>(i)),
                        Count(count).grouped());
    first = false;
  }
  text += ")\n";
  if (const TrainEstimate* second = runner_up(answer)) {
    text += fmt::format("runner-up: {}: {}\n", describe(second->plan),
                        why_worse(answer.estimate, *second));
  }
  return text;
}

// The plan of the answer and another one, line by line.
std::string comparison(const TrainEstimate& a, const TrainEstimate& b) {
  TextTable table({
      {"",        Align::kLeft },
      {"this",    Align::kRight},
      {"--why",   Align::kRight},
      {"differs", Align::kRight}
  });
  const auto row = [&](const char* name, double x, double y, auto format) {
    const std::string sign = y < x ? "-" : "+";
    table.add_row({name, format(x), format(y), x == y ? "" : sign + format(std::abs(y - x))});
  };
  const auto time = [](double s) { return duration(s); };
  const auto memory = [](double value) { return format_binary(value); };
  const auto traffic = [](double value) { return format_si(value, "B"); };
  const auto kernels = [](const TrainEstimate& e) {
    return e.step_time_s.expected - e.exposed_communication_s - e.optimizer_s;
  };
  row("step time, expected", a.step_time_s.expected, b.step_time_s.expected, time);
  row("  kernels and bubble", kernels(a), kernels(b), time);
  row("  exposed communication", a.exposed_communication_s, b.exposed_communication_s, time);
  row("  optimizer", a.optimizer_s, b.optimizer_s, time);
  row("at least", a.step_time_s.lower, b.step_time_s.lower, time);
  row("pipeline bubble, of the rounds", a.bubble_fraction, b.bubble_fraction,
      [](double share) { return format_percent(share); });
  const std::vector<AxisBytes> sent_a = axis_bytes(a.wire_bytes, a.pipeline_bytes);
  const std::vector<AxisBytes> sent_b = axis_bytes(b.wire_bytes, b.pipeline_bytes);
  for (std::size_t i = 0; i < sent_a.size(); ++i) {
    if (sent_a[i].bytes == 0 && sent_b[i].bytes == 0) continue;
    row(fmt::format("sent over {}", sent_a[i].name).c_str(), sent_a[i].bytes, sent_b[i].bytes,
        traffic);
  }
  row("  parameters", a.memory.parameters, b.memory.parameters, memory);
  row("  gradients", a.memory.gradients, b.memory.gradients, memory);
  row("  optimizer state", a.memory.optimizer, b.memory.optimizer, memory);
  row("  activations", a.memory.activations, b.memory.activations, memory);
  row("  workspace", a.memory.workspace, b.memory.workspace, memory);
  row("memory", a.memory.total(), b.memory.total(), memory);
  return fmt::format("\nwhy not {}{}:\n", describe(b.plan), b.fits ? "" : ", which does not fit") +
         table.str();
}

std::string top_table(const std::vector<TrainEstimate>& plans) {
  TextTable table({
      {"plan",          Align::kLeft },
      {"step",          Align::kRight},
      {"memory",        Align::kRight},
      {"bubble",        Align::kRight},
      {"exposed comm.", Align::kRight},
  });
  for (const TrainEstimate& each : plans) {
    table.add_row({describe(each.plan), format_si(each.step_time_s.expected, "s"),
                   format_binary(each.memory.total()), format_percent(each.bubble_fraction),
                   format_si(each.exposed_communication_s, "s")});
  }
  return "\n" + table.str();
}

}  // namespace

std::string train_text(const TrainAnswer& answer, Explain explain) {
  const TrainEstimate& estimate = answer.estimate;
  const Trainer& trainer = *answer.trainer;
  const TrainRequest& request = trainer.request();
  const Workload& workload = trainer.workload();
  const Count tokens = Count(workload.batch) * Count(workload.seq_len);
  std::string text = fmt::format(
      "{} on {} x {}, {} sequences of {} = {} tokens a step, {}, recipe {}\nplan: {}\n\n",
      trainer.model().name, Count(request.devices).grouped(), request.hardware.name,
      Count(workload.batch).grouped(), Count(workload.seq_len).grouped(), tokens.grouped(),
      request.dtype, request.recipe.name, describe(estimate.plan));
  for (const std::string& line : answer.assumptions) text += "assumed: " + line + "\n";
  if (answer.padding) text += describe(*answer.padding) + "\n";
  if (!answer.assumptions.empty() || answer.padding) text += "\n";
  TextTable table({
      {"", Align::kLeft },
      {"", Align::kRight},
      {"", Align::kLeft }
  });
  const TimeRange& time = estimate.step_time_s;
  table.add_row({"step time, expected", duration(time.expected),
                 fmt::format("at least {} ({}-bound), without overlap {}", duration(time.lower),
                             estimate.bound.name(), duration(time.upper))});
  table.add_row(
      {"MFU", format_percent(answer.mfu),
       fmt::format("convention {}; HFU {}", request.convention, format_percent(answer.hfu))});
  table.add_row(
      {"tokens a second", format_si(answer.tokens_per_s, ""),
       fmt::format("{} a device",
                   format_si(answer.tokens_per_s / static_cast<double>(request.devices), ""))});
  table.add_row({"micro-batches", Count(estimate.micro_batches).grouped(),
                 fmt::format("pipeline bubble {}", format_percent(estimate.bubble_fraction))});
  table.add_row(
      {"exposed communication", duration(estimate.exposed_communication_s),
       format_percent(estimate.exposed_communication_s / time.expected) + " of the step"});
  table.add_row({"optimizer", duration(estimate.optimizer_s), ""});
  for (const AxisBytes& axis : axis_bytes(estimate.wire_bytes, estimate.pipeline_bytes)) {
    if (axis.bytes == 0) continue;
    table.add_row(
        {fmt::format("sent over {}", axis.name), format_si(axis.bytes, "B"), "a device and step"});
  }
  add_memory_rows(answer, table);
  if (answer.run) {
    const TrainRun& run = *answer.run;
    table.add_row({"run", duration(run.time_s), format_si(run.tokens.to_double(), "tokens")});
    table.add_row({"  device-hours", format_si(run.device_hours, ""),
                   run.cost_usd ? money(*run.cost_usd) : "no price known (--price)"});
    if (run.energy_j) {
      table.add_row({"  energy", format_si(*run.energy_j / 3.6e6 * 1e3, "Wh"),
                     "at the chip's TDP, no cooling"});
    }
  }
  text += table.str();
  if (explain == Explain::kYes) {
    const TrainBound& bound = estimate.bound;
    text += fmt::format(
        "\nat peak rates, each by itself: matrix units {}, vector units {}, memory {}, links {}\n"
        "expected: kernels {} + exposed communication {} + optimizer {}\n",
        duration(bound.matrix_s),
        bound.vector_s > 0 ? duration(bound.vector_s) : "not known (no vector rate)",
        duration(bound.memory_s), duration(bound.network_s),
        duration(time.expected - estimate.exposed_communication_s - estimate.optimizer_s),
        duration(estimate.exposed_communication_s), duration(estimate.optimizer_s));
  }
  if (answer.search) text += search_text(answer);
  if (answer.search && answer.search->best.size() > 2) text += top_table(answer.search->best);
  if (answer.compared) text += comparison(estimate, *answer.compared);
  if (!estimate.fits) {
    text += answer.search ? "\nno plan fits; this one lacks least\n" : "\nthis plan does not fit\n";
    if (answer.nearest_that_fits) {
      text += fmt::format("the fastest that fits: {}: step {}, memory {}\n",
                          describe(answer.nearest_that_fits->plan),
                          duration(answer.nearest_that_fits->step_time_s.expected),
                          format_binary(answer.nearest_that_fits->memory.total()));
    } else if (!answer.search) {
      text += "no plan on these devices fits\n";
    }
  }
  return text;
}

}  // namespace flopwise
