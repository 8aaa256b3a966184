// SPDX-License-Identifier: Apache-2.0
//
// Calls that are large enough to be shared out among threads, and their comparison with one thread.
//
// Environment: STREW_TARGETS="best,SCALAR" chooses instruction sets; "best" is the first.
#ifndef STREW_TEST_OP_PARALLEL_CALL_H_
#define STREW_TEST_OP_PARALLEL_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "support/array.h"
#include "support/case.h"
#include "support/runners.h"
#include "support/targets.h"

namespace strew_test {

using Bytes = std::vector<unsigned char>;

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
std::string NameOf(Spread spread);

struct Work {
  const char* name;
  Operator op;
  Dims data;
  Dims indices;  // or the steps of a slice
  int64_t axis = 0;
  strew_dtype index = STREW_INT64;
  int64_t gap = 0;  // elements behind each line of data and of output
  Spread spread = Spread::kUniform;
  // Single elements that may land anywhere. Two threads gain nothing by sharing them out where the
  // caches hold all places.
  bool lands_anywhere = false;
  // Of a slice: one update is broadcast to each line.
  bool broadcasts = false;

  Dims UpdatesShape() const;
};

// One for each way in which work may be shared out, with about so many elements of updates each, at
// least 512: where each is a place of its own, and where they go by runs and slices.
std::vector<Work> Works(int64_t single, int64_t in_runs);
inline std::vector<Work> Works(int64_t updates) { return Works(updates, updates); }

enum class Place { kInPlace, kNewOutput };
inline constexpr Place kPlaces[] = {Place::kInPlace, Place::kNewOutput};

// Operands of a work. No NaN comes of them, but sums of floats round and so depend on their order.
class LargeCall {
 public:
  LargeCall(const Work& work, strew_dtype dtype, strew_reduction reduction);

  void Choose(Place place) { place_ = place; }

  // Puts what the output held at first back and calls. Inputs are read-only meanwhile.
  strew_status Send(strew_context* context);

  Array& output() { return place_ == Place::kInPlace ? data_ : output_; }
  // What the memory of the output holds before each call, gaps included.
  const Bytes& before() const { return place_ == Place::kInPlace ? data_before_ : output_before_; }
  Array& indices() { return *indices_; }
  Array& updates() { return updates_; }

  // What the output holds after a call of one thread without a context.
  Bytes Alone();

  // Calls it. "" if the call is good and the output then holds these bytes.
  std::string Trouble(strew_context* context, const Bytes& expected);

  std::string Describe() const;

 private:
  strew_status Call(strew_context* context) const;

  const Work work_;
  const strew_reduction reduction_;
  Array data_, updates_, output_;
  std::optional<Array> indices_;
  Dims start_, stop_;
  Bytes data_before_, output_before_;
  Place place_ = Place::kInPlace;
};

// Those of Targets() that STREW_TARGETS names, or all.
std::vector<const Target*> ChosenTargets();

// Compares calls with so many workers, on threads or backwards, with scratch or without, with one of
// one thread, on every chosen instruction set. Answers the least of the largest counts that runners
// were asked for.
int64_t CheckWorkers(LargeCall& call, const std::vector<int32_t>& workers);

// Compares calls of all works with this runner with calls of one thread, and wants it to be asked.
void CheckRunner(Runner& runner);

}  // namespace strew_test

#endif  // STREW_TEST_OP_PARALLEL_CALL_H_
