#include "flopwise/exec/flash.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flopwise/exec/ops.h"

namespace flopwise::exec {
namespace {

struct Problem {
  std::int64_t batch, queries, keys, kv_heads, group, width, value_width;
  PairRule mask;
  double scale;
  std::string str() const {
    return fmt::format("B={} T={} S={} K={} G={} H={} Hv={} {} {} scale {}", batch, queries, keys,
                       kv_heads, group, width, value_width, name_of(mask.kind), mask.size, scale);
  }
};

template <typename Scalar>
struct Inputs {
  Array<Scalar> q, k, v, d_out;
};

template <typename Scalar>
Array<Scalar> random(const Shape& shape, std::uint64_t seed, double reach) {
  Array<Scalar> array(shape);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    array[i] = reach * (2 * uniform(seed, static_cast<std::uint64_t>(i)) - 1);
  }
  return array;
}

template <typename Scalar>
Inputs<Scalar> inputs_of(const Problem& p, std::uint64_t seed) {
  const std::int64_t heads = p.kv_heads * p.group;
  return {
      random<Scalar>({{"B", p.batch}, {"T", p.queries}, {"N", heads},      {"H", p.width}       },
      seed, 1),
      random<Scalar>({{"B", p.batch}, {"S", p.keys},    {"K", p.kv_heads}, {"H", p.width}       },
      seed + 1,
                     1),
      random<Scalar>({{"B", p.batch}, {"S", p.keys},    {"K", p.kv_heads}, {"Hv", p.value_width}},
                     seed + 2, 1),
      random<Scalar>({{"B", p.batch}, {"T", p.queries}, {"N", heads},      {"Hv", p.value_width}},
                     seed + 3, 1)
  };
}

// Attention as a textbook writes it: the whole matrix of scores, softmax by row, and the
// derivative of each step.
struct Plain {
  Array<double> out, dq, dk, dv;
};

Plain plain_attention(const Inputs<double>& in, const Problem& p) {
  Plain result{Array<double>(in.d_out.shape()), Array<double>(in.q.shape()),
               Array<double>(in.k.shape()), Array<double>(in.v.shape())};
  const std::int64_t heads = p.kv_heads * p.group;
  const std::int64_t shift = std::max<std::int64_t>(p.keys - p.queries, 0);
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t n = 0; n < heads; ++n) {
      const std::int64_t kv = n / p.group;
      for (std::int64_t t = 0; t < p.queries; ++t) {
        const std::int64_t q_at = ((b * p.queries + t) * heads + n) * p.width;
        const std::int64_t o_at = ((b * p.queries + t) * heads + n) * p.value_width;
        const auto k_at = [&](std::int64_t j) {
          return ((b * p.keys + j) * p.kv_heads + kv) * p.width;
        };
        const auto v_at = [&](std::int64_t j) {
          return ((b * p.keys + j) * p.kv_heads + kv) * p.value_width;
        };
        std::vector<double> weights(static_cast<std::size_t>(p.keys), 0.0);
        double sum = 0;
        double highest = -std::numeric_limits<double>::infinity();
        for (const bool exponentiate : {false, true}) {
          for (std::int64_t j = 0; j < p.keys; ++j) {
            if (!sees(p.mask, shift + t, j)) continue;
            double score = 0;
            for (std::int64_t h = 0; h < p.width; ++h) {
              score += in.q[q_at + h] * in.k[k_at(j) + h];
            }
            score *= p.scale;
            if (!exponentiate) {
              highest = std::max(highest, score);
            } else {
              weights[static_cast<std::size_t>(j)] = std::exp(score - highest);
              sum += weights[static_cast<std::size_t>(j)];
            }
          }
        }
        if (sum == 0) continue;
        std::vector<double> d_weights(static_cast<std::size_t>(p.keys), 0.0);
        double mean = 0;
        for (std::int64_t j = 0; j < p.keys; ++j) {
          double& w = weights[static_cast<std::size_t>(j)];
          w /= sum;
          for (std::int64_t h = 0; h < p.value_width; ++h) {
            result.out[o_at + h] += w * in.v[v_at(j) + h];
            result.dv[v_at(j) + h] += w * in.d_out[o_at + h];
            d_weights[static_cast<std::size_t>(j)] += in.d_out[o_at + h] * in.v[v_at(j) + h];
          }
          mean += w * d_weights[static_cast<std::size_t>(j)];
        }
        for (std::int64_t j = 0; j < p.keys; ++j) {
          const double d_score = weights[static_cast<std::size_t>(j)] *
                                 (d_weights[static_cast<std::size_t>(j)] - mean) * p.scale;
          for (std::int64_t h = 0; h < p.width; ++h) {
            result.dq[q_at + h] += d_score * in.k[k_at(j) + h];
            result.dk[k_at(j) + h] += d_score * in.q[q_at + h];
          }
        }
      }
    }
  }
  return result;
}

