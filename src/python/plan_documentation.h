// SPDX-License-Identifier: Apache-2.0
#ifndef STREW_PYTHON_PLAN_DOCUMENTATION_H_
#define STREW_PYTHON_PLAN_DOCUMENTATION_H_

#include "python/documentation.h"

#define STREW_PLAN_ERRORS_DOCUMENTATION                                                     \
  "The context gives the policies, which calls with the plan then ignore, and threads.\n\n" \
  "Raises strew.Error as the operator does, with the same sentence and position, and\n"     \
  "STREW_INVALID_ARGUMENT for an extent below 0."

namespace strew::python {

constexpr char kPlan[] =
    "Indices that were checked and put in order once, for any number of calls.\n\n"
    "plan_scatter_elements(), plan_scatter_nd() and plan_scatter_update() make plans. A plan has\n"
    "a copy of what it needs of the indices and never changes: any number of calls and threads\n"
    "may use it at once. It depends on index values and on the extents of the indexed axes\n"
    "alone; dtype and all other dims are free at each call. It cannot be pickled.\n\n"
    "Making a plan takes 10 to 15 ns an entry on one thread. It pays from the first or second\n"
    "call on for gather_scatter() and gather() with rows and for means of rows; from the third\n"
    "to the sixth for sums of short rows, by tuples, or of single elements in data larger than\n"
    "the caches; from the eighth to the twentieth for sums of rows of 64 elements, along the\n"
    "first axis, or of single elements in smaller data; and after 40 calls or more for sums along\n"
    "the last axis. For sums of longer rows it may never pay.";

constexpr char kPlanScatterElements[] =
    "A plan for the indices of scatter_elements():\n\n"
    "indices   rank r >= 1, of any integer dtype\n"
    "extent    the size of data on the axis\n"
    "axis      in [-r, r - 1]\n\n" STREW_PLAN_ERRORS_DOCUMENTATION;

constexpr char kPlanScatterNd[] =
    "A plan for the tuples of scatter_nd():\n\n"
    "indices   its last dim is k; of any integer dtype\n"
    "extents   the sizes of data on its first k axes: data.shape[:k]\n\n"  //
    STREW_PLAN_ERRORS_DOCUMENTATION;

constexpr char kPlanScatterUpdate[] =
    "A plan for the indices of scatter_update():\n\n"
    "indices   any shape, of any integer dtype\n"
    "extent    the size of data on the axis\n"
    "axis      any; each call resolves it against the rank of its data\n\n"  //
    STREW_PLAN_ERRORS_DOCUMENTATION;

constexpr char kPlanScatter[] =
    "The operator of the plan without another look at the indices:\n\n"
    "    output = data\n"
    "    output[place of e] (+)= updates[e]    for every entry e, in order\n\n"
    "data      has the extents of the plan\n"
    "updates   the shape that the operator asks for\n\n"
    "The result is that of the operator to the byte. Policies of this context are ignored: the\n"
    "plan has those with which it was made.\n\n" STREW_REDUCTION_DOCUMENTATION
        STREW_COMMON_DOCUMENTATION
    "Raises strew.Error as the operator does, and with STREW_INVALID_SHAPE where data has other\n"
    "extents.";

constexpr char kPlanGather[] =
    "The other direction, and the gradient of a sum:\n\n"
    "    output[e] = source[place of e]    for every entry e\n\n"
    "source    has the extents of the plan, as data of the operator; of any dtype\n"
    "out       the shape of updates and the dtype of source, in other memory. Entries that are\n"
    "          dropped keep their values\n\n"
    "Returns `out`, or a new array of the kind of source, in which entries that are dropped are\n"
    "zeros. The same as numpy.take() for a plan of plan_scatter_update(), and as\n"
    "numpy.take_along_axis() for one of plan_scatter_elements(). Raises strew.Error as scatter()\n"
    "does.";

constexpr char kGatherScatter[] =
    "Takes rows from one tensor and combines them in another, without making the updates:\n\n"
    "    output = data\n"
    "    output[place of e in to_plan] (+)= weights[e] * source[place of e in from_plan]\n\n"
    "source    has the extents of from_plan\n"
    "data      has the extents of to_plan\n"
    "weights   none, or any shape that NumPy broadcasts to that of the updates\n\n"
    "Arguments stand in the order of the name: gather with a plan from source, then scatter with\n"
    "a plan to data. The result is to the byte that of\n\n"
    "    to_plan.scatter(data, from_plan.gather(source) * weights, reduction=reduction)\n\n"
    "except that an entry that either plan drops is skipped. Unlike that of the operators, the\n"
    "reduction is \"add\" where none is given. It is the message passing of a graph network, a\n"
    "product of a sparse and a dense matrix, and an embedding "
    "bag.\n\n" STREW_REDUCTION_DOCUMENTATION STREW_COMMON_DOCUMENTATION
    "Raises strew.Error as scatter() of a plan does, STREW_INVALID_SHAPE where the plans mean\n"
    "updates of two shapes, and STREW_INVALID_DTYPE for weights of a dtype without products.";

}  // namespace strew::python

#endif  // STREW_PYTHON_PLAN_DOCUMENTATION_H_
