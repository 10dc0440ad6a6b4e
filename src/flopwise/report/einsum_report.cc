#include "flopwise/report/einsum_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwise/base/contains.h"
#include "flopwise/base/error.h"
#include "flopwise/base/units.h"
#include "flopwise/hardware/hardware.h"
#include "flopwise/hardware/network.h"
#include "flopwise/report/einsum_parts.h"

namespace flopwise {
namespace {

bool has_axis(const EinsumSpec& spec, std::string_view name) {
  return std::any_of(spec.axes.begin(), spec.axes.end(),
                     [&](const EinsumAxis& axis) { return axis.name == name; });
}

std::string axis_list(const EinsumSpec& spec) {
  std::string text;
  for (const EinsumAxis& axis : spec.axes) text += " " + axis.name;
  return text.empty() ? " none" : text;
}

void read_size(std::string_view item, const EinsumSpec& spec, Sizes& sizes) {
  const std::size_t equals = item.find('=');
  const std::string axis(item.substr(0, equals));
  if (equals == std::string_view::npos || axis.empty()) {
    throw UserError(fmt::format("--size: expected AXIS=N such as B=1024, got {}", quoted(item)));
  }
  if (!has_axis(spec, axis)) {
    throw UserError(fmt::format("--size: the expression has no axis {}, its axes:{}", quoted(axis),
                                axis_list(spec)));
  }
  const std::int64_t size =
      parse_axis_size(item.substr(equals + 1), fmt::format("--size {}", axis));
  if (!sizes.emplace(axis, size).second)
    throw UserError(fmt::format("--size: axis '{}' is given twice", axis));
}

Sizes read_sizes(const std::vector<std::string>& texts, const EinsumSpec& spec) {
  Sizes sizes;
  for (const std::string_view text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      read_size(text.substr(begin, end - begin), spec, sizes);
      begin = end + 1;
    }
  }
  return sizes;
}

std::optional<double> seconds(const Expr& work, const Rational& per_second, const Sizes& sizes) {
  if (!is_known(work, sizes)) return std::nullopt;
  return work.eval_double(sizes) / per_second.to_double();
}

void check_device_count(const HardwareChoice& choice, const std::optional<Mesh>& mesh) {
  if (!choice.count_given) return;
  const Count devices = mesh ? mesh->devices() : Count(1);
  if (devices == choice.count) return;
  throw UserError(fmt::format("--on: {} devices, but {}", choice.count,
                              mesh ? fmt::format("--mesh {} has {}", mesh->str(), devices.str())
                                   : "without --mesh an einsum runs on one"));
}

// The devices of a collective, the last axis of the mesh innermost; of a torus each is an axis.
DeviceGroup group_of(const Mesh& mesh, const std::vector<std::string>& axes,
                     const Network& network) {
  DeviceGroup group;
  std::int64_t stride = 1;
  for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis) {
    if (contains(axes, axis->name)) {
      const DeviceGroup part = place_group(stride, axis->size, network.domain_size);
      group.inside *= part.inside;
      group.across *= part.across;
      if (network.is_torus()) lay_on_torus(group, network, part.inside, part.inside);
    }
    stride *= axis->size;
  }
  if (!network.is_torus() && group.inside > 1) group.hops = 1;
  return group;
}

CollectiveTime time_of(const EinsumCollective& collective, const EinsumAnswer& answer,
                       const Hardware& hardware) {
  if (!is_known(collective.array_bytes, answer.sizes) || !answer.mesh) return {};
  const CollectiveKind kind = collective.move.kind;
  const Network network = network_of(hardware);
  const double bytes = collective.array_bytes.eval_double(answer.sizes);
  const DeviceGroup group = group_of(*answer.mesh, collective.move.mesh_axes, network);
  const SentBytes sent = sent_bytes(kind, bytes, group, network.is_torus());
  const bool known = (sent.inside == 0 || network.inside_bytes_per_s > 0) &&
                     (sent.across == 0 || network.across_bytes_per_s > 0);
  if (!known) return {};
  CollectiveTime time;
  time.time_s = collective_time_s(kind, sent, group, network, hardware);
  if (group.across == 1) {
    const double limit = limit_bytes(kind, bytes, group, network.is_torus()).inside;
    time.limit_time_s = limit / inside_rate(network, group);
  }
  return time;
}

EinsumRoofline roofline_of(const EinsumAnswer& answer, const Hardware& hardware) {
  EinsumRoofline roofline;
  roofline.hardware = hardware.name;
  roofline.peak_flops_per_s = peak_flops_per_s(hardware, answer.dtype.name);
  roofline.flops_per_byte = intensity_of(hardware, answer.dtype.name);
  roofline.memory_bytes_per_s = roofline.peak_flops_per_s / roofline.flops_per_byte;
  if (contracts(answer.spec)) {
    roofline.matrix_time_s =
        seconds(answer.sharded.flops_per_device, roofline.peak_flops_per_s, answer.sizes);
  }
  roofline.memory_time_s =
      seconds(answer.sharded.bytes_per_device, roofline.memory_bytes_per_s, answer.sizes);
  if (roofline.matrix_time_s && roofline.memory_time_s) {
    const bool is_compute_bound = *roofline.matrix_time_s >= *roofline.memory_time_s;
    roofline.bound = is_compute_bound ? "matrix" : "memory";
  }
  for (const EinsumCollective& collective : answer.sharded.collectives) {
    roofline.collectives.push_back(time_of(collective, answer, hardware));
  }
  if (answer.equal_sizes_intensity) {
    roofline.compute_bound_from =
        smallest_compute_bound_size(answer.cost, answer.spec, roofline.flops_per_byte);
  }
  return roofline;
}

}  // namespace

EinsumAnswer answer_einsum(const EinsumQuery& query) {
  EinsumAnswer answer;
  answer.spec = parse_einsum(query.expression);
  answer.dtype = in_context("--dtype", [&] { return find_dtype(query.dtype); });
  answer.axis_sizes = read_sizes(query.sizes, answer.spec);
  answer.sizes = answer.axis_sizes;
  if (query.mesh) {
    answer.mesh = parse_mesh(*query.mesh);
    for (const MeshAxis& axis : answer.mesh->axes) answer.sizes.emplace(axis.name, axis.size);
  }
  answer.cost = einsum_cost(answer.spec, answer.axis_sizes, answer.dtype);
  answer.sharded =
      sharded_einsum_cost(answer.spec, answer.cost, answer.mesh, answer.axis_sizes, answer.dtype);
  if (answer.axis_sizes.empty() && !is_on_mesh(answer)) {
    answer.equal_sizes_intensity = equal_sizes_intensity(answer.cost, answer.spec);
  }
  if (query.hardware) {
    const HardwareChoice choice = read_hardware(*query.hardware);
    check_device_count(choice, answer.mesh);
    answer.roofline = roofline_of(answer, choice.hardware);
  }
  return answer;
}

}  // namespace flopwise
