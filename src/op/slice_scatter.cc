// SPDX-License-Identifier: Apache-2.0
// output[start0:stop0:step0, ...] (+)= updates
#include <algorithm>
#include <cinttypes>

#include "api/context.h"
#include "api/tensor.h"
#include "base/identity.h"
#include "base/index_value.h"
#include "base/reduction.h"
#include "plan/check.h"
#include "plan/overlay.h"
#include "plan/slice.h"
#include "plan/text.h"
#include "plan/schedule.h"
#include "plan/unit.h"
#include "share/share.h"
#include "walk/box.h"
#include "walk/kernels.h"

namespace strew {
namespace {

struct SliceOperands {
  const TensorView* start;
  const TensorView* stop;
  const TensorView* step;
  const TensorView* axes;  // may be NULL
};

// The slice of every axis of data.
using Slices = plan::Slice[kMaxRank];

IndexValue NumberAt(const TensorView& numbers, int64_t i) {
  return ReadIndexAt(numbers, i * StrideOf(numbers, 0));
}

// Returns the operand that stands for `axes` in lists of operands: `start` if there are no axes.
plan::Operand AxesOrStart(const SliceOperands& slice) {
  return slice.axes == nullptr ? plan::Operand{"start", slice.start}
                               : plan::Operand{"axes", slice.axes};
}

Status CheckRanks(const Call& call, const TensorView& data, const TensorView& updates,
                  const SliceOperands& slice, const TensorView& output) {
  STREW_TRY(plan::CheckDataRank(call, data, output));
  if (updates.rank > data.rank) {
    return call.Fail(STREW_INVALID_SHAPE, "updates has rank %d, but data has rank %d", updates.rank,
                     data.rank);
  }
  const plan::Operand operands[] = {
      {"start", slice.start}, {"stop", slice.stop}, {"step", slice.step}, AxesOrStart(slice)};
  for (const plan::Operand& operand : operands) STREW_TRY(plan::CheckRank(call, operand, 1));
  for (const plan::Operand& operand : operands) {
    STREW_TRY(plan::CheckSameShape(call, operand, {"start", slice.start}));
  }
  if (slice.start->size <= data.rank) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "start has %" PRId64 " entries, but data has rank %d",
                   slice.start->size, data.rank);
}

// Checks the axes, and stores the axis of each entry.
Status CheckAxes(const Call& call, const TensorView& data, const SliceOperands& slice, int* axes) {
  const int entries = static_cast<int>(slice.start->size);
  uint32_t seen = 0;
  for (int i = 0; i < entries; ++i) {
    axes[i] = i;
    if (slice.axes != nullptr) {
      STREW_TRY(plan::CheckAxis(call, NumberAt(*slice.axes, i), i, data.rank, &axes[i]));
    }
    const uint32_t bit = uint32_t{1} << axes[i];
    if ((seen & bit) != 0) {
      return call.Fail(STREW_INVALID_AXIS, "axes[%d] names axis %d a second time", i, axes[i]);
    }
    seen |= bit;
  }
  return STREW_OK;
}

Status MakeSlices(const Call& call, const TensorView& data, const SliceOperands& slice,
                  const int* axes, Slices* slices) {
  const int entries = static_cast<int>(slice.start->size);
  for (int i = 0; i < data.rank; ++i) (*slices)[i] = {0, 1, data.shape[i]};
  for (int i = 0; i < entries; ++i) {
    const int64_t step = NumberAt(*slice.step, i).value;
    if (step == 0) {
      return call.Fail(STREW_INVALID_ARGUMENT, "step[%d] = 0, but a step must not be 0", i);
    }
    (*slices)[axes[i]] = plan::SliceOf(NumberAt(*slice.start, i).value,
                                       NumberAt(*slice.stop, i).value, step, data.shape[axes[i]]);
  }
  return STREW_OK;
}

// True if NumPy would broadcast updates to the slice.
bool IsBroadcastable(const TensorView& updates, const Slices& slices, int rank) {
  const int added = rank - updates.rank;
  for (int i = 0; i < updates.rank; ++i) {
    const int64_t dim = updates.shape[i];
    if (dim != 1 && dim != slices[added + i].count) return false;
  }
  return true;
}

Status CheckUpdatesShape(const Call& call, const TensorView& data, const TensorView& updates,
                         const Slices& slices) {
  if (IsBroadcastable(updates, slices, data.rank)) return STREW_OK;
  int64_t expected[kMaxRank];
  for (int i = 0; i < data.rank; ++i) expected[i] = slices[i].count;
  return call.Fail(STREW_INVALID_SHAPE,
                   "updates has shape %s, which cannot be broadcast to that of the slice, %s",
                   plan::ShapeText(updates).c_str(), plan::ListText(expected, data.rank).c_str());
}

Status Validate(const Call& call, const TensorView* data, const TensorView* updates,
                const SliceOperands& slice, strew_reduction reduction, const TensorView* output,
                Slices* slices) {
  const plan::Operand axes_or_start = AxesOrStart(slice);
  STREW_TRY(plan::CheckBound(call,
                             {{"data", data},
                              {"updates", updates},
                              {"start", slice.start},
                              {"stop", slice.stop},
                              {"step", slice.step},
                              axes_or_start},
                             {"output", output}));
  STREW_TRY(plan::CheckReduction(call, reduction));
  STREW_TRY(plan::CheckDtypes(
      call, {{"data", data}, {"updates", updates}, {"output", output}},
      {{"start", slice.start}, {"stop", slice.stop}, {"step", slice.step}, axes_or_start},
      reduction));
  STREW_TRY(CheckRanks(call, *data, *updates, slice, *output));
  int axes[kMaxRank];
  STREW_TRY(CheckAxes(call, *data, slice, axes));
  STREW_TRY(MakeSlices(call, *data, slice, axes, slices));
  STREW_TRY(plan::CheckSameShape(call, {"output", output}, {"data", data}));
  STREW_TRY(CheckUpdatesShape(call, *data, *updates, *slices));
  return plan::CheckMemory(call, {"data", data},
                           {{"updates", updates},
                            {"start", slice.start},
                            {"stop", slice.stop},
                            {"step", slice.step},
                            axes_or_start},
                           {"output", output});
}

// Updates in the shape of the slice, with strides of 0 along repeated dims.
TensorView Broadcast(const TensorView& updates, const Slices& slices, const TensorView& data) {
  TensorView repeated = updates;
  repeated.rank = data.rank;
  // A slice of an empty tensor is empty, and the product of its other dims may overflow.
  repeated.size = data.size == 0 ? 0 : 1;
  const int added = data.rank - updates.rank;
  for (int i = 0; i < data.rank; ++i) {
    repeated.shape[i] = slices[i].count;
    repeated.strides[i] = i < added ? 0 : StrideOf(updates, i - added);
    repeated.size *= slices[i].count;
  }
  return repeated;
}

// Appends the slice as a box of the output. Returns its offset there, in units.
int64_t LowerToBox(const TensorView& updates, const TensorView& output, const Slices& slices,
                   int64_t units, walk::BoxNest* nest) {
  int64_t first = 0;
  for (int i = 0; i < output.rank; ++i) {
    const plan::Slice& slice = slices[i];
    first += slice.first * StrideOf(output, i) * units;
    // The step of a slice of one element is never used, and might overflow.
    if (slice.count <= 1) continue;
    nest->Append(slice.count, slice.step * StrideOf(output, i) * units,
                 StrideOf(updates, i) * units);
  }
  return first;
}

// Makes the plan of the slice laid over a copy of data.
plan::OverlayPlan LowerToOverlay(const TensorView& data, const TensorView& updates,
                                 const TensorView& output, const Slices& slices, int64_t units) {
  plan::OverlayPlan plan;
  for (int i = 0; i < output.rank; ++i) {
    plan.Append({output.shape[i], slices[i], StrideOf(output, i) * units, StrideOf(data, i) * units,
                 StrideOf(updates, i) * units});
  }
  plan.Append({units, {0, 1, units}, 1, 1, 1});
  return plan;
}

// `updates` has the shape of the slice and is not empty.
Status RunSlice(const Call& call, const TensorView& data, const TensorView& updates,
                const Slices& slices, strew_reduction reduction, const TensorView& output) {
  const plan::Units units = plan::UnitsOf(output.element_size);
  const int64_t bytes = output.size * output.element_size;
  const walk::RunKernels kernels = walk::RunKernelsFor(call, output, reduction, units);
  // Data need not be copied if all of its elements are replaced.
  const bool copies = reduction != STREW_NONE || updates.size != output.size;
  if (copies && !SameElements(data, output)) {
    if (bytes > plan::TuningOf(call).small_overlay) {
      plan::OverlayPlan plan = LowerToOverlay(data, updates, output, slices, units.count);
      if (plan.Arrange()) {
        return share::RunOverlay(call, plan, kernels.run, walk::MoveKernelsFor(call, units),
                                 {output.data, data.data, updates.data});
      }
    }
    STREW_TRY(share::Copy(call, data, output));
  }
  walk::BoxNest nest;
  const int64_t first = LowerToBox(updates, output, slices, units.count, &nest);
  return share::RunBox(call, kernels, units, output.data + first * units.width, updates.data,
                       &nest);
}

Status RunReduction(const Call& call, const TensorView& data, const TensorView& updates,
                    const Slices& slices, strew_reduction reduction, const TensorView& output) {
  const strew_reduction single = OfSingleUpdates(reduction, output.dtype);
  if (!ExcludesSelf(single)) return RunSlice(call, data, updates, slices, single, output);
  const strew_reduction kind = ReductionKind(single);
  unsigned char identity;
  StoreIdentity(STREW_BOOL, kind, &identity);
  TensorView identities = updates;
  identities.data = &identity;
  std::fill_n(identities.strides, identities.rank, int64_t{0});
  STREW_TRY(RunSlice(call, data, identities, slices, STREW_NONE, output));
  return RunSlice(call, output, updates, slices, kind, output);
}

Status SliceScatter(const Call& call, const TensorView* data, const TensorView* updates,
                    const SliceOperands& slice, strew_reduction reduction,
                    const TensorView* output) {
  Slices slices;
  STREW_TRY(Validate(call, data, updates, slice, reduction, output, &slices));
  const TensorView repeated = Broadcast(*updates, slices, *data);
  if (repeated.size != 0) {
    STREW_TRY(RunReduction(call, *data, repeated, slices, reduction, *output));
  } else {
    STREW_TRY(share::Copy(call, *data, *output, {/*lines=*/0}));
  }
  return call.Succeed(updates->size);
}

Status CheckArray(const Call& call, const char* name, const int64_t* numbers, int64_t count) {
  if (numbers != nullptr || count == 0) return STREW_OK;
  return call.Fail(STREW_INVALID_ARGUMENT, "%s is NULL", name);
}

// Describes an array as a tensor. Its memory is only read, and may have any alignment.
void ViewArray(const int64_t* numbers, int64_t count, TensorView* view) {
  view->dtype = STREW_INT64;
  view->rank = 1;
  view->size = count;
  view->shape[0] = count;
  view->strides[0] = 1;
  view->element_size = sizeof(int64_t);
  view->lowest = 0;
  // Arrays with more than kMaxRank entries are refused without being read.
  view->highest = count > kMaxRank ? 0 : count * view->element_size;
  view->injective = true;
  view->contiguous = true;
  view->read_only = true;
  view->data = reinterpret_cast<unsigned char*>(const_cast<int64_t*>(numbers));
}

Status SliceScatterArrays(const Call& call, const TensorView* data, const TensorView* updates,
                          int64_t count, const int64_t* start, const int64_t* stop,
                          const int64_t* step, const int64_t* axes, strew_reduction reduction,
                          const TensorView* output) {
  if (count < 0) return call.Fail(STREW_INVALID_ARGUMENT, "count = %" PRId64 " is negative", count);
  STREW_TRY(CheckArray(call, "start", start, count));
  STREW_TRY(CheckArray(call, "stop", stop, count));
  STREW_TRY(CheckArray(call, "step", step, count));
  TensorView views[4];
  ViewArray(start, count, &views[0]);
  ViewArray(stop, count, &views[1]);
  ViewArray(step, count, &views[2]);
  ViewArray(axes, count, &views[3]);
  return SliceScatter(call, data, updates,
                      {&views[0], &views[1], &views[2], axes == nullptr ? nullptr : &views[3]},
                      reduction, output);
}

}  // namespace
}  // namespace strew

extern "C" {

strew_status strew_slice_scatter(strew_context* context, const strew_tensor* data,
                                 const strew_tensor* updates, const strew_tensor* start,
                                 const strew_tensor* stop, const strew_tensor* step,
                                 const strew_tensor* axes, strew_reduction reduction,
                                 strew_tensor* output) {
  using strew::ViewOf;
  return strew::SliceScatter(strew::CallWith(context), ViewOf(data), ViewOf(updates),
                             {ViewOf(start), ViewOf(stop), ViewOf(step), ViewOf(axes)}, reduction,
                             ViewOf(output))
      .code();
}

strew_status strew_slice_scatter_int64(strew_context* context, const strew_tensor* data,
                                       const strew_tensor* updates, int64_t count,
                                       const int64_t* start, const int64_t* stop,
                                       const int64_t* step, const int64_t* axes,
                                       strew_reduction reduction, strew_tensor* output) {
  using strew::ViewOf;
  return strew::SliceScatterArrays(strew::CallWith(context), ViewOf(data), ViewOf(updates), count,
                                   start, stop, step, axes, reduction, ViewOf(output))
      .code();
}

}  // extern "C"
