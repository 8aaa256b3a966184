// SPDX-License-Identifier: Apache-2.0
// Checks indices, and reports the first one that is out of range.
#include "share/share.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cinttypes>
#include <cstring>

#include "base/element_size.h"
#include "base/index_value.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/pass.h"
#include "plan/text.h"
#include "plan/explain.h"
#include "plan/schedule.h"
#include "share/parts.h"
#include "walk/index_reader.h"

namespace strew::share {
namespace {

using plan::kIndices;
using IndexNest = plan::LoopNest<1>;

void AppendIndexLoops(const plan::IndexedNest& from, IndexNest* to) {
  for (int i = 0; i < from.rank; ++i) {
    const int64_t stride = from.loop[i].stride[kIndices];
    // Dims of stride 0 repeat the same indices, which are checked once.
    if (stride != 0) to->Append(from.loop[i].count, stride);
  }
}

// Findings that the tasks of a check share.
class Observations {
 public:
  bool in_range() const { return in_range_.load(std::memory_order_relaxed); }
  bool non_negative() const { return non_negative_.load(std::memory_order_relaxed); }
  bool constant() const { return constant_.load(std::memory_order_relaxed); }
  bool all_equal() const { return all_equal_.load(std::memory_order_relaxed); }
  void Note(kernel::IndexRange range) {
    if (range == kernel::kOutOfRange) in_range_.store(false, std::memory_order_relaxed);
    if (range != kernel::kNonNegative) NoteSign();
  }
  // Some index is negative, or may be.
  void NoteSign() { non_negative_.store(false, std::memory_order_relaxed); }
  void NoteVarying() { constant_.store(false, std::memory_order_relaxed); }
  void NoteDifferent() { all_equal_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> in_range_{true};
  std::atomic<bool> non_negative_{true};
  std::atomic<bool> constant_{true};  // along the minor loops of batch
  std::atomic<bool> all_equal_{true};
};

// True if a row of contiguous elements has one value, that of the element.
bool IsRowOf(const unsigned char* element, size_t size, const unsigned char* row, int64_t count) {
  if (std::memcmp(element, row, size) != 0) return false;
  // Each is compared with the one before it.
  return std::memcmp(row, row + size, static_cast<size_t>(count - 1) * size) == 0;
}

template <size_t kSize>
bool AreElementsOf(const unsigned char* element, const kernel::IndexTile& tile) {
  constexpr int64_t kBytes = kSize;
  for (int64_t row = 0; row < tile.rows; ++row) {
    const unsigned char* const first = tile.indices + row * tile.row_stride * kBytes;
    for (int64_t column = 0; column < tile.columns; ++column) {
      const unsigned char* const other = first + column * tile.column_stride * kBytes;
      if (std::memcmp(element, other, kSize) != 0) return false;
    }
  }
  return true;
}

// True if all indices of a tile equal one of `size` bytes.
bool IsFilledWith(const unsigned char* index, int64_t size, const kernel::IndexTile& tile) {
  // Two calls of memcmp for a row of 2 or 4 int64 made whole calls take 1.5 to 2.5 x the time.
  constexpr int64_t kLeastRow = 64;  // bytes
  bool filled = true;
  if (tile.column_stride == 1 && tile.columns * size >= kLeastRow) {
    for (int64_t row = 0; filled && row < tile.rows; ++row) {
      const unsigned char* const first = tile.indices + row * tile.row_stride * size;
      filled = IsRowOf(index, static_cast<size_t>(size), first, tile.columns);
    }
  } else {
    WithElementSize(size, [&](auto bytes) { filled = AreElementsOf<bytes>(index, tile); });
  }
  return filled;
}

class Checker {
 public:
  Checker(const Call& call, const TensorView& indices, const plan::IndexSpace& space)
      : call_(call),
        indices_(indices),
        space_(space),
        kernels_(kernel::IndexKernelsFor(indices.dtype, call.settings().simd_target)),
        wrap_(call.settings().wrap_negative_indices) {}

  // Checks contiguous rows of indices, with one column for each minor turn of the batch.
  Status CheckRows(Observations* observed) const {
    observed->NoteDifferent();
    observed->NoteSign();  // the check of constant rows does not look at them
    const int64_t columns = space_.MinorBatches();
    const plan::Pass schedule = ScheduleFor(indices_.size);
    plan::Cut cut;
    cut.Append(indices_.size / columns, 1, schedule.parts);
    return ForEachPart(call_, schedule.tasks, cut.parts(), [&](int64_t part, int64_t) {
      const plan::Turns rows = cut.TurnsOf(cut.FromEnd(part), 0);
      const int64_t constant = observed->constant() ? CountConstant(rows, columns) : 0;
      if (constant == rows.count) return;
      observed->NoteVarying();
      IndexNest rest;
      rest.base[0] = (rows.first + constant) * columns;
      rest.Append((rows.count - constant) * columns, 1);
      CheckPart(rest, observed);
    });
  }

