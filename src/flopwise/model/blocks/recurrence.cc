// Layers that carry a state from position to position: Mamba, Mamba-2, the gated delta net, and the
// short convolution of LFM2. One step is written as operations that a kernel repeats for every
// position; costs and gradients follow from these.
#include <cmath>
#include <utility>

#include "flopwise/model/blocks/attention_core.h"

namespace flopwise {
namespace {

constexpr Component kPart = Component::kRecurrence;

class RecurrenceBuilder {
 public:
  RecurrenceBuilder(BlockBuilder& builder, const Workload& workload, TensorId x)
      : builder_(builder), workload_(workload), x_(x) {}

  TensorId operator()(const Mamba& mamba) {
    name_ = "mamba";
    taps_ = mamba.taps;
    const Axis inner = symbol_axis("Di");
    const Axis state = symbol_axis("Ns");
    const Axis rank = symbol_axis("Rt");
    const TensorId in = projected("x", {inner}, mamba.proj_bias);
    const TensorId z = projected("z", {inner}, mamba.proj_bias);
    const TensorId u = bent(convolved("conv", in, mamba.conv_bias));
    const TensorId b = from_inner("b", u, inner, state, mamba.inner_norms);
    const TensorId c = from_inner("c", u, inner, state, mamba.inner_norms);
    const TensorId low = from_inner("dt_low", u, inner, rank, mamba.inner_norms);
    const TensorId dt = map("dt_softplus", scalar_softplus(),
                            {builder_.linear_bias(named("dt"), low, {rank, inner},
                                                  positions({inner}), true, {inner}, kPart)});
    const TensorId a = decay_rates({inner, state});

    begin_steps();
    const Carried h = carried("h", {inner, state});
    const TensorId decay = builder_.activation(named("decay"), positions({inner, state}), kPart);
    builder_.emit(named("decay"), Map{scalar_exp_mul()}, {dt, a}, decay, kPart);
    const TensorId input = map("dt_u", scalar_mul(), {dt, u});
    update(h, input, b, product("kept", h.before, decay, {inner, state}));
    const TensorId y = product("y", h.now, c, {inner});
    end_steps(y);
    const TensorId skip = map("skip", scalar_mul_add(), {u, parameter("d", {inner}), y});
    return projected_back(map("gated", scalar_gated_by(), {z, skip}), {inner}, mamba.proj_bias);
  }

  TensorId operator()(const Mamba2& mamba) {
    name_ = "mamba2";
    taps_ = mamba.taps;
    const Axis groups = symbol_axis("Gm");
    const Axis per_group = symbol_axis("Jm");
    const Axis head = symbol_axis("Hm");
    const Axis state = symbol_axis("Ns");
    const Axes heads = {groups, per_group};
    const Axes inner = {groups, per_group, head};
    const TensorId z = projected("z", inner, mamba.proj_bias);
    const TensorId u =
        bent(convolved("conv_x", projected("x", inner, mamba.proj_bias), mamba.conv_bias));
    const TensorId b = bent(
        convolved("conv_b", projected("b", {groups, state}, mamba.proj_bias), mamba.conv_bias));
    const TensorId c = bent(
        convolved("conv_c", projected("c", {groups, state}, mamba.proj_bias), mamba.conv_bias));
    const TensorId shifted =
        builder_.add(named("dt_shift"), projected("dt", heads, mamba.proj_bias),
                     parameter("dt_shift.bias", heads), kPart);
    const TensorId dt = map("dt_softplus", scalar_softplus(), {shifted});
    const TensorId a = decay_rates(heads);

    begin_steps();
    Axes cells = inner;
    cells.push_back(state);
    const Carried h = carried("h", cells);
    const TensorId decay = map("decay", scalar_exp_mul(), {dt, a});
    const TensorId input = map("dt_u", scalar_mul(), {u, dt});
    update(h, input, b, product("kept", h.before, decay, cells));
    const TensorId y = product("y", h.now, c, inner);
    end_steps(y);
    const TensorId skip = map("skip", scalar_mul_add(), {u, parameter("d", heads), y});
    const TensorId gated = map("gated", scalar_gated_by(), {z, skip});
    return projected_back(group_norm(gated, inner), inner, mamba.proj_bias);
  }

