// SPDX-License-Identifier: Apache-2.0
//
// The slow oracle: computes what every operator must compute, in one obvious loop each. It checks
// index values, and assumes that all other arguments are valid.
#ifndef STREW_REFERENCE_ORACLE_H_
#define STREW_REFERENCE_ORACLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/view.h"

namespace strew::reference {

// Determines how indices are read and updates combined: a reduction and the policies of a context.
struct Rules {
  strew_reduction reduction = STREW_NONE;
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
};

struct Outcome {
  strew_status status = STREW_OK;
  int64_t error_position = -1;
  std::string error;          // text that the error message must contain
  int64_t applied = 0;        // elements of updates before broadcasting
  std::vector<bool> reduced;  // true if a reduction wrote the element at this row-major position
};

// The position on an axis of `dim` elements that an index names, which has passed the check; none
// if it is dropped.
std::optional<int64_t> Resolve(int64_t index, int64_t dim, const Rules& rules);

// An update of the element at `target`.
struct Update {
  Dims target;
  const unsigned char* bytes;
};

// Copies data to the output, and applies the updates one at a time.
Outcome ApplyEach(const View& data, const std::vector<Update>& updates, strew_reduction reduction,
                  const View& output);

// Each operator writes `output` if no index fails the check. `output` may be `data`.
Outcome ScatterElements(const View& data, const View& indices, const View& updates, int64_t axis,
                        const Rules& rules, const View& output);

Outcome ScatterNd(const View& data, const View& indices, const View& updates, const Rules& rules,
                  const View& output);

Outcome ScatterUpdate(const View& data, const View& indices, const View& updates, int64_t axis,
                      const Rules& rules, const View& output);

// If `write_indices` is NULL, all are 0. Of the rules only the index policy applies.
Outcome TensorScatter(const View& past_cache, const View& update, const View* write_indices,
                      int64_t axis, strew_cache_mode mode, strew_index_policy policy,
                      const View& present_cache);

// Entry j slices axis axes[j]; if `axes` is empty, the axes are 0, ..., n - 1. Updates are
// broadcast.
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
