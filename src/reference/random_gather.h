// SPDX-License-Identifier: Apache-2.0
// Random calls by plans.
#ifndef STREW_REFERENCE_RANDOM_GATHER_H_
#define STREW_REFERENCE_RANDOM_GATHER_H_

#include <optional>

#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"

namespace strew::reference {

// A call of an operator for which a plan can be made. Some indices may be out of range, if the
// policy drops or clamps them.
Case MakeRandomPlanned(Random& random, Operator op, const Dtype& dtype);

// Gives the case any output for the elements that are gathered from its data.
void SetAnyResult(Random& random, Case& c);

// A gather whose result has this shape, for any operator that has plans, with any index dtype,
// layout and policy. See reference/gather.h.
Case MakeRandomGather(Random& random, const Dtype& dtype, const Dims& result);

// A call of strew_plan_gather_scatter(). `from` has the indices of the gather, and its data is the
// source; `to` has the other indices, data, output and reduction. The updates of both are not used.
struct GatherScatterCase {
  Case from;
  Case to;
  std::optional<Array> weights = {};
};

// A valid call, except that in one of three cases some indices of a plan are out of range.
GatherScatterCase MakeRandomGatherScatter(Random& random, Operator to, const Dtype& dtype);

// Describes the call and its operands, with the values of short index arrays only.
std::string Describe(const GatherScatterCase& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_GATHER_H_
