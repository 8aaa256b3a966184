// SPDX-License-Identifier: Apache-2.0
// Gathers elements and runs from the places of a plan's entries.
#ifndef STREW_PREPARED_PLACED_RUNS_H_
#define STREW_PREPARED_PLACED_RUNS_H_

#include <cstdint>

#include "kernel/kernel.h"
#include "prepared/numbers.h"

namespace strew::prepared {

// Entries whose runs are gathered. For c < n the run at source + place(c) * place_step + c *
// source_step is moved to output + c * output_step, unless the place is Numbers::kNone.
struct PlacedRuns {
  const Numbers& places;
  bool has_dropped;  // whether there may be Numbers::kNone
  int64_t first;     // among the places
  int64_t n;
  int64_t following;  // number of places after these, which may be prefetched
  unsigned char* output;
  int64_t output_step;  // in bytes, like all steps
  const unsigned char* source;
  int64_t place_step;
  int64_t source_step;
  kernel::RunKernel move;
  int64_t size;      // bytes of an element
  int64_t run;       // elements
  int64_t prefetch;  // distance in entries, 0 for none
  // Rows of such entries, and the steps from each row to the next.
  int64_t rows = 1;
  int64_t row_places = 0;
  int64_t row_output_step = 0;
  int64_t row_source_step = 0;
  // For rows of the source that are contiguous, adjacent and have so many places each, with the
  // same ones in each row of the output, which is contiguous too; else NULL.
  kernel::ShuffleKernel shuffle = nullptr;
  int64_t places_of_row = 0;
  // Between elements of a run; 0 if runs are contiguous.
  int64_t run_output_step = 0;
  int64_t run_source_step = 0;
};
void GatherRuns(const PlacedRuns& runs);

}  // namespace strew::prepared

#endif  // STREW_PREPARED_PLACED_RUNS_H_