  Status CheckNest(IndexNest nest, Observations* observed) const {
    nest.Canonicalise();
    observed->NoteVarying();
    if (space_.components > 1) observed->NoteDifferent();
    const plan::Pass schedule = ScheduleFor(space_.components * nest.Turns());
    plan::Cut cut;
    for (int i = 0; i < nest.rank; ++i) cut.Append(nest.loop[i].count, 1, schedule.parts);
    return ForEachPart(call_, schedule.tasks, cut.parts(), [&](int64_t part, int64_t) {
      IndexNest of_part = nest;
      cut.KeepPart(cut.FromEnd(part), &of_part);
      if (observed->all_equal()) {
        if (AreEqual(of_part, nest.base[0])) return CheckPart(OneIndex(nest.base[0]), observed);
        observed->NoteDifferent();
      }
      CheckPart(of_part, observed);
    });
  }

 private:
  plan::Pass ScheduleFor(int64_t count) const {
    const bool are_line = space_.batch.Turns() == 1 && space_.inner.Turns() == 1;
    const plan::Pass schedule =
        plan::MakeCheckSchedule(plan::Machine(call_), count, indices_.element_size, are_line);
    if (call_.explains()) plan::Explain(call_, schedule, count);
    return schedule;
  }

  const unsigned char* At(int64_t offset) const {
    return indices_.data + offset * indices_.element_size;
  }

  // Counts the leading rows that are constant and in range.
  int64_t CountConstant(const plan::Turns& rows, int64_t columns) const {
    const kernel::IndexTile tile = {At(rows.first * columns),     rows.count, columns, columns, 1,
                                    space_.component[0].axis_size};
    return kernels_.count_constant_rows(tile, wrap_);
  }

  static IndexNest OneIndex(int64_t offset) {
    IndexNest one;
    one.base[0] = offset;
    return one;
  }

  // True if the indices of a part equal the one at offset `first`. Their range is then that of one:
  // calls with 3 million contiguous int64 took 0.85 to 0.95 x the time of looking at all, and such
  // with 100,000 rows of 10 and gaps between 0.22 to 0.41 x, because one index is read (Zen 4).
  bool AreEqual(const IndexNest& part, int64_t first) const {
    const plan::Component& component = space_.component[0];
    const unsigned char* const index = At(first + component.indices_base);
    bool equal = true;
    ForEachTile(part, component, [&](const kernel::IndexTile& tile) {
      equal = IsFilledWith(index, indices_.element_size, tile);
      return equal;
    });
    return equal;
  }

  // True if the numbers of each tuple are adjacent, and so are the tuples.
  bool AreTogether(const IndexNest& nest) const {
    const int64_t components = space_.components;
    if (components < 2 || components > kernel::kMostTogether) return false;
    if (kernels_.check_tuples == nullptr) return false;
    if (nest.rank != 1 || nest.loop[0].stride[0] != components) return false;
    for (int c = 0; c < components; ++c) {
      if (space_.component[c].indices_base != c) return false;
    }
    return true;
  }

  kernel::IndexRange RangeOfTuples(const IndexNest& nest) const {
    const int64_t components = space_.components;
    int64_t axis_sizes[kernel::kMostTogether];
    for (int c = 0; c < components; ++c) axis_sizes[c] = space_.component[c].axis_size;
    const kernel::IndexTile tile = {
        At(nest.base[0]), nest.loop[0].count, components, components, 1, 0};
    return kernels_.check_tuples(tile, axis_sizes, wrap_);
  }

  void CheckPart(const IndexNest& nest, Observations* observed) const {
    if (AreTogether(nest)) return observed->Note(RangeOfTuples(nest));
    for (int c = 0; c < space_.components && observed->in_range(); ++c) {
      observed->Note(RangeOf(nest, space_.component[c]));
    }
  }

  kernel::IndexRange RangeOf(const IndexNest& nest, const plan::Component& component) const {
    kernel::IndexRange range = kernel::kNonNegative;
    ForEachTile(nest, component, [&](const kernel::IndexTile& tile) {
      range = std::min(range, kernels_.check(tile, wrap_));
      return range != kernel::kOutOfRange;
    });
    return range;
  }

  // Calls body(tile) for each two innermost loops. Stops if the body returns false.
  template <class Body>
  void ForEachTile(IndexNest nest, const plan::Component& component, Body body) const {
    nest.base[0] += component.indices_base;
    const plan::Loop<1> column = nest.PopInnermost();
    const plan::Loop<1> row = nest.PopInnermost();
    kernel::IndexTile tile = {nullptr,      row.count,        row.stride[0],
                              column.count, column.stride[0], component.axis_size};
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* offset) {
      tile.indices = At(offset[0]);
      return body(tile);
    });
  }

