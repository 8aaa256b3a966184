// SPDX-License-Identifier: Apache-2.0
#include "prepared/order.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "accumulate/accumulate.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/explain.h"
#include "plan/index_space.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "plan/traversal.h"
#include "prepared/space.h"
#include "share/parts.h"
#include "share/share.h"
#include "walk/kernels.h"

namespace strew::prepared {
namespace {

// Reads the places of rows of entries.
class PlaceReader {
 public:
  // Columns that are read at once.
  static constexpr int64_t kColumns = plan::kMostClamped;

  PlaceReader(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
              plan::OutOfRange out_of_range)
      : indices_(indices),
        space_(space),
        out_of_range_(out_of_range),
        wraps_(call.settings().wrap_negative_indices),
        kernels_(kernel::IndexKernelsFor(indices.dtype, call.settings().simd_target)) {
    for (int c = 0; c < space.components; ++c) {
      has_empty_axis_ |= space.component[c].axis_size == 0;
    }
    if (has_empty_axis_) return;  // the other axes may be so large that a product overflows
    int64_t stride = 1;
    for (int c = space.components - 1; c >= 0; --c) {
      stride_[c] = stride;
      stride *= space.component[c].axis_size;
    }
  }

  // Reads the places of entries whose indices begin at `index`; the place of a dropped entry is
  // INT64_MIN.
  void Read(int64_t index, int64_t columns, int64_t column_stride, int64_t* places) const {
    if (has_empty_axis_) return (void)std::fill_n(places, columns, INT64_MIN);
    std::fill_n(places, columns, 0);
    for (int c = 0; c < space_.components; ++c) {
      const kernel::ResolveArguments arguments = {
          TileOf(c, index, columns, column_stride), stride_[c], 0, 0, true, places};
      walk::ResolveTile(kernels_, kernel::kOffset64, wraps_, out_of_range_, arguments);
    }
    if (out_of_range_ != plan::OutOfRange::kDrop) return;
    for (int c = 0; c < space_.components; ++c) {
      kernels_.drop[kernel::kOffset64](TileOf(c, index, columns, column_stride), wraps_, places);
    }
  }

 private:
  kernel::IndexTile TileOf(int c, int64_t index, int64_t columns, int64_t column_stride) const {
    const plan::Component& component = space_.component[c];
    const unsigned char* const from =
        indices_.data + (index + component.indices_base) * indices_.element_size;
    return {from, 1, 0, columns, column_stride, component.axis_size};
  }

  const TensorView& indices_;
  const plan::IndexSpace& space_;
  const plan::OutOfRange out_of_range_;
  const bool wraps_;
  const kernel::IndexKernels& kernels_;
  int64_t stride_[kMaxRank];
  bool has_empty_axis_ = false;  // all indices are dropped then
};

// Operands of a nest over entries: their indices and their numbers. Dims along which indices do not
// change are left out.
enum { kIndex, kEntry, kOperands };
using EntryNest = plan::LoopNest<kOperands>;

EntryNest NestOf(const Plan& plan, const TensorView& indices) {
  EntryNest nest;
  int64_t stride = 1;
  for (int i = plan.entry_dims() - 1; i >= 0; --i) {
    if (plan.is_inner[i]) continue;
    nest.Prepend(plan.shape[i], StrideOf(indices, i), stride);
    stride *= plan.shape[i];
  }
  nest.Merge();
  return nest;
}

// Stores the places of all entries.
class PlaceWriter {
 public:
  PlaceWriter(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
              plan::OutOfRange out_of_range, Plan* plan)
      : reader_(call, indices, space, out_of_range),
        nest_(NestOf(*plan, indices)),
        row_(nest_.PopInnermost()),
        plan_(plan) {
    if (row_.count == 1) row_ = {1, {1, 1}};
  }

