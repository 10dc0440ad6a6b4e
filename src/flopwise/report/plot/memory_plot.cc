#include "flopwise/report/plot/memory_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/report/plot/contexts.h"

namespace flopwise {
namespace {

// From the bottom of the stack to its top.
template <typename Memory>
struct Kind {
  const char* name;
  double Memory::*bytes;
};
constexpr Kind<TrainMemory> kTrainKinds[] = {
    {"parameters",  &TrainMemory::parameters },
    {"gradients",   &TrainMemory::gradients  },
    {"optimizer",   &TrainMemory::optimizer  },
    {"activations", &TrainMemory::activations},
    {"workspace",   &TrainMemory::workspace  },
};
constexpr Kind<ServeMemory> kServeKinds[] = {
    {"weights",   &ServeMemory::weights  },
    {"KV cache",  &ServeMemory::kv_cache },
    {"workspace", &ServeMemory::workspace},
};

template <typename Memory, std::size_t kCount>
PlotData empty_plot(const Kind<Memory> (&kinds)[kCount], SeriesStyle style) {
  PlotData data;
  data.name = "memory";
  data.y = {"memory_bytes", "memory of the busiest device", "B", AxisScale::kLinear,
            AxisPrefix::kBinary};
  if (style == SeriesStyle::kArea) {
    data.x = {"context_tokens", "context", "tokens", AxisScale::kLog2, AxisPrefix::kBinary};
  } else {
    data.x = {"devices", "devices", "", AxisScale::kLog2, AxisPrefix::kNone};
  }
  for (const Kind<Memory>& kind : kinds) data.series.push_back({kind.name, style, {}});
  return data;
}

template <typename Memory, std::size_t kCount>
void add_point(const Kind<Memory> (&kinds)[kCount], std::int64_t x, const Memory& memory,
               const std::string& label, PlotData& data) {
  for (std::size_t i = 0; i < kCount; ++i) {
    data.series[i].points.push_back({static_cast<double>(x), memory.*kinds[i].bytes, label, ""});
  }
}

// The line above which nothing fits. A chip whose memory is not known has none.
void add_capacity(const Hardware& hardware, PlotData& data) {
  if (!hardware.memory_bytes) return;
  const double bytes = hardware.memory_bytes->to_double();
  data.marks.push_back(
      {MarkOf::kY, kUsableMemory * bytes,
       fmt::format("usable: {}, {:.0f} % of {}", format_binary(kUsableMemory * bytes),
                   100 * kUsableMemory, format_binary(bytes))});
}

std::string listed(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t each : numbers) {
    text += (text.empty() ? "" : ", ") + Count(each).grouped();
  }
  return text;
}

std::string sequences(std::int64_t count) {
  return fmt::format("{} sequence{}", Count(count).grouped(), count == 1 ? "" : "s");
}

TrainPlan plan_for_all(const Model& model, const TrainRequest& request, const PlanRequest& plan) {
  return plan.mesh ? given_plan(plan) : answer_train(model, request, plan).estimate.plan;
}

std::optional<TrainEstimate> best_or_smallest(const Trainer& trainer, const PlanRequest& plan) {
  const TrainSearch search = search_plans(trainer, space_of(trainer, plan), search_options(plan));
  if (!search.best.empty()) return search.best.front();
  return search.smallest;
}

std::optional<ServeEstimate> best_or_smallest(const Server& server, std::int64_t batch) {
  const ServeSearch search = search_serving(std::array{&server}, batch, 1);
  if (!search.best.empty()) return search.best.front();
  if (!search.pareto.empty()) return search.pareto.front();
  return search.smallest;
}

void refuse_mesh(bool is_given) {
  if (is_given) {
    throw UserError("plot memory: --mesh fixes the devices, expected --over context or no --mesh");
  }
}

void note_left_out(const std::vector<std::int64_t>& left_out, const char* what, PlotData& data) {
  if (left_out.empty()) return;
  data.notes.push_back(fmt::format("Left out: {} {}", what, listed(left_out)));
}

}  // namespace

PlotData train_memory_by_context(const Model& model, const TrainRequest& request,
                                 const PlanRequest& plan, std::int64_t from, std::int64_t to) {
  PlotData data = empty_plot(kTrainKinds, SeriesStyle::kArea);
  const TrainPlan fixed = plan_for_all(model, request, plan);
  std::vector<std::int64_t> left_out;
  std::string problem;
  for (const std::int64_t context : contexts_between(from, to)) {
    TrainRequest at = request;
    at.seq_len = context;
    const Trainer trainer(model, at);
    if (const std::optional<PlanRule> rule = trainer.broken_rule(fixed)) {
      if (problem.empty()) problem = trainer.explain(fixed, *rule);
      left_out.push_back(context);
      continue;
    }
    add_point(kTrainKinds, context, trainer.estimate(fixed).memory, "", data);
  }
  if (data.series[0].points.empty()) throw UserError("plot memory: " + problem);
  data.title = "Memory of training by context";
  data.subtitle = fmt::format("{} on {} x {}, {}, recipe {}: {}", model.name,
                              Count(request.devices).grouped(), request.hardware.name,
                              sequences(request.batch), request.recipe.name, describe(fixed));
  add_capacity(request.hardware, data);
  note_left_out(left_out, "lengths that the plan does not divide:", data);
  return data;
}

