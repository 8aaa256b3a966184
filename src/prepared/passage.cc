// SPDX-License-Identifier: Apache-2.0
#include "prepared/passage.h"

namespace strew::prepared {

void FindUpdateLoops(const Passage& passage, UpdateNest* nest) {
  const int rank = passage.of_to.rank;
  for (int i = 0; i < rank; ++i) {
    const Dim& from = passage.of_from.dims[i];
    const Dim& to = passage.of_to.dims[i];
    const int64_t weight = passage.weights == nullptr ? 0 : WeightStride(*passage.weights, i, rank);
    nest->Append(to.count, from.entry_stride, to.entry_stride, from.indexed_stride,
                 to.indexed_stride, weight);
  }
  nest->Merge();
}

}  // namespace strew::prepared
