// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_REFERENCE_RANDOM_GATHER_H_
#define STREW_REFERENCE_RANDOM_GATHER_H_

#include <optional>

#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"

namespace strew::reference {

// A call of an operator of which a plan can be made. Some indices may be out of range, if the policy
// has use for them.
Case MakeRandomPlanned(Random& random, Operator op, const Dtype& dtype);

// Gives it any output that takes what is gathered from its data.
void SetAnyResult(Random& random, Case& c);

// A gather whose result has this shape: of any operator that has plans, any index dtype, layout and
// policy. See reference/gather.h.
Case MakeRandomGather(Random& random, const Dtype& dtype, const Dims& result);

// One call of strew_plan_gather_scatter(). In `from` are the indices and the source, which is its
// data; in `to` the other indices, data, output and reduction. Updates of neither play a part.
struct GatherScatterCase {
  Case from;
  Case to;
  std::optional<Array> weights = {};
};

// A legal one, index values aside: in one of three some of them are out of range.
GatherScatterCase MakeRandomGatherScatter(Random& random, Operator to, const Dtype& dtype);

// All but the values.
std::string Describe(const GatherScatterCase& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_RANDOM_GATHER_H_
