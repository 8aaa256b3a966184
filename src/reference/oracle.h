// SPDX-License-Identifier: Apache-2.0
//
// The slow oracle: what every operator must compute, as one obvious loop each. It checks index
// values and takes all other arguments for good.
#ifndef STREW_REFERENCE_ORACLE_H_
#define STREW_REFERENCE_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/view.h"

namespace strew::reference {

// How indices are read and updates combined: a reduction and the policies of a context.
struct Rules {
  strew_reduction reduction = STREW_NONE;
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
};

struct Outcome {
  strew_status status = STREW_OK;
  int64_t error_position = -1;
  std::string error;          // what the error text must contain
  int64_t applied = 0;        // elements of updates as stored
  std::vector<bool> reduced;  // by row-major position in output: a reduction wrote this element
};

// The place that an index which passed the check names on an axis of `dim` elements; none for one to
// be dropped.
std::optional<int64_t> Resolve(int64_t index, int64_t dim, const Rules& rules);

// The element at `target` takes the bytes of an update.
struct Update {
  Dims target;
  const unsigned char* bytes;
};

// output = data, to which the updates are applied one at a time.
Outcome ApplyEach(const View& data, const std::vector<Update>& updates, strew_reduction reduction,
                  const View& output);

// Each writes `output` if all indices are good. `output` may be `data`.
Outcome ScatterElements(const View& data, const View& indices, const View& updates, int64_t axis,
                        const Rules& rules, const View& output);

Outcome ScatterNd(const View& data, const View& indices, const View& updates, const Rules& rules,
                  const View& output);

Outcome ScatterUpdate(const View& data, const View& indices, const View& updates, int64_t axis,
                      const Rules& rules, const View& output);

// No write_indices stand for zeros. Of the rules only the policy for indices applies.
Outcome TensorScatter(const View& past_cache, const View& update, const View* write_indices,
                      int64_t axis, strew_cache_mode mode, strew_index_policy policy,
                      const View& present_cache);

// Entry j slices axis axes[j]; empty axes stand for 0, ..., n - 1. updates are broadcast.
Outcome SliceScatter(const View& data, const View& updates, const Dims& start, const Dims& stop,
                     const Dims& step, const Dims& axes, strew_reduction reduction,
                     const View& output);

// The elements first, first + step, ... of an axis, `count` of them.
struct Range {
  int64_t first;
  int64_t step;
  int64_t count;
};

// Python's range(*slice(start, stop, step).indices(dim)).
Range PythonSlice(int64_t start, int64_t stop, int64_t step, int64_t dim);

// The shape of data[start:stop:step], to which updates are broadcast.
Dims SliceShape(const Dims& shape, const Dims& start, const Dims& stop, const Dims& step,
                const Dims& axes);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_ORACLE_H_
