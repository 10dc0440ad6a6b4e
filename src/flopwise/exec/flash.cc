#include "flopwise/exec/flash.h"

#include <algorithm>
#include <limits>

#include "flopwise/base/error.h"

namespace flopwise::exec {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// Adds what is counted while it lives to a tally.
class Counting {
 public:
  explicit Counting(Tally& tally) : tally_(tally), before_(thread_tally) {}
  ~Counting() { tally_ += thread_tally - before_; }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  Tally& tally_;
  Tally before_;
};

// The sizes of q [B,T,N,H], k [B,S,K,H] and v [B,S,K,Hv].
struct Sizes {
  std::int64_t batch;
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t width;
  std::int64_t value_width;
};

template <typename Scalar>
Sizes sizes_of(const Array<Scalar>& q, const Array<Scalar>& k, const Array<Scalar>& v) {
  FLOPWISE_CHECK(q.shape().size() == 4 && k.shape().size() == 4 && v.shape().size() == 4,
                 "attention: q, k and v have four axes");
  const Sizes s = {q.shape()[0].size, q.shape()[1].size, k.shape()[1].size, q.shape()[2].size,
                   k.shape()[2].size, q.shape()[3].size, v.shape()[3].size};
  FLOPWISE_CHECK(k.shape()[0].size == s.batch && v.shape()[0].size == s.batch &&
                     v.shape()[1].size == s.keys && v.shape()[2].size == s.kv_heads &&
                     k.shape()[3].size == s.width && s.heads % s.kv_heads == 0,
                 "attention: the axes of q, k and v do not go together");
  return s;
}

template <typename Scalar>
Scalar dot(const Scalar* a, const Scalar* b, std::int64_t n) {
  Scalar sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) sum = sum + a[i] * b[i];
  return sum;
}

// y += a*x.
template <typename Scalar>
void add_scaled(Scalar* y, const Scalar& a, const Scalar* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = y[i] + a * x[i];
}

// A row of [B,T,N,H] or [B,T,N].
template <typename Scalar>
Scalar* row_of(Array<Scalar>& array, std::int64_t b, std::int64_t t, std::int64_t n) {
  const Shape& shape = array.shape();
  const std::int64_t width = shape.size() > 3 ? shape[3].size : 1;
  return &array[((b * shape[1].size + t) * shape[2].size + n) * width];
}
template <typename Scalar>
const Scalar* row_of(const Array<Scalar>& array, std::int64_t b, std::int64_t t, std::int64_t n) {
  return row_of(const_cast<Array<Scalar>&>(array), b, t, n);
}

// Calls body(b, t, n, key/value head) for every row of queries.
template <typename Body>
void for_each_query_row(const Sizes& s, Body body) {
  const std::int64_t group = s.heads / s.kv_heads;
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t t = 0; t < s.queries; ++t) {
      for (std::int64_t n = 0; n < s.heads; ++n) body(b, t, n, n / group);
    }
  }
}

template <typename Scalar>
bool is_lowest(const Scalar& x) {
  return value_of(x) == kLowest;
}

// e^(x - highest), 0 where nothing was seen.
template <typename Scalar>
Scalar weight(const Scalar& x, const Scalar& highest) {
  return is_lowest(highest) ? Scalar(0.0) : exp_of(x - highest);
}

// [B, last axes] of q with other sizes.
Shape resized(Shape shape, std::size_t axis, std::int64_t size) {
  shape.at(axis).size = size;
  return shape;
}

Shape without_last(Shape shape) {
  shape.pop_back();
  return shape;
}

// The output's axes: those of q with the values' width.
Shape output_shape(const Shape& q, const Shape& v) {
  Shape shape = q;
  shape.at(3) = v.at(3);
  return shape;
}

}  // namespace

// ---- one block ---------------------------------------------------------------------------------

