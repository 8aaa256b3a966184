// SPDX-License-Identifier: Apache-2.0
#include "run/box.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/reduction.h"
#include "plan/cut.h"
#include "plan/tuning.h"
#include "run/cache.h"
#include "run/parallel.h"

namespace strew::run {
namespace {

using plan::kTuning;
using BoxLoop = plan::Loop<kBoxOperands>;

int64_t Bytes(const BoxNest& nest, int64_t width) {
  int64_t bytes = width;
  for (int i = 0; i < nest.rank; ++i) bytes *= nest.loop[i].count;
  return bytes;
}

// Moves the loop in which the updates lie closest next to the innermost one.
void PairForTranspose(BoxNest* nest) {
  int closest = nest->rank - 1;
  for (int i = 0; i < nest->rank; ++i) {
    const auto distance = [nest](int l) { return Magnitude(nest->loop[l].stride[kBoxUpdates]); };
    if (distance(i) != 0 && distance(i) < distance(closest)) closest = i;
  }
  if (closest >= nest->rank - 2) return;
  std::rotate(nest->loop + closest, nest->loop + closest + 1, nest->loop + nest->rank - 1);
}

// The nest with the loop over units, its loops in the order that suits memory.
BoxNest& Arranged(const plan::Units& units, BoxNest* nest) {
  nest->Append(units.count, 1, 1);
  nest->Canonicalise();
  PairForTranspose(nest);
  return *nest;
}

void RunSheet(const kernel::Kernels& kernels, kernel::BoxArguments sheet) {
  // One row of updates for all rows is read from the caches anyway, unless it is scattered itself.
  const uint64_t step = Magnitude(sheet.updates_stride);
  const bool transposes = sheet.rows > 1 && step > 1 && Magnitude(sheet.updates_row_stride) < step;
  if (!transposes) return kernel::WalkBox(kernels, sheet);
  const int64_t width = kernels.element_size;
  kernel::BoxArguments tile = sheet;
  for (int64_t r = 0; r < sheet.rows; r += kTuning.transposed_tile) {
    tile.rows = std::min(kTuning.transposed_tile, sheet.rows - r);
    for (int64_t c = 0; c < sheet.run; c += kTuning.transposed_tile) {
      tile.run = std::min(kTuning.transposed_tile, sheet.run - c);
      tile.output = sheet.output + (r * sheet.output_row_stride + c * sheet.output_stride) * width;
      tile.updates =
          sheet.updates + (r * sheet.updates_row_stride + c * sheet.updates_stride) * width;
      kernel::WalkBox(kernels, tile);
    }
  }
}

plan::Cut CutOf(const BoxNest& nest, int64_t width, int64_t parts) {
  plan::Cut cut;
  for (int i = 0; i < nest.rank; ++i) {
    const BoxLoop& loop = nest.loop[i];
    cut.Append(loop.count, plan::LineGranule(loop.stride[kBoxOutput], width), parts);
  }
  return cut;
}

}  // namespace

const kernel::Kernels& KernelsFor(const Call& call, const TensorView& output,
                                  strew_reduction reduction, const plan::Units& units) {
  const int32_t target = call.settings().simd_target;
  switch (reduction) {
#define STREW_KERNELS_FOR(CONSTANT, FUNCTOR, NAME) \
  case STREW_##CONSTANT:                           \
    return kernel::ReductionKernels(output.dtype, KernelReduction::k##FUNCTOR, target);
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS_FOR)
#undef STREW_KERNELS_FOR
    case STREW_MEAN:
      return kernel::MeanKernelsFor(output.dtype, target).pairs;
    default:
      return kernel::MoveKernels(units.width, target);
  }
}

const kernel::Kernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                         strew_reduction reduction) {
  return KernelsFor(call, output, reduction, plan::IndexedUnitsOf(output.element_size));
}

