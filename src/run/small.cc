// SPDX-License-Identifier: Apache-2.0
#include "run/small.h"

#include "plan/tuning.h"
#include "run/box.h"
#include "run/index_check.h"
#include "run/place.h"

namespace strew::run {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

// As many as updates at most.
constexpr int64_t kMostPlaces = plan::kTuning.few_updates;
static_assert(plan::kTuning.few_indices <= kMostPlaces);

// Where entries land and where their updates lie, in units; the entries in the order in which they
// are applied.
struct Places {
  int64_t entries = 0;  // with those that are dropped
  int64_t count = 0;
  int64_t output[kMostPlaces];
  int64_t updates[kMostPlaces];
  bool updates_lie_together = true;
  bool are_near = true;  // whether 32 bits hold all that is in output
};

// False where an index is out of range.
bool Locate(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
            Places* places) {
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
      places->updates_lie_together &= updates == places->count;
      places->are_near &= output == static_cast<int32_t>(output);
      places->output[places->count] = output;
      places->updates[places->count++] = updates;
      return true;
    });
    return good;
  });
  places->entries = entries;
  return good;
}

void Apply(const kernel::CombineKernels& kernels, const IndexedScatter& scatter,
           const Places& places) {
  kernel::TileArguments tile =
      kernel::RowTile(scatter.output.data, scatter.updates.data, places.output, places.count, 0);
  if (!places.are_near) return kernels.elements[kernel::kOffset64](tile, {});
  int32_t offsets[kMostPlaces];
  for (int64_t i = 0; i < places.count; ++i) offsets[i] = static_cast<int32_t>(places.output[i]);
  tile.offsets = offsets;
  kernels.elements[kernel::kOffset32](tile, {});
}

void ApplyInner(const kernel::CombineKernels& kernels, const IndexedScatter& scatter,
                plan::InnerNest* inner, const Places& places) {
  const int64_t width = kernels.element_size;
  inner->Canonicalise();
  plan::InnerLoop run = inner->PopInnermost();
  if (run.count == 1) run = {1, {1, 1}};
  for (int64_t i = 0; i < places.count; ++i) {
    plan::ForEachTurn(*inner, inner->rank, [&](const int64_t* offset) {
      kernels.run(scatter.output.data + (places.output[i] + offset[kOutput]) * width,
                  run.stride[kOutput],
                  scatter.updates.data + (places.updates[i] + offset[kUpdates]) * width,
                  run.stride[kUpdates], run.count);
    });
  }
}

}  // namespace

Status RunSmall(const Call& call, const IndexedScatter& scatter, plan::IndexSpace* space) {
  Places places;
  if (!Locate(call, scatter, *space, &places)) return CheckIndices(call, scatter.indices, space);
  if (!SameElements(scatter.data, scatter.output)) {
    STREW_TRY(Copy(call, scatter.data, scatter.output));
  }
  const kernel::CombineKernels& kernels =
      IndexedKernelsFor(call, scatter.output, scatter.reduction);
  if (places.count == 0) return call.Succeed(0);
  if (space->inner.rank == 0 && places.updates_lie_together) {
    Apply(kernels, scatter, places);
  } else {
    ApplyInner(kernels, scatter, &space->inner, places);
  }
  return call.Succeed(scatter.updates.size / places.entries * places.count);
}

}  // namespace strew::run
