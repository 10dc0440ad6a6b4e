// From the hidden states of a tower to positions of the model beside it.
#include <cmath>
#include <utility>

#include "flopwise/model/blocks/block_builder.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kOther;

class ProjectorBuilder {
 public:
  ProjectorBuilder(BlockBuilder& builder, const Projector& projector)
      : builder_(builder), projector_(projector) {}

  TensorId build(TensorId x) {
    using Position = Projector::Position;
    if (projector_.resampler) return resampled(x, *projector_.resampler);
    if (projector_.position == Position::kFirst || projector_.position == Position::kLast) {
      const StackAxes& a = builder_.axes();
      x = builder_.emit("projector.taken", TakeOne{projector_.position == Position::kLast}, {x},
                        builder_.activation("projector.taken", {a.batch, a.model}, kPart), kPart);
    } else if (projector_.position == Position::kAllButFirst) {
      const StackAxes& a = builder_.axes();
      const Axis rest{a.queries.name + "-1", a.queries.size - 1};
      x = builder_.emit("projector.rest", PrependBackward{}, {x},
                        builder_.activation("projector.rest", {a.batch, rest, a.model}, kPart),
                        kPart);
    }
    TensorId out = through("projector", x, projector_.norm_merged);
    for (std::int64_t i = 0; i < projector_.scalars; ++i) {
      const std::string name = "projector.scalar" + (i == 0 ? "" : std::to_string(i + 1));
      out = builder_.map(name, scalar_mul(), {out, builder_.parameter(name + ".weight", {}, kPart)},
                         kPart);
    }
    for (std::int64_t i = 0; i < projector_.merged_copies; ++i) {
      builder_.graph().outputs.push_back(through("projector." + std::to_string(i + 2), x, true));
    }
    return out;
  }

 private:
  // Neighbours side by side, [B,T,D] -> [B,T/M,M,D], then the dense layers.
  TensorId through(const std::string& name, TensorId x, bool norm_merged) {
    const StackAxes& a = builder_.axes();
    if (projector_.norm && !norm_merged && !projector_.pools) {
      x = builder_.norm(name + ".norm", x, *projector_.norm);
    }
    Axes rows = builder_.graph().tensor(x).axes;
    rows.pop_back();
    Axes in = {a.model};
    if (rows.size() > 1) {
      const Axis merged{"M", projector_.merge};
      const Axis whole = rows.back();
      rows.back() = {whole.name + "/M", whole.size / projector_.merge};
      Axes parts = rows;
      parts.push_back(merged);
      parts.push_back(a.model);
      x = builder_.relabel(name + ".merged", x, parts);
      in = {merged, a.model};
    }
    if (projector_.pools) {
      x = mean_of_neighbours(name, x, rows);
      in = {a.model};
      if (projector_.norm) x = builder_.norm(name + ".norm", x, *projector_.norm);
    }
    if (projector_.norm && norm_merged) x = builder_.norm(name + ".norm", x, *projector_.norm, 2);
    for (std::size_t i = 0; i < projector_.inner.size(); ++i) {
      const std::string number = i == 0 ? "" : std::to_string(i + 1);
      const Axis width{"Dp" + std::string(i, '\''), projector_.inner[i].width};
      x = dense_layer(name + ".dense" + number, x, in, rows, width, projector_.inner[i]);
      in = {width};
    }
    const Axis out{"Do", projector_.out};
    if (projector_.joined > 0) return joined(name, x, in, rows, out);
    return dense(name, x, in, rows, out, projector_.bias);
  }

  TensorId mean_of_neighbours(const std::string& name, TensorId x, Axes rows) {
    rows.push_back(builder_.axes().model);
    const TensorId sum = builder_.activation(name + ".sum", rows, kPart);
    builder_.emit(name + ".sum", Sum{}, {x}, sum, kPart);
    const double share = 1 / static_cast<double>(projector_.merge);
    return builder_.map(name + ".mean", scalar_scale(share), {sum}, kPart);
  }

  TensorId dense(const std::string& name, TensorId x, Axes weight, Axes out, const Axis& width,
                 bool bias) {
    weight.push_back(width);
    out.push_back(width);
    return builder_.linear_bias(name, x, weight, out, bias, {width}, kPart);
  }

  TensorId dense_layer(const std::string& name, TensorId x, const Axes& in, const Axes& rows,
                       const Axis& width, const ProjectorLayer& layer) {
    TensorId y = dense(name, x, in, rows, width, layer.bias);
    if (layer.norm) y = builder_.norm(name + ".norm", y, *layer.norm);
    if (!layer.activation) return y;
    const ScalarProgram act = activation_program(*layer.activation);
    if (!layer.gated) return builder_.map(name + ".act", act, {y}, kPart);
    const TensorId up = dense(name + ".up", x, in, rows, width, layer.bias);
    return builder_.map(name + ".act", scalar_gated(act), {y, up}, kPart);
  }

