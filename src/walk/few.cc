// SPDX-License-Identifier: Apache-2.0
#include "walk/few.h"

#include "walk/index_reader.h"

namespace strew::walk {
namespace {

using plan::kIndices;
using plan::kOutput;
using plan::kUpdates;

void WriteElements(const kernel::CombineKernels& kernels, const Operands& operands,
                   const FewEntries& few) {
  kernel::TileArguments tile =
      kernel::RowTile(operands.output.data, operands.updates.data, few.output, few.count, 0);
  if (!few.are_near) return kernels.elements[kernel::kOffset64](tile, {});
  int32_t offsets[plan::kMostFewUpdates];
  for (int64_t i = 0; i < few.count; ++i) offsets[i] = static_cast<int32_t>(few.output[i]);
  tile.offsets = offsets;
  kernels.elements[kernel::kOffset32](tile, {});
}

void WriteRuns(const kernel::CombineKernels& kernels, const Operands& operands,
               const FewEntries& few, plan::InnerNest* inner) {
  const int64_t width = kernels.element_size;
  inner->Canonicalise();
  plan::InnerLoop run = inner->PopInnermost();
  if (run.count == 1) run = {1, {1, 1}};
  for (int64_t i = 0; i < few.count; ++i) {
    plan::ForEachTurn(*inner, inner->rank, [&](const int64_t* offset) {
      kernels.run(operands.output.data + (few.output[i] + offset[kOutput]) * width,
                  run.stride[kOutput],
                  operands.updates.data + (few.updates[i] + offset[kUpdates]) * width,
                  run.stride[kUpdates], run.count);
    });
  }
}

}  // namespace

bool LocateFew(const Call& call, const TensorView& indices, const plan::IndexSpace& space,
               FewEntries* few) {
  const IndexReader reader(call, indices);
  const bool drops = call.settings().index_policy == STREW_INDEX_DROP;
  bool good = true;
  int64_t entries = 0;
  // Batches never meet in the output, so their loops may lie within those of the entries.
  plan::ForEachTurn(space.entries, space.entries.rank, [&](const int64_t* entry) {
    plan::ForEachTurn(space.batch, space.batch.rank, [&](const int64_t* batch) {
      int64_t output = batch[kOutput];
      ++entries;
      if (!reader.AddOffset(space.component, space.components, entry[kIndices] + batch[kIndices],
                            &output)) {
        good = drops;
        return good;
      }
      const int64_t updates = entry[kUpdates] + batch[kUpdates];
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

void WriteFew(const kernel::CombineKernels& kernels, const Operands& operands,
              const FewEntries& few, plan::InnerNest* inner) {
  if (few.count == 0) return;
  if (inner->rank == 0 && few.updates_lie_together) return WriteElements(kernels, operands, few);
  WriteRuns(kernels, operands, few, inner);
}

}  // namespace strew::walk
