#include "flopwise/plan/parallelism.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "flopwise/base/count.h"
#include "flopwise/base/error.h"
#include "flopwise/base/split.h"
#include "flopwise/base/units.h"

namespace flopwise {
namespace {

struct NamedSize {
  const char* name;
  std::int64_t Parallelism::*size;
};
constexpr std::array<NamedSize, 6> kAxes = {
    {{"dp", &Parallelism::dp},
     {"fsdp", &Parallelism::fsdp},
     {"tp", &Parallelism::tp},
     {"cp", &Parallelism::cp},
     {"pp", &Parallelism::pp},
     {"ep", &Parallelism::ep}}
};

}  // namespace

std::int64_t Parallelism::devices() const {
  std::int64_t product = 1;
  for (const NamedSize& axis : kAxes) {
    if (__builtin_mul_overflow(product, this->*axis.size, &product)) {
      throw OverflowError("mesh " + str() + ": its devices do not fit into 64 bits");
    }
  }
  return product;
}

std::string Parallelism::str() const {
  std::string text;
  for (const NamedSize& axis : kAxes) {
    if (this->*axis.size == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, this->*axis.size);
  }
  return text.empty() ? "one device" : text;
}

Parallelism parse_parallelism(std::string_view text) {
  Parallelism result;
  for (const MeshAxis& axis : parse_mesh(text).axes) {
    bool known = false;
    for (const NamedSize& named : kAxes) {
      if (axis.name != named.name) continue;
      result.*named.size = axis.size;
      known = true;
    }
    if (!known) {
      throw UserError(fmt::format("mesh: unknown axis {}, expected dp, fsdp, tp, cp, pp or ep",
                                  quoted(axis.name)));
    }
  }
  return result;
}

namespace {

constexpr PipelineSchedule kSchedules[] = {PipelineSchedule::k1F1B, PipelineSchedule::kZeroBubbleH1,
                                           PipelineSchedule::kZeroBubbleH2};

}  // namespace

const char* name_of(PipelineSchedule schedule) {
  switch (schedule) {
    case PipelineSchedule::k1F1B:
      return "1f1b";
    case PipelineSchedule::kZeroBubbleH1:
      return "zb-h1";
    case PipelineSchedule::kZeroBubbleH2:
      return "zb-h2";
  }
  throw InternalError("unknown schedule");
}

PipelineSchedule parse_schedule(std::string_view text) {
  for (const PipelineSchedule schedule : kSchedules) {
    if (text == name_of(schedule)) return schedule;
  }
  throw UserError(fmt::format("schedule: expected 1f1b, zb-h1 or zb-h2, got {}", quoted(text)));
}

std::string describe(const TrainPlan& plan) {
  std::string text = fmt::format("{}, micro-batch {}, remat {}", plan.mesh.str(), plan.micro_batch,
                                 describe(plan.remat));
  if (plan.sequence_parallel) text += ", sequence parallel";
  if (plan.zero > 0) text += fmt::format(", zero {}", plan.zero);
  if (plan.interleave > 1) text += fmt::format(", interleave {}", plan.interleave);
  if (plan.mesh.pp > 1 && plan.schedule != PipelineSchedule::k1F1B) {
    text += fmt::format(", {}", name_of(plan.schedule));
  }
  return text;
}

TrainPlan parse_train_plan(std::string_view text) {
  TrainPlan plan;
  std::string mesh;
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) {
    // remat=save:NAME,NAME has commas of its own.
    const bool goes_on = part.find('=') == std::string_view::npos && !parts.empty() &&
                         parts.back().starts_with("remat=save:");
    goes_on ? void(parts.back().append(",").append(part)) : void(parts.emplace_back(part));
  }
  for (const std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    const std::string name(part.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    const auto size = [&] { return parse_axis_size(value, "plan: " + name); };
    const auto small = [&](std::int64_t most) {
      if (value.size() == 1 && value[0] >= '0' && value[0] - '0' <= most) return value[0] - '0';
      throw UserError(
          fmt::format("plan: {}: expected 0 ... {}, got {}", name, most, quoted(value)));
    };
    if (name == "micro-batch") {
      plan.micro_batch = size();
    } else if (name == "interleave") {
      plan.interleave = size();
    } else if (name == "remat") {
      plan.remat = parse_remat(value);
    } else if (name == "zero") {
      plan.zero = small(2);
    } else if (name == "sequence-parallel") {
      plan.sequence_parallel = small(1) == 1;
    } else if (name == "schedule") {
      plan.schedule = in_context("plan", [&] { return parse_schedule(value); });
    } else {
      mesh += (mesh.empty() ? "" : ",") + std::string(part);
    }
  }
  if (!mesh.empty()) plan.mesh = parse_parallelism(mesh);
  return plan;
}

TensorSplit split_tensor_axis(std::int64_t tp, std::int64_t kv_heads) {
  const std::int64_t keys = kv_heads > 0 ? std::gcd(tp, kv_heads) : tp;
  return {keys, tp / keys};
}

}  // namespace flopwise