  TensorId operator()(const DeltaNet& delta) {
    name_ = "delta_net";
    taps_ = delta.taps;
    const Axis keys = symbol_axis("Kd");
    const Axis per_key = symbol_axis("Jd");
    const Axis key = symbol_axis("Hk");
    const Axis value = symbol_axis("Hd");
    const Axes heads = {keys, per_key};
    const Axes values = {keys, per_key, value};
    const TensorId raw_q = bent(convolved("conv_q", projected("q", {keys, key}, false), false));
    const TensorId raw_k = bent(convolved("conv_k", projected("k", {keys, key}, false), false));
    const TensorId v = bent(convolved("conv_v", projected("v", values, false), false));
    const TensorId z = projected("z", values, false);
    const double scale = 1 / std::sqrt(static_cast<double>(delta.key_dim));
    const TensorId q = map("q_scale", scalar_scale(scale), {of_length_one("q_unit", raw_q)});
    const TensorId k = of_length_one("k_unit", raw_k);
    const TensorId beta = map("beta_sigmoid", scalar_sigmoid(), {projected("beta", heads, false)});
    const TensorId shifted = builder_.add(named("dt_shift"), projected("dt", heads, false),
                                          parameter("dt_shift.bias", heads), kPart);
    const TensorId dt = map("dt_softplus", scalar_softplus(), {shifted});
    const TensorId decay = map("decay", scalar_exp_mul(), {dt, decay_rates(heads)});

    begin_steps();
    const Axes cells = {keys, per_key, key, value};
    const Carried s = carried("s", cells);
    const TensorId kept = product("kept", s.before, decay, cells);
    const TensorId found = product("found", kept, k, values);
    const TensorId change = map("change", scalar_sub_mul(), {v, found, beta});
    update(s, k, change, kept);
    const TensorId out = product("read", s.now, q, values);
    end_steps(out);
    const TensorId normed = builder_.norm(named("o_norm"), out, NormKind::kRms);
    return projected_back(map("gated", scalar_gated_by(), {z, normed}), values, false);
  }

  TensorId operator()(const ShortConvolution& conv) {
    name_ = "short_convolution";
    taps_ = conv.taps;
    const Axis inner{"D'", builder_.axes().model.size};
    const TensorId b = projected("b", {inner}, conv.bias);
    const TensorId c = projected("c", {inner}, conv.bias);
    const TensorId u = projected("u", {inner}, conv.bias);
    const TensorId mixed = convolved("conv", map("bu", scalar_mul(), {b, u}), conv.bias);
    return projected_back(map("gated", scalar_mul(), {c, mixed}), {inner}, conv.bias);
  }

 private:
  static constexpr OpClass kClass = OpClass::kAttention;
  const Contraction kStateProduct{kClass, ""};

  std::string named(const std::string& part) const { return name_ + "." + part; }
  Axes positions(const Axes& rest) const {
    Axes axes = {builder_.axes().batch, builder_.axes().queries};
    axes.insert(axes.end(), rest.begin(), rest.end());
    return axes;
  }
  TensorId map(const char* part, ScalarProgram program, std::vector<TensorId> inputs) {
    return builder_.map(named(part), std::move(program), std::move(inputs), kPart);
  }
  TensorId parameter(const char* part, const Axes& axes) {
    return builder_.parameter(named(part), axes, kPart);
  }
  TensorId product(const char* part, TensorId a, TensorId b, const Axes& out) {
    return builder_.contract(named(part), kStateProduct, a, b, positions(out), kPart);
  }
  static ScalarProgram scalar_gated_by() { return scalar_gated(scalar_silu()); }

  TensorId projected(const char* part, const Axes& out, bool bias) {
    Axes weight = {builder_.axes().model};
    weight.insert(weight.end(), out.begin(), out.end());
    return builder_.linear_bias(named(part), x_, weight, positions(out), bias, out, kPart);
  }
  TensorId projected_back(TensorId y, const Axes& in, bool bias) {
    Axes weight = in;
    weight.push_back(builder_.axes().model);
    return builder_.linear_bias(named("o"), y, weight, builder_.hidden(), bias,
                                {builder_.axes().model}, kPart);
  }
  TensorId from_inner(const char* part, TensorId u, const Axis& inner, const Axis& width,
                      bool norm) {
    const TensorId y = builder_.linear(named(part), u, {inner, width}, positions({width}), kPart);
    return norm ? builder_.norm(named(part) + "_norm", y, NormKind::kRms) : y;
  }
  TensorId bent(TensorId x) {
    const std::string name = builder_.graph().tensor(x).name + "_silu";
    return builder_.map(name, scalar_silu(), {x}, kPart);
  }
  // x / sqrt(sum of squares + eps) over the last axis.
  TensorId of_length_one(const char* part, TensorId x) {
    Axes rows = builder_.graph().tensor(x).axes;
    rows.pop_back();
    const std::string name = named(part);
    const TensorId squares = builder_.map(name + ".square", scalar_square(), {x}, kPart);
    const TensorId sum = builder_.activation(name + ".sum", rows, kPart);
    builder_.emit(name + ".sum", Sum{}, {squares}, sum, kPart);
    const TensorId factor = builder_.map(name + ".rsqrt", scalar_rsqrt(1e-6), {sum}, kPart);
    return builder_.map(name, scalar_mul(), {x, factor}, kPart);
  }
  // -exp(A_log): how fast a state decays.
  TensorId decay_rates(const Axes& axes) {
    return map("a", scalar_minus_exp(), {parameter("a_log", axes)});
  }
  // RMS over the heads of a group, with a weight for every element.
  TensorId group_norm(TensorId x, const Axes& inner) {
    const TensorId weight = builder_.parameter(named("group_norm.weight"), inner, Component::kNorm);
    Norm norm;
    norm.has_weight = false;
    norm.normalised_axes = 2;
    const TensorId y =
        builder_.activation(named("group_norm"), builder_.graph().tensor(x).axes, Component::kNorm);
    builder_.emit(named("group_norm"), norm, {x}, y, Component::kNorm);
    return builder_.map(named("group_norm_weight"), scalar_mul(), {y, weight}, Component::kNorm);
  }

