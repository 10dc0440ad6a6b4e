#include "flopwise/report/layer_bounds.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "flopwise/base/error.h"
#include "flopwise/base/text_table.h"
#include "flopwise/model/build.h"

namespace flopwise {
namespace {

constexpr double kMany = 1 << 16;  // devices, where the limit needs no number

MeshShape shape_of(double fsdp, double tp, double ep = 1) {
  return {1, fsdp, ep, 1, tp, 1};
}
MeshShape shape_of(const Parallelism& mesh) {
  const auto size = [](std::int64_t value) { return static_cast<double>(value); };
  return {size(mesh.dp), size(mesh.fsdp), size(mesh.ep), size(mesh.cp), size(mesh.tp), 1};
}

std::string rings(int count) {
  return count == 1 ? "1 ring" : fmt::format("{} rings", count);
}

// What is asked of each kind of layer.
class BoundsOf {
 public:
  BoundsOf(const LayerOnMesh& layer, const CountResult& count, const Hardware& hardware,
           bool has_experts)
      : layer_(layer), has_experts_(has_experts) {
    const ChipRates chip = rates_of(hardware, std::string(count.types.compute.name));
    rates_ = {chip.matrix_flops_per_s, chip.memory_bytes_per_s, chip.network};
    decodes_ = count.workload.mode == Mode::kDecode;
    tokens_ = static_cast<double>(count.workload.batch * count.workload.seq_len);
  }

  std::vector<ParallelBound> all() {
    if (rates_.network.ring_bytes_per_s() > 0) {
      on_rings();
    } else if (rates_.network.inside_bytes_per_s > 0) {
      through_switches();
    }
    return std::move(bounds_);
  }

  ParallelBound of_mesh(const Parallelism& mesh) const {
    if (mesh.pp > 1) {
      throw UserError(
          fmt::format("--mesh {}: a layer lies on one stage, expected pp=1", mesh.str()));
    }
    const bool lacks_inside = mesh.devices() > 1 && rates_.network.inside_bytes_per_s == 0;
    const bool crosses =
        rates_.network.domain_size > 0 && mesh.devices() > rates_.network.domain_size;
    if (lacks_inside || (crosses && rates_.network.across_bytes_per_s == 0)) {
      throw UserError(
          fmt::format("--mesh {}: the {} of the chip is not known, expected it with --on",
                      mesh.str(), lacks_inside ? "link_bandwidth" : "network_bandwidth"));
    }
    return {mesh.str(), "as placed", false,
            critical_tokens(layer_, shape_of(mesh), rates_, GroupSize::kExact), std::nullopt};
  }

 private:
  void add_tokens(const char* name, std::string links, const MeshShape& shape) {
    bounds_.push_back({name, std::move(links), false,
                       critical_tokens(layer_, shape, rates_, GroupSize::kLimit), std::nullopt});
  }
  // Against the weights where they, and not the matrix units, bound the step.
  void add_degree(std::string links) {
    const Against against = decodes_ ? Against::kWeights : Against::kMatrix;
    bounds_.push_back({"tp", std::move(links), true, std::nullopt,
                       critical_degree(layer_, ParallelAxis::kTp, tokens_, shape_of(1, 1), rates_,
                                       GroupSize::kLimit, against)});
  }

  void on_rings() {
    const Network& network = rates_.network;
    const int most =
        static_cast<int>(std::lround(network.inside_bytes_per_s / network.ring_bytes_per_s()));
    for (int count = 1; count <= most; ++count) {
      rates_.rings.fill(count);
      if (!decodes_) add_tokens("fsdp", rings(count), shape_of(2, 1));
      if (has_experts_) add_tokens("ep", rings(count), shape_of(1, 1, 2));
      add_degree(rings(count));
    }
    rates_.rings.fill(1);
    if (decodes_ || most < 2) return;
    rates_.rings[static_cast<std::size_t>(ParallelAxis::kFsdp)] = most - 1;
    bounds_.push_back({"fsdp and tp", fmt::format("{} and 1, best split", rings(most - 1)), false,
                       critical_tokens_of_best_split(layer_, kMany, rates_), std::nullopt});
    rates_.rings.fill(1);
  }