// The largest difference, relative to the largest element, or to `scale` where that is larger.
double difference(const Array<double>& a, const Array<double>& b, double scale = 0) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    if (std::isnan(apart)) return apart;
    worst = std::max(worst, apart);
    scale = std::max(scale, std::abs(a[i]));
  }
  return scale > 0 ? worst / scale : worst;
}

std::int64_t draw(std::uint64_t seed, std::uint64_t index, std::int64_t low, std::int64_t high) {
  return low +
         static_cast<std::int64_t>(uniform(seed, index) * static_cast<double>(high - low + 1));
}

Problem random_problem(std::uint64_t seed) {
  Problem p{
      draw(seed, 0, 1, 3),
      draw(seed, 1, 1, 13),
      0,
      draw(seed, 2, 1, 3),
      draw(seed, 3, 1, 3),
      draw(seed, 4, 1, 7),
      draw(seed, 5, 1, 7),
      {static_cast<MaskKind>(draw(seed, 6, 0, 5)), draw(seed, 7, 1, 14)},
      1
  };
  // Scores of up to 50: |q.k| <= H, elements being at most 1.
  p.scale = 50 * uniform(seed, 8) / static_cast<double>(p.width);
  p.keys = p.queries + draw(seed, 9, 0, 9);
  const bool same = p.mask.kind == MaskKind::kTwoSidedWindow || p.mask.kind == MaskKind::kPrefix;
  if (same) p.keys = p.queries;
  if (p.mask.kind == MaskKind::kFull) p.keys = draw(seed, 9, 1, 20);  // also T > S
  return p;
}

TEST(Flash, ForwardAndBackwardAreThoseOfPlainAttention) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Problem p = random_problem(seed);
    FlashOptions options{p.mask, p.scale, draw(seed, 20, 1, 15), draw(seed, 21, 1, 15)};
    SCOPED_TRACE(fmt::format("{} blocks {} x {}", p.str(), options.query_block, options.key_block));
    const Inputs<double> in = inputs_of<double>(p, 100 * seed);
    FlashWork work;
    const AttentionResult<double> forward = flash_forward(in.q, in.k, in.v, options, work);
    const AttentionGradients<double> back =
        flash_backward(in.q, in.k, in.v, forward, in.d_out, options, work);
    const Plain plain = plain_attention(in, p);
    EXPECT_LE(difference(plain.out, forward.output), 1e-12);
    // Differences of scores are multiplied by the scale: that is how large a gradient is before
    // it cancels.
    EXPECT_LE(difference(plain.dq, back.dq, p.scale), 1e-12);
    EXPECT_LE(difference(plain.dk, back.dk, p.scale), 1e-12);
    EXPECT_LE(difference(plain.dv, back.dv), 1e-12);
  }
}

// Five contractions in backward, of which q k^T is recomputation; two in forward.
TEST(Flash, ContractionsCostWhatTheFormulaSays) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem p = random_problem(seed);
    SCOPED_TRACE(p.str());
    const Inputs<CountedDouble> in = inputs_of<CountedDouble>(p, seed);
    const FlashOptions options{p.mask, p.scale, draw(seed, 20, 1, 9), draw(seed, 21, 1, 9)};
    FlashWork work;
    const auto forward = flash_forward(in.q, in.k, in.v, options, work);
    flash_backward(in.q, in.k, in.v, forward, in.d_out, options, work);
    const Count pairs =
        live_pairs({p.mask.kind, p.mask.size}, p.queries, p.keys).eval_count({}, "pairs");
    const Count rows = pairs * p.batch * p.kv_heads * p.group;
    EXPECT_EQ(Count(work.forward.total()), Count(2) * rows * (p.width + p.value_width));
    EXPECT_EQ(Count(work.recompute.total()), Count(2) * rows * p.width);
    EXPECT_EQ(Count(work.backward.total()), Count(4) * rows * (p.width + p.value_width));
    for (const Tally* tally : {&work.forward, &work.recompute, &work.backward}) {
      EXPECT_EQ(tally->of(Arithmetic::kAdd), tally->of(Arithmetic::kMul));
    }
  }
}

