// Loops over named axes: every operation of the executor is one of these with a body.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwise/exec/array.h"

namespace flopwise::exec {

// The live pairs of two axes, by name. Pairs that are not live are not visited.
struct LivePairs {
  std::string query_axis;
  std::string key_axis;
  std::vector<std::vector<std::int64_t>> keys;  // of each query, ascending
  std::int64_t most_keys = 0;                   // that the query of any position sees
};

template <std::size_t N>
using Offsets = std::array<std::int64_t, N>;

// Axes, and how far each of N arrays moves for one step along each.
template <std::size_t N>
struct Loop {
  std::vector<std::int64_t> sizes;
  std::vector<Offsets<N>> strides;

  void add(const Extent& axis, const std::array<const Shape*, N>& shapes) {
    Offsets<N> steps;
    for (std::size_t n = 0; n < N; ++n) steps[n] = stride_of(*shapes[n], axis.name);
    sizes.push_back(axis.size);
    strides.push_back(steps);
  }
};

template <std::size_t N>
void advance(Offsets<N>& offsets, const Offsets<N>& strides, std::int64_t steps = 1) {
  for (std::size_t n = 0; n < N; ++n) offsets[n] += steps * strides[n];
}

// Calls visit(offsets) for every point, the last axis fastest.
template <std::size_t N, typename Visit>
void for_each_point(const Loop<N>& loop, Offsets<N> offsets, Visit&& visit, std::size_t axis = 0) {
  if (axis == loop.sizes.size()) {
    visit(offsets);
    return;
  }
  const Offsets<N>& strides = loop.strides[axis];
  if (axis + 1 == loop.sizes.size()) {
    for (std::int64_t i = 0; i < loop.sizes[axis]; ++i, advance(offsets, strides)) visit(offsets);
    return;
  }
  for (std::int64_t i = 0; i < loop.sizes[axis]; ++i, advance(offsets, strides)) {
    for_each_point(loop, offsets, visit, axis + 1);
  }
}

// Every axis of the shapes, each once, in order of appearance.
template <std::size_t N>
Shape union_of(const std::array<const Shape*, N>& shapes) {
  Shape axes;
  for (const Shape* shape : shapes) {
    for (const Extent& axis : *shape) {
      if (find_axis(axes, axis.name) < 0) axes.push_back(axis);
    }
  }
  return axes;
}

// Calls visit(offsets) for every point of the union of all axes; where `live` is given, for its
// pairs only.
template <std::size_t N, typename Visit>
void for_each_point(const std::array<const Shape*, N>& shapes, const LivePairs* live,
                    Visit&& visit) {
  Loop<N> loop;
  Loop<N> masked;  // queries, keys
  for (const Extent& axis : union_of(shapes)) {
    const bool is_masked =
        live != nullptr && (axis.name == live->query_axis || axis.name == live->key_axis);
    if (!is_masked) loop.add(axis, shapes);
  }
  if (live == nullptr) {
    for_each_point(loop, Offsets<N>{}, visit);
    return;
  }
  masked.add({live->query_axis, 0}, shapes);
  masked.add({live->key_axis, 0}, shapes);
  for (std::size_t query = 0; query < live->keys.size(); ++query) {
    for (const std::int64_t key : live->keys[query]) {
      Offsets<N> offsets{};
      advance(offsets, masked.strides[0], static_cast<std::int64_t>(query));
      advance(offsets, masked.strides[1], key);
      for_each_point(loop, offsets, visit);
    }
  }
}

// One row along an axis: where it starts in each array, and which of its elements are live.
template <std::size_t N>
struct Row {
  Offsets<N> start{};
  Offsets<N> stride{};
  const std::vector<std::int64_t>& live;

  template <std::size_t Array>
  std::int64_t at(std::int64_t element) const {
    return start[Array] + element * stride[Array];
  }
};

// Calls visit(row) for every row of the first shape along `axis`; where `live` is given, its key
// axis is `axis` and each query's row has the live keys only.
template <std::size_t N, typename Visit>
void for_each_row(const std::array<const Shape*, N>& shapes, const std::string& axis,
                  const LivePairs* live, Visit&& visit) {
  Loop<N> rows;
  Offsets<N> stride{};
  Offsets<N> query_stride{};
  std::int64_t length = 0;
  for (const Extent& extent : *shapes[0]) {
    Loop<N> one;
    one.add(extent, shapes);
    if (extent.name == axis) {
      stride = one.strides[0];
      length = extent.size;
    } else if (live != nullptr && extent.name == live->query_axis) {
      query_stride = one.strides[0];
    } else {
      rows.add(extent, shapes);
    }
  }
  std::vector<std::int64_t> whole;
  if (live == nullptr) {
    for (std::int64_t i = 0; i < length; ++i) whole.push_back(i);
  }
  const std::size_t queries = live == nullptr ? 1 : live->keys.size();
  for (std::size_t query = 0; query < queries; ++query) {
    const std::vector<std::int64_t>& columns = live == nullptr ? whole : live->keys[query];
    Offsets<N> start{};
    advance(start, query_stride, static_cast<std::int64_t>(query));
    for_each_point(rows, start, [&](const Offsets<N>& offsets) {
      visit(Row<N>{offsets, stride, columns});
    });
  }
}

}  // namespace flopwise::exec
