// SPDX-License-Identifier: Apache-2.0
// Runs boxes, copies and overlays in parts.
#include "share/share.h"

#include <cstring>

#include "base/cache_size.h"
#include "kernel/kernel.h"
#include "plan/cut.h"
#include "plan/pass.h"
#include "plan/schedule.h"
#include "plan/explain.h"
#include "share/parts.h"
#include "walk/kernels.h"

namespace strew::share {
namespace {

using plan::OverlayPlan;
using walk::Box;
using walk::BoxNest;
using walk::OverlayOperands;

plan::Cut CutOf(const BoxNest& nest, int64_t width, int64_t parts) {
  plan::Cut cut;
  for (int i = 0; i < nest.rank; ++i) {
    const plan::Loop<walk::kBoxOperands>& loop = nest.loop[i];
    cut.Append(loop.count, plan::LineGranule(loop.stride[walk::kBoxOutput], width), parts);
  }
  return cut;
}

// False if rows are short, and begin or end within vectors that are streamed.
bool MayStream(const BoxNest& nest, const unsigned char* output, int64_t width,
               const plan::Machine& machine) {
  if (nest.rank <= 1) return true;
  const plan::Tuning& tuning = machine.tuning;
  const int64_t run = nest.loop[nest.rank - 1].count * width;
  const int64_t pitch = nest.loop[nest.rank - 2].stride[walk::kBoxOutput] * width;
  const int64_t least =
      pitch == run ? tuning.least_streamed_adjacent_row : tuning.least_streamed_row_with_gaps;
  if (run >= least) return true;
  output += nest.base[walk::kBoxOutput] * width;
  if (!machine.streams_parts && run < tuning.least_streamed_slice_of_parts) {
    return (PastLine(output) | run | pitch) % kCacheLine == 0;
  }
  return kernel::StreamsEnds(output, run) && pitch % kernel::StreamedGranule(run) == 0;
}

// Not inline, because calls in place and small copies need no stack space for a nest of boxes.
[[gnu::noinline]] Status CopyBox(const Call& call, const TensorView& data, const TensorView& output,
                                 bool are_contiguous, const plan::UpdatesOfCopy& updates) {
  const plan::Units units = plan::UnitsOf(output.element_size);
  const walk::RunKernels kernels = walk::RunKernelsFor(call, output, STREW_NONE, units);
  BoxNest nest;
  if (are_contiguous) {
    nest.Append(output.size * units.count, 1, 1);
    return RunBox(call, kernels, {units.width, 1}, output.data, data.data, &nest, updates);
  }
  for (int i = 0; i < output.rank; ++i) {
    nest.Append(output.shape[i], StrideOf(output, i) * units.count,
                StrideOf(data, i) * units.count);
  }
  return RunBox(call, kernels, units, output.data, data.data, &nest, updates);
}

// True if the slice begins and ends at words that can be streamed, in all lines of the output.
bool IsInWords(const OverlayPlan& plan, const unsigned char* output, int64_t width) {
  int64_t parts = plan.output_base;
  for (int i = 0; i < plan.rank - 1; ++i) parts |= plan.dim[i].output_stride;
  const plan::OverlayDim& line = plan.dim[plan.rank - 1];
  parts |= line.size | line.slice.first | line.slice.count;
  return (PastLine(output) | parts * width) % kernel::kStreamedWord == 0;
}

// The estimated time of one thread. Each line of the slice has runs before and behind it.
double TimeOf(const OverlayPlan& plan, const plan::Tuning& tuning, int64_t width) {
  const plan::OverlayDim& line = plan.dim[plan.rank - 1];
  const bool is_strided =
      line.slice.step != 1 || (line.updates_stride != 1 && line.updates_stride != 0);
  double lines = 1;
  for (int i = 0; i < plan.rank - 1; ++i) lines *= static_cast<double>(plan.dim[i].slice.count);
  const double of_line =
      3 * tuning.ns_of_run +
      (is_strided ? static_cast<double>(line.slice.count) * tuning.ns_of_strided_element : 0);
  return static_cast<double>(plan.Size() * width) * tuning.ns_of_byte + lines * of_line;
}

walk::Stores StoresOf(const plan::BoxSchedule& schedule, const plan::Machine& machine,
                      const OverlayPlan& plan, const unsigned char* output, int64_t width) {
  if (!schedule.streams) return walk::Stores::kCached;
  const bool in_words = machine.streams_parts && IsInWords(plan, output, width);
  return in_words ? walk::Stores::kWords : walk::Stores::kLines;
}

}  // namespace

Status RunBox(const Call& call, const walk::RunKernels& kernels, const plan::Units& units,
              unsigned char* output, const unsigned char* updates, BoxNest* nest,
              const plan::UpdatesOfCopy& updates_of_copy) {
  walk::ArrangeBox(units, nest);
  const plan::Machine machine(call);
  const plan::Tuning& tuning = machine.tuning;
  const int64_t bytes = nest->Turns() * units.width;
  const double ns = plan::TimeOfBox(tuning, *nest, units.width);
  plan::BoxSchedule schedule = plan::MakeCopySchedule(
      machine, bytes, kernels.moves ? ns : ns * tuning.cost_of_combining, updates_of_copy);
  schedule.streams = schedule.streams && MayStream(*nest, output, units.width, machine);
  if (call.explains()) plan::Explain(call, schedule, "box", bytes);
  if (schedule.tasks == 1) {
    Box(kernels, *nest, schedule.streams, tuning).Run(output, updates);
    return STREW_OK;
  }
  const plan::Cut cut = CutOf(*nest, units.width, schedule.parts);
  return ForEachPart(call, schedule.tasks, cut.parts(), [&](int64_t part, int64_t) {
    BoxNest of_part = *nest;
    cut.KeepPart(part, &of_part);
    Box(kernels, of_part, schedule.streams, tuning).Run(output, updates);
  });
}

Status Copy(const Call& call, const TensorView& data, const TensorView& output,
            const plan::UpdatesOfCopy& updates) {
  // Tensors without elements may have no memory.
  if (output.size == 0 || SameElements(data, output)) return STREW_OK;
  const bool are_contiguous = data.contiguous && output.contiguous;
  const int64_t bytes = output.size * output.element_size;
  if (!are_contiguous || bytes > plan::TuningOf(call).small_copy) {
    return CopyBox(call, data, output, are_contiguous, updates);
  }
  std::memcpy(output.data, data.data, static_cast<size_t>(bytes));
  return STREW_OK;
}

Status RunOverlay(const Call& call, const OverlayPlan& plan, kernel::RunKernel run,
                  const kernel::MoveKernels& move, const OverlayOperands& operands) {
  const int64_t width = move.combine.element_size;
  const int64_t bytes = plan.Size() * width;
  const plan::Machine machine(call);
  const plan::BoxSchedule schedule =
      plan::MakeBoxSchedule(machine, bytes, TimeOf(plan, machine.tuning, width));
  if (call.explains()) plan::Explain(call, schedule, "slice laid over a copy", bytes);
  const walk::Stores stores = StoresOf(schedule, machine, plan, operands.output, width);
  plan::Cut parts;
  for (int i = 0; i < plan.rank; ++i) {
    const int64_t granule = plan::LineGranule(plan.dim[i].output_stride, width);
    parts.Append(plan.dim[i].size, granule, schedule.parts);
  }
  return ForEachPart(call, schedule.tasks, parts.parts(), [&](int64_t part, int64_t) {
    OverlayPlan of_part = plan;
    bool sliced = true;
    for (int i = 0; i < plan.rank; ++i) {
      const plan::Turns turns = parts.TurnsOf(part, i);
      sliced &= of_part.Restrict(i, turns.first, turns.count);
    }
    OverlayOperands at = operands;
    at.output += of_part.output_base * width;
    at.data += of_part.data_base * width;
    at.updates = sliced ? at.updates + of_part.updates_base * width : nullptr;
    walk::RunOverlay(of_part, run, move, at, stores, machine.tuning);
  });
}

}  // namespace strew::share
