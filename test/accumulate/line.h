// SPDX-License-Identifier: Apache-2.0
// Entries along the first axis of a tensor: each is one element, or a run of them.
#ifndef STREW_TEST_ACCUMULATE_LINE_H_
#define STREW_TEST_ACCUMULATE_LINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "base/call.h"
#include "base/tensor_view.h"
#include "plan/entry_loops.h"
#include "walk/scatter.h"

namespace strew_test {

template <class T>
strew::TensorView ViewOf(strew_dtype dtype, std::vector<T>& elements, std::vector<int64_t> shape) {
  strew::TensorView view = {};
  view.dtype = dtype;
  view.rank = static_cast<int32_t>(shape.size());
  view.size = static_cast<int64_t>(elements.size());
  view.element_size = sizeof(T);
  view.data = reinterpret_cast<unsigned char*>(elements.data());
  int64_t stride = 1;
  for (int32_t i = view.rank - 1; i >= 0; --i) {
    view.shape[i] = shape[static_cast<size_t>(i)];
    view.strides[i] = stride;
    stride *= view.shape[i];
  }
  return view;
}

// T of shape [places, run], and an update for each index. A negative index is dropped.
template <class T, strew_dtype kDtype>
struct LineOf {
  LineOf(int64_t places, int64_t run, std::vector<int64_t> indices_of_updates,
         strew_reduction reduction = STREW_MEAN)
      : indices(std::move(indices_of_updates)),
        data(static_cast<size_t>(places * run)),
        updates(indices.size() * static_cast<size_t>(run)),
        data_view(ViewOf(kDtype, data, {places, run})),
        indices_view(ViewOf(STREW_INT64, indices, {static_cast<int64_t>(indices.size())})),
        updates_view(ViewOf(kDtype, updates, {static_cast<int64_t>(indices.size()), run})),
        loops(SpaceOf(run), {strew::plan::OutOfRange::kDrop, false}),
        scatter(call, {data_view, indices_view, updates_view, data_view}, loops, reduction,
                nullptr) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i % 7);
    for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<T>(i);
  }

  static strew::Settings WithoutWrap() {
    strew::Settings settings;
    settings.wrap_negative_indices = false;
    return settings;
  }

  strew::plan::IndexSpace SpaceOf(int64_t run) const {
    strew::plan::IndexSpace space;
    space.AppendComponent(0, data_view, data_view, 1, 0);
    space.entries.Append(indices_view.size, 0, run, 1, 0);
    space.inner.Append(run, 1, 1);
    return space;
  }

  std::vector<int64_t> indices;
  std::vector<T> data;
  std::vector<T> updates;
  strew::TensorView data_view;
  strew::TensorView indices_view;
  strew::TensorView updates_view;
  strew::Settings settings = WithoutWrap();
  strew::Call call{settings, nullptr};
  strew::plan::EntryLoops loops;
  strew::walk::Scatter scatter;
};
using Line = LineOf<float, STREW_FLOAT32>;

}  // namespace strew_test

#endif  // STREW_TEST_ACCUMULATE_LINE_H_
