// SPDX-License-Identifier: Apache-2.0
//
// Index spaces as operators make them of row-major operands, and every access that they mean.
#ifndef STREW_TEST_PLAN_SPACES_H_
#define STREW_TEST_PLAN_SPACES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "plan/entry_loops.h"
#include "plan/index_space.h"
#include "reference/random.h"
#include "reference/view.h"
#include "support/reference.h"

namespace strew_test {

// Spaces of scatter_elements, scatter_update along axis 0, and scatter_nd with `k` components.
strew::plan::IndexSpace ElementsSpace(const Dims& data, const Dims& indices, int axis);
strew::plan::IndexSpace UpdateSpace(const Dims& data, int64_t entries);
strew::plan::IndexSpace NdSpace(const Dims& data, int64_t entries, int k);

// Any of the three, of up to five dims, with output strides of any order, gap and sign. Some have
// one update for all entries.
strew::plan::IndexSpace AnySpace(Random& random);

// One element of updates: where its index, of the first component, lies in indices; and it in
// updates. Where it lies in the output before any index tells the batch and the inner turn.
struct Access {
  int64_t update;
  int64_t index;

  bool operator==(const Access& other) const {
    return update == other.update && index == other.index;
  }
};

// The offsets of each batch and inner turn, in order.
using Accesses = std::map<int64_t, std::vector<Access>>;

Accesses AccessesOf(const strew::plan::IndexSpace& space);
Accesses AccessesOf(const strew::plan::EntryLoops& loops);

}  // namespace strew_test

#endif  // STREW_TEST_PLAN_SPACES_H_
