// What moves data without computing: lookups, routing, caches. Only the gradient of a lookup adds,
// and only top-k compares.
#include <algorithm>
#include <limits>

#include "flopwise/base/error.h"
#include "flopwise/exec/ops_detail.h"

namespace flopwise::exec {
namespace {

// Walks over rows[.., D] (or [K,G,T,S]) with the element of table[V, ..] that each comes from:
// visit(offset in rows, offset in table).
template <typename Scalar, typename Visit>
void for_each_looked_up(const Array<Scalar>& ids, const Shape& table, const Shape& rows,
                        const LivePairs* live, Visit visit) {
  const Extent& entries = table.at(0);
  const std::int64_t entry_stride = stride_of(table, entries.name);
  const Shape one_entry(table.begin() + 1, table.end());
  for_each_point<3>({&rows, &one_entry, &ids.shape()}, live, [&](const Offsets<3>& at) {
    const std::int64_t id = index_of(ids[at[2]]);
    FLOPWISE_CHECK(id >= 0 && id < entries.size, "lookup: no such row");
    visit(at[0], at[1] + id * entry_stride);
  });
}

template <typename Scalar>
void copy_all(OpRun<Scalar>& run) {
  for_each_point<2>({&run.outputs[0].shape(), &run.inputs[0].shape()}, nullptr,
                    [&](const Offsets<2>& at) { run.outputs[0][at[0]] = run.inputs[0][at[1]]; });
}

}  // namespace

template <typename Scalar>
void run_kind(const Gather&, OpRun<Scalar>& run) {
  const Array<Scalar>& table = run.inputs[1];
  Array<Scalar>& rows = run.outputs[0];
  for_each_looked_up(run.inputs[0], table.shape(), rows.shape(), run.live,
                     [&](std::int64_t row, std::int64_t entry) { rows[row] = table[entry]; });
}

template <typename Scalar>
void run_kind(const GatherBackward&, OpRun<Scalar>& run) {
  const Array<Scalar>& d_rows = run.inputs[1];
  Array<Scalar>& d_table = run.outputs[0];
  for_each_looked_up(
      run.inputs[0], d_table.shape(), d_rows.shape(), run.live,
      [&](std::int64_t row, std::int64_t entry) { d_table[entry] = d_table[entry] + d_rows[row]; });
}

// k passes of n compares; what has been chosen is set to the lowest number. Of equals the first.
template <typename Scalar>
void run_kind(const TopK& kind, OpRun<Scalar>& run) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const Array<Scalar>& scores = run.inputs[0];
  const Array<Scalar>& ranks = run.inputs.back();
  Array<Scalar>& weights = run.outputs[0];
  Array<Scalar>& choice = run.outputs[1];
  FLOPWISE_CHECK(scores.shape().back().name == kind.axis,
                 run.op.name + ": the last axis is chosen");
  const std::int64_t n = scores.shape().back().size;
  const std::int64_t k = weights.shape().back().size;
  for (std::int64_t row = 0; row < scores.size() / n; ++row) {
    std::vector<Scalar> left(&ranks[row * n], &ranks[row * n] + n);
    for (std::int64_t pass = 0; pass < k; ++pass) {
      Scalar best = kLowest;
      std::size_t chosen = left.size();
      for (std::size_t e = 0; e < left.size(); ++e) {
        if (!is_greater(left[e], best)) continue;
        best = left[e];
        chosen = e;
      }
      FLOPWISE_CHECK(chosen < left.size(), run.op.name + ": a score is not a number");
      weights[row * k + pass] = scores[row * n + static_cast<std::int64_t>(chosen)];
      choice[row * k + pass] = static_cast<double>(chosen);
      left[chosen] = kLowest;
    }
  }
}