template <typename Scalar>
AttentionPartial<Scalar> attention_block(const Array<Scalar>& q, const Array<Scalar>& k,
                                         const Array<Scalar>& v, const FlashOptions& options,
                                         const BlockPlace& place, FlashWork& work) {
  const Sizes s = sizes_of(q, k, v);
  const Shape rows = without_last(q.shape());
  AttentionPartial<Scalar> partial{Array<Scalar>(output_shape(q.shape(), v.shape())),
                                   Array<Scalar>(rows), Array<Scalar>(rows)};
  Buffer<Scalar> scores(static_cast<std::size_t>(s.keys));
  for_each_query_row(s, [&](std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t kv) {
    const auto is_live = [&](std::int64_t j) {
      return sees(options.mask, place.first_query + t, place.first_key + j);
    };
    Scalar highest = kLowest;
    for (std::int64_t j = 0; j < s.keys; ++j) {
      if (!is_live(j)) continue;
      Scalar& score = scores[static_cast<std::size_t>(j)];
      {
        const Counting counting(work.forward);
        score = dot(row_of(q, b, t, n), row_of(k, b, j, kv), s.width);
      }
      const Counting counting(work.vector);
      score = score * Scalar(options.scale);
      highest = max_of(highest, score);
    }
    Scalar sum = 0.0;
    for (std::int64_t j = 0; j < s.keys; ++j) {
      if (!is_live(j)) continue;
      Scalar p;
      {
        const Counting counting(work.vector);
        p = weight(scores[static_cast<std::size_t>(j)], highest);
        sum = sum + p;
      }
      const Counting counting(work.forward);
      add_scaled(row_of(partial.output, b, t, n), p, row_of(v, b, j, kv), s.value_width);
    }
    *row_of(partial.row_max, b, t, n) = highest;
    *row_of(partial.row_sum, b, t, n) = sum;
  });
  return partial;
}

template <typename Scalar>
void merge(AttentionPartial<Scalar>& into, const AttentionPartial<Scalar>& other, FlashWork& work) {
  const Counting counting(work.vector);
  const std::int64_t width = into.output.shape()[3].size;
  for (std::int64_t row = 0; row < into.row_max.size(); ++row) {
    const Scalar highest = max_of(into.row_max[row], other.row_max[row]);
    const Scalar ours = weight(into.row_max[row], highest);
    const Scalar theirs = weight(other.row_max[row], highest);
    for (std::int64_t h = row * width; h < (row + 1) * width; ++h) {
      into.output[h] = into.output[h] * ours + other.output[h] * theirs;
    }
    into.row_sum[row] = into.row_sum[row] * ours + other.row_sum[row] * theirs;
    into.row_max[row] = highest;
  }
}

template <typename Scalar>
AttentionResult<Scalar> finished(const AttentionPartial<Scalar>& partial, FlashWork& work) {
  const Counting counting(work.vector);
  AttentionResult<Scalar> result{Array<Scalar>(partial.output.shape()),
                                 Array<Scalar>(partial.row_max.shape())};
  const std::int64_t width = partial.output.shape()[3].size;
  for (std::int64_t row = 0; row < partial.row_max.size(); ++row) {
    const Scalar& sum = partial.row_sum[row];
    if (is_lowest(partial.row_max[row])) {
      result.lse[row] = kLowest;  // the output stays 0
      continue;
    }
    result.lse[row] = partial.row_max[row] + log_of(sum);
    for (std::int64_t h = row * width; h < (row + 1) * width; ++h) {
      result.output[h] = partial.output[h] / sum;
    }
  }
  return result;
}

template <typename Scalar>
Array<Scalar> row_delta(const Array<Scalar>& output, const Array<Scalar>& d_output,
                        FlashWork& work) {
  const Counting counting(work.vector);
  Array<Scalar> delta(without_last(output.shape()));
  const std::int64_t width = output.shape()[3].size;
  for (std::int64_t row = 0; row < delta.size(); ++row) {
    delta[row] = dot(&output[row * width], &d_output[row * width], width);
  }
  return delta;
}