  // One matrix over the last hidden states and those of earlier layers side by side: its part for
  // the first, to which the rest is added.
  TensorId joined(const std::string& name, TensorId x, Axes in, Axes rows, const Axis& width) {
    const Axis states{"J", projector_.joined};
    Axes earlier_axes = rows;
    earlier_axes.push_back(states);
    earlier_axes.push_back(builder_.axes().model);
    const TensorId earlier = builder_.input(name + ".earlier", earlier_axes);
    const TensorId first = dense(name + ".last", x, std::move(in), rows, width, false);
    rows.push_back(width);
    const TensorId weight =
        builder_.parameter(name + ".weight", {states, builder_.axes().model, width}, kPart);
    const TensorId sum =
        builder_.emit(name, Contraction{OpClass::kMatmul, ""}, {earlier, weight, first},
                      builder_.activation(name, rows, kPart), kPart);
    if (!projector_.bias) return sum;
    return builder_.add(name + "_bias", sum, builder_.parameter(name + ".bias", {width}, kPart),
                        kPart);
  }

  // Fixed rows for positions are added to the keys alone.
  TensorId resampled(TensorId x, const Resampler& resampler) {
    const StackAxes& a = builder_.axes();
    const Axis out{"Do", projector_.out};
    const Axis inner{"Do'", projector_.out};
    const Axis queries{"Lq", resampler.queries};
    const Axis heads{"Nr", resampler.heads};
    const Axis head{"Hr'", resampler.head_dim};
    const auto norm = [&](const std::string& part, TensorId of) {
      return builder_.norm("resampler." + part + "_norm", of, resampler.norm);
    };
    const auto to_heads = [&](const std::string& part, TensorId of, Axes rows) {
      rows.push_back(heads);
      rows.push_back(head);
      return builder_.linear_bias("resampler." + part, of, {inner, heads, head}, rows, true,
                                  {heads, head}, kPart);
    };
    const TensorId values = norm("kv", builder_.linear("resampler.kv", x, {a.model, inner},
                                                       {a.batch, a.queries, inner}, kPart));
    const TensorId places =
        builder_.constant("resampler.places", {a.queries, inner}, {ConstantKind::kSinusoid, 0, 0});
    const TensorId keys = builder_.add("resampler.add_places", values, places, kPart);
    const TensorId learned =
        norm("q", builder_.parameter("resampler.queries", {queries, inner}, kPart));
    const TensorId q = to_heads("q", learned, {queries});
    const TensorId k = to_heads("k", keys, {a.batch, a.queries});
    const TensorId v = to_heads("v", values, {a.batch, a.queries});
    const TensorId scores =
        builder_.contract("resampler.scores", Contraction{OpClass::kAttention, ""}, k, q,
                          {a.batch, heads, queries, a.queries}, kPart);
    const TensorId weights = softmax(scores);
    const TensorId seen = builder_.contract("resampler.seen", Contraction{OpClass::kAttention, ""},
                                            weights, v, {a.batch, queries, heads, head}, kPart);
    const TensorId y = builder_.linear_bias("resampler.o", seen, {heads, head, inner},
                                            {a.batch, queries, inner}, true, {inner}, kPart);
    return builder_.linear("projector", norm("out", y), {inner, out}, {a.batch, queries, out},
                           kPart);
  }

  TensorId softmax(TensorId scores) {
    const double head_dim = static_cast<double>(projector_.resampler->head_dim);
    const StackAxes& a = builder_.axes();
    Axes rows = builder_.graph().tensor(scores).axes;
    Tensor weights{"resampler.weights", rows, Role::kActivation, Element::kCompute, kPart};
    const TensorId out = builder_.graph().add_tensor(std::move(weights));
    rows.pop_back();
    Tensor stats{"resampler.lse", rows, Role::kActivation, Element::kFp32, kPart};
    stats.needs_gradient = false;
    const TensorId lse = builder_.graph().add_tensor(std::move(stats));
    return builder_.emit("resampler.softmax",
                         Softmax{a.queries.name, Scale(1 / std::sqrt(head_dim))}, {scores}, out,
                         kPart, {lse});
  }

  BlockBuilder& builder_;
  const Projector& projector_;
};

}  // namespace

TensorId add_projector(BlockBuilder& builder, const Projector& projector, TensorId x) {
  return ProjectorBuilder(builder, projector).build(x);
}

}  // namespace flopwise
