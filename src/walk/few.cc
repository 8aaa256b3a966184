// SPDX-License-Identifier: Apache-2.0
#include "walk/few.h"

#include "plan/tuning.h"
#include "walk/kernels.h"
#include "walk/place.h"

namespace strew::walk {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

void ApplyElements(const kernel::Kernels& kernels, const IndexedScatter& scatter,
                   const FewEntries& few) {
  kernel::SheetArguments sheet =
      kernel::RowSheet(scatter.output.data, scatter.updates.data, few.output, few.count, 0);
  if (!few.are_near) return kernels.elements[kernel::kOffset64](sheet);
  int32_t offsets[FewEntries::kMost];
  for (int64_t i = 0; i < few.count; ++i) offsets[i] = static_cast<int32_t>(few.output[i]);
  sheet.offsets = offsets;
  kernels.elements[kernel::kOffset32](sheet);
}

void ApplyInner(const kernel::Kernels& kernels, const IndexedScatter& scatter,
                plan::InnerNest* inner, const FewEntries& few) {
  const int64_t width = kernels.element_size;
  inner->Canonicalise();
  plan::InnerLoop run = inner->PopInnermost();
  if (run.count == 1) run = {1, {1, 1}};
  for (int64_t i = 0; i < few.count; ++i) {
    plan::ForEachTurn(*inner, inner->rank, [&](const int64_t* offset) {
      kernels.run(scatter.output.data + (few.output[i] + offset[kOutput]) * width,
                  run.stride[kOutput],
                  scatter.updates.data + (few.updates[i] + offset[kUpdates]) * width,
                  run.stride[kUpdates], run.count);
    });
  }
}

}  // namespace

bool LocateFew(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
               FewEntries* few) {
  const bool drops = call.settings().index_policy == STREW_INDEX_DROP;
  bool good = true;
  int64_t entries = 0;
  // Lanes never meet, so they may turn within the entries.
  plan::ForEachTurn(space.entries, space.entries.rank, [&](const int64_t* entry) {
    plan::ForEachTurn(space.lanes, space.lanes.rank, [&](const int64_t* lane) {
      int64_t output = lane[kOutput];
      ++entries;
      if (!AddPlace(call, scatter.indices, space.component, space.components,
                    entry[kIndices] + lane[kIndices], &output)) {
        good = drops;
        return good;
      }
      const int64_t updates = entry[kUpdates] + lane[kUpdates];
      few->updates_lie_together &= updates == few->count;
      few->are_near &= output == static_cast<int32_t>(output);
      few->output[few->count] = output;
      few->updates[few->count++] = updates;
      return true;
    });
    return good;
  });
  few->entries = entries;
  return good;
}

void ApplyFew(const Call& call, const IndexedScatter& scatter, const FewEntries& few,
              plan::InnerNest* inner) {
  if (few.count == 0) return;
  const kernel::Kernels& kernels = IndexedKernelsFor(call, scatter.output, scatter.reduction);
  if (inner->rank == 0 && few.updates_lie_together) return ApplyElements(kernels, scatter, few);
  ApplyInner(kernels, scatter, inner, few);
}

}  // namespace strew::walk
