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

void RunRows(kernel::RunKernel run, int64_t width, const kernel::BoxArguments& rows) {
  // One row of updates for all rows is read from the caches anyway, unless it is scattered itself.
  const uint64_t step = Magnitude(rows.updates_stride);
  const bool transposes = rows.rows > 1 && step > 1 && Magnitude(rows.updates_row_stride) < step;
  if (!transposes) return kernel::WalkBox(run, width, rows);
  kernel::BoxArguments tile = rows;
  for (int64_t r = 0; r < rows.rows; r += kTuning.transposed_tile) {
    tile.rows = std::min(kTuning.transposed_tile, rows.rows - r);
    for (int64_t c = 0; c < rows.run; c += kTuning.transposed_tile) {
      tile.run = std::min(kTuning.transposed_tile, rows.run - c);
      tile.output = rows.output + (r * rows.output_row_stride + c * rows.output_stride) * width;
      tile.updates = rows.updates + (r * rows.updates_row_stride + c * rows.updates_stride) * width;
      kernel::WalkBox(run, width, tile);
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

const kernel::MoveKernels& MoveKernelsFor(const Call& call, const plan::Units& units) {
  return kernel::MoveKernelsFor(units.width, call.settings().simd_target);
}

RunKernels RunKernelsFor(const Call& call, const TensorView& output, strew_reduction reduction,
                         const plan::Units& units) {
  if (reduction == STREW_NONE) {
    const kernel::MoveKernels& move = MoveKernelsFor(call, units);
    return {units.width, move.combine.run, move.stream};
  }
  const kernel::RunKernel run =
      reduction == STREW_MEAN
          ? kernel::AccumulateKernelsFor(output.dtype, call.settings().simd_target).run
          : IndexedKernelsFor(call, output, reduction).run;
  return {units.width, run, run};
}

const kernel::MoveKernels& IndexedMoveKernelsFor(const Call& call, const TensorView& output) {
  return MoveKernelsFor(call, plan::IndexedUnitsOf(output.element_size));
}

const kernel::CombineKernels& IndexedKernelsFor(const Call& call, const TensorView& output,
                                                strew_reduction reduction) {
  switch (reduction) {
#define STREW_KERNELS_FOR(CONSTANT, FUNCTOR, NAME)                             \
  case STREW_##CONSTANT:                                                       \
    return kernel::ReduceKernelsFor(output.dtype, KernelReduction::k##FUNCTOR, \
                                    call.settings().simd_target);
    STREW_FOR_EACH_KERNEL_REDUCTION(STREW_KERNELS_FOR)
#undef STREW_KERNELS_FOR
    default:
      return IndexedMoveKernelsFor(call, output).combine;
  }
}

kernel::RunKernel IndexedStreamFor(const Call& call, const IndexedScatter& scatter) {
  if (scatter.reduction != STREW_NONE) {
    return IndexedKernelsFor(call, scatter.output, scatter.reduction).run;
  }
  return IndexedMoveKernelsFor(call, scatter.output).stream;
}

Box::Box(const RunKernels& kernels, const BoxNest& nest, bool stream)
    : run_(stream ? kernels.stream : kernels.run),
      width_(kernels.element_size),
      stream_(stream),
      nest_(nest) {
  const BoxLoop run = nest_.PopInnermost();
  const BoxLoop row = nest_.PopInnermost();
  rows_.rows = row.count;
  rows_.output_row_stride = row.stride[kBoxOutput];
  rows_.updates_row_stride = row.stride[kBoxUpdates];
  rows_.run = run.count;
  // A run of one unit lies together however it is strided.
  rows_.output_stride = run.count == 1 ? 1 : run.stride[kBoxOutput];
  rows_.updates_stride = run.count == 1 ? 1 : run.stride[kBoxUpdates];
}

Box::Box(const RunKernels& kernels, const plan::Units& units, BoxNest nest, bool stream)
    : Box(kernels, Arranged(units, &nest), stream) {}

void Box::Run(unsigned char* output, const unsigned char* updates) const {
  kernel::BoxArguments rows = rows_;
  plan::ForEachTurn(nest_, nest_.rank, [&](const int64_t* offset) {
    rows.output = output + offset[kBoxOutput] * width_;
    rows.updates = updates + offset[kBoxUpdates] * width_;
    RunRows(run_, width_, rows);
  });
  if (stream_) kernel::FinishStreaming();
}

void Box::Fetch(unsigned char* output) const {
  constexpr int64_t kMost = 16 << 10;
  const int64_t bytes = rows_.run * width_;
  if (nest_.rank > 0 || rows_.output_stride != 1 || rows_.rows * bytes > kMost) return;
  output += nest_.base[kBoxOutput] * width_;
  for (int64_t r = 0; r < rows_.rows; ++r, output += rows_.output_row_stride * width_) {
    kernel::PrefetchForWriting(output, bytes);
  }
}

Status RunBox(const Call& call, const RunKernels& kernels, const plan::Units& units,
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
    return RunBox(call, RunKernelsFor(call, output, STREW_NONE, units), {units.width, 1},
                  output.data, data.data, &nest);
  }
  for (int i = 0; i < output.rank; ++i) {
    nest.Append(output.shape[i], StrideOf(output, i) * units.count,
                StrideOf(data, i) * units.count);
  }
  return RunBox(call, RunKernelsFor(call, output, STREW_NONE, units), units, output.data, data.data,
                &nest);
}

}  // namespace strew::run