  void through_switches() {
    const auto domain = static_cast<double>(std::max<std::int64_t>(rates_.network.domain_size, 2));
    const std::string inside = rates_.network.domain_size > 0
                                   ? fmt::format("inside {} devices", rates_.network.domain_size)
                                   : "inside a domain";
    if (rates_.network.domain_size != 1) {
      if (!decodes_) add_tokens("fsdp", inside, shape_of(domain, 1));
      if (has_experts_) add_tokens("ep", inside, shape_of(1, 1, domain));
    }
    if (rates_.network.domain_size > 0 && rates_.network.across_bytes_per_s > 0 && !decodes_) {
      add_tokens("fsdp", "across domains", shape_of(domain * kMany, 1));
    }
    const DeviceRates all = rates_;
    rates_.network.domain_size = 0;  // as if every device were inside
    add_degree("links of a domain");
    rates_ = all;
  }

  const LayerOnMesh& layer_;
  bool has_experts_ = false;
  bool decodes_ = false;
  double tokens_ = 1;
  DeviceRates rates_;
  std::vector<ParallelBound> bounds_;
};

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "never";
}

}  // namespace

std::vector<LayerBounds> layer_bounds(const Model& model, const CountResult& count,
                                      const Hardware& hardware,
                                      const std::optional<Parallelism>& mesh) {
  const bool trains = count.workload.mode == Mode::kTrain;
  const Program program = trains ? build_training_program(model, count.workload, count.remat)
                                 : build_program(model, count.workload);
  const Rational gradient = bytes_per_element(count.types.compute);
  std::vector<LayerBounds> bounds;
  for (const Block& block : program.blocks) {
    if (!block.is_layer) continue;
    const Sizes sizes = program.sizes_of(block);
    LayerBounds bound;
    bound.block = block.name;
    bound.layers = block.repeat.eval_count(sizes, "layers");
    const Rational ridge = intensity_of(hardware, count.types.compute.name);
    bound.batch = critical_batch(block, sizes, count.types, ridge);
    const LayerOnMesh layer(block, sizes, false, {count.types, gradient});
    BoundsOf parallel(layer, count, hardware, sizes.count("E") > 0);
    if (mesh) {
      bound.parallel.push_back(parallel.of_mesh(*mesh));
    } else {
      bound.parallel = parallel.all();
    }
    bounds.push_back(std::move(bound));
  }
  return bounds;
}

Json layer_bounds_json(const std::vector<LayerBounds>& bounds) {
  Json layers = Json::array();
  for (const LayerBounds& bound : bounds) {
    Json parallel = Json::array();
    for (const ParallelBound& each : bound.parallel) {
      parallel.push(Json::object()
                        .add("parallelism", each.parallelism)
                        .add("links", each.links)
                        .add("tokens_per_device", each.tokens_per_device)
                        .add("degree", each.degree));
    }
    std::optional<double> weights;
    std::optional<double> activations;
    if (bound.batch) {
      weights = bound.batch->weights_only.to_double();
      if (bound.batch->with_activations) activations = bound.batch->with_activations->to_double();
    }
    layers.push(
        Json::object()
            .add("block", bound.block)
            .add("layers", bound.layers)
            .add("batch_tokens",
                 Json::object().add("weights_only", weights).add("with_activations", activations))
            .add("parallel", std::move(parallel)));
  }
  return layers;
}

std::string layer_bounds_text(const std::vector<LayerBounds>& bounds) {
  TextTable table({
      {"compute-bound", Align::kLeft },
      {"block",         Align::kLeft },
      {"on",            Align::kLeft },
      {"limit",         Align::kRight},
      {"",              Align::kLeft },
  });
  for (const LayerBounds& bound : bounds) {
    if (bound.batch) {
      table.add_row({"weights read once", bound.block, "memory",
                     number(bound.batch->weights_only.to_double()), "tokens or more"});
      const auto& all = bound.batch->with_activations;
      table.add_row({"and activations", bound.block, "memory",
                     number(all ? std::optional<double>(all->to_double()) : std::nullopt),
                     "tokens or more"});
    }
    for (const ParallelBound& each : bound.parallel) {
      const bool all_degrees = each.is_degree && !each.degree;
      table.add_row(
          {each.parallelism, bound.block, each.links,
           all_degrees ? "any" : number(each.is_degree ? each.degree : each.tokens_per_device),
           each.is_degree ? "devices or fewer" : "tokens a device or more"});
    }
  }
  return table.str();
}

}  // namespace flopwise