PlotData train_memory_by_devices(const Model& model, const TrainRequest& request,
                                 const PlanRequest& plan, std::int64_t from) {
  refuse_mesh(plan.mesh.has_value());
  PlotData data = empty_plot(kTrainKinds, SeriesStyle::kBars);
  std::vector<std::int64_t> left_out;
  std::int64_t length = request.seq_len;
  for (const std::int64_t devices : device_counts(from, request.devices)) {
    TrainRequest at = request;
    at.devices = devices;
    const Trainer trainer(model, at);
    length = trainer.workload().seq_len;
    if (const std::optional<TrainEstimate> found = best_or_smallest(trainer, plan)) {
      add_point(kTrainKinds, devices, found->memory, describe(found->plan), data);
    } else {
      left_out.push_back(devices);
    }
  }
  if (data.series[0].points.empty()) {
    throw UserError(fmt::format("plot memory: no plan of up to {} devices is possible",
                                Count(request.devices).grouped()));
  }
  data.title = "Memory of training by devices, the best plan of each";
  data.subtitle =
      fmt::format("{} on {}, {} of {} tokens, recipe {}", model.name, request.hardware.name,
                  sequences(request.batch), Count(length).grouped(), request.recipe.name);
  add_capacity(request.hardware, data);
  note_left_out(left_out, "numbers of devices without a plan:", data);
  return data;
}

PlotData serve_memory_by_context(const Model& model, const ServeRequest& request,
                                 const ServePlanRequest& plan, std::int64_t from, std::int64_t to) {
  PlotData data = empty_plot(kServeKinds, SeriesStyle::kArea);
  const Server first(model, request);
  ServePlan fixed;
  if (plan.mesh) {
    fixed.mesh = *plan.mesh;
    if (const std::optional<std::string> problem = first.problem(fixed.mesh)) {
      throw UserError("plot memory: " + *problem);
    }
  } else {
    const std::optional<ServeEstimate> found = best_or_smallest(first, plan.batch);
    if (!found) throw UserError("plot memory: no mesh of the devices divides the model");
    fixed.mesh = found->plan.mesh;
  }
  fixed.batch = plan.batch > 0 ? plan.batch : fixed.mesh.replicas();
  for (const std::int64_t context : contexts_between(std::max(from, request.output + 1), to)) {
    ServeRequest at = request;
    at.prompt = context - request.output;
    add_point(kServeKinds, context, Server(model, at).estimate(fixed).memory, "", data);
  }
  data.title = "Memory of serving by context";
  data.x.label = "context, prompt and output";
  data.subtitle = fmt::format("{} on {} x {}, weights {}, KV cache {}: {}", model.name,
                              Count(request.devices).grouped(), request.hardware.name,
                              first.types().weight.name, first.types().cache.name, describe(fixed));
  add_capacity(request.hardware, data);
  return data;
}

PlotData serve_memory_by_devices(const Model& model, const ServeRequest& request,
                                 const ServePlanRequest& plan, std::int64_t from) {
  refuse_mesh(plan.mesh.has_value());
  PlotData data = empty_plot(kServeKinds, SeriesStyle::kBars);
  std::vector<std::int64_t> left_out;
  for (const std::int64_t devices : device_counts(from, request.devices)) {
    ServeRequest at = request;
    at.devices = devices;
    if (const auto found = best_or_smallest(Server(model, at), plan.batch)) {
      add_point(kServeKinds, devices, found->memory, describe(found->plan), data);
    } else {
      left_out.push_back(devices);
    }
  }
  if (data.series[0].points.empty()) {
    throw UserError(fmt::format("plot memory: no mesh of up to {} devices divides the model",
                                Count(request.devices).grouped()));
  }
  data.title = "Memory of serving by devices, the mesh with most tokens a second";
  data.subtitle = fmt::format(
      "{} on {}, {} at {} positions", model.name, request.hardware.name,
      plan.batch > 0 ? sequences(plan.batch) : std::string("the largest batch that fits"),
      Count(request.prompt + request.output).grouped());
  add_capacity(request.hardware, data);
  note_left_out(left_out, "numbers of devices that no mesh divides:", data);
  return data;
}

}  // namespace flopwise
