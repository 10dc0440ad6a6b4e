#include "flopwise/report/einsum_parts.h"
#include "flopwise/report/einsum_report.h"

namespace flopwise {
namespace {

Json count_json(const Expr& formula, const Sizes& sizes, std::string_view quantity) {
  return Json::object()
      .add("formula", formula.str())
      .add("value", value_of(formula, sizes, quantity));
}

Json real_json(const Expr& formula, const Sizes& sizes) {
  Json value = is_known(formula, sizes) ? Json(formula.eval_double(sizes)) : Json(nullptr);
  return Json::object().add("formula", formula.str()).add("value", std::move(value));
}

Json text_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json order_json(const EinsumAnswer& answer) {
  const StepNames names(answer);
  Json order = Json::array();
  for (std::size_t i = 0; i < answer.cost.steps.size(); ++i) {
    const EinsumStepCost& step = answer.cost.steps[i];
    Json inputs = Json::array();
    for (const EinsumArrayId id : step.step.inputs) inputs.push(names.array(id));
    order.push(Json::object()
                   .add("inputs", inputs)
                   .add("result", names.result(i))
                   .add("flops", count_json(step.flops, answer.axis_sizes, "FLOPs of a step"))
                   .add("result_elements",
                        count_json(step.result_elements, answer.axis_sizes, "elements")));
  }
  return order;
}

Json peak_json(const EinsumAnswer& answer) {
  if (!answer.cost.peak_intermediate) return nullptr;
  const EinsumIntermediate& peak = *answer.cost.peak_intermediate;
  return Json::object()
      .add("array", peak.array)
      .add("elements", count_json(peak.elements, answer.axis_sizes, "elements"))
      .add("bytes", count_json(peak.bytes, answer.axis_sizes, "bytes"));
}

Json sharded_json(const EinsumAnswer& answer) {
  Json collectives = Json::array();
  for (std::size_t i = 0; i < answer.sharded.collectives.size(); ++i) {
    const EinsumCollective& collective = answer.sharded.collectives[i];
    const CollectiveTime time =
        answer.roofline ? answer.roofline->collectives.at(i) : CollectiveTime{};
    collectives.push(
        Json::object()
            .add("kind", name_of(collective.move.kind))
            .add("mesh_axes", text_list(collective.move.mesh_axes))
            .add("array", collective.move.array)
            .add("array_bytes",
                 count_json(collective.array_bytes, answer.sizes, "bytes of a collective"))
            .add("bytes", count_json(collective.sent_bytes, answer.sizes, "bytes sent by a device"))
            .add("time_s", time.time_s)
            .add("limit_time_s", time.limit_time_s));
  }
  const ShardedEinsumCost& sharded = answer.sharded;
  return Json::object()
      .add("flops_total", count_json(sharded.flops_total, answer.sizes, "FLOPs of all devices"))
      .add("flops_per_device",
           count_json(sharded.flops_per_device, answer.sizes, "FLOPs per device"))
      .add("bytes_per_device",
           count_json(sharded.bytes_per_device, answer.sizes, "bytes per device"))
      .add("collectives", collectives)
      .add("output", describe(sharded.output))
      .add("notes", text_list(sharded.notes));
}

Json roofline_json(const EinsumRoofline& roofline) {
  return Json::object()
      .add("hardware", roofline.hardware)
      .add("peak_flops_per_s", roofline.peak_flops_per_s.to_double())
      .add("memory_bytes_per_s", roofline.memory_bytes_per_s.to_double())
      .add("flops_per_byte", roofline.flops_per_byte.to_double())
      .add("matrix_time_s", roofline.matrix_time_s)
      .add("memory_time_s", roofline.memory_time_s)
      .add("compute_bound_from", roofline.compute_bound_from);
}

Json sizes_json(const Sizes& sizes) {
  Json object = Json::object();
  for (const auto& [axis, size] : sizes) object.add(axis, size);
  return object;
}

}  // namespace

Json einsum_json(const EinsumAnswer& answer) {
  const EinsumCost& cost = answer.cost;
  Json axes = Json::object();
  for (const EinsumAxis& axis : answer.spec.axes) axes.add(axis.name, name_of(axis.kind));
  Json equal_sizes;
  if (answer.equal_sizes_intensity)
    equal_sizes = Json::object().add("intensity", answer.equal_sizes_intensity->str());
  const auto count = [&](const Expr& formula, std::string_view what) {
    return count_json(formula, answer.axis_sizes, what);
  };
  return Json::object()
      .add("schema", 1)
      .add("expression", describe(answer.spec))
      .add("axes", axes)
      .add("output", describe(answer.spec.output))
      .add("sizes", sizes_json(answer.sizes))
      .add("dtype", answer.dtype.name)
      .add("flops", count(cost.flops, "FLOPs"))
      .add("naive_flops", count(cost.naive_flops, "FLOPs in one loop"))
      .add("bytes", count(cost.bytes, "bytes"))
      .add("intensity", real_json(cost.intensity, answer.axis_sizes))
      .add("equal_sizes", equal_sizes)
      .add("order", order_json(answer))
      .add("order_assumes", cost.has_order_choice ? sizes_json(cost.assumed) : Json::object())
      .add("peak_intermediate", peak_json(answer))
      .add("roofline", answer.roofline ? roofline_json(*answer.roofline) : Json())
      .add("bound", answer.roofline ? Json(answer.roofline->bound) : Json())
      .add("sharded", sharded_json(answer));
}

}  // namespace flopwise