template <typename Scalar>
void run_kind(const TopKBackward&, OpRun<Scalar>& run) {
  const Array<Scalar>& d_weights = run.inputs[0];
  const Array<Scalar>& choice = run.inputs[1];
  Array<Scalar>& d_scores = run.outputs[0];
  const std::int64_t n = d_scores.shape().back().size;
  const std::int64_t k = d_weights.shape().back().size;
  for (std::int64_t i = 0; i < d_weights.size(); ++i) {
    d_scores[i / k * n + index_of(choice[i])] = d_weights[i];
  }
}

// scores[B,T,S] -> choice[B,T,Sx], of the keys that a query sees; places that are left over keep 0.
template <typename Scalar>
void run_kind(const SelectKeys& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& scores = run.inputs[0];
  Array<Scalar>& choice = run.outputs[0];
  FLOPWISE_CHECK(run.live != nullptr && scores.shape().back().name == kind.axis,
                 run.op.name + ": the last axis is chosen, under a mask");
  const std::int64_t n = scores.shape().back().size;
  const auto places = static_cast<std::size_t>(choice.shape().back().size);
  const std::size_t queries = run.live->keys.size();
  for (std::int64_t row = 0; row < scores.size() / n; ++row) {
    std::vector<std::int64_t> keys = run.live->keys[static_cast<std::size_t>(row) % queries];
    std::stable_sort(keys.begin(), keys.end(), [&](std::int64_t a, std::int64_t b) {
      return value_of(scores[row * n + a]) > value_of(scores[row * n + b]);
    });
    for (std::size_t i = 0; i < std::min(places, keys.size()); ++i) {
      choice[row * static_cast<std::int64_t>(places) + static_cast<std::int64_t>(i)] =
          static_cast<double>(keys[i]);
    }
  }
}

// x[B,T,D] -> sent[B,T,k,D]: a copy for each chosen expert. Where each expert lives is the business
// of sharding.
template <typename Scalar>
void run_kind(const Dispatch&, OpRun<Scalar>& run) {
  copy_all(run);
}

template <typename Scalar>
void run_kind(const Combine&, OpRun<Scalar>& run) {
  copy_all(run);
}

// Rows of x[B,T,..] moved by one position. Of a recurrence the executor runs it position by
// position (block_run.cc): a row of x exists when the next position asks for it.
template <typename Scalar>
void run_kind(const Previous& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  const std::int64_t batch = in.shape().at(0).size;
  const std::int64_t length = in.shape().at(1).size;
  const std::int64_t row = in.size() / batch / length;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t from = kind.reversed ? t + 1 : t - 1;
      const bool inside = from >= 0 && from < length;
      const bool has_state = !inside && run.inputs.size() > 1;
      for (std::int64_t i = 0; i < row; ++i) {
        Scalar value = 0.0;
        if (inside) value = in[(b * length + from) * row + i];
        if (has_state) value = run.inputs[1][b * row + i];
        out[(b * length + t) * row + i] = value;
      }
    }
  }
}

template <typename Scalar>
void run_kind(const Prepend&, OpRun<Scalar>& run) {
  const Array<Scalar>& in = run.inputs[0];
  Array<Scalar>& out = run.outputs[0];
  const std::int64_t batch = out.shape().at(0).size;
  const std::int64_t length = out.shape().at(1).size;
  const std::int64_t row = out.size() / batch / length;
  FLOPWISE_CHECK(in.size() == batch * (length - 1) * row, run.op.name + ": one position more");
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < row && run.inputs.size() > 1; ++i) {
      out[b * length * row + i] = run.inputs[1][i];
    }
    for (std::int64_t i = 0; i < (length - 1) * row; ++i) {
      out[(b * length + 1) * row + i] = in[b * (length - 1) * row + i];
    }
  }
}

template <typename Scalar>
void run_kind(const PrependBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& d_out = run.inputs[0];
  Array<Scalar>& result = run.outputs[0];
  const std::int64_t batch = d_out.shape().at(0).size;
  const std::int64_t length = d_out.shape().at(1).size;
  const std::int64_t row = d_out.size() / batch / length;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < (kind.of_row ? row : (length - 1) * row); ++i) {
      if (kind.of_row) {
        result[i] = result[i] + d_out[b * length * row + i];
      } else {
        result[b * (length - 1) * row + i] = d_out[(b * length + 1) * row + i];
      }
    }
  }
}

