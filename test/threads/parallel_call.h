// SPDX-License-Identifier: Apache-2.0
//
// Calls that are large enough to be shared out among threads, and their comparison with one thread.
//
// Environment: STREW_TARGETS="best,SCALAR" chooses instruction sets; "best" is the first.
#ifndef STREW_TEST_THREADS_PARALLEL_CALL_H_
#define STREW_TEST_THREADS_PARALLEL_CALL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/array.h"
#include "reference/targets.h"
#include "support/call_shapes.h"
#include "support/reference.h"
#include "support/runners.h"

namespace strew_test {

using Bytes = std::vector<unsigned char>;

enum class Place { kInPlace, kNewOutput };
inline constexpr Place kPlaces[] = {Place::kInPlace, Place::kNewOutput};

// Operands of a call shape. No NaN comes of them, but sums of floats round and so depend on their
// order.
class LargeCall {
 public:
  LargeCall(const CallShape& call_shape, strew_dtype dtype, strew_reduction reduction);

  void Choose(Place place) { place_ = place; }

  // Puts what the output held at first back and calls. Inputs are read-only meanwhile.
  strew_status Send(strew_context* context);

  Array& output() { return place_ == Place::kInPlace ? case_.data : output_; }
  // The memory of the output before each call, gaps included.
  const Bytes& before() const { return place_ == Place::kInPlace ? data_before_ : output_before_; }
  Array& indices() { return *case_.indices; }
  Array& updates() { return case_.updates; }

  // The output after a call of one thread without a context.
  Bytes Alone();

  // Calls it. "" if the call is good and the output then holds these bytes.
  std::string Trouble(strew_context* context, const Bytes& expected);

  std::string Describe() const;

 private:
  LargeCall(Random random, const CallShape& call_shape, strew_dtype dtype,
            strew_reduction reduction);

  const CallShape call_shape_;
  Case case_;
  Array output_;
  Bytes data_before_, output_before_;
  Place place_ = Place::kInPlace;
};

// The ones among Targets() that STREW_TARGETS names, or all.
std::vector<const Target*> ChosenTargets();

// Compares calls with so many workers, on threads or backwards, with scratch or without, with one
// of one thread, on every chosen instruction set. Answers the least of the largest counts that
// runners were asked for.
int64_t CheckWorkers(LargeCall& call, const std::vector<int32_t>& workers);

// Compares calls of all shapes with this runner with calls of one thread, and wants it to be asked.
void CheckRunner(Runner& runner);

}  // namespace strew_test

#endif  // STREW_TEST_THREADS_PARALLEL_CALL_H_
