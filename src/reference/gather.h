// SPDX-License-Identifier: Apache-2.0
//
// The slow oracle of gathers: the other direction of the operators that have plans.
#ifndef STREW_REFERENCE_GATHER_H_
#define STREW_REFERENCE_GATHER_H_

#include <optional>

#include "reference/case.h"

namespace strew::reference {

// A gather is told as the scatter with the same indices: a case whose data has the shape of what is
// gathered from. Its updates play no part.

// The shape that the operator asks of updates.
Dims UpdatesShapeOf(const Case& c);

// The element of data that the update at `i` is for; none for one that is dropped.
std::optional<Dims> PlaceOf(const Case& c, const Dims& i);

// output[i] = source[the place of the update i].
Outcome Gather(const Case& c, const View& source, const View& output);

// The updates that `from` gathers from its data, times the weights if there are any, are scattered
// into `data` by the indices and the reduction of `to`.
Outcome GatherScatter(const Case& from, const View* weights, const Case& to, const View& data,
                      const View& output);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_GATHER_H_