Box::Box(const kernel::Kernels& kernels, const BoxNest& nest, bool stream)
    : kernels_(kernels), nest_(nest) {
  const BoxLoop run = nest_.PopInnermost();
  const BoxLoop row = nest_.PopInnermost();
  sheet_.stream = stream;
  sheet_.rows = row.count;
  sheet_.output_row_stride = row.stride[kBoxOutput];
  sheet_.updates_row_stride = row.stride[kBoxUpdates];
  sheet_.run = run.count;
  // A run of one unit lies together however it is strided.
  sheet_.output_stride = run.count == 1 ? 1 : run.stride[kBoxOutput];
  sheet_.updates_stride = run.count == 1 ? 1 : run.stride[kBoxUpdates];
}

Box::Box(const kernel::Kernels& kernels, const plan::Units& units, BoxNest nest, bool stream)
    : Box(kernels, Arranged(units, &nest), stream) {}

void Box::Run(unsigned char* output, const unsigned char* updates) const {
  const int64_t width = kernels_.element_size;
  kernel::BoxArguments sheet = sheet_;
  plan::ForEachTurn(nest_, nest_.rank, [&](const int64_t* offset) {
    sheet.output = output + offset[kBoxOutput] * width;
    sheet.updates = updates + offset[kBoxUpdates] * width;
    RunSheet(kernels_, sheet);
  });
  if (sheet.stream) kernel::FinishStreaming();
}

void Box::Fetch(unsigned char* output) const {
  constexpr int64_t kMost = 16 << 10;
  constexpr int64_t kLine = 64;
  const int64_t width = kernels_.element_size;
  const int64_t bytes = sheet_.run * width;
  if (nest_.rank > 0 || sheet_.output_stride != 1 || sheet_.rows * bytes > kMost) return;
  output += nest_.base[kBoxOutput] * width;
  for (int64_t r = 0; r < sheet_.rows; ++r, output += sheet_.output_row_stride * width) {
    for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(output + i, 1);
  }
}

Status RunBox(const Call& call, const kernel::Kernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, BoxNest* nest) {
  Arranged(units, nest);
  const int64_t bytes = Bytes(*nest, units.width);
  const int64_t tasks = TasksFor(call, static_cast<double>(bytes) * kTuning.ns_of_byte);
  const bool stream = bytes >= StreamingThreshold(tasks);
  if (tasks == 1) {
    Box(kernels, *nest, stream).Run(output, updates);
    return STREW_OK;
  }
  const plan::Cut cut = CutOf(*nest, units.width, plan::PartsFor(tasks));
  return ForEachPart(call, tasks, cut.parts(), [&](int64_t part, int64_t) {
    BoxNest of_part = *nest;
    for (int i = 0; i < nest->rank; ++i) {
      const plan::Turns turns = cut.TurnsOf(part, i);
      of_part.Restrict(i, turns.first, turns.count);
    }
    Box(kernels, of_part, stream).Run(output, updates);
  });
}

Status Copy(const Call& call, const TensorView& data, const TensorView& output) {
  // Tensors without elements may have no memory.
  if (output.size == 0) return STREW_OK;
  const bool contiguous = data.contiguous && output.contiguous;
  const int64_t bytes = output.size * output.element_size;
  if (contiguous && bytes <= kTuning.small_copy) {
    std::memcpy(output.data, data.data, static_cast<size_t>(bytes));
    return STREW_OK;
  }
  const plan::Units units = plan::UnitsOf(output.element_size);
  BoxNest nest;
  if (contiguous) {
    nest.Append(output.size * units.count, 1, 1);
    return RunBox(call, KernelsFor(call, output, STREW_NONE, units), {units.width, 1}, output.data,
                  data.data, &nest);
  }
  for (int i = 0; i < output.rank; ++i) {
    nest.Append(output.shape[i], StrideOf(output, i) * units.count,
                StrideOf(data, i) * units.count);
  }
  return RunBox(call, KernelsFor(call, output, STREW_NONE, units), units, output.data, data.data,
                &nest);
}

}  // namespace strew::run
