// SPDX-License-Identifier: Apache-2.0
#include "walk/slices.h"

#include <algorithm>

#include "walk/tile.h"

namespace strew::walk {
namespace {

using plan::kOutput;
using plan::kUpdates;

class SliceWalk {
 public:
  SliceWalk(const Scatter& scatter, const plan::SliceLoops& slices, bool streams)
      : scatter_(scatter),
        loops_(scatter.loops),
        slices_(slices),
        kernel_(scatter.RunFor(streams)),
        locator_(scatter, kernel::kOffset64, plan::kMostSlices) {}

  // Writes the entries of one turn of the outer loops.
  void Walk(const int64_t* offset) const {
    int64_t output[plan::kMostSlices];
    int64_t updates[plan::kMostSlices];
    const int64_t entries = Locate(offset, output, updates);
    const int64_t run_step = RunStep(output, entries);
    plan::ForEachTurn(slices_.rest, slices_.rest.rank, [&](const int64_t* inner) {
      for (int64_t r = 0; r < slices_.row.count; r += slices_.row_step) {
        const plan::Turns rows = {r, std::min(slices_.row_step, slices_.row.count - r)};
        plan::InnerNest between = slices_.between;
        plan::MoveToTurn(inner, slices_.row, r, between.base);
        plan::ForEachTurn(between, between.rank, [&](const int64_t* first) {
          for (int64_t i = 0; i < slices_.run.count; i += run_step) {
            const plan::Turns run = {i, std::min(run_step, slices_.run.count - i)};
            WriteBlock(first, rows.count, run, output, updates, entries);
          }
        });
      }
    });
  }

 private:
  // Locates the entries and their updates. Returns the number of entries.
  int64_t Locate(const int64_t* offset, int64_t* output, int64_t* updates) const {
    const plan::IndexedLoop& row = loops_.row;
    const plan::IndexedLoop& column = loops_.column;
    locator_.Locate(offset, {0, row.count, 0, column.count, 0, 0, 0},
                    {nullptr, row.stride[kOutput], column.stride[kOutput], false, 0}, output);
    int64_t entry = 0;
    for (int64_t r = 0; r < row.count; ++r) {
      for (int64_t c = 0; c < column.count; ++c, ++entry) {
        output[entry] += offset[kOutput];
        updates[entry] = offset[kUpdates] + r * row.stride[kUpdates] + c * column.stride[kUpdates];
      }
    }
    return entry;
  }

  // Runs of updates that are not transposed are cut only if entries share a destination: its pieces
  // then stay in the caches.
  int64_t RunStep(const int64_t* output, int64_t entries) const {
    if (loops_.run.count == 1 || slices_.is_transposed) return slices_.run_step;
    for (int64_t i = 1; i < entries; ++i) {
      if (std::find(output, output + i, output[i]) != output + i) return slices_.run_step;
    }
    return slices_.run.count;
  }

  // Writes rows of some turns of the run, for all entries in order.
  void WriteBlock(const int64_t* row, int64_t rows, const plan::Turns& run, const int64_t* output,
                  const int64_t* updates, int64_t entries) const {
    int64_t first[plan::kIndices];
    plan::MoveToTurn(row, slices_.run, run.first, first);
    const int64_t first_output = first[kOutput];
    const int64_t first_update = first[kUpdates];
    const int64_t following = slices_.run.count - run.first - run.count;
    const int64_t fetched = slices_.fetches_next ? std::min(run.count, following) : 0;
    const int64_t next_output = first_output + run.count * slices_.run.stride[kOutput];
    const int64_t next_update = first_update + run.count * slices_.run.stride[kUpdates];
    for (int64_t i = 0; i < entries; ++i) {
      if (fetched > 0) FetchPart(next_output, next_update + updates[0], fetched, i, entries);
      kernel::WalkBox(kernel_, scatter_.width,
                      {scatter_.OutputAt(first_output + output[i]),
                       scatter_.UpdateAt(first_update + updates[i]), rows,
                       slices_.row.stride[kOutput], slices_.row.stride[kUpdates], run.count,
                       slices_.run.stride[kOutput], slices_.run.stride[kUpdates]});
    }
  }

  // Prefetches the i-th of n parts of so many turns, which begin at these offsets.
  void FetchPart(int64_t output, int64_t update, int64_t turns, int64_t i, int64_t n) const {
    const int64_t read = turns * slices_.run.stride[kUpdates] * scatter_.width / n;
    const int64_t written = turns * slices_.run.stride[kOutput] * scatter_.width / n;
    kernel::PrefetchOnce(scatter_.UpdateAt(update) + i * read, read);
    kernel::PrefetchForWriting(scatter_.OutputAt(output) + i * written, written, 1, 0);
  }

  const Scatter& scatter_;
  const plan::EntryLoops& loops_;
  const plan::SliceLoops& slices_;
  const kernel::RunKernel kernel_;
  const TileLocator locator_;
};

}  // namespace

void WriteSlices(const Scatter& scatter, const plan::SliceLoops& slices, bool streams) {
  const SliceWalk walk(scatter, slices, streams);
  plan::ForEachTurn(scatter.loops.outer, scatter.loops.outer.rank,
                    [&](const int64_t* offset) { walk.Walk(offset); });
  if (streams) kernel::FinishStreaming();
}

}  // namespace strew::walk