  const Call& call_;
  const TensorView& indices_;
  const plan::IndexSpace& space_;
  const kernel::IndexKernels& kernels_;
  const bool wrap_;
};

int64_t Lowest(const Call& call, const plan::Component& component) {
  return call.settings().wrap_negative_indices ? -component.axis_size : 0;
}

Status ReportIndex(const Call& call, const TensorView& indices, const plan::Component& component,
                   int64_t position, IndexValue index) {
  const plan::CoordinatesText at(indices, position);
  const plan::IndexText value(index);
  const int64_t size = component.axis_size;
  if (size == 0) {
    return call.FailAt(position, STREW_INDEX_OUT_OF_RANGE,
                       "indices%s = %s is out of range: axis %" PRId64
                       " of data has 0 elements, so that no index is valid",
                       at.c_str(), value.c_str(), component.axis);
  }
  return call.FailAt(position, STREW_INDEX_OUT_OF_RANGE,
                     "indices%s = %s is out of range [%" PRId64 ", %" PRId64 "] for axis %" PRId64
                     " of data, which has %" PRId64 " element%s",
                     at.c_str(), value.c_str(), Lowest(call, component), size - 1, component.axis,
                     size, plan::Plural(size));
}

// Reports the first index for which the call fails, in row-major order. Dims of stride 0 repeat the
// same indices, so one turn of them is enough.
[[gnu::cold]] Status ReportFirst(const Call& call, const TensorView& indices,
                                 const plan::IndexSpace& space) {
  enum { kIndex, kPosition, kOperands };
  plan::LoopNest<kOperands> nest;
  int64_t position_stride = 1;
  for (int i = indices.rank - 1; i >= 0; --i) {
    const int64_t stride = StrideOf(indices, i);
    // Each component of a tuple has an axis of its own, so all of them are visited.
    const bool is_tuple = space.components > 1 && i == indices.rank - 1;
    if (stride != 0 || is_tuple) nest.Prepend(indices.shape[i], stride, position_stride);
    position_stride *= indices.shape[i];
  }
  const walk::IndexReader reader(call, indices);
  Status status = call.Fail(STREW_INDEX_OUT_OF_RANGE, "indices changed while they were checked");
  plan::ForEachTurn(nest, nest.rank, [&](const int64_t* offset) {
    const int64_t position = offset[kPosition];
    const plan::Component& component = space.component[position % space.components];
    const IndexValue index = ReadIndexAt(indices, offset[kIndex]);
    int64_t element;
    if (reader.FindElement(index.value, component.axis_size, &element)) return true;
    status = ReportIndex(call, indices, component, position, index);
    return false;
  });
  return status;
}

bool MayBeConstant(const Call& call, const TensorView& indices, const plan::IndexSpace& space) {
  return indices.contiguous && space.components == 1 &&
         space.MinorBatches() >= plan::TuningOf(call).least_constant_batches;
}

// Returns kNothing if the call fails.
plan::OutOfRange RemedyFor(const Call& call, const plan::IndexSpace& space) {
  const strew_index_policy policy = call.settings().index_policy;
  if (policy == STREW_INDEX_DROP) return plan::OutOfRange::kDrop;
  if (policy == STREW_INDEX_ERROR) return plan::OutOfRange::kNothing;
  for (int c = 0; c < space.components; ++c) {
    if (space.component[c].axis_size == 0) return plan::OutOfRange::kNothing;
  }
  return plan::OutOfRange::kClamp;
}

IndexNest NestOf(const TensorView& indices, const plan::IndexSpace& space) {
  IndexNest nest;
  if (indices.contiguous && space.components == 1) {
    nest.Append(indices.size, 1);
  } else {
    AppendIndexLoops(space.entries, &nest);
    AppendIndexLoops(space.batch, &nest);
  }
  return nest;
}

Status LookAt(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
              Observations* observed) {
  const Checker checker(call, indices, space);
  if (MayBeConstant(call, indices, space)) return checker.CheckRows(observed);
  return checker.CheckNest(NestOf(indices, space), observed);
}

plan::Findings FindingsOf(const Observations& observed) {
  plan::Findings findings;
  findings.constant = observed.constant();
  findings.non_negative = observed.non_negative();
  findings.all_equal = observed.all_equal();
  return findings;
}

}  // namespace

Status CheckIndices(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                    plan::Findings* findings) {
  Observations observed;
  STREW_TRY(LookAt(call, indices, space, &observed));
  if (observed.in_range()) {
    *findings = FindingsOf(observed);
    return STREW_OK;
  }
  findings->out_of_range = RemedyFor(call, space);
  if (findings->out_of_range != plan::OutOfRange::kNothing) return STREW_OK;
  return ReportFirst(call, indices, space);
}

bool AreInRange(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
                plan::Findings* findings) {
  Observations observed;
  const Status looked_at = LookAt(call, indices, space, &observed);
  assert(looked_at.ok());
  static_cast<void>(looked_at);
  if (!observed.in_range()) return false;
  *findings = FindingsOf(observed);
  return true;
}

}  // namespace strew::share
