// SPDX-License-Identifier: Apache-2.0
//
// Call shapes: operator, shapes and index distribution of calls that are large enough for every
// plan of the library.
#ifndef STREW_TEST_SUPPORT_CALL_SHAPES_H_
#define STREW_TEST_SUPPORT_CALL_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/array.h"
#include "reference/case.h"
#include "reference/dtypes.h"
#include "reference/random.h"
#include "support/reference.h"

namespace strew_test {

// How the values of indices are distributed.
enum class Spread {
  kUniform,
  kAllEqual,
  kHalfEqual,
  kSorted,
  kReversed,
  kZipf,       // the k-th place about 1 / k times as often as the first
  kOneRow,     // the first number of each tuple is the same
  kAlongRows,  // one value along each row, written out in full
};

const std::vector<Spread>& Spreads();
using strew::reference::NameOf;  // beside the one here
std::string NameOf(Spread spread);

struct CallShape {
  const char* name;
  Operator op;
  Dims data;
  Dims indices;  // or the steps of a slice, or how many positions of a cache are new
  int64_t axis = 0;
  strew_dtype index = STREW_INT64;
  int64_t gap = 0;  // elements behind each line of data and of output
  Spread spread = Spread::kUniform;
  // Single elements that may land anywhere. Two threads gain nothing by sharing them out where the
  // caches hold all places.
  bool lands_anywhere = false;
  strew_cache_mode mode = STREW_CACHE_LINEAR;
  bool broadcasts = false;  // of a slice: one update for each line

  Dims UpdatesShape() const;
};

// One for each way in which work may be shared out, with about so many elements of updates each, at
// least 512: where each is a place of its own, and where they go by runs and slices.
std::vector<CallShape> CallShapes(int64_t single, int64_t in_runs);
inline std::vector<CallShape> CallShapes(int64_t updates) { return CallShapes(updates, updates); }

// The same for scatter_update and tensor_scatter, which knows no reduction.
std::vector<CallShape> AxisCallShapes(int64_t single, int64_t in_runs);

// Both.
std::vector<CallShape> AllCallShapes(int64_t updates);

Array MakeIndices(Random& random, const CallShape& call_shape);

// Numbers of which no NaN comes, but sums of floats round and so depend on their order. Half of
// bools are false, and the others odd; gaps are filled too.
void FillWithTameNumbers(Random& random, Array& array);

// Row-major, with so many elements behind each line.
Layout WithGap(const Dims& shape, int64_t gap);

// A legal call of the shape.
Case MakeCase(Random& random, const CallShape& call_shape, strew_dtype dtype, bool in_place);

}  // namespace strew_test

#endif  // STREW_TEST_SUPPORT_CALL_SHAPES_H_
