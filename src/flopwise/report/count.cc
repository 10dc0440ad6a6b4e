#include "flopwise/report/count.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/parallel.h"
#include "flopwise/model/build.h"
#include "flopwise/report/model_params.h"

namespace flopwise {
namespace {

ElementTypes element_types(const CountRequest& request) {
  const auto pick = [&](const std::string& option, const std::string& name) {
    return in_context(option, [&] { return find_dtype(name.empty() ? request.dtype : name); });
  };
  const DType& compute = pick("--dtype", request.dtype);
  if (compute.elements > 1) {
    throw UserError("--dtype: expected a type that computes, such as bf16, got " +
                    quoted(request.dtype));
  }
  return {compute, pick("--weights", request.weights), pick("--kv", request.kv)};
}

// A row of a head is what blocks of a quantised cache are made of.
void check_cache_blocks(const Model& model, const DType& cache) {
  if (cache.elements == 1 || !model.decoder) return;
  const auto check = [&](const char* what, std::int64_t width) {
    if (width % cache.elements == 0) return;
    throw UserError(fmt::format("--kv {}: expected {} of a multiple of {} elements, got {}",
                                cache.name, what, cache.elements, width));
  };
  for (const LayerGroup& group : model.decoder->groups) {
    if (!group.layer.attention) continue;
    const Attention& attention = *group.layer.attention;
    if (attention.latent) {
      check("a latent", attention.latent->kv_rank);
      check("a rotated key", attention.latent->rope_dim);
    } else {
      check("heads", attention.head_dim);
      check("heads", attention.value_dim);
    }
  }
}

bool has_cache(const Model& model) {
  return model.architecture != Architecture::kEncoder;
}

Workload one_sequence(const Workload& workload) {
  Workload one = workload;
  one.batch = 1;
  return one;
}

// All positions at once, T = S, without a cache.
Workload forward_of(const Workload& workload, AttentionKernel kernel) {
  Workload forward = workload;
  forward.mode = Mode::kForward;
  forward.seq_len = forward.context;
  forward.logits = Logits::kAll;
  forward.kernel = kernel;
  return forward;
}

Workload one_token_of(const Workload& workload) {
  Workload decode = workload;
  decode.mode = Mode::kDecode;
  decode.seq_len = 1;
  return decode;
}

std::optional<KvCache> kv_cache(const CountResult& result) {
  if (!has_cache(result.model)) return std::nullopt;
  return kv_cache_of(build_program(result.model, one_token_of(result.workload)), result.types);
}

Analysis analysis(const CountResult& result) {
  AnalysisInput input;
  input.cost = &result.cost;
  input.tokens = Count(result.workload.batch) * Count(result.workload.seq_len);
  input.types = result.types;
  input.intensity = result.intensity;
  // What is asked of one sequence is derived from one.
  const Workload sequence = one_sequence(result.workload);
  const Program forward =
      build_program(result.model, forward_of(sequence, AttentionKernel::kFlash));
  input.forward = &forward;
  std::optional<Program> decode;
  if (has_cache(result.model)) {
    decode = build_program(result.model, one_token_of(sequence));
    input.decode = &*decode;
  }
  std::optional<Program> plain;
  if (result.fusion == Fusion::kUnfused) {
    plain = build_program(result.model, forward_of(result.workload, AttentionKernel::kPlain));
    input.plain = &*plain;
  }
  return analyse(input);
}

// Towers count among the parameters; what images cost is said for one of them.
void add_towers(CountResult& result) {
  for (const Tower& tower : result.model.towers) {
    TowerCost cost;
    cost.name = tower.name;
    cost.positions = positions_of_tower(*tower.model);
    const Program program = build_tower_program(*tower.model, cost.positions);
    Params params = params_of(program);
    if (result.workload.lora) params.trainable = 0;  // frozen, as all but the adapters
    const Params unused = unused_params_of(*tower.model);
    params += unused;
    cost.params = params.total;
    cost.unused = unused.total;
    result.unused += unused.total;
    result.cost.params += params;
    cost.flops = in_context(tower.name, [&] {
      return cost_of(program, {result.fusion, result.types}).forward;
    });
    result.towers.push_back(std::move(cost));
  }
}

}  // namespace

CountResult count_model(const Model& model, const CountRequest& request) {
  CountResult result;
  result.model = model;
  result.workload = resolve(request.workload, model);
  result.remat = request.remat;
  result.fusion = request.fusion;
  result.types = element_types(request);
  check_cache_blocks(model, result.types.cache);
  for (std::string& line : assumptions_of(result.workload, model)) {
    result.model.assumptions.push_back(std::move(line));
  }
  result.convention = &find_convention(request.convention);
  const bool training = result.workload.mode == Mode::kTrain;
  if (!training && request.remat.kind != RematKind::kNone) {
    throw UserError("--remat: only training recomputes, got it with --mode " +
                    std::string(name_of(result.workload.mode)));
  }
  if (request.hardware) {
    result.intensity = intensity_of(*request.hardware, result.types.compute.name);
    result.intensity_source = request.hardware->name;
  } else if (request.intensity) {
    result.intensity = request.intensity;
    result.intensity_source = "--intensity";
  }
  const Program program = training ? build_training_program(model, result.workload, request.remat)
                                   : build_program(model, result.workload);
  result.sizes = program.sizes;
  result.cost = cost_of(program, {request.fusion, result.types});
  // A decoding step leaves out the encoder; the model keeps it.
  result.mtp = params_of(build_mtp_program(model, result.workload)).total;
  result.cost.params = params_of(
      build_program(model, forward_of(one_sequence(result.workload), AttentionKernel::kFlash)));
  result.kv_cache = kv_cache(result);
  result.analysis = in_context("analysis", [&] { return analysis(result); });
  const Count tokens = Count(result.workload.batch) * Count(result.workload.seq_len);
  in_context("6*N*D", [&] {
    result.six_n_d = Count(training ? 6 : 2) * result.cost.params.active * tokens;
    result.six_n_d_ratio = Rational(result.cost.model_total()) / Rational(result.six_n_d);
  });
  result.by_convention = in_context("FLOPs by convention " + request.convention, [&] {
    return flops_by(*result.convention, result.cost, training, tokens,
                    request.remat.kind != RematKind::kNone);
  });
  result.text = result.cost.params;
  const Params unused = unused_params_of(model);
  result.cost.params += unused;
  result.unused = unused.total;
  add_towers(result);
  return result;
}

std::vector<CountResult> count_models(const std::vector<Model>& models,
                                      const CountRequest& request) {
  std::vector<CountResult> results(models.size());
  for_each_parallel(models.size(), 0,
                    [&](std::size_t i) { results[i] = count_model(models[i], request); });
  return results;
}

}  // namespace flopwise
