// SPDX-License-Identifier: Apache-2.0
// Where the entries of an index space go if they are not written at once: to whoever sorts them
// out, counts them or compares them.
#ifndef STREW_WALK_ENTRY_SINK_H_
#define STREW_WALK_ENTRY_SINK_H_

#include <cstdint>
#include <limits>

#include "kernel/kernel.h"

namespace strew::walk {

// A row of entries that have offsets.
struct EntryRow {
  const void* offsets;
  int64_t columns;  // EntrySink::kMostColumns at most
  int64_t output;   // from where offsets count, in units from where the index space begins
  int64_t updates;  // where the update of the first lies, in units
  int64_t updates_stride;
};

// Entries of one destination come in order. Those that are dropped come too: see kernel.h.
struct EntrySink {
  static constexpr int64_t kMostColumns = 256;

  void (*add)(void* self, const EntryRow& row);
  void* self;
  kernel::OffsetWidth offset_width;
  unsigned char* origin;  // where the index space begins in the output
};

// The sink that is the member function Add of an object.
template <class T>
EntrySink SinkOf(T* object, kernel::OffsetWidth offset_width, unsigned char* origin) {
  return {[](void* self, const EntryRow& row) { static_cast<T*>(self)->Add(row); }, object,
          offset_width, origin};
}

}  // namespace strew::walk

#endif  // STREW_WALK_ENTRY_SINK_H_