template <typename Scalar>
void attention_block_backward(const Array<Scalar>& q, const Array<Scalar>& k,
                              const Array<Scalar>& v, const Array<Scalar>& d_output,
                              const Array<Scalar>& lse, const Array<Scalar>& delta,
                              const FlashOptions& options, const BlockPlace& place,
                              AttentionGradients<Scalar>& into, FlashWork& work) {
  const Sizes s = sizes_of(q, k, v);
  for_each_query_row(s, [&](std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t kv) {
    const Scalar* d_out = row_of(d_output, b, t, n);
    const Scalar& row_lse = *row_of(lse, b, t, n);
    for (std::int64_t j = 0; j < s.keys; ++j) {
      if (!sees(options.mask, place.first_query + t, place.first_key + j)) continue;
      Scalar score;
      {
        const Counting counting(work.recompute);
        score = dot(row_of(q, b, t, n), row_of(k, b, j, kv), s.width);
      }
      Scalar p;
      {
        const Counting counting(work.vector);
        p = weight(score * Scalar(options.scale), row_lse);
      }
      Scalar dp;
      {
        const Counting counting(work.backward);
        add_scaled(row_of(into.dv, b, j, kv), p, d_out, s.value_width);
        dp = dot(d_out, row_of(v, b, j, kv), s.value_width);
      }
      Scalar ds;
      {
        const Counting counting(work.vector);
        ds = p * (dp - *row_of(delta, b, t, n)) * Scalar(options.scale);
      }
      const Counting counting(work.backward);
      add_scaled(row_of(into.dq, b, t, n), ds, row_of(k, b, j, kv), s.width);
      add_scaled(row_of(into.dk, b, j, kv), ds, row_of(q, b, t, n), s.width);
    }
  });
}

// ---- whole sequences ---------------------------------------------------------------------------

namespace {

// Positions [begin, end) of an array whose second axis is the sequence.
template <typename Scalar>
Array<Scalar> slice(const Array<Scalar>& array, std::int64_t begin, std::int64_t end) {
  const std::int64_t length = array.shape()[1].size;
  Array<Scalar> part(resized(array.shape(), 1, end - begin));
  const std::int64_t batch = array.shape()[0].size;
  const std::int64_t row = array.size() / (batch * length);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n(&array[(b * length + begin) * row], (end - begin) * row,
                part.data().begin() + b * (end - begin) * row);
  }
  return part;
}

// Writes `part` to the positions from `begin` on.
template <typename Scalar>
void put(Array<Scalar>& array, const Array<Scalar>& part, std::int64_t begin) {
  const std::int64_t length = array.shape()[1].size;
  const std::int64_t count = part.shape()[1].size;
  const std::int64_t batch = array.shape()[0].size;
  const std::int64_t row = array.size() / (batch * length);
  for (std::int64_t b = 0; b < batch; ++b) {
    std::copy_n(part.data().begin() + b * count * row, count * row,
                &array[(b * length + begin) * row]);
  }
}

struct Range {
  std::int64_t begin;
  std::int64_t end;
};

std::vector<Range> blocks_of(std::int64_t length, std::int64_t block) {
  FLOPWISE_CHECK(block > 0, "attention: a block has positions");
  std::vector<Range> blocks;
  for (std::int64_t begin = 0; begin < length; begin += block) {
    blocks.push_back({begin, std::min(begin + block, length)});
  }
  return blocks;
}

std::int64_t first_query(std::int64_t queries, std::int64_t keys) {
  return std::max<std::int64_t>(keys - queries, 0);
}

bool any_live(const FlashOptions& options, const Range& queries, const Range& keys,
              std::int64_t shift) {
  for (std::int64_t i = queries.begin; i < queries.end; ++i) {
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      if (sees(options.mask, shift + i, j)) return true;
    }
  }
  return false;
}

}  // namespace

