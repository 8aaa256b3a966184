// SPDX-License-Identifier: Apache-2.0
#include "plan/check.h"

#include <cinttypes>
#include <cstdio>

#include "base/compiler.h"
#include "base/dtype.h"
#include "base/reduction.h"
#include "plan/text.h"

namespace strew::plan {
namespace {

Status CheckReductionDtype(const Call& call, strew_reduction reduction, strew_dtype dtype) {
  const strew_reduction kind = ReductionKind(reduction);
  if (IsReductionDefined(kind, DescribeDtype(dtype).arithmetic)) return STREW_OK;
  return call.Fail(STREW_INVALID_DTYPE, "reduction %s is not defined on %s", ReductionName(kind),
                   DtypeText(dtype).c_str());
}

// True if the byte extents of two tensors overlap. An extent that would wrap around the end of the
// address space is cut there.
bool Intersect(const TensorView& a, const TensorView& b) {
  if (a.size == 0 || b.size == 0) return false;
  struct Extent {
    explicit Extent(const TensorView& tensor) {
      const uintptr_t at = reinterpret_cast<uintptr_t>(tensor.data);
      if (!CheckedSubtract(at, static_cast<uintptr_t>(-tensor.lowest), &first)) first = 0;
      if (!CheckedAdd(at, static_cast<uintptr_t>(tensor.highest - 1), &last)) {
        last = UINTPTR_MAX;
      }
    }
    uintptr_t first;
    uintptr_t last;
  };
  const Extent one(a);
  const Extent other(b);
  return one.first <= other.last && other.first <= one.last;
}

Status CheckApart(const Call& call, Operand input, Operand output) {
  if (!Intersect(*input.view, *output.view)) return STREW_OK;
  return call.Fail(STREW_OVERLAPPING_MEMORY, "the memory of %s intersects that of %s", output.name,
                   input.name);
}

}  // namespace

Status CheckHandle(const Call& call, Operand operand) {
  if (operand.view == nullptr) return call.Fail(STREW_INVALID_ARGUMENT, "%s is NULL", operand.name);
  if (operand.view->data != nullptr || operand.view->size == 0) return STREW_OK;
  return call.Fail(STREW_INVALID_ARGUMENT, "%s is not bound to memory", operand.name);
}

Status CheckBound(const Call& call, Operands inputs, Operand output) {
  for (const Operand& input : inputs) STREW_TRY(CheckHandle(call, input));
  STREW_TRY(CheckHandle(call, output));
  if (!output.view->read_only) return STREW_OK;
  return call.Fail(STREW_INVALID_ARGUMENT, "%s is read-only", output.name);
}

Status CheckReduction(const Call& call, strew_reduction reduction) {
  if (!IsKnownReduction(reduction)) {
    return call.Fail(STREW_INVALID_ARGUMENT, "reduction 0x%" PRIx32 " is unknown",
                     static_cast<uint32_t>(reduction));
  }
  if (ReductionKind(reduction) == STREW_SUB && ExcludesSelf(reduction)) {
    return call.Fail(STREW_INVALID_ARGUMENT, "reduction sub cannot be combined with exclude-self");
  }
  return STREW_OK;
}

Status CheckDtypes(const Call& call, Operands same, Operands indices, strew_reduction reduction) {
  const Operand& first = *same.begin();
  for (const Operand& operand : same) {
    if (operand.view->dtype == first.view->dtype) continue;
    return call.Fail(STREW_INVALID_DTYPE, "%s has dtype %s, but %s has dtype %s", operand.name,
                     DtypeText(operand.view->dtype).c_str(), first.name,
                     DtypeText(first.view->dtype).c_str());
  }
  for (const Operand& operand : indices) STREW_TRY(CheckIndexDtype(call, operand));
  return CheckReductionDtype(call, reduction, first.view->dtype);
}

Status CheckIndexDtype(const Call& call, Operand indices) {
  if (IsIndexDtype(indices.view->dtype)) return STREW_OK;
  return call.Fail(STREW_INVALID_DTYPE, "%s has dtype %s, which is not an integer dtype",
                   indices.name, DtypeText(indices.view->dtype).c_str());
}

Status CheckIndexedOperands(const Call& call, const IndexedArguments& arguments) {
  const Operand data = {"data", arguments.data};
  const Operand indices = {"indices", arguments.indices};
  const Operand updates = {"updates", arguments.updates};
  const Operand output = {"output", arguments.output};
  STREW_TRY(CheckBound(call, {data, indices, updates}, output));
  STREW_TRY(CheckReduction(call, arguments.reduction));
  return CheckDtypes(call, {data, updates, output}, {indices}, arguments.reduction);
}

Status CheckHasDims(const Call& call, Operand operand) {
  if (operand.view->rank > 0) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "%s has rank 0, but the rank must be 1 or more",
                   operand.name);
}

Status CheckDataRank(const Call& call, const TensorView& data, const TensorView& output) {
  STREW_TRY(CheckHasDims(call, {"data", &data}));
  return CheckRank(call, {"output", &output}, data.rank);
}

Status CheckRank(const Call& call, Operand operand, int64_t rank) {
  if (operand.view->rank == rank) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "%s has rank %d, but the rank must be %" PRId64,
                   operand.name, operand.view->rank, rank);
}

Status CheckAxis(const Call& call, IndexValue axis, int entry, int rank, int* normalised) {
  if (axis.value < -rank || axis.value >= rank) {
    char name[32] = "axis";
    if (entry >= 0) std::snprintf(name, sizeof(name), "axes[%d]", entry);
    return call.Fail(STREW_INVALID_AXIS, "%s = %s is out of range [%d, %d] for data of rank %d",
                     name, IndexText(axis).c_str(), -rank, rank - 1, rank);
  }
  *normalised = static_cast<int>(axis.value < 0 ? axis.value + rank : axis.value);
  return STREW_OK;
}

Status CheckSameShape(const Call& call, Operand operand, Operand expected) {
  if (SameShape(*operand.view, *expected.view)) return STREW_OK;
  return call.Fail(STREW_INVALID_SHAPE, "%s has shape %s, but %s has shape %s", operand.name,
                   ShapeText(*operand.view).c_str(), expected.name,
                   ShapeText(*expected.view).c_str());
}

Status CheckIndexedMemory(const Call& call, const IndexedArguments& arguments) {
  return CheckMemory(call, {"data", arguments.data},
                     {{"indices", arguments.indices}, {"updates", arguments.updates}},
                     {"output", arguments.output});
}

Status CheckMemory(const Call& call, Operand data, Operands other_inputs, Operand output) {
  if (!SameElements(*data.view, *output.view)) STREW_TRY(CheckApart(call, data, output));
  for (const Operand& input : other_inputs) STREW_TRY(CheckApart(call, input, output));
  const TensorView& view = *output.view;
  if (view.injective) return STREW_OK;
  return call.Fail(STREW_OVERLAPPING_MEMORY,
                   "%s has shape %s and strides %s, in which elements may share memory",
                   output.name, ShapeText(view).c_str(), ListText(view.strides, view.rank).c_str());
}

}  // namespace strew::plan
