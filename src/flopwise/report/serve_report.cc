#include "flopwise/report/serve_report.h"

#include <fmt/format.h>

#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/plan_numbers.h"

namespace flopwise {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

void estimate_given(const Server& server, const ServePlanRequest& request, ServeAnswer& answer) {
  const Parallelism& mesh = *request.mesh;
  if (const std::optional<std::string> problem = server.problem(mesh)) {
    throw UserError("serve: " + *problem);
  }
  std::int64_t batch = request.batch > 0 ? request.batch : server.largest_batch(mesh, true);
  if (batch == 0) batch = mesh.replicas();
  answer.estimate = server.estimate({mesh, batch});
}

void search_best(const Server& server, const ServePlanRequest& request, ServeAnswer& answer) {
  answer.search = search_serving(server, request.batch, request.top);
  const ServeSearch& search = *answer.search;
  if (!search.best.empty()) {
    answer.estimate = search.best.front();
  } else if (!search.pareto.empty()) {
    answer.estimate = search.pareto.front();
  } else if (search.smallest) {
    answer.estimate = *search.smallest;
  } else {
    throw UserError(fmt::format(
        "serve: no mesh of {} devices divides the model, expected another number of devices",
        server.request().devices));
  }
}

void add_prices(ServeAnswer& answer) {
  const ServeRequest& request = answer.server->request();
  const std::optional<double> price = price_of(request.hardware, request.price_usd_per_hour);
  if (!price || !answer.estimate.fits) return;
  const double per_second = *price * static_cast<double>(request.devices) / kSecondsPerHour;
  const double read_per_s = static_cast<double>(request.prompt) *
                            static_cast<double>(answer.estimate.plan.mesh.replicas()) /
                            answer.estimate.ttft_s();
  answer.input_usd = per_second / read_per_s * kMillion;
  answer.output_usd = per_second / answer.estimate.tokens_per_s * kMillion;
}

Json plan_json(const ServeAnswer& answer, const ServePlan& plan) {
  Json json = Json::object();
  json.add("mesh", mesh_json(plan.mesh))
      .add("batch", plan.batch)
      .add("weights", answer.server->types().weight.name)
      .add("kv", answer.server->types().cache.name);
  return json;
}

Json listed(const ServeAnswer& answer, const ServeEstimate& estimate) {
  Json json = Json::object();
  json.add("plan", plan_json(answer, estimate.plan))
      .add("tpot_s", estimate.tpot_s())
      .add("tokens_per_s", estimate.tokens_per_s)
      .add("memory_bytes", whole_bytes(estimate.memory.total()));
  return json;
}

Json memory_json(const ServeAnswer& answer) {
  const ServeMemory& memory = answer.estimate.memory;
  const std::optional<Count>& capacity = answer.server->request().hardware.memory_bytes;
  Json json = Json::object();
  json.add("weights", whole_bytes(memory.weights))
      .add("kv_cache", whole_bytes(memory.kv_cache))
      .add("workspace", whole_bytes(memory.workspace))
      .add("total", whole_bytes(memory.total()))
      .add("capacity", capacity ? Json(*capacity) : Json(nullptr))
      .add("usable", capacity ? whole_bytes(answer.server->usable_memory()) : Json(nullptr));
  return json;
}

const ServeEstimate* runner_up(const ServeAnswer& answer) {
  if (!answer.search || answer.search->best.size() < 2) return nullptr;
  return &answer.search->best[1];
}

std::string why_fewer(const ServeEstimate& better, const ServeEstimate& worse) {
  return fmt::format("{:.3g} % of the tokens a second, {} a token against {}, batch {} against {}",
                     100 * worse.tokens_per_s / better.tokens_per_s, duration(worse.tpot_s()),
                     duration(better.tpot_s()), worse.plan.batch, better.plan.batch);
}

}  // namespace

ServeAnswer answer_serve(const Model& model, const ServeRequest& request,
                         const ServePlanRequest& plan) {
  ServeAnswer answer;
  answer.server = std::make_shared<const Server>(model, request);
  if (plan.mesh) {
    estimate_given(*answer.server, plan, answer);
  } else {
    search_best(*answer.server, plan, answer);
  }
  answer.max_batch = answer.server->largest_batch(answer.estimate.plan.mesh, false);
  add_prices(answer);
  return answer;
}