// The executor hands on the same memory under the new axes.
template <typename Scalar>
void run_kind(const Relabel&, OpRun<Scalar>& run) {
  run.outputs[0] = run.inputs[0].viewed_as(run.outputs[0].shape());
}

// New positions stand at the end of the cache's second axis.
template <typename Scalar>
void run_kind(const CacheAppend&, OpRun<Scalar>& run) {
  const Array<Scalar>& fresh = run.inputs[0];
  Array<Scalar>& cache = run.outputs[0];
  const std::int64_t row = fresh.size() / fresh.shape()[0].size / fresh.shape()[1].size;
  const std::int64_t fresh_length = fresh.shape()[1].size;
  const std::int64_t length = cache.shape()[1].size;
  for (std::int64_t b = 0; b < cache.shape()[0].size; ++b) {
    for (std::int64_t t = 0; t < fresh_length; ++t) {
      const std::int64_t from = (b * fresh_length + t) * row;
      const std::int64_t to = (b * length + length - fresh_length + t) * row;
      for (std::int64_t i = 0; i < row; ++i) cache[to + i] = fresh[from + i];
    }
  }
}

namespace {

// Walks over one[B,..] with the element of all[B,T,..] at the first or last position.
template <typename Visit>
void for_each_taken(const Shape& all, const Shape& one, bool last, Visit visit) {
  const Extent& positions = all.at(1);
  const std::int64_t skipped = (last ? positions.size - 1 : 0) * stride_of(all, positions.name);
  Loop<2> loop;
  for (const Extent& axis : one) loop.add(axis, {&one, &all});
  for_each_point(loop, {0, skipped}, [&](const Offsets<2>& at) { visit(at[0], at[1]); });
}

}  // namespace

template <typename Scalar>
void run_kind(const TakeOne& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& all = run.inputs[0];
  Array<Scalar>& one = run.outputs[0];
  for_each_taken(all.shape(), one.shape(), kind.last,
                 [&](std::int64_t to, std::int64_t from) { one[to] = all[from]; });
}

template <typename Scalar>
void run_kind(const TakeOneBackward& kind, OpRun<Scalar>& run) {
  const Array<Scalar>& d_one = run.inputs[0];
  Array<Scalar>& d_all = run.outputs[0];
  for_each_taken(d_all.shape(), d_one.shape(), kind.last,
                 [&](std::int64_t from, std::int64_t to) { d_all[to] = d_one[from]; });
}

#define FLOPWISE_INSTANTIATE(Scalar)                \
  FLOPWISE_INSTANTIATE_RUN(Gather, Scalar)          \
  FLOPWISE_INSTANTIATE_RUN(GatherBackward, Scalar)  \
  FLOPWISE_INSTANTIATE_RUN(TopK, Scalar)            \
  FLOPWISE_INSTANTIATE_RUN(TopKBackward, Scalar)    \
  FLOPWISE_INSTANTIATE_RUN(SelectKeys, Scalar)      \
  FLOPWISE_INSTANTIATE_RUN(Dispatch, Scalar)        \
  FLOPWISE_INSTANTIATE_RUN(Combine, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(Previous, Scalar)        \
  FLOPWISE_INSTANTIATE_RUN(Prepend, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(PrependBackward, Scalar) \
  FLOPWISE_INSTANTIATE_RUN(Relabel, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(CacheAppend, Scalar)     \
  FLOPWISE_INSTANTIATE_RUN(TakeOne, Scalar)         \
  FLOPWISE_INSTANTIATE_RUN(TakeOneBackward, Scalar)
FLOPWISE_FOR_EACH_SCALAR(FLOPWISE_INSTANTIATE)

}  // namespace flopwise::exec
