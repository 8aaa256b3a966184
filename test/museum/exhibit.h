// SPDX-License-Identifier: Apache-2.0
//
// An exhibit of the museum: a call like one that went wrong elsewhere, put up against
// guard pages on either side, in place and into a fresh output, on every instruction set.
#ifndef STREW_TEST_MUSEUM_EXHIBIT_H_
#define STREW_TEST_MUSEUM_EXHIBIT_H_

#include <cstdint>
#include <functional>
#include <vector>

#include <strew/strew.h>

#include "support/check.h"

namespace strew_test {

// The memory in which the operands of a call lie.
struct Place {
  Guard guard;
  bool in_place;
};

const std::vector<Place>& Places();

// Random numbers behind or before a guard page.
Array Numbers(strew_dtype dtype, const Layout& layout, Guard guard);

// A call by its shapes. Index values are zeros where `values` do not say otherwise.
struct Exhibit {
  Operator op;
  Dims data, indices, updates;
  int64_t axis = 0;
  strew_dtype dtype = STREW_FLOAT32;
  strew_dtype index = STREW_INT64;
  strew_reduction reduction = STREW_NONE;
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_cache_mode mode = STREW_CACHE_LINEAR;
  Dims values = {};  // of indices, repeated until all have one

  Case At(const Place& place) const;
};

// An entry of a slice for each number of `start`.
struct SliceLists {
  Dims start, stop, step, axes;
};
Case SliceAt(const Place& place, const Dims& data, const Dims& updates, const SliceLists& lists);

// Good calls of every operator that has indices, some with more entries than a vector has lanes.
// Every index is for kAxis places, and axes of other places stand beside that axis.
constexpr int64_t kAxis = 6;
std::vector<Exhibit> IndexedExhibits();

using Make = std::function<Case(const Place&)>;

// In every place the call answers this and writes nothing.
void ExpectRefused(const Make& make, strew_status status, int64_t position = -1);
void ExpectRefused(const Exhibit& exhibit, strew_status status, int64_t position = -1);

// In every place the call succeeds and does what the oracle says.
void ExpectGood(const Make& make);
void ExpectGood(const Exhibit& exhibit);

// Refused for one bad index, which is the first one, then one in the middle, then the last one.
void ExpectBadIndex(const Exhibit& good, int64_t bad);

// The same for those of IndexedExhibits(), with any index dtype that has the value.
void ExpectBadIndexEverywhere(int64_t bad, bool wrap = true);

}  // namespace strew_test

#endif  // STREW_TEST_MUSEUM_EXHIBIT_H_
