#include "flopwise/report/serve_report.h"

#include <fmt/format.h>

#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/dtype.h"
#include "flopwise/base/error.h"
#include "flopwise/base/split.h"
#include "flopwise/base/text_table.h"
#include "flopwise/base/units.h"
#include "flopwise/report/facts.h"
#include "flopwise/report/plan_numbers.h"

namespace flopwise {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

using Servers = std::vector<std::shared_ptr<const Server>>;

// One for each element type of the weights.
Servers servers_of(const Model& model, const ServeRequest& request,
                   const std::vector<std::string>& weights) {
  Servers servers;
  for (const std::string& type : weights) {
    ServeRequest one = request;
    one.weights = type;
    servers.push_back(std::make_shared<const Server>(model, one));
  }
  if (weights.empty()) servers.push_back(std::make_shared<const Server>(model, request));
  return servers;
}

void estimate_given(const Server& server, const ServePlanRequest& request, ServeAnswer& answer) {
  const Parallelism& mesh = *request.mesh;
  if (const std::optional<std::string> problem = server.problem(mesh)) {
    throw UserError("serve: " + *problem);
  }
  std::int64_t batch = request.batch > 0 ? request.batch : server.largest_batch(mesh, true);
  if (batch == 0) batch = mesh.replicas();
  answer.estimate = server.estimate({mesh, batch});
}

void search_best(const Servers& servers, const ServePlanRequest& request, ServeAnswer& answer) {
  std::vector<const Server*> all;
  for (const auto& server : servers) all.push_back(server.get());
  answer.search = search_serving(all, request.batch, request.top);
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
        servers.front()->request().devices));
  }
  for (const auto& server : servers) {
    if (server->types().weight.name == answer.estimate.weights) answer.server = server;
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

Json plan_json(const ServeAnswer& answer, const ServeEstimate& estimate) {
  Json json = Json::object();
  json.add("mesh", mesh_json(estimate.plan.mesh))
      .add("batch", estimate.plan.batch)
      .add("weights", estimate.weights)
      .add("kv", answer.server->types().cache.name);
  return json;
}

Json listed(const ServeAnswer& answer, const ServeEstimate& estimate) {
  Json json = Json::object();
  json.add("plan", plan_json(answer, estimate))
      .add("tpot_s", estimate.tpot_s())
      .add("tokens_per_s", estimate.tokens_per_s)
      .add("memory_bytes", whole_bytes(estimate.memory.total()));
  return json;
}

Json memory_json(const ServeAnswer& answer) {
  const ServeMemory& memory = answer.estimate.memory;
  return memory_parts_json(
      {
          {"weights",   memory.weights  },
          {"kv_cache",  memory.kv_cache },
          {"workspace", memory.workspace}
  },
      answer.server->request().hardware, answer.server->usable_memory());
}

// The plan, and its weights where they are not those of the answer.
std::string describe(const ServeEstimate& estimate, const ServeAnswer& answer) {
  const std::string plan = describe(estimate.plan);
  return estimate.weights == answer.estimate.weights ? plan
                                                     : plan + ", weights " + estimate.weights;
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

std::vector<std::string> weights_to_choose_from(std::string_view text) {
  std::vector<std::string> types;
  if (text.find(',') == std::string_view::npos) return types;
  for (const std::string_view type : split(text, ',')) {
    const std::string name(in_context("--weights", [&] { return find_dtype(type).name; }));
    if (contains(types, name)) {
      throw UserError(fmt::format("--weights: expected each element type once, got {} twice in {}",
                                  name, quoted(text)));
    }
    types.push_back(name);
  }
  return types;
}

ServeAnswer answer_serve(const Model& model, const ServeRequest& request,
                         const ServePlanRequest& plan) {
  ServeAnswer answer;
  const Servers servers = servers_of(model, request, plan.weights);
  answer.server = servers.front();
  if (plan.mesh && servers.size() > 1) {
    throw UserError("--weights: expected one element type with --mesh, got several");
  }
  if (plan.mesh) {
    estimate_given(*answer.server, plan, answer);
  } else {
    search_best(servers, plan, answer);
  }
  const Workload longest = answer.server->longest_decode();
  answer.assumptions = model.assumptions;
  for (std::string& line : assumptions_of(longest, model)) {
    answer.assumptions.push_back(std::move(line));
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
      .add("assumptions", text_list(answer.assumptions))
      .add("plan", plan_json(answer, estimate))
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
  for (const std::string& line : answer.assumptions) text += "assumed: " + line + "\n";
  if (!answer.assumptions.empty()) text += "\n";
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
      text += fmt::format("runner-up: {}: {}\n", describe(*second, answer),
                          why_fewer(estimate, *second));
    }
    if (search.pareto.size() > 1 && estimate.fits) {
      TextTable front({
          {"fastest for one, most for all", Align::kLeft },
          {"a token",                       Align::kRight},
          {"tokens a second",               Align::kRight}
      });
      for (const ServeEstimate& each : search.pareto) {
        front.add_row(
            {describe(each, answer), duration(each.tpot_s()), format_si(each.tokens_per_s, "")});
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