  Status Write(const Call& call) {
    const plan::Machine machine(call);
    const plan::Pass pass = plan::PassFor(
        machine, machine.tuning.ns_of_stored_place * static_cast<double>(plan_->entries));
    plan::Cut cut;
    for (int i = 0; i < nest_.rank; ++i) cut.Append(nest_.loop[i].count, 1, pass.parts);
    cut.Append(row_.count, 64, pass.parts);
    if (call.explains()) {
      call.Explain("%" PRId64 " entries: their places are stored, in %" PRId64 " part%s.",
                   plan_->entries, cut.parts(), plan::Plural(cut.parts()));
    }
    STREW_TRY(share::ForEachPart(call, pass.tasks, cut.parts(),
                                 [&](int64_t part, int64_t) { WritePart(cut, part); }));
    const int64_t dropped = dropped_.load(std::memory_order_relaxed);
    plan_->dropped_entries = dropped * (plan_->all_entries / plan_->entries);
    return STREW_OK;
  }

 private:
  void WritePart(const plan::Cut& cut, int64_t part) {
    EntryNest nest = nest_;
    cut.KeepPart(part, &nest);
    const plan::Turns columns = cut.TurnsOf(part, nest.rank);
    int64_t dropped = 0;
    plan::ForEachTurn(nest, nest.rank, [&](const int64_t* at) {
      const int64_t end = columns.first + columns.count;
      for (int64_t c = columns.first; c < end; c += PlaceReader::kColumns) {
        dropped += WriteColumns(at[kIndex] + c * row_.stride[kIndex], at[kEntry] + c,
                                std::min(PlaceReader::kColumns, end - c));
      }
    });
    dropped_.fetch_add(dropped, std::memory_order_relaxed);
  }

  // Returns the number of dropped entries.
  int64_t WriteColumns(int64_t index, int64_t entry, int64_t columns) const {
    int64_t places[PlaceReader::kColumns];
    reader_.Read(index, columns, row_.stride[kIndex], places);
    int64_t dropped = 0;
    plan_->places.Visit([&](auto* to) {
      using T = std::remove_pointer_t<decltype(to)>;
      for (int64_t i = 0; i < columns; ++i) {
        const bool is_dropped = places[i] < 0;
        dropped += is_dropped;
        to[entry + i] = is_dropped ? Numbers::kNone<T> : static_cast<T>(places[i]);
      }
    });
    return dropped;
  }

  const PlaceReader reader_;
  EntryNest nest_;
  plan::Loop<kOperands> row_;
  Plan* const plan_;
  std::atomic<int64_t> dropped_{0};
};

// Finds dims of scatter_elements along which indices do not change. Their turns are inner turns.
void FindInnerDims(const TensorView& indices, const plan::Findings& findings, Plan* plan) {
  if (plan->kind != Kind::kElements) return;
  for (int i = 0; i < plan->rank; ++i) {
    if (i == plan->axis || plan->shape[i] <= 1) continue;
    plan->is_inner[i] = StrideOf(indices, i) == 0 || (findings.constant && i > plan->axis);
  }
}

bool NamesOnePlace(const Plan& plan) {
  return plan.components > 0 && plan.dropped_entries == 0 &&
         plan.places.Visit([&](const auto* places) {
           return std::all_of(places, places + plan.entries,
                              [=](auto place) { return place == *places; });
         });
}

}  // namespace

Status Prepare(const Call& call, const TensorView& indices, Plan* plan) {
  const plan::IndexSpace space = SpaceOfIndices(*plan, indices);
  plan::Findings findings;
  if (indices.size != 0) STREW_TRY(share::CheckIndices(call, indices, space, &findings));
  FindInnerDims(indices, findings, plan);
  // If a dim is 0, the product of the others may overflow.
  plan->entries = plan->all_entries == 0 ? 0 : 1;
  for (int i = 0; plan->entries != 0 && i < plan->entry_dims(); ++i) {
    plan->entries *= plan->is_inner[i] ? 1 : plan->shape[i];
  }
  if (!plan->places.Allocate(plan->entries, Numbers::WidthFor(plan->NumberOfPlaces()))) {
    return call.Fail(STREW_OUT_OF_MEMORY, "memory of the plan was refused");
  }
  if (plan->entries != 0) {
    STREW_TRY(PlaceWriter(call, indices, space, findings.out_of_range, plan).Write(call));
    plan->names_one_place = NamesOnePlace(*plan);
  }
  STREW_TRY(OrderEntries(call, plan));
  if (call.settings().duplicate_policy != STREW_DUPLICATE_ERROR || !plan->firsts.exists()) {
    return STREW_OK;
  }
  return accumulate::CheckIndicesDiffer(call, indices, space);
}

}  // namespace strew::prepared