std::int64_t extra_bytes(std::int64_t queries, std::int64_t keys) {
  const Problem p{
      1, queries, keys, 1, 2, 3, 3, {MaskKind::kWindow, 4},
             1
  };
  const Inputs<double> in = inputs_of<double>(p, 1);
  FlashWork work;
  const FlashOptions options{p.mask, p.scale, 8, 8};
  thread_memory.reset_peak();
  std::int64_t before = thread_memory.live_bytes;
  const auto forward = flash_forward(in.q, in.k, in.v, options, work);
  const auto bytes = [](const Array<double>& array) {
    return array.size() * static_cast<std::int64_t>(sizeof(double));
  };
  const std::int64_t of_forward = thread_memory.peak_bytes - before - bytes(forward.output);
  thread_memory.reset_peak();
  before = thread_memory.live_bytes;
  const auto back = flash_backward(in.q, in.k, in.v, forward, in.d_out, options, work);
  const std::int64_t of_backward =
      thread_memory.peak_bytes - before - bytes(back.dq) - bytes(back.dk) - bytes(back.dv);
  return of_forward + of_backward;
}

TEST(Flash, ExtraMemoryGrowsWithQueriesOnly) {
  const std::int64_t once = extra_bytes(2048, 2048);
  const std::int64_t twice = extra_bytes(4096, 4096);
  EXPECT_GT(once, 2 * 2048 * 2 * static_cast<std::int64_t>(sizeof(double)));  // lse and delta
  EXPECT_NEAR(static_cast<double>(twice) / static_cast<double>(once), 2, 0.1);
  EXPECT_EQ(extra_bytes(512, 1024), extra_bytes(512, 4096));
}

// Two devices, each with some of the keys; what one has merges with what the other has, in either
// order.
TEST(Flash, PartialResultsMergeInAnyOrder) {
  const Problem p{
      2, 5, 12, 2, 2, 3, 4, {MaskKind::kCausal, 0},
             0.7
  };
  const Inputs<double> in = inputs_of<double>(p, 7);
  const Plain plain = plain_attention(in, p);
  const FlashOptions options{p.mask, p.scale, 5, 12};
  constexpr std::int64_t kCut = 7;
  const auto part = [&](const Array<double>& whole, std::int64_t begin, std::int64_t end) {
    Shape shape = whole.shape();
    shape[1].size = end - begin;
    Array<double> result(shape);
    const std::int64_t row = shape[2].size * shape[3].size;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const std::int64_t b = i / ((end - begin) * row);
      result[i] = whole[(b * p.keys + begin) * row + i % ((end - begin) * row)];
    }
    return result;
  };
  FlashWork work;
  const auto first = attention_block(in.q, part(in.k, 0, kCut), part(in.v, 0, kCut), options,
                                     {p.keys - p.queries, 0}, work);
  const auto second = attention_block(in.q, part(in.k, kCut, p.keys), part(in.v, kCut, p.keys),
                                      options, {p.keys - p.queries, kCut}, work);
  const auto merged_state = [&](const AttentionPartial<double>& a,
                                const AttentionPartial<double>& b) {
    AttentionPartial<double> into{a.output.copy(), a.row_max.copy(), a.row_sum.copy()};
    merge(into, b, work);
    return into;
  };
  const auto merged = [&](const AttentionPartial<double>& a, const AttentionPartial<double>& b) {
    return finished(merged_state(a, b), work);
  };
  EXPECT_LE(difference(plain.out, merged(first, second).output), 1e-12);
  EXPECT_LE(difference(plain.out, merged(second, first).output), 1e-12);
  EXPECT_LE(difference(merged(first, second).lse, merged(second, first).lse), 1e-12);
  // A device that holds none of the keys a row sees has nothing to add.
  const AttentionPartial<double> nothing =
      attention_block(in.q, part(in.k, 0, kCut), part(in.v, 0, kCut), options, {-20, 0}, work);
  EXPECT_EQ(
      difference(merged(first, second).output, merged(merged_state(first, second), nothing).output),
      0);
}

