// SPDX-License-Identifier: Apache-2.0
#include "prepared/same_rows.h"

#include <algorithm>

namespace strew::prepared {
namespace {

// Limit: elements that are gathered together, whose offsets are on the stack.
constexpr int64_t kTogether = 256;

class SameRows {
 public:
  explicit SameRows(const PlacedRuns& runs) : runs_(runs) {
    runs.places.Visit(
        [&](const auto* places) { std::copy_n(places + runs.first, runs.n, places_); });
  }

  // Gathers runs by shuffles of vectors, if these can do it.
  int64_t Shuffle() const {
    int32_t columns[kMostSameColumns];
    for (int64_t c = 0; c < runs_.n; ++c) columns[c] = static_cast<int32_t>(places_[c]);
    return runs_.shuffle({runs_.output, runs_.source, runs_.run * runs_.size, runs_.rows,
                          runs_.places_of_row, columns, runs_.n});
  }

  // Gathers single elements of rows that lie together in the output, by a list of their offsets.
  int64_t GatherTogether() const {
    const int64_t size = runs_.size, n = runs_.n;
    const int64_t rows = kTogether / n;
    int64_t offsets[kTogether];
    for (int64_t c = 0; c < n; ++c) {
      offsets[c] = (places_[c] * runs_.place_step + c * runs_.source_step) / size;
    }
    const int64_t step = runs_.row_source_step / size;
    for (int64_t i = n; i < rows * n; ++i) offsets[i] = offsets[i - n] + step;
    int64_t r = 0;
    for (; r + rows <= runs_.rows; r += rows) {
      kernel::GatherElements(size, runs_.source + r * runs_.row_source_step, offsets, rows * n,
                             runs_.output + r * runs_.row_output_step);
    }
    return r;
  }

 private:
  const PlacedRuns& runs_;
  int64_t places_[kMostSameColumns];
};

bool MayGoTogether(const PlacedRuns& runs) {
  const bool lie_together =
      runs.output_step == runs.size && runs.row_output_step == runs.n * runs.size;
  return runs.run == 1 && lie_together && runs.rows * runs.n >= 2 * kTogether;
}

}  // namespace

int64_t GatherSameRows(const PlacedRuns& runs) {
  if (runs.row_places != 0 || runs.has_dropped || runs.n > kMostSameColumns) return 0;
  const bool go_together = MayGoTogether(runs);
  if (runs.shuffle == nullptr && !go_together) return 0;
  const SameRows same(runs);
  const int64_t shuffled = runs.shuffle != nullptr ? same.Shuffle() : 0;
  return shuffled > 0 || !go_together ? shuffled : same.GatherTogether();
}

}  // namespace strew::prepared