// What does not fit has no times: no number that nobody could measure.
Json serve_json(const ServeAnswer& answer) {
  const ServeEstimate& estimate = answer.estimate;
  const ServeRequest& request = answer.server->request();
  const bool fits = estimate.fits;
  Json prefill = nullptr;
  Json decode = nullptr;
  if (fits) {
    prefill = Json::object();
    prefill.add("time_s", time_json(estimate.prefill.time_s)).add("bound", estimate.prefill.bound);
    Json wire = Json::object();
    for (const AxisBytes& axis : axis_bytes(estimate.decode_wire_bytes, 0)) {
      wire.add(axis.name, whole_bytes(axis.bytes));
    }
    decode = Json::object();
    decode.add("step_time_s", time_json(estimate.decode.time_s))
        .add("tokens_per_s", estimate.tokens_per_s)
        .add("tokens_per_s_per_device",
             estimate.tokens_per_s / static_cast<double>(request.devices))
        .add("bound", estimate.decode.bound)
        .add("critical_batch", estimate.critical_batch)
        .add("wire_bytes", std::move(wire));
  }
  Json cost = Json::object();
  cost.add("input", answer.input_usd).add("output", answer.output_usd);
  Json json = Json::object();
  json.add("schema", 1)
      .add("model", answer.server->model().name)
      .add("hardware", request.hardware.name)
      .add("devices", request.devices)
      .add("prompt", request.prompt)
      .add("output", request.output)
      .add("plan", plan_json(answer, estimate.plan))
      .add("prefill", std::move(prefill))
      .add("decode", std::move(decode))
      .add("ttft_s", fits ? Json(estimate.ttft_s()) : Json(nullptr))
      .add("tpot_s", fits ? Json(estimate.tpot_s()) : Json(nullptr))
      .add("prefill_per_decode", fits ? Json(estimate.prefill_per_decode) : Json(nullptr))
      .add("max_batch", answer.max_batch)
      .add("memory_bytes", memory_json(answer))
      .add("fits", fits)
      .add("meets_slo", fits && estimate.meets_slo)
      .add("cost_usd_per_million_tokens", std::move(cost));
  if (!answer.search) {
    json.add("search", nullptr).add("runner_up", nullptr);
    return json;
  }
  Json search = Json::object();
  search.add("evaluated", answer.search->evaluated)
      .add("rejected", answer.search->rejected)
      .add("too_large", answer.search->too_large)
      .add("too_slow", answer.search->too_slow);
  json.add("search", std::move(search));
  Json runner = nullptr;
  if (const ServeEstimate* second = runner_up(answer)) {
    runner = listed(answer, *second);
    runner.add("why", why_fewer(estimate, *second));
  }
  json.add("runner_up", std::move(runner));
  Json top = Json::array();
  for (const ServeEstimate& each : answer.search->best) top.push(listed(answer, each));
  Json pareto = Json::array();
  for (const ServeEstimate& each : answer.search->pareto) pareto.push(listed(answer, each));
  json.add("top", std::move(top)).add("pareto", std::move(pareto));
  return json;
}

namespace {

void add_time_rows(const ServeAnswer& answer, TextTable& table) {
  const ServeEstimate& estimate = answer.estimate;
  const ServeRequest& request = answer.server->request();
  const auto range = [](const PassTime& pass) {
    return fmt::format("at least {} ({}-bound), without overlap {}", duration(pass.time_s.lower),
                       pass.bound, duration(pass.time_s.upper));
  };
  table.add_row({"time to first token", duration(estimate.ttft_s()), range(estimate.prefill)});
  table.add_row({"time per output token", duration(estimate.tpot_s()), range(estimate.decode)});
  table.add_row(
      {"tokens a second", format_si(estimate.tokens_per_s, ""),
       format_si(estimate.tokens_per_s / static_cast<double>(request.devices), "") + " a device"});
  table.add_row({"critical batch", fmt::format("{:.0f}", estimate.critical_batch),
                 "sequences a replica, from which on weights are compute-bound"});
  table.add_row({"prefill : decode", fmt::format("{:.3g}", estimate.prefill_per_decode),
                 "replicas that prefill for each that decodes"});
  if (answer.input_usd) {
    table.add_row({"a million tokens", money(*answer.output_usd),
                   fmt::format("written; {} read", money(*answer.input_usd))});
  }
}

}  // namespace

std::string serve_text(const ServeAnswer& answer, Explain explain) {
  const ServeEstimate& estimate = answer.estimate;
  const Server& server = *answer.server;
  const ServeRequest& request = server.request();
  std::string text =
      fmt::format("{} on {} x {}, prompt {}, output {}, weights {}, KV cache {}\nplan: {}\n\n",
                  server.model().name, Count(request.devices).grouped(), request.hardware.name,
                  Count(request.prompt).grouped(), Count(request.output).grouped(),
                  server.types().weight.name, server.types().cache.name, describe(estimate.plan));
  TextTable table({
      {"", Align::kLeft },
      {"", Align::kRight},
      {"", Align::kLeft }
  });
  if (estimate.fits) add_time_rows(answer, table);
  const ServeMemory& memory = estimate.memory;
  table.add_row({"  weights", format_binary(memory.weights), ""});
  table.add_row({"  KV cache", format_binary(memory.kv_cache),
                 fmt::format("at {} positions", Count(request.prompt + request.output).grouped())});
  table.add_row({"  workspace", format_binary(memory.workspace), "of the largest block"});
  table.add_row(
      {"memory", format_binary(memory.total()), memory_verdict(request.hardware, memory.total())});
  table.add_row({"largest batch", Count(answer.max_batch).grouped(), "sequences that fit"});
  text += table.str();
  if (explain == Explain::kYes && estimate.fits) {
    text += fmt::format(
        "\ndecode is timed at {} positions (prompt + half of the output), memory at {}; prefill is "
        "one prompt on one replica\n",
        Count(request.prompt + (request.output + 1) / 2).grouped(),
        Count(request.prompt + request.output).grouped());
  }
  if (answer.search) {
    const ServeSearch& search = *answer.search;
    text += fmt::format(
        "\nsearch: {} meshes evaluated ({} too large, {} too slow), {} do not "
        "divide the model\n",
        search.evaluated, search.too_large, search.too_slow, search.rejected);
    if (const ServeEstimate* second = runner_up(answer)) {
      text +=
          fmt::format("runner-up: {}: {}\n", describe(second->plan), why_fewer(estimate, *second));
    }
    if (search.pareto.size() > 1 && estimate.fits) {
      TextTable front({
          {"fastest for one, most for all", Align::kLeft },
          {"a token",                       Align::kRight},
          {"tokens a second",               Align::kRight}
      });
      for (const ServeEstimate& each : search.pareto) {
        front.add_row(
            {describe(each.plan), duration(each.tpot_s()), format_si(each.tokens_per_s, "")});
      }
      text += "\n" + front.str();
    }
  }
  if (!estimate.fits) {
    text += "\ndoes not fit: no times are given\n";
  } else if (!estimate.meets_slo) {
    text += "\nfits, and is slower than asked\n";
  }
  return text;
}

}  // namespace flopwise
