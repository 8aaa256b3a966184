// SPDX-License-Identifier: Apache-2.0
#include "accumulate/touched_bound.h"

#include <algorithm>

#include "accumulate/entry_rows.h"

namespace strew::accumulate {

bool FindTouched(const walk::Scatter& scatter, int64_t least, bool* reached) {
  const plan::DestinationNumbers numbers(scatter.loops);
  const int64_t entries = scatter.loops.Entries();
  *reached = least == 0;
  if (least == 0 || least > std::min(entries, numbers.range())) return true;
  TouchedBound touched(scatter.call, numbers.range(), entries, least);
  if (!touched.is_possible()) return false;
  const auto locate = scatter.index_kernels.locate[scatter.loops.WholeOffsets()];
  const auto touch = [&](const walk::EntryRow& row, const kernel::LocateArguments& arguments) {
    if (touched.is_decided()) return;
    int32_t located[walk::EntrySink::kMostColumns];
    locate(arguments, located);
    (void)touched.Touch(located, row.columns);
  };
  ForEachRow(scatter, numbers, touch);
  *reached = touched.is_reached();
  return true;
}

}  // namespace strew::accumulate