template <typename Scalar>
AttentionResult<Scalar> flash_forward(const Array<Scalar>& q, const Array<Scalar>& k,
                                      const Array<Scalar>& v, const FlashOptions& options,
                                      FlashWork& work) {
  const Sizes s = sizes_of(q, k, v);
  const std::int64_t shift = first_query(s.queries, s.keys);
  AttentionResult<Scalar> result{Array<Scalar>(output_shape(q.shape(), v.shape())),
                                 Array<Scalar>(without_last(q.shape()))};
  std::fill(result.lse.data().begin(), result.lse.data().end(), Scalar(kLowest));
  for (const Range& rows : blocks_of(s.queries, options.query_block)) {
    const Array<Scalar> q_block = slice(q, rows.begin, rows.end);
    AttentionPartial<Scalar> running;
    for (const Range& columns : blocks_of(s.keys, options.key_block)) {
      if (!any_live(options, rows, columns, shift)) continue;
      AttentionPartial<Scalar> partial = attention_block(
          q_block, slice(k, columns.begin, columns.end), slice(v, columns.begin, columns.end),
          options, {shift + rows.begin, columns.begin}, work);
      if (running.output.exists()) {
        merge(running, partial, work);
      } else {
        running = std::move(partial);
      }
    }
    if (!running.output.exists()) continue;
    const AttentionResult<Scalar> done = finished(running, work);
    put(result.output, done.output, rows.begin);
    put(result.lse, done.lse, rows.begin);
  }
  return result;
}

template <typename Scalar>
AttentionGradients<Scalar> flash_backward(const Array<Scalar>& q, const Array<Scalar>& k,
                                          const Array<Scalar>& v,
                                          const AttentionResult<Scalar>& forward,
                                          const Array<Scalar>& d_output,
                                          const FlashOptions& options, FlashWork& work) {
  const Sizes s = sizes_of(q, k, v);
  const std::int64_t shift = first_query(s.queries, s.keys);
  const Array<Scalar> delta = row_delta(forward.output, d_output, work);
  AttentionGradients<Scalar> gradients{Array<Scalar>(q.shape()), Array<Scalar>(k.shape()),
                                       Array<Scalar>(v.shape())};
  for (const Range& columns : blocks_of(s.keys, options.key_block)) {
    const Array<Scalar> k_block = slice(k, columns.begin, columns.end);
    const Array<Scalar> v_block = slice(v, columns.begin, columns.end);
    AttentionGradients<Scalar> block{
        {}, Array<Scalar>(k_block.shape()), Array<Scalar>(v_block.shape())};
    for (const Range& rows : blocks_of(s.queries, options.query_block)) {
      if (!any_live(options, rows, columns, shift)) continue;
      block.dq = slice(gradients.dq, rows.begin, rows.end);
      attention_block_backward(
          slice(q, rows.begin, rows.end), k_block, v_block, slice(d_output, rows.begin, rows.end),
          slice(forward.lse, rows.begin, rows.end), slice(delta, rows.begin, rows.end), options,
          {shift + rows.begin, columns.begin}, block, work);
      put(gradients.dq, block.dq, rows.begin);
    }
    put(gradients.dk, block.dk, columns.begin);
    put(gradients.dv, block.dv, columns.begin);
  }
  return gradients;
}

#define FLOPWISE_INSTANTIATE(Scalar)                                                            \
  template AttentionPartial<Scalar> attention_block(const Array<Scalar>&, const Array<Scalar>&, \
                                                    const Array<Scalar>&, const FlashOptions&,  \
                                                    const BlockPlace&, FlashWork&);             \
  template void merge(AttentionPartial<Scalar>&, const AttentionPartial<Scalar>&, FlashWork&);  \
  template AttentionResult<Scalar> finished(const AttentionPartial<Scalar>&, FlashWork&);       \
  template Array<Scalar> row_delta(const Array<Scalar>&, const Array<Scalar>&, FlashWork&);     \
  template void attention_block_backward(                                                       \
      const Array<Scalar>&, const Array<Scalar>&, const Array<Scalar>&, const Array<Scalar>&,   \
      const Array<Scalar>&, const Array<Scalar>&, const FlashOptions&, const BlockPlace&,       \
      AttentionGradients<Scalar>&, FlashWork&);                                                 \
  template AttentionResult<Scalar> flash_forward(const Array<Scalar>&, const Array<Scalar>&,    \
                                                 const Array<Scalar>&, const FlashOptions&,     \
                                                 FlashWork&);                                   \
  template AttentionGradients<Scalar> flash_backward(                                           \
      const Array<Scalar>&, const Array<Scalar>&, const Array<Scalar>&,                         \
      const AttentionResult<Scalar>&, const Array<Scalar>&, const FlashOptions&, FlashWork&);
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