TEST(Flash, RowsWithoutKeysAreZero) {
  // Queries a long way behind all keys, in another chunk.
  const Problem p{
      1, 3, 2, 1, 1, 2, 2, {MaskKind::kChunk, 2},
             1
  };
  const Inputs<double> in = inputs_of<double>(p, 3);
  FlashWork work;
  const auto partial = attention_block(in.q, in.k, in.v, {p.mask, 1, 4, 4}, {100, 0}, work);
  const auto result = finished(partial, work);
  AttentionGradients<double> gradients{Array<double>(in.q.shape()), Array<double>(in.k.shape()),
                                       Array<double>(in.v.shape())};
  attention_block_backward(in.q, in.k, in.v, in.d_out, result.lse,
                           row_delta(result.output, in.d_out, work), {p.mask, 1, 4, 4}, {100, 0},
                           gradients, work);
  for (std::int64_t i = 0; i < result.output.size(); ++i) EXPECT_EQ(result.output[i], 0);
  for (std::int64_t i = 0; i < result.lse.size(); ++i) {
    EXPECT_EQ(result.lse[i], -std::numeric_limits<double>::infinity());
  }
  for (std::int64_t i = 0; i < gradients.dk.size(); ++i) EXPECT_EQ(gradients.dk[i], 0);
}

TEST(Flash, ScoresOfTenThousandAreSafe) {
  Problem p{
      1, 6, 9, 1, 2, 4, 3, {MaskKind::kCausal, 0},
             1
  };
  const Inputs<double> in = inputs_of<double>(p, 11);
  p.scale = 1e4;
  FlashWork work;
  const FlashOptions options{p.mask, p.scale, 4, 2};
  const auto forward = flash_forward(in.q, in.k, in.v, options, work);
  const auto back = flash_backward(in.q, in.k, in.v, forward, in.d_out, options, work);
  const Plain plain = plain_attention(in, p);
  EXPECT_LE(difference(plain.out, forward.output), 1e-9);  // a score of 1e4 has 12 digits left
  for (const Array<double>* array : {&forward.output, &back.dq, &back.dk, &back.dv}) {
    for (std::int64_t i = 0; i < array->size(); ++i) EXPECT_TRUE(std::isfinite((*array)[i]));
  }
}

// A key of -inf under positive queries has scores of -inf: weight 0, as if masked. Where all are
// so, the row is 0.
TEST(Flash, MinusInfinityMasks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Problem p{
      1, 2, 4, 1, 1, 1, 1, {MaskKind::kFull, 0},
             1
  };
  Inputs<double> in = inputs_of<double>(p, 5);
  for (std::int64_t t = 0; t < 2; ++t) in.q[t] = 1 + static_cast<double>(t);
  in.k[1] = -kInfinity;
  FlashWork work;
  const FlashOptions options{p.mask, 1, 1, 1};
  const auto some = flash_forward(in.q, in.k, in.v, options, work);
  double sum = 0;
  double mean = 0;
  for (const std::int64_t j : {0, 2, 3}) {
    sum += std::exp(in.k[j]);
    mean += std::exp(in.k[j]) * in.v[j];
  }
  EXPECT_NEAR(some.output[0], mean / sum, 1e-15);
  for (std::int64_t j = 0; j < 4; ++j) in.k[j] = -kInfinity;
  const auto none = flash_forward(in.q, in.k, in.v, options, work);
  EXPECT_EQ(none.output[0], 0);
  EXPECT_EQ(none.lse[0], -kInfinity);
}

TEST(Flash, ANanReachesTheRowsThatSeeItAndNoOthers) {
  const Problem p{
      1, 5, 5, 1, 1, 2, 2, {MaskKind::kCausal, 0},
             1
  };
  FlashWork work;
  const FlashOptions options{p.mask, 1, 2, 2};
  Inputs<double> in = inputs_of<double>(p, 9);
  in.k[3 * p.width] = std::numeric_limits<double>::quiet_NaN();  // the key at position 3
  const auto key = flash_forward(in.q, in.k, in.v, options, work);
  for (std::int64_t t = 0; t < 5; ++t) {
    EXPECT_EQ(std::isnan(key.output[t * p.value_width]), t >= 3) << t;
  }
  in = inputs_of<double>(p, 9);
  in.q[2 * p.width] = std::numeric_limits<double>::quiet_NaN();  // the query at position 2
  const auto query = flash_forward(in.q, in.k, in.v, options, work);
  for (std::int64_t t = 0; t < 5; ++t) {
    EXPECT_EQ(std::isnan(query.output[t * p.value_width]), t == 2) << t;
  }
}

}  // namespace
}  // namespace flopwise::exec
