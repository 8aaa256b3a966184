// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator with good arguments, index values aside.
#ifndef STREW_REFERENCE_CASE_H_
#define STREW_REFERENCE_CASE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <strew/strew.h>

#include "reference/array.h"
#include "reference/call.h"
#include "reference/handles.h"
#include "reference/oracle.h"

namespace strew::reference {

// All of them, in the order of their list.
const std::vector<Operator>& Operators();

// The operators that have plans.
const std::vector<Operator>& PlannedOperators();

// Operands stand here under the names that most operators give them.
struct Case {
  Operator op;
  Array data;
  Array updates;
  std::optional<Array> indices = {};  // of a cache they may stay absent
  std::optional<Array> start = {}, stop = {}, step = {}, axes = {};  // axes may stay absent
  std::optional<Array> output = {};                                  // absent: in place
  strew_reduction reduction = STREW_NONE;
  int64_t axis = 0;
  bool wrap = true;
  strew_index_policy policy = STREW_INDEX_ERROR;
  strew_duplicate_policy duplicates = STREW_DUPLICATE_LAST;
  strew_cache_mode mode = STREW_CACHE_LINEAR;

  Rules rules() const { return {reduction, wrap, policy, duplicates}; }

  // Lists of one length and dtype. Without axes these are 0, 1, ...
  void SetSlice(const Dims& starts, const Dims& stops, const Dims& steps,
                const Dims& slice_axes = {}, strew_dtype dtype = STREW_INT64);

  // The array that the call writes.
  Array& destination() { return output ? *output : data; }
};

// All that a call reads and does not write.
std::vector<Array*> Inputs(Case& c);

// The library's call, with `output` in place of the destination's own descriptor.
strew_status Call(const Case& c, strew_context* context, strew_tensor* output);

// Gives the context the policies of the case. Answers false where it refuses them.
bool SetPolicies(const Case& c, strew_context* context);

// True if a plan can be made for the case. One with DUPLICATE_ERROR refuses two entries of one
// slice even where a dim of 0 leaves the slice no element, which the operator does not.
bool HasPlan(const Case& c);

// Makes it with the policies of the context.
strew_status MakePlan(const Case& c, strew_context* context, Plan* plan);

// The same by a plan, which is made for it: the status of whichever call fails first.
strew_status CallByPlan(const Case& c, strew_context* context, strew_tensor* output);

// The oracle's, with the data at `data` and the output at `output`.
Outcome Expect(const Case& c, const View& data, const View& output);

// One line that tells all but the values.
std::string Describe(const Case& c);

}  // namespace strew::reference

#endif  // STREW_REFERENCE_CASE_H_
