// SPDX-License-Identifier: Apache-2.0
//
// The slow oracle of gathers, which plans can do besides scatters.
#ifndef STREW_REFERENCE_GATHER_H_
#define STREW_REFERENCE_GATHER_H_

#include <optional>

#include "reference/case.h"

namespace strew::reference {

// A gather is described by the case of a scatter with the same indices, whose data has the shape of
// the source. The updates of the case are not used.

// The shape that the operator requires of updates.
Dims UpdatesShapeOf(const Case& c);

// The element of data that the update at `i` is for; none if the update is dropped.
std::optional<Dims> PlaceOf(const Case& c, const Dims& i);

// output[i] = source[the place of the update i].
Outcome Gather(const Case& c, const View& source, const View& output);

// Gathers updates from the data of `from`, multiplies them by the weights if there are any, and
// scatters them into `data` with the indices and the reduction of `to`.
Outcome GatherScatter(const Case& from, const View* weights, const Case& to, const View& data,
                      const View& output);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_GATHER_H_
