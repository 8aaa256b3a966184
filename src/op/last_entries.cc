// SPDX-License-Identifier: Apache-2.0
#include "op/last_entries.h"

#include <cstring>

#include "base/checked.h"
#include "plan/loop_nest.h"
#include "walk/index_reader.h"

namespace strew {
namespace {

using plan::kIndices;
using plan::kOutput;

// The offset of an entry's index and its position among the entries.
enum { kIndex, kPosition, kOperands };

// Entries are fewer than 2^31, and the axis is shorter.
using Copy = int32_t;
constexpr strew_dtype kCopyDtype = STREW_INT32;

constexpr int64_t kWordBits = 64;

int64_t WordsFor(int64_t bits) { return (bits + kWordBits - 1) / kWordBits; }

// The entries from the last to the first.
plan::LoopNest<kOperands> Backwards(const plan::IndexedNest& entries) {
  plan::LoopNest<kOperands> nest;
  int64_t step = 1;
  for (int i = entries.rank - 1; i >= 0; --i) {
    const plan::IndexedLoop& loop = entries.loop[i];
    nest.Prepend(loop.count, -loop.stride[kIndices], -step);
    nest.base[kIndex] += (loop.count - 1) * loop.stride[kIndices];
    nest.base[kPosition] += (loop.count - 1) * step;
    step *= loop.count;
  }
  return nest;
}

// Refers to copies that lie one behind the other.
void ReadCopies(plan::IndexSpace* space) {
  int64_t step = 1;
  for (int i = space->entries.rank - 1; i >= 0; --i) {
    space->entries.loop[i].stride[kIndices] = step;
    step *= space->entries.loop[i].count;
  }
  space->batch.base[kIndices] = space->component[0].indices_base = 0;
}

TensorView LineOf(unsigned char* copies, int64_t size) {
  TensorView line = {};
  line.dtype = kCopyDtype;
  line.element_size = sizeof(Copy);
  line.rank = 1;
  line.shape[0] = line.size = size;
  line.strides[0] = 1;
  line.contiguous = true;
  line.data = copies;
  return line;
}

}  // namespace

bool HasRuns(const plan::InnerNest& inner, int64_t least) {
  for (int i = 0; i < inner.rank; ++i) {
    if (Magnitude(inner.loop[i].stride[kOutput]) == 1 && inner.loop[i].count >= least) return true;
  }
  return false;
}

bool HasReplacedEntries(const plan::Tuning& tuning, const plan::IndexSpace& space, int64_t width) {
  if (space.components != 1 || space.batch.rank != 0) return false;
  const int64_t entries = space.entries.Turns();
  const double axis_size = static_cast<double>(space.component[0].axis_size);
  return entries <= tuning.most_last_entries &&
         static_cast<double>(entries) >= tuning.least_replaced * axis_size &&
         space.inner.Turns() * width >= tuning.least_replaced_entry &&
         HasRuns(space.inner, tuning.least_replaced_run / width);
}

int64_t LastEntriesBytes(const plan::IndexSpace& space) {
  const int64_t words = WordsFor(space.component[0].axis_size);
  return words * int64_t{sizeof(uint64_t)} + space.entries.Turns() * int64_t{sizeof(Copy)};
}

TensorView KeepLastEntries(const Call& call, const TensorView& indices, unsigned char* scratch,
                           plan::IndexSpace* space) {
  const plan::Component& axis = space->component[0];
  const walk::IndexReader reader(call, indices);
  const plan::LoopNest<kOperands> entries = Backwards(space->entries);
  uint64_t* const seen = reinterpret_cast<uint64_t*>(scratch);
  const int64_t words = WordsFor(axis.axis_size);
  std::memset(seen, 0, static_cast<size_t>(words) * sizeof(uint64_t));
  Copy* const copies = reinterpret_cast<Copy*>(seen + words);
  const int64_t base = axis.indices_base + space->batch.base[kIndices];
  plan::ForEachTurn(entries, entries.rank, [&](const int64_t* offset) {
    Copy* const copy = copies + offset[kPosition];
    *copy = static_cast<Copy>(axis.axis_size);
    int64_t element;
    const int64_t value = ReadIndexAt(indices, base + offset[kIndex]).value;
    // Only an index that changes meanwhile is out of range. GCOVR_EXCL_BR_START
    if (!reader.FindElement(value, axis.axis_size, &element)) return;
    // GCOVR_EXCL_BR_STOP
    uint64_t& word = seen[element / kWordBits];
    const uint64_t bit = uint64_t{1} << (element % kWordBits);
    if ((word & bit) == 0) *copy = static_cast<Copy>(element);
    word |= bit;
  });
  const int64_t count = space->entries.Turns();
  ReadCopies(space);
  return LineOf(reinterpret_cast<unsigned char*>(copies), count);
}

}  // namespace strew