  // ---- state ---------------------------------------------------------------------------------

  TensorId state(const std::string& name, const Axes& axes, Element element) {
    Tensor tensor{name, axes, Role::kState, element, kPart};
    tensor.needs_gradient = false;
    tensor.is_recurrent = true;
    return builder_.graph().add_tensor(std::move(tensor));
  }

  TensorId convolved(const char* part, TensorId x, bool bias) {
    const std::string name = named(part);
    const Axes axes = builder_.graph().tensor(x).axes;
    const Axes channels(axes.begin() + 2, axes.end());
    Axes kernel = {symbol_axis("Q")};
    kernel.insert(kernel.end(), channels.begin(), channels.end());
    std::vector<TensorId> inputs = {x, builder_.parameter(name + ".weight", kernel, kPart)};
    std::vector<TensorId> more;
    if (keeps_cache(workload_)) {
      Axes held = {
          axes[0], {"Q-1", Expr::symbol("Q") - 1}
      };
      held.insert(held.end(), channels.begin(), channels.end());
      inputs.push_back(state(name + "_state", held, Element::kCompute));
      more.push_back(inputs.back());
    }
    const TensorId y = builder_.activation(name, axes, kPart);
    builder_.emit(name, CausalConvolution{}, std::move(inputs), y, kPart, std::move(more));
    if (!bias) return y;
    return builder_.add(name + "_bias", y, builder_.parameter(name + ".bias", channels, kPart),
                        kPart);
  }

  void begin_steps() { builder_.begin_region(named("steps"), true); }
  void end_steps(TensorId output) { builder_.end_region(output, kNoTensor); }

  // What a step makes, what the step before made, and where the last one is kept.
  struct Carried {
    TensorId now = kNoTensor;
    TensorId before = kNoTensor;
    TensorId state = kNoTensor;
  };

  // `now` is there for update() to make.
  Carried carried(const char* part, const Axes& cells) {
    Carried result;
    const std::string name = named(part);
    result.now = builder_.activation(name, positions(cells), kPart);
    result.before = builder_.activation(name + "_before", positions(cells), kPart);
    std::vector<TensorId> inputs = {result.now};
    if (keeps_cache(workload_)) {
      Axes held = {builder_.axes().batch};
      held.insert(held.end(), cells.begin(), cells.end());
      result.state = state(name + "_state", held, Element::kFp32);
      inputs.push_back(result.state);
    }
    builder_.emit(name + "_before", Previous{}, std::move(inputs), result.before, kPart);
    return result;
  }

  // now = kept + a (x) b.
  void update(const Carried& carried, TensorId a, TensorId b, TensorId kept) {
    const std::string name = builder_.graph().tensor(carried.now).name;
    builder_.emit(name, kStateProduct, {a, b, kept}, carried.now, kPart);
    if (carried.state == kNoTensor) return;
    builder_.emit(name + "_state", TakeOne{true}, {carried.now}, carried.state, kPart);
  }

  BlockBuilder& builder_;
  const Workload& workload_;
  TensorId x_;
  std::string name_;
  std::int64_t taps_ = 0;
};

}  // namespace

TensorId add_recurrence(BlockBuilder& builder, const Recurrence& recurrence,
                        const Workload& workload, TensorId x) {
  return std::visit(RecurrenceBuilder(builder, workload, x), recurrence);
}

}  // namespace flopwise
