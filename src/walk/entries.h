// SPDX-License-Identifier: Apache-2.0
// Goes through the sheets of an index space, tile by tile, on one thread.
#ifndef STREW_WALK_ENTRIES_H_
#define STREW_WALK_ENTRIES_H_

#include "base/call.h"
#include "plan/index_space.h"
#include "plan/schedule.h"
#include "walk/entry_sink.h"
#include "walk/scatter.h"

namespace strew::walk {

// Writes all entries of an arranged index space. `scratch` has what the staging asks for.
void RunSheets(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
               const plan::MemoryHints& hints, const plan::Staging& staging,
               unsigned char* scratch);

// Gives them to a sink instead.
void GiveSheets(const Call& call, const IndexedScatter& scatter, const plan::IndexSpace& space,
                const EntrySink& sink);

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRIES_H_
